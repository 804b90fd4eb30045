"""Exercise 4: weights learned freely, without a bandwidth."""

import numpy as np

from ._core import Task, Verdict

CASES = [
    (np.array([1.0, 4.0, 2.0, 5.0, 3.0]),),
    (np.array([-2.0, 0.5, 3.0, 3.0, -1.0, 0.5]),),
    (np.random.default_rng(4).normal(size=8),),
]


def _not_weights(values, weights):
    """The verdict on a matrix that is no matrix of weights, or None."""
    n = len(values)
    if weights.shape != (n, n):
        return Verdict(
            "shape",
            f"For {n} values you returned an array of shape {weights.shape}. Give one row of"
            f" weights for each of the {n} examples, over all {n} examples.",
        )
    if not np.all(np.isfinite(weights)):
        return Verdict("not-finite", "Some weights are not finite. Look for a division by 0.")
    if np.any(weights < -1e-6):
        return Verdict(
            "negative",
            "Some weights are negative, as happens when a linear system is solved for them."
            " Weights of attention come from a softmax: none is below 0.",
        )
    if not np.allclose(weights.sum(axis=1), 1, atol=1e-5):
        if np.allclose(weights.sum(axis=0), 1, atol=1e-5):
            return Verdict("wrong-axis", "Your columns sum to 1; the rows should.")
        return Verdict(
            "not-normalised",
            "The rows do not sum to 1. Divide each row by its sum, or start from a softmax.",
        )
    return None


def judge_free(case, weights):
    (values,) = case
    verdict = _not_weights(values, weights)
    if verdict is not None:
        return verdict
    wrong = np.abs(weights @ values - values) > 1e-3
    if not wrong.any():
        return Verdict(None, "")
    if np.allclose(weights, 1 / len(values)):
        return Verdict(
            "mean",
            "Equal weights give the mean, everywhere. The weights are free: which row would give"
            " back exactly the value of its own example?",
        )
    if np.allclose(np.diag(weights), 0):
        return Verdict(
            "own-label-out",
            "The diagonal is 0, so the own value is left out. That is the next part; here"
            " nothing forbids an example to look at itself.",
        )
    return Verdict(
        "not-fitted",
        f"{wrong.sum()} of {len(values)} values are not reached, so the training error is not 0"
        " yet. With free weights it can be exactly 0. (A softmax of finite numbers only comes"
        " close: within 0.001 of each value is enough here.)",
    )


def judge_masked(case, weights):
    (values,) = case
    verdict = _not_weights(values, weights)
    if verdict is not None:
        return verdict
    n = len(values)
    if np.any(np.abs(np.diag(weights)) > 1e-6):
        return Verdict(
            "own-label-in",
            "The diagonal is not 0: examples still look at themselves. Mask it before anything"
            " is normalised.",
        )
    estimate = weights @ values
    others = [np.delete(values, i) for i in range(n)]
    low = np.array([part.min() for part in others])
    high = np.array([part.max() for part in others])
    wrong = np.abs(estimate - np.clip(values, low, high)) > 1e-3
    if not wrong.any():
        return Verdict(None, "")
    if np.allclose(weights, (1 - np.eye(n)) / (n - 1)):
        return Verdict(
            "mean",
            "Equal weights on the others give the mean of the others. The weights are free:"
            " choose them for each row so that the own value is reproduced.",
        )
    nearest = np.array([part[np.argmin(np.abs(part - y))] for part, y in zip(others, values)])
    if np.allclose(estimate, nearest):
        return Verdict(
            "nearest-only",
            "Each row puts all its weight on the one other value that is nearest. A mixture of"
            " two others, one below and one above, comes closer still.",
        )
    return Verdict(
        "not-fitted",
        f"{wrong.sum()} of {n} rows can come closer to their own value. A weighted mean of the"
        " others reaches every number between the smallest and the largest of them.",
    )


FIELDS = ("free", "masked", "projections")
N, FEATURES, WIDTH = 40, 16, 4


def judge_count(case, output):
    if output.size != 3:
        return Verdict("shape", f"Give three numbers: {', '.join(FIELDS)}.")
    free, masked, projections = output.ravel()
    n = N
    if free == n * n:
        return Verdict(
            "free-sum-forgotten",
            "free: you counted every entry. Each row sums to 1, so its last weight follows from"
            " the others.",
        )
    if free != n * (n - 1):
        return Verdict("free", "free: count the entries of a row that can be chosen, times rows.")
    if masked == n * (n - 1):
        return Verdict(
            "masked-sum-forgotten",
            "masked: that is the number of entries off the diagonal. Each row still sums to 1.",
        )
    if masked != n * (n - 2):
        return Verdict("masked", "masked: a row has one entry fewer than before to choose.")
    single = FEATURES * WIDTH
    if projections == single:
        return Verdict("one-matrix", "projections: that is one matrix; there are two.")
    if projections in (single * n, 2 * single * n):
        return Verdict(
            "grows-with-n",
            "projections: the matrices are shared by all examples; their size does not depend on"
            " how many there are.",
        )
    if projections == 2 * FEATURES * FEATURES:
        return Verdict("square", "projections: they lead from 16 features to 4, not to 16.")
    if projections != 2 * single:
        return Verdict("projections", "projections: count the entries of both matrices.")
    return Verdict(None, "")


TASKS = [
    Task(
        name="free-weights",
        wanted="a function `free_weights(values)` that returns a square array of weights",
        cases=CASES,
        judge=judge_free,
        praise="The training error is 0 for any values, noise included: nothing was learned about"
        " the keys, which your function never saw.",
        look="",
        hints=[
            "A row of weights is chosen for one example only. What is the best row for the first"
            " example, if nothing forbids it to look at itself?",
            "A row with a single 1 copies one value. Copy the right one.",
            "Put the 1 of row i in column i. NumPy has a function for this matrix.",
        ],
    ),
    Task(
        name="masked-weights",
        wanted="a function `masked_weights(values)` that returns a square array of weights with"
        " zeros on the diagonal",
        cases=CASES,
        judge=judge_masked,
        praise="Every value but a unique smallest and largest is still reproduced exactly: masking"
        " the diagonal cures the memory of a function with one parameter, not of a free table.",
        look="",
        hints=[
            "A row is a weighted mean of the other values. Which numbers can a weighted mean of"
            " given numbers be?",
            "Mix the smallest and the largest of the others so that the mixture equals the own"
            " value. If the own value lies outside their range, the nearer end is the best.",
            "With `low` and `high` the smallest and largest other value, put"
            " t = (y − low)/(high − low), cut to between 0 and 1, on the largest and 1 − t on the"
            " smallest. Mind the case high = low.",
        ],
    ),
    Task(
        name="count-parameters",
        wanted="the three counts: free, masked, projections",
        fields=FIELDS,
        judge=judge_count,
        praise="The tables grow with the square of the number of examples; a bandwidth (1"
        " parameter) or two projections do not grow at all.",
        look="",
        hints=[
            "A row of weights over n examples has n entries and one condition: they sum to 1.",
            "Masking takes one more entry from each row.",
            "A projection from 16 features to 4 is a matrix of 16 × 4 numbers; queries and keys"
            " have one each, whatever the number of examples.",
        ],
    ),
]
