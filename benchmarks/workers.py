"""Weak scaling: with every worker process comes its own share of keys, and the time should stay."""

from __future__ import annotations

import os
from statistics import median

import numpy as np

from benchmarks import measure

KEYS_PER_WORKER = 400_000
BLOCKS_PER_WORKER = 8
QUERIES = 500


def worker_rows(repeats: int = measure.REPEATS, cores: int | None = None) -> list[dict]:
    """One row per number of workers, 1 to the number of cores, measured in alternation on one cluster each.

    `efficiency` is the time with one worker over the time with w workers and w times the keys: 1 is perfect.
    `floor` is the same quotient for w independent NumPy loops that exchange nothing: what the machine itself allows
    at that moment, its other load, shared memory bandwidth and clock speed included.
    """
    from distributed import Client, LocalCluster

    cores = cores or len(os.sched_getaffinity(0))
    clients, tasks = {}, {}
    for workers in range(1, cores + 1):
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=None
        )
        client = Client(cluster)
        clients[workers] = (client, cluster)
        tasks[f"estimate {workers}"] = lambda client=client, workers=workers: client.compute(estimate(workers)).result()
        tasks[f"spin {workers}"] = lambda client=client, workers=workers: client.gather(
            client.map(_spin, range(workers), pure=False)
        )
    try:
        seconds = measure.alternate(tasks, repeats)
    finally:
        for client, cluster in clients.values():
            client.close()
            cluster.close()
    return [
        {
            "workers": workers,
            "keys": workers * KEYS_PER_WORKER,
            "queries": QUERIES,
            "seconds": median(seconds[f"estimate {workers}"]),
            "efficiency": 1 / measure.ratio(seconds[f"estimate {workers}"], seconds["estimate 1"]),
            "floor": 1 / measure.ratio(seconds[f"spin {workers}"], seconds["spin 1"]),
        }
        for workers in clients
    ]


def estimate(workers: int):
    """A lazy estimate over keys that the workers make themselves, block by block."""
    import dask.array as da

    from attention_pooling import distributed

    block = KEYS_PER_WORKER // BLOCKS_PER_WORKER
    keys = da.random.default_rng(0).uniform(0, 5, workers * KEYS_PER_WORKER, chunks=block)
    return distributed.nadaraya_watson(np.linspace(0, 5, QUERIES), keys, 2 * da.sin(keys) + keys, "gaussian", 0.5)


def _spin(_):
    """About as long as one worker's share, on a few kilobytes that stay in cache."""
    numbers = np.linspace(0, 1, 4_000)
    for _ in range(40_000):
        np.exp(-numbers)
