// @ts-check
/** The figure of chapter 4: keys around the unit circle, weighed for one query by distance and by dot product. */
import words from "./words.json" with { type: "json" };
import { fill, html, put, sentence, short, svg } from "./dom.js";

/**
 * @typedef {{angle: number, length: number, bandwidth: number, spread: number, dimensions: number}} Chosen
 * degrees, norm of the query, σ, how far key norms are from 1, and d_k where σ² = √d_k (0: σ as set)
 * @typedef {Chosen & {sigma: number, query: number[], keys: number[][], norms: number[], gaussian: number[], product: number[], curve: number[]}} Sphere
 * the wire names of both hosts; `curve` holds the largest over the smallest weight by dot product at d_k = 2^(i/2)
 */
const [UNIT, MIDDLE] = [80, 150];
const CURVE = 21;

const softmax = (/** @type {number[]} */ scores) => {
  const most = Math.max(...scores);
  const parts = scores.map((score) => Math.exp(score - most));
  const total = parts.reduce((a, b) => a + b);
  return parts.map((part) => part / total);
};
const around = (degrees, length) => [length * Math.cos((degrees * Math.PI) / 180), length * Math.sin((degrees * Math.PI) / 180)];

/** `attention_weights` and `dot_product_weights` in two dimensions. @param {{angles: number[], pattern: number[]}} given @param {Chosen} chosen @returns {Sphere} */
export function weighSphere({ angles, pattern }, chosen) {
  const sigma = chosen.dimensions ? chosen.dimensions ** 0.25 : chosen.bandwidth;
  const query = around(chosen.angle, chosen.length);
  const norms = pattern.map((p) => 1 + chosen.spread * p);
  const keys = angles.map((degrees, i) => around(degrees, norms[i]));
  const far = keys.map(([x, y]) => Math.hypot(query[0] - x, query[1] - y));
  const near = Math.min(...far);
  const products = keys.map(([x, y]) => query[0] * x + query[1] * y);
  const at = (scale) => softmax(products.map((p) => p * scale));
  const curve = Array.from({ length: CURVE }, (_, i) => ratioOf(at(2 ** (-i / 4))));
  return { ...chosen, sigma, query, keys, norms, curve, product: at(1 / (sigma * sigma)), gaussian: softmax(far.map((d) => -0.5 * (((d - near) / sigma) * ((d + near) / sigma)))) };
}
const ratioOf = (row) => Math.max(...row) / Math.min(...row);

/** How far the two rows of weights are apart, and at which key. @param {Sphere} state @param {any} text */
function apart({ gaussian, product }, text) {
  const gaps = gaussian.map((w, i) => Math.abs(w - product[i]));
  const most = Math.max(...gaps);
  return { gap: most < 1e-12 ? text.rounding : most.toFixed(3), key: gaps.indexOf(most) };
}
const three = (x) => String(Number(x.toPrecision(3)));
const bounds = ({ norms }) => ({ low: Math.min(...norms).toFixed(2), high: Math.max(...norms).toFixed(2) });

/**
 * @param {HTMLElement} parent @param {any} text  the strings of this figure
 * @param {number[]} lengths  the least and the largest norm of the query
 * @param {(change: Partial<Chosen>) => void} act
 */
export function createSphere(parent, text, lengths, act) {
  const root = html(parent, "div", { class: "explorer-view sphere", role: "group", "aria-label": text.figure });
  const panels = html(root, "div", { class: "panels" });
  const left = html(panels, "div");
  const right = html(panels, "div");
  const legend = html(left, "div", { class: "legend" });
  for (const role in text.legend) html(legend, "span", { class: role }, text.legend[role]);
  const size = 2 * MIDDLE;
  const picture = svg(left, "svg", { viewBox: `0 0 ${size} ${size}`, role: "group", "aria-label": text.drawing });
  svg(picture, "path", { class: "grid", d: `M0 ${MIDDLE}H${size}M${MIDDLE} 0V${size}` });
  svg(picture, "circle", { class: "unit", cx: MIDDLE, cy: MIDDLE, r: UNIT });
  const spokes = svg(picture, "path", { class: "spokes" });
  const queryGroup = svg(picture, "g", { class: "query", "data-role": "query", tabindex: 0, role: "slider", "aria-label": words.query, "aria-description": text.query_help, "aria-valuemin": 0, "aria-valuemax": 359 });
  const arrow = svg(queryGroup, "line", { x1: MIDDLE, y1: MIDDLE });
  const keysGroup = svg(picture, "g", { class: "marks", "data-role": "keys" });
  const reach = svg(queryGroup, "circle", { class: "reach", r: 18 });
  const handle = svg(queryGroup, "circle", { class: "handle", r: 7 });
  picture.append(queryGroup);

  html(right, "div", { class: "title" }, text.title_weights);
  const table = html(right, "table", { "data-role": "weights", "aria-label": text.table });
  const bars = html(table, "tr", { class: "bars", "aria-hidden": "true" });
  const top = html(html(bars, "td"), "span", {}, "");
  const heads = html(table, "tr");
  html(heads, "th", { scope: "col" }, text.key);
  /** @type {Record<string, any[]>} */
  const cells = { gaussian: [], product: [] };
  const rows = Object.keys(cells).map((kind) => {
    const row = html(table, "tr", { class: kind });
    html(row, "th", { scope: "row" }, text.rows[kind]);
    return row;
  });
  /** @type {any[]} */
  const marks = [];

  html(right, "div", { class: "title" }, text.title_ratio);
  const plot = svg(right, "svg", { viewBox: "0 0 300 112", role: "img", "aria-label": text.ratio_drawing, "data-role": "ratio" });
  const [X, Y] = [(d) => 34 + 25 * Math.log2(d), (ratio) => 78 - 14.5 * Math.log(ratio)];
  for (const ratio of [1, 10, 100]) {
    svg(plot, "path", { class: ratio > 1 ? "grid" : "axis", d: `M34 ${Y(ratio)}H292` });
    svg(plot, "text", { x: 28, y: Y(ratio) + 4, "text-anchor": "end" }, String(ratio));
  }
  for (const d of [1, 4, 16, 64, 256, 1024]) svg(plot, "text", { x: X(d), y: 93, "text-anchor": "middle" }, String(d));
  svg(plot, "text", { x: 160, y: 109, "text-anchor": "middle" }, text.axis);
  const curve = svg(plot, "path", { class: "product line" });
  const here = svg(plot, "circle", { class: "dot", r: 5 });

  const dock = html(root, "div", { class: "dock" });
  const tools = html(root, "div", { class: "tools" });
  const readout = html(root, "p", { class: "readout", "data-role": "readout" });
  const say = ["said_equal", "said_part", "said_scale", "said_dimensions", "said_ratio"].map((name) => sentence(readout, text[name]));
  const live = html(root, "p", { class: "live", "aria-live": "polite" });
  const message = html(root, "p", { class: "message", role: "alert", hidden: "" });
  let later = 0;
  /** @type {Sphere} */
  let state;

  const place = ([x, y]) => [MIDDLE + UNIT * x, MIDDLE - UNIT * y];
  /** How far a point is from the line between the centre and the query. */
  function offArrow([x, y]) {
    const [dx, dy] = place(state.query).map((v) => v - MIDDLE);
    const share = Math.min(1, Math.max(0, ((x - MIDDLE) * dx + (y - MIDDLE) * dy) / (dx * dx + dy * dy)));
    return Math.hypot(x - MIDDLE - share * dx, y - MIDDLE - share * dy);
  }

  /** @param {Sphere} next */
  function update(next) {
    state = next;
    const { keys, norms, gaussian, product, sigma } = next;
    while (marks.length < keys.length) {
      const i = marks.length + 1;
      const [disc, ring] = ["gaussian", "product"].map((kind) => svg(keysGroup, "circle", { class: kind }));
      const pair = html(html(bars, "td"), "div");
      html(heads, "th", { scope: "col" }, String(i));
      const drawn = ["gaussian", "product"].map((kind, k) => (cells[kind].push(html(rows[k], "td")), html(pair, "i", { class: kind })));
      marks.push({ disc, ring, pair, drawn, label: svg(keysGroup, "text", { "text-anchor": "middle" }, String(i)) });
    }
    const most = Math.max(...gaussian, ...product);
    const full = [0.25, 0.5, 1].find((v) => most <= v) ?? 1;
    top.textContent = String(full);
    table.style.setProperty("--share", String(1 / keys.length / full));
    let path = "";
    const places = keys.map(place);
    marks.forEach(({ disc, ring, pair, drawn, label }, i) => {
      const [cx, cy] = places[i];
      const angle = Math.atan2(cy - MIDDLE, cx - MIDDLE);
      path += `M${MIDDLE + UNIT * Math.cos(angle)} ${MIDDLE + UNIT * Math.sin(angle)}L${cx} ${cy}`;
      const radii = [gaussian[i], product[i]].map((w) => 3 + 17 * Math.sqrt(w));
      put(disc, { cx, cy, r: radii[0] });
      put(ring, { cx, cy, r: radii[1] });
      [gaussian, product].forEach((row, k) => {
        drawn[k].style.height = (100 * row[i]) / full + "%";
        cells[k ? "product" : "gaussian"][i].textContent = row[i].toFixed(3).replace("0.", ".");
      });
      // A number stands outside its key, or beside it where the arrow or another key is in the way.
      const away = Math.max(...radii) + 10;
      const spots = [0, 1, -1, 2, -2, 3, -3, 4].map((turn) => [cx + away * Math.cos(angle + turn * 0.8), cy + away * Math.sin(angle + turn * 0.8)]);
      const room = (spot) => Math.min(offArrow(spot) - 8, ...spot.flatMap((v) => [v - 2, size - 2 - v]), ...places.map(([x, y], j) => (j === i ? 99 : Math.hypot(spot[0] - x, spot[1] - y) - 3 - 17 * Math.sqrt(Math.max(gaussian[j], product[j])))));
      const [x, y] = spots.find((spot) => room(spot) > 7) ?? spots.reduce((a, b) => (room(b) > room(a) ? b : a));
      put(label, { x, y: y + 5 });
    });
    put(spokes, { d: path });
    const [cx, cy] = place(next.query);
    put(arrow, { x2: cx, y2: cy });
    for (const node of [reach, handle]) put(node, { cx, cy });
    const [angle, length] = [String(next.angle), next.length.toFixed(2)];
    put(queryGroup, { "aria-valuenow": angle, "aria-valuetext": fill(text.query_value, { angle, length }) });
    put(curve, { d: next.curve.map((ratio, i) => (i ? "L" : "M") + X(2 ** (i / 2)) + " " + Y(ratio)).join("") });
    const ratio = ratioOf(product);
    const inside = sigma >= 1 && sigma ** 4 < 1025;
    put(here, inside ? { cx: X(sigma ** 4), cy: Y(ratio), display: "inline" } : { display: "none" });

    const { gap, key } = apart(next, text);
    const parts = norms.some((norm) => norm !== 1);
    say[0](parts ? null : { gap });
    say[1](parts ? { ...bounds(next), gap, key: String(key + 1), gaussian: gaussian[key].toFixed(3), product: product[key].toFixed(3) } : null);
    say[2]({ square: three(sigma * sigma) });
    say[3](next.dimensions ? { d: String(next.dimensions) } : null);
    say[4]({ ratio: ratio > 1e4 ? text.many : short(ratio) });
    clearTimeout(later);
    later = setTimeout(() => (live.textContent = Array.from(readout.children).filter((s) => !s.hidden).map((s) => s.textContent).join("")), 700);
  }

  const within = (length) => Math.min(lengths[1], Math.max(lengths[0], length));
  const turned = (degrees) => ((Math.round(degrees) % 360) + 360) % 360;
  let held = false;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button || (event.pointerType === "touch" && !queryGroup.contains(event.target))) return;
    held = true;
    picture.setPointerCapture(event.pointerId);
    event.preventDefault();
    queryGroup.focus({ preventScroll: true });
    follow(event);
  });
  picture.addEventListener("pointermove", (event) => held && follow(event));
  for (const end of ["pointerup", "pointercancel"]) picture.addEventListener(end, () => (held = false));
  function follow(event) {
    const box = picture.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - box.width / 2, box.top + box.height / 2 - event.clientY].map((v) => (v / box.width) * (size / UNIT));
    act({ angle: turned((Math.atan2(y, x) * 180) / Math.PI), length: within(Math.round(50 * Math.hypot(x, y)) / 50) });
  }
  // Or the page would scroll under the finger.
  queryGroup.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  queryGroup.addEventListener("keydown", (event) => {
    const { key, shiftKey } = event;
    const step = shiftKey ? 1 : 5;
    const turn = { ArrowLeft: -step, ArrowRight: step, PageDown: -30, PageUp: 30, Home: -state.angle, End: 359 - state.angle }[key];
    const grow = { ArrowUp: 0.1, ArrowDown: -0.1 }[key];
    if ((turn === undefined && !grow) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(grow ? { length: within(Math.round(50 * (state.length + grow)) / 50) } : { angle: turned(state.angle + (turn ?? 0)) });
  });

  return {
    dock,
    tools,
    update,
    say(error) {
      message.hidden = !error;
      message.textContent = error;
    },
    destroy() {
      clearTimeout(later);
      root.remove();
    },
  };
}

/** The page's host. @param {HTMLElement} figure */
export function mountSphere(figure) {
  const given = JSON.parse(/** @type {Element} */ (figure.querySelector("script")).textContent ?? "");
  const { name, start, limits, words: text } = given;
  /** @type {Chosen} */
  let chosen = { ...start };
  const view = createSphere(figure, text, limits.length, set);
  const shows = {};
  const range = (parent, key, label, low, high, step, asked, take = (x) => x) => {
    const box = html(parent, "div", { class: "range" });
    const input = html(html(box, "label", { class: "control" }, label), "input", { type: "range", min: low, max: high, step });
    const output = html(box, "b", { class: "value", "aria-hidden": "true" });
    input.addEventListener("input", () => set(asked(Number(input.value))));
    shows[key] = (value, short, spoken) => {
      input.value = take(value);
      output.textContent = short;
      input.setAttribute("aria-valuetext", spoken);
    };
  };
  const [low, high] = limits.bandwidth;
  range(view.dock, "spread", text.spread, ...limits.spread, 0.01, (spread) => ({ spread }));
  range(view.dock, "bandwidth", words.bandwidth, 0, 200, 1, (t) => ({ dimensions: 0, bandwidth: Number((low * (high / low) ** (t / 200)).toPrecision(3)) }), (sigma) => (Math.log(sigma / low) / Math.log(high / low)) * 200);
  range(view.tools, "angle", text.angle, ...limits.angle, 1, (angle) => ({ angle }));
  range(view.tools, "length", text.length, ...limits.length, 0.02, (length) => ({ length }));
  const label = html(view.tools, "label", { class: "control range" }, text.scale);
  const select = html(label, "select");
  for (const d of limits.dimensions) html(select, "option", { value: d }, d ? fill(text.dimensions, { d }) : text.free);
  select.addEventListener("change", () => set({ dimensions: Number(select.value) }));
  const buttons = html(view.tools, "div", { class: "buttons" });
  const button = (key, press) => html(buttons, "button", { type: "button" }, words[key]).addEventListener("click", press);
  button("reset", () => set(start));
  button("copy_link", async () => {
    const link = location.href.replace(/#.*/, "") + "#" + name + "?" + new URLSearchParams(/** @type {any} */ (chosen));
    try {
      await navigator.clipboard.writeText(link);
      note.textContent = words.copied;
    } catch {
      history.replaceState(null, "", link);
      note.textContent = words.link_in_address;
    }
  });
  const note = html(buttons, "span", { class: "note", role: "status" });

  /** @param {Partial<Chosen>} change */
  function set(change) {
    chosen = { ...chosen, ...change };
    const state = weighSphere(given, chosen);
    view.update(state);
    const { angle, length, spread } = chosen;
    const sigma = three(state.sigma);
    shows.angle(angle, angle + "°", fill(text.angle_value, { angle }));
    shows.length(length, length.toFixed(2), fill(text.length_value, { length: length.toFixed(2) }));
    shows.spread(spread, spread.toFixed(2), spread ? fill(text.norms, bounds(state)) : text.norms_equal);
    shows.bandwidth(state.sigma, sigma, fill(text.bandwidth_value, { sigma, gap: apart(state, text).gap }));
    select.value = String(chosen.dimensions);
    if (note.textContent) note.textContent = "";
  }
  /** Take from the address what is well formed and in range. */
  function read() {
    const [target, query] = location.hash.slice(1).split(/\?(.*)/);
    if (target !== name || query === undefined) return;
    const wanted = new URLSearchParams(query);
    const next = { ...start };
    for (const key in start) {
      const said = wanted.get(key) ?? "";
      const x = Number(said);
      const fits = key === "dimensions" ? limits[key].includes(x) : x >= limits[key][0] && x <= limits[key][1];
      if (/^[\d.e+-]{1,24}$/.test(said) && fits) next[key] = x;
    }
    set(next);
    figure.scrollIntoView({ block: "nearest" });
  }
  set({});
  read();
  addEventListener("hashchange", read);
  figure.classList.add("mounted");
  figure.dispatchEvent(new CustomEvent("explorer:ready", { bubbles: true, detail: { name, sphere: { weighSphere, given } } }));
}

/** Mount every sphere of the page. */
export function mountAll() {
  for (const figure of document.querySelectorAll("figure.explorer[data-sphere]")) mountSphere(/** @type {HTMLElement} */ (figure));
}
