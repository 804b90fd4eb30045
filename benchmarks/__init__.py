"""Side-by-side measurements: ``python -m benchmarks``.

Every estimator of the comparison is measured in alternation within one run, so that a busy machine disturbs all of
them alike; a table gives the median and, above it, the facts of the machine that it was measured on.
Times are never asserted anywhere. Results are: all peers agree to 1e-10 (`tests/unit/test_benchmarks.py`).
"""
