"""The estimate over arrays larger than one machine: `dask.array` in, `dask.array` out, nothing computed before asked.

Each block of keys gives each block of queries a `PartialPool`; a tree of merges adds them up; the last merge divides.
The graph runs on any Dask scheduler: threads on a laptop, `distributed` workers on a cluster.
Needs the optional packages of the `distributed` extra; nothing else in the package imports them.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from ._inputs import as_bandwidth, as_kernel
from .pooling import PartialPool

if TYPE_CHECKING:
    import dask.array

FAN_IN = 8  # partial pools in one merge: a tree of depth 3 for 512 blocks of keys


def nadaraya_watson(queries, keys, values, kernel="gaussian", bandwidth=1.0) -> dask.array.Array:
    """Nadaraya-Watson estimates at `queries`, as a lazy `dask.array`.

    Parameters
    ----------
    queries : dask array or array_like of float, shape (m,) or (m, d), or a scalar
        Chunked along the first axis only. An array in memory becomes a single block, sent to every worker.
    keys : dask array of float, shape (n,) or (n, d)
        Chunked along the first axis only.
    values : dask array of float, shape (n, ...)
        Chunked along the first axis only, and there like `keys`.
    kernel : str or callable, default "gaussian"
        As in `attention_pooling.nadaraya_watson`. A callable has to be picklable by Dask where workers are processes.
    bandwidth : float or (d,) array_like, default 1.0
        In the units of `keys`.

    Returns
    -------
    dask.array.Array of float, shape (m, ...)
        Chunked like `queries`. NaN where no key is within reach.

    Raises
    ------
    ImportError
        If Dask is not installed.
    TypeError
        If `keys` or `values` is not a dask array.
    ValueError
        If shapes do not fit, chunk sizes are unknown, `keys` and `values` are chunked differently, an axis other than
        the first is chunked, or the kernel or bandwidth is not usable. NaN or infinity in `keys` or `values` shows only
        when a block is read: then the task raises, naming the block.

    Notes
    -----
    Per block of queries the sums s = Σ K and t = Σ K·v, with the largest score m factored out, obey the merge law that
    chapter 5, *Scale up*, derives; the tree may have any shape, and a lost block is computed anew from its own keys.
    The smaller side, queries with their sums or keys with their values, has to fit in the memory of each worker; the
    larger one passes through in blocks. A row of weights is never held. Where both are too large, call this for one
    slice of the queries after the other.
    The `EmptyNeighbourhoodWarning` is given in the process that divides, so with worker processes it is in their log.

    References
    ----------
    .. [1] M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867, 2018.
    .. [2] M. Rocklin, "Dask: Parallel computation with blocked algorithms and task scheduling", SciPy 2015.

    Examples
    --------
    >>> import dask.array as da
    >>> keys = da.arange(5.0, chunks=2)
    >>> nadaraya_watson([1.0, 2.5], keys, 10 * keys, "boxcar", 1.0).compute()
    array([10., 25.])
    """
    da = _dask_array()
    for name, array in (("keys", keys), ("values", values)):
        if not isinstance(array, da.Array):
            raise TypeError(
                f"{name} must be a dask array, got {type(array).__name__}; wrap it with dask.array.from_array({name}, "
                f"chunks=...), or use attention_pooling.nadaraya_watson, which takes arrays in memory"
            )
    scalar = np.ndim(queries) == 0
    if not isinstance(queries, da.Array):
        queries = da.from_array(np.asarray(queries), chunks=-1)
    if scalar:
        queries = queries.reshape(1)

    for name, array in (("queries", queries), ("keys", keys), ("values", values)):
        _require_known_chunks(name, array)
    _require_shapes(queries, keys, values)
    for name, array in (("queries", queries), ("keys", keys), ("values", values)):
        _require_first_axis_chunks(name, array)
    if keys.chunks[0] != values.chunks[0]:
        raise ValueError(
            f"values must be chunked like keys along the first axis, got chunks of {_short(values.chunks[0])} and of "
            f"{_short(keys.chunks[0])}; use values.rechunk({{0: keys.chunks[0]}})"
        )
    as_kernel(kernel), as_bandwidth(bandwidth, 1 if keys.ndim == 1 else keys.shape[1])  # refused now, not in a task

    dtypes = {array.dtype for array in (queries, keys, values)}
    dtype = np.dtype(np.float32 if dtypes == {np.dtype(np.float32)} else np.float64)
    # The smaller side goes to every worker whole, the larger one passes block by block. Were both in blocks, the first
    # block of estimates would ask for all keys, and these would wait in memory for the other blocks of queries.
    chunks = queries.chunks[0]
    bytes_per_query = queries.nbytes / max(1, len(queries)) + values.nbytes / len(values)  # with its sums
    if len(queries) * bytes_per_query <= keys.nbytes + values.nbytes:
        queries = queries.rechunk({0: -1})
    part = functools.partial(_part, kernel, bandwidth, dtype)
    estimate = _graph(da, queries, keys, values, part, dtype).rechunk({0: chunks})
    return estimate[0] if scalar else estimate


def _graph(da, queries, keys, values, part, dtype):
    """Parts of every block of queries with every block of keys, a tree of merges, and a last task that divides."""
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph

    token = tokenize(queries, keys, values, part)
    part_name, merge_name, name = (f"{step}-{token}" for step in ("partial-pool", "merge-pools", "nadaraya-watson"))
    tasks = {}
    estimate_tail = (0,) * (values.ndim - 1)
    blocks = list(zip(_block_keys(keys), _block_keys(values), strict=True))
    for i, query_block in enumerate(_block_keys(queries)):
        level = []
        for j, (key_block, value_block) in enumerate(blocks):
            tasks[part_name, i, j] = (part, j, query_block, key_block, value_block)
            level.append((part_name, i, j))
        depth = 0
        while len(level) > FAN_IN:
            groups = [level[start : start + FAN_IN] for start in range(0, len(level), FAN_IN)]
            level = [(merge_name, i, depth, group) for group in range(len(groups))]
            tasks.update(zip(level, ((_merge, group) for group in groups), strict=True))
            depth += 1
        tasks[(name, i, *estimate_tail)] = (functools.partial(_estimate, dtype), level)
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[queries, keys, values])
    chunks = (queries.chunks[0], *((size,) for size in values.shape[1:]))
    return da.Array(graph, name, chunks, dtype=dtype)


def _part(kernel, bandwidth, dtype, number, queries, keys, values):
    """The task of one block of queries and one block of keys."""
    queries, keys, values = (np.asarray(array, dtype) for array in (queries, keys, values))
    pool = PartialPool(queries, kernel, bandwidth)
    try:
        return pool.update(keys, values) if len(keys) else pool
    except ValueError as error:
        raise ValueError(f"block {number} of keys and values: {error}") from error


def _merge(pools):
    return functools.reduce(PartialPool.merge, pools)


def _estimate(dtype, pools):
    return _merge(pools).result().astype(dtype, copy=False)


def _block_keys(array):
    """Names of the blocks along the first axis."""
    return [(array.name, block) + (0,) * (array.ndim - 1) for block in range(array.numblocks[0])]


def _dask_array():
    try:
        import dask.array
    except ImportError as error:
        raise ImportError(
            "attention_pooling.distributed needs Dask: pip install 'dask[array]' distributed "
            "(in this project's folder: pip install -e '.[distributed]')"
        ) from error
    return dask.array


def _require_known_chunks(name, array):
    if any(math.isnan(size) for axis in array.chunks for size in axis):
        raise ValueError(f"{name} must have known chunk sizes, got unknown ones; call {name}.compute_chunk_sizes() first")


def _require_shapes(queries, keys, values):
    for name, array in (("queries", queries), ("keys", keys)):
        if array.ndim not in (1, 2):
            raise ValueError(f"{name} must have shape (n,) or (n, features), got {array.shape}")
    if values.ndim == 0 or len(keys) != len(values):
        raise ValueError(f"values must have one entry per key ({len(keys)}), got shape {values.shape}")
    if len(keys) == 0:
        raise ValueError(f"keys must hold at least one key, got shape {keys.shape}")
    widths = [1 if array.ndim == 1 else array.shape[1] for array in (queries, keys)]
    if widths[0] != widths[1]:
        raise ValueError(f"queries must have as many features as keys, got {widths[0]} and {widths[1]}")


def _require_first_axis_chunks(name, array):
    for axis in range(1, array.ndim):
        if array.numblocks[axis] > 1:
            raise ValueError(
                f"{name} must be chunked along the first axis only, got chunks of {_short(array.chunks[axis])} along "
                f"axis {axis}; use {name}.rechunk({{{axis}: -1}})"
            )


def _short(chunks):
    """The first few chunk sizes."""
    text = ", ".join(str(size) for size in chunks[:4])
    return f"{text}, … ({len(chunks)} chunks)" if len(chunks) > 4 else text
