"""References written from the formula, slow and plain, and inputs for the tests."""

from math import exp, sqrt

import numpy as np
from hypothesis import strategies as st

NAMES = ["gaussian", "boxcar", "triangular", "epanechnikov", "constant"]
PROFILES = {
    "gaussian": lambda u: exp(-u * u / 2),
    "boxcar": lambda u: 1.0 if u <= 1 else 0.0,
    "triangular": lambda u: max(0.0, 1 - u),
    "epanechnikov": lambda u: 0.75 * max(0.0, 1 - u * u),
    "constant": lambda u: 1.0,
}


def double_loop(queries, keys, kernel, bandwidth, leave_one_out=False):
    """Return weights by two loops over points, (m, n); all 0 where no key is in reach."""
    queries, keys = ([np.atleast_1d(p).astype(float) for p in points] for points in (queries, keys))
    sigma = np.broadcast_to(np.asarray(bandwidth, dtype=float), keys[0].shape)
    weights = np.zeros((len(queries), len(keys)))
    for i, q in enumerate(queries):
        for j, k in enumerate(keys):
            if not (leave_one_out and i == j):
                u = sqrt(sum(((a - b) / s) ** 2 for a, b, s in zip(q, k, sigma)))
                weights[i, j] = PROFILES[kernel](u)
        if weights[i].sum() > 0:
            weights[i] /= weights[i].sum()
    return weights


def mean_of(weights, values):
    """Return weights @ values, NaN in rows without weight."""
    out = np.tensordot(weights, np.asarray(values, dtype=float), axes=1)
    out[weights.sum(axis=1) == 0] = np.nan
    return out


@st.composite
def scenes(draw, max_features=3):
    """Draw (queries, keys, values, bandwidth) with more queries than keys or fewer."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, n, d = draw(st.integers(1, 9)), draw(st.integers(1, 12)), draw(st.integers(1, max_features))
    m += m == n
    scale = 10.0 ** draw(st.integers(-8, 8))
    kind = draw(st.sampled_from(["float", "repeated", "integer"]))
    queries, keys = rng.normal(size=(m, d)), rng.normal(size=(n, d))
    if kind == "repeated":
        queries, keys = np.round(queries), np.round(keys)
    queries, keys = queries * scale, keys * scale
    if kind == "integer":
        queries, keys = (np.rint(10 * a / scale).astype(np.int32) for a in (queries, keys))
        scale = 10.0
    if d == 1 and draw(st.booleans()):
        queries, keys = queries[:, 0], keys[:, 0]
    values = rng.normal(size=(n, *draw(st.sampled_from([(), (1,), (3,), (2, 2)]))))
    bandwidth = scale * draw(st.floats(0.3, 3))
    return queries, keys, values, bandwidth
