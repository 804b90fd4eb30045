"""Attention pooling: weights over the keys, and the weighted mean of the values."""

import warnings
from decimal import ROUND_CEILING, Context, Decimal

import numpy as np

from ._inputs import as_floats, as_keys, as_problem, as_queries, as_values, finite
from ._sums import (distances, gaussian_ratio, kernel_sums, nearest_distance,
                    own_entries, relative_kernel)

__all__ = ["EmptyNeighbourhoodWarning", "PartialPool", "attention_weights",
           "dot_product_weights", "nadaraya_watson"]


class EmptyNeighbourhoodWarning(UserWarning):
    """Some queries have no key in reach: their weights are 0, their estimate is NaN."""


def attention_weights(queries, keys, kernel="gaussian", bandwidth=1.0, *, leave_one_out=False):
    """Return the weight that each query gives to each key."""
    problem, _ = as_problem(queries, keys, kernel, bandwidth, leave_one_out)
    m, n = len(problem.queries), len(problem.keys)
    weights = np.empty((m, n), dtype=problem.dtype)
    nearest = np.full(m, np.inf)
    step = max(1, 2**15 // n)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for top in range(0, m, step):
            rows, columns = slice(top, top + step), slice(0, n)
            d = distances(problem, rows, columns)
            own = own_entries(slice(top, top + len(d)), columns) if leave_one_out else None
            nearest[rows] = nearest_distance(d, own)
            k = relative_kernel(problem, d, nearest[rows], own)
            total = k.sum(axis=1, keepdims=True)
            weights[rows] = k / np.where(total > 0, total, 1)
    empty = ~weights.any(axis=1) & problem.finite
    weights[~problem.finite] = np.nan
    _warn_if_empty(empty, nearest, problem)
    return weights[0] if problem.scalar else weights


def nadaraya_watson(queries, keys, values, kernel="gaussian", bandwidth=1.0, *,
                    leave_one_out=False):
    """Return the weighted mean of the values at each query."""
    problem, values = as_problem(queries, keys, kernel, bandwidth, leave_one_out, values)
    estimate, empty, nearest = estimate_rows(problem, values, leave_one_out)
    _warn_if_empty(empty, nearest, problem)
    return estimate[0] if problem.scalar else estimate


def estimate_rows(problem, values, leave_one_out=False):
    """Return the estimate (m, ...), which rows are empty, and the nearest distances."""
    sums = kernel_sums(problem, values.reshape(len(values), -1), leave_one_out)
    empty = (sums.s == 0) & problem.finite
    estimate = sums.t / np.where(sums.s > 0, sums.s, np.nan)[:, None]
    estimate[~problem.finite] = np.nan
    estimate = estimate.reshape((len(estimate),) + values.shape[1:]).astype(problem.dtype)
    return estimate, empty, sums.nearest


def dot_product_weights(queries, keys, scale=None):
    """Return the softmax over the keys of scale times query . key."""
    scalar = np.ndim(queries) == 0
    keys = as_keys(keys)
    queries = as_queries(queries, keys.shape[1])
    scale = keys.shape[1] ** -0.5 if scale is None else float(scale)
    score = scale * (queries @ keys.T)
    score -= score.max(axis=1, keepdims=True)
    weights = np.exp(score)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights[0] if scalar else weights


def _warn_if_empty(empty, nearest, problem):
    count = np.count_nonzero(empty)
    if not count:
        return
    of = f"{count} of {len(empty)} queries have no key in reach: their estimate is NaN"
    warnings.warn(f"{of}; {_remedy(nearest[empty].max(), problem)}",
                  EmptyNeighbourhoodWarning, stacklevel=3)


def _remedy(distance, problem):
    if np.isinf(distance):
        return "no bandwidth helps, there is no other key"
    if np.isinf(problem.kernel.support):
        return "the kernel returned 0 for every key"
    reach = Decimal(distance)
    up = Context(prec=3, rounding=ROUND_CEILING)
    reach = up.plus(reach)
    while not problem.kernel.profile(np.float64(distance) / np.float64(reach)) > 0:
        reach = up.next_plus(reach)
    if problem.relative is None:
        return f"a bandwidth of {float(reach):g} would reach a key from each of them"
    factor = up.divide(reach, Decimal(problem.sigma))
    return f"bandwidths {float(factor):g} times as large would reach a key from each of them"


class PartialPool:
    """Mergeable partial sums of attention pooling for one set of queries."""

    def __init__(self, queries, kernel="gaussian", bandwidth=1.0):
        self.queries = queries
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.nearest = self.s = self.t = None

    def update(self, keys, values):
        """Add a batch of keys and values; return self."""
        problem, values = as_problem(self.queries, keys, self.kernel, self.bandwidth,
                                     values=values)
        part = PartialPool(self.queries, self.kernel, self.bandwidth)
        sums = kernel_sums(problem, values.reshape(len(values), -1))
        part.nearest, part.s = sums.nearest, sums.s
        part.t = sums.t.reshape((len(sums.t),) + values.shape[1:])
        merged = self.merge(part)
        self.nearest, self.s, self.t = merged.nearest, merged.s, merged.t
        return self

    def merge(self, other):
        """Return the pool of both parts."""
        out = PartialPool(self.queries, self.kernel, self.bandwidth)
        if self.s is None or other.s is None:
            full = other if self.s is None else self
            out.nearest, out.s, out.t = full.nearest, full.s, full.t
            return out
        near = np.minimum(self.nearest, other.nearest)
        if self.kernel == "gaussian":
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                c1 = gaussian_ratio(self.nearest, near, self.bandwidth)
                c2 = gaussian_ratio(other.nearest, near, self.bandwidth)
        else:
            c1 = c2 = np.ones(len(near))
        col = (slice(None),) + (None,) * (self.t.ndim - 1)
        out.nearest = near
        out.s = c1 * self.s + c2 * other.s
        out.t = c1[col] * self.t + c2[col] * other.t
        return out

    def result(self):
        """Return the estimate."""
        col = (slice(None),) + (None,) * (self.t.ndim - 1)
        return self.t / np.where(self.s > 0, self.s, np.nan)[col]
