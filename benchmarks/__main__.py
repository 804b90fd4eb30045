"""`python -m benchmarks`: print the tables, write the JSON, draw the picture."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="estimator, growth, workers (default: all)")
    parser.add_argument("--threads", type=int, default=1, help="threads of BLAS and PyTorch (default: 1, one core)")
    parser.add_argument("--repeats", type=int, default=5, help="rounds that count (default: 5)")
    parser.add_argument("--largest", type=int, default=1_000_000, help="largest number of keys (default: 1,000,000)")
    parser.add_argument("--out", type=Path, default=Path("_build/benchmarks"), help="folder for JSON and picture")
    options = parser.parse_args()
    for variable in THREAD_VARIABLES:  # before NumPy is imported
        os.environ[variable] = str(options.threads)

    from benchmarks import report

    unknown = set(options.tables) - set(report.TABLES)
    if unknown:
        parser.error(f"no table {sorted(unknown)}; there are {', '.join(report.TABLES)}")
    results = report.run(options.tables or list(report.TABLES), options.repeats, options.largest)
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "benchmarks.json"
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"\nwritten: {path}")
    for drawn in report.draw(results, options.out):
        print(f"written: {drawn}")


if __name__ == "__main__":
    main()
