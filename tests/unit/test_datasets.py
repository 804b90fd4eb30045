"""The two data sets are exactly what the chapter says."""

import csv
from importlib.resources import files

import numpy as np
import pytest

from attention_pooling import motorcycle, sine_data, sine_truth


def test_sine_data_is_made_as_described():
    data = sine_data(seed=0)
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 5, 40))
    np.testing.assert_array_equal(data.keys, x)
    np.testing.assert_array_equal(data.values, 2 * np.sin(x) + x + rng.normal(0, 1, 40))
    np.testing.assert_array_equal(data.queries, [i / 10 for i in range(50)])
    np.testing.assert_array_equal(data.truth, 2 * np.sin(data.queries) + data.queries)


def test_sine_data_follows_its_arguments():
    clean = sine_data(n=7, noise=0, seed=3)
    np.testing.assert_array_equal(clean.values, sine_truth(clean.keys))
    assert clean.keys.shape == (7,) and (np.diff(clean.keys) > 0).all()
    assert (sine_data(seed=1).keys != sine_data(seed=2).keys).any()
    np.testing.assert_array_equal(sine_data(seed=np.random.default_rng(4)).keys, sine_data(seed=4).keys)
    noise = sine_data(n=20_000, noise=0.5, seed=0)
    assert np.std(noise.values - sine_truth(noise.keys)) == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("n", [0, -1, 2.5, "4", True])
def test_n_is_a_count(n):
    with pytest.raises(ValueError, match="n must"):
        sine_data(n=n)


@pytest.mark.parametrize("noise", [-1, np.nan, np.inf, [1, 2]])
def test_noise_is_a_standard_deviation(noise):
    with pytest.raises(ValueError, match="noise"):
        sine_data(noise=noise)


def test_motorcycle_is_the_file_with_its_units():
    data = motorcycle()
    text = files("attention_pooling").joinpath("data/motorcycle.csv").read_text(encoding="utf-8")
    head = [line for line in text.splitlines() if line.startswith("#")]
    assert any("Silverman" in line for line in head) and any("milliseconds" in line for line in head)
    table = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    assert len(table) == 133
    assert data.keys.tolist() == [float(row["time_ms"]) for row in table]
    assert data.values.tolist() == [float(row["acceleration_g"]) for row in table]
    assert (data.key_unit, data.value_unit) == ("ms", "g")


def test_motorcycle_has_the_known_landmarks():
    data = motorcycle()
    assert (data.keys[0], data.keys[-1]) == (2.4, 57.6) and (np.diff(data.keys) >= 0).all()
    assert (data.values.min(), data.values.max()) == (-134, 75)
    assert len(np.unique(data.keys)) == 94
