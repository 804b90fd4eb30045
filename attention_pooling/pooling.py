"""Attention pooling: weights over the keys, and the weighted mean of the values.

A query compares itself with every key; the kernel turns distances into weights that sum to
1; the estimate is the weighted mean of the values (Nadaraya 1964, Watson 1964).
"""

import warnings
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal

import numpy as np

from ._inputs import as_floats, as_keys, as_problem, as_queries, as_values
from ._sums import (
    QUIET,
    Sums,
    as_columns,
    distances,
    gaussian_ratio,
    kernel_sums,
    nearest_distance,
    own_entries,
    relative_kernel,
    slices,
)

__all__ = [
    "EmptyNeighbourhoodWarning",
    "PartialPool",
    "attention_weights",
    "dot_product_weights",
    "nadaraya_watson",
]


class EmptyNeighbourhoodWarning(UserWarning):
    """Some queries have no key in reach: their weights are 0, their estimate is NaN."""


def attention_weights(queries, keys, kernel="gaussian", bandwidth=1.0, *, leave_one_out=False):
    """Return the weight that each query gives to each key.

    Parameters
    ----------
    queries : array_like of float, shape (m,) or (m, d), or a scalar
        Points at which to attend, in the units of `keys`; (m,) means one feature.
    keys : array_like of float, shape (n,) or (n, d)
        Points to attend to.
    kernel : str or callable, default "gaussian"
        A name in `KERNELS`, or a profile K(u) >= 0 that maps an array of scaled distances
        u >= 0 to an array of the same shape.
    bandwidth : float or array_like of float, shape (d,), default 1.0
        Bandwidth sigma > 0 in the units of `keys`: the standard deviation of the Gaussian,
        the half-width of the compact kernels. One for all features, or one per feature.
    leave_one_out : bool, default False
        Give key i no weight for query i; needs as many queries as keys.

    Returns
    -------
    ndarray of float, shape (m, n), or (n,) for a scalar query
        Each row sums to 1; or is all 0 where no key is in reach; or is NaN where the query
        is not finite. float32 if queries and keys are, else float64.

    Raises
    ------
    ValueError
        If shapes do not fit, keys are empty or not finite, the bandwidth is not finite
        and positive, the kernel is unknown, or a callable returns negative or non-finite
        numbers.

    Warns
    -----
    EmptyNeighbourhoodWarning
        If some query has no key in reach.

    Notes
    -----
    :math:`w_{ij} = K(u_{ij}) / \\sum_l K(u_{il})` with
    :math:`u_{ij} = \\lVert q_i - k_j \\rVert / \\sigma`. For the Gaussian this is a softmax of
    the scores :math:`-(d_{ij} - d_i)(d_{ij} + d_i) / (2\\sigma^2)` relative to the nearest key
    at distance :math:`d_i`, finite at every bandwidth. Chapter 2 derives the weights.
    With one bandwidth per feature, feature i is divided by its own.

    Examples
    --------
    >>> attention_weights([0.0, 3.0], [0.0, 1.0, 2.0], "boxcar", 1.0).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    problem, _ = as_problem(queries, keys, kernel, bandwidth, leave_one_out)
    m, n = len(problem.queries), len(problem.keys)
    weights = np.empty((m, n), dtype=problem.dtype)
    nearest, empty = np.empty(m), np.empty(m, dtype=bool)
    everything = slice(0, n)
    with np.errstate(**QUIET):
        for rows in slices(0, m, max(1, 2**15 // n)):
            d = distances(problem, rows, everything)
            own = own_entries(rows, everything) if leave_one_out else None
            nearest[rows] = nearest_distance(d, own)
            k = relative_kernel(problem, d, nearest[rows], own)
            total = k.sum(axis=1, keepdims=True)
            empty[rows] = total[:, 0] == 0
            weights[rows] = k / np.where(total > 0, total, 1)
    weights[~problem.finite] = np.nan
    warn_if_empty(empty & problem.finite, nearest, problem)
    return weights[0] if problem.scalar else weights


def nadaraya_watson(queries, keys, values, kernel="gaussian", bandwidth=1.0, *,
                    leave_one_out=False):
    """Return the weighted mean of the values at each query.

    Parameters
    ----------
    queries : array_like of float, shape (m,) or (m, d), or a scalar
        Points at which to estimate, in the units of `keys`; (m,) means one feature.
    keys : array_like of float, shape (n,) or (n, d)
        Points at which values are known.
    values : array_like of float, shape (n, ...)
        Value of each key; any trailing shape, for example one-hot rows for classes.
    kernel : str or callable, default "gaussian"
        A name in `KERNELS`, or a profile K(u) >= 0 that maps an array of scaled distances
        u >= 0 to an array of the same shape.
    bandwidth : float or array_like of float, shape (d,), default 1.0
        Bandwidth sigma > 0 in the units of `keys`; one for all features, or one per feature.
    leave_one_out : bool, default False
        Give key i no weight for query i; needs as many queries as keys.

    Returns
    -------
    ndarray of float, shape (m, ...), or (...) for a scalar query
        Estimates in the units of `values`; NaN where no key is in reach or the query is
        not finite. float32 if queries, keys and values are, else float64.

    Raises
    ------
    ValueError
        As `attention_weights`; also if values are not finite or not one per key.

    Warns
    -----
    EmptyNeighbourhoodWarning
        If some query has no key in reach.

    Notes
    -----
    :math:`f(q) = \\sum_j K(u_j)\\, v_j / \\sum_l K(u_l)` [1]_ [2]_, the estimator that chapter 2
    derives. The sums are taken in blocks: beside inputs and answer the memory used does not
    grow with m times n. With one feature, weights below rounding are never computed; that
    moves the estimate by less than 1e-15 max|values|.

    References
    ----------
    .. [1] E. A. Nadaraya, "On estimating regression", Theory of Probability & Its
       Applications 9, 1964.
    .. [2] G. S. Watson, "Smooth regression analysis", Sankhya A 26, 1964.

    Examples
    --------
    >>> nadaraya_watson([0.5, 1.5], [0.0, 1.0, 2.0], [10, 20, 30], bandwidth=0.01).tolist()
    [15.0, 25.0]
    """
    problem, values = as_problem(queries, keys, kernel, bandwidth, leave_one_out, values)
    estimate, empty, nearest = estimate_rows(problem, values, leave_one_out)
    warn_if_empty(empty, nearest, problem)
    return estimate[0] if problem.scalar else estimate


def estimate_rows(problem, values, leave_one_out=False):
    """Return the estimates (m, ...), which rows are empty, and the nearest distances."""
    largest = float(np.abs(values).max(initial=0))
    scale = 2.0**-64 if largest > 1e280 else 1.0  # a sum of such values would overflow
    sums = kernel_sums(problem, as_columns(values) * values.dtype.type(scale),
                       leave_one_out)
    estimate = _divide(sums, problem.finite) / scale
    shape = (len(estimate), *values.shape[1:])
    empty = (sums.s == 0) & problem.finite
    return estimate.reshape(shape).astype(problem.dtype), empty, sums.nearest


def _divide(sums, finite_rows):
    """Return t / s, shape (m, p); NaN where s is 0 or the query is not finite."""
    usable = (sums.s > 0) & finite_rows
    return sums.t / np.where(usable, sums.s, np.nan)[:, None]


def dot_product_weights(queries, keys, scale=None):
    """Return the softmax over the keys of scaled dot products.

    Parameters
    ----------
    queries : array_like of float, shape (m,) or (m, d), or a scalar
        Vectors that attend; (m,) means one feature.
    keys : array_like of float, shape (n,) or (n, d)
        Vectors attended to.
    scale : float, optional
        Factor of the products; 1 / sqrt(d) by default, as in the Transformer.

    Returns
    -------
    ndarray of float, shape (m, n), or (n,) for a scalar query
        Each row sums to 1, or is NaN where the query is not finite. float32 if queries
        and keys are, else float64.

    Raises
    ------
    ValueError
        If shapes do not fit, keys are empty or not finite, the scale is not a finite
        number, or a product overflows.

    Notes
    -----
    :math:`w_{ij} = \\operatorname{softmax}_j(q_i^\\top k_j / \\sqrt d)` [1]_. With keys of equal
    length these are the Gaussian weights at :math:`\\sigma^2 = \\sqrt d`: chapter 4.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", NeurIPS 2017.

    Examples
    --------
    >>> dot_product_weights([[0.0, 0.0]], [[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[0.5, 0.5]]
    """
    keys = as_keys(keys)
    queries, scalar = as_queries(queries, keys.shape[1])
    if scale is None:
        scale = keys.shape[1] ** -0.5
    scale = as_floats("scale", scale)
    if scale.ndim or not np.isfinite(scale):
        raise ValueError(f"scale must be one finite number, got {scale}")
    single = queries.dtype == keys.dtype == np.float32
    finite_rows = np.isfinite(queries).all(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        score = np.where(finite_rows[:, None], queries, 0) @ keys.T
        score = score * score.dtype.type(scale)
    if not np.isfinite(score).all():
        raise ValueError("queries and keys must have finite products, got an overflow; "
                         "divide them by a common factor")
    weights = np.exp(score - score.max(axis=1, keepdims=True, initial=-np.inf))
    weights /= weights.sum(axis=1, keepdims=True)
    weights[~finite_rows] = np.nan
    weights = weights.astype(np.float32 if single else np.float64, copy=False)
    return weights[0] if scalar else weights


class PartialPool:
    """Mergeable partial sums of attention pooling for one set of queries.

    Keys and values may come in parts, in any order, on any machine: each part is summed on
    its own, the parts are merged, and the quotient is taken last.

    Parameters
    ----------
    queries : array_like of float, shape (m,) or (m, d), or a scalar
        Points at which to estimate.
    kernel : str or callable, default "gaussian"
        As in `nadaraya_watson`.
    bandwidth : float or array_like of float, shape (d,), default 1.0
        As in `nadaraya_watson`, in the units of the keys.

    Attributes
    ----------
    m : ndarray of float, shape (m,)
        Reference score of each query: that of its nearest key for the Gaussian, 0 for the
        other kernels; minus infinity while no key has been in reach.
    s : ndarray of float, shape (m,)
        Sum of exp(score - m) over the keys so far.
    t : ndarray of float, shape (m, ...)
        Sum of exp(score - m) times value.

    Raises
    ------
    ValueError
        If queries, kernel or bandwidth are not usable.

    Notes
    -----
    The merge law is that of the online softmax [1]_, derived in chapter 5:
    :math:`m = \\max(m_1, m_2)`, :math:`s = c_1 s_1 + c_2 s_2`, :math:`t = c_1 t_1 + c_2 t_2` with
    :math:`c_i = e^{m_i - m}`, and :math:`c_i = 0` where :math:`m_i = -\\infty`; the identity is
    :math:`(-\\infty, 0, 0)`. It is commutative bit for bit and associative up to rounding.
    The Gaussian keeps the nearest *distance* as its state, because the score overflows when
    the distance is squared, and a part must not look empty for that. A part cannot be
    taken out again: subtraction would lose its digits. Values of magnitude v need
    v times the number of keys to be below 1e308.

    References
    ----------
    .. [1] M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax",
       arXiv:1805.02867, 2018.

    Examples
    --------
    >>> left = PartialPool([0.5], "boxcar").update([0.0], [10.0])
    >>> left.merge(PartialPool([0.5], "boxcar").update([1.0], [20.0])).result().tolist()
    [15.0]
    """

    def __init__(self, queries, kernel="gaussian", bandwidth=1.0):
        self.queries = np.array(as_floats("queries", queries))
        self.kernel = kernel
        self.bandwidth = np.array(bandwidth, dtype=np.float64) if np.ndim(bandwidth) else bandwidth
        problem, _ = as_problem(self.queries, self._any_key(), kernel, bandwidth)
        m = len(problem.queries)
        self._finite, self._scalar = problem.finite, problem.scalar
        self._problem = replace(problem, queries=None, keys=None)  # light to send around
        self._reference = np.full(m, np.inf)  # distance to the nearest key
        self.s, self.t = np.zeros(m), None  # t has no shape before the first values
        self._dtype = np.dtype(np.float32)  # until something comes in float64

    @classmethod
    def from_scores(cls, scores, values):
        """Return the pool of one part that is given by its scores.

        Parameters
        ----------
        scores : array_like of float, shape (m, n)
            Score of each key for each query; minus infinity masks a key.
        values : array_like of float, shape (n, ...)
            Value of each key.

        Returns
        -------
        PartialPool
            A pool without kernel: merge it with others of its kind.

        Raises
        ------
        ValueError
            If a score is NaN or plus infinity, or shapes do not fit.

        Examples
        --------
        >>> PartialPool.from_scores([[0.0, 0.0]], [10.0, 20.0]).result().tolist()
        [15.0]
        """
        given = scores = as_floats("scores", scores)
        if scores.ndim != 2:
            raise ValueError(f"scores must have shape (queries, keys), got {scores.shape}")
        if np.isnan(scores).any() or np.isposinf(scores).any():
            raise ValueError("scores must be finite, or minus infinity to mask a key; "
                             "got NaN or plus infinity")
        values = as_values(values, scores.shape[1])
        pool = cls.__new__(cls)
        pool.queries = pool.kernel = pool.bandwidth = pool._problem = None
        pool._finite, pool._scalar = np.ones(len(scores), dtype=bool), False
        pool._dtype = np.result_type(given.dtype, values.dtype)
        scores = scores.astype(np.float64, copy=False)
        pool._reference = scores.max(axis=1, initial=-np.inf)
        weights = _score_ratio(scores, pool._reference[:, None])
        pool.s = weights.sum(axis=1)
        pool.t = np.tensordot(weights, values.astype(np.float64, copy=False), axes=1)
        return pool

    @property
    def m(self):
        """Reference score of each query; minus infinity while no key is in reach."""
        if self.kernel is None:
            return self._reference
        with np.errstate(over="ignore"):
            score = -0.5 * (self._reference / self._problem.sigma) ** 2
        gaussian = self._problem.kernel.name == "gaussian"
        return score if gaussian else np.where(self.s > 0, 0.0, -np.inf)

    def update(self, keys, values):
        """Add keys and their values, and return this pool.

        Parameters
        ----------
        keys : array_like of float, shape (n,) or (n, d)
            More keys; none is allowed.
        values : array_like of float, shape (n, ...)
            Their values, with the trailing shape of those before.

        Returns
        -------
        PartialPool
            This pool, changed in place.

        Raises
        ------
        ValueError
            As `nadaraya_watson`; or if the pool was made from scores, the trailing shape
            changes, or the sums overflow.

        Examples
        --------
        >>> PartialPool(0.5).update([0.0], [10.0]).update([1.0], [20.0]).result().item()
        15.0
        """
        if self.kernel is None:
            raise ValueError("keys cannot be added to a pool made from scores; merge it with "
                             "PartialPool.from_scores(scores, values)")
        part = self._empty_copy()
        if np.size(keys) == 0:
            values = as_values(values, 0)
            part.t = np.zeros((len(part.s), *values.shape[1:]))
        else:
            part._sum(keys, values)
        self.__dict__.update(self.merge(part).__dict__)
        return self

    def merge(self, other):
        """Return a new pool that holds the keys of both.

        Parameters
        ----------
        other : PartialPool
            A pool of the same queries, kernel and bandwidth.

        Returns
        -------
        PartialPool
            The same, bit for bit, whichever of the two merges the other.

        Raises
        ------
        ValueError
            If queries, kernel, bandwidth or the trailing shape of the values differ.

        Examples
        --------
        >>> empty = PartialPool(0.5)
        >>> empty.merge(PartialPool(0.5).update([0.0], [7.0])).result().item()
        7.0
        """
        self._require_same_kind(other)
        out = self._empty_copy()
        pick = np.maximum if self.kernel is None else np.minimum
        out._reference = pick(self._reference, other._reference)
        mine, theirs = self._shrink_to(out._reference), other._shrink_to(out._reference)
        out.s = mine * self.s + theirs * other.s
        out._dtype = np.promote_types(self._dtype, other._dtype)
        if self.t is None or other.t is None:
            out.t = other.t if self.t is None else self.t
        else:
            tail = (slice(None),) + (None,) * (self.t.ndim - 1)
            out.t = mine[tail] * self.t + theirs[tail] * other.t
        return out

    def result(self):
        """Return the estimate over all keys so far.

        Returns
        -------
        ndarray of float, shape (m, ...), or (...) for a scalar query
            As `nadaraya_watson` over the union of the parts; shape (m,) before any values.

        Warns
        -----
        EmptyNeighbourhoodWarning
            If some query has had no key in reach.

        Examples
        --------
        >>> PartialPool([0.0]).update([1.0, 2.0], [[1, 0], [1, 0]]).result().tolist()
        [[1.0, 0.0]]
        """
        t = np.zeros(len(self.s)) if self.t is None else self.t
        sums = Sums(self._reference, self.s, as_columns(t))
        estimate = _divide(sums, self._finite).reshape(t.shape).astype(self._dtype)
        empty = (self.s == 0) & self._finite
        warn_if_empty(empty, self._reference, self._problem)
        return estimate[0] if self._scalar else estimate

    def _any_key(self):
        """Return one key with the features of the queries, to check the inputs with."""
        return np.zeros((1, *self.queries.shape[1:]), dtype=self.queries.dtype)

    def _empty_copy(self):
        out = object.__new__(type(self))
        out.__dict__.update(self.__dict__)
        out._reference = np.full(len(self.s), np.inf)
        out.s, out.t, out._dtype = np.zeros(len(self.s)), None, np.dtype(np.float32)
        return out

    def _sum(self, keys, values):
        """Fill this empty pool from one batch."""
        problem, values = as_problem(self.queries, keys, self.kernel, self.bandwidth,
                                     values=values)
        sums = kernel_sums(problem, as_columns(values))
        self._reference, self.s = sums.nearest, sums.s
        self.t = sums.t.reshape(len(sums.t), *values.shape[1:])
        self._dtype = np.dtype(problem.dtype)
        if not np.isfinite(self.t).all():
            raise ValueError("values must keep their sum below 1e308; use a larger unit")

    def _shrink_to(self, reference):
        """Return the factor c that refers the sums to another reference."""
        if self.kernel is None:
            return _score_ratio(self._reference, reference)
        if self._problem.kernel.name == "gaussian":
            with np.errstate(**QUIET):
                return gaussian_ratio(self._reference, reference, self._problem.sigma)
        return np.ones(len(reference))

    def _require_same_kind(self, other):
        if not isinstance(other, PartialPool):
            raise ValueError(f"other must be a PartialPool, got {type(other).__name__}")
        if (self.kernel is None) != (other.kernel is None) or len(self.s) != len(other.s):
            raise ValueError("other must be a pool of the same queries and of the same kind")
        if self.kernel is not None:
            if self.queries is not other.queries and not np.array_equal(
                self.queries, other.queries, equal_nan=True
            ):
                raise ValueError("other must have the same queries; build both pools from one array")
            if _identity(self.kernel) != _identity(other.kernel):
                raise ValueError(f"other must have kernel {self.kernel!r}, got {other.kernel!r}")
            if not np.array_equal(self.bandwidth, other.bandwidth):
                raise ValueError(f"other must have bandwidth {self.bandwidth}, "
                                 f"got {other.bandwidth}")
        if self.t is not None and other.t is not None and self.t.shape != other.t.shape:
            raise ValueError(f"values must keep the trailing shape {self.t.shape[1:]}, "
                             f"got {other.t.shape[1:]}")


def _score_ratio(score, reference):
    """Return exp(score - reference), 0 where the score is minus infinity."""
    masked = np.isneginf(score)
    return np.where(masked, 0.0, np.exp(np.where(masked, 0.0, score)
                                        - np.where(masked, 0.0, reference)))


def _identity(kernel):
    """Return what makes two kernels the same; a copy sent to another process is the same."""
    if isinstance(kernel, str):
        return kernel
    return getattr(kernel, "__code__", type(kernel))


def warn_if_empty(empty, nearest, problem):
    """Warn once, from the caller's caller, if any row is empty; say what would help."""
    count = np.count_nonzero(empty)
    if count:
        verb = "has" if count == 1 else "have"
        warnings.warn(
            f"{count} of {len(empty)} queries {verb} no key in reach, the estimate there is NaN "
            f"and all weights are 0; {_remedy(nearest[empty].max(), problem)}",
            EmptyNeighbourhoodWarning, stacklevel=3,
        )


def _remedy(distance, problem):
    if problem is None:
        return "every score is minus infinity"
    if np.isinf(distance):
        return "there is no other key, so no bandwidth helps"
    if np.isinf(problem.kernel.support):
        return "the kernel returned 0 for every key"
    three_digits = Context(prec=3, rounding=ROUND_CEILING)
    reach = three_digits.plus(Decimal(float(distance)))
    while not problem.kernel.profile(float(distance) / float(reach)) > 0:
        reach = three_digits.next_plus(reach)
    if problem.relative is None:
        return f"a bandwidth of {float(reach):g} would reach a key from each"
    factor = three_digits.divide(reach, Decimal(problem.sigma))
    return f"bandwidths {float(factor):g} times as large would reach a key from each"
