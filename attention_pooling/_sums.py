"""The engine behind every estimate: sums of K and of K times value, tile by tile.

An estimate is a ratio of two sums over the keys, so no matrix of weights is needed: the
queries and keys are cut into tiles of distances that stay in the processor's cache, each
tile adds to the sums of its queries, and the memory used does not grow with their number.
The Gaussian is taken relative to the nearest key met so far; when a nearer one turns up,
the sums so far shrink by the ratio of the two (the merge law of chapter 5). Keys with one
feature are sorted first, see `_sorted`, so that most tiles are never made; with several
features a Gaussian whose bandwidth is not small takes its scores from a matrix product.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

ROWS, COLUMNS = 64, 512  # a tile of 256 kB in float64: the numbers stay in the L2 cache
QUIET = {"over": "ignore", "under": "ignore", "invalid": "ignore"}  # each is handled below
EXPANDED = 256.0  # the largest squared length, in bandwidths, at which the square is expanded


@dataclass
class Sums:
    """What one pass over the keys leaves of each query.

    For the Gaussian, K is relative to the nearest key: 1 there, at any bandwidth.
    """

    nearest: np.ndarray  # (m,) distance to the nearest key, infinite if there is none
    s: np.ndarray  # (m,) sum of K
    t: np.ndarray  # (m, p) sum of K times value


def kernel_sums(problem, values, leave_one_out=False):
    """Return the `Sums` of all queries over all keys; `values` has shape (n, p)."""
    from ._sorted import sorted_sums

    with np.errstate(**QUIET):
        if problem.keys.shape[1] == 1:
            return sorted_sums(problem, values, leave_one_out)
        return _tiled_sums(problem, values, leave_one_out)


def _tiled_sums(problem, values, leave_one_out):
    if problem.kernel.name == "gaussian" and len(problem.queries):
        queries, keys = _in_bandwidths(problem)
        if (queries**2).sum(axis=1).max() + (keys**2).sum(axis=1).max() <= EXPANDED:
            return _expanded_sums(problem, queries, keys, values, leave_one_out)
    m, n = len(problem.queries), len(problem.keys)
    sums = Sums(np.full(m, np.inf), np.zeros(m), np.zeros((m, values.shape[1])))
    for rows in slices(0, m, ROWS):
        for columns in slices(0, n, COLUMNS):
            d = distances(problem, rows, columns)
            own = own_entries(rows, columns) if leave_one_out else None
            near = np.minimum(sums.nearest[rows], nearest_distance(d, own))
            if problem.kernel.name == "gaussian":
                shrink = gaussian_ratio(sums.nearest[rows], near, problem.sigma)
                sums.s[rows] *= shrink
                sums.t[rows] *= shrink[:, None]
            sums.nearest[rows] = near
            k = relative_kernel(problem, d, near, own)
            sums.s[rows] += k.sum(axis=1)
            sums.t[rows] += k @ values[columns]
    return sums


def _in_bandwidths(problem):
    """Return queries and keys in float64, from the keys' mean and in units of the bandwidth."""
    centre = problem.keys.mean(axis=0, dtype=np.float64)
    unit = problem.sigma * (1.0 if problem.relative is None else problem.relative)
    return (problem.queries - centre) / unit, (problem.keys - centre) / unit


def _expanded_sums(problem, queries, keys, values, leave_one_out):
    """Gaussian sums with the scores q.k - k.k/2, a matrix product: the square, expanded.

    They differ from -|q - k|**2 / 2 by a number of the query, which cancels. Where queries
    and keys are longer than `EXPANDED` allows, the digits would cancel as well.
    """
    m, dtype = len(queries), problem.queries.dtype
    best, at = np.full(m, -np.inf), np.zeros(m, dtype=int)
    sums = Sums(np.full(m, np.inf), np.zeros(m), np.zeros((m, values.shape[1])))
    halves = (keys**2).sum(axis=1) / 2
    for rows in slices(0, m, ROWS):
        for columns in slices(0, len(keys), COLUMNS):
            score = queries[rows] @ keys[columns].T
            score -= halves[columns]
            if leave_one_out:
                score[own_entries(rows, columns)] = -np.inf
            first = score.argmax(axis=1)
            top = np.take_along_axis(score, first[:, None], axis=1)[:, 0]
            at[rows] = np.where(top > best[rows], first + columns.start, at[rows])
            top = np.maximum(top, best[rows])
            shrink = np.exp(best[rows] - top, where=np.isfinite(top), out=np.zeros(len(top)))
            best[rows] = top
            score -= np.where(np.isfinite(top), top, 0)[:, None]
            k = score.astype(dtype, copy=False)
            np.exp(k, out=k)
            sums.s[rows] = sums.s[rows] * shrink + k.sum(axis=1)
            sums.t[rows] = sums.t[rows] * shrink[:, None] + k @ values[columns]
    met = np.isfinite(best)
    unit = 1.0 if problem.relative is None else problem.relative
    gaps = (problem.queries[met] - problem.keys[at[met]]) / unit
    sums.nearest[met] = np.sqrt((gaps**2).sum(axis=1))
    return sums


def as_columns(array):
    """Return `array` of shape (n, ...) in shape (n, p)."""
    return array.reshape(len(array), prod(array.shape[1:]))


def slices(start, stop, step):
    """Yield the slices of at most `step` that cover start ... stop."""
    for first in range(start, stop, step):
        yield slice(first, min(first + step, stop))


def distances(problem, rows, columns):
    """Return the distances of a tile, (rows, columns), in the units of the keys."""
    queries, keys = problem.queries[rows], problem.keys[columns]
    if keys.shape[1] == 1:
        d = queries - keys[:, 0]
        return np.abs(d, out=d)
    largest = max(np.abs(queries).max(initial=0), np.abs(keys).max())
    squares_fit = largest < 1e150 and problem.sigma > 1e-140  # none overflows or vanishes
    total = np.zeros((len(queries), len(keys)), dtype=keys.dtype)
    for feature, column in enumerate(keys.T):
        gap = queries[:, feature, None] - column
        if problem.relative is not None:
            gap /= problem.relative[feature]
        if squares_fit:
            gap *= gap
            total += gap
        else:
            np.hypot(total, gap, out=total)
    return np.sqrt(total, out=total) if squares_fit else total


def own_entries(rows, columns):
    """Return the indices (i, j) of a tile where query and key are the same sample."""
    same = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
    return same - rows.start, same - columns.start


def nearest_distance(d, own=None):
    """Return the smallest distance of each row, leaving out the own key."""
    if own is None:
        return d.min(axis=1)
    kept = d[own]
    d[own] = np.inf
    near = d.min(axis=1)
    d[own] = kept
    return near


def relative_kernel(problem, d, near, own=None):
    """Return K of a tile of distances: 0 for the own key, the Gaussian 1 at `near`."""
    if problem.kernel.name == "gaussian":
        if own is None:
            return gaussian_ratio(d, near[:, None], problem.sigma)
        kept = d[own]
        d[own] = np.inf  # nearer than `near`: its ratio could overflow
        k = gaussian_ratio(d, near[:, None], problem.sigma)
        d[own] = kept
        return k
    k = problem.kernel.profile(d / d.dtype.type(problem.sigma))
    if own is not None:
        k = np.array(k)
        k[own] = 0
    return k


def gaussian_ratio(d, near, sigma):
    """Return K(d) / K(near) for the Gaussian: 1 at d = near, finite for every sigma > 0.

    The score -(d**2 - near**2) / (2 sigma**2) is taken in factors. Each square alone may
    overflow, and the difference of two infinities would be NaN.
    """
    sigma = d.dtype.type(sigma)
    near = np.where(np.isinf(near), 0, near).astype(d.dtype)
    score = (d - near) / sigma
    score *= (d + near) / sigma
    score *= -0.5
    if np.isinf(2 * near.max(initial=0) / sigma):
        score[d == near] = 0  # here 0 times infinity
    return np.exp(score, out=score)
