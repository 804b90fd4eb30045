"""Choosing the bandwidth: errors over sigma, a search, a rule, a gradient."""

from typing import NamedTuple

import numpy as np

from ._inputs import as_kernel, as_keys, as_problem
from ._sums import distances, nearest_distance, own_entries, relative_kernel
from .kernels import KERNELS
from .pooling import estimate_rows

__all__ = ["BandwidthChoice", "BandwidthCurve", "bandwidth_curve", "bandwidth_gradient",
           "leave_one_out_error", "rule_of_thumb", "select_bandwidth"]


class BandwidthCurve(NamedTuple):
    """Errors over a grid of bandwidths."""

    bandwidths: np.ndarray
    training: np.ndarray
    leave_one_out: np.ndarray
    validation: np.ndarray | None


class BandwidthChoice(NamedTuple):
    """A chosen bandwidth; ``float(choice)`` gives its number."""

    bandwidth: float
    error: float
    at_edge: str | None

    def __float__(self):
        return self.bandwidth


def leave_one_out_error(keys, values, kernel="gaussian", bandwidth=1.0):
    """Return the mean squared leave-one-out error; infinite if a window is empty."""
    return _error(keys, keys, values, values, kernel, bandwidth, leave_one_out=True)


def _error(queries, keys, values, truth, kernel, bandwidth, leave_one_out=False):
    problem, values = as_problem(queries, keys, kernel, bandwidth, leave_one_out, values)
    estimate, empty, _ = estimate_rows(problem, values, leave_one_out)
    if empty.any():
        return np.inf
    return float(np.mean((np.asarray(truth, dtype=np.float64) - estimate) ** 2))


def bandwidth_curve(keys, values, bandwidths, kernel="gaussian", *, queries=None, truth=None):
    """Return training, leave-one-out and validation error over a grid of bandwidths."""
    bandwidths = np.asarray(bandwidths, dtype=np.float64)
    train = [_error(keys, keys, values, values, kernel, b) for b in bandwidths]
    loo = [leave_one_out_error(keys, values, kernel, b) for b in bandwidths]
    val = None
    if queries is not None:
        val = np.array([_error(queries, keys, values, truth, kernel, b) for b in bandwidths])
    return BandwidthCurve(bandwidths, np.array(train), np.array(loo), val)


def select_bandwidth(keys, values, kernel="gaussian", *, bounds=None):
    """Return the bandwidth with the smallest leave-one-out error."""
    if bounds is None:
        x = np.sort(np.asarray(keys, dtype=np.float64), axis=0)
        gaps = np.diff(x, axis=0)
        bounds = gaps[gaps > 0].min(), np.ptp(x, axis=0).max()
    grid = np.geomspace(*bounds, 60)
    errors = np.array([leave_one_out_error(keys, values, kernel, b) for b in grid])
    i = int(np.argmin(errors))
    edge = "lower" if i == 0 else "upper" if i == len(grid) - 1 else None
    lo, hi = np.log(grid[max(i - 1, 0)]), np.log(grid[min(i + 1, len(grid) - 1)])
    best = (errors[i], grid[i])
    ratio = (5 ** 0.5 - 1) / 2
    for _ in range(30):
        a, b = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
        fa = leave_one_out_error(keys, values, kernel, np.exp(a))
        fb = leave_one_out_error(keys, values, kernel, np.exp(b))
        best = min(best, (fa, np.exp(a)), (fb, np.exp(b)))
        lo, hi = (lo, b) if fa < fb else (a, hi)
    return BandwidthChoice(float(best[1]), float(best[0]), edge)


def rule_of_thumb(keys, kernel="gaussian"):
    """Return 0.9 min(sd, IQR / 1.34) n**(-1/5), converted to the kernel."""
    shape = np.ndim(keys)
    keys = as_keys(keys)
    kernel = as_kernel(kernel)
    if (np.ptp(keys, axis=0) == 0).any():
        raise ValueError("keys must have some spread, all are equal")
    n, d = keys.shape
    sd = keys.std(axis=0, ddof=1)
    iqr = np.subtract(*np.percentile(keys, [75, 25], axis=0)) / 1.34
    spread = np.where(iqr > 0, np.minimum(sd, iqr), sd)
    g = KERNELS["gaussian"]
    factor = (kernel.roughness / kernel.standard_deviation**4 / g.roughness) ** 0.2
    sigma = 0.9 * spread * n ** (-1 / (d + 4)) * factor
    return float(sigma[0]) if shape == 1 else sigma


def bandwidth_gradient(keys, values, kernel="gaussian", bandwidth=1.0, *, leave_one_out=True):
    """Return the derivative of the mean squared error with respect to log sigma."""
    problem, values = as_problem(keys, keys, kernel, bandwidth, leave_one_out, values)
    if problem.kernel.derivative is None:
        raise ValueError("kernel 'boxcar' has no derivative to follow: the error is constant in the bandwidth "
                         "except for jumps where a key enters a window; use select_bandwidth, or another kernel")
    y = values.reshape(len(values), -1)
    rows = slice(0, len(y))
    d = distances(problem, rows, rows)
    own = own_entries(rows, rows) if leave_one_out else None
    near = nearest_distance(d, own)
    k = relative_kernel(problem, d, near, own)
    u = d / problem.sigma
    slope = -u * problem.kernel.derivative(u)
    if problem.kernel.name == "gaussian":
        slope = u * u * k
    if own is not None:
        slope[own] = 0
    s = k.sum(axis=1, keepdims=True)
    f = k @ y / s
    if np.ndim(bandwidth) == 0:
        df = (slope @ y - slope.sum(axis=1, keepdims=True) * f) / s
        return float(-2 * np.mean((y - f) * df))
    out = []
    for i in range(problem.keys.shape[1]):
        g = (problem.keys[:, i, None] - problem.keys[:, i]) / np.asarray(bandwidth)[i]
        share = slope * np.where(u > 0, (g / np.where(u > 0, u, 1)) ** 2, 0)
        df = (share @ y - share.sum(axis=1, keepdims=True) * f) / s
        out.append(-2 * np.mean((y - f) * df))
    return np.array(out)
