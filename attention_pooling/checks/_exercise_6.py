"""Exercise 6: how fast the bandwidth must shrink."""

import numpy as np

from ._core import Mistake, Task, Verdict
from ._formulas import gaussian_scores, rows_to_one


def truth(x):
    return 2 * np.sin(x) + x


def bias_and_variance(queries, keys, bandwidth, noise):
    weights, bias = _weights_and_bias(queries, keys, bandwidth)
    return np.mean(bias**2), noise**2 * np.mean((weights**2).sum(axis=1))


def _weights_and_bias(queries, keys, bandwidth):
    weights = rows_to_one(gaussian_scores(queries, keys, bandwidth))
    return weights, weights @ truth(keys) - truth(queries)


def _other(bias_part=None, variance_part=None):
    """`bias_and_variance` with one of its parts computed otherwise."""

    def wrong(queries, keys, bandwidth, noise):
        weights, bias = _weights_and_bias(queries, keys, bandwidth)
        right = bias_and_variance(queries, keys, bandwidth, noise)
        return (
            right[0] if bias_part is None else bias_part(bias),
            right[1] if variance_part is None else variance_part(weights, noise),
        )

    return wrong


def _sums(queries, keys, bandwidth, noise):
    bias, variance = bias_and_variance(queries, keys, bandwidth, noise)
    return bias * len(queries), variance * len(queries)


def judge_slopes(case, output):
    if output.size != 2:
        return Verdict("shape", "Give two slopes: on the whole of [0, 5], and in the interior.")
    whole, interior = output.ravel()

    def are(first, second, within=0.02):
        return abs(whole - first) < within and abs(interior - second) < within

    if are(-1 / 4, -1 / 5):
        return Verdict(None, "")
    if are(-1 / 5, -1 / 4):
        return Verdict("swapped", "The two slopes have changed places: the whole interval first.")
    if are(1 / 4, 1 / 5):
        return Verdict("sign-lost", "The sign is lost: σ shrinks as n grows. Look at the axes.")
    if are(-4, -5, 0.4):
        return Verdict("axes-swapped", "The slope of log n over log σ: swap the axes of the fit.")
    if are(-3 / 4, -4 / 5, 0.03):
        return Verdict(
            "slope-of-error",
            "These are the slopes of the smallest error. Fit log σ of the minimum instead.",
        )
    if are(-1 / 5, -1 / 5):
        return Verdict(
            "expected-not-measured",
            "Theory says -1/5 for the interior. On the whole interval it is not what a"
            " measurement gives: run it again with queries up to both edges.",
        )
    if are(-1 / 4, -1 / 4):
        return Verdict(
            "edges-left-in",
            "Both slopes are those of the whole interval. For the interior use only queries that"
            " stay away from the edges, such as 1.5 to 3.5.",
        )
    return Verdict(
        "other",
        "Other slopes come out with the settings of the exercise. See that no minimum lies at the"
        " end of your range of σ, and that the fit is of log σ over log n.",
    )


def _case(m, n, bandwidth, noise, seed):
    rng = np.random.default_rng(seed)
    return np.sort(rng.uniform(0, 5, m)), np.sort(rng.uniform(0, 5, n)), bandwidth, noise


TASKS = [
    Task(
        name="exponent",
        wanted="a function `bandwidth_exponent(features)` that returns one number",
        cases=[(1,), (2,), (3,), (8,)],
        right=lambda d: -1 / (d + 4),
        mistakes=[
            Mistake("sign-lost", lambda d: 1 / (d + 4), "The sign is lost: σ shrinks as n grows."),
            Mistake(
                "error-rate",
                lambda d: -4 / (d + 4),
                "This is the rate of the smallest *error*. Asked is the rate of the bandwidth.",
            ),
            Mistake(
                "bias-rate",
                lambda d: -2 / (d + 4),
                "This is the rate of the *bias* at the best bandwidth, σ². Asked is that of σ.",
            ),
            Mistake(
                "dimension-forgotten",
                lambda d: -1 / 5,
                "Right for one feature. In d features a ball of radius σ holds about n σᵈ"
                " examples: look at the variance again.",
            ),
            Mistake(
                "edge-rate",
                lambda d: -1 / (d + 3),
                "This is the rate when the edges dominate, where the bias is of order σ. In the"
                " interior the first-order terms cancel.",
            ),
            Mistake(
                "bias-not-squared",
                lambda d: -1 / (d + 2),
                "The exponent comes out if σ² is balanced against 1/(n σᵈ). The error holds the"
                " *square* of the bias.",
            ),
            Mistake(
                "dimension-multiplied",
                lambda d: -1 / (4 * d + 1),
                "Look at the powers of σ: the variance has 1/(n σᵈ), the squared bias σ⁴ whatever"
                " the number of features.",
            ),
        ],
        praise="Each further feature makes the best bandwidth shrink more slowly, and the error"
        " with it: the curse of dimensionality.",
        look="Minimise A σ⁴ + B/(n σᵈ) over σ: set the derivative to 0 and solve for σ.",
        hints=[
            "In the interior the bias is of order σ² and the variance of order 1/(n σᵈ).",
            "The error is squared bias plus variance, A σ⁴ + B/(n σᵈ). At its minimum the two"
            " terms are of the same order.",
            "4 A σ³ = d B/(n σ^(d+1)), so σ^(d+4) is proportional to 1/n.",
        ],
    ),
    Task(
        name="bias-variance",
        wanted="a function `bias_and_variance(queries, keys, bandwidth, noise)` that returns two"
        " numbers, mean squared bias and mean variance",
        fields=("squared_bias", "variance"),
        cases=[_case(7, 12, 0.5, 0.5, 1), _case(9, 20, 0.25, 2.0, 2), _case(5, 8, 1.0, 1.5, 3)],
        right=bias_and_variance,
        mistakes=[
            Mistake(
                "bias-not-squared",
                _other(bias_part=np.mean),
                "The first number is the mean bias. Square it at each query before the mean: a"
                " bias up here and down there does not cancel.",
            ),
            Mistake(
                "mean-before-square",
                _other(bias_part=lambda b: np.mean(b) ** 2),
                "The first number is the square of the mean bias. Square first, then take the"
                " mean over the queries.",
            ),
            Mistake(
                "absolute-bias",
                _other(bias_part=lambda b: np.mean(np.abs(b))),
                "The first number is the mean absolute bias; the error holds its square.",
            ),
            Mistake(
                "weights-not-squared",
                _other(variance_part=lambda w, s: s**2),
                "The second number does not depend on the weights: their sum is 1. The variance"
                " of Σ w ε is noise² times the sum of the *squared* weights.",
            ),
            Mistake(
                "noise-not-squared",
                _other(variance_part=lambda w, s: s * np.mean((w**2).sum(axis=1))),
                "`noise` is a standard deviation; a variance has its square.",
            ),
            Mistake(
                "mean-over-keys",
                _other(variance_part=lambda w, s: s**2 * np.mean(w**2)),
                "You took the mean of w² over the keys where the sum is needed: the parts of a"
                " sum of independent errors add up.",
            ),
            Mistake(
                "wrong-axis",
                _other(variance_part=lambda w, s: s**2 * np.mean((w**2).sum(axis=0))),
                "The squared weights are summed over the queries; sum them over the keys, then"
                " take the mean over the queries.",
            ),
            Mistake(
                "noise-lost",
                _other(variance_part=lambda w, s: np.mean((w**2).sum(axis=1))),
                "The variance does not depend on `noise` in your function.",
            ),
            Mistake(
                "swapped",
                lambda *case: bias_and_variance(*case)[::-1],
                "The two numbers have changed places: squared bias first.",
            ),
            Mistake("sums", _sums, "These are sums over the queries; take the means."),
            Mistake(
                "one-number",
                lambda *case: sum(bias_and_variance(*case)),
                "This is their sum. The next cell needs the two numbers apart.",
            ),
        ],
        praise="No simulation was needed: given the keys, the expected error is known exactly.",
        look="Take the estimate apart: weights times truth at the keys, and weights times noise.",
        hints=[
            "Given the keys, the estimate is Σ w (truth + noise). Its mean is Σ w truth; the"
            " difference to the truth at the query is the bias.",
            "The noise parts are independent with variance noise², so the variance of the"
            " estimate is noise² Σ w².",
            "With `w = attention_weights(queries, keys, bandwidth=bandwidth)`: the bias is"
            " `w @ sine_truth(keys) - sine_truth(queries)`; return the mean of its square and"
            " `noise**2 * (w**2).sum(axis=1).mean()`.",
        ],
    ),
    Task(
        name="slopes",
        wanted="two slopes: on the whole of [0, 5], then in the interior",
        fields=("whole", "interior"),
        judge=judge_slopes,
        praise="Near an edge all keys lie on one side, so the bias there is of order σ instead of"
        " σ², in a strip of width σ. Squared and averaged that is σ³, which beats σ⁴ and gives"
        " -1/4.",
        look="",
        hints=[
            "For each n find the σ with the smallest sum of squared bias and variance, on a fine"
            " grid of σ.",
            "The slope is that of a straight line through the points (log n, log σ):"
            " `np.polyfit` with degree 1.",
            "`np.polyfit(np.log(sizes), np.log(best), 1)[0]`, once with queries from 0 to 5 and"
            " once with queries from 1.5 to 3.5.",
        ],
    ),
]
