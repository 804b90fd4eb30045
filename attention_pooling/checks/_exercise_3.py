"""Exercise 3: what goes wrong when the estimator is put into its own training objective."""

import numpy as np

from ._core import Mistake, Task
from ._formulas import columns_to_one, gaussian_scores, rows_to_one


def left_out_residuals(weights, values):
    return (values - weights @ values) / (1 - np.diag(weights))


def _left_out_estimates(weights, values):
    return values - left_out_residuals(weights, values)


def _case(n, bandwidth, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 3, n)
    return rows_to_one(gaussian_scores(x, x, bandwidth)), rng.normal(size=n)


def stable_weights(queries, keys, bandwidth):
    return rows_to_one(gaussian_scores(queries, keys, bandwidth))


def _plain(queries, keys, bandwidth):
    k = np.exp(gaussian_scores(queries, keys, bandwidth))
    return k / k.sum(axis=1, keepdims=True)


def _zero_rows(queries, keys, bandwidth):
    return np.nan_to_num(_plain(queries, keys, bandwidth))


def _clipped(queries, keys, bandwidth):
    k = np.maximum(np.exp(gaussian_scores(queries, keys, bandwidth)), 1e-300)
    return k / k.sum(axis=1, keepdims=True)


def _uniform_rows(queries, keys, bandwidth):
    weights = _plain(queries, keys, bandwidth)
    return np.where(np.isnan(weights), 1 / len(keys), weights)


def _one_maximum(queries, keys, bandwidth):
    scores = gaussian_scores(queries, keys, bandwidth)
    k = np.exp(scores - scores.max())
    return k / k.sum(axis=1, keepdims=True)


def _column_maximum(queries, keys, bandwidth):
    scores = gaussian_scores(queries, keys, bandwidth)
    k = np.exp(scores - scores.max(axis=0))
    return k / k.sum(axis=1, keepdims=True)


def _minimum(queries, keys, bandwidth):
    scores = gaussian_scores(queries, keys, bandwidth)
    k = np.exp(scores - scores.min(axis=1, keepdims=True))
    return k / k.sum(axis=1, keepdims=True)


def _nearest(queries, keys, bandwidth):
    return np.eye(len(keys))[gaussian_scores(queries, keys, bandwidth).argmax(axis=1)]


def _not_divided(queries, keys, bandwidth):
    scores = gaussian_scores(queries, keys, bandwidth)
    return np.exp(scores - scores.max(axis=1, keepdims=True))


KEYS = np.array([0.0, 1.0, 2.0])
FAR = np.array([0.5, 1.5, 0.4, 5.0, -3.0])

TASKS = [
    Task(
        name="memorisation",
        wanted="the limit of the training error as σ goes to 0, one number",
        right=0.5,
        absolute=1e-3,
        mistakes=[
            Mistake(
                "repeated-key",
                0.0,
                "It would be 0 if all keys were different. Look at the key that occurs twice,"
                " with two different values: what is the estimate there?",
            ),
            Mistake(
                "mean-of-the-pair",
                1.0,
                "This is the mean over the two examples that share a key. The error is the mean"
                " over all four.",
            ),
            Mistake("sum", 2.0, "This is the sum of the squares. The error is their mean."),
            Mistake(
                "wrong-limit",
                2.1875,
                "This is the other limit, σ to infinity, where every estimate is the mean of all"
                " values. Small σ keeps the nearest key only.",
            ),
            Mistake(
                "own-label-out",
                5.25,
                "This is the limit of the leave-one-out error. In the training error each"
                " example sees its own value.",
            ),
            Mistake(
                "root",
                np.sqrt(0.5),
                "This is the root of the mean square. The error is the mean square itself.",
            ),
        ],
        praise="As σ goes to 0 the training error falls to the scatter of values at equal keys,"
        " and with distinct keys to 0: it asks for memory, not for a good estimate.",
        look="Write the four estimates in the limit down: which keys does each example still see?",
        hints=[
            "As σ goes to 0 each estimate becomes the mean value of the nearest keys. The nearest"
            " key of a training example is its own.",
            "Three of the keys are distinct; the key 1 occurs twice and both copies are equally"
            " near.",
            "So the estimates at 0 and 3 are their own values, and both estimates at 1 are the"
            " mean of 2 and 4. Square the residuals and take the mean over all four.",
        ],
    ),
    Task(
        name="left-out-residuals",
        wanted="a function `left_out_residuals(weights, values)` that returns one residual for"
        " each value",
        cases=[_case(6, 0.5, 1), _case(8, 0.9, 2)],
        right=left_out_residuals,
        mistakes=[
            Mistake(
                "plain-residual",
                lambda w, y: y - w @ y,
                "These are the residuals with the own label in. The own weight, on the diagonal,"
                " tells how much of the label came back.",
            ),
            Mistake(
                "sign-lost",
                lambda w, y: -left_out_residuals(w, y),
                "The sign is lost: a residual is the value minus the estimate.",
            ),
            Mistake(
                "estimate",
                _left_out_estimates,
                "These are the left-out estimates. Asked are the residuals, value minus"
                " estimate.",
            ),
            Mistake(
                "divided-by-one-plus",
                lambda w, y: (y - w @ y) / (1 + np.diag(w)),
                "You divided by one *plus* the own weight. Leaving the own label out makes the"
                " residual larger, not smaller.",
            ),
            Mistake(
                "multiplied",
                lambda w, y: (y - w @ y) * (1 - np.diag(w)),
                "You multiplied where you should divide: leaving the own label out makes the"
                " residual larger, not smaller.",
            ),
            Mistake(
                "divided-by-own-weight",
                lambda w, y: (y - w @ y) / np.diag(w),
                "You divided by the own weight. Divide by what the *other* examples weigh.",
            ),
            Mistake(
                "not-normalised-again",
                lambda w, y: y - (w @ y - np.diag(w) * y),
                "The own label is out, but the other weights no longer sum to 1: divide them by"
                " their sum before you subtract.",
            ),
            Mistake(
                "wrong-axis",
                lambda w, y: (y - w.T @ y) / (1 - np.diag(w)),
                "The weights are transposed: row i holds the weights of query i.",
            ),
            Mistake(
                "squared",
                lambda w, y: left_out_residuals(w, y) ** 2,
                "These are the squares; the check asks for the residuals.",
            ),
        ],
        praise="One weight matrix gives all n left-out residuals. On paper this is exact; in"
        " floating point it loses its digits where the own weight comes close to 1.",
        look="Split the estimate into the own label's part and the part of all others.",
        hints=[
            "Write the estimate at example i as own weight times own value, plus the rest.",
            "The rest is (1 − own weight) times the estimate without example i, because the"
            " other weights, divided by their sum, are the left-out weights.",
            "Solve for value minus left-out estimate: it is the plain residual divided by"
            " (1 − own weight). `np.diag(weights)` is the own weight.",
        ],
    ),
    Task(
        name="stable-weights",
        wanted="a function `stable_weights(queries, keys, bandwidth)` that returns an array of"
        " shape (queries, keys) whose rows sum to 1",
        cases=[
            (np.array([0.2, 1.1, 2.5, 0.9]), KEYS, 0.6),
            (FAR, KEYS, 0.01),
            (np.array([0.25, 40.0]), np.array([0.0, 1.0, 2.5, 4.0]), 0.3),
            (FAR, KEYS, 1e-5),
        ],
        right=stable_weights,
        absolute=1e-6,
        mistakes=[
            Mistake(
                "zero-by-zero",
                _plain,
                "Right where a key is near, but NaN where none is: every K underflows to 0 and"
                " the division is 0/0. Change the scores before `np.exp`, by something that"
                " cancels in the quotient.",
            ),
            Mistake(
                "zero-rows",
                _zero_rows,
                "No NaN any more, but whole rows are 0: a small number in the denominator, or"
                " `nan_to_num`, hides the underflow and loses the estimate. Rows must sum to 1.",
            ),
            Mistake(
                "uniform-rows",
                _uniform_rows,
                "Where every K underflows you give all keys equal weight. The nearest key should"
                " have (nearly) all of it: the scores still know which that is.",
            ),
            Mistake(
                "uniform-rows",
                _clipped,
                "Where every K underflows you give all keys equal weight. The nearest key should"
                " have (nearly) all of it: the scores still know which that is.",
            ),
            Mistake(
                "nearest-only",
                _nearest,
                "All the weight goes to the nearest key. That is the limit for small σ; at an"
                " ordinary σ the other keys need their share.",
            ),
            Mistake(
                "one-maximum",
                _one_maximum,
                "You subtract one number from all scores. That saves the query with the nearest"
                " key and no other: each row needs its own maximum.",
            ),
            Mistake(
                "wrong-axis-maximum",
                _column_maximum,
                "The maximum is taken over the wrong axis. What is subtracted must be the same"
                " along a row, or it does not cancel in the quotient.",
            ),
            Mistake(
                "minimum",
                _minimum,
                "You subtract the smallest score, and the exponentials overflow. Subtract the"
                " largest: then the largest exponential is 1.",
            ),
            Mistake(
                "not-normalised",
                _not_divided,
                "Well shifted, but not divided by the sum: rows must sum to 1.",
            ),
            Mistake(
                "wrong-axis",
                lambda q, k, s: columns_to_one(gaussian_scores(q, k, s)),
                "The columns sum to 1; the rows should. Look at the axis of the sum.",
            ),
            Mistake(
                "sigma-for-its-square",
                lambda q, k, s: stable_weights(q, k, np.sqrt(s)),
                "The scores use distance²/(2σ): look at the power of σ.",
            ),
            Mistake(
                "sign-lost",
                lambda q, k, s: rows_to_one(-gaussian_scores(q, k, s)),
                "The sign is lost: the farthest key has the largest weight.",
            ),
            Mistake(
                "keys-for-queries",
                lambda q, k, s: stable_weights(k, q, s),
                "Keys were taken for queries: rows are queries, columns are keys.",
            ),
        ],
        praise="The largest exponential of each row is now 1, so the sum is never 0. (For σ below"
        " about 1e-154 the squares overflow too; the package then works with the difference to"
        " the nearest distance.)",
        look="Try queries = [0.5, 5], keys = [0, 1, 2], σ = 0.01, and print the scores.",
        hints=[
            "Weights do not change when the same number is added to all scores of a row: it"
            " cancels in the quotient. Choose the number well.",
            "Take the scores −distance²/(2σ²) and subtract the largest of each row. The nearest"
            " key then has K = 1.",
            "`scores -= scores.max(axis=1, keepdims=True)`, then `np.exp`, then divide by the"
            " row sums, again with `keepdims=True`.",
        ],
    ),
]
