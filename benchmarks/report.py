"""The tables in print, and the picture."""

from __future__ import annotations

from pathlib import Path

from benchmarks.estimator import estimator_rows, growth_rows
from benchmarks.machine import machine_facts
from benchmarks.peers import PEERS
from benchmarks.workers import worker_rows

TABLES = {
    "estimator": (
        "The estimator beside its peers: {n:,} queries × {n:,} keys, one feature, Gaussian, σ = 0.5",
        lambda repeats, largest: estimator_rows(min(largest, 10_000), repeats),
        {
            "estimator": "estimator",
            "dtype": "dtype",
            "seconds": "median s",
            "fastest": "min s",
            "slowest": "max s",
            "ratio": "time ratio",
            "peak_mib": "peak extra MiB",
            "difference": "max difference",
        },
    ),
    "growth": (
        "Growth with the number of keys",
        lambda repeats, largest: growth_rows(min(repeats, 3), largest),
        {
            "kernel": "kernel",
            "queries": "queries",
            "keys": "keys",
            "bandwidth": "σ",
            "pairs": "pairs in reach",
            "seconds": "median s",
            "peak_mib": "peak extra MiB",
            "matrix_mib": "m × n matrix MiB",
        },
    ),
    "workers": (
        "Weak scaling: the same number of keys for each worker process",
        lambda repeats, largest: worker_rows(repeats),
        {
            "workers": "workers",
            "keys": "keys",
            "queries": "queries",
            "seconds": "median s",
            "efficiency": "efficiency",
            "floor": "the machine's own efficiency",
        },
    ),
}


def run(tables: list[str], repeats: int, largest: int) -> dict:
    """Measure and print the named tables; everything measured comes back for the JSON."""
    results: dict = {"machine": machine_facts()}
    for name in tables:
        title, rows_of, columns = TABLES[name]
        print(f"\n{title.format(n=min(largest, 10_000))}\n")
        print("\n".join(f"  {fact}: {value}" for fact, value in results["machine"].items()), end="\n\n", flush=True)
        results[name] = rows_of(repeats, largest)
        print(table(results[name], columns), flush=True)
        if name == "estimator":
            for peer in PEERS.values():
                if not peer.installed:
                    print(f"left out, not installed: {peer.label} (pip install -e .[benchmarks])")
    return results


def table(rows: list[dict], columns: dict[str, str]) -> str:
    """A Markdown table: text to the left, numbers to the right."""
    cells = [list(columns.values())] + [[show(row[key]) for key in columns] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    left = [isinstance(rows[0][key], str) for key in columns]
    rule = ["-" * w if text else "-" * (w - 1) + ":" for w, text in zip(widths, left)]
    lines = [
        [c.ljust(w) if text else c.rjust(w) for c, w, text in zip(line, widths, left)]
        for line in (cells[0], rule, *cells[1:])
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def show(value) -> str:
    """Three significant digits, thousands set apart."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def draw(results: dict, folder: Path) -> list[Path]:
    """The growth picture of chapter 5, at the full sizes, where matplotlib is installed."""
    if "growth" not in results:
        return []
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    from attention_pooling.figures_scaling import growth_with_keys

    growth_with_keys(results["growth"])
    path = folder / "growth.svg"
    plt.savefig(path)
    plt.close()
    return [path]
