"""Errors over sigma, the search, the rule of thumb and the gradient."""

import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from references import NAMES, double_loop, mean_of, scenes

from attention_pooling import (
    EmptyNeighbourhoodWarning,
    attention_weights,
    bandwidth_curve,
    bandwidth_gradient,
    leave_one_out_error,
    nadaraya_watson,
    rule_of_thumb,
    select_bandwidth,
    sine_data,
)

DIFFERENTIABLE = ["gaussian", "triangular", "epanechnikov", "constant"]
X, Y = [1, 2, 4, 5, 7], [1, 2, 3, 4, 5]


# Errors ----------------------------------------------------------------------------------------


def test_e5_leave_one_out_errors():
    errors = [leave_one_out_error(X, Y, bandwidth=sigma) for sigma in (0.001, 0.5, 1, 2, 10)]
    np.testing.assert_allclose(errors, [1.0, 0.9941, 0.6725, 0.9621, 2.9443], atol=5e-5)
    assert bandwidth_curve(X, Y, [0.001]).training[0] == 0


@pytest.mark.parametrize("kernel", NAMES)
@settings(deadline=None)
@given(scene=scenes())
def test_leave_one_out_error_is_that_of_the_double_loop_or_infinite(kernel, scene):
    _, keys, values, sigma = scene
    weights = double_loop(keys, keys, kernel, sigma, leave_one_out=True)
    error = leave_one_out_error(keys, values, kernel, sigma)
    if (weights.sum(axis=1) > 0).all():
        expected = np.mean((values - mean_of(weights, values)) ** 2)
        assert error == pytest.approx(expected, rel=1e-10)
    elif kernel != "gaussian":
        assert error == np.inf
    assert type(error) is float


def test_one_empty_window_makes_the_error_infinite_without_a_warning():
    keys = [0.0, 1, 2, 9]
    assert leave_one_out_error(keys, [0, 0, 0, 0], "boxcar", 1.5) == np.inf
    curve = bandwidth_curve(keys, [1, 2, 3, 4], [0.5, 8], "boxcar", queries=[-3.0], truth=[1.0])
    assert curve.leave_one_out[0] == curve.validation[0] == np.inf
    assert np.isfinite(curve.training).all() and np.isfinite(curve.validation[1])
    assert leave_one_out_error([3.0], [1.0]) == np.inf


def test_the_shortcut_holds_where_the_own_weight_leaves_digits():
    data = sine_data(seed=0)
    for sigma in (0.05, 0.1, 0.5, 2):
        own = np.diag(attention_weights(data.keys, data.keys, bandwidth=sigma))
        fit = nadaraya_watson(data.keys, data.keys, data.values, bandwidth=sigma)
        shortcut = np.mean(((data.values - fit) / (1 - own)) ** 2)
        error = leave_one_out_error(data.keys, data.values, bandwidth=sigma)
        assert error == pytest.approx(shortcut, rel=1e-10)


def test_e12_validation_errors_and_choices():
    data = sine_data(seed=0)
    curve = bandwidth_curve(
        data.keys, data.values, [1, 0.5, 0.2, 0.1], queries=data.queries, truth=data.truth
    )
    np.testing.assert_allclose(curve.validation, [0.443, 0.208, 0.376, 0.589], atol=5e-4)
    assert (np.diff(curve.training) < 0).all() and curve.bandwidths.tolist() == [1, 0.5, 0.2, 0.1]
    grid = np.linspace(0.3, 0.7, 81)
    fine = bandwidth_curve(data.keys, data.values, grid, queries=data.queries, truth=data.truth)
    assert grid[fine.validation.argmin()] == pytest.approx(0.48, abs=0.01)
    choice = select_bandwidth(data.keys, data.values)
    assert choice.bandwidth == pytest.approx(0.440, abs=5e-4) and choice.at_edge is None


def test_a_curve_without_truth_has_no_validation_error():
    curve = bandwidth_curve(X, Y, [1.0, 2.0])
    assert curve.validation is None and curve._fields[0] == "bandwidths"
    single = [leave_one_out_error(X, Y, bandwidth=sigma) for sigma in (1.0, 2.0)]
    assert curve.leave_one_out.tolist() == single
    fit = nadaraya_watson(X, X, Y, bandwidth=2.0)
    assert curve.training[1] == pytest.approx(np.mean((fit - Y) ** 2), rel=1e-12)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"queries": [1.0]}, "together"),
        ({"truth": [1.0]}, "together"),
        ({"queries": [1.0, 2], "truth": [1.0]}, "truth"),
        ({"queries": [1.0], "truth": [np.nan]}, "truth"),
        ({"queries": [np.nan], "truth": [1.0]}, "queries"),
        ({"queries": [], "truth": []}, "truth"),
        ({"bandwidths": 1.0}, "bandwidths"),
        ({"bandwidths": [1.0, 0]}, "bandwidth"),
        ({"values": [1, 2]}, "values"),
    ],
)
def test_wrong_inputs_of_a_curve_are_named(change, name):
    with pytest.raises(ValueError, match=name):
        bandwidth_curve(**({"keys": X, "values": Y, "bandwidths": [1.0]} | change))


def test_e11_fifty_bandwidths_at_500_points_have_no_loop_over_points(monkeypatch):
    """The cost is counted in calls, which no busy machine changes; the time is in benchmarks."""
    from attention_pooling import _sums

    calls = []
    exp = np.exp
    monkeypatch.setattr(_sums.np, "exp", lambda *args, **kw: calls.append(1) or exp(*args, **kw))
    data = sine_data(n=500)
    start = time.process_time()
    bandwidth_curve(data.keys, data.values, np.geomspace(0.01, 3, 50))
    print(f"{time.process_time() - start:.2f} s of processor time")
    assert 100 <= len(calls) < 100 * 25  # 8 blocks of rows, few tiles each; not 500


# The search ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["boxcar", "epanechnikov"])
def test_e13_never_a_bandwidth_with_an_empty_window(kernel):
    for seed in range(200):
        data = sine_data(seed=seed)
        choice = select_bandwidth(data.keys, data.values, kernel)
        with warnings.catch_warnings():
            warnings.simplefilter("error", EmptyNeighbourhoodWarning)
            nadaraya_watson(
                data.keys, data.keys, data.values, kernel, float(choice), leave_one_out=True
            )
        assert np.isfinite(choice.error)


@pytest.mark.parametrize("kernel", NAMES)
def test_the_choice_is_no_worse_than_any_bandwidth_of_a_fine_grid(kernel):
    for seed in (0, 5):
        data = sine_data(seed=seed)
        choice = select_bandwidth(data.keys, data.values, kernel)
        assert choice.error == leave_one_out_error(data.keys, data.values, kernel, float(choice))
        grid = np.geomspace(np.diff(data.keys).min(), np.ptp(data.keys), 300)
        best = bandwidth_curve(data.keys, data.values, grid, kernel).leave_one_out.min()
        assert choice.error <= best * (1.05 if kernel == "boxcar" else 1 + 1e-6)  # a step function


def test_the_search_finds_the_lower_of_two_minima():
    """80 of 200 data sets have more than one local minimum; a descent may end in the other."""
    keys = np.concatenate([np.arange(60) * 0.01, np.arange(60) * 0.01 + 50])
    values = np.tile([0.0, 1, 0], 40) + (keys > 10) * 9 + np.sin(40 * keys)
    grid = np.geomspace(0.01, 50, 400)
    errors = bandwidth_curve(keys, values, grid).leave_one_out
    minima = ((errors[1:-1] < errors[:-2]) & (errors[1:-1] < errors[2:])).sum()
    assert minima >= 1 and select_bandwidth(keys, values).error <= errors.min() * (1 + 1e-6)


def test_the_search_says_on_which_edge_it_ends():
    data = sine_data(seed=0)
    low = select_bandwidth(data.keys, data.values, bounds=(0.6, 2))
    high = select_bandwidth(data.keys, data.values, bounds=(0.1, 0.3))
    assert (low.bandwidth, low.at_edge) == (0.6, "lower")
    assert (high.bandwidth, high.at_edge) == (0.3, "upper")
    assert select_bandwidth(data.keys, data.values, "constant").at_edge == "upper"
    flat = select_bandwidth(data.keys, np.zeros(40))
    assert flat.error == 0 and flat.bandwidth > 0


def test_the_search_scales_with_the_keys_and_takes_many_features():
    data = sine_data(seed=0)
    base = select_bandwidth(data.keys, data.values).bandwidth
    for scale in (1e-8, 1e8):
        scaled = select_bandwidth(data.keys * scale + scale, data.values)
        assert scaled.bandwidth == pytest.approx(base * scale, rel=1e-4)
    rng = np.random.default_rng(0)
    keys = rng.uniform(size=(80, 2))
    values = np.stack([keys.sum(axis=1), keys[:, 0]], axis=1) + rng.normal(0, 0.1, (80, 2))
    choice = select_bandwidth(keys, values)
    assert 0 < choice.bandwidth < 1 and choice.at_edge is None
    assert select_bandwidth([0.0, 1.0], [0.0, 1.0], "triangular").error == 1


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"bounds": (1, 1)}, "bounds"),
        ({"bounds": (0, 1)}, "bounds"),
        ({"bounds": (1, np.inf)}, "bounds"),
        ({"bounds": 3}, "bounds"),
        ({"bounds": (0.1, 0.2), "kernel": "boxcar"}, "raise the upper"),
        ({"keys": [3, 3, 3, 3, 3]}, "keys"),
        ({"keys": [3], "values": [3]}, "keys"),
        ({"values": [3]}, "values"),
        ({"kernel": "gauss"}, "kernel"),
    ],
)
def test_wrong_inputs_of_the_search_are_named(change, name):
    with pytest.raises(ValueError, match=name):
        select_bandwidth(**({"keys": X, "values": Y} | change))


# The rule of thumb -----------------------------------------------------------------------------


def test_e9_rule_of_thumb_on_ties():
    assert rule_of_thumb([1, 1, 1, 1, 2]) == pytest.approx(0.2917, abs=5e-5)


@pytest.mark.parametrize("keys", [[3, 3, 3], [3], [0.1, 0.1, 0.1], [[1, 2], [1, 3]]])
def test_e9_no_spread_is_an_error(keys):
    with pytest.raises(ValueError, match="spread"):
        rule_of_thumb(keys)


def test_rule_of_thumb_known_value_scale_and_kernels():
    data = sine_data(seed=0)
    sigma = rule_of_thumb(data.keys)
    assert sigma == pytest.approx(0.656, abs=5e-4) and type(sigma) is float
    assert rule_of_thumb(1e6 * data.keys + 1e6) == pytest.approx(1e6 * sigma, rel=1e-9)
    ratios = [rule_of_thumb(data.keys, k) / sigma for k in ("boxcar", "triangular", "epanechnikov")]
    np.testing.assert_allclose(ratios, [1.740, 2.432, 2.214], atol=5e-4)
    normal = np.random.default_rng(0).normal(size=10_000)
    expected = 0.9 * 10_000 ** (-1 / 5)
    assert rule_of_thumb(normal) == pytest.approx(expected, rel=0.03)
    heavy = np.append(normal, [1e6])  # one far point hardly moves it
    assert rule_of_thumb(heavy) == pytest.approx(expected, rel=0.04)


def test_rule_of_thumb_gives_one_bandwidth_per_feature():
    keys = np.random.default_rng(0).normal(size=(500, 2)) * [1, 100]
    sigma = rule_of_thumb(keys)
    assert sigma.shape == (2,) and sigma[1] / sigma[0] == pytest.approx(100, rel=0.1)
    assert sigma[0] == pytest.approx(0.9 * 500 ** (-1 / 6), rel=0.1)
    assert rule_of_thumb(keys[:, :1]).shape == (1,)


@pytest.mark.parametrize("kernel", ["constant", "gauss", lambda u: 1 / (1 + u)])
def test_rule_of_thumb_needs_a_kernel_with_a_width(kernel):
    with pytest.raises(ValueError, match="kernel"):
        rule_of_thumb([1, 2, 3], kernel)


# The gradient ----------------------------------------------------------------------------------


def _difference(keys, values, kernel, sigma, leave_one_out, h=1e-5):
    """Return the central difference of the error by each log sigma."""
    sigma = np.asarray(sigma, dtype=float)

    def error(log_sigma):
        fit = nadaraya_watson(
            keys, keys, values, kernel, np.exp(log_sigma), leave_one_out=leave_one_out
        )
        return np.mean((values - fit) ** 2)

    base = np.log(np.atleast_1d(sigma))
    steps = [[h]] if sigma.ndim == 0 else h * np.eye(len(base))
    slopes = [(error(base + step) - error(base - step)) / (2 * h) for step in np.asarray(steps)]
    return np.array(slopes) if sigma.ndim else slopes[0]


@pytest.mark.parametrize("leave_one_out", [True, False])
@pytest.mark.parametrize("kernel", DIFFERENTIABLE)
@pytest.mark.parametrize("sigma", [0.45, 1.3, 3.1])
def test_gradient_agrees_with_differences(kernel, sigma, leave_one_out):
    data = sine_data(seed=0)
    sigma = max(sigma, 1) if kernel in ("triangular", "epanechnikov") else sigma
    args = data.keys, data.values, kernel, sigma
    gradient = bandwidth_gradient(*args, leave_one_out=leave_one_out)
    assert type(gradient) is float
    assert gradient == pytest.approx(_difference(*args, leave_one_out), abs=2e-7)
    assert kernel == "constant" or abs(gradient) > 1e-4


@pytest.mark.parametrize("leave_one_out", [True, False])
@pytest.mark.parametrize("kernel", DIFFERENTIABLE)
def test_gradient_per_feature_agrees_with_differences(kernel, leave_one_out):
    rng = np.random.default_rng(1)
    keys = rng.normal(size=(60, 3))
    values = np.stack([keys[:, 0], np.sin(keys[:, 1])], axis=1) + rng.normal(0, 0.1, (60, 2))
    for sigma in (np.array([2.5, 3.0, 4.0]), np.array([3.0, 3.0, 3.0]), 3.0):
        args = keys, values, kernel, sigma
        gradient = bandwidth_gradient(*args, leave_one_out=leave_one_out)
        np.testing.assert_allclose(gradient, _difference(*args, leave_one_out), atol=2e-7)
        assert np.shape(gradient) == np.shape(sigma)
    assert bandwidth_gradient(keys[:, :1], values, kernel, [3.0]).shape == (1,)


def test_gradient_of_the_constant_kernel_is_zero():
    assert bandwidth_gradient(X, Y, "constant", 0.3) == 0


def test_gradient_with_repeated_keys_and_at_the_edge_of_a_window():
    keys, values = np.array([0.0, 0, 1, 1, 2]), np.array([1.0, 2, 0, 5, 3])
    for kernel in DIFFERENTIABLE:  # the outer keys lie exactly on the edge
        assert np.isfinite(bandwidth_gradient(keys, values, kernel, 2.0))
    assert bandwidth_gradient(keys, values, "gaussian", 0.7) == pytest.approx(
        _difference(keys, values, "gaussian", 0.7, True), abs=1e-8
    )


@pytest.mark.parametrize("sigma", [1e-300, 1e-160, 1e-3, 1e3, 1e160])
def test_gradient_is_finite_at_every_bandwidth(sigma):
    keys = np.array([0.0, 0.3, 1, 1.7, 3])
    assert bandwidth_gradient(keys, Y, bandwidth=sigma) == pytest.approx(0, abs=1e-4)


def test_gradient_refuses_what_has_no_derivative():
    with pytest.raises(ValueError, match="constant in sigma between jumps"):
        bandwidth_gradient(X, Y, "boxcar")
    with pytest.raises(ValueError, match="callable of unknown derivative"):
        bandwidth_gradient(X, Y, lambda u: np.exp(-u))


def test_gradient_warns_where_the_error_is_infinite():
    with pytest.warns(EmptyNeighbourhoodWarning):
        assert np.isnan(bandwidth_gradient([0.0, 1, 5], [1, 2, 3], "epanechnikov", 1.5))


def _descend(sigma, steps, rate=0.5):
    data, log_sigma = sine_data(seed=0), np.log(sigma)
    for _ in range(steps):
        log_sigma -= rate * bandwidth_gradient(data.keys, data.values, bandwidth=np.exp(log_sigma))
    return np.exp(log_sigma)


def test_e14_descent_on_log_sigma():
    assert _descend(1.0, 60) == pytest.approx(0.440, abs=5e-4)
    assert _descend(0.015, 2500) == pytest.approx(0.440, abs=5e-4)
    assert _descend(0.01, 300) < 0.01  # beyond the local maximum at 0.0126


def test_e14_the_loss_has_its_local_maximum_where_stated():
    data = sine_data(seed=0)
    slopes = [bandwidth_gradient(data.keys, data.values, bandwidth=s) for s in (0.0125, 0.0127)]
    assert slopes[0] > 0 > slopes[1]
