// @ts-check
/** Making elements, and writing numbers: what the figures share. */
import words from "./words.json" with { type: "json" };

const NS = "http://www.w3.org/2000/svg";

/** @param {Element} parent @param {string} tag @param {Record<string, any>} [attributes] @param {string} [text] @returns {any} */
export function html(parent, tag, attributes = {}, text) {
  return grow(parent, document.createElement(tag), attributes, text);
}
/** @param {Element} parent @param {string} tag @param {Record<string, any>} [attributes] @param {string} [text] @returns {any} */
export function svg(parent, tag, attributes = {}, text) {
  return grow(parent, document.createElementNS(NS, tag), attributes, text);
}
function grow(parent, node, attributes, text) {
  put(node, attributes);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}
/** Set what differs: an attribute set again is laid out again. @param {Element} node @param {Record<string, any>} attributes */
export function put(node, attributes) {
  for (const name in attributes) {
    const value = String(attributes[name]);
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
}
/** @param {Text} node @param {string} text */
export function write(node, text) {
  if (node.data !== text) node.data = text;
}

/** A sentence whose numbers change in place. @param {Element} parent @param {string} template */
export function sentence(parent, template) {
  const span = html(parent, "span");
  /** @type {[string, Text][]} */
  const holes = [];
  template.split(/\{(\w+)\}/).forEach((part, i) => {
    if (i % 2) holes.push([part, html(span, "b", {}, " ").firstChild]);
    else span.append(part);
  });
  return (/** @type {Record<string, string> | null} */ values) => {
    show(span, values);
    if (values) for (const [name, text] of holes) write(text, values[name]);
  };
}

/** @param {string} template @param {Record<string, any>} values */
export const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** Three significant digits. @param {number | null | undefined} x */
export function short(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return words.none;
  if (!Number.isFinite(x)) return words.infinite;
  const size = Math.abs(x);
  return minus(size && (size < 1e-4 || size >= 1e5) ? x.toExponential(2) : size >= 100 ? x.toFixed(0) : x.toPrecision(3));
}
/** @param {string} text */
export const minus = (text) => text.replace("-", "−");
/** Decimals that tell apart a few hundred steps of a range. @param {number[]} range */
export const decimals = ([low, high]) => Math.min(8, Math.max(0, Math.ceil(2.3 - Math.log10(high - low))));
/** @param {number} x @param {number[]} range */
export const fixed = (x, range) => minus(x.toFixed(decimals(range)));

/** @param {Element} node @param {any} shown */
export const show = (node, shown) => node.toggleAttribute("hidden", !shown);
