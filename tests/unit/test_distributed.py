"""The lazy estimate: equal to the one in memory on every scheduler, small in memory, and safe from a lost worker."""

import os
import signal
import subprocess
import sys

import dask
import dask.array as da
import numpy as np
import pytest
from dask.order import diagnostics
from distributed import Client, Event, LocalCluster, Queue, get_worker
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_pooling import EmptyNeighbourhoodWarning, distributed
from attention_pooling import nadaraya_watson as in_memory
from benchmarks.measure import high_water_mark

WORKERS = 2
MEMORY_LIMIT = 300 * 2**20


@pytest.fixture(scope="module")
def client():
    """Two worker processes, each with little memory and no way to spill to disk."""
    never = {f"distributed.worker.memory.{step}": False for step in ("target", "spill", "pause")}
    with (
        dask.config.set(never),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            processes=True,
            memory_limit=MEMORY_LIMIT,
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def arrays():
    """Queries, keys and values with three features and values of two dimensions."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(23, 3)), rng.normal(size=(101, 3)), rng.normal(size=(101, 2, 4))


def in_blocks(array, chunks):
    return da.from_array(array, chunks=(chunks,) + array.shape[1:])


def same_block(block, number):
    """Keys that each worker makes itself, the same at every call."""
    return np.random.default_rng(number).uniform(0, 5, len(block))


def made_keys(blocks, size, make=same_block):
    template = da.zeros(blocks * size, chunks=size)
    return da.map_blocks(
        lambda block, block_info=None: make(block, block_info[0]["chunk-location"][0]),
        template,
        dtype=float,
        meta=np.empty(0),
    )


# --- the result -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["gaussian", "boxcar", "epanechnikov", "triangular", "constant"])
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_equals_the_estimate_in_memory(arrays, kernel, scheduler):
    queries, keys, values = arrays
    lazy = distributed.nadaraya_watson(in_blocks(queries, 5), in_blocks(keys, 4), in_blocks(values, 4), kernel, 2.5)
    assert lazy.shape == (23, 2, 4)
    assert lazy.chunks == ((5, 5, 5, 5, 3), (2,), (4,))
    assert lazy.dtype == np.float64
    result = lazy.compute(scheduler=scheduler)
    np.testing.assert_allclose(result, in_memory(queries, keys, values, kernel, 2.5), rtol=0, atol=1e-12)


@given(
    data=st.data(),
    n_queries=st.integers(0, 9),
    n_keys=st.integers(1, 60),
    bandwidth=st.floats(1e-3, 1e3),
    seed=st.integers(0, 999),
)
@settings(max_examples=40, deadline=None)
def test_any_chunks_give_the_same(data, n_queries, n_keys, bandwidth, seed):
    rng = np.random.default_rng(seed)
    queries, keys, values = rng.normal(size=n_queries), rng.normal(size=n_keys), rng.normal(size=n_keys)
    cuts = data.draw(st.lists(st.integers(0, n_keys), max_size=20).map(sorted))
    chunks = tuple(np.diff([0, *cuts, n_keys]).tolist())  # empty blocks among them
    lazy = distributed.nadaraya_watson(
        queries, da.from_array(keys, chunks=(chunks,)), da.from_array(values, chunks=(chunks,)), bandwidth=bandwidth
    )
    expected = in_memory(queries, keys, values, bandwidth=bandwidth)
    np.testing.assert_allclose(lazy.compute(scheduler="synchronous"), expected, rtol=0, atol=1e-12)


def test_queries_in_memory_scalar_and_single_precision(arrays):
    keys, values = da.arange(5.0, chunks=2), 10 * da.arange(5.0, chunks=2)
    scalar = distributed.nadaraya_watson(2.0, keys, values, "boxcar", 0.5)
    assert scalar.shape == () and scalar.compute() == 20.0
    single = [in_blocks(array.astype(np.float32), 9) for array in arrays]
    lazy = distributed.nadaraya_watson(*single, bandwidth=2.5)
    assert lazy.dtype == lazy.compute().dtype == np.float32
    mixed = distributed.nadaraya_watson(arrays[0], *single[1:], bandwidth=2.5)
    assert mixed.dtype == mixed.compute().dtype == np.float64
    counts = distributed.nadaraya_watson(np.array([3, 8]), da.from_array(np.array([0, 5, 10], np.uint8), chunks=2),
                                         da.arange(3, chunks=2), bandwidth=2)
    np.testing.assert_allclose(counts.compute(), [0.654516, 1.650760], atol=5e-7)


def test_one_feature_may_be_a_column_on_either_side():
    keys, values = da.arange(5.0, chunks=2), da.arange(5.0, chunks=2)
    flat = distributed.nadaraya_watson([1.2, 3.4], keys, values).compute()
    for queries, column in (([[1.2], [3.4]], keys[:, None]), ([1.2, 3.4], keys[:, None]), ([[1.2], [3.4]], keys)):
        np.testing.assert_array_equal(distributed.nadaraya_watson(queries, column, values).compute(), flat)


def test_a_bandwidth_for_each_feature(arrays):
    queries, keys, values = arrays
    lazy = distributed.nadaraya_watson(queries, in_blocks(keys, 10), in_blocks(values, 10), bandwidth=[1, 2, 3])
    np.testing.assert_allclose(lazy.compute(), in_memory(queries, keys, values, bandwidth=[1, 2, 3]), atol=1e-12)


def test_out_of_reach_is_nan_with_a_warning():
    keys, values = da.arange(5.0, chunks=2), da.arange(5.0, chunks=2)
    lazy = distributed.nadaraya_watson([2.0, 100.0], keys, values, "boxcar", 0.5)
    with pytest.warns(EmptyNeighbourhoodWarning):
        np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), [2.0, np.nan])


# --- the graph ------------------------------------------------------------------------------------------------------


def test_nothing_is_computed_before_it_is_asked_for():
    def refuse(block, number):
        raise RuntimeError(f"block {number} was read")

    lazy = distributed.nadaraya_watson([0.0, 1.0], made_keys(4, 10, refuse), da.zeros(40, chunks=10))
    with pytest.raises(RuntimeError, match="was read"):
        lazy.compute(scheduler="synchronous")


def test_each_block_of_keys_is_made_once_for_all_blocks_of_queries():
    made = []

    def count(block, number):
        made.append(number)
        return same_block(block, number)

    keys = made_keys(20, 10, count)
    distributed.nadaraya_watson(da.arange(30.0, chunks=5), keys, da.zeros(200, chunks=10)).compute(
        scheduler="synchronous"
    )
    assert sorted(made) == list(range(20))


def blocks_in_memory(lazy):
    """The largest number of results that wait for their readers at one time, in the order that Dask plans."""
    graph = lazy.__dask_optimize__(lazy.__dask_graph__(), lazy.__dask_keys__())
    return max(diagnostics(dict(graph))[1])


@pytest.mark.parametrize("query_blocks", [1, 6])
def test_blocks_of_keys_in_memory_do_not_grow_with_their_number(query_blocks):
    queries = da.arange(6.0 * query_blocks, chunks=6)
    few, many = (
        blocks_in_memory(distributed.nadaraya_watson(queries, made_keys(n, 10), da.zeros(10 * n, chunks=10)))
        for n in (64, 512)
    )
    assert many <= few + distributed.FAN_IN  # one level more in the tree of merges


def test_blocks_of_queries_in_memory_do_not_grow_with_their_number():
    keys = made_keys(6, 10)
    few, many = (
        blocks_in_memory(distributed.nadaraya_watson(made_keys(n, 10), keys, keys).sum()) for n in (64, 512)
    )
    assert many <= few + 16  # the levels of the sum


def test_equal_arguments_give_equal_names():
    keys = da.arange(5.0, chunks=2)
    names = {distributed.nadaraya_watson([2.0], keys, keys, "boxcar", sigma).name for sigma in (0.5, 0.5, 0.6)}
    assert len(names) == 2


# --- a cluster ------------------------------------------------------------------------------------------------------


def test_worker_processes_give_the_same(client, arrays):
    queries, keys, values = arrays
    lazy = distributed.nadaraya_watson(
        in_blocks(queries, 8), in_blocks(keys, 7), in_blocks(values, 7), lambda u: 1 / (1 + u**2), 0.7
    )
    expected = in_memory(queries, keys, values, lambda u: 1 / (1 + u**2), 0.7)
    np.testing.assert_allclose(client.compute(lazy).result(timeout=60), expected, rtol=0, atol=1e-12)


def test_keys_larger_than_a_worker_stay_within_its_memory(client):
    blocks, rows, features = 80, 62_500, 8
    assert blocks * rows * features * 8 > MEMORY_LIMIT  # the keys alone, and the values come on top

    def make(_, block_info=None):
        return np.random.default_rng(block_info[0]["chunk-location"][0]).uniform(0, 5, (rows, features))

    template = da.zeros((blocks * rows, features), chunks=(rows, features))
    keys = da.map_blocks(make, template, dtype=float, meta=np.empty((0, 0)))
    queries = np.linspace(1, 4, 6)[:, None] * np.ones(features)
    lazy = distributed.nadaraya_watson(da.from_array(queries, chunks=(3, features)), keys, 2 * keys, bandwidth=2.0)
    result = client.compute(lazy).result(timeout=120)

    total, count = np.zeros((6, features)), np.zeros((6, 1))  # the formula, block by block, in this process
    for number in range(blocks):
        block = np.random.default_rng(number).uniform(0, 5, (rows, features))
        squares = (queries**2).sum(axis=1)[:, None] + (block**2).sum(axis=1) - 2 * queries @ block.T
        weights = np.exp(-squares / (2 * 2.0**2))
        total, count = total + weights @ (2 * block), count + weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(result, total / count, rtol=1e-11)

    peaks = client.run(high_water_mark)
    assert len(peaks) == WORKERS
    assert max(peaks.values()) * 2**20 < MEMORY_LIMIT


def test_a_worker_killed_half_way_costs_time_only(client):
    blocks, half = 30, 15

    def make(block, number):
        Queue("made").put(number)
        if number == half:
            Queue("half-way").put(get_worker().address)
            assert Event("worker is gone").wait(timeout=30)
        return same_block(block, number)

    made = Queue("made", client=client)
    keys = made_keys(blocks, 1000, make)
    queries = np.linspace(0, 5, 7)
    lazy = distributed.nadaraya_watson(queries, keys, 2 * keys, "gaussian", 0.1)
    future = client.compute(lazy)
    # The victim is the process that is at work on that block, with the pools it has not handed over.
    victim = Queue("half-way", client=client).get(timeout=30)
    pids = client.run(os.getpid)
    os.kill(pids[victim], signal.SIGKILL)
    Event("worker is gone", client=client).set()
    result = future.result(timeout=60)

    everything = np.concatenate([same_block(np.empty(1000), number) for number in range(blocks)])
    np.testing.assert_allclose(result, in_memory(queries, everything, 2 * everything, bandwidth=0.1), rtol=1e-12)
    numbers = [made.get() for _ in range(made.qsize())]
    assert set(numbers) == set(range(blocks))
    assert len(numbers) > blocks, "no block was made anew: the worker was not at work"
    client.wait_for_workers(WORKERS, timeout=30)
    assert pids[victim] not in client.run(os.getpid).values()


def test_nan_in_a_block_names_the_block(client):
    keys = np.arange(50.0)
    keys[[23, 27]] = np.nan
    keys, values = da.from_array(keys, chunks=10), da.zeros(50, chunks=10)
    lazy = distributed.nadaraya_watson([1.0], keys, values)  # lazy: not seen yet
    with pytest.raises(ValueError, match=r"block 2 of keys and values: keys must be finite, got 2 NaN"):
        client.compute(lazy).result(timeout=30)


# --- the errors -----------------------------------------------------------------------------------------------------


def test_without_dask_the_error_says_how_to_install_it():
    code = (
        "import sys; sys.modules['dask'] = sys.modules['dask.array'] = None\n"
        "import attention_pooling.distributed as d\n"
        "d.nadaraya_watson([0.0], [0.0], [0.0])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1
    assert "ImportError: attention_pooling.distributed needs Dask: pip install 'dask[array]' distributed" in run.stderr


def test_the_core_does_not_import_dask():
    code = "import sys, attention_pooling, attention_pooling.distributed; assert 'dask' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


ONES = da.ones(12, chunks=4)
PLANE = da.ones((12, 2), chunks=(4, 2))


@pytest.mark.parametrize(
    "queries, keys, values, message",
    [
        ([0.0], ONES[ONES > 0], ONES, r"keys must have known chunk sizes.*keys.compute_chunk_sizes\(\)"),
        ([0.0], ONES, ONES[ONES > 0], r"values must have known chunk sizes"),
        (ONES[ONES > 0], ONES, ONES, r"queries must have known chunk sizes"),
        ([0.0], ONES, ONES.rechunk(6), r"chunked like keys .*got chunks of 6, 6 and of 4, 4, 4; use values.rechunk"),
        ([0.0], ONES, ONES[:9], r"values must have one entry per key \(12\), got shape \(9,\)"),
        ([0.0], ONES[:0], ONES[:0], r"keys must hold at least one key, got shape \(0,\)"),
        ([[0.0, 0.0]], PLANE.rechunk((4, 1)), ONES, r"keys must be chunked .* axis 1; use keys.rechunk\({1: -1}\)"),
        ([0.0], ONES, PLANE.rechunk((4, 1)), r"values must be chunked .* got chunks of 1, 1 along axis 1"),
        (PLANE.rechunk((4, 1)), PLANE, ONES, r"queries must be chunked along the first axis only"),
        ([0.0], PLANE, ONES, r"queries must have as many features as keys, got 1 and 2"),
        ([0.0], PLANE[:, :, None], ONES, r"keys must have shape .* got \(12, 2, 1\)"),
    ],
)
def test_errors_say_what_came_and_what_would_be_right(queries, keys, values, message):
    with pytest.raises(ValueError, match=message):
        distributed.nadaraya_watson(queries, keys, values)


@pytest.mark.parametrize("bandwidth", [0, -1, np.nan, "x", [1.0, 2.0]])
def test_a_bad_bandwidth_is_refused_at_once(bandwidth):
    with pytest.raises(ValueError, match="bandwidth"):
        distributed.nadaraya_watson([0.0], ONES, ONES, bandwidth=bandwidth)


def test_an_unknown_kernel_is_refused_at_once():
    with pytest.raises(ValueError, match="epanechnikov"):
        distributed.nadaraya_watson([0.0], ONES, ONES, "epanechikov")


@pytest.mark.parametrize("name", ["keys", "values"])
def test_arrays_in_memory_are_pointed_elsewhere(name):
    arguments = {"queries": [0.0], "keys": ONES, "values": ONES, name: np.ones(12)}
    with pytest.raises(TypeError, match=rf"{name} must be a dask array, got ndarray.*dask.array.from_array"):
        distributed.nadaraya_watson(**arguments)
