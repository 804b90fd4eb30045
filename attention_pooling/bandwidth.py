"""Choosing the bandwidth: errors over sigma, a search, a rule of thumb, a gradient."""

from math import ceil, exp, log, log10
from typing import NamedTuple

import numpy as np

from ._inputs import as_floats, as_kernel, as_keys, as_problem, as_values, finite
from ._sums import (
    QUIET,
    as_columns,
    distances,
    nearest_distance,
    own_entries,
    relative_kernel,
    slices,
)
from .kernels import KERNELS
from .pooling import warn_if_empty, estimate_rows

__all__ = [
    "BandwidthChoice",
    "BandwidthCurve",
    "bandwidth_curve",
    "bandwidth_gradient",
    "leave_one_out_error",
    "rule_of_thumb",
    "select_bandwidth",
]

GOLDEN = (5**0.5 - 1) / 2


class BandwidthCurve(NamedTuple):
    """Mean squared errors over a grid of bandwidths, in squared units of the values.

    Attributes
    ----------
    bandwidths : ndarray of float, shape (b,)
        The grid, in the units of the keys.
    training : ndarray of float, shape (b,)
        Error at the keys with each point's own value in use.
    leave_one_out : ndarray of float, shape (b,)
        Error at the keys with each point's own value left out.
    validation : ndarray of float, shape (b,), or None
        Error against the truth at the queries, where those were given.

    Examples
    --------
    >>> bandwidth_curve([0, 1, 2], [0, 1, 2], [1.0], "boxcar").training.round(3).tolist()
    [0.167]
    """

    bandwidths: np.ndarray
    training: np.ndarray
    leave_one_out: np.ndarray
    validation: np.ndarray | None


class BandwidthChoice(NamedTuple):
    """A chosen bandwidth; ``float(choice)`` is the number.

    Attributes
    ----------
    bandwidth : float
        The bandwidth, in the units of the keys.
    error : float
        Its leave-one-out error, in squared units of the values.
    at_edge : {None, "lower", "upper"}
        The end of the searched range on which it lies, if any.

    Examples
    --------
    >>> float(BandwidthChoice(0.5, 1.0, None))
    0.5
    """

    bandwidth: float
    error: float
    at_edge: str | None

    def __float__(self):
        return self.bandwidth


def leave_one_out_error(keys, values, kernel="gaussian", bandwidth=1.0):
    """Return the mean squared error with each point estimated from the others.

    Parameters
    ----------
    keys : array_like of float, shape (n,) or (n, d)
        Points at which values are known.
    values : array_like of float, shape (n, ...)
        Value of each key.
    kernel : str or callable, default "gaussian"
        As in `nadaraya_watson`.
    bandwidth : float or array_like of float, shape (d,), default 1.0
        As in `nadaraya_watson`, in the units of `keys`.

    Returns
    -------
    float
        In squared units of `values`; infinite if any point has no other key in reach.

    Raises
    ------
    ValueError
        As `nadaraya_watson`.

    Notes
    -----
    :math:`\\frac1n \\sum_i (y_i - f_{-i}(x_i))^2`. The own key is masked before anything is
    normalised. The identity :math:`y_i - f_{-i}(x_i) = (y_i - f(x_i)) / (1 - S_{ii})` of
    chapter 3 is exact on paper and loses all digits at small bandwidths. Leaving points
    without neighbours out of the mean would reward bandwidths that make many of them.

    Examples
    --------
    >>> leave_one_out_error([0.0, 1.0], [0.0, 2.0], "boxcar", 1.0)
    4.0
    """
    return _error(keys, keys, values, values, kernel, bandwidth, leave_one_out=True)


def _error(queries, keys, values, truth, kernel, bandwidth, leave_one_out=False):
    """Return the mean squared error against the truth at the queries."""
    problem, values = as_problem(queries, keys, kernel, bandwidth, leave_one_out, values)
    estimate, empty, _ = estimate_rows(problem, values, leave_one_out)
    if empty.any():
        return np.inf
    return float(np.mean((np.asarray(truth, dtype=np.float64) - estimate) ** 2))


def bandwidth_curve(keys, values, bandwidths, kernel="gaussian", *, queries=None, truth=None):
    """Return training, leave-one-out and validation error over a grid of bandwidths.

    Parameters
    ----------
    keys : array_like of float, shape (n,) or (n, d)
        Points at which values are known.
    values : array_like of float, shape (n, ...)
        Value of each key.
    bandwidths : array_like of float, shape (b,)
        The grid, in the units of `keys`.
    kernel : str or callable, default "gaussian"
        As in `nadaraya_watson`.
    queries : array_like of float, shape (m,) or (m, d), optional
        Points at which the truth is known.
    truth : array_like of float, shape (m, ...), optional
        True values at the queries, in the units of `values`.

    Returns
    -------
    BandwidthCurve
        Arrays ``bandwidths``, ``training``, ``leave_one_out`` and ``validation`` (None without
        a truth). An error is infinite where some estimate has no key in reach.

    Raises
    ------
    ValueError
        As `nadaraya_watson`; if only one of `queries` and `truth` is given, or their shapes
        do not fit.

    Notes
    -----
    The training error falls to 0 as the bandwidth does, because each point then estimates
    itself; the other two do not. Chapter 3 draws the three curves.

    Examples
    --------
    >>> bandwidth_curve([0, 1, 2], [0, 1, 2], [1.0, 2.0], "boxcar").leave_one_out.tolist()
    [0.6666666666666666, 1.5]
    """
    bandwidths = finite("bandwidths", as_floats("bandwidths", bandwidths))
    if bandwidths.ndim != 1:
        raise ValueError(f"bandwidths must have shape (b,), got {bandwidths.shape}")
    training = [_error(keys, keys, values, values, kernel, b) for b in bandwidths]
    left_out = [leave_one_out_error(keys, values, kernel, b) for b in bandwidths]
    validation = None
    if queries is not None or truth is not None:
        truth = _checked_truth(queries, truth, np.shape(values))
        validation = np.array([_error(queries, keys, values, truth, kernel, b)
                               for b in bandwidths], dtype=np.float64)
    return BandwidthCurve(bandwidths, np.array(training, dtype=np.float64),
                          np.array(left_out, dtype=np.float64), validation)


def _checked_truth(queries, truth, values_shape):
    if queries is None or truth is None:
        raise ValueError("queries and truth must be given together, got only one of them")
    queries = finite("queries", as_floats("queries", queries))
    truth = finite("truth", as_floats("truth", truth))
    expected = queries.shape[:1] + tuple(values_shape[1:])
    if queries.size == 0 or truth.shape != expected:
        raise ValueError(f"truth must have one entry per query, shape {expected}, "
                         f"got {truth.shape}")
    return truth


def select_bandwidth(keys, values, kernel="gaussian", *, bounds=None):
    """Return the bandwidth with the smallest leave-one-out error.

    Parameters
    ----------
    keys : array_like of float, shape (n,) or (n, d)
        Points at which values are known, at least two.
    values : array_like of float, shape (n, ...)
        Value of each key.
    kernel : str or callable, default "gaussian"
        As in `nadaraya_watson`.
    bounds : (float, float), optional
        Range to search, in the units of `keys`; by default from the smallest positive
        distance between two keys to the largest (twice that if there is only one distance).

    Returns
    -------
    BandwidthChoice
        ``bandwidth``, its ``error``, and ``at_edge``: "lower" or "upper" if it lies on that end
        of the range, where a better one may lie beyond, else None.

    Raises
    ------
    ValueError
        As `nadaraya_watson`; if the bounds are not 0 < lower < upper, if all keys are
        equal and no bounds are given, or if every bandwidth in the range leaves some point
        without a neighbour.

    Notes
    -----
    The curve of chapter 3 may have several minima and be flat at both ends, so a grid over
    log sigma comes first; golden section then refines its minimum between the two
    neighbours. Of equally good grid points the largest is taken.

    Examples
    --------
    >>> float(select_bandwidth([0, 1, 2, 3], [0, 1, 0, 1], bounds=(1, 4)))
    4.0
    """
    as_values(values, len(as_keys(keys)))
    lower, upper = _distance_range(keys) if bounds is None else _checked_bounds(bounds)

    def error(sigma):
        return leave_one_out_error(keys, values, kernel, sigma)

    count = min(240, max(24, ceil(12 * log10(upper / lower))))
    grid = np.geomspace(lower, upper, count)
    errors = np.array([error(sigma) for sigma in grid])
    if np.isinf(errors).all():
        raise ValueError(f"bounds {lower:g} to {upper:g} leave some point without a neighbour "
                         f"at every bandwidth; raise the upper one")
    best = np.flatnonzero(errors <= errors.min() * (1 + 1e-12))[-1]
    left, right = grid[max(best - 1, 0)], grid[min(best + 1, count - 1)]
    sigma, least = _golden_section(error, left, right, grid[best], errors[best])
    at_edge = {grid[0]: "lower", grid[-1]: "upper"}.get(sigma)
    return BandwidthChoice(float(sigma), float(least), at_edge)


def _golden_section(error, left, right, sigma, least):
    """Shrink [left, right] in log sigma; return the best (sigma, error) seen."""
    low, high = log(left), log(right)
    inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    found = [error(exp(x)) for x in inner]
    while high - low > 1e-6:
        for x, e in zip(inner, found):
            if e < least:
                sigma, least = exp(x), e
        if found[0] < found[1]:
            high = inner[1]
            inner = [high - GOLDEN * (high - low), inner[0]]
            found = [error(exp(inner[0])), found[0]]
        else:
            low = inner[0]
            inner = [inner[1], low + GOLDEN * (high - low)]
            found = [found[1], error(exp(inner[1]))]
    return sigma, least


def _distance_range(keys):
    """Return the smallest positive and the largest distance between two keys."""
    keys = as_keys(keys)
    if keys.shape[1] == 1:
        x = np.sort(keys[:, 0].astype(np.float64))
        gaps = np.diff(x)
        found = [(gaps[gaps > 0].min(initial=np.inf), x[-1] - x[0])]
    else:
        problem, _ = as_problem(keys, keys, "gaussian", 1.0)
        found = []
        for rows in slices(0, len(keys), max(1, 2**18 // len(keys))):
            d = distances(problem, rows, slice(0, len(keys)))
            found.append((d[d > 0].min(initial=np.inf), d.max()))
    smallest, largest = (f(column) for f, column in zip((min, max), zip(*found)))
    if largest == 0:
        raise ValueError("keys must differ somewhere for a range of bandwidths, all are equal; "
                         "give bounds")
    return float(smallest), float(largest) * (1 + (smallest == largest))


def _checked_bounds(bounds):
    try:
        lower, upper = (float(b) for b in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be two numbers, got {bounds!r}") from None
    if not 0 < lower < upper < np.inf:
        raise ValueError(f"bounds must satisfy 0 < lower < upper, got {bounds!r}")
    return lower, upper


def rule_of_thumb(keys, kernel="gaussian"):
    """Return the normal-reference bandwidth, a start for a search.

    Parameters
    ----------
    keys : array_like of float, shape (n,) or (n, d)
        At least two keys, not all equal in any feature.
    kernel : str, default "gaussian"
        A named kernel other than "constant".

    Returns
    -------
    float, or ndarray of float of shape (d,) for keys of shape (n, d)
        In the units of `keys`.

    Raises
    ------
    ValueError
        If a feature has no spread, or the kernel has no such rule: the constant one, which
        no bandwidth changes, and callables.

    Notes
    -----
    :math:`0.9 \\min(s, \\mathrm{IQR}/1.34)\\, n^{-1/(d+4)}` per feature [1]_, with the standard
    deviation s alone where the interquartile range is 0; in one dimension the exponent is
    -1/5. Compact kernels get the half-width of equal canonical bandwidth
    :math:`(\\int K^2 / \\mu_2(K)^2)^{1/5}` [2]_: 1.740 (boxcar), 2.432 (triangular) or 2.214
    (Epanechnikov) times the Gaussian one. The rule knows nothing of the values and
    is made for densities; chapter 3 shows how far off it may be.

    References
    ----------
    .. [1] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", 1986.
    .. [2] M. P. Wand and M. C. Jones, "Kernel Smoothing", 1995.

    Examples
    --------
    >>> round(rule_of_thumb([1, 1, 1, 1, 2]), 4)
    0.2917
    """
    one_feature = np.ndim(keys) == 1
    keys = as_keys(keys).astype(np.float64)
    kernel = as_kernel(kernel)
    if kernel.roughness is None:
        raise ValueError(f"kernel {kernel.name!r} has no rule of thumb; use select_bandwidth, "
                         f"or one of 'gaussian', 'boxcar', 'triangular', 'epanechnikov'")
    if (keys.max(axis=0) == keys.min(axis=0)).any():
        raise ValueError(f"keys must not be all equal in a feature, got {len(keys)} without "
                         f"spread; choose the bandwidth by hand")
    n, d = keys.shape
    deviation = keys.std(axis=0, ddof=1)
    quartiles = np.percentile(keys, [25, 75], axis=0)
    robust = (quartiles[1] - quartiles[0]) / 1.34
    spread = np.where(robust > 0, np.minimum(deviation, robust), deviation)
    ratio = _canonical_bandwidth(kernel) / _canonical_bandwidth(KERNELS["gaussian"])
    sigma = 0.9 * spread * n ** (-1 / (d + 4)) * ratio
    return float(sigma[0]) if one_feature else sigma


def _canonical_bandwidth(kernel):
    return (kernel.roughness / kernel.standard_deviation**4) ** 0.2


def bandwidth_gradient(keys, values, kernel="gaussian", bandwidth=1.0, *, leave_one_out=True):
    """Return the derivative of the mean squared error by log sigma.

    Parameters
    ----------
    keys : array_like of float, shape (n,) or (n, d)
        Points at which values are known.
    values : array_like of float, shape (n, ...)
        Value of each key.
    kernel : str, default "gaussian"
        A named kernel other than "boxcar".
    bandwidth : float or array_like of float, shape (d,), default 1.0
        Bandwidth sigma at which to differentiate, in the units of `keys`.
    leave_one_out : bool, default True
        Differentiate `leave_one_out_error`; else the training error.

    Returns
    -------
    float, or ndarray of float of shape (d,) for one bandwidth per feature
        In squared units of `values`; per feature, the derivatives by each log sigma. NaN,
        with a warning, where some window is empty: the error is infinite there.

    Raises
    ------
    ValueError
        As `nadaraya_watson`; for the boxcar, whose error is a step function of sigma; for a
        callable, whose derivative is unknown.

    Warns
    -----
    EmptyNeighbourhoodWarning
        If some point has no key in reach.

    Notes
    -----
    With :math:`u_j = d_j / \\sigma` an estimate moves by

    .. math:: \\frac{\\partial f}{\\partial \\log \\sigma}
              = -\\frac{\\sum_j u_j K'(u_j) (y_j - f)}{\\sum_l K(u_l)},

    finite also at the edge of a compact kernel, and the error by
    :math:`-\\frac2n \\sum_i (y_i - f_i)\\, \\partial f_i / \\partial \\log \\sigma`. Per feature,
    the j-th term gets the factor :math:`(\\delta_{ji} / (\\sigma_i u_j))^2`. Chapter 3 derives it.
    For the Gaussian :math:`-u K' = u^2 K`. The error of the leave-one-out estimate has flat
    and rising stretches at small sigma: start at the minimum of a grid.

    Examples
    --------
    >>> round(bandwidth_gradient([0.0, 1.0, 3.0], [0.0, 1.0, 0.0]), 4)
    -0.3085
    """
    problem, values = as_problem(keys, keys, kernel, bandwidth, leave_one_out, values)
    _require_derivative(problem.kernel)
    y = as_columns(values).astype(np.float64)
    per_feature = np.ndim(bandwidth) == 1
    n, everything = len(y), slice(0, len(y))
    total = np.zeros(problem.keys.shape[1] if per_feature else 1)
    nearest, empty = np.empty(n), np.empty(n, dtype=bool)
    with np.errstate(**QUIET):
        for rows in slices(0, n, max(1, 2**17 // n)):
            d = distances(problem, rows, everything).astype(np.float64)
            own = own_entries(rows, everything) if leave_one_out else None
            nearest[rows] = nearest_distance(d, own)
            k = relative_kernel(problem, d, nearest[rows], own)
            s = k.sum(axis=1, keepdims=True)
            empty[rows] = s[:, 0] == 0
            f = k @ y / s
            for i, slope in enumerate(_slopes(problem, d, k, rows, own, per_feature)):
                df = (slope @ y - slope.sum(axis=1, keepdims=True) * f) / s
                total[i] += ((y[rows] - f) * df).sum()
    warn_if_empty(empty, nearest, problem)
    gradient = total * (-2 / y.size) + 0.0  # plus 0: no negative zero
    return gradient if per_feature else float(gradient[0])


def _require_derivative(kernel):
    if kernel.name == "boxcar":
        raise ValueError("kernel 'boxcar' has no useful derivative: the error is constant in "
                         "sigma between jumps, where a key enters a window; use select_bandwidth")
    if kernel.derivative is None:
        raise ValueError(f"kernel {kernel.name!r} is a callable of unknown derivative; difference "
                         "leave_one_out_error at sigma * exp(h) and sigma * exp(-h), or use "
                         "select_bandwidth")


def _slopes(problem, d, k, rows, own, per_feature):
    """Yield -u K'(u) of a block of rows, (rows, n), or the share of each feature in it."""
    u = d / problem.sigma
    parts = [u] if not per_feature else _feature_distances(problem, rows)
    if problem.kernel.name == "gaussian":
        hidden = u.copy()
        if own is not None:
            hidden[own] = np.inf
        nearest = hidden.argmin(axis=1)[:, None]
        for part in parts:  # less the nearest key's, which cancels: no square overflows
            base = np.take_along_axis(part, nearest, axis=1)
            yield np.where(k > 0, (part - base) * (part + base) * k, 0)
        return
    slope = -u * problem.kernel.derivative(u)
    if own is not None:
        slope[own] = 0
    for part in parts:
        share = np.divide(part, u, out=np.zeros_like(u), where=u > 0)
        yield slope * share**2


def _feature_distances(problem, rows):
    """Yield the scaled distances along each feature."""
    keys = problem.keys.astype(np.float64)
    for i in range(keys.shape[1]):
        sigma = problem.sigma * (1 if problem.relative is None else problem.relative[i])
        yield np.abs(keys[rows, i, None] - keys[:, i]) / sigma
