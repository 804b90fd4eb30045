"""The README stays short, and its picture shows the data and the weights of the package."""

import re
from pathlib import Path

import numpy as np

from attention_pooling import attention_weights
from attention_pooling.datasets import sine_data

ROOT = Path(__file__).resolve().parents[2]


def test_readme_has_at_most_80_lines():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_readme_gives_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python -m pip install -r requirements.txt && jupyter-book build .\n" in text
    assert "python -m pip install -r requirements-dev.txt && python -m pytest\n" in text


def test_picture_shows_the_data_with_their_weights():
    svg = (ROOT / "_static" / "readme.svg").read_text(encoding="utf-8")
    circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"/>', svg)
    x, y, radius = np.array(circles, dtype=float).T
    data = sine_data(n=40, noise=1.0, seed=0)
    weights = attention_weights([2.5], data.keys, bandwidth=0.44)[0]
    assert np.allclose(np.corrcoef(x, data.keys)[0, 1], 1, atol=1e-4)
    assert np.allclose(np.corrcoef(y, data.values)[0, 1], -1, atol=1e-4)
    assert np.allclose(((radius - 2.2) / 28) ** 2 * 8, weights, atol=0.005)  # radii are drawn to a tenth
