"""The peers compute one and the same estimate, and the tools of the comparison measure what they say."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import estimator, machine, measure, report
from benchmarks.peers import PEERS

# PyTorch comes with the benchmarks only, so its two peers are compared there (`agreement` refuses a difference).
TESTED = [name for name, peer in PEERS.items() if peer.package != "torch"]


def by_hand(queries, keys, values, bandwidth):
    """The formula in Python's own numbers, each sum exactly rounded."""
    estimates = []
    for q in queries:
        weights = [math.exp(-(((q - k) / bandwidth) ** 2) / 2) for k in keys]
        estimates.append(math.fsum(w * v for w, v in zip(weights, values)) / math.fsum(weights))
    return estimates


@pytest.mark.parametrize("name", TESTED)
@pytest.mark.parametrize("bandwidth", [0.1, 0.5, 2.0])
def test_peers_agree_with_the_formula(name, bandwidth):
    rng = np.random.default_rng(0)
    queries, keys, values = rng.uniform(0, 5, 31), np.sort(rng.uniform(0, 5, 203)), rng.normal(size=203)
    estimates = PEERS[name].estimate(queries, keys, values, bandwidth)
    assert estimates.shape == (31,)
    np.testing.assert_allclose(estimates, by_hand(queries, keys, values, bandwidth), rtol=0, atol=1e-10)


def test_peers_agree_on_the_data_of_the_tables():
    inputs = measure.sine_inputs(2_000)
    estimates = [PEERS[name].estimate(*inputs, 0.5) for name in TESTED]
    for estimate in estimates[1:]:
        np.testing.assert_allclose(estimate, estimates[0], rtol=0, atol=1e-10)


def test_a_peer_that_differs_stops_the_benchmark():
    reference = np.array([1.0, 2.0])
    assert estimator.agreement("twin", reference, reference + 1e-12, "float64") < 1e-10
    with pytest.raises(RuntimeError, match="twin differs by 1e-06"):
        estimator.agreement("twin", reference, reference + [0, 1e-6], "float64")
    assert estimator.agreement("twin", reference, reference + 1e-6, "float32") > 0


def test_tasks_run_in_turn_and_the_first_round_does_not_count():
    calls = []
    seconds = measure.alternate({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeats=3)
    assert calls == list("abababab")
    assert [len(times) for times in seconds.values()] == [3, 3]


def test_the_ratio_pairs_the_rounds():
    assert measure.ratio([2.0, 40.0, 6.0], [1.0, 10.0, 2.0]) == 3.0


def test_memory_of_the_plain_formula_is_the_matrix_and_ours_is_not():
    matrix = 3_000 * 3_000 * 8 / 2**20
    plain = measure.peak_extra("run_peer", peer="numpy", n=3_000)
    ours = measure.peak_extra("run_peer", peer="attention_pooling", n=3_000)
    assert matrix < plain < 4 * matrix
    assert ours < matrix / 2


@pytest.mark.parametrize("bandwidth", [0.01, 0.3, 9.0])
def test_pairs_in_reach_are_counted(bandwidth):
    _, keys, _ = measure.sine_inputs(300)
    queries = np.linspace(0, 5, 70)
    count = np.count_nonzero(np.abs(queries[:, None] - keys) <= bandwidth)
    assert estimator.pairs_in_reach(70, 300, bandwidth) == count


def test_machine_facts_stand_on_top():
    facts = machine.machine_facts()
    assert {"processor", "cores", "memory", "system", "python", "numpy"} <= set(facts)
    assert facts["numpy"] == np.__version__
    assert all(facts.values())


def test_table_aligns_text_left_and_numbers_right():
    rows = [{"name": "a", "n": 1_000_000, "s": 0.12345}, {"name": "long", "n": 7, "s": None}]
    assert report.table(rows, {"name": "name", "n": "n", "s": "s"}).splitlines() == [
        "| name |         n |     s |",
        "| ---- | --------: | ----: |",
        "| a    | 1,000,000 | 0.123 |",
        "| long |         7 |     – |",
    ]


def test_the_estimator_table_stands_below_the_machine_facts(monkeypatch, capsys):
    few = {name: PEERS[name] for name in ("attention_pooling", "numpy")}
    monkeypatch.setattr(estimator, "PEERS", few)
    monkeypatch.setattr(measure, "peak_extra", lambda call, **arguments: 1.25)
    rows = report.run(["estimator"], repeats=1, largest=300)["estimator"]
    printed = capsys.readouterr().out
    assert printed.index("processor:") < printed.index("| attention_pooling")
    assert "300 queries × 300 keys" in printed
    assert [(row["estimator"], row["dtype"]) for row in rows] == [
        (peer.label, dtype) for dtype in ("float64", "float32") for peer in few.values()
    ]
    assert all(row["difference"] <= (1e-10 if row["dtype"] == "float64" else 1e-4) for row in rows)
    assert rows[0]["ratio"] == rows[2]["ratio"] == 1


def test_the_command_writes_json_and_picture(tmp_path):
    command = [sys.executable, "-m", "benchmarks", "growth", "--largest", "1000", "--repeats", "1"]
    run = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, check=True)
    assert "processor:" in run.stdout and "| epanechnikov" in run.stdout
    results = json.loads((tmp_path / "benchmarks.json").read_text(encoding="utf-8"))
    assert set(results) == {"machine", "growth"}
    assert {row["keys"] for row in results["growth"]} == {1000}
    assert (tmp_path / "growth.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_an_unknown_table_is_refused():
    run = subprocess.run([sys.executable, "-m", "benchmarks", "growht"], capture_output=True, text=True)
    assert run.returncode == 2
    assert "estimator, growth, workers" in run.stderr
