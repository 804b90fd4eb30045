// @ts-check
/** The page's host: native controls, the estimator in JavaScript, and the state in the address. */
import words from "./words.json" with { type: "json" };
import { effective, errorCurves, errorsAt, estimate, kernels, linSpace, logSpace, lowest, pool, resample, selectBandwidth, weigh } from "./estimator.js";
import { generator, sineData, sineTruth } from "./sample.js";
import { decimals, fill, fixed, html, put, short, write } from "./dom.js";
import { createView } from "./view.js";

/** How many queries are drawn, and how many σ. */
const [QUERIES, SIGMAS, STEPS] = [101, 61, 200];
/** More evaluations of a kernel than this do not fit in a frame: the error curves then wait for a pause. */
const FRAME = 400000;

const floats = (text) => new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const clamp = ([low, high], x) => Math.min(high, Math.max(low, x));

/** @param {HTMLElement} figure  the output of one `explore()` */
export function mount(figure) {
  const page = JSON.parse(/** @type {Element} */ (figure.querySelector("script")).textContent ?? "");
  const { name, limits, views } = page;
  Object.assign(words, page.words); // each figure brings the words of its interface
  const first = { kernel: page.kernel, bandwidth: page.bandwidth, query: page.query, band: page.band, ...page.sample };
  const own = { keys: floats(page.keys), values: floats(page.values) };
  const grid = linSpace(limits.query[0], limits.query[1], QUERIES);
  const bandwidths = logSpace(limits.bandwidth[0], limits.bandwidth[1], SIGMAS);
  const truth = page.sample ? grid.map(sineTruth) : page.truth && floats(page.truth);
  const queries = page.sample ? Float64Array.from({ length: 50 }, (_, i) => i / 10) : truth && grid;
  const queryTruth = page.sample ? queries.map(sineTruth) : truth;
  const shows = (view) => views.includes(view);

  /** What the reader has set. */
  let chosen = { ...first };
  let edits = [];
  let spread = { kernel: chosen.kernel, bandwidth: chosen.bandwidth };
  /** @type {any} What is drawn. */
  let state = { views, grid, truth, limits, predict: page.predict, message: "" };
  let draws = { of: "", values: new Float64Array(0) };
  let later = 0;

  function loadData() {
    let { keys, values } = own;
    if (page.sample && ["points", "noise", "seed"].some((k) => chosen[k] !== first[k]))
      ({ keys, values } = sineData(chosen.points, chosen.noise, chosen.seed));
    for (const [kind, i, x, y] of edits) {
      const [k, v] = [Array.from(keys), Array.from(values)];
      if (kind === "a") k.push(x), v.push(y);
      else if (kind === "d") k.splice(i, 1), v.splice(i, 1);
      else (k[i] = x), (v[i] = y);
      [keys, values] = [Float64Array.from(k), Float64Array.from(v)];
    }
    return { keys, values };
  }
  const data = () => ({ keys: state.keys, values: state.values, queries, truth: queryTruth });

  /** Compute what the change touches, and draw it. @param {string[]} touched */
  function compute(touched) {
    const is = (...names) => names.some((n) => touched.includes(n));
    const next = { ...state, ...chosen };
    if (is("data")) {
      Object.assign(next, loadData());
      if (page.sample && is("limits")) next.limits = { ...limits, value: valueLimits(next.values) };
    }
    state = next;
    const { keys, values, kernel, bandwidth, query } = next;
    const { profile } = kernels[kernel];
    if (is("data", "kernel", "bandwidth")) {
      const { matrix, fit } = estimate(grid, keys, values, kernel, bandwidth);
      Object.assign(next, { matrix, estimate: fit });
      next.errors = shows("errors") ? errorsAt(data(), kernel, bandwidth) : {};
    }
    next.weights = new Float64Array(keys.length);
    next.at_query = weigh(next.weights, query, keys, kernel, bandwidth) > 0 ? pool(next.weights, values) : NaN;
    next.effective = effective(next.weights);
    next.truth_at_query = page.sample ? sineTruth(query) : truth && truth[Math.round(((query - grid[0]) / (grid[QUERIES - 1] - grid[0])) * (QUERIES - 1))];
    if (is("kernel")) next.profile = Float64Array.from({ length: 201 }, (_, i) => profile(i / 50));
    if (shows("kernel")) next.profile_at_keys = keys.map((key) => profile(Math.abs(query - key) / bandwidth));
    if (is("data", "kernel") && shows("errors")) {
      clearTimeout(later);
      next.stale = keys.length * (keys.length + (queries ? queries.length : 0)) * SIGMAS > FRAME;
      if (next.stale && next.curves) later = setTimeout(() => (curves((state = { ...state })), view.update(state)), 60);
      else curves(next);
    }
    if (is("data", "kernel", "bandwidth", "band")) next.band = chosen.band ? bandOf(next) : null;
    view?.update(next);
    show();
  }
  function curves(next) {
    next.curves = { bandwidths, ...errorCurves(data(), next.kernel, bandwidths) };
    next.best = {};
    for (const name of ["training", "leave_one_out", "validation"]) next.best[name] = next.curves[name] && lowest(bandwidths, next.curves[name]);
    next.stale = false;
  }
  function bandOf({ matrix, keys, values }) {
    const of = [chosen.seed ?? 0, keys.length].join();
    if (draws.of !== of) {
      const { normal, uniform } = generator((chosen.seed ?? 0) + 1000);
      draws = { of, values: Float64Array.from({ length: 100 * keys.length }, page.sample ? normal : uniform) };
    }
    return resample(matrix, values, draws.values, page.sample ? keys.map(sineTruth) : null, chosen.noise);
  }
  function valueLimits(values) {
    const [low, high] = [Math.min(...values, ...truth), Math.max(...values, ...truth)];
    return [Math.floor(low - 0.04 * (high - low)), Math.ceil(high + 0.04 * (high - low))];
  }

  /** @param {Record<string, any>} change  from a control, from the drawing, or from the address */
  function act(change) {
    const { move, add, remove, ...set } = change;
    const touched = Object.keys(set);
    const round = (x, range) => Number(x.toFixed(decimals(range) + 1));
    if (move || add || remove !== undefined) {
      const n = state.keys.length;
      if (move || add) {
        const [x, y] = (move ? move.slice(1) : add).map((v, i) => round(v, [limits.query, state.limits.value][i]));
        const last = edits[edits.length - 1];
        if (move && last?.[0] === "m" && last[1] === move[0]) edits.pop();
        edits.push(move ? ["m", move[0], x, y] : ["a", n, x, y]);
      } else if (n > 1) edits.push(["d", remove]);
      touched.push("data");
    }
    if (set.query !== undefined) set.query = round(set.query, limits.query);
    if (set.bandwidth !== undefined) set.bandwidth = clamp(limits.bandwidth, Number(set.bandwidth.toPrecision(3)));
    if ("points" in set || "noise" in set || "seed" in set) {
      edits = [];
      touched.push("data", "limits");
    }
    Object.assign(chosen, set);
    if ("bandwidth" in set) spread = { kernel: chosen.kernel, bandwidth: chosen.bandwidth };
    compute(touched);
  }

  /* ---- the controls ---- */
  const controls = {};
  function range(box, key, low, high, step, toValue, toStep, text) {
    const label = html(box, "label", { class: "control " + key });
    html(label, "span", {}, words[key]);
    const input = html(label, "input", { type: "range", min: low, max: high, step });
    const output = text === undefined ? null : html(box, "b", { class: "value", "aria-hidden": "true" }, text);
    input.addEventListener("input", () => act({ [key]: toValue(Number(input.value)) }));
    controls[key] = (text, spoken) => {
      const at = toStep(chosen[key]);
      if (Math.abs(input.valueAsNumber - at) > step / 2) input.value = at;
      if (output) write(output.firstChild, text);
      put(input, { "aria-valuetext": spoken });
    };
  }
  function button(key, listener, attributes = {}) {
    const node = html(view.slots.tools, "button", { type: "button", class: key + "-button", ...attributes }, words[key]);
    node.addEventListener("click", listener);
    return node;
  }
  const [low, high] = limits.bandwidth;
  const same = (x) => x;

  /** @type {ReturnType<typeof createView>} */
  let view;
  compute(["data", "kernel", "bandwidth", "band"]);
  view = createView(figure, state, act);
  range(view.slots.rail, "query", limits.query[0], limits.query[1], (limits.query[1] - limits.query[0]) / 250, same, same);
  const kernelBox = html(view.slots.dock, "label", { class: "control kernel" });
  html(kernelBox, "span", {}, words.kernel);
  const select = html(kernelBox, "select");
  for (const key in kernels) html(select, "option", { value: key }, words.kernels[key]);
  select.addEventListener("change", () => act({ kernel: select.value }));
  view.slots.dock.prepend(kernelBox);
  html(view.slots.sigma, "span", { class: "ends", "aria-hidden": "true" }, String(low));
  html(view.slots.sigma, "span", { class: "ends", "aria-hidden": "true" }, String(high));
  const toStep = (sigma) => (Math.log(sigma / low) / Math.log(high / low)) * STEPS;
  range(view.slots.sigma, "bandwidth", 0, STEPS, 1, (t) => low * (high / low) ** (t / STEPS), toStep, " ");
  button("best", () => act({ bandwidth: selectBandwidth(data(), chosen.kernel, limits.bandwidth) || chosen.bandwidth }), { title: words.best_hint });
  const equal = button("equal_spread", () => {
    const kept = spread;
    act({ bandwidth: equalSpread() });
    spread = kept;
    show();
  }, { title: words.equal_spread_hint });
  if (page.sample) {
    for (const [key, least, most, step] of [["points", 5, 200, 1], ["noise", 0, 3, 0.1]])
      range(html(view.slots.tools, "div", { class: "range" }), key, least, most, step, same, same, " ");
    button("new_sample", () => act({ seed: (chosen.seed + 1) % 2 ** 32 }));
  }
  button("reset", () => {
    chosen = { ...first };
    edits = [];
    spread = { kernel: chosen.kernel, bandwidth: chosen.bandwidth };
    state = { ...state, limits, predict: page.predict };
    compute(["data", "kernel", "bandwidth", "band"]);
  });
  const toggles = {};
  if (shows("fit")) {
    toggles.band = button("band", () => act({ band: !chosen.band }), { title: words.band_hint });
    toggles.predict = button("predict", () => ((state = { ...state, predict: !state.predict }), view.update(state), show()));
  }
  toggles.table = button("table", () => put(toggles.table, { "aria-pressed": view.toggleTable() }), { "aria-pressed": "false" });
  button("copy_link", copy);
  const note = html(view.slots.tools, "span", { class: "note", role: "status" });

  function equalSpread() {
    return (spread.bandwidth * kernels[spread.kernel].spread) / kernels[chosen.kernel].spread;
  }
  /** Bring the controls in line with the state. */
  function show() {
    if (!controls.bandwidth) return;
    const { query, bandwidth, points, noise, kernel, band } = chosen;
    if (select.value !== kernel) select.value = kernel;
    const q = fixed(query, limits.query);
    const estimate = fixed(state.at_query, state.limits.value);
    const spoken = state.predict ? words.query_hidden : Number.isFinite(state.at_query) ? words.query_value : words.query_empty;
    controls.query("", fill(spoken, { q, estimate }));
    const sigma = String(bandwidth);
    controls.bandwidth(sigma, fill(shows("errors") ? words.bandwidth_error : words.bandwidth_value, { sigma, error: short(state.errors.leave_one_out) }));
    if (page.sample) {
      controls.points(String(points), fill(words.points_value, { n: points }));
      controls.noise(noise.toFixed(1), fill(words.noise_value, { noise: noise.toFixed(1) }));
    }
    const wanted = equalSpread();
    equal.disabled = !(wanted > 0 && wanted < Infinity) || Math.abs(wanted / bandwidth - 1) < 0.004;
    if (toggles.band) {
      put(toggles.band, { "aria-pressed": band });
      put(toggles.predict, { "aria-pressed": state.predict });
    }
    if (note.textContent) note.textContent = "";
  }

  /* ---- the address ---- */
  function address() {
    const query = new URLSearchParams();
    for (const key in first) query.set(key, key === "band" ? String(Number(chosen.band)) : String(chosen[key]));
    if (edits.length) query.set("edits", edits.map((edit) => edit[0] + edit.slice(1).join("~")).join("_"));
    return location.href.replace(/#.*/, "") + "#" + name + "?" + query;
  }
  /** Take from an address what is well formed and in range; all else stays as it was given by the page. */
  function read() {
    const [target, query] = location.hash.slice(1).split(/\?(.*)/);
    if (target !== name || query === undefined) return;
    const wanted = new URLSearchParams(query);
    const next = { ...first };
    const number = (key, [low, high], whole = false) => {
      const text = wanted.get(key);
      const x = Number(text);
      if (key in first && text && /^[\d.eE+-]{1,24}$/.test(text) && x >= low && x <= high && (!whole || Number.isInteger(x))) next[key] = x;
    };
    number("bandwidth", limits.bandwidth);
    number("query", limits.query);
    number("points", [5, 200], true);
    number("noise", [0, 3]);
    number("seed", [0, 2 ** 32 - 1], true);
    const kernel = wanted.get("kernel") ?? "";
    if (Object.hasOwn(kernels, kernel)) next.kernel = kernel;
    if (wanted.has("band")) next.band = wanted.get("band") === "1";
    chosen = next;
    edits = readEdits(wanted.get("edits") ?? "");
    spread = { kernel: chosen.kernel, bandwidth: chosen.bandwidth };
    state = { ...state, limits };
    compute(["data", "limits", "kernel", "bandwidth", "band"]);
    figure.scrollIntoView({ block: "nearest" });
  }
  function readEdits(text) {
    let n = page.sample ? chosen.points : own.keys.length;
    const found = [];
    for (const part of text ? text.split("_").slice(0, 500) : []) {
      const [i, x, y] = part.slice(1).split("~").map(Number);
      const kind = part[0];
      const placed = Number.isInteger(i) && i >= 0 && [limits.query, [-1e9, 1e9]].every(([a, b], k) => [x, y][k] >= a && [x, y][k] <= b);
      if (kind === "m" && placed && i < n) found.push(["m", i, x, y]);
      else if (kind === "a" && placed && n < 1000) found.push(["a", n++, x, y]);
      else if (kind === "d" && i >= 0 && i < n && Number.isInteger(i) && n > 1) found.push(["d", i]), n--;
      else return [];
    }
    return found;
  }
  async function copy() {
    const link = address();
    try {
      await navigator.clipboard.writeText(link);
      note.textContent = words.copied;
    } catch {
      history.replaceState(null, "", link);
      note.textContent = words.link_in_address;
    }
  }

  show();
  view.start();
  read();
  addEventListener("hashchange", read);
  figure.classList.add("mounted");
  figure.dispatchEvent(new CustomEvent("explorer:ready", { bubbles: true, detail: { name, estimator: { effective, errorCurves, errorsAt, estimate, kernels, lowest, resample, selectBandwidth, weigh, pool, sineData, generator } } }));
}

/** Mount every explorer of the page. */
export function mountAll() {
  for (const figure of document.querySelectorAll("figure.explorer[data-live]")) mount(/** @type {HTMLElement} */ (figure));
}
