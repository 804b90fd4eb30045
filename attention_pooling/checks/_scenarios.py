"""All checks of exercises/scenarios.ipynb, in the order of the page."""

import numpy as np

from ._core import Mistake, Task, Verdict
from ._formulas import columns_to_one, gaussian_scores, kernel, rows_to_one


def _weights(queries, keys, bandwidth):
    return rows_to_one(gaussian_scores(queries / bandwidth, keys / bandwidth, 1.0))


def _kernel(queries, keys, bandwidth):
    return kernel(queries / bandwidth, keys / bandwidth, 1.0)


# Mistakes in the weights that every scenario shares: each takes queries, keys and bandwidths.


def _one_bandwidth(queries, keys, bandwidth):
    return _weights(queries, keys, bandwidth[0])


def _mean_bandwidth(queries, keys, bandwidth):
    return _weights(queries, keys, bandwidth.mean())


def _root_of_bandwidth(queries, keys, bandwidth):
    return _weights(queries, keys, np.sqrt(bandwidth))


def _wrong_axis(queries, keys, bandwidth):
    return columns_to_one(gaussian_scores(queries / bandwidth, keys / bandwidth, 1.0))


ONE_BANDWIDTH = (
    "All features are measured with one bandwidth. `bandwidth` holds one for each feature: divide"
    " each column by its own before you add the squares."
)
ROOT = (
    "The score is distance²/(2σ): look at the power of σ. Dividing queries and keys by `bandwidth`"
    " first avoids the question."
)
AXIS = (
    "The weights are normalised along the wrong axis: rows are queries, and each row must sum to 1"
    " over the keys."
)


def _draw(m, n, seed, d=3):
    rng = np.random.default_rng(seed)
    bandwidth = rng.uniform(0.4, 1.6, d)
    return rng, rng.normal(size=(m, d)), rng.normal(size=(n, d)), bandwidth


# Scenario 1: interests of a new user


def interest_distribution(queries, keys, shares, bandwidth):
    return _weights(queries, keys, bandwidth) @ shares


def _shares_with(weights):
    return lambda q, k, v, s: weights(q, k, s) @ v


def _favourites(queries, keys, shares, bandwidth):
    one_hot = np.eye(shares.shape[1])[shares.argmax(axis=1)]
    return _weights(queries, keys, bandwidth) @ one_hot


def _only_the_largest(*case):
    shares = interest_distribution(*case)
    return np.eye(shares.shape[1])[shares.argmax(axis=1)]


def _users(m, n, interests, seed, d=3):
    rng, queries, keys, bandwidth = _draw(m, n, seed, d)
    return queries, keys, rng.dirichlet(np.ones(interests), n), bandwidth


# Scenario 2: what one rating does to a prediction


def rating_influence(query, keys, ratings, bandwidth):
    weights = _weights(query[None], keys, bandwidth)[0]
    return weights * (weights @ ratings - ratings) / (1 - weights)


def _influence_with(change, weights=_weights):
    def wrong(query, keys, ratings, bandwidth):
        w = weights(query[None], keys, bandwidth)[0]
        return change(w, w @ ratings, ratings)

    return wrong


def _rated(n, seed, d=3):
    rng, queries, keys, bandwidth = _draw(1, n, seed, d)
    return queries[0], keys, rng.integers(1, 6, n).astype(float), bandwidth


# Scenario 3: click rate weighted by impressions


def click_rate(queries, keys, clicks, impressions, bandwidth):
    weights = _weights(queries, keys, bandwidth)
    return weights @ clicks / (weights @ impressions)


def _rate_with(weights):
    def wrong(queries, keys, clicks, impressions, bandwidth):
        w = weights(queries, keys, bandwidth)
        return w @ clicks / (w @ impressions)

    return wrong


def _adverts(m, n, seed, d=3):
    rng, queries, keys, bandwidth = _draw(m, n, seed, d)
    impressions = np.exp(rng.uniform(2, 8, n)).astype(int) + 5
    return queries, keys, rng.binomial(impressions, rng.uniform(0.01, 0.3, n)), impressions, bandwidth


# Scenario 4: documents scored from a click log with positions


def document_scores(queries, keys, clicked, positions, examination, bandwidth):
    return _weights(queries, keys, bandwidth) @ (clicked / examination[positions - 1][:, None])


def _scores_with(factor, weights=_weights):
    def wrong(queries, keys, clicked, positions, examination, bandwidth):
        return weights(queries, keys, bandwidth) @ (clicked * factor(positions, examination)[:, None])

    return wrong


def _inverse(positions, examination):
    return 1 / examination[positions - 1]


def _log(m, n, documents, seed):
    rng, queries, keys, bandwidth = _draw(m, n, seed)
    examination = np.sort(rng.uniform(0.1, 1, documents + 3))[::-1]
    clicked = np.eye(documents)[rng.integers(0, documents, n)]
    return queries, keys, clicked, rng.integers(1, documents + 1, n), examination, bandwidth


LOG_CASES = [_log(4, 12, 3, 1), _log(5, 9, 5, 2)]

SCORE_MISTAKES = [
    Mistake(
        "no-correction",
        _scores_with(lambda r, e: np.ones(len(r))),
        "Clicks are counted as they come. A click at a position that few readers look at says more"
        " than one at the top: divide by the probability that the position was looked at.",
    ),
    Mistake(
        "multiplied",
        _scores_with(lambda r, e: e[r - 1]),
        "Clicks are multiplied by the probability that their position was looked at. That punishes"
        " the rare ones once more: divide.",
    ),
    Mistake(
        "off-by-one",
        _scores_with(lambda r, e: 1 / e[r]),
        "The positions are off by one: they count from 1, and `examination[0]` belongs to the"
        " first.",
    ),
    Mistake(
        "position-itself",
        _scores_with(lambda r, e: 1.0 * r),
        "Clicks are multiplied by the position. That is right only if position r is looked at with"
        " probability 1/r; use `examination`.",
    ),
    Mistake(
        "no-kernel",
        lambda q, k, c, r, e, s: np.tile((c * _inverse(r, e)[:, None]).sum(axis=0), (len(q), 1)),
        "Every query gets the same scores. Weigh the logged queries by their kernel before you add"
        " their clicks.",
    ),
    Mistake("one-bandwidth", _scores_with(_inverse, _one_bandwidth), ONE_BANDWIDTH),
    Mistake("one-bandwidth", _scores_with(_inverse, _mean_bandwidth), ONE_BANDWIDTH),
    Mistake("sigma-for-its-square", _scores_with(_inverse, _root_of_bandwidth), ROOT),
    Mistake("wrong-axis", _scores_with(_inverse, _wrong_axis), AXIS),
]


def _same_ranking_scores(a, b):
    """Scores of a query may carry any positive factor: only their ratios rank."""
    if a.shape != b.shape or not np.all(np.isfinite(a)):
        return False
    totals = a.sum(axis=1, keepdims=True)
    if np.any(totals <= 0):
        return False
    return np.allclose(a / totals, b / b.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-7)


def judge_scores(case, output):
    right = document_scores(*case)
    if output.shape == right.T.shape and output.shape != right.shape:
        return Verdict(
            "transposed",
            "Rows and columns have changed places: return a row for each query and a column for"
            " each document.",
        )
    if output.shape != right.shape:
        return Verdict(
            "shape",
            f"You returned an array of shape {output.shape}; for this input it should have shape"
            f" {right.shape}: a row for each query, a column for each document.",
        )
    if _same_ranking_scores(output, right):
        return Verdict(None, "")
    for mistake in SCORE_MISTAKES:
        if _same_ranking_scores(output, mistake.wrong(*case)):
            return Verdict(mistake.label, mistake.message)
    return Verdict(
        "other",
        "The scores rank the documents differently. Weigh each logged query by its kernel, divide"
        " its click by the probability that its position was looked at, and add up for each"
        " document.",
    )


# Scenario 5: importance of frames, time kernel cut at a window


def frame_importance(queries, keys, ratings, bandwidth, window):
    k = _kernel(queries, keys, bandwidth) * _in_window(queries, keys, window)
    with np.errstate(invalid="ignore"):
        return k @ ratings / k.sum(axis=1)


def _in_window(queries, keys, window):
    return np.abs(queries[:, None, 0] - keys[None, :, 0]) <= window


def _parts(queries, keys, bandwidth):
    """The time kernel and the appearance kernel."""
    return (
        _kernel(queries[:, :1], keys[:, :1], bandwidth[:1]),
        _kernel(queries[:, 1:], keys[:, 1:], bandwidth[1:]),
    )


def _pool(k, ratings):
    with np.errstate(invalid="ignore"):
        return k @ ratings / k.sum(axis=1)


def _sum_of_kernels(queries, keys, ratings, bandwidth, window):
    time, look = _parts(queries, keys, bandwidth)
    return _pool((time + look) * _in_window(queries, keys, window), ratings)


def _not_normalised_again(queries, keys, ratings, bandwidth, window):
    return (_weights(queries, keys, bandwidth) * _in_window(queries, keys, window)) @ ratings


def _time_only(queries, keys, ratings, bandwidth, window):
    return _pool(_parts(queries, keys, bandwidth)[0] * _in_window(queries, keys, window), ratings)


def _look_only(queries, keys, ratings, bandwidth, window):
    return _pool(_parts(queries, keys, bandwidth)[1] * _in_window(queries, keys, window), ratings)


def _window_in_bandwidths(queries, keys, ratings, bandwidth, window):
    return frame_importance(queries, keys, ratings, bandwidth, window * bandwidth[0])


def _half_window(queries, keys, ratings, bandwidth, window):
    return frame_importance(queries, keys, ratings, bandwidth, window / 2)


def _past_only(queries, keys, ratings, bandwidth, window):
    past = keys[None, :, 0] <= queries[:, None, 0]
    k = _kernel(queries, keys, bandwidth) * _in_window(queries, keys, window) * past
    return _pool(k, ratings)


def _film(m, n, window, seed):
    rng, queries, keys, _ = _draw(m, n, seed, d=4)
    queries[:, 0], keys[:, 0] = rng.uniform(0, 6, m), np.sort(rng.uniform(0, 6, n))
    return queries, keys, rng.uniform(0, 1, n), np.array([1.7, 0.6, 0.9, 1.3]), window


def _film_with_gap():
    queries, keys, ratings, bandwidth, window = _film(3, 14, 1.5, 3)
    queries[1, 0] = 40.0
    return queries, keys, ratings, bandwidth, window


TASKS = [
    Task(
        name="scenario-1",
        wanted="a function `interest_distribution(queries, keys, shares, bandwidth)` that returns"
        " an array of shape (queries, interests)",
        cases=[_users(4, 7, 3, 1), _users(3, 9, 5, 2), _users(5, 6, 4, 3, d=2)],
        right=interest_distribution,
        mistakes=[
            Mistake("one-bandwidth", _shares_with(_one_bandwidth), ONE_BANDWIDTH),
            Mistake("one-bandwidth", _shares_with(_mean_bandwidth), ONE_BANDWIDTH),
            Mistake("sigma-for-its-square", _shares_with(_root_of_bandwidth), ROOT),
            Mistake("wrong-axis", _shares_with(_wrong_axis), AXIS),
            Mistake(
                "not-normalised",
                _shares_with(_kernel),
                "K is not divided by its sum: the interests of a user must sum to 1.",
            ),
            Mistake(
                "mean-over-keys",
                lambda q, k, v, s: _kernel(q, k, s) @ v / len(k),
                "K is divided by the number of users, not by its sum over them: the interests of a"
                " user must sum to 1.",
            ),
            Mistake(
                "sign-lost",
                lambda q, k, v, s: rows_to_one(-gaussian_scores(q / s, k / s, 1.0)) @ v,
                "The sign is lost: the farthest user has the largest weight.",
            ),
            Mistake(
                "favourites",
                _favourites,
                "You kept only the favourite interest of each known user. Average their whole"
                " distributions: a second interest counts too.",
            ),
            Mistake(
                "decisions",
                _only_the_largest,
                "You kept only the largest interest of each new user. Return the whole"
                " distribution; the ranking comes after.",
            ),
            Mistake(
                "decisions",
                lambda *case: interest_distribution(*case).argmax(axis=1),
                "These are the numbers of the largest interests. Return the whole distribution;"
                " the ranking comes after.",
            ),
            Mistake(
                "keys-for-queries",
                lambda q, k, v, s: interest_distribution(k, k, v, s),
                "You estimated at the known users. The queries are the new ones.",
            ),
        ],
        praise="The values are distributions, so their weighted mean is one too.",
        look="Divide each feature by its bandwidth, turn distances into weights, average the rows"
        " of `shares`.",
        hints=[
            "It is the estimator of the chapter with a row of values for each key.",
            "`nadaraya_watson` takes one bandwidth for each feature and values of shape (n, m).",
            "`nadaraya_watson(queries, keys, shares, bandwidth=bandwidth)`",
        ],
    ),
    Task(
        name="scenario-2",
        wanted="a function `rating_influence(query, keys, ratings, bandwidth)` that returns one"
        " number for each key",
        cases=[_rated(6, 1), _rated(9, 2), _rated(7, 3, d=5)],
        right=rating_influence,
        mistakes=[
            Mistake(
                "sign-lost",
                _influence_with(lambda w, f, y: -w * (f - y) / (1 - w)),
                "The sign is lost: the prediction after the deletion minus the one before.",
            ),
            Mistake(
                "not-normalised-again",
                _influence_with(lambda w, f, y: w * (f - y)),
                "Nearly: after a deletion the other weights are divided by a smaller sum. Your"
                " change lacks that factor.",
            ),
            Mistake(
                "contribution",
                _influence_with(lambda w, f, y: w * y),
                "That is each example's part in the prediction. When it is deleted the others share"
                " its weight.",
            ),
            Mistake(
                "contribution-removed",
                _influence_with(lambda w, f, y: -w * y),
                "You took the example's part away and left the other weights as they are: they no"
                " longer sum to 1.",
            ),
            Mistake(
                "weight",
                _influence_with(lambda w, f, y: w),
                "These are the weights. A large weight moves nothing if the rating agrees with the"
                " prediction.",
            ),
            Mistake(
                "estimate-after",
                _influence_with(lambda w, f, y: f + w * (f - y) / (1 - w)),
                "These are the predictions after each deletion. Asked is the change.",
            ),
            Mistake(
                "absolute",
                _influence_with(lambda w, f, y: np.abs(w * (f - y) / (1 - w))),
                "The sizes are right, the signs are gone. Does the prediction rise or fall without"
                " the example?",
            ),
            Mistake(
                "one-bandwidth",
                _influence_with(lambda w, f, y: w * (f - y) / (1 - w), _one_bandwidth),
                ONE_BANDWIDTH,
            ),
            Mistake(
                "one-bandwidth",
                _influence_with(lambda w, f, y: w * (f - y) / (1 - w), _mean_bandwidth),
                ONE_BANDWIDTH,
            ),
            Mistake(
                "sigma-for-its-square",
                _influence_with(lambda w, f, y: w * (f - y) / (1 - w), _root_of_bandwidth),
                ROOT,
            ),
        ],
        praise="This is exact for this estimator: delete the example, and the prediction moves by"
        " just that much, the bandwidths held fixed.",
        look="Delete one example, divide the other weights by their sum, and subtract the old"
        " prediction.",
        hints=[
            "You may do it literally: a loop, `np.delete`, and the estimator each time.",
            "Without example j the prediction is (f − w_j y_j)/(1 − w_j). Subtract f.",
            "The difference simplifies to w_j (f − y_j)/(1 − w_j), for all examples at once.",
        ],
    ),
    Task(
        name="scenario-3",
        wanted="a function `click_rate(queries, keys, clicks, impressions, bandwidth)` that returns"
        " one rate for each query",
        cases=[_adverts(4, 8, 1), _adverts(5, 12, 2), _adverts(3, 7, 3, d=2)],
        right=click_rate,
        mistakes=[
            Mistake(
                "mean-of-rates",
                lambda q, k, c, n, s: _weights(q, k, s) @ (c / n),
                "You averaged the click rates. An advert shown twenty times then counts as much as"
                " one shown twenty thousand times: add clicks and impressions apart, and divide"
                " last.",
            ),
            Mistake(
                "clicks",
                lambda q, k, c, n, s: _weights(q, k, s) @ c,
                "This is the weighted mean of the *clicks*. Divide by the weighted mean of the"
                " impressions.",
            ),
            Mistake(
                "upside-down",
                lambda q, k, c, n, s: 1 / click_rate(q, k, c, n, s),
                "The quotient is upside down: clicks over impressions.",
            ),
            Mistake(
                "one-rate",
                lambda q, k, c, n, s: np.full(len(q), c.sum() / n.sum()),
                "Every query gets the overall rate. Weigh the adverts by their kernel first.",
            ),
            Mistake(
                "impressions-twice",
                lambda q, k, c, n, s: _weights(q, k, s) @ (c * n) / (_weights(q, k, s) @ n**2),
                "The impressions count twice: clicks already grow with them.",
            ),
            Mistake(
                "log-impressions",
                lambda q, k, c, n, s: _weights(q, k, s)
                @ (c / n * np.log(n))
                / (_weights(q, k, s) @ np.log(n)),
                "You weigh the rates by the logarithm of the impressions. The variance of a rate"
                " falls like 1/impressions: use the impressions themselves.",
            ),
            Mistake("one-bandwidth", _rate_with(_one_bandwidth), ONE_BANDWIDTH),
            Mistake("one-bandwidth", _rate_with(_mean_bandwidth), ONE_BANDWIDTH),
            Mistake("sigma-for-its-square", _rate_with(_root_of_bandwidth), ROOT),
            Mistake("wrong-axis", _rate_with(_wrong_axis), AXIS),
        ],
        praise="Clicks and impressions are pooled apart and divided last, so an advert counts by"
        " how often it was shown.",
        look="Pool the clicks, pool the impressions with the same weights, divide.",
        hints=[
            "Which of two adverts tells you more about a click rate: 1 click of 20, or 1,000 of"
            " 20,000?",
            "Σ K clicks / Σ K impressions. The kernel's own sum cancels.",
            "Call `nadaraya_watson` twice, once with the clicks as values, once with the"
            " impressions, and divide the first by the second.",
        ],
    ),
    Task(
        name="scenario-4",
        wanted="a function `document_scores(queries, keys, clicked, positions, examination,"
        " bandwidth)` that returns an array of shape (queries, documents)",
        cases=LOG_CASES,
        right=document_scores,
        judge=judge_scores,
        mistakes=SCORE_MISTAKES,
        praise="A click counts by how unlikely it was to be seen, and the ranking no longer repeats"
        " the old ranker.",
        look="Weigh each logged query by its kernel, and each click by its position.",
        hints=[
            "A document shown at the bottom is clicked rarely because it is seen rarely. Which"
            " factor makes up for that?",
            "Divide each row of `clicked` by the probability that its position was looked at:"
            " `examination[positions - 1]`.",
            "Give the divided rows as values to `nadaraya_watson`, with `[:, None]` on the"
            " divisor.",
        ],
    ),
    Task(
        name="scenario-5",
        wanted="a function `frame_importance(queries, keys, ratings, bandwidth, window)` that"
        " returns one number for each query",
        cases=[_film(5, 16, 1.1, 1), _film(4, 20, 0.8, 2), _film_with_gap()],
        right=frame_importance,
        mistakes=[
            Mistake(
                "no-window",
                lambda q, k, y, s, w: frame_importance(q, k, y, s, np.inf),
                "All frames take part. Those more than `window` seconds away should not.",
            ),
            Mistake(
                "not-normalised-again",
                _not_normalised_again,
                "The weights are cut off after they were normalised, so they no longer sum to 1."
                " Cut first, then divide by the sum of what is left.",
            ),
            Mistake(
                "zero-for-nothing",
                lambda *case: np.nan_to_num(frame_importance(*case)),
                "Right where there are frames in the window; where there are none you return 0, as"
                " if somebody had rated the frame unimportant. Return NaN: nothing is known.",
            ),
            Mistake(
                "sum-of-kernels",
                _sum_of_kernels,
                "The kernels of time and appearance are added: a frame then counts if it is near in"
                " *either*. Multiply them, so that it has to be near in both.",
            ),
            Mistake(
                "time-only",
                _time_only,
                "The appearance has no effect: only the first column is used.",
            ),
            Mistake(
                "look-only",
                _look_only,
                "Inside the window time has no effect: the first column needs its kernel too.",
            ),
            Mistake(
                "window-in-bandwidths",
                _window_in_bandwidths,
                "The window is counted in bandwidths. It is in seconds, the unit of the first"
                " column.",
            ),
            Mistake(
                "half-window",
                _half_window,
                "The window is half as wide as asked: `window` seconds on either side.",
            ),
            Mistake(
                "past-only",
                _past_only,
                "Only frames before the query take part. The window is open to both sides.",
            ),
            Mistake(
                "one-bandwidth",
                lambda q, k, y, s, w: frame_importance(q, k, y, np.full(len(s), s[0]), w),
                ONE_BANDWIDTH,
            ),
            Mistake(
                "sigma-for-its-square",
                lambda q, k, y, s, w: frame_importance(q, k, y, np.sqrt(s), w),
                ROOT,
            ),
        ],
        praise="A product of kernels needs nearness in both; the window makes the cost grow with"
        " its length, not with the film's.",
        look="Multiply the kernels of all features, set those outside the window to zero, then"
        " divide by the sum of the rest.",
        hints=[
            "A product of Gaussians is the Gaussian of the summed squares, so one bandwidth for"
            " each feature already gives the product of time and appearance.",
            "Multiply K by `abs(queries[:, None, 0] - keys[:, 0]) <= window` *before* you divide"
            " by its sum.",
            "`k @ ratings / k.sum(axis=1)`: where nothing is in the window this is 0/0, the NaN"
            " that is asked for.",
        ],
    ),
]
