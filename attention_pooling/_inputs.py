"""Input checks: everything a caller may get wrong is found here, once.

Each check returns clean arrays or raises a ValueError that names the argument,
says what came and what would be right.
"""

from dataclasses import dataclass

import numpy as np

from .kernels import KERNELS, Kernel


@dataclass(frozen=True)
class Problem:
    """Checked inputs of one estimate; queries (m, d) and keys (n, d) share a dtype."""

    queries: np.ndarray
    keys: np.ndarray
    kernel: Kernel
    sigma: float  # one bandwidth for all features ...
    relative: np.ndarray | None  # ... once feature i is divided by relative[i]
    dtype: type  # of the answer
    scalar: bool  # the query came as a number: the answer loses its first axis
    finite: np.ndarray  # (m,) False for a query with NaN or infinity, replaced here by a key


def as_floats(name, array):
    """Return `array` as float32 (if it is) or float64, or say that it cannot be."""
    try:
        array = np.asarray(array)
        if array.dtype.kind not in "fiub":
            array = np.asarray(array, dtype=np.float64) if array.dtype.kind == "O" else None
        if array is None:
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of real numbers, got {_short(array)}") from None
    return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)


def finite(name, array):
    """Return `array` if it holds neither NaN nor infinity."""
    bad = array.size - np.count_nonzero(np.isfinite(array))
    if bad:
        raise ValueError(
            f"{name} must be finite, got {bad} NaN or infinite of {array.size}; remove them first"
        )
    return array


def as_points(name, array):
    """Return `array` in shape (points, features); a vector is one feature."""
    array = as_floats(name, array)
    if array.ndim > 2:
        raise ValueError(f"{name} must have shape (n,) or (n, features), got {array.shape}")
    return array.reshape(-1, 1) if array.ndim < 2 else array


def as_keys(keys):
    """Return finite keys in shape (n, d), with n and d at least 1."""
    keys = as_floats("keys", keys)
    if keys.ndim == 0:
        raise ValueError("keys must have shape (n,) or (n, features), got a single number; "
                         "wrap it in a list")
    keys = finite("keys", as_points("keys", keys))
    if keys.size == 0:
        raise ValueError(f"keys must hold at least one key, got shape {keys.shape}")
    return keys


def as_queries(queries, n_features):
    """Return queries in shape (m, d), and whether one came as a number; NaN may stay."""
    queries = as_floats("queries", queries)
    scalar, queries = queries.ndim == 0, as_points("queries", queries)
    if queries.size == 0:
        return queries.reshape(0, n_features), False
    if queries.shape[1] != n_features:
        raise ValueError(
            f"queries must have as many features as keys, got {queries.shape[1]} "
            f"and {n_features}; a single query of d features has shape (1, d)"
        )
    return queries, scalar


def as_values(values, n_keys):
    """Return finite values with one row per key, in any trailing shape."""
    values = finite("values", as_floats("values", values))
    if values.ndim == 0 or len(values) != n_keys:
        raise ValueError(
            f"values must have one entry per key ({n_keys}), got shape {values.shape}"
        )
    return values


def as_kernel(kernel):
    """Return the `Kernel` record of a name, a record or a callable profile."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(map(repr, KERNELS))} "
                             f"or a callable K(u), got {kernel!r}")
        return KERNELS[kernel]
    if not callable(kernel):
        raise ValueError(f"kernel must be a name or a callable K(u), got {_short(kernel)}")
    for known in KERNELS.values():
        if kernel is known.profile:
            return known
    name = getattr(kernel, "__name__", type(kernel).__name__)
    return Kernel(name, Checked(kernel, name), np.inf, None, None, name, None)


@dataclass(frozen=True)
class Checked:
    """A reader's own profile, whose every answer is checked."""

    function: object
    name: str

    def __call__(self, u):
        try:
            answer = np.broadcast_to(as_floats("kernel", self.function(u)), u.shape)
        except Exception as error:
            raise ValueError(
                f"kernel {self.name} must map an array u of scaled distances to an array of "
                f"the same shape; write it with NumPy functions such as np.where"
            ) from error
        if not (np.isfinite(answer).all() and (answer >= 0).all()):
            raise ValueError(f"kernel {self.name} must be finite and at least 0 at every u >= 0")
        return answer.astype(u.dtype, copy=False)


def as_bandwidth(bandwidth, n_features):
    """Return (sigma, relative): one scalar, and the features' ratios to it or None."""
    try:
        sigma = np.asarray(bandwidth, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"bandwidth must be a number > 0 or one per feature, "
                         f"got {_short(bandwidth)}") from None
    if sigma.ndim > 1 or sigma.size not in (1, n_features):
        raise ValueError(f"bandwidth must be a number or one per feature ({n_features}), "
                         f"got shape {sigma.shape}")
    if not (np.isfinite(sigma).all() and (sigma > 0).all()):
        raise ValueError(f"bandwidth must be finite and > 0, got {_short(bandwidth)}")
    smallest = float(sigma.min())
    if sigma.size == 1 or (sigma == smallest).all():
        return smallest, None
    with np.errstate(over="ignore"):
        return smallest, np.minimum(sigma / smallest, np.finfo(np.float64).max)


def as_problem(queries, keys, kernel, bandwidth, leave_one_out=False, values=None):
    """Return the checked `Problem`, and the values if there are any."""
    kernel = as_kernel(kernel)
    keys = as_keys(keys)
    n, d = keys.shape
    queries, scalar = as_queries(queries, d)
    sigma, relative = as_bandwidth(bandwidth, d)
    if leave_one_out and (scalar or len(queries) != n):
        raise ValueError(f"leave_one_out masks key i for query i, so queries must be as many "
                         f"as keys ({n}), got {len(queries)}")
    values = None if values is None else as_values(values, n)
    single = all(a.dtype == np.float32 for a in (queries, keys, values) if a is not None)
    dtype = np.float32 if single else np.float64
    finite_rows = np.isfinite(queries).all(axis=1)
    if not finite_rows.all():
        queries = np.where(finite_rows[:, None], queries, keys[0])
    working = np.float32 if single and _moderate(queries, keys, bandwidth) else np.float64
    limit = np.finfo(np.float64).max / (4 * d)
    if np.abs(keys).max() > limit:
        raise ValueError(f"keys must lie within {limit:.0e} of 0, got "
                         f"{np.abs(keys).max():.3g}; use a larger unit")
    queries = queries.astype(working, copy=False)
    if working is np.float64:  # farther out is as far; float32 was moderate
        queries = np.clip(queries, -limit, limit)
    keys = keys.astype(working, copy=False)
    values = values if values is None else values.astype(working, copy=False)
    return Problem(queries, keys, kernel, sigma, relative, dtype, scalar, finite_rows), values


def _moderate(queries, keys, bandwidth):
    """Say whether float32 can square every scaled distance without overflow."""
    largest = max(np.abs(keys).max(), np.abs(queries).max(initial=0))
    return largest < 1e15 and np.min(bandwidth) > 1e-15 and np.max(bandwidth) < 1e15


def _short(value):
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
