"""Weights and estimates against the formula, other libraries and the reported faults."""

import tracemalloc
import warnings
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references import NAMES, double_loop, mean_of, scenes
from scipy.special import softmax
from sklearn.metrics.pairwise import rbf_kernel
from statsmodels.nonparametric.kernel_regression import KernelReg

from attention_pooling import (
    KERNELS,
    EmptyNeighbourhoodWarning,
    attention_weights,
    dot_product_weights,
    gaussian,
    nadaraya_watson,
    sine_data,
)
from attention_pooling import _sums
from attention_pooling._inputs import as_problem
from attention_pooling._sums import distances

COMPACT = ["boxcar", "triangular", "epanechnikov"]
RNG = np.random.default_rng(7)


@pytest.fixture
def quiet_empties():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyNeighbourhoodWarning)
        yield


# Reported faults -----------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.01, 1e-100, 1e-155, 5e-324])
def test_e1_small_bandwidths_give_the_nearest_value(sigma):
    queries = [0.5, 1.5, 0.4, 5, -3]
    estimate = nadaraya_watson(queries, [0, 1, 2], [10, 20, 30], bandwidth=sigma)
    np.testing.assert_allclose(estimate, [15, 25, 10, 30, 10], rtol=1e-12)
    weights = attention_weights(queries, [0, 1, 2], bandwidth=sigma)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(weights @ [10, 20, 30], estimate, rtol=1e-12)


def test_e1_far_queries_and_float32_stay_finite():
    assert nadaraya_watson(1e155, [0, 1, 2], [10, 20, 30]) == 20
    assert nadaraya_watson(1.7e308, [-1e10, 1e10], [10, 20]) == 15
    single = [np.float32(a) for a in ([0.5, 1.5, 0.4, 5, -3], [0, 1, 2], [10, 20, 30])]
    estimate = nadaraya_watson(*single, bandwidth=1e-20)
    assert estimate.dtype == np.float32 and estimate.tolist() == [15, 25, 10, 30, 10]
    for sigma in (1e-46, 1e39):  # no float32 holds these
        assert np.isfinite(nadaraya_watson(*single, bandwidth=sigma)).all()


@pytest.mark.parametrize("sigma", [1e-155, 5e-324, 1.0, 1e300])
@pytest.mark.parametrize("far", [1.0, 1e155, 1e307])
def test_e1_in_two_features(sigma, far):
    keys = [[0.0, 0], [1, 0], [2, 0]]
    weights = attention_weights([[far, 0], [0.5, 0]], keys, bandwidth=sigma)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
    estimate = nadaraya_watson([[far, 0], [0.5, 0]], keys, [10.0, 20, 30], bandwidth=sigma)
    np.testing.assert_allclose(estimate, weights @ [10, 20, 30], rtol=1e-12)


def test_per_feature_bandwidths_far_apart_stay_finite():
    estimate = nadaraya_watson([[0.4, 0.3]], [[0, 0], [1, 1]], [1.0, 2], bandwidth=[5e-324, 1e308])
    assert estimate.tolist() == [1]


@pytest.mark.parametrize("kernel", ["boxcar", "epanechnikov"])
def test_e2_no_key_in_reach(kernel):
    args = [100, 1], np.array([0, 1, 2]), np.array([0, 1, 2]), kernel, 0.5
    with pytest.warns(EmptyNeighbourhoodWarning, match="1 of 2 queries") as caught:
        estimate = nadaraya_watson(*args)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert estimate.dtype == np.float64
    np.testing.assert_array_equal(estimate, [np.nan, 1.0])
    with pytest.warns(EmptyNeighbourhoodWarning):
        weights = attention_weights(args[0], args[1], kernel, 0.5)
    assert weights.tolist() == [[0, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("kernel", COMPACT)
@pytest.mark.parametrize("far", [98.0, 3.14159, 1e-7, 12345.678])
def test_the_warning_names_a_bandwidth_that_reaches(kernel, far):
    with pytest.warns(EmptyNeighbourhoodWarning) as caught:
        nadaraya_watson([far, far / 2], [0.0], [1.0], kernel, far / 10)
    sigma = float(str(caught[0].message).split("a bandwidth of ")[1].split()[0])
    assert far <= sigma < 1.02 * far
    assert nadaraya_watson([far, far / 2], [0.0], [1.0], kernel, sigma).tolist() == [1, 1]


def test_the_warning_names_a_factor_for_bandwidths_per_feature():
    queries, keys, sigma = [[3.0, 4.0]], [[0.0, 0.0]], np.array([0.5, 1.0])
    with pytest.warns(EmptyNeighbourhoodWarning, match="times as large") as caught:
        nadaraya_watson(queries, keys, [1.0], "triangular", sigma)
    factor = float(str(caught[0].message).split("bandwidths ")[1].split()[0])
    assert nadaraya_watson(queries, keys, [1.0], "triangular", factor * sigma).tolist() == [1]


def test_e3_small_integers_do_not_wrap():
    y = [0.0, 1, 2]
    first = nadaraya_watson(np.uint8([3, 8]), np.uint8([0, 5, 10]), y, bandwidth=2)
    np.testing.assert_allclose(first, [0.654516, 1.650760], atol=5e-7)
    second = nadaraya_watson(np.uint8([3, 8]), np.uint8([0, 5, 100]), y, bandwidth=20)
    np.testing.assert_allclose(second, [0.501568, 0.517200], atol=5e-7)


def test_e4_worked_example():
    x, y = [1, 2, 4, 5, 7], [1, 2, 3, 4, 5]
    estimate = nadaraya_watson(range(1, 8), x, y, bandwidth=2)
    np.testing.assert_allclose(estimate, [1.84, 2.18, 2.61, 3.09, 3.55, 3.95, 4.28], atol=5e-3)
    row = attention_weights(3.0, x, bandwidth=2)
    np.testing.assert_allclose(row, [0.195, 0.283, 0.283, 0.195, 0.043], atol=5e-4)
    wide = nadaraya_watson(x, x, y, bandwidth=3.5)
    np.testing.assert_allclose(wide, [2.42, 2.61, 3.03, 3.24, 3.65], atol=5e-3)


def test_e6_bandwidths_that_are_one_number_agree():
    answers = {
        float(nadaraya_watson(0.3, [0, 1], [0, 1], bandwidth=sigma))
        for sigma in (0.5, np.float64(0.5), np.array(0.5), [0.5], np.float32(0.5))
    }
    assert len(answers) == 1


@pytest.mark.parametrize("sigma", [0, -1, np.nan, np.inf, "x", None, [1, 2], [[1.0]], [], 1j])
def test_e6_unusable_bandwidths_are_named(sigma):
    with pytest.raises(ValueError, match="bandwidth"):
        nadaraya_watson([0.3], [0, 1], [0, 1], bandwidth=sigma)
    with pytest.raises(ValueError, match="bandwidth"):
        attention_weights([0.3], [0, 1], bandwidth=sigma)


@pytest.mark.parametrize("kernel", NAMES)
def test_e7_shapes(kernel):
    keys, values = np.arange(5.0), np.arange(5.0)
    one = nadaraya_watson(1.0, keys, values, kernel, 2)
    assert np.ndim(one) == 0 and attention_weights(1.0, keys, kernel, 2).shape == (5,)
    for queries in ([1.0], np.zeros(3), np.zeros((3, 1)), np.zeros(0)):
        m = len(queries)
        assert nadaraya_watson(queries, keys, values, kernel, 2).shape == (m,)
        assert nadaraya_watson(queries, keys, values[:, None], kernel, 2).shape == (m, 1)
        assert nadaraya_watson(queries, keys, np.zeros((5, 2, 0)), kernel, 2).shape == (m, 2, 0)
        assert attention_weights(queries, keys, kernel, 2).shape == (m, 5)
    assert nadaraya_watson(1.0, keys, np.eye(5), kernel, 2).shape == (5,)
    assert nadaraya_watson(np.zeros((0, 3)), np.ones((5, 3)), np.eye(5), kernel).shape == (0, 5)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"values": [1, 2]}, "values"),
        ({"values": 3.0}, "values"),
        ({"values": [1, np.nan, np.inf]}, r"values must be finite, got 2 NaN or infinite of 3"),
        ({"keys": []}, "keys"),
        ({"keys": 1.0}, "keys"),
        ({"keys": [0, np.inf, 2]}, "keys must be finite, got 1"),
        ({"keys": np.zeros((3, 1, 1))}, "keys"),
        ({"keys": ["a", "b", "c"]}, "keys"),
        ({"keys": [0, 1e308, 2]}, "keys"),
        ({"keys": np.zeros((3, 2))}, "queries .* features"),
        ({"queries": np.zeros((2, 2))}, "queries"),
        ({"queries": np.zeros((2, 1, 1))}, "queries"),
        ({"queries": [1j]}, "queries"),
        ({"queries": [[1], [2, 3]]}, "queries"),
        ({"kernel": "gauss"}, "kernel must be one of 'gaussian', 'boxcar'"),
        ({"kernel": 3}, "kernel"),
        ({"kernel": lambda u: -u}, "kernel"),
        ({"kernel": lambda u: u / 0 if np.isscalar(u) else u * np.nan}, "kernel"),
        ({"kernel": lambda u: u[:1, :1].repeat(7, axis=1)}, "kernel"),
        ({"kernel": lambda u: 1.0 if u < 1 else 0.0}, "kernel .* np.where"),
        ({"leave_one_out": True}, "leave_one_out"),
    ],
)
def test_e7_wrong_inputs_are_named(change, name):
    right = {"queries": [0.3, 1], "keys": [0, 1, 2], "values": [0, 1, 2]}
    assert nadaraya_watson(**right).shape == (2,)
    with pytest.raises(ValueError, match=name):
        nadaraya_watson(**(right | change))


def test_e8_the_factor_of_a_kernel_cancels():
    data = sine_data()
    scaled = nadaraya_watson(
        data.queries, data.keys, data.values, lambda u: np.maximum(0, 1 - u * u), 0.9
    )
    plain = nadaraya_watson(data.queries, data.keys, data.values, "epanechnikov", 0.9)
    np.testing.assert_allclose(scaled, plain, rtol=1e-14)


# Independent references ------------------------------------------------------------------------


@pytest.mark.usefixtures("quiet_empties")
@pytest.mark.parametrize("kernel", NAMES)
@settings(deadline=None)
@given(scene=scenes())
def test_weights_and_estimates_are_those_of_the_double_loop(kernel, scene):
    queries, keys, values, sigma = scene
    expected = double_loop(queries, keys, kernel, sigma)
    weights = attention_weights(queries, keys, kernel, sigma)
    estimate = nadaraya_watson(queries, keys, values, kernel, sigma)
    if kernel != "gaussian" or (expected.sum(axis=1) > 0).all():  # the plain formula underflows
        np.testing.assert_allclose(weights, expected, atol=1e-12)
        np.testing.assert_allclose(estimate, mean_of(expected, values), atol=1e-12, rtol=0)
    np.testing.assert_allclose(mean_of(weights, values), estimate, atol=1e-12)


@pytest.mark.usefixtures("quiet_empties")
@pytest.mark.parametrize("kernel", NAMES)
@settings(deadline=None)
@given(scene=scenes(), per_feature=st.lists(st.floats(0.2, 5), min_size=3, max_size=3))
def test_leave_one_out_and_per_feature_bandwidths_are_those_of_the_double_loop(
    kernel, scene, per_feature
):
    _, keys, values, sigma = scene
    sigma = sigma * np.array(per_feature[: 1 if keys.ndim == 1 else keys.shape[1]])
    expected = double_loop(keys, keys, kernel, sigma, leave_one_out=True)
    weights = attention_weights(keys, keys, kernel, sigma, leave_one_out=True)
    estimate = nadaraya_watson(keys, keys, values, kernel, sigma, leave_one_out=True)
    assert (np.diag(weights) == 0).all()
    rows = expected.sum(axis=1) > 0 if kernel == "gaussian" else slice(None)
    np.testing.assert_allclose(weights[rows], expected[rows], atol=1e-12)
    np.testing.assert_allclose(estimate[rows], mean_of(expected, values)[rows], atol=1e-12)


@pytest.mark.usefixtures("quiet_empties")
@pytest.mark.parametrize("kernel", NAMES)
@settings(deadline=None)
@given(scene=scenes())
def test_rows_sum_to_one_or_are_empty_in_both_precisions(kernel, scene):
    queries, keys, values, sigma = scene
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-6)):
        arrays = [np.asarray(a, dtype=dtype) for a in (queries, keys, values)]
        weights = attention_weights(*arrays[:2], kernel, sigma)
        estimate = nadaraya_watson(*arrays, kernel, sigma)
        assert weights.dtype == estimate.dtype == dtype
        sums = weights.sum(axis=1, dtype=np.float64)
        assert ((np.abs(sums - 1) < tolerance) | (weights == 0).all(axis=1)).all()
        scale = np.abs(arrays[2]).max()
        np.testing.assert_allclose(estimate, mean_of(weights, values), atol=4 * tolerance * scale)


@pytest.mark.usefixtures("quiet_empties")
@pytest.mark.parametrize("kernel", NAMES)
@given(scene=scenes(), seed=st.integers(0, 99))
@settings(deadline=None)
def test_the_order_of_keys_and_queries_does_not_matter(kernel, scene, seed):
    queries, keys, values, sigma = scene
    rng = np.random.default_rng(seed)
    a, b = rng.permutation(len(queries)), rng.permutation(len(keys))
    moved = nadaraya_watson(queries[a], keys[b], values[b], kernel, sigma)
    np.testing.assert_allclose(
        moved, nadaraya_watson(queries, keys, values, kernel, sigma)[a], atol=1e-12
    )


def _statsmodels(queries, keys, values, bandwidth):
    newer = {"rng": 0} if "rng" in signature(KernelReg.__init__).parameters else {}
    kinds = "c" * keys.shape[1]
    model = KernelReg(values, keys, kinds, reg_type="lc", bw=bandwidth, **newer)
    return model.fit(queries)[0]


def test_statsmodels_and_scikit_learn_and_scipy_agree():
    data = sine_data(n=60, seed=3)
    ours = nadaraya_watson(data.queries, data.keys, data.values, bandwidth=0.4)
    theirs = _statsmodels(data.queries[:, None], data.keys[:, None], data.values, [0.4])
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    keys, queries = RNG.normal(size=(30, 4)), RNG.normal(size=(7, 4))
    k = rbf_kernel(queries, keys, gamma=1 / (2 * 0.8**2))
    weights = attention_weights(queries, keys, bandwidth=0.8)
    np.testing.assert_allclose(weights, k / k.sum(axis=1, keepdims=True), rtol=1e-10)
    score = -(((queries[:, None] - keys) / 0.8) ** 2).sum(axis=2) / 2
    np.testing.assert_allclose(weights, softmax(score, axis=1), rtol=1e-10)
    two = RNG.normal(size=(50, 2))
    theirs = _statsmodels(two[:9], two, two @ [1, 2], [0.5, 0.9])
    ours = nadaraya_watson(two[:9], two, two @ [1, 2], bandwidth=[0.5, 0.9])
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


# Conventions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [*NAMES, lambda u: 1 / (1 + u * u)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_query_that_is_not_finite_spoils_its_own_row_only(kernel, bad):
    keys, values = [0.0, 1, 2], [0.0, 1, 2]
    expected = nadaraya_watson([0.5, 1], keys, values, kernel, 3)
    estimate = nadaraya_watson([0.5, bad, 1], keys, values, kernel, 3)
    assert np.isnan(estimate[1]) and (estimate[[0, 2]] == expected).all()
    weights = attention_weights([0.5, bad, 1], keys, kernel, 3)
    assert np.isnan(weights[1]).all() and np.isfinite(weights[[0, 2]]).all()


@pytest.mark.parametrize("kernel", NAMES)
def test_one_key_left_out_leaves_nothing(kernel):
    with pytest.warns(EmptyNeighbourhoodWarning, match="no other key"):
        weights = attention_weights([3.0], [3.0], kernel, leave_one_out=True)
    with pytest.warns(EmptyNeighbourhoodWarning, match="no other key"):
        estimate = nadaraya_watson([3.0], [3.0], [1.0], kernel, leave_one_out=True)
    assert weights.tolist() == [[0]] and np.isnan(estimate).all()


@pytest.mark.parametrize("kernel", NAMES)
def test_duplicates_stay_in_when_one_is_left_out(kernel):
    estimate = nadaraya_watson(
        [1.0, 1, 9], [1.0, 1, 9], [2.0, 4, 7], kernel, 10, leave_one_out=True
    )
    near = nadaraya_watson([1.0, 1], [1.0, 1], [2.0, 4], kernel, 10, leave_one_out=True)
    assert near.tolist() == [4, 2] and estimate[2] == pytest.approx(3)


def test_leave_one_out_masks_by_index_where_queries_are_not_keys():
    rng = np.random.default_rng(0)
    for n, d in ((40, 1), (12, 3)):
        queries, keys, values = rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.normal(size=n)
        for kernel in NAMES:
            expected = double_loop(queries, keys, kernel, 2.5, leave_one_out=True)
            estimate = nadaraya_watson(queries, keys, values, kernel, 2.5, leave_one_out=True)
            np.testing.assert_allclose(estimate, mean_of(expected, values), atol=1e-12)


def test_a_callable_underflows_like_any_plain_formula_and_the_warning_says_so():
    def own(u):
        return np.exp(-(u**2) / 2)

    with pytest.warns(EmptyNeighbourhoodWarning, match="returned 0 for every key"):
        estimate = nadaraya_watson([0.5, 0.4], [0, 1], [1, 2], own, 0.001)
    assert np.isnan(estimate).all()
    assert nadaraya_watson(0.4, [0, 1], [1, 2], gaussian, 0.001) == 1  # known: stays stable
    np.testing.assert_allclose(
        attention_weights([0.5, 2.0], [0, 1, 4], own), attention_weights([0.5, 2.0], [0, 1, 4])
    )
    assert nadaraya_watson([0.5], [0, 1], [1, 2], lambda u: 1).tolist() == [1.5]


def test_values_near_the_largest_number_do_not_overflow():
    values = np.array([1.5e308, -1.7e308, 1.7e308])
    for kernel in NAMES:
        estimate = nadaraya_watson([0.0, 1.0], [0.0, 0.5, 1.0], values, kernel, 2.0)
        assert np.isfinite(estimate).all() and (np.abs(estimate) < 1.7e308).all()


def test_e10_rows_are_queries():
    weights = attention_weights([0.0, 4.0], [0.0, 1, 2, 3, 4], "boxcar", 1.0)
    assert weights.shape == (2, 5)
    assert weights.tolist() == [[0.5, 0.5, 0, 0, 0], [0, 0, 0, 0.5, 0.5]]


def test_dot_product_weights_are_a_softmax():
    queries, keys = RNG.normal(size=(4, 3)), RNG.normal(size=(6, 3))
    expected = softmax(queries @ keys.T / np.sqrt(3), axis=1)
    np.testing.assert_allclose(dot_product_weights(queries, keys), expected, rtol=1e-13)
    doubled = softmax(2 * queries @ keys.T, axis=1)
    np.testing.assert_allclose(dot_product_weights(queries, keys, scale=2.0), doubled, rtol=1e-13)
    assert dot_product_weights(2.0, [0, 1, 2]).shape == (3,)
    assert dot_product_weights(np.zeros((0, 3)), keys).shape == (0, 6)
    single = dot_product_weights(np.float32(queries), np.float32(keys))
    assert single.dtype == np.float32 and np.isfinite(dot_product_weights([1e150], [1e150])).all()
    queries[1, 2] = np.nan
    assert np.isnan(dot_product_weights(queries, keys)).any(axis=1).tolist() == [False, True, False, False]
    for bad in ({"scale": np.nan}, {"scale": "x"}, {"scale": [1.0, 2]}):
        with pytest.raises(ValueError, match="scale"):
            dot_product_weights(keys, keys, **bad)
    with pytest.raises(ValueError, match="overflow"):
        dot_product_weights([1e200], [1e200])


# Large inputs: every way of summing gives the same ---------------------------------------------


def _by_rows(queries, keys, values, kernel, sigma, leave_one_out=False):
    out = []
    for start in range(0, len(queries), 100):
        d = np.abs(queries[start : start + 100, None] - keys)
        if leave_one_out:
            i = np.arange(len(d))
            d[i, start + i] = np.inf
        if kernel == "gaussian":  # differences of squares, in more digits than the package has
            squares = (d.astype(np.longdouble) / sigma) ** 2
            w = np.exp((squares.min(axis=1, keepdims=True) - squares).astype(float) / 2)
        else:
            w = KERNELS[kernel].profile(d / sigma) * np.isfinite(d)
        out.append(w @ values / w.sum(axis=1, keepdims=True))
    return np.concatenate(out)


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("sigma", [1e-4, 0.02, 0.3, 4.0])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "boxcar", "constant"])
def test_sorted_windows_and_cells_agree_with_full_rows(kernel, sigma, leave_one_out, quiet_empties):
    rng = np.random.default_rng(5)
    keys = np.concatenate([rng.uniform(0, 5, 2500), rng.normal(9, 1e-3, 400), [30.0, 30.0, 1e3]])
    keys = rng.permutation(keys) + 1e4
    values = rng.normal(size=(len(keys), 2))
    queries = keys if leave_one_out else np.append(rng.uniform(-5, 40, 3000), [-1e6, 1e9]) + 1e4
    ours = nadaraya_watson(queries, keys, values, kernel, sigma, leave_one_out=leave_one_out)
    with np.errstate(invalid="ignore"):
        plain = _by_rows(queries, keys, values, kernel, sigma, leave_one_out)
    np.testing.assert_allclose(ours, plain, rtol=0, atol=1e-13)


def test_truncation_and_cells_are_off_by_less_than_1e_15():
    """Against sums in extended precision, at queries near and far, on a clustered sample."""
    rng = np.random.default_rng(11)
    keys = np.concatenate([rng.normal(0, 0.05, 30_000), rng.uniform(-20, 20, 10_000)])
    values = np.sign(keys - 0.2)  # the worst values: all of one sign beyond the query
    queries = np.concatenate([np.linspace(-1, 12, 30), [25.0, 40.0]])
    for sigma in (0.5, 1.0):
        ours = nadaraya_watson(np.repeat(queries, 200), keys, values, bandwidth=sigma)[::200]
        for q, estimate in zip(queries, ours):
            d = np.abs(np.longdouble(q) - keys.astype(np.longdouble))
            k = np.exp(-(d - d.min()) * (d + d.min()) / (2 * np.longdouble(sigma) ** 2))
            exact = (k * values).sum() / k.sum()
            assert abs(float(exact - estimate)) < 4e-15, (q, sigma)


def test_float32_is_computed_in_float32():
    """A stray float64 constant would make it slow without changing the result."""
    arrays = [np.ones(3, dtype=np.float32)] * 2
    problem, values = as_problem(*arrays, "gaussian", 0.5, values=arrays[0])
    assert {problem.queries.dtype, problem.keys.dtype, values.dtype} == {np.dtype(np.float32)}
    assert distances(problem, slice(0, 3), slice(0, 3)).dtype == np.float32


def test_float32_large_agrees_to_single_precision():
    rng = np.random.default_rng(2)
    arrays = [rng.uniform(0, 5, 6000), rng.uniform(0, 5, 5000), rng.normal(size=5000)]
    single = [a.astype(np.float32) for a in arrays]
    double = nadaraya_watson(*(a.astype(np.float64) for a in single), bandwidth=0.3)
    estimate = nadaraya_watson(*single, bandwidth=0.3)
    assert estimate.dtype == np.float32
    np.testing.assert_allclose(estimate, double, atol=2e-6)


def _peak(run):
    run(slice(0, 50))  # what imports and first calls keep
    tracemalloc.start()
    try:
        run(slice(None))
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def test_memory_stays_bounded_with_many_features():
    rng = np.random.default_rng(0)
    queries, keys = rng.normal(size=(2000, 10)), rng.normal(size=(20_000, 10))
    values = rng.normal(size=20_000)
    assert _peak(lambda part: nadaraya_watson(queries[part], keys, values, bandwidth=0.5)) < 100


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_memory_stays_bounded_with_many_points(kernel):
    rng = np.random.default_rng(0)
    queries, keys = rng.uniform(0, 5, (2, 100_000))
    values = np.sin(keys)
    sigma = 0.5 if kernel == "gaussian" else 0.01
    peak = _peak(lambda part: nadaraya_watson(queries[part], keys, values, kernel, sigma))
    assert peak < 100


# Several features: the matrix product and the tiles of distances


@pytest.mark.parametrize("loo", [False, True])
@pytest.mark.parametrize("bandwidth", [0.45, 1.0, [0.5, 2.0, 50.0]])
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_the_expanded_square_gives_what_distances_give(monkeypatch, loo, bandwidth, dtype, tolerance):
    rng = np.random.default_rng(0)
    keys = 1000 + rng.normal(size=(700, 3)).astype(dtype)
    keys[5] = keys[600]  # a tie across two tiles
    queries = keys if loo else 1000 + rng.uniform(-2, 2, size=(90, 3)).astype(dtype)
    values = rng.normal(size=(700, 2)).astype(dtype)
    called = []
    expanded = _sums._expanded_sums
    monkeypatch.setattr(_sums, "_expanded_sums", lambda *arguments: called.append(1) or expanded(*arguments))
    fast = nadaraya_watson(queries, keys, values, bandwidth=bandwidth, leave_one_out=loo)
    assert called and fast.dtype == dtype
    monkeypatch.setattr(_sums, "EXPANDED", -1.0)
    direct = nadaraya_watson(queries, keys, values, bandwidth=bandwidth, leave_one_out=loo)
    assert len(called) == 1
    np.testing.assert_allclose(fast, direct, rtol=0, atol=tolerance * np.abs(values).max())


def test_long_vectors_are_not_expanded(monkeypatch):
    monkeypatch.setattr(_sums, "_expanded_sums", None)
    keys = np.array([[0.0, 0.0], [100.0, 0.0]])
    assert nadaraya_watson(keys + 1e-9, keys, [1.0, 3.0], bandwidth=1.0).tolist() == [1.0, 3.0]
