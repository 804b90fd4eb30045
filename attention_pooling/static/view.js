// @ts-check
/**
 * The drawing of one explorer: a function of the state that a host hands it.
 * It computes nothing but positions, and asks the host for changes with `act`.
 */
import { fill, fixed, html, minus, put, sentence, short, show, svg, write } from "./dom.js";
import words from "./words.json" with { type: "json" };

/**
 * @typedef {object} State  the wire names of both hosts
 * @property {string[]} views @property {string} kernel @property {number} bandwidth @property {number} query
 * @property {Float64Array} keys @property {Float64Array} values
 * @property {Float64Array} grid  the queries of the drawn curve and of the rows of the heat map
 * @property {Float64Array} estimate @property {Float64Array | null} truth  on the grid
 * @property {Float64Array} matrix  weights, grid × keys
 * @property {Float64Array} weights  at the query
 * @property {number} at_query @property {number | null} truth_at_query @property {number} effective
 * @property {Float64Array} profile  K at u = 0 … 4 @property {Float64Array} profile_at_keys
 * @property {Record<string, Float64Array | null>} curves  bandwidths and the errors over them
 * @property {boolean} [stale]  the curves are those of an earlier state
 * @property {Record<string, number | null>} errors  at the present σ
 * @property {Record<string, number | null>} best  σ of the smallest error of each curve
 * @property {Float64Array | null} band  estimates of resampled data sets, resamples × grid
 * @property {Record<"bandwidth" | "query" | "value", [number, number]>} limits
 * @property {boolean} predict @property {string} message
 */

const ERRORS = /** @type {const} */ (["training", "leave_one_out", "validation"]);
const [LEFT, RIGHT, GAP] = [40, 12, 30];

/** Round numbers that divide a range. @param {number[]} range @param {number} count */
function ticks([low, high], count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) ?? raw;
  const marks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) marks.push(Number((i * step).toPrecision(6)));
  return marks;
}

const least = (array) => array.reduce((a, b) => Math.min(a, b), Infinity);
function largest(array, from, count) {
  let most = 0;
  for (let i = from; i < from + count; i++) if (array[i] > most) most = array[i];
  return most;
}

/** A polyline that breaks where y is not finite. */
function line(xs, ys, X, Y, from = 0, count = xs.length) {
  let path = "";
  let pen = "M";
  for (let i = 0; i < count; i++) {
    const y = ys[from + i];
    if (Number.isFinite(y)) {
      path += pen + Math.round(X(xs[i]) * 10) / 10 + " " + Math.round(Y(y) * 10) / 10;
      pen = "L";
    } else pen = "M";
  }
  return path;
}

/**
 * @param {HTMLElement} parent
 * @param {State} first
 * @param {(change: Record<string, any>) => void} act  asks the host for a change
 */
export function createView(parent, first, act) {
  const ending = new AbortController();
  const on = (node, types, listener, options = {}) => {
    for (const type of types.split(" ")) node.addEventListener(type, listener, { signal: ending.signal, ...options });
  };
  const shows = (view) => first.views.includes(view);
  const root = html(parent, "div", { class: "explorer-view", role: "group", "aria-label": words.figure });
  if (shows("errors")) root.classList.add("two");
  const main = html(root, "div", { class: "main" });
  const dock = html(root, "div", { class: "dock" });

  // The left panel: one horizontal axis for the input space, shared by everything in it.
  const legend = html(main, "div", { class: "legend" });
  const entry = (parent, role, text) => html(parent, "span", { class: role }, text);
  if (shows("fit")) entry(legend, "key", words.legend.key);
  const legends = {};
  if (shows("fit")) for (const role of ["estimate", "truth", "band", "guess"]) legends[role] = entry(legend, role, words.legend[role]);
  const stage = html(main, "div", { class: "stage" });
  const rail = html(stage, "div", { class: "rail" });
  const bandCanvas = html(stage, "canvas", { "aria-hidden": "true", class: "band", width: 0, height: 0 });
  const heatCanvas = html(stage, "canvas", { "aria-hidden": "true", class: "heat", width: 0, height: 0 });
  const ramp = html(stage, "div", { class: "ramp" });
  const picture = svg(stage, "svg", { role: "group", "aria-label": words.drawing });
  const frame = svg(picture, "g", { class: "frame" });
  const windowRect = svg(picture, "rect", { class: "window" });
  const truthPath = svg(picture, "path", { class: "truth line", "data-role": "truth" });
  const bandPath = svg(picture, "path", { class: "band line" });
  const guessPath = svg(picture, "path", { class: "guess line" });
  const queryGroup = svg(picture, "g", { class: "query", "data-role": "query" });
  const queryLine = svg(queryGroup, "line");
  const meanPath = svg(picture, "path", { class: "mean" });
  const keysGroup = svg(picture, "g", { class: "keys", "data-role": "keys", tabindex: 0, role: "slider", "aria-label": words.keys, "aria-description": words.keys_help, "aria-valuemin": 1 });
  const hollowPath = svg(keysGroup, "path", { class: "hollow" });
  const reachedPath = svg(keysGroup, "path");
  const estimatePath = svg(picture, "path", { class: "estimate line", "data-role": "estimate" });
  const stems = svg(picture, "path", { class: "stems", "data-role": "weights" });
  const profilePath = svg(picture, "path", { class: "profile line" });
  const profileStems = svg(picture, "path", { class: "stems", "stroke-width": 1.2 });
  const profileDots = svg(picture, "path", { class: "dots" });
  const rowMark = svg(picture, "rect", { class: "now" });
  const handle = svg(queryGroup, "circle", { class: "handle", r: 8, cy: 12 });
  const queryText = svg(queryGroup, "text", { class: "title", y: 16 }, " ");
  const dot = svg(picture, "circle", { class: "dot", r: 5 });
  const titles = svg(picture, "g");
  const ring = svg(picture, "circle", { class: "ring" });

  // The error plot, whose axis is the σ slider.
  const errorBox = html(dock, "div", { class: "errors", hidden: "" });
  html(errorBox, "div", { class: "title" }, words.title_errors);
  const errorPicture = svg(errorBox, "svg", { class: "error-plot", role: "img", "aria-label": words.error_drawing, "data-role": "errors" });
  const errorFrame = svg(errorPicture, "g", { class: "frame" });
  const errorLines = Object.fromEntries(ERRORS.map((name) => [name, svg(errorPicture, "path", { class: name + " line" })]));
  const bestMarks = Object.fromEntries(ERRORS.map((name) => [name, svg(errorPicture, "circle", { class: name + " best", r: 4.5 })]));
  const sigmaLine = svg(errorPicture, "line", { class: "sigma" });
  const sigmaBox = html(dock, "div", { class: "sigma-box" });
  const errorLegend = html(dock, "div", { class: "legend column", hidden: "" });
  const errorSaid = Object.fromEntries(
    ERRORS.map((name) => {
      const span = entry(errorLegend, name, words.errors[name] + " ");
      return [name, { span, text: html(span, "b", {}, " ").firstChild }];
    }),
  );
  errorBox.hidden = errorLegend.hidden = !shows("errors");
  const tools = html(root, "div", { class: "tools" });

  // The words under the figure.
  const guessBar = html(root, "div", { class: "guess-bar", hidden: "" });
  const guessLabel = html(guessBar, "label", {}, words.guess + " ");
  const guessInput = html(guessLabel, "input", { type: "number", step: "any" });
  const reveal = html(guessBar, "button", { type: "button" }, words.reveal);
  const guessSaid = html(guessBar, "span", { role: "status" });
  const readout = html(root, "p", { class: "readout", "data-role": "readout" });
  const say = {};
  for (const name of ["said_hidden", "said_empty", "said", "said_truth", "said_mean", "said_errors", "said_validation", "said_end"])
    say[name] = sentence(readout, words[name]);
  const live = html(root, "p", { class: "live", "aria-live": "polite" });
  const message = html(root, "p", { class: "message", role: "alert", hidden: "" });
  const tableBox = html(root, "div", { class: "rows", hidden: "", tabindex: 0, role: "region", "aria-label": words.table });

  /** @type {State} */
  let state = first;
  let width = 0;
  let errorWidth = 0;
  let errorHeight = 128;
  /** @type {Record<string, {top: number, height: number}>} */
  const rows = {};
  let X = (x) => x;
  let Y = (y) => y;
  let [fromX, fromY] = [X, Y];
  let heatY = Y;
  let errorX = X;
  let errorY = Y;
  let top = 1;
  let radii = new Float64Array(0);
  let chosen = 0;
  let colours = { full: [0, 0, 0], empty: [0, 0, 0] };
  let columns = new Int32Array(0);
  let image = new ImageData(1, 1);
  let sayLater = 0;
  /** @type {Float64Array | null} */
  let guess = null;
  let revealed = false;

  const hides = () => state.predict && !revealed;
  const scale = (low, high, a, b) => (v) => a + ((v - low) / (high - low)) * (b - a);

  /** Frames, axes and everything else that depends on the size and the limits only. */
  function layout() {
    const { query, value } = state.limits;
    const inner = width - LEFT - RIGHT;
    const narrow = width < 380;
    let y = 26;
    for (const [view, name, height] of [
      ["kernel", "kernel", narrow ? 120 : 150],
      ["fit", "fit", narrow ? 180 : 210],
      ["weights", "stems", 52],
      ["weights", "heat", narrow ? 130 : 160],
    ]) {
      if (!shows(view)) continue;
      if (name !== "fit") y += y > 26 ? 26 : 20;
      rows[name] = { top: y, height };
      y += height;
    }
    const bottom = y;
    put(picture, { width, height: bottom + 36 });
    X = scale(query[0], query[1], LEFT, LEFT + inner);
    fromX = scale(LEFT, LEFT + inner, query[0], query[1]);
    frame.replaceChildren();
    titles.replaceChildren();
    const text = (x, y, anchor, words, kind = "tick") => svg(kind === "tick" ? frame : titles, "text", { x, y, "text-anchor": anchor, class: kind }, words);
    const across = (y, kind) => svg(frame, "line", { x1: LEFT, x2: LEFT + inner, y1: y, y2: y, class: kind });
    if (rows.fit) {
      const { top, height } = rows.fit;
      Y = scale(value[0], value[1], top + height, top);
      fromY = scale(top + height, top, value[0], value[1]);
      for (const v of ticks(value, 5)) {
        across(Y(v), "grid");
        text(LEFT - 7, Y(v) + 4, "end", minus(String(v)));
      }
    }
    for (const [name, title] of [["kernel", words.title_profile], ["stems", words.title_weights], ["heat", words.title_matrix]]) {
      if (!rows[name]) continue;
      text(LEFT, rows[name].top - 8, "start", title, "title");
      across(rows[name].top + rows[name].height, "axis");
    }
    if (rows.heat) {
      heatY = scale(query[0], query[1], rows.heat.top + rows.heat.height, rows.heat.top);
      for (const v of ticks(query, 3)) text(LEFT - 7, Math.min(heatY(v) + 4, bottom), "end", minus(String(v)));
      place(heatCanvas, rows.heat, inner);
      Object.assign(ramp.style, { left: LEFT - 6 + "px", top: rows.stems.top + "px", height: rows.stems.height + "px" });
      legends.top = text(LEFT - 8, rows.stems.top + 9, "end", " ");
      text(LEFT - 8, rows.stems.top + rows.stems.height, "end", "0");
    }
    across(12, "grid");
    for (const v of ticks(query, narrow ? 4 : 6)) text(X(v), bottom + 16, "middle", minus(String(v)));
    text(LEFT + inner / 2, bottom + 31, "middle", words.axis);
    put(queryLine, { y1: 12, y2: bottom });
    show(handle, !rail.childElementCount);
    put(rowMark, { x: LEFT, width: inner, height: 4 });
    show(rowMark, rows.heat);
    const { top, height } = rows.fit ?? rows.kernel ?? { top: 0, height: 0 };
    put(windowRect, { y: top, height });
    show(dot, rows.fit);
    show(keysGroup, rows.fit);
    if (rows.fit) {
      place(bandCanvas, rows.fit, inner);
      bandCanvas.width = Math.round(inner * 2);
      bandCanvas.height = Math.round(rows.fit.height * 2);
    }
    heatCanvas.width = Math.max(1, Math.round(inner * Math.min(2, devicePixelRatio)));
    heatCanvas.height = state.grid.length;
    layoutErrors();
  }
  function place(canvas, { top, height }, inner) {
    Object.assign(canvas.style, { left: LEFT + "px", top: top + "px", width: inner + "px", height: height + "px" });
  }
  function layoutErrors() {
    if (!shows("errors") || !errorWidth) return;
    const { bandwidth } = state.limits;
    const [low, high] = bandwidth.map(Math.log);
    errorX = (sigma) => 10 + ((Math.log(sigma) - low) / (high - low)) * (errorWidth - 20);
    put(sigmaLine, { y1: 0, y2: errorHeight });
  }
  function fitErrors() {
    // The scale holds the interesting part: curves may leave it at the top, where a window is almost empty.
    const { curves, best } = state;
    const ends = ERRORS.flatMap((name) => {
      const curve = curves[name];
      if (!curve) return [];
      return [curve[curve.length - 1], least(curve) * 1.6];
    }).filter(Number.isFinite);
    const most = Math.max(...ends, 1e-12) * 1.15;
    errorY = scale(0, most, errorHeight - 6, 6);
    const marks = ticks([0, most], 3);
    while (errorFrame.childElementCount > 2 * marks.length) errorFrame.lastChild.remove();
    marks.forEach((v, i) => {
      const line = errorFrame.children[2 * i] ?? svg(errorFrame, "line", { x1: 0, class: i ? "grid" : "axis" });
      const text = errorFrame.children[2 * i + 1] ?? svg(errorFrame, "text", { x: 1, class: "tick" }, " ");
      put(line, { x2: errorWidth, y1: errorY(v), y2: errorY(v) });
      put(text, { y: errorY(v) - 3 });
      write(text.firstChild, v ? String(v) : "");
    });
    for (const name of ERRORS) {
      const curve = curves[name];
      errorLines[name].setAttribute("d", curve ? line(curves.bandwidths, curve, errorX, (e) => Math.max(-20, errorY(e))) : "");
      const sigma = best[name];
      const marked = curve && sigma && name !== "training";
      show(bestMarks[name], marked);
      if (marked) put(bestMarks[name], { cx: errorX(sigma), cy: errorY(least(curve)) });
      errorSaid[name].span.hidden = !curve;
    }
  }

  /** Which key each pixel column of the heat map belongs to: a column reaches halfway to its neighbours. */
  function layColumns() {
    const { keys } = state;
    const order = Array.from(keys.keys()).sort((a, b) => keys[a] - keys[b]);
    columns = new Int32Array(heatCanvas.width);
    const stretch = heatCanvas.width / (width - LEFT - RIGHT);
    let k = 0;
    for (let p = 0; p < columns.length; p++) {
      const x = fromX(LEFT + (p + 0.5) / stretch);
      while (k + 1 < order.length && (keys[order[k]] + keys[order[k + 1]]) / 2 < x) k++;
      columns[p] = order[k];
    }
  }
  function drawHeat() {
    const { matrix, keys } = state;
    const n = keys.length;
    const [w, h] = [heatCanvas.width, heatCanvas.height];
    if (image.width !== w || image.height !== h) image = new ImageData(w, h);
    const pixels = new Uint32Array(image.data.buffer);
    const paint = new Uint32Array(257);
    const [r, g, b] = colours.full;
    for (let i = 0; i <= 256; i++) paint[i] = ((Math.min(255, i) << 24) | (b << 16) | (g << 8) | r) >>> 0;
    const [er, eg, eb] = colours.empty;
    const hatch = ((90 << 24) | (eb << 16) | (eg << 8) | er) >>> 0;
    for (let q = 0; q < h; q++) {
      const from = (h - 1 - q) * w;
      const row = q * n;
      let any = 0;
      for (let i = 0; i < n; i++) any += matrix[row + i];
      if (any > 0) for (let p = 0; p < w; p++) pixels[from + p] = paint[Math.min(255, Math.round((matrix[row + columns[p]] / top) * 255))];
      else for (let p = 0; p < w; p++) pixels[from + p] = (p + 4 * q) % 12 < 3 ? hatch : 0;
    }
    heatCanvas.getContext("2d").putImageData(image, 0, 0);
  }
  function drawBand() {
    const { band, grid } = state;
    const context = bandCanvas.getContext("2d");
    context.clearRect(0, 0, bandCanvas.width, bandCanvas.height);
    legends.band.hidden = !band || hides();
    bandPath.setAttribute("d", "");
    if (!band || hides()) return;
    const size = grid.length;
    const sum = new Float64Array(size);
    const count = band.length / size;
    const [x, y] = [(v) => 2 * (X(v) - LEFT), (v) => 2 * (Y(v) - rows.fit.top)];
    context.strokeStyle = getComputedStyle(bandPath).stroke;
    context.globalAlpha = 0.16;
    context.lineWidth = 2;
    for (let s = 0; s < count; s++) {
      context.beginPath();
      let pen = false;
      for (let i = 0; i < size; i++) {
        const v = band[s * size + i];
        sum[i] += v / count;
        if (!Number.isFinite(v)) pen = false;
        else if (pen) context.lineTo(x(grid[i]), y(v));
        else context.moveTo(x(grid[i]), y(v)), (pen = true);
      }
      context.stroke();
    }
    bandPath.setAttribute("d", line(grid, sum, X, Y));
  }

  /** Draw what differs from the last state. @param {Partial<State>} old */
  function draw(old) {
    const { query, bandwidth, keys, values, weights, matrix, limits } = state;
    const n = keys.length;
    const is = (...names) => names.some((name) => state[name] !== old[name]);
    const x = X(query);
    if (is("keys", "limits") && rows.heat) layColumns();
    if (is("matrix")) {
      // Full colour is reached in one row of ten: a lonely key at the edge would leave all others pale.
      const peaks = new Float64Array(state.grid.length);
      for (let q = 0; q < peaks.length; q++) peaks[q] = largest(matrix, q * n, n);
      top = peaks.sort()[Math.floor(0.9 * peaks.length)] || 1;
    }
    const most = Math.max(top, largest(weights, 0, n));
    if (legends.top) {
      write(legends.top.firstChild, most < 0.995 ? most.toFixed(2) : "1");
      ramp.style.setProperty("--share", (top / most).toFixed(3));
    }
    if (is("matrix", "keys", "limits") && rows.heat) drawHeat();
    if (is("query", "limits")) {
      put(queryGroup, { transform: `translate(${x} 0)` });
      const left = x > width - 100;
      put(queryText, { x: left ? -13 : 13, "text-anchor": left ? "end" : "start" });
      write(queryText.firstChild, "q = " + fixed(query, limits.query));
    }
    if (is("query", "limits") && rows.heat) rowMark.setAttribute("y", heatY(query) - 2);
    if (is("query", "bandwidth", "limits")) {
      const [a, b] = [Math.max(LEFT, X(query - bandwidth)), Math.min(width - RIGHT, X(query + bandwidth))];
      put(windowRect, { x: a, width: Math.max(0, b - a) });
    }
    if (rows.fit) {
      if (is("truth", "limits")) truthPath.setAttribute("d", state.truth ? line(state.grid, state.truth, X, Y) : "");
      if (is("estimate", "limits", "predict")) estimatePath.setAttribute("d", hides() ? "" : line(state.grid, state.estimate, X, Y));
      show(legends.truth, state.truth);
      show(legends.estimate, !hides());
      show(legends.guess, guess);
      if (is("band", "limits", "predict")) drawBand();
      // Two paths for all keys, filled where they have a weight: an element for each would cost a style each.
      let [reached, hollow, mean] = ["", "", ""];
      if (radii.length !== n) radii = new Float64Array(n);
      const side = x > width - RIGHT - 40 ? -1 : 1;
      for (let i = 0; i < n; i++) {
        const w = weights[i];
        const y = Y(values[i]);
        const r = (radii[i] = 2.4 + Math.round(56 * Math.sqrt(w / most)) / 10);
        const circle = `M${Math.round((X(keys[i]) - r) * 10) / 10} ${Math.round(y * 10) / 10}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
        if (w > 0) reached += circle;
        else hollow += circle;
        const length = (side * 26 * w) / most;
        if (Math.abs(length) > 0.5) mean += `M${x} ${y}h${length}`;
      }
      put(reachedPath, { d: reached });
      put(hollowPath, { d: hollow });
      put(meanPath, { d: hides() ? "" : mean });
      const shown = Number.isFinite(state.at_query) && !hides();
      show(dot, shown);
      if (shown) put(dot, { cx: x, cy: Y(state.at_query) });
      chosen = Math.min(chosen, n - 1);
      if (document.activeElement === keysGroup || is("keys", "values")) describeKeys();
    }
    if (rows.stems && is("weights", "keys", "matrix", "limits")) {
      const base = rows.stems.top + rows.stems.height;
      let path = "";
      for (let i = 0; i < n; i++) {
        const length = (weights[i] / most) * rows.stems.height;
        if (length > 0.2) path += `M${X(keys[i])} ${base}v${-length}`;
      }
      put(stems, { d: path, "stroke-width": n > 120 ? 1 : 2.2 });
    }
    if (rows.kernel && is("profile", "profile_at_keys", "query", "bandwidth", "limits", "keys")) drawProfile();
    if (shows("errors") && errorWidth) {
      if (is("curves", "limits")) fitErrors();
      errorBox.classList.toggle("stale", Boolean(state.stale));
      put(sigmaLine, { x1: errorX(bandwidth), x2: errorX(bandwidth) });
      for (const name of ERRORS) write(errorSaid[name].text, short(state.errors[name]));
    }
    speak();
    show(message, state.message);
    if (message.textContent !== state.message) message.textContent = state.message;
    if (!tableBox.hidden) drawTable();
  }
  function drawProfile() {
    const { profile, query, bandwidth, keys, profile_at_keys, limits } = state;
    const { top, height } = rows.kernel;
    const peak = Math.max(...profile, 1e-300);
    const y = scale(0, peak, top + height, top + 6);
    const last = profile.length - 1;
    const xs = [limits.query[0]];
    const ys = [profile[last]];
    for (let i = -last; i <= last; i++) {
      const at = query + (i / last) * 4 * bandwidth;
      if (at < limits.query[0] || at > limits.query[1]) continue;
      xs.push(at);
      ys.push(profile[Math.abs(i)]);
    }
    const reach = 4 * bandwidth;
    if (query - reach < limits.query[0]) ys[0] = ys[1] ?? ys[0];
    xs.push(limits.query[1]);
    ys.push(query + reach > limits.query[1] ? ys[ys.length - 1] : profile[last]);
    profilePath.setAttribute("d", line(xs, ys, X, y));
    let [rises, dots] = ["", ""];
    for (let i = 0; i < keys.length; i++) {
      const at = `M${X(keys[i])} ${y(profile_at_keys[i])}`;
      rises += at + `V${top + height}`;
      dots += at + "h.01";
    }
    profileStems.setAttribute("d", rises);
    profileDots.setAttribute("d", dots);
  }

  /** The readout, in view at once and in a polite live region when the hand rests. */
  function speak() {
    const { limits, errors, weights, at_query, truth_at_query, query, bandwidth } = state;
    const q = fixed(query, limits.query);
    const empty = !Number.isFinite(at_query);
    const open = !empty && !hides();
    let reached = 0;
    for (const w of weights) if (w > 0) reached++;
    say.said_hidden(hides() ? { q } : null);
    say.said_empty(empty && !hides() ? { q, sigma: short(bandwidth), gap: short(nearest()) } : null);
    say.said(open ? { q, estimate: fixed(at_query, limits.value) } : null);
    say.said_truth(open && truth_at_query !== null ? { truth: fixed(truth_at_query, limits.value) } : null);
    say.said_mean(open ? { reached: String(reached), n: String(weights.length), effective: short(state.effective) } : null);
    const said = Object.fromEntries(ERRORS.map((name) => [name, short(errors[name])]));
    say.said_errors(shows("errors") ? said : null);
    say.said_validation(shows("errors") && errors.validation !== null ? said : null);
    say.said_end(shows("errors") ? {} : null);
    clearTimeout(sayLater);
    sayLater = setTimeout(() => (live.textContent = Array.from(readout.children).filter((s) => !s.hidden).map((s) => s.textContent).join("")), 700);
  }
  function nearest() {
    let gap = Infinity;
    for (const key of state.keys) gap = Math.min(gap, Math.abs(key - state.query));
    return gap;
  }
  function describeKeys() {
    const { keys, values, weights, limits } = state;
    const i = chosen;
    put(ring, { cx: X(keys[i]), cy: Y(values[i]), r: radii[i] + 4 });
    put(keysGroup, {
      "aria-valuemax": keys.length, "aria-valuenow": i + 1,
      "aria-valuetext": fill(words.key_value, { i: i + 1, n: keys.length, x: fixed(keys[i], limits.query), y: fixed(values[i], limits.value), w: short(weights[i]) }),
    });
  }
  function drawTable() {
    const { keys, values, weights, limits, query } = state;
    tableBox.replaceChildren();
    const table = html(tableBox, "table");
    html(table, "caption", {}, fill(words.table_caption, { q: fixed(query, limits.query) }));
    const head = html(html(table, "thead"), "tr");
    for (const name of words.table_heads) html(head, "th", { scope: "col" }, name);
    const body = html(table, "tbody");
    for (const i of Array.from(keys.keys()).sort((a, b) => keys[a] - keys[b])) {
      const tr = html(body, "tr");
      for (const cell of [fixed(keys[i], limits.query), fixed(values[i], limits.value), short(weights[i])]) html(tr, "td", {}, cell);
    }
  }

  /* ---- what hands can do ---- */
  const local = (event, node) => {
    const box = node.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const within = (row, y) => row && y >= row.top - 4 && y <= row.top + row.height + 4;
  const keyAt = ([x, y], reach) => {
    let best = -1;
    if (rows.fit)
      for (let i = 0; i < state.keys.length; i++) {
        const far = Math.hypot(X(state.keys[i]) - x, Y(state.values[i]) - y);
        if (far < Math.max(reach, radii[i] + 2) && (best < 0 || far < best)) (best = far), (chosen = i);
      }
    return best < 0 ? -1 : chosen;
  };
  const clampTo = ([low, high], v) => Math.min(high, Math.max(low, v));
  const queryAt = ([x, y], heat) => clampTo(state.limits.query, heat ? fromHeat(y) : fromX(x));
  const fromHeat = (y) => scale(rows.heat.top + rows.heat.height, rows.heat.top, state.limits.query[0], state.limits.query[1])(y);
  const outside = ([x, y]) => x < LEFT - 14 || x > width - RIGHT + 14 || y < rows.fit.top - 14 || y > rows.fit.top + rows.fit.height + 14;
  /** @type {{kind: "key" | "query" | "guess", key: number, heat: boolean, start: number[], moved: boolean} | null} */
  let drag = null;

  on(picture, "touchstart", (event) => {
    const point = local(event.touches[0], picture);
    if (keyAt(point, 18) >= 0 || within(rows.heat, point[1]) || hides() || Math.abs(point[0] - X(state.query)) < 18) event.preventDefault();
  }, { passive: false });
  on(picture, "pointerdown", (event) => {
    if (event.button) return;
    const start = local(event, picture);
    const heat = within(rows.heat, start[1]);
    const guessing = hides() && within(rows.fit, start[1]);
    const key = guessing ? -1 : keyAt(start, event.pointerType === "touch" ? 18 : 9);
    drag = { kind: guessing ? "guess" : key >= 0 ? "key" : "query", key, heat, start, moved: false };
    picture.setPointerCapture(event.pointerId);
    if (heat) act({ query: queryAt(start, true) });
    if (key >= 0) keysGroup.focus({ preventScroll: true }), describeKeys();
    event.preventDefault();
  });
  on(picture, "pointermove", (event) => {
    const point = local(event, picture);
    if (!drag) {
      if (event.pointerType === "mouse" && within(rows.heat, point[1])) act({ query: queryAt(point, true) });
      return;
    }
    drag.moved ||= Math.hypot(point[0] - drag.start[0], point[1] - drag.start[1]) > 3;
    if (!drag.moved) return;
    if (drag.kind === "guess") drawGuess(point);
    else if (drag.kind === "query") act({ query: queryAt(point, drag.heat) });
    else {
      keysGroup.classList.toggle("leaving", outside(point));
      act({ move: [drag.key, clampTo(state.limits.query, fromX(point[0])), clampTo(state.limits.value, fromY(point[1]))] });
    }
  });
  on(picture, "pointerup", (event) => {
    const done = drag;
    drag = null;
    keysGroup.classList.remove("leaving");
    if (!done) return;
    const point = local(event, picture);
    if (done.kind === "key" && done.moved && outside(point)) act({ remove: done.key });
    else if (done.kind === "query" && !done.moved && within(rows.fit, point[1]) && Math.abs(point[0] - X(state.query)) > 8)
      act({ add: [clampTo(state.limits.query, fromX(point[0])), clampTo(state.limits.value, fromY(point[1]))] });
  });
  on(picture, "pointercancel", () => (drag = null));
  on(picture, "dblclick", (event) => {
    const key = keyAt(local(event, picture), 9);
    if (key >= 0) act({ remove: key });
  });
  on(keysGroup, "focus", describeKeys);
  on(keysGroup, "keydown", (event) => {
    const { keys, values, limits, query, at_query } = state;
    const n = keys.length;
    const step = (range) => (range[1] - range[0]) / (event.shiftKey ? 10 : 50);
    const choose = (i) => ((chosen = (i + n) % n), describeKeys());
    const move = (dx, dy) =>
      act({ move: [chosen, clampTo(limits.query, keys[chosen] + dx * step(limits.query)), clampTo(limits.value, values[chosen] + dy * step(limits.value))] });
    const add = () => act({ add: [query, Number.isFinite(at_query) ? at_query : (limits.value[0] + limits.value[1]) / 2] });
    const remove = () => act({ remove: chosen });
    const action = {
      ArrowLeft: () => move(-1, 0), ArrowRight: () => move(1, 0), ArrowUp: () => move(0, 1), ArrowDown: () => move(0, -1),
      PageUp: () => choose(chosen + 1), PageDown: () => choose(chosen - 1), Home: () => choose(0), End: () => choose(n - 1),
      Insert: add, Enter: add, "+": add, Delete: remove, Backspace: remove, "-": remove,
    }[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });

  let choosing = false;
  const choose = (event) => {
    const [low, high] = state.limits.bandwidth;
    const share = (local(event, errorPicture)[0] - 10) / (errorWidth - 20);
    act({ bandwidth: clampTo([low, high], low * (high / low) ** share) });
  };
  on(errorPicture, "pointerdown", (event) => {
    if (event.button) return;
    choosing = true;
    errorPicture.setPointerCapture(event.pointerId);
    choose(event);
  });
  on(errorPicture, "pointermove", (event) => choosing && choose(event));
  on(errorPicture, "pointerup pointercancel", () => (choosing = false));

  /* ---- predict first ---- */
  function drawGuess(point) {
    const { grid, limits } = state;
    guess ??= new Float64Array(grid.length).fill(NaN);
    const last = grid.length - 1;
    const here = Math.round(scale(limits.query[0], limits.query[1], 0, last)(queryAt(point, false)));
    const value = clampTo(limits.value, fromY(point[1]));
    const from = drag?.at ?? here;
    const before = drag?.value ?? value;
    for (let i = Math.min(from, here); i <= Math.max(from, here); i++)
      guess[i] = from === here ? value : before + ((i - from) / (here - from)) * (value - before);
    Object.assign(drag ?? {}, { at: here, value });
    guessPath.setAttribute("d", line(grid, guess, X, Y));
    legends.guess.hidden = false;
  }
  on(reveal, "click", () => {
    const { estimate, at_query, limits, query } = state;
    if (revealed) return forget();
    const typed = guessInput.value === "" ? NaN : Number(guessInput.value);
    if (!guess && !Number.isFinite(typed)) return void (guessSaid.textContent = words.guess_missing);
    let [sum, count] = [0, 0];
    if (guess) for (let i = 0; i < guess.length; i++) if (Number.isFinite(guess[i] - estimate[i])) (sum += Math.abs(guess[i] - estimate[i])), count++;
    const parts = [];
    if (Number.isFinite(typed)) {
      const values = { guess: fixed(typed, limits.value), q: fixed(query, limits.query), estimate: short(at_query), difference: short(typed - at_query) };
      parts.push(fill(words.guess_at, values));
    }
    if (count) parts.push(fill(words.guess_curve, { difference: short(sum / count) }));
    revealed = true;
    reveal.textContent = words.guess_again;
    draw({});
    guessSaid.textContent = parts.join(" ");
  });
  function forget() {
    guess = null;
    revealed = false;
    guessInput.value = guessSaid.textContent = "";
    reveal.textContent = words.reveal;
    guessPath.setAttribute("d", "");
    draw({});
  }

  /* ---- size and theme ---- */
  function theme() {
    const parse = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);
    const style = getComputedStyle(heatCanvas);
    colours = { full: parse(style.color), empty: parse(style.outlineColor) };
  }
  function resize() {
    const wide = root.clientWidth >= 560;
    root.classList.toggle("wide", wide);
    root.classList.toggle("narrow", !wide);
    const [w, e] = [Math.floor(stage.clientWidth), Math.floor(errorBox.clientWidth)];
    if (!w || (w === width && e === errorWidth)) return;
    [width, errorWidth] = [w, e];
    errorHeight = errorPicture.clientHeight || 128;
    theme(); // a notebook attaches the drawing after it was made
    layout();
    draw({});
  }
  const repaint = () => (theme(), width && draw({}));
  const sizes = new ResizeObserver(resize);
  sizes.observe(root);
  const themes = new MutationObserver(repaint);
  for (const node of [document.documentElement, document.body])
    themes.observe(node, { attributeFilter: ["data-theme", "data-mode", "data-jp-theme-light", "class"] });
  for (const query of ["print", "(prefers-color-scheme: dark)"]) on(matchMedia(query), "change", repaint);
  theme();

  return {
    root,
    slots: { rail, dock, sigma: sigmaBox, tools },
    /** @param {State} next */
    update(next) {
      const old = state;
      state = next;
      if (next.predict !== old.predict) {
        guessBar.hidden = !next.predict;
        if (width) forget();
      }
      if (!width) return resize();
      if (next.limits !== old.limits) layout();
      draw(old);
    },
    start() {
      guessBar.hidden = !state.predict;
      resize();
    },
    /** @returns {boolean} whether the table is now shown */
    toggleTable() {
      tableBox.hidden = !tableBox.hidden;
      if (!tableBox.hidden) drawTable();
      return !tableBox.hidden;
    },
    destroy() {
      ending.abort();
      sizes.disconnect();
      themes.disconnect();
      clearTimeout(sayLater);
      root.remove();
    },
  };
}
