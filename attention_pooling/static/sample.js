// @ts-check
/** NumPy's default_rng in JavaScript, so that a seed names the same sample in a notebook and on a page. */

const M64 = (1n << 64n) - 1n;
const M128 = (1n << 128n) - 1n;
const PCG = 0x2360ed051fc65da44385df649fccf645n;

/**
 * The 64-bit words of `numpy.random.default_rng(seed)`: SeedSequence, then PCG64 (XSL-RR).
 * @param {number} seed  an integer from 0 to 2³² − 1
 * @returns {() => bigint}
 */
function words64(seed) {
  let hash = 0x43b0d7e5;
  const stir = (value, factor) => {
    value ^= hash;
    hash = Math.imul(hash, factor);
    value = Math.imul(value, hash);
    return value ^ (value >>> 16);
  };
  const pool = [seed, 0, 0, 0].map((word) => stir(word, 0x931e8875));
  for (let from = 0; from < 4; from++)
    for (let to = 0; to < 4; to++) {
      if (from === to) continue;
      const mixed = Math.imul(0xca01f9dd, pool[to]) - Math.imul(0x4973f715, stir(pool[from], 0x931e8875));
      pool[to] = mixed ^ (mixed >>> 16);
    }
  hash = 0x8b51f9dd;
  const state = Array.from({ length: 8 }, (_, i) => BigInt(stir(pool[i % 4], 0x58f38ded) >>> 0));
  const [a, b, c, d] = [0, 2, 4, 6].map((i) => state[i] | (state[i + 1] << 32n));
  const step = (((c << 64n) | d) << 1n | 1n) & M128;
  let now = (step + ((a << 64n) | b)) & M128;
  const advance = () => (now = (now * PCG + step) & M128);
  advance();
  return () => {
    advance();
    const word = (now >> 64n) ^ (now & M64);
    const turn = now >> 122n;
    return ((word >> turn) | (word << (64n - turn))) & M64;
  };
}

/** Marsaglia and Tsang's ziggurat with 256 layers, as NumPy draws normals. */
const EDGE = 3.6541528853610088;
const AREA = 0.004928673233974655;
const layers = { width: new Float64Array(256), height: new Float64Array(256), inside: new Float64Array(256) };
{
  const { width, height, inside } = layers;
  const bell = (x) => Math.exp(-0.5 * x * x);
  let x = EDGE;
  width[0] = AREA / bell(EDGE) / 2 ** 52;
  inside[0] = Math.floor((EDGE * bell(EDGE) / AREA) * 2 ** 52);
  height[0] = 1;
  for (let i = 255; i > 0; i--) {
    width[i] = x / 2 ** 52;
    height[i] = bell(x);
    const next = i > 1 ? Math.sqrt(-2 * Math.log(AREA / x + bell(x))) : 0;
    inside[i] = Math.floor((next / x) * 2 ** 52);
    x = next;
  }
}

/**
 * @param {number} seed
 * @returns {{uniform: () => number, normal: () => number}} draws in [0, 1) and from N(0, 1)
 */
export function generator(seed) {
  const word = words64(seed);
  const uniform = () => Number(word() >> 11n) / 2 ** 53;
  const normal = () => {
    for (;;) {
      const bits = word();
      const layer = Number(bits & 255n);
      const size = Number((bits >> 9n) & 0xfffffffffffffn);
      const x = (bits >> 8n) & 1n ? -size * layers.width[layer] : size * layers.width[layer];
      if (size < layers.inside[layer]) return x;
      if (layer === 0) {
        for (;;) {
          const beyond = -Math.log1p(-uniform()) / EDGE;
          const height = -Math.log1p(-uniform());
          if (height + height > beyond * beyond) return (bits >> 17n) & 1n ? -(EDGE + beyond) : EDGE + beyond;
        }
      }
      const { height } = layers;
      if ((height[layer - 1] - height[layer]) * uniform() + height[layer] < Math.exp(-0.5 * x * x)) return x;
    }
  };
  return { uniform, normal };
}

/** The truth of the sample, 2 sin x + x. @param {number} x */
export const sineTruth = (x) => 2 * Math.sin(x) + x;

/**
 * `attention_pooling.datasets.sine_data(n, noise, seed)`.
 * @param {number} n @param {number} noise @param {number} seed
 */
export function sineData(n, noise, seed) {
  const { uniform, normal } = generator(seed);
  const keys = Float64Array.from({ length: n }, () => 5 * uniform()).sort();
  const values = keys.map((x) => sineTruth(x) + noise * normal());
  return { keys, values };
}
