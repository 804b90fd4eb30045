"""How time and memory are measured."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from statistics import median
from typing import Callable, Mapping

import numpy as np

REPEATS = 5


def alternate(tasks: Mapping[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, list[float]]:
    """Seconds of each task, run in turn, round by round, after one round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for round_number in range(repeats + 1):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            elapsed = time.perf_counter() - start
            if round_number > 0:
                seconds[name].append(elapsed)
    return seconds


def ratio(seconds: list[float], reference: list[float]) -> float:
    """Median over the rounds of one task's time over the reference's in the same round."""
    return median(one / other for one, other in zip(seconds, reference, strict=True))


def sine_inputs(n: int, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`n` queries on [0, 5] and the book's own data with `n` keys."""
    from attention_pooling.datasets import sine_data

    data = sine_data(n=n)
    return tuple(np.ascontiguousarray(a, dtype) for a in (np.linspace(0, 5, n), data.keys, data.values))


def peak_extra(call: str, **arguments) -> float:
    """MiB that `benchmarks.measure:<call>` needs at its peak above what it holds before, in a process of its own.

    The high-water mark of the resident set is reset after the inputs are made and a small run has imported
    everything. It is the operating system's figure: it counts what NumPy, BLAS and PyTorch allocate alike.
    """
    command = [sys.executable, "-m", "benchmarks.measure", call, json.dumps(arguments)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def run_peer(peer: str, n: int, dtype: str = "float64", bandwidth: float = 0.5):
    """A closure of the peer on `n` × `n`."""
    from benchmarks.peers import PEERS

    inputs = sine_inputs(n, dtype)
    return lambda: PEERS[peer].estimate(*inputs, bandwidth)


def run_package(n_queries: int, n_keys: int, kernel: str, bandwidth: float):
    """A closure of the package's estimator, any kernel."""
    from attention_pooling import nadaraya_watson

    _, keys, values = sine_inputs(n_keys)
    queries = np.linspace(0, 5, n_queries)
    return lambda: nadaraya_watson(queries, keys, values, kernel, bandwidth)


def _small(call: str, arguments: dict):
    """The same call at a size that only warms up."""
    small = {**arguments, **{key: 200 for key in ("n", "n_queries", "n_keys") if key in arguments}}
    if "bandwidth" in small:
        small["bandwidth"] = 0.5
    return CALLS[call](**small)


CALLS = {"run_peer": run_peer, "run_package": run_package}


def _reset_high_water_mark() -> None:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def high_water_mark() -> float:
    """Return the most memory that this process has held, in MiB.

    Linux tells the mark since the last reset; elsewhere the mark since the start has to do.
    """
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024
    except FileNotFoundError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def _measure(call: str, arguments: dict) -> float:
    _small(call, arguments)()
    task = CALLS[call](**arguments)
    try:
        _reset_high_water_mark()
    except OSError:
        pass  # not Linux: the mark then starts at the imports' own peak
    before = high_water_mark()
    task()
    return high_water_mark() - before


if __name__ == "__main__":
    print(_measure(sys.argv[1], json.loads(sys.argv[2])))
