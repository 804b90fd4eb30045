"""The page's estimator against Python's, in Chromium, on the script as it is shipped."""

import json
import warnings

import numpy as np
import pytest

from attention_pooling import attention_weights, nadaraya_watson
from attention_pooling.bandwidth import bandwidth_curve, leave_one_out_error, select_bandwidth
from attention_pooling.datasets import sine_data
from attention_pooling.explorer import lowest, resample
from attention_pooling.kernels import KERNELS
from attention_pooling.pooling import EmptyNeighbourhoodWarning
from tests.browser.waits import wait_until

STATES = 5000
TOLERANCE = 1e-12
LISTEN = "document.addEventListener('explorer:ready', (event) => { window.shipped = event.detail.estimator; });"
IN_PAGE = """(states) => {
  const { estimate, weigh, pool, effective, errorsAt } = window.shipped;
  const plain = (name, x) => (x instanceof Float64Array ? Array.from(x) : typeof x === "number" && !Number.isFinite(x) ? String(x) : x);
  return JSON.stringify(JSON.parse(states).map(({ keys, values, queries, truth, kernel, sigma }) => {
    const [k, v, q, t] = [keys, values, queries, truth].map((x) => Float64Array.from(x));
    const { matrix, fit } = estimate(q, k, v, kernel, sigma);
    const row = new Float64Array(k.length);
    const total = weigh(row, q[0], k, kernel, sigma);
    return { matrix, fit, first: total > 0 ? pool(row, v) : NaN, effective: effective(row), errors: errorsAt({ keys: k, values: v, queries: q, truth: t }, kernel, sigma) };
  }), plain);
}"""


@pytest.fixture(scope="module")
def page(browser, explorers):
    page = browser.new_page()
    page.add_init_script(LISTEN)
    page.goto((explorers / "index.html").as_uri())
    wait_until(page, "() => window.shipped")
    yield page
    page.close()


def random_state(rng):
    """Return a state of an explorer: any kernel, sizes 1 to 200, duplicates, far queries, all sigmas of the slider and extremes."""
    n = int(rng.choice([1, 2, 3, rng.integers(1, 40), rng.integers(1, 201)]))
    keys = rng.uniform(0, 5, n)
    if rng.random() < 0.3:
        keys = np.round(keys, 1)  # duplicates, and keys exactly at the edge of a window
    values = rng.normal(0, rng.choice([1e-3, 1, 1e3]), n)
    queries = np.concatenate([rng.uniform(0, 5, 4), rng.choice(keys, 1), rng.choice([-1, 1], 2) * rng.choice([7, 1e3, 1e155], 2)])
    rng.shuffle(queries)
    sigma = float(rng.choice([0.01, 5, round(float(0.01 * 500 ** rng.random()), 4), 10 ** rng.uniform(-3, 3)], p=[0.1, 0.05, 0.6, 0.25]))
    if rng.random() < 0.05:
        sigma = float(rng.choice([5e-324, 1e-155, 1e-20, 1e200]))
    return dict(keys=keys, values=values, queries=queries, truth=np.where(np.abs(queries) < 10, 2 * np.sin(queries) + queries, 0.0),
                kernel=str(rng.choice(list(KERNELS))), sigma=sigma)  # fmt: skip


def in_python(keys, values, queries, truth, kernel, sigma):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyNeighbourhoodWarning)
        matrix = attention_weights(queries, keys, kernel, sigma)
        fit = nadaraya_watson(queries, keys, values, kernel, sigma)
        curve = bandwidth_curve(keys, values, [sigma], kernel, queries=queries, truth=truth)
    squares = (matrix[0] ** 2).sum()
    return dict(matrix=matrix.ravel(), fit=fit, first=fit[0], effective=1 / squares if squares else 0.0,
                errors=dict(training=curve.training[0], leave_one_out=curve.leave_one_out[0], validation=curve.validation[0]))  # fmt: skip


def floats(x):
    return np.array([float(v) for v in np.atleast_1d(np.asarray(x, dtype=object))])


def assert_same(js, py, scale, what):
    js, py = floats(js), floats(py)
    assert js.shape == py.shape, what
    odd = ~np.isfinite(py)
    assert np.array_equal(js[odd], py[odd], equal_nan=True) and np.isfinite(js[~odd]).all(), f"{what}: {js} is not {py}"
    far = np.abs(js[~odd] - py[~odd]).max(initial=0)
    assert far <= TOLERANCE * scale, f"{what}: {far / scale:.2e} of the largest value apart"


def compare(page, states):
    sent = json.dumps([{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in s.items()} for s in states])
    for state, js in zip(states, json.loads(page.evaluate(IN_PAGE, sent)), strict=True):
        py = in_python(**state)
        what = f"{state['kernel']}, sigma {state['sigma']!r}, n {len(state['keys'])}"
        largest = max(np.abs(state["values"]).max(), np.abs(state["truth"]).max())
        assert_same(js["matrix"], py["matrix"], 1, what + ", weights")
        assert_same(js["fit"], py["fit"], largest, what + ", estimates")
        assert_same(js["first"], py["first"], largest, what + ", estimate at the query")
        assert_same(js["effective"], py["effective"], len(state["keys"]), what + ", effective neighbours")
        for name, value in py["errors"].items():
            assert_same(js["errors"][name], value, largest**2, f"{what}, {name} error")


@pytest.mark.parametrize("part", range(10))
def test_five_thousand_random_states_agree(page, part):
    rng = np.random.default_rng(part)
    compare(page, [random_state(rng) for _ in range(STATES // 10)])


def test_reported_cases_agree_and_are_right(page):
    x, y = np.array([0.0, 1, 2]), np.array([10.0, 20, 30])
    queries = np.array([0.5, 1.5, 0.4, 5, -3])
    for sigma in (0.05, 0.01, 1e-155, 5e-324):
        state = dict(keys=x, values=y, queries=queries, truth=queries, kernel="gaussian", sigma=sigma)
        compare(page, [state])
        got = json.loads(page.evaluate(IN_PAGE, json.dumps([{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in state.items()}])))[0]
        assert np.allclose(got["fit"], [15, 25, 10, 30, 10], rtol=0, atol=1e-12)
    x, y = np.array([1.0, 2, 4, 5, 7]), np.arange(1.0, 6)
    for sigma in (0.001, 0.5, 1, 2, 3.5, 10):
        compare(page, [dict(keys=x, values=y, queries=np.arange(1.0, 8), truth=np.zeros(7), kernel=kernel, sigma=sigma) for kernel in KERNELS])


@pytest.mark.parametrize(("n", "noise", "seed"), [(40, 1.0, 0), (40, 1.0, 1), (200, 3.0, 2**32 - 1), (5, 0.0, 12345)])
def test_a_seed_gives_the_same_sample(page, n, noise, seed):
    js = page.evaluate("([n, noise, seed]) => { const { keys, values } = window.shipped.sineData(n, noise, seed); return [Array.from(keys), Array.from(values)]; }", [n, noise, seed])
    data = sine_data(n, noise, seed)
    assert np.array_equal(js[0], data.keys)
    assert np.abs(js[1] - data.values).max() < 1e-13


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("truth", [True, False])
def test_the_band_agrees(page, kernel, truth):
    data = sine_data(17, 1.0, 4)
    grid = np.linspace(0, 5, 11)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyNeighbourhoodWarning)
        matrix = attention_weights(grid, data.keys, kernel, 0.3)
    at_keys = 2 * np.sin(data.keys) + data.keys if truth else None
    py = resample(matrix, data.values, np.random.default_rng(1004), at_keys, 0.7)
    js = page.evaluate("""([matrix, values, truth, n]) => {
      const { normal, uniform } = window.shipped.generator(1004);
      const draws = Float64Array.from({ length: 100 * n }, truth ? normal : uniform);
      return Array.from(window.shipped.resample(Float64Array.from(matrix), Float64Array.from(values), draws, truth && Float64Array.from(truth), 0.7), String);
    }""", [matrix.ravel().tolist(), data.values.tolist(), None if at_keys is None else at_keys.tolist(), 17])  # fmt: skip
    assert_same(js, py.ravel(), np.abs(py[np.isfinite(py)]).max(), kernel)


@pytest.mark.parametrize("kernel", ["gaussian", "boxcar", "triangular", "epanechnikov"])
def test_the_chosen_bandwidth_agrees(page, kernel):
    for seed in range(5):
        data = sine_data(40, 1.0, seed)
        arrays = [data.keys.tolist(), data.values.tolist(), kernel]
        js = page.evaluate("([k, v, kernel]) => window.shipped.selectBandwidth({ keys: Float64Array.from(k), values: Float64Array.from(v) }, kernel, [0.05, 5])", arrays)
        py = select_bandwidth(data.keys, data.values, kernel, bounds=(0.05, 5.0))
        assert leave_one_out_error(data.keys, data.values, kernel, js) == pytest.approx(py.error, rel=1e-9)  # boxcar's error has plateaus
        sigmas = np.geomspace(0.05, 5, 61)
        curve = bandwidth_curve(data.keys, data.values, sigmas, kernel)
        marked = page.evaluate("([s, e]) => window.shipped.lowest(Float64Array.from(s), Float64Array.from(e.map(Number)))", [sigmas.tolist(), [str(e).replace("inf", "Infinity") for e in curve.leave_one_out]])
        assert marked == pytest.approx(lowest(sigmas, curve.leave_one_out), rel=1e-12)
