"""Kernel sums in blocks: the one engine behind every estimate."""

from dataclasses import dataclass

import numpy as np

ROWS, COLUMNS = 64, 512  # a tile of distances that stays in the processor's cache


@dataclass
class Sums:
    """Per query: nearest distance, sum of K, and sum of K times value.

    For the Gaussian, K is taken relative to the nearest key.
    """

    nearest: np.ndarray  # (m,)
    s: np.ndarray  # (m,)
    t: np.ndarray  # (m, p)


def kernel_sums(problem, values, leave_one_out=False):
    """Return the `Sums` of all queries over all keys; values have shape (n, p)."""
    m, n = len(problem.queries), len(problem.keys)
    sums = Sums(np.full(m, np.inf), np.zeros(m), np.zeros((m, values.shape[1])))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for top in range(0, m, ROWS):
            for left in range(0, n, COLUMNS):
                rows, columns = slice(top, top + ROWS), slice(left, left + COLUMNS)
                _add_tile(sums, rows, columns, problem, values, leave_one_out)
    return sums


def _add_tile(sums, rows, columns, problem, values, leave_one_out):
    d = distances(problem, rows, columns)
    own = own_entries(rows, columns, d.shape) if leave_one_out else None
    near = np.minimum(sums.nearest[rows], nearest_distance(d, own))
    if problem.kernel.name == "gaussian":
        shrink = np.exp(gaussian_score(sums.nearest[rows, None], near[:, None], problem.sigma))
        sums.s[rows] *= shrink[:, 0]
        sums.t[rows] *= shrink
    k = relative_kernel(d, near, own, problem)
    sums.nearest[rows] = near
    sums.s[rows] += k.sum(axis=1)
    sums.t[rows] += k @ values[columns]


def distances(problem, rows, columns):
    """Return the distances of a tile, (rows, columns), in the units of the keys."""
    queries, keys = problem.queries[rows], problem.keys[columns]
    if queries.shape[1] == 1:
        return np.abs(queries - keys[:, 0])
    largest = max(np.abs(queries).max(initial=0), np.abs(keys).max())
    safe = largest < 1e150 and problem.sigma > 1e-140  # squares neither overflow nor vanish
    total = np.zeros((len(queries), len(keys)), dtype=keys.dtype)
    for feature in range(keys.shape[1]):
        gap = queries[:, feature, None] - keys[:, feature]
        if problem.relative is not None:
            gap /= problem.relative[feature]
        if safe:
            gap *= gap
            total += gap
        else:
            np.hypot(total, gap, out=total)
    return np.sqrt(total, out=total) if safe else total


def own_entries(rows, columns, shape):
    """Return the tile's indices (i, j) at which query and key are the same sample."""
    first = max(rows.start, columns.start)
    last = min(rows.start + shape[0], columns.start + shape[1])
    index = np.arange(first, max(first, last))
    return index - rows.start, index - columns.start


def nearest_distance(d, own):
    """Return each row's smallest distance, the own key left out."""
    if own is None:
        return d.min(axis=1)
    kept = d[own]
    d[own] = np.inf
    near = d.min(axis=1)
    d[own] = kept
    return near


def relative_kernel(d, near, own, problem):
    """Return K of a tile of distances; the Gaussian is 1 at distance `near`."""
    if problem.kernel.name == "gaussian":
        score = gaussian_score(d, near[:, None], problem.sigma)
        if own is not None:
            score[own] = -np.inf  # nearer than `near`: its exponential could overflow
        return np.exp(score)
    k = problem.kernel.profile(d / d.dtype.type(problem.sigma))
    if own is not None:
        k[own] = 0
    return k


def gaussian_score(d, near, sigma):
    """Return log K(d) - log K(near), factored so that nothing overflows to NaN."""
    near = np.where(np.isinf(near), 0, near).astype(d.dtype)
    sigma = d.dtype.type(sigma)
    score = (d - near) / sigma * ((d + near) / sigma)
    score *= -0.5
    score[np.broadcast_to(d == near, score.shape)] = 0
    return score
