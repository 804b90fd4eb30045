"""The few formulas that several checks and their known mistakes are made of."""

import numpy as np


def squared_distances(queries, keys):
    """(m, n) from one-dimensional (m,), (n,) or d-dimensional (m, d), (n, d) inputs."""
    difference = queries[:, None] - keys[None]
    return (difference**2).reshape(len(queries), len(keys), -1).sum(axis=-1)


def kernel(queries, keys, bandwidth):
    """The Gaussian K, before any normalisation."""
    return np.exp(-squared_distances(queries, keys) / (2 * bandwidth**2))


def rows_to_one(scores):
    """Softmax along each row."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def columns_to_one(scores):
    """Softmax along each column: the wrong axis."""
    return rows_to_one(scores.T).T


def gaussian_scores(queries, keys, bandwidth):
    return -squared_distances(queries, keys) / (2 * bandwidth**2)
