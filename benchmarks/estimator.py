"""The estimator beside its peers, and its growth with the number of keys."""

from __future__ import annotations

from statistics import median

import numpy as np

from benchmarks import measure
from benchmarks.peers import PEERS

OURS = "attention_pooling"


def estimator_rows(n: int = 10_000, repeats: int = measure.REPEATS, bandwidth: float = 0.5) -> list[dict]:
    """One row per peer and precision, at `n` queries × `n` keys with the Gaussian kernel."""
    rows = []
    for dtype in ("float64", "float32"):
        peers = {name: peer for name, peer in PEERS.items() if peer.installed and (dtype == "float64" or peer.float32)}
        tasks = {name: measure.run_peer(name, n, dtype, bandwidth) for name in peers}
        reference = measure.run_peer(OURS, n, "float64", bandwidth)()
        seconds = measure.alternate(tasks, repeats)
        for name, peer in peers.items():
            rows.append(
                {
                    "estimator": peer.label,
                    "dtype": dtype,
                    "seconds": median(seconds[name]),
                    "fastest": min(seconds[name]),
                    "slowest": max(seconds[name]),
                    "ratio": measure.ratio(seconds[name], seconds[OURS]),
                    "peak_mib": measure.peak_extra("run_peer", peer=name, n=n, dtype=dtype, bandwidth=bandwidth),
                    "difference": agreement(peer.label, reference, tasks[name](), dtype),
                }
            )
    return rows


def agreement(label: str, reference: np.ndarray, estimate: np.ndarray, dtype: str) -> float:
    """Largest difference from the reference; in float64 a time only counts if the results agree to 1e-10."""
    difference = float(np.max(np.abs(estimate - reference)))
    if dtype == "float64" and not difference <= 1e-10:
        raise RuntimeError(f"{label} differs by {difference:.2g} from {PEERS[OURS].label}: not the same estimate")
    return difference


# kernel, queries, keys, bandwidth: the window shrinks as keys grow denser (about 100 keys in reach), then it stays.
GROWTH = [
    *(("epanechnikov", n, n, 250 / n) for n in (1_000, 10_000, 100_000, 1_000_000)),
    *(("boxcar", n, n, 250 / n) for n in (1_000, 10_000, 100_000, 1_000_000)),
    *(("triangular", n, n, 250 / n) for n in (1_000, 10_000, 100_000, 1_000_000)),
    *(("epanechnikov", 1_000, n, 0.05) for n in (1_000, 10_000, 100_000, 1_000_000)),
    *(("gaussian", 1_000, n, 0.5) for n in (1_000, 10_000, 100_000, 1_000_000)),
    *(("gaussian", n, n, 25 / n) for n in (1_000, 10_000, 100_000, 1_000_000)),
    ("gaussian", 100_000, 100_000, 0.5),
]


def growth_rows(repeats: int = 3, largest: int = 1_000_000) -> list[dict]:
    """One row per kernel and size up to `largest` keys."""
    rows = []
    for kernel, n_queries, n_keys, bandwidth in GROWTH:
        if n_keys > largest:
            continue
        arguments = {"n_queries": n_queries, "n_keys": n_keys, "kernel": kernel, "bandwidth": bandwidth}
        seconds = measure.alternate({"run": measure.run_package(**arguments)}, repeats)["run"]
        rows.append(
            {
                "kernel": kernel,
                "queries": n_queries,
                "keys": n_keys,
                "bandwidth": bandwidth,
                "pairs": pairs_in_reach(n_queries, n_keys, bandwidth) if kernel != "gaussian" else n_queries * n_keys,
                "seconds": median(seconds),
                "peak_mib": measure.peak_extra("run_package", **arguments),
                "matrix_mib": n_queries * n_keys * 8 / 2**20,
            }
        )
    return rows


def pairs_in_reach(n_queries: int, n_keys: int, bandwidth: float) -> int:
    """How many (query, key) pairs a compact kernel weighs."""
    queries, keys, _ = measure.sine_inputs(n_keys)
    queries = np.linspace(0, 5, n_queries)
    first = np.searchsorted(keys, queries - bandwidth, side="left")
    return int(np.sum(np.searchsorted(keys, queries + bandwidth, side="right") - first))
