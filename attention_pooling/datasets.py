"""The two data sets of the chapter."""

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

__all__ = ["Motorcycle", "SineData", "motorcycle", "sine_data", "sine_truth"]


@dataclass(frozen=True)
class SineData:
    """Noisy samples of a known function, and where to judge an estimate of it."""

    keys: np.ndarray
    values: np.ndarray
    queries: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True)
class Motorcycle:
    """Head acceleration in a simulated motorcycle crash, over time."""

    keys: np.ndarray
    values: np.ndarray
    key_label: str = "time after impact"
    key_unit: str = "ms"
    value_label: str = "head acceleration"
    value_unit: str = "g"


def sine_truth(x):
    """Return 2 sin x + x."""
    x = np.asarray(x, dtype=np.float64)
    return 2 * np.sin(x) + x


def sine_data(n=40, noise=1.0, seed=0):
    """Return n noisy samples of 2 sin x + x at sorted random x in [0, 5]."""
    rng = np.random.default_rng(seed)
    keys = np.sort(rng.uniform(0, 5, n))
    values = sine_truth(keys) + noise * rng.standard_normal(n)
    queries = np.arange(50) / 10
    return SineData(keys, values, queries, sine_truth(queries))


def motorcycle():
    """Return the 133 measurements of a simulated motorcycle crash."""
    text = files("attention_pooling").joinpath("data/motorcycle.csv").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line and not line.startswith("#")][1:]
    table = np.array([row.split(",") for row in rows], dtype=np.float64)
    return Motorcycle(table[:, 0], table[:, 1])
