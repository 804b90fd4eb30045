"""Exercise 2: gradient descent on the bandwidth."""

import numpy as np

from ._core import Mistake, Task, Verdict
from ._formulas import columns_to_one, gaussian_scores, rows_to_one, squared_distances

LEFT_OUT_OPTIMUM = 0.4401  # leave-one-out minimum on sine_data(seed=0); a test recomputes it
TRUTH_OPTIMUM = 0.4775  # minimum against the truth, on the same data


def _weights(keys, bandwidth, own=True, normalise=rows_to_one):
    scores = gaussian_scores(keys, keys, bandwidth)
    if not own:
        np.fill_diagonal(scores, -np.inf)
    return normalise(scores)


def _slope(weights, keys, values, bandwidth):
    """Derivative of the estimates in log bandwidth, and the estimates."""
    d2 = squared_distances(keys, keys)
    estimate = weights @ values
    spread = (weights * d2) @ values - (weights * d2).sum(axis=1) * estimate
    return spread / bandwidth**2, estimate


def gradient(keys, values, bandwidth, own=True):
    slope, estimate = _slope(_weights(keys, bandwidth, own), keys, values, bandwidth)
    return np.mean(2 * (estimate - values) * slope)


def _left_out(keys, values, bandwidth):
    return gradient(keys, values, bandwidth, own=False)


def _scaled(factor, own=True):
    return lambda x, y, s: factor(x, y, s) * gradient(x, y, s, own)


def _root_mean_square(own):
    def factor(x, y, s):
        return 0.5 / np.sqrt(np.mean((y - _weights(x, s, own) @ y) ** 2))

    return _scaled(factor, own)


def _estimate_term_missing(own):
    def wrong(x, y, s):
        weights = _weights(x, s, own)
        slope = (weights * squared_distances(x, x)) @ y / s**2
        return np.mean(2 * (weights @ y - y) * slope)

    return wrong


def _columns(own):
    def wrong(x, y, s):
        slope, estimate = _slope(_weights(x, s, own, columns_to_one), x, y, s)
        return np.mean(2 * (estimate - y) * slope)

    return wrong


def _sigma_for_its_square(own):
    def wrong(x, y, s):
        weights = _weights(x, np.sqrt(s), own)
        slope, estimate = _slope(weights, x, y, s)
        return np.mean(2 * (estimate - y) * slope)

    return wrong


def _sigma_for_its_square_throughout(own):
    return lambda x, y, s: 0.5 * gradient(x, y, np.sqrt(s), own)


def _masked_too_late(x, y, s):
    weights = _weights(x, s)
    np.fill_diagonal(weights, 0)
    full = _weights(x, s)
    d2 = squared_distances(x, x)
    slope = ((weights * d2) @ y - (full * d2).sum(axis=1) * (weights @ y)) / s**2
    return np.mean(2 * (weights @ y - y) * slope)


def _masked_too_late_own_mean(x, y, s):
    weights = _weights(x, s)
    np.fill_diagonal(weights, 0)
    slope, estimate = _slope(weights, x, y, s)
    return np.mean(2 * (estimate - y) * slope)


def _only_residual_corrected(x, y, s):
    weights = _weights(x, s)
    slope, estimate = _slope(weights, x, y, s)
    return np.mean(2 * (estimate - y) / (1 - np.diag(weights)) * slope)


def _unnormalised(own):
    def wrong(x, y, s):
        k = np.exp(gaussian_scores(x, x, s)) * (1.0 if own else 1 - np.eye(len(x)))
        return np.mean(2 * (k @ y - y) * ((k * squared_distances(x, x)) @ y) / s**2)

    return wrong


def _mistakes(own):
    return [
        Mistake(
            "in-sigma",
            _scaled(lambda x, y, s: 1 / s, own),
            "This is the derivative in σ. Asked is the one in log σ: since dσ = σ d(log σ), the"
            " two differ by a factor that depends on σ.",
        ),
        Mistake(
            "in-square",
            _scaled(lambda x, y, s: 1 / (2 * s**2), own),
            "This is the derivative in σ². Asked is the one in log σ; the chain rule gives the"
            " factor between them.",
        ),
        Mistake(
            "in-inverse",
            _scaled(lambda x, y, s: -s, own),
            "This is the derivative in 1/σ. Asked is the one in log σ; look at the chain rule.",
        ),
        Mistake(
            "sign-lost",
            _scaled(lambda x, y, s: -1.0, own),
            "The sign is lost. Look at the residual: the square's derivative is twice (estimate −"
            " value), in this order, times the derivative of the estimate.",
        ),
        Mistake(
            "two-lost",
            _scaled(lambda x, y, s: 0.5, own),
            "Half of the right number: look at the derivative of a square. (The error here is"
            " the mean of the squares, without a ½ in front.)",
        ),
        Mistake(
            "sum-for-mean",
            _scaled(lambda x, y, s: len(x), own),
            "This is the gradient of the *sum* of squares. The error is their mean.",
        ),
        Mistake(
            "root",
            _root_mean_square(own),
            "This is the gradient of the *root* of the mean square. The error is the mean square"
            " itself.",
        ),
        Mistake(
            "bandwidth-squared-lost",
            _scaled(lambda x, y, s: s**2, own),
            "A division by σ² is missing in the derivative of the score −distance²/(2σ²).",
        ),
        Mistake(
            "denominator-constant",
            _estimate_term_missing(own),
            "You took the denominator of the weights for a constant. It depends on σ too: each"
            " weight changes by its own score's change minus the weighted mean of all changes.",
        ),
        Mistake(
            "not-normalised",
            _unnormalised(own),
            "The kernel values are not divided by their sum: weights in a row must sum to 1.",
        ),
        Mistake(
            "wrong-axis",
            _columns(own),
            "The weights are normalised along the wrong axis: columns sum to 1, rows should."
            " With a square matrix NumPy does not complain; look for a missing `keepdims=True`.",
        ),
        Mistake(
            "bandwidth-as-logarithm",
            lambda x, y, s: gradient(x, y, np.exp(s), own),
            "You took the argument `bandwidth` for log σ. It is σ itself; only the derivative is in"
            " log σ.",
        ),
        Mistake(
            "sigma-for-its-square",
            _sigma_for_its_square(own),
            "The weights use distance²/(2σ): look at the power of σ in the kernel.",
        ),
        Mistake(
            "sigma-for-its-square",
            _sigma_for_its_square_throughout(own),
            "The weights use distance²/(2σ): look at the power of σ in the kernel.",
        ),
    ]


def _data(n, seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 5, n))
    return x, 2 * np.sin(x) + x + rng.normal(size=n)


CASES = [(*_data(9, 1), 0.7), (*_data(12, 2), 0.35), (*_data(7, 3), 1.6)]


def _near(value, target, share=0.012):
    return abs(value / target - 1) < share


def _judge_descent(case, output):
    if output.size != 1 or not np.isfinite(output).all():
        return Verdict("shape", "Give the one number at which your descent ends.")
    sigma = float(output.ravel()[0])
    sigma = np.exp(sigma) if sigma < 0 else sigma  # log σ is as fair as σ
    if _near(sigma, LEFT_OUT_OPTIMUM):
        return Verdict(None, "")
    if sigma < 0.05:
        return Verdict(
            "memorised",
            "The descent ran towards σ = 0. Either the own label is still in (then this is the"
            " memorisation of exercise 3), or it started on the far side of a hill: the"
            " leave-one-out error falls again for very small σ. Look at the start and at the"
            " gradient that you follow.",
        )
    if _near(sigma, TRUTH_OPTIMUM, 0.02):
        return Verdict(
            "truth-used",
            "This is the bandwidth that is best against the noise-free truth. Outside a textbook"
            " nobody has it; follow the leave-one-out gradient.",
        )
    if _near(sigma, 1 / LEFT_OUT_OPTIMUM, 0.03):
        return Verdict("inverse", "This looks like 1/σ. Give σ or log σ.")
    if _near(sigma, LEFT_OUT_OPTIMUM**2, 0.03):
        return Verdict("square", "This looks like σ². Give σ or log σ.")
    if _near(sigma, np.exp(LEFT_OUT_OPTIMUM), 0.03):
        return Verdict("exponential", "This looks like exp(σ): one exponential too many.")
    if 0.445 < sigma <= 1.05:
        return Verdict(
            "not-there-yet",
            "The descent has not arrived: at this σ the leave-one-out gradient is not zero yet."
            " Take more steps, or longer ones, and print the gradient at the end.",
        )
    if sigma > 1.05:
        return Verdict(
            "uphill",
            "The descent moved to a larger σ than it started from. Look at the sign of the step:"
            " log σ changes by minus the rate times the gradient.",
        )
    return Verdict(
        "other",
        "Descent on the leave-one-out error of sine_data(seed=0) ends elsewhere. Print log σ and"
        " the gradient at each step, and see that the steps shrink.",
    )


TASKS = [
    Task(
        name="training-gradient",
        wanted="a function `training_gradient(keys, values, bandwidth)` that returns one number",
        cases=CASES,
        right=gradient,
        mistakes=[
            *_mistakes(own=True),
            Mistake(
                "own-label-out",
                _left_out,
                "You left the own example out already. That is the next part; here each key"
                " still sees its own value.",
            ),
        ],
        praise="It agrees with the derivative at three bandwidths. On this error, descent will"
        " run towards σ = 0; the next part mends that.",
        look="Compare with (error(log σ + h) − error(log σ − h))/(2h) for h = 1e-5, term by term.",
        hints=[
            "Work with log σ. Each weight is a softmax of scores a = −distance²/(2σ²), and a"
            " score's derivative in log σ is distance²/σ², i.e. −2a.",
            "For a softmax, the derivative of Σ w v is the weighted covariance of the scores'"
            " derivative and the values: Σ w a′ v − (Σ w a′)(Σ w v). That gives the change of"
            " each estimate.",
            "The error is the mean of (estimate − value)², so its derivative is the mean of"
            " 2 (estimate − value) times the change of the estimate. In code: the weight matrix"
            " `w`, `d2`, `estimate = w @ values`, and `(w * d2) @ values` minus"
            " `(w * d2).sum(axis=1) * estimate`, over σ².",
        ],
    ),
    Task(
        name="left-out-gradient",
        wanted="a function `left_out_gradient(keys, values, bandwidth)` that returns one number",
        cases=CASES,
        right=_left_out,
        mistakes=[
            Mistake(
                "own-label-in",
                gradient,
                "The own label is still in: this is the gradient of the training error. (Setting"
                " the diagonal of the *distances* to 0 changes nothing; it is 0 already.)",
            ),
            Mistake(
                "masked-too-late",
                _masked_too_late,
                "The diagonal was set to 0 after the rows were divided by their sums, so they no"
                " longer sum to 1. Mask first, then normalise.",
            ),
            Mistake(
                "masked-too-late",
                _masked_too_late_own_mean,
                "The diagonal was set to 0 after the rows were divided by their sums, so they no"
                " longer sum to 1. Mask first, then normalise.",
            ),
            Mistake(
                "only-residual",
                _only_residual_corrected,
                "The residual is the left-out one, but the derivative beside it is still that of"
                " the estimate with the own label in. Use the masked weights in both.",
            ),
            *_mistakes(own=False),
        ],
        praise="Masking the diagonal before the softmax is all it takes, as in attention that"
        " must not look at its own position.",
        look="It is the gradient of the part before, with masked weights in every place.",
        hints=[
            "Only the weights change: the weight of an example for itself must be 0, and the"
            " others must still sum to 1.",
            "Set the diagonal of the scores to −∞ before the softmax (or the diagonal of K to 0"
            " before the division). `np.fill_diagonal` does it in place.",
            "Reuse your first function with a flag: build the scores, mask if asked, normalise,"
            " and leave the rest as it is.",
        ],
    ),
    Task(
        name="descent",
        wanted="the bandwidth at which your descent ends, one number",
        judge=_judge_descent,
        praise="Cross-validation over a grid finds the same bandwidth.",
        look="",
        hints=[
            "Start at log σ = 0, take the leave-one-out gradient, and go against it.",
            "log σ becomes log σ minus rate times gradient; a rate of 0.5 and 200 steps are"
            " plenty here.",
            "`for _ in range(200): log_sigma -= 0.5 * left_out_gradient(keys, values,"
            " np.exp(log_sigma))`",
        ],
    ),
]
