"""Sums for keys with one feature: sort first, then touch only the keys that matter.

1. Sorted keys give each query its nearest key by bisection, and its *window*: the keys
   whose weight is not lost in rounding. A compact kernel reaches sigma. For the Gaussian a
   key at distance d weighs exp(-L) of the nearest one when d**2 = near**2 + 2 L sigma**2;
   with L = log(n / e) all keys farther out together weigh less than e of the nearest key
   alone, so leaving them out moves an estimate by less than 2 e max|value|, where e is a
   quarter of the rounding unit: 1.1e-16 max|value| in float64.
2. *Tiles* of neighbouring queries and the union of their windows are summed directly.
3. Where many pairs remain, exp is the cost, and Gaussian sums take it once per key and
   query instead of once per pair: keys are gathered in *cells* of a quarter sigma, and with
   x = (q - c) / sigma, z = (k - c) / sigma for the centre c of a cell,

       exp(-(x - z)**2 / 2) = exp(-x**2 / 2) * sum_p x**p * (exp(-z**2 / 2) * z**p / p!)

   so that a cell is known by the sums of the bracket over its keys: the Taylor form of the
   fast Gauss transform (Greengard and Strain 1991). Here |z| <= 1/8 and |x| < 10.5, so
   |x z| < 1.32 and 20 terms leave out less than 4e-16 of any weight (12 terms and
   |x z| < 1.05: 3e-8 in float32). Queries farther than sigma from every key stay with
   tiles: their weights need the nearest key as reference.
"""

from math import factorial, log, sqrt

import numpy as np

from ._sums import COLUMNS, ROWS, Sums, gaussian_ratio, relative_kernel, slices

CELL = {np.dtype(np.float64): 0.25, np.dtype(np.float32): 0.5}  # width in units of sigma
TERMS = {np.dtype(np.float64): 21, np.dtype(np.float32): 17}
CHUNK = 2048  # points at a time whose terms stay in the L2 cache
PAIRS_PER_CELL = 20_000  # with fewer pairs than this to a cell, tiles are faster


def sorted_sums(problem, values, leave_one_out):
    """Return the `Sums` of all queries over all keys for keys with one feature."""
    if problem.kernel.name == "constant":
        return _constant_sums(problem, values, leave_one_out)
    one = _Sorted(problem, values, leave_one_out)
    if one.worth_cells():
        one.add_cells()
    one.add_tiles()
    return one.unsorted()


def _constant_sums(problem, values, leave_one_out):
    """Every key counts 1 for every query."""
    m, n = len(problem.queries), len(problem.keys)
    total = values.sum(axis=0, dtype=np.float64)
    s, t = np.full(m, float(n)), np.tile(total, (m, 1))
    if leave_one_out:
        s, t = s - 1, (t - values) * (n > 1)
    return Sums(np.where(s > 0, 0.0, np.inf), s, t)


class _Sorted:
    """Sorted queries and keys, the window of each query, and the sums so far."""

    def __init__(self, problem, values, leave_one_out):
        keys, queries = problem.keys[:, 0], problem.queries[:, 0]
        key_order, self.order = np.argsort(keys), np.argsort(queries)
        self.problem, self.sigma = problem, problem.sigma
        self.keys, self.values = keys[key_order], values[key_order]
        self.queries = queries[self.order]
        self.own = None
        if leave_one_out:  # where the key of the same sample has gone
            self.own = np.empty_like(key_order)
            self.own[key_order] = np.arange(len(keys))
            self.own = self.own[self.order]
        self.near = self._nearest()
        self.first, self.last = self._window()
        self.todo = np.ones(len(queries), dtype=bool)
        self.s = np.zeros(len(queries))
        self.t = np.zeros((len(queries), values.shape[1]))

    def _nearest(self):
        """Two keys on either side hold the nearest one, the own key left out."""
        place = np.searchsorted(self.keys, self.queries)
        candidates = np.clip(place[:, None] + np.arange(-2, 2), 0, len(self.keys) - 1)
        d = np.abs(self.queries[:, None] - self.keys[candidates])
        if self.own is not None:
            d[candidates == self.own[:, None]] = np.inf
        return d.min(axis=1)

    def _reach(self):
        """How far a key may be from each query and still count."""
        if self.problem.kernel.name == "gaussian":
            return np.hypot(self.near.astype(np.float64), self.sigma * self._cut())
        return self.sigma * self.problem.kernel.support

    def _cut(self):
        return sqrt(2 * log(4 * len(self.keys) / np.finfo(self.keys.dtype).eps))

    def _window(self):
        """First key of each window and first key behind it, wide enough for rounding."""
        queries, reach = self.queries.astype(np.float64), self._reach()
        reach = reach + 8 * np.finfo(self.keys.dtype).eps * (np.abs(queries) + reach)
        return (np.searchsorted(self.keys, queries - reach, side="left"),
                np.searchsorted(self.keys, queries + reach, side="right"))

    def worth_cells(self):
        """Say whether cells of keys save work, and cut the cells if so."""
        if self.problem.kernel.name != "gaussian" or not 1e-100 < self.sigma < 1e100:
            return False
        cell = np.floor((self.keys - self.keys[0]) / (CELL[self.keys.dtype] * self.sigma))
        self.starts = np.flatnonzero(np.diff(cell, prepend=-1))
        return int((self.last - self.first).sum()) > PAIRS_PER_CELL * len(self.starts)

    def add_cells(self):
        """Add all keys to the queries that have a key within sigma."""
        ready = np.flatnonzero(self.near <= self.sigma)
        queries, sigma = self.queries[ready], self.queries.dtype.type(self.sigma)
        s, t = np.zeros(len(ready)), np.zeros((len(ready), self.values.shape[1]))
        reach = (sqrt(1 + self._cut() ** 2) + CELL[self.keys.dtype]) * self.sigma
        for start, stop in zip(self.starts, [*self.starts[1:], len(self.keys)]):
            centre = (self.keys[start] + self.keys[stop - 1]) / 2
            first, last = np.searchsorted(queries, [centre - reach, centre + reach])
            if first == last:
                continue
            count, moments = self._moments(slice(start, stop), centre)
            for rows in slices(first, last, CHUNK):
                terms = _terms((queries[rows] - centre) / sigma)
                s[rows] += count @ terms
                t[rows] += terms.T @ moments
        self.s[ready], self.t[ready] = s, t
        if self.own is not None:
            self._take_out_own(ready)
        self._refer_to_nearest(ready)
        self.todo[ready] = False

    def _moments(self, cell, centre):
        """Return the sums over the keys of a cell that stand for it, (P,) and (P, p)."""
        count, moments = 0, 0
        for part in slices(cell.start, cell.stop, CHUNK):
            terms = _terms((self.keys[part] - centre) / self.queries.dtype.type(self.sigma))
            count = count + terms.sum(axis=1)
            moments = moments + terms @ self.values[part]
        divisor = np.array([factorial(p) for p in range(len(count))], dtype=np.float64)
        return ((count / divisor).astype(self.keys.dtype),
                (moments / divisor[:, None]).astype(self.keys.dtype))

    def _take_out_own(self, ready):
        """Subtract the own key; another one within sigma keeps the digits."""
        own = self.own[ready]
        d = np.abs(self.queries[ready] - self.keys[own]).astype(np.float64)
        k = np.exp(-0.5 * (d / self.sigma) ** 2)
        self.s[ready] -= k
        self.t[ready] -= k[:, None] * self.values[own]

    def _refer_to_nearest(self, rows):
        back = np.exp(0.5 * (self.near[rows].astype(np.float64) / self.sigma) ** 2)
        self.s[rows] *= back
        self.t[rows] *= back[:, None]

    def add_tiles(self):
        """Add every key of the windows to the queries that no cell has served."""
        todo = np.flatnonzero(self.todo)
        for block in slices(0, len(todo), ROWS):
            rows = todo[block]
            near = self.near[rows]
            for columns in slices(self.first[rows].min(), self.last[rows].max(), COLUMNS):
                d = self.queries[rows, None] - self.keys[columns]
                np.abs(d, out=d)
                k = relative_kernel(self.problem, d, near, self._own_entries(rows, columns))
                self.s[rows] += k.sum(axis=1)
                self.t[rows] += k @ self.values[columns]

    def _own_entries(self, rows, columns):
        if self.own is None:
            return None
        i = np.flatnonzero((self.own[rows] >= columns.start) & (self.own[rows] < columns.stop))
        return i, self.own[rows][i] - columns.start

    def unsorted(self):
        """Return the sums in the order of the queries."""
        back = np.empty_like(self.order)
        back[self.order] = np.arange(len(self.order))
        return Sums(self.near[back].astype(np.float64), self.s[back], self.t[back])


def _terms(x):
    """Return exp(-x**2 / 2) * x**p for p = 0, 1, ..., shape (P, len(x))."""
    count = TERMS[x.dtype]
    terms = np.empty((count, len(x)), dtype=x.dtype)
    np.exp(-0.5 * x * x, out=terms[0])
    for p in range(1, count):
        np.multiply(terms[p - 1], x, out=terms[p])
    return terms
