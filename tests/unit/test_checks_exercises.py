"""Answers that readers give to the exercises: right ones in several forms, and wrong ones with the mistake named.

The answers are written here from the exercise's words, not taken from the checks.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from attention_pooling import (
    attention_weights,
    bandwidth_gradient,
    dot_product_weights,
    leave_one_out_error,
    nadaraya_watson,
    select_bandwidth,
    sine_data,
    sine_truth,
)
from attention_pooling.checks import NOT_YET, TASKS, _exercises, check
from attention_pooling.checks._exercise_2 import LEFT_OUT_OPTIMUM, TRUTH_OPTIMUM

EXP, DOT = math.exp, np.dot


def gauss(x, z, s):
    """K for single points, numbers or vectors."""
    return EXP(-float(np.sum((np.asarray(x) - np.asarray(z)) ** 2)) / (2 * s * s))


def softmax(scores, axis=1):
    e = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def d2(x, z):
    return (np.subtract.outer(x, z)) ** 2 if np.ndim(x) == 1 else ((x[:, None] - z) ** 2).sum(-1)


# --- Exercise 1 ------------------------------------------------------------------------------------------------------

def joint_looped(queries, points, labels, bandwidth):
    n, d = len(points), len(points[0])
    rows = []
    for q in queries:
        row = [0.0, 0.0]
        for p, c in zip(points, labels):
            row[int(c == 1)] += gauss(q, p, bandwidth) / (math.sqrt(2 * math.pi) * bandwidth) ** d / n
        rows.append(row)
    return rows


def joint_float32(queries, points, labels, bandwidth):
    return np.array(joint_looped(queries, points, labels, bandwidth), dtype=np.float32)


def joint_generator(queries, points, labels, bandwidth):
    yield from joint_looped(queries, points, labels, bandwidth)


def joint_by_mean(queries, points, labels, bandwidth):
    d = points.shape[1]
    k = np.exp(-d2(queries, points) / 2 / bandwidth**2) / (2 * np.pi) ** (d / 2) / bandwidth**d
    return np.column_stack([(k * (labels == -1)).mean(1), (k * (labels == 1)).mean(1)])


def conditional(queries, points, labels, bandwidth):
    j = np.array(joint_looped(queries, points, labels, bandwidth))
    return j * len(labels) / [np.sum(labels == -1), np.sum(labels == 1)]


def differ_looped(queries, points, labels, bandwidth, priors):
    out = []
    for q, (a, b) in zip(queries, conditional(queries, points, labels, bandwidth)):
        pooled = sum(gauss(q, p, bandwidth) * y for p, y in zip(points, labels))
        out.append((1 if priors[1] * b > priors[0] * a else -1) != (1 if pooled > 0 else -1))
    return out


def differ_package(queries, points, labels, bandwidth, priors):
    given = conditional(queries, points, labels, bandwidth)
    rule = np.sign(priors[1] * given[:, 1] - priors[0] * given[:, 0])
    return rule != np.sign(nadaraya_watson(queries, points, labels, bandwidth=bandwidth))


def differ_column_of_integers(*case):
    return differ_package(*case).astype(int)[:, None]


# --- Exercise 2 ------------------------------------------------------------------------------------------------------

def central_difference(leave_one_out):
    def answer(keys, values, bandwidth):
        def error(log_sigma):
            f = nadaraya_watson(keys, keys, values, bandwidth=EXP(log_sigma), leave_one_out=leave_one_out)
            return np.mean((f - values) ** 2)

        s, h = math.log(bandwidth), 1e-5
        return (error(s + h) - error(s - h)) / (2 * h)

    return answer


def forward_difference(leave_one_out):
    def answer(keys, values, bandwidth):
        def error(s):
            f = nadaraya_watson(keys, keys, values, bandwidth=s, leave_one_out=leave_one_out)
            return np.mean((f - values) ** 2)

        return (error(bandwidth + 1e-7) - error(bandwidth)) / 1e-7 * bandwidth

    return answer


def gradient_looped(own):
    def answer(x, y, s):
        total, n = 0.0, len(x)
        for i in range(n):
            others = [j for j in range(n) if own or j != i]
            k = {j: gauss(x[i], x[j], s) for j in others}
            z = sum(k.values())
            f = sum(k[j] * y[j] for j in others) / z
            slope = sum(k[j] / z * (x[i] - x[j]) ** 2 * (y[j] - f) for j in others) / s**2
            total += 2 * (f - y[i]) * slope / n
        return total

    return answer


def gradient_package(leave_one_out):
    return lambda x, y, s: [[bandwidth_gradient(x, y, bandwidth=s, leave_one_out=leave_one_out)]]


def slip(own=True, *, masked_late=False, axis=1, sign=1, two=2, term=True, variable="log", mean=True, power=2):
    """The gradient as a reader writes it, with one slip."""

    def answer(x, y, s):
        squares = (x[:, None] - x[None, :]) ** 2
        scores = -squares / (2 * s**power)
        if not own:
            scores = scores - np.diag(np.full(len(x), np.inf))
        w = softmax(scores, axis)
        if masked_late:
            w = w * (1 - np.eye(len(x)))
        f = w @ y
        df = (w * squares) @ y - term * (w * squares).sum(1) * f
        df = df / {"log": s**2, "sigma": s**3, "square": 2 * s**4, "inverse": -s}[variable]
        terms = two * sign * (f - y) * df
        return terms.mean() if mean else terms.sum()

    return answer


# --- Exercise 3 ------------------------------------------------------------------------------------------------------

def residuals_looped(weights, values):
    out = []
    for i, y in enumerate(values):
        rest = [(w, v) for j, (w, v) in enumerate(zip(weights[i], values)) if j != i]
        out.append(y - sum(w * v for w, v in rest) / sum(w for w, _ in rest))
    return out


def residuals_masked(weights, values):
    w = weights.copy()
    np.fill_diagonal(w, 0)
    return (values - (w / w.sum(1, keepdims=True)) @ values)[:, None]


def residuals_in_place(weights, values):
    weights[np.diag_indices_from(weights)] = 0
    weights /= weights.sum(axis=1)[:, None]
    return values - weights @ values


def weights_looped(queries, keys, bandwidth):
    rows = []
    for q in queries:
        scores = [-((q - k) ** 2) / (2 * bandwidth**2) for k in keys]
        e = [EXP(a - max(scores)) for a in scores]
        rows.append([x / sum(e) for x in e])
    return rows


def weights_by_nearest_distance(queries, keys, bandwidth):
    d = np.abs(np.subtract.outer(queries, keys))
    near = d.min(axis=1)[:, None]
    k = np.exp(-((d - near) / bandwidth) * ((d + near) / bandwidth) / 2)
    return k / k.sum(axis=1)[:, None]


def weights_transposed_inside(queries, keys, bandwidth):
    scores = -((keys[:, None] - queries) ** 2) / bandwidth**2 / 2
    scores -= scores.max(axis=0)
    return np.matrix((np.exp(scores) / np.exp(scores).sum(axis=0)).T)


# --- Exercise 4 ------------------------------------------------------------------------------------------------------

def free_by_softmax(values):
    return softmax(50 * np.eye(len(values)))


def free_by_mixing(values):
    """Right, and not the identity: half of each row mixes its neighbours in rank to the same value."""
    w, order = np.eye(len(values)), np.argsort(values)
    for low, own, high in zip(order, order[1:], order[2:]):
        gap = values[high] - values[low]
        t = 0.5 if gap == 0 else (values[own] - values[low]) / gap
        w[own, own] = 0.5
        w[own, [low, high]] += 0.5 * (1 - t), 0.5 * t
    return w


def masked_by_ends(values):
    rows = []
    for i, y in enumerate(values):
        rest = [j for j in range(len(values)) if j != i]
        low, high = min(rest, key=lambda j: values[j]), max(rest, key=lambda j: values[j])
        t = min(max((y - values[low]) / (values[high] - values[low]), 0), 1)
        rows.append([(j == low) * (1 - t) + (j == high) * t for j in range(len(values))])
    return rows


def masked_by_neighbours(values):
    w, order = np.zeros((len(values),) * 2), np.argsort(values)
    w[order[0], order[1]] = w[order[-1], order[-2]] = 1
    for low, own, high in zip(order, order[1:], order[2:]):
        gap = values[high] - values[low]
        t = 0.5 if gap == 0 else (values[own] - values[low]) / gap
        w[own, low], w[own, high] = 1 - t, t
    return w


def masked_by_search(values):
    """A softmax over the others whose temperature is found by bisection: a form nobody expects."""
    rows = []
    for i, y in enumerate(values):
        others = np.delete(values, i)
        low, high = -400.0, 400.0
        for _ in range(60):
            middle = (low + high) / 2
            w = softmax(middle * others[None])[0]
            low, high = (middle, high) if w @ others < y else (low, middle)
        rows.append(np.insert(w, i, 0))
    return np.array(rows)


# --- Exercise 5 ------------------------------------------------------------------------------------------------------

def products_looped(queries, keys, bandwidth):
    rows = []
    for q in queries:
        e = [EXP(sum(a * b for a, b in zip(q, k)) / bandwidth**2) for k in keys]
        rows.append([x / sum(e) for x in e])
    return rows


def equal_lengths(queries, keys):
    lengths = [math.hypot(*k) for k in keys]
    return max(lengths) - min(lengths) <= 1e-9 * max(lengths)


def repaired_looped(queries, keys, bandwidth):
    rows = []
    for q in queries:
        e = [EXP((DOT(q, k) - DOT(k, k) / 2) / bandwidth**2) for k in keys]
        rows.append(np.array(e) / sum(e))
    return rows


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


# --- Exercise 6 ------------------------------------------------------------------------------------------------------

def bias_variance_looped(queries, keys, bandwidth, noise):
    biases, variances = [], []
    for q in queries:
        k = [gauss(q, x, bandwidth) for x in keys]
        w = [a / sum(k) for a in k]
        biases.append(sum(a * (2 * math.sin(x) + x) for a, x in zip(w, keys)) - (2 * math.sin(q) + q))
        variances.append(sum((a * noise) ** 2 for a in w))
    return sum(b * b for b in biases) / len(queries), sum(variances) / len(queries)


def bias_variance_package(queries, keys, bandwidth, noise):
    b = nadaraya_watson(queries, keys, sine_truth(keys), bandwidth=bandwidth) - sine_truth(queries)
    w = attention_weights(queries, keys, bandwidth=bandwidth)
    return {"variance": noise**2 * np.linalg.norm(w) ** 2 / len(queries), "squared_bias": b @ b / len(b)}


def bias_variance_einsum(queries, keys, bandwidth, noise):
    w = attention_weights(queries, keys, bandwidth=bandwidth)
    parts = [(w @ sine_truth(keys) - sine_truth(queries)) ** 2, np.einsum("ij,ij->i", w, w) * noise**2]
    return np.mean(parts, axis=1)


def bv_slip(bias=lambda b: (b**2).mean(), variance=lambda w, s: s**2 * (w**2).sum(1).mean()):
    def answer(queries, keys, bandwidth, noise):
        w = attention_weights(queries, keys, bandwidth=bandwidth)
        return bias(w @ sine_truth(keys) - sine_truth(queries)), variance(w, noise)

    return answer


# --- Exercise 7 ------------------------------------------------------------------------------------------------------

def classes_looped(queries, points, labels, bandwidth, classes):
    rows = []
    for q in queries:
        row = [0.0] * classes
        for p, c in zip(points, labels):
            row[c] += gauss(q, p, bandwidth)
        rows.append([x / sum(row) for x in row])
    return rows


def classes_one_by_one(queries, points, labels, bandwidth, classes):
    w = attention_weights(queries, points, bandwidth=bandwidth)
    return np.stack([w[:, labels == c].sum(axis=1) for c in range(classes)], axis=-1)


def classes_from_indicators(queries, points, labels, bandwidth, classes):
    one_hot = (labels[:, None] == np.arange(classes)).astype(np.float32)
    return nadaraya_watson(queries, points, one_hot, bandwidth=bandwidth)


def deletion_looped(weights, one_hot):
    before = weights @ one_hot
    for j in range(len(weights)):
        w = np.delete(weights, j)
        yield w @ np.delete(one_hot, j, axis=0) / w.sum() - before


def deletion_solved(weights, one_hot):
    f = weights @ one_hot
    return (f - weights[:, None] * one_hot) / (1 - weights)[:, None] - f


def deletion_outer(weights, one_hot):
    return np.diag(weights / (1 - weights)) @ (np.tile(weights @ one_hot, (len(weights), 1)) - one_hot)


RIGHT = {
    "joint-densities": [joint_looped, joint_by_mean, joint_float32, joint_generator],
    "disagreements": [differ_looped, differ_package, differ_column_of_integers],
    "training-gradient": [
        slip(), gradient_looped(True), gradient_package(False), central_difference(False), forward_difference(False)],
    "left-out-gradient": [
        slip(own=False), gradient_looped(False), gradient_package(True), central_difference(True), forward_difference(True)],
    "descent": [0.4401, math.log(0.4401), np.array([0.44]), [[0.4402]], np.float32(0.4401), lambda: 0.44],
    "memorisation": [0.5, Fraction(1, 2), np.array([[0.5]]), [0.5], 0.4999999, np.float32(0.5)],
    "left-out-residuals": [residuals_looped, residuals_masked, residuals_in_place],
    "stable-weights": [weights_looped, weights_by_nearest_distance, weights_transposed_inside,
                       lambda q, k, s: attention_weights(q, k, bandwidth=s)],
    "free-weights": [lambda y: np.eye(len(y)), free_by_softmax, free_by_mixing, lambda y: [[int(i == j) for j in range(len(y))] for i in range(len(y))]],
    "masked-weights": [masked_by_ends, masked_by_neighbours, masked_by_search],
    "count-parameters": [
        {"free": 1560, "masked": 1520, "projections": 128}, [1560, 1520, 128], (1560.0, 1520.0, 128.0),
        {"projections": 2 * 16 * 4, "masked": 40 * 38, "free": 40 * 39}, np.array([[1560], [1520], [128]])],
    "sphere-weights": [products_looped, lambda q, k, s: dot_product_weights(q, k, scale=1 / s**2),
                       lambda q, k, s: softmax(np.einsum("id,jd->ij", q, k) / s**2), lambda q, k, s: softmax((k @ q.T / s**2).T)],
    "weakest-condition": [equal_lengths, lambda q, k: np.ptp((k**2).sum(1)) < 1e-6, lambda q, k: np.array([np.std([*map(np.linalg.norm, k)]) < 1e-9]),
                          lambda q, k: int(np.isclose(np.diag(k @ k.T), k[0] @ k[0]).all())],
    "repaired-weights": [repaired_looped, lambda q, k, s: attention_weights(q, k, bandwidth=s),
                         lambda q, k, s: softmax(q @ k.T / s**2 - np.linalg.norm(k, axis=1) ** 2 / (2 * s**2))],
    "exponent": [lambda d: -1 / (d + 4), lambda d: Fraction(-1, d + 4), lambda d: np.array([-((4 + d) ** -1.0)])],
    "bias-variance": [bias_variance_looped, bias_variance_package, bias_variance_einsum],
    "slopes": [{"whole": -0.25, "interior": -0.2}, (-0.256, -0.205), np.array([-0.24, -0.19]), [Fraction(-1, 4), Fraction(-1, 5)]],
    "class-probabilities": [classes_looped, classes_one_by_one, classes_from_indicators],
    "deletion": [deletion_looped, deletion_solved, deletion_outer],
}  # fmt: skip


def sphere(scale, axis=1):
    return lambda q, k, s: softmax(scale(s, q.shape[-1]) * q @ k.T, axis)


def density_slip(constant=lambda s, d: (2 * np.pi) ** (d / 2) * s**d, exponent=lambda r, s: -r / (2 * s**2), n=None):
    def answer(queries, points, labels, bandwidth):
        k = np.exp(exponent(d2(queries, points), bandwidth)) / constant(bandwidth, points.shape[1])
        counts = [len(labels)] * 2 if n is None else [n(labels, -1), n(labels, 1)]
        return np.stack([k[:, labels == c].sum(1) / m for c, m in zip((-1, 1), counts)], 1)

    return answer


def k_plain(q, k, s):
    return np.exp(-d2(q, k) / (2 * s**2))


def normalised(k, extra=0.0):
    return k / (k.sum(axis=1, keepdims=True) + extra)


def shifted(shift):
    def answer(q, k, s):
        scores = -d2(q, k) / (2 * s**2)
        return normalised(np.exp(scores - shift(scores)))

    return answer


WRONG = {
    "joint-densities": {
        "given-class": density_slip(n=lambda labels, c: np.sum(labels == c)),
        "sum-for-mean": density_slip(n=lambda labels, c: 1),
        "posterior": lambda q, p, y, s: normalised(np.array(joint_looped(q, p, y, s))),
        "no-constant": density_slip(constant=lambda s, d: 1),
        "no-bandwidth-in-constant": density_slip(constant=lambda s, d: (2 * np.pi) ** (d / 2)),
        "constant-of-one-feature": density_slip(constant=lambda s, d: np.sqrt(2 * np.pi) * s),
        "bandwidth-power": density_slip(constant=lambda s, d: np.sqrt(2 * np.pi) ** d * s),
        "constant-of-two-features": density_slip(constant=lambda s, d: 2 * np.pi * s * s),
        "sigma-for-its-square": density_slip(exponent=lambda r, s: -r / (2 * s)),
        "half-lost": density_slip(exponent=lambda r, s: -r / s**2),
        "sign-lost": density_slip(exponent=lambda r, s: r / (2 * s**2)),
        "distance-not-squared": density_slip(exponent=lambda r, s: -np.sqrt(r) / (2 * s**2)),
        "columns-swapped": lambda *case: [row[::-1] for row in joint_looped(*case)],
        "transposed": lambda *case: np.array(joint_looped(*case)).T,
    },
    "disagreements": {
        "priors-ignored": lambda q, p, y, s, priors: np.sign(np.diff(joint_looped(q, p, y, s))[:, 0])
        != np.sign(nadaraya_watson(q, p, y, bandwidth=s)),
        "priors-counted-twice": lambda q, p, y, s, priors: np.sign(np.diff(np.array(joint_looped(q, p, y, s)) * priors)[:, 0])
        != np.sign(nadaraya_watson(q, p, y, bandwidth=s)),
        "agreements": lambda *case: [not d for d in differ_looped(*case)],
        "labels-zero-one": lambda q, p, y, s, priors: (conditional(q, p, y, s) @ np.diag(priors)).argmax(1)
        != (nadaraya_watson(q, p, (y + 1) / 2, bandwidth=s) > 0),
        "priors-swapped": lambda q, p, y, s, priors: differ_looped(q, p, y, s, priors[::-1]),
        "decisions": lambda q, p, y, s, priors: np.array([-1, 1])[(conditional(q, p, y, s) * priors).argmax(1)],
        "share": lambda *case: sum(differ_looped(*case)) / len(case[0]),
    },
    "training-gradient": {
        "in-sigma": slip(variable="sigma"), "in-square": slip(variable="square"), "sign-lost": slip(sign=-1),
        "in-inverse": lambda x, y, s: -s * slip()(x, y, s), "two-lost": slip(two=1), "sum-for-mean": slip(mean=False),
        "bandwidth-squared-lost": lambda x, y, s: s**2 * slip()(x, y, s), "denominator-constant": slip(term=False),
        "wrong-axis": slip(axis=0), "sigma-for-its-square": slip(power=1), "own-label-out": slip(own=False),
        "root": lambda x, y, s: slip()(x, y, s) / (2 * np.sqrt(np.mean((nadaraya_watson(x, x, y, bandwidth=s) - y) ** 2))),
        "not-normalised": lambda x, y, s: np.mean(2 * (k_plain(x, x, s) @ y - y) * ((k_plain(x, x, s) * d2(x, x)) @ y) / s**2),
        "bandwidth-as-logarithm": lambda x, y, s: slip()(x, y, np.exp(s)),
    },
    "left-out-gradient": {
        "own-label-in": gradient_looped(True), "masked-too-late": slip(masked_late=True), "in-sigma": slip(own=False, variable="sigma"),
        "in-square": slip(own=False, variable="square"), "sign-lost": slip(own=False, sign=-1), "two-lost": slip(own=False, two=1),
        "sum-for-mean": slip(own=False, mean=False), "denominator-constant": slip(own=False, term=False),
        "wrong-axis": slip(own=False, axis=0), "sigma-for-its-square": slip(own=False, power=1),
        "only-residual": lambda x, y, s: _only_residual(x, y, s),
        "bandwidth-as-logarithm": lambda x, y, s: slip(own=False)(x, y, np.exp(s)),
    },
    "descent": {
        "memorised": 0.0021, "truth-used": 0.4775, "inverse": 1 / 0.4401, "square": 0.4401**2, "exponential": EXP(0.4401),
        "not-there-yet": 0.6, "uphill": 5.0, "other": 0.3, "shape": [0.44, 0.43],
    },
    "memorisation": {"repeated-key": 0, "mean-of-the-pair": 1, "sum": 2, "wrong-limit": np.var([0, 2, 4, 1]), "own-label-out": 21 / 4,
                     "root": math.sqrt(1 / 2), "other": 0.3, "not-finite": math.inf},
    "left-out-residuals": {
        "plain-residual": lambda w, y: y - w.dot(y), "sign-lost": lambda w, y: [-r for r in residuals_looped(w, y)],
        "estimate": lambda w, y: y - residuals_looped(w, y), "divided-by-one-plus": lambda w, y: (y - w @ y) / (1 + w.diagonal()),
        "multiplied": lambda w, y: (1 - w.diagonal()) * (y - w @ y), "divided-by-own-weight": lambda w, y: (y - w @ y) / w.diagonal(),
        "not-normalised-again": lambda w, y: y - (w - np.diag(np.diag(w))) @ y, "wrong-axis": lambda w, y: (y - y @ w) / (1 - w.diagonal()),
        "squared": lambda w, y: np.square(residuals_looped(w, y)),
    },
    "stable-weights": {
        "zero-by-zero": lambda q, k, s: normalised(k_plain(q, k, s)),
        "zero-rows": lambda q, k, s: normalised(k_plain(q, k, s), 1e-12),
        "uniform-rows": lambda q, k, s: normalised(np.clip(k_plain(q, k, s), 1e-290, None)),
        "nearest-only": lambda q, k, s: (np.arange(len(k)) == d2(q, k).argmin(1)[:, None]).astype(int),
        "one-maximum": shifted(lambda a: a.max()), "wrong-axis-maximum": shifted(lambda a: a.max(axis=0)),
        "minimum": shifted(lambda a: a.min(axis=1, keepdims=True)),
        "not-normalised": lambda q, k, s: np.exp(-d2(q, k) / (2 * s**2) + d2(q, k).min(1)[:, None] / (2 * s**2)),
        "wrong-axis": lambda q, k, s: softmax(-d2(q, k) / (2 * s**2), axis=0), "sigma-for-its-square": lambda q, k, s: softmax(-d2(q, k) / (2 * s)),
        "sign-lost": lambda q, k, s: softmax(d2(q, k) / (2 * s**2)), "keys-for-queries": lambda q, k, s: softmax(-d2(k, q) / (2 * s**2)),
    },
    "free-weights": {
        "mean": lambda y: np.full((len(y),) * 2, 1 / len(y)), "own-label-out": masked_by_ends, "negative": lambda y: 2 * np.eye(len(y)) - 1 / len(y),
        "not-normalised": lambda y: 2 * np.eye(len(y)), "wrong-axis": lambda y: np.tile(np.eye(len(y))[:, :1], len(y)),
        "shape": lambda y: y, "not-fitted": lambda y: softmax(np.eye(len(y))), "not-finite": lambda y: np.full((len(y),) * 2, np.nan),
    },
    "masked-weights": {
        "own-label-in": lambda y: np.eye(len(y)), "mean": lambda y: (1 - np.eye(len(y))) / (len(y) - 1),
        "nearest-only": lambda y: np.eye(len(y))[(np.abs(np.subtract.outer(y, y)) + np.diag(np.full(len(y), 1e9))).argmin(1)],
        "not-normalised": lambda y: (1 - np.eye(len(y))), "negative": lambda y: 2 * (1 - np.eye(len(y))) / (len(y) - 1) - np.roll(np.eye(len(y)), 1, 1),
        "not-fitted": lambda y: softmax(np.where(np.eye(len(y)), -np.inf, -np.abs(np.subtract.outer(y, y)))), "shape": lambda y: np.zeros(len(y)),
    },
    "count-parameters": {
        "free-sum-forgotten": [1600, 1560, 128], "free": [40, 39, 128], "masked-sum-forgotten": [1560, 1560, 128], "masked": [1560, 1481, 128],
        "one-matrix": [1560, 1520, 64], "grows-with-n": [1560, 1520, 2560], "square": [1560, 1520, 512], "projections": [1560, 1520, 7],
        "shape": [1560, 1520],
    },
    "sphere-weights": {
        "distances": lambda q, k, s: attention_weights(q, k, bandwidth=s), "sigma-for-its-square": sphere(lambda s, d: 1 / s),
        "half": sphere(lambda s, d: 1 / (2 * s**2)), "twice": sphere(lambda s, d: 2 / s**2), "sign-lost": sphere(lambda s, d: -1 / s**2),
        "root-of-dimension": lambda q, k, s: dot_product_weights(q, k), "no-scale": sphere(lambda s, d: 1),
        "unit-length-forced": lambda q, k, s: products_looped(unit(q), unit(k), s), "wrong-axis": sphere(lambda s, d: s**-2, axis=0),
        "not-normalised": lambda q, k, s: np.exp(q @ k.T / s**2), "keys-for-queries": lambda q, k, s: products_looped(k, q, s),
        "transposed": lambda q, k, s: np.array(products_looped(q, k, s)).T,
    },
    "weakest-condition": {
        "everything-unit": lambda q, k: all(abs(math.hypot(*v) - 1) < 1e-9 for v in [*q, *k]), "keys-unit": lambda q, k: np.allclose(unit(k), k),
        "queries-unit": lambda q, k: np.allclose(unit(q), q), "queries-equal": lambda q, k: equal_lengths(k, q),
        "both-equal": lambda q, k: equal_lengths(k, q) and equal_lengths(q, k), "same-length": lambda q, k: equal_lengths(q, np.vstack([q, k])),
        "exact-comparison": lambda q, k: len(set(np.linalg.norm(k, axis=1))) == 1, "always": lambda q, k: True, "never": lambda q, k: False,
    },
    "repaired-weights": {
        "no-bias": products_looped, "half-lost": lambda q, k, s: softmax((q @ k.T - (k * k).sum(1)) / s**2),
        "sign-lost": lambda q, k, s: softmax((q @ k.T + (k * k).sum(1) / 2) / s**2), "bandwidth-lost": lambda q, k, s: softmax(q @ k.T / s**2 - (k * k).sum(1) / 2),
        "norm-not-squared": lambda q, k, s: softmax((q @ k.T - np.sqrt((k * k).sum(1)) / 2) / s**2), "keys-scaled": lambda q, k, s: products_looped(q, unit(k), s),
        "after-softmax": lambda q, k, s: np.array(products_looped(q, k, s)) - (k * k).sum(1) / (2 * s**2),
        "wrong-axis": lambda q, k, s: softmax(-d2(q, k) / (2 * s**2), axis=0), "sigma-for-its-square": lambda q, k, s: softmax(-d2(q, k) / (2 * s)),
    },
    "exponent": {
        "sign-lost": lambda d: 1 / (4 + d), "error-rate": lambda d: -4 / (4 + d), "bias-rate": lambda d: -2 / (4 + d), "dimension-forgotten": lambda d: -0.2,
        "edge-rate": lambda d: -1 / (3 + d), "bias-not-squared": lambda d: -1 / (2 + d), "dimension-multiplied": lambda d: -1 / (1 + 4 * d),
    },
    "bias-variance": {
        "bias-not-squared": bv_slip(bias=lambda b: b.mean()), "mean-before-square": bv_slip(bias=lambda b: b.mean() ** 2), "absolute-bias": bv_slip(bias=lambda b: abs(b).mean()),
        "weights-not-squared": bv_slip(variance=lambda w, s: s**2 * w.sum(1).mean()), "noise-not-squared": bv_slip(variance=lambda w, s: s * (w**2).sum(1).mean()),
        "mean-over-keys": bv_slip(variance=lambda w, s: s**2 * (w**2).mean()), "wrong-axis": bv_slip(variance=lambda w, s: s**2 * (w**2).sum(0).mean()),
        "noise-lost": bv_slip(variance=lambda w, s: (w**2).sum(1).mean()), "swapped": lambda *case: bias_variance_looped(*case)[::-1],
        "sums": bv_slip(lambda b: (b**2).sum(), lambda w, s: s**2 * (w**2).sum()), "one-number": lambda *case: sum(bias_variance_looped(*case)),
    },
    "slopes": {
        "swapped": [-0.2, -0.25], "sign-lost": [0.25, 0.2], "axes-swapped": [-4.0, -5.0], "slope-of-error": [-0.75, -0.8], "expected-not-measured": [-0.2, -0.2],
        "edges-left-in": {"whole": -0.252, "interior": -0.25}, "other": [-0.4, -0.3], "shape": [-0.25],
    },
    "class-probabilities": {
        "class-missing": lambda q, p, y, s, c: np.array(classes_looped(q, p, y, s, c))[:, sorted(set(y))],
        "numbers-averaged": lambda q, p, y, s, c: nadaraya_watson(q, p, y, bandwidth=s), "decisions": lambda *case: np.argmax(classes_looped(*case), axis=1),
        "not-normalised": lambda q, p, y, s, c: k_plain(q, p, s) @ np.eye(c)[y], "mean-over-keys": lambda q, p, y, s, c: k_plain(q, p, s) @ np.eye(c)[y] / len(y),
        "wrong-axis": lambda q, p, y, s, c: softmax(-d2(q, p) / (2 * s**2), axis=0) @ np.eye(c)[y], "sign-lost": lambda q, p, y, s, c: softmax(d2(q, p) / (2 * s**2)) @ np.eye(c)[y],
        "sigma-for-its-square": lambda q, p, y, s, c: softmax(-d2(q, p) / (2 * s)) @ np.eye(c)[y],
        "coordinates-added": lambda q, p, y, s, c: softmax(-(np.abs(q[:, None] - p).sum(-1) ** 2) / (2 * s**2)) @ np.eye(c)[y],
        "equal-classes": lambda q, p, y, s, c: normalised(np.stack([k_plain(q, p, s)[:, y == i].sum(1) / max(sum(y == i), 1) for i in range(c)], 1)),
        "transposed": lambda *case: np.transpose(classes_looped(*case)),
    },
    "deletion": {
        "sign-lost": lambda w, y: -deletion_solved(w, y), "not-normalised-again": lambda w, y: w[:, None] * (w @ y - y), "contribution-removed": lambda w, y: -(w * y.T).T,
        "contribution": lambda w, y: (w * y.T).T, "estimate-after": lambda w, y: deletion_solved(w, y) + w @ y, "divided-by-weight": lambda w, y: w @ y - y,
        "divided-by-one-plus": lambda w, y: ((w @ y - y).T * w / (1 + w)).T, "transposed": lambda w, y: deletion_solved(w, y).T,
    },
}  # fmt: skip


def _only_residual(x, y, s):
    w = softmax(-d2(x, x) / (2 * s**2))
    f = w @ y
    slope = ((w * d2(x, x)) @ y - (w * d2(x, x)).sum(1) * f) / s**2
    return np.mean(2 * (f - y) / (1 - np.diag(w)) * slope)


def test_every_check_is_tried():
    names = {task.name for task in _exercises.TASKS}
    assert set(RIGHT) == set(WRONG) == names
    assert all(len(answers) >= 3 for answers in RIGHT.values())
    assert all(len(answers) >= 4 for answers in WRONG.values())
    for name, answers in WRONG.items():
        assert {mistake.label for mistake in TASKS[name].mistakes} - set(answers) <= {
            # the same slip as one that is listed for the other gradient
            "in-inverse", "root", "bandwidth-squared-lost", "not-normalised",
        }, name  # fmt: skip


@pytest.mark.parametrize("name, answer", [(name, a) for name, answers in RIGHT.items() for a in answers])
def test_a_right_answer_passes_in_every_form(name, answer):
    result = check(name, answer)
    assert result.passed, result.message


@pytest.mark.parametrize("name, label", [(name, label) for name, answers in WRONG.items() for label in answers])
def test_a_wrong_answer_gets_its_message(name, label):
    result = check(name, WRONG[name][label])
    assert (result.outcome, result.mistake) == (NOT_YET, label), result.message


@pytest.mark.parametrize("name", WRONG)
def test_no_two_mistakes_share_a_message(name):
    messages = [check(name, answer).message for answer in WRONG[name].values()]
    assert len(set(messages)) == len(messages)


@pytest.mark.parametrize("name", [
    task.name for task in _exercises.TASKS
    if task.cases and not task.judge and task.name not in ("disagreements", "weakest-condition")  # True and False have no factor
])  # fmt: skip
@pytest.mark.parametrize("factor, label", [(3.0, "constant-factor"), (-1.0, "sign")])
def test_a_lost_factor_is_seen_even_where_no_mistake_is_listed(name, factor, label):
    right = RIGHT[name][0]

    def answer(*case):
        output = right(*case)
        return factor * np.array(output if isinstance(output, (int, float, list, tuple, np.ndarray)) else list(output))

    mistake = check(name, answer).mistake
    assert mistake == label or (label == "sign" and mistake == "sign-lost")


def test_a_coarse_finite_difference_is_called_close():
    def answer(keys, values, bandwidth):
        def error(sigma):
            return np.mean((nadaraya_watson(keys, keys, values, bandwidth=sigma) - values) ** 2)

        return (error(bandwidth * math.exp(1e-4)) - error(bandwidth)) / 1e-4 * 1.0005

    result = check("training-gradient", answer)
    assert result.mistake == "lost-digits" and "finite difference" in " ".join(result.message.split())


@pytest.mark.parametrize("turn", [lambda r: r + 0.1j, lambda r: [*(r + 0.1j)], lambda r: r.astype(complex)], ids=["array", "list", "no imaginary part"])
def test_complex_numbers_are_not_taken_for_their_real_part(turn):
    result = check("left-out-residuals", lambda w, y: turn(np.array(residuals_looped(w, y))))
    assert result.mistake == "no-numbers" and "complex numbers" in " ".join(result.message.split())


def test_one_number_that_is_not_finite():
    text = " ".join(check("training-gradient", lambda x, y, s: y[0] * np.nan).message.split())
    assert "The number you returned is not finite." in text


def test_a_right_answer_on_some_inputs_only():
    result = check("class-probabilities", lambda q, p, y, s, c: classes_looped(q, p, y, 0.7, c))
    text = " ".join(result.message.split())
    assert result.mistake == "other" and "on 2 of 3 inputs" in text and "class_probabilities(" in text


def test_a_small_slip_is_placed_and_the_right_number_is_not_shown():
    def answer(queries, keys, bandwidth):
        weights = attention_weights(queries, keys, bandwidth=bandwidth)
        weights[1, 2] += 1000
        return weights

    text = " ".join(check("repaired-weights", answer).message.split())
    assert "gave 1000 in entry [1, 2]" in text


def test_one_answer_for_every_input():
    result = check("training-gradient", lambda x, y, s: 0.2836)
    assert result.mistake == "same-for-all" and "names from the notebook" in " ".join(result.message.split())


@pytest.mark.parametrize("answer, words", [
    (lambda x, y, s: y, "an array of shape (9,); for this input it should be a single number"),
    (lambda x, y, s: np.outer(x, y), "an array of shape (9, 9); for this input it should be a single number"),
])  # fmt: skip
def test_another_shape_is_named(answer, words):
    result = check("training-gradient", answer)
    assert result.mistake == "shape" and words in " ".join(result.message.split())


def test_two_mistakes_at_once_of_which_one_is_a_transposition():
    result = check("joint-densities", lambda *case: 2 * np.array(joint_looped(*case)).T)
    assert result.mistake == "shape" and "Have rows and columns changed places?" in " ".join(result.message.split())


def test_the_bandwidths_that_the_descent_check_knows():
    data = sine_data(seed=0)
    assert select_bandwidth(data.keys, data.values).bandwidth == pytest.approx(LEFT_OUT_OPTIMUM, abs=2e-4)
    grid = np.linspace(0.4, 0.55, 1501)
    errors = [np.mean((nadaraya_watson(data.queries, data.keys, data.values, bandwidth=s) - data.truth) ** 2) for s in grid]
    assert grid[np.argmin(errors)] == pytest.approx(TRUTH_OPTIMUM, abs=2e-3)
    assert leave_one_out_error(data.keys, data.values, bandwidth=LEFT_OUT_OPTIMUM) < leave_one_out_error(data.keys, data.values, bandwidth=TRUTH_OPTIMUM)
