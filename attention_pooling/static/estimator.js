// @ts-check
/**
 * The estimator of `attention_pooling.pooling` and `.bandwidth`, for one feature, in the same order of operations.
 * Rows are queries, columns are keys. A row of weights sums to 1, or is all zero where no key is in reach.
 */

/** @typedef {{profile: (u: number) => number, support: number, spread: number}} Kernel */

/** The profiles K(u) of the scaled distance u ≥ 0, how far they reach, and their standard deviations. @type {Record<string, Kernel>} */
export const kernels = {
  gaussian: { profile: (u) => Math.exp(-0.5 * u * u), support: Infinity, spread: 1 },
  boxcar: { profile: (u) => (u <= 1 ? 1 : 0), support: 1, spread: 1 / Math.sqrt(3) },
  triangular: { profile: (u) => Math.max(0, 1 - u), support: 1, spread: 1 / Math.sqrt(6) },
  epanechnikov: { profile: (u) => 0.75 * Math.max(0, 1 - u * u), support: 1, spread: 1 / Math.sqrt(5) },
  constant: { profile: () => 1, support: Infinity, spread: Infinity },
};

/** exp(−x) at x = 0, 1, … 746, and at x = 0, 1/64, … 1. */
const [WHOLE, PART] = [1, 1 / 64].map((step) => Float64Array.from({ length: 747 }, (_, i) => Math.exp(-i * step)));

/** exp(−x) for x ≥ 0 to the last digits, from the tables and a short series: several times as fast as Math.exp. @param {number} x */
function decay(x) {
  if (!(x < 746)) return 0;
  const whole = x | 0;
  const part = ((x - whole) * 64 + 0.5) | 0;
  const r = part / 64 - (x - whole);
  return WHOLE[whole] * (PART[part] * (1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r / 120))))));
}

/**
 * One row of weights.
 * The Gaussian's scores are taken relative to the nearest key, so they are finite at every σ.
 * @param {Float64Array} row  filled with the weights
 * @param {number} query @param {Float64Array} keys @param {string} name @param {number} sigma
 * @param {number} left  the key left out, or −1
 * @returns {number} the sum before it was divided out: 0 where no key is in reach
 */
export function weigh(row, query, keys, name, sigma, left = -1) {
  const n = keys.length;
  let total = 0;
  if (name === "gaussian") {
    let nearest = Infinity;
    for (let i = 0; i < n; i++) if (i !== left) nearest = Math.min(nearest, (row[i] = Math.abs(query - keys[i])));
    for (let i = 0; i < n; i++) {
      if (i === left) row[i] = 0;
      else {
        const d = row[i];
        total += row[i] = d === nearest ? 1 : decay(0.5 * (((d - nearest) / sigma) * ((d + nearest) / sigma)));
      }
    }
  } else {
    const { profile } = kernels[name];
    for (let i = 0; i < n; i++) total += row[i] = i === left ? 0 : profile(Math.abs(query - keys[i]) / sigma);
  }
  if (total > 0) for (let i = 0; i < n; i++) row[i] /= total;
  return total;
}

/** The weighted mean of the values. @param {Float64Array} row @param {Float64Array} values */
export function pool(row, values) {
  let sum = 0;
  for (let i = 0; i < row.length; i++) sum += row[i] * values[i];
  return sum;
}

/** How many equal weights would be as spread out: 1/Σw², or 0 where no key is in reach. @param {Float64Array} row */
export function effective(row) {
  let squares = 0;
  for (const w of row) squares += w * w;
  return squares > 0 ? 1 / squares : 0;
}

/**
 * All rows of weights and the estimate at each query; NaN where no key is in reach.
 * @param {Float64Array} queries @param {Float64Array} keys @param {Float64Array} values @param {string} kernel @param {number} sigma
 * @param {boolean} loo  leave out key i for query i
 */
export function estimate(queries, keys, values, kernel, sigma, loo = false) {
  const n = keys.length;
  const matrix = new Float64Array(queries.length * n);
  const fit = new Float64Array(queries.length);
  for (let q = 0; q < queries.length; q++) {
    const row = matrix.subarray(q * n, q * n + n);
    fit[q] = weigh(row, queries[q], keys, kernel, sigma, loo ? q : -1) > 0 ? pool(row, values) : NaN;
  }
  return { matrix, fit };
}

/**
 * @typedef {{keys: Float64Array, values: Float64Array, queries: Float64Array | null, truth: Float64Array | null}} Data
 * keys and values, and the queries at which the truth is known
 * @typedef {{training: number, leave_one_out: number, validation: number | null}} Errors
 */

/**
 * The sums of a row's weights and weighted values over σ, relative to the nearest key. From the largest σ to the
 * smallest, keys only drop out, so that the list of those that count shrinks.
 * @param {Float64Array} sums @param {Float64Array} tops  filled, an entry for each σ
 * @param {Float64Array} far @param {Float64Array} beyond @param {Float64Array} value  scratch, an entry for each key
 * @param {number} query @param {Float64Array} keys @param {Float64Array} values
 * @param {number} left  the key left out, or −1
 * @param {string} name @param {Float64Array} sigmas  ascending
 * @returns {number} the distance of the nearest key
 */
function addUp(sums, tops, far, beyond, value, query, keys, values, left, name, sigmas) {
  const gaussian = name === "gaussian";
  const { profile, support } = kernels[name];
  let count = 0;
  let nearest = Infinity;
  for (let i = 0; i < keys.length; i++) {
    if (i === left) continue;
    const d = Math.abs(query - keys[i]);
    if (d < nearest) nearest = d;
    far[count] = d;
    value[count++] = values[i];
  }
  if (gaussian)
    for (let i = 0; i < count; i++) {
      beyond[i] = far[i] - nearest;
      far[i] += nearest;
    }
  for (let s = sigmas.length - 1; s >= 0; s--) {
    const sigma = sigmas[s];
    const per = 1 / sigma;
    let kept = 0;
    let sum = 0;
    let top = 0;
    for (let i = 0; i < count; i++) {
      const d = far[i];
      const v = value[i];
      let k = 1;
      if (gaussian) {
        const more = beyond[i];
        if (more > 0) {
          const u = 0.5 * (more * per * (d * per));
          // Beside the nearest key, which has 1, exp(−40) is below the last digit.
          if (u >= 40) continue;
          k = decay(u);
        }
        beyond[kept] = more;
      } else {
        if (d / sigma > support) continue;
        k = profile(d / sigma);
      }
      sum += k;
      top += k * v;
      far[kept] = d;
      value[kept++] = v;
    }
    count = kept;
    sums[s] = sum;
    tops[s] = top;
  }
  return nearest;
}

/**
 * The three mean squared errors over σ; +∞ where a window is empty. The distances of a row serve every σ.
 * @param {Data} data @param {string} kernel @param {Float64Array} sigmas  ascending
 */
export function errorCurves({ keys, values, queries, truth }, kernel, sigmas) {
  const n = keys.length;
  const gaussian = kernel === "gaussian";
  const { profile } = kernels[kernel];
  const curve = () => new Float64Array(sigmas.length);
  const curves = { training: curve(), leave_one_out: curve(), validation: truth && curve() };
  const [sums, tops] = [curve(), curve()];
  const [far, beyond, value] = [0, 0, 0].map(() => new Float64Array(n));
  for (let q = 0; q < n; q++) {
    const nearest = addUp(sums, tops, far, beyond, value, keys[q], keys, values, q, kernel, sigmas);
    for (let s = 0; s < sigmas.length; s++) {
      const total = sums[s];
      const miss = values[q] - tops[s] / total;
      const scaled = nearest / sigmas[s];
      const own = gaussian ? Math.exp(0.5 * (scaled * scaled)) : profile(0);
      const rest = total > 0 && own < Infinity ? total / (own + total) : 0; // what the own key leaves to the others
      curves.leave_one_out[s] += total > 0 ? (miss * miss) / n : Infinity;
      if (rest > 0) curves.training[s] += (rest * miss * (rest * miss)) / n;
    }
  }
  if (curves.validation)
    for (let q = 0; q < queries.length; q++) {
      addUp(sums, tops, far, beyond, value, queries[q], keys, values, -1, kernel, sigmas);
      for (let s = 0; s < sigmas.length; s++) {
        const miss = truth[q] - tops[s] / sums[s];
        curves.validation[s] += sums[s] > 0 ? (miss * miss) / queries.length : Infinity;
      }
    }
  return curves;
}

/** The three errors at one σ. @param {Data} data @param {string} kernel @param {number} sigma @returns {Errors} */
export function errorsAt(data, kernel, sigma) {
  const { training, leave_one_out, validation } = errorCurves(data, kernel, Float64Array.of(sigma));
  return { training: training[0], leave_one_out: leave_one_out[0], validation: validation && validation[0] };
}

/**
 * The σ of the smallest error of a curve, by a parabola through the lowest point and its neighbours in log σ; null where it has none.
 * @param {Float64Array} bandwidths @param {Float64Array} errors
 */
export function lowest(bandwidths, errors) {
  let s = -1;
  for (let i = 0; i < errors.length; i++) if (errors[i] < Infinity && (s < 0 || errors[i] < errors[s])) s = i;
  if (s < 0) return null;
  const bend = errors[s - 1] - 2 * errors[s] + errors[s + 1];
  if (!(bend > 0 && bend < Infinity)) return bandwidths[s];
  const shift = (errors[s - 1] - errors[s + 1]) / (2 * bend);
  return bandwidths[s] * (bandwidths[1] / bandwidths[0]) ** shift;
}

/**
 * The σ of the smallest leave-one-out error: `select_bandwidth`, a grid and then golden sections in log σ.
 * @param {Data} data @param {string} kernel @param {number[]} bounds @returns {number} NaN where every σ leaves a window empty
 */
export function selectBandwidth({ keys, values }, kernel, [low, high]) {
  const over = (sigmas) => errorCurves({ keys, values, queries: null, truth: null }, kernel, sigmas).leave_one_out;
  const count = Math.min(240, Math.max(24, Math.ceil(12 * Math.log10(high / low))));
  const grid = logSpace(low, high, count);
  const errors = over(grid);
  const least = Math.min(...errors);
  if (least === Infinity) return NaN;
  const i = errors.findLastIndex((e) => e <= least * (1 + 1e-12));
  let best = [errors[i], grid[i]];
  let [a, b] = [Math.log(grid[Math.max(i - 1, 0)]), Math.log(grid[Math.min(i + 1, count - 1)])];
  const ratio = (Math.sqrt(5) - 1) / 2;
  while (b - a > 1e-6) {
    const inner = [b - ratio * (b - a), a + ratio * (b - a)];
    const found = over(Float64Array.from(inner, Math.exp));
    for (const k of [0, 1]) if (found[k] < best[0]) best = [found[k], Math.exp(inner[k])];
    if (found[0] < found[1]) b = inner[1];
    else a = inner[0];
  }
  return best[1];
}

/**
 * Estimates of 100 resampled data sets on the grid, from one matrix of weights.
 * With the truth at the keys: new noise of standard deviation `noise` on it. Else: the pairs drawn again with replacement.
 * @param {Float64Array} matrix @param {Float64Array} values @param {Float64Array} draws  normals or uniforms, 100 × n
 * @param {Float64Array | null} truth @param {number} noise
 */
export function resample(matrix, values, draws, truth, noise) {
  const n = values.length;
  const rows = matrix.length / n;
  const out = new Float64Array(100 * rows);
  const [over, under] = [new Float64Array(n), new Float64Array(n)];
  for (let s = 0; s < 100; s++) {
    under.fill(truth ? 1 : 0);
    if (truth) for (let i = 0; i < n; i++) over[i] = truth[i] + noise * draws[s * n + i];
    else {
      for (let i = 0; i < n; i++) under[Math.floor(draws[s * n + i] * n)]++;
      for (let i = 0; i < n; i++) over[i] = under[i] * values[i];
    }
    for (let q = 0; q < rows; q++) {
      let [sum, weight] = [0, 0];
      for (let i = 0, at = q * n; i < n; i++, at++) {
        sum += matrix[at] * over[i];
        weight += matrix[at] * under[i];
      }
      out[s * rows + q] = weight > 0 ? sum / weight : NaN;
    }
  }
  return out;
}

/** σ on a log axis. @param {number} low @param {number} high @param {number} count */
export const logSpace = (low, high, count) =>
  Float64Array.from({ length: count }, (_, i) => (i === count - 1 ? high : low * (high / low) ** (i / (count - 1))));

/** @param {number} low @param {number} high @param {number} count */
export const linSpace = (low, high, count) =>
  Float64Array.from({ length: count }, (_, i) => (i === count - 1 ? high : low + ((high - low) * i) / (count - 1)));
