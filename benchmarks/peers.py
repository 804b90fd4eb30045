"""The same estimate, in one feature with the Gaussian kernel, as the neighbouring libraries compute it.

Each peer takes `(queries, keys, values, bandwidth)`, all one-dimensional, and returns the estimates, `(n_queries,)`.
The formulas are those of the sources, not tuned for or against anybody; imports happen on first use, so a peer whose
package is not installed is left out of the table and named below it.
"""

from __future__ import annotations

import importlib.util
from typing import Callable, NamedTuple

import numpy as np


class Peer(NamedTuple):
    """One way to compute the estimate: what the table calls it, what it imports, how it runs."""

    label: str
    package: str
    estimate: Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]
    float32: bool = True
    """False where the library computes in float64 whatever comes in."""

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None


def package_estimate(queries, keys, values, bandwidth):
    """This book's estimator."""
    from attention_pooling import nadaraya_watson

    return nadaraya_watson(queries, keys, values, "gaussian", bandwidth)


def plain_numpy(queries, keys, values, bandwidth):
    """The formula as one writes it down, with the whole matrix of weights."""
    weights = np.exp(-((queries[:, None] - keys[None, :]) / bandwidth) ** 2 / 2)
    return (weights @ values) / weights.sum(axis=1)


def d2l_torch(queries, keys, values, bandwidth):
    """*Dive into Deep Learning*, section 11.2: kernel of all distances, normalised over the keys, then a product."""
    import torch

    x_val, x_train, y_train = (torch.from_numpy(array) for array in (queries, keys, values))
    dists = x_train.reshape((-1, 1)) - x_val.reshape((1, -1))  # rows are keys there
    k = torch.exp(-(dists**2) / (2 * bandwidth**2)).type(dists.dtype)
    attention_w = k / k.sum(0)
    return (y_train @ attention_w).numpy()


def sklearn_rbf(queries, keys, values, bandwidth):
    """scikit-learn's `rbf_kernel`, its rows normalised."""
    from sklearn.metrics.pairwise import rbf_kernel

    weights = rbf_kernel(queries[:, None], keys[:, None], gamma=1 / (2 * bandwidth**2))
    return (weights @ values) / weights.sum(axis=1)


def torch_sdpa(queries, keys, values, bandwidth):
    """PyTorch's fused attention on the equivalent scores.

    −(q − k)²/2σ² is q·k/σ² − k²/2σ² up to a term that is equal for all keys, which the softmax does not see: the
    product of (q, 1) with (k, −k²/2)/σ².
    """
    import torch

    q = torch.from_numpy(np.stack([queries, np.ones_like(queries)], axis=1))
    k = torch.from_numpy(np.stack([keys, -(keys**2) / 2], axis=1) / bandwidth**2)
    v = torch.from_numpy(values[:, None])
    with torch.inference_mode():
        pooled = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=1.0)
    return pooled[0, :, 0].numpy()


def statsmodels_lc(queries, keys, values, bandwidth):
    """statsmodels' `KernelReg`, local constant, with the bandwidth given."""
    from statsmodels.nonparametric.kernel_regression import KernelReg

    regression = KernelReg(values, keys, var_type="c", reg_type="lc", bw=[bandwidth], rng=0)  # rng is not used here
    return regression.fit(queries)[0]


PEERS = {
    "attention_pooling": Peer("attention_pooling", "attention_pooling", package_estimate),
    "numpy": Peer("plain NumPy formula", "numpy", plain_numpy),
    "d2l": Peer("D2L's formula, PyTorch CPU", "torch", d2l_torch),
    "sklearn": Peer("scikit-learn rbf_kernel, normalised", "sklearn", sklearn_rbf),
    "sdpa": Peer("PyTorch scaled_dot_product_attention", "torch", torch_sdpa),
    "statsmodels": Peer("statsmodels KernelReg, lc", "statsmodels", statsmodels_lc, float32=False),
}
