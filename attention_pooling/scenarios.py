"""Data with a known truth, baselines and tools for the five design exercises.

Each data function draws everything from ``numpy.random.default_rng(seed)`` and returns a named
record: `keys` and `values` are what a system would have logged, `queries` and `truth` are held out,
`novel` are queries of a kind that was never logged.  The truth is known because it was written down
here; no record describes a real person, advert, document or film.

The pages that use this module: ``exercises/scenarios.ipynb`` and ``solutions/scenarios.ipynb``.
"""

from typing import NamedTuple

import numpy as np

from attention_pooling.bandwidth import bandwidth_gradient, leave_one_out_error
from attention_pooling.kernels import gaussian

__all__ = [
    "ad_clicks", "cold_start", "error_lines", "fit_bandwidths", "kernel_sum",
    "nearest_neighbours", "rated_answers", "refusal_threshold", "refused", "rms_error",
    "search_bandwidths", "search_log", "video_frames",
]

NEIGHBOUR_COUNTS = (1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64)


class ColdStart(NamedTuple):
    """Profiles and interests; see `cold_start`."""

    features: tuple
    interests: tuple
    keys: np.ndarray
    values: np.ndarray
    queries: np.ndarray
    truth: np.ndarray
    novel: np.ndarray
    centres: np.ndarray


class RatedAnswers(NamedTuple):
    """Embeddings and ratings; see `rated_answers`."""

    keys: np.ndarray
    values: np.ndarray
    queries: np.ndarray
    truth: np.ndarray
    novel: np.ndarray
    rotation: np.ndarray


class AdClicks(NamedTuple):
    """Content features, clicks and impressions; see `ad_clicks`."""

    features: tuple
    keys: np.ndarray
    clicks: np.ndarray
    impressions: np.ndarray
    queries: np.ndarray
    truth: np.ndarray
    novel: np.ndarray


class SearchLog(NamedTuple):
    """Logged queries with the document clicked and its position; see `search_log`."""

    keys: np.ndarray
    documents: np.ndarray
    positions: np.ndarray
    examination: np.ndarray
    queries: np.ndarray
    truth: np.ndarray
    novel: np.ndarray


class VideoFrames(NamedTuple):
    """Time and appearance of frames, half of them labelled; see `video_frames`."""

    features: tuple
    keys: np.ndarray
    values: np.ndarray
    queries: np.ndarray
    truth: np.ndarray
    novel: np.ndarray


def _softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def cold_start(seed=0, *, n_keys=200, n_queries=100, clicks=25):
    """Return users with a known click history, and new users of whom only the profile is known.

    Four features: two map coordinates (km, 0 to 10), the usual hour of use (h, 6 to 24) and the
    length of the user name (letters).  Three of them shape the interests, the name does not.

    Parameters
    ----------
    seed : int
        Seed of the generator.
    n_keys, n_queries : int
        Numbers of known and of new users.
    clicks : int
        Clicks logged for each known user.

    Returns
    -------
    ColdStart
        `keys` (n_keys, 4); `values` (n_keys, 6), the share of each interest in the user's clicks;
        `queries` (n_queries, 4) and their true interest distributions `truth` (n_queries, 6);
        `novel` (20, 4), users from another town; `centres` (6, 2), a map of the interests on which
        unlike interests stand opposite each other.

    Examples
    --------
    >>> cold_start(seed=0).values.sum(axis=1).round(9).max()
    np.float64(1.0)
    """
    rng = np.random.default_rng(seed)
    n = n_keys + n_queries
    profile = np.column_stack([
        rng.uniform(0, 10, n), rng.uniform(0, 10, n), rng.uniform(6, 24, n),
        rng.integers(3, 13, n),
    ])
    east, north, hour, _ = profile.T
    taste = np.column_stack([
        np.sin(east / 2), np.cos(north / 2.5), np.cos((hour - 8) * np.pi / 12),
        np.sin(hour / 3), -np.cos(east / 2), np.zeros(n),
    ])
    truth = _softmax(1.6 * taste)
    shares = rng.multinomial(clicks, truth) / clicks
    novel = np.column_stack([
        rng.uniform(40, 50, 20), rng.uniform(40, 50, 20), rng.uniform(6, 24, 20),
        rng.integers(3, 13, 20),
    ])
    angle = np.arange(6) * np.pi / 3
    return ColdStart(
        ("east / km", "north / km", "hour / h", "name / letters"),
        ("film", "garden", "news", "music", "chess", "sport"),
        profile[:n_keys], shares[:n_keys], profile[n_keys:], truth[n_keys:], novel,
        np.column_stack([np.cos(angle), np.sin(angle)]),
    )


def rated_answers(seed=0, *, n_keys=200, n_queries=100, mixed=True):
    """Return rated (prompt, answer) pairs as embeddings of a fixed encoder.

    Behind the eight numbers of an embedding stand two qualities that decide the rating, one that
    does not, and five numbers of style.  The encoder mixes them: it turns the eight axes.

    Parameters
    ----------
    seed : int
        Seed of the generator.
    n_keys, n_queries : int
        Numbers of rated and of held-out pairs.
    mixed : bool
        False gives the eight numbers before the encoder turns them.

    Returns
    -------
    RatedAnswers
        `keys` (n_keys, 8); `values` (n_keys,), ratings 1 to 5 by one rater each, whole numbers;
        `queries` (n_queries, 8) with their noise-free ratings `truth`; `novel` (20, 8), pairs in a
        style that nobody rated; `rotation` (8, 8), what the encoder did.

    Examples
    --------
    >>> data = rated_answers(seed=0)
    >>> data.keys.shape, data.values.min(), data.values.max()
    ((200, 8), np.float64(1.0), np.float64(5.0))
    """
    rng = np.random.default_rng(seed)
    n = n_keys + n_queries
    inner = rng.normal(size=(n, 8))
    truth = np.clip(3 + 1.3 * np.tanh(1.5 * inner[:, 0]) + 0.8 * np.cos(1.5 * inner[:, 1]), 1, 5)
    ratings = np.clip(np.round(truth + rng.normal(0, 0.6, n)), 1, 5)
    novel = rng.normal(size=(20, 8))
    novel[:, 4:] += 4
    rotation = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    if not mixed:
        rotation = np.eye(8)
    inner, novel = inner @ rotation, novel @ rotation
    return RatedAnswers(
        inner[:n_keys], ratings[:n_keys], inner[n_keys:], truth[n_keys:], novel, rotation)


def ad_clicks(seed=0, *, n_keys=200, n_queries=100, charm=0.0, favour=0.0):
    """Return adverts with clicks and impressions, and new adverts with neither.

    Four content features in standard units; two of them move the click rate.  Impressions run from
    three to many hundred, most of them few.

    Parameters
    ----------
    seed : int
        Seed of the generator.
    n_keys, n_queries : int
        Numbers of adverts with a history and of new ones.
    charm : float
        Standard deviation, in log odds, of an appeal that no feature records.
    favour : float
        0: how often an advert is shown has nothing to do with how good it is.  More: a server
        shows good ones more often, impressions growing like the odds of a click to this power.

    Returns
    -------
    AdClicks
        `keys` (n_keys, 4); `clicks` and `impressions` (n_keys,), whole numbers; `queries`
        (n_queries, 4) and their true click rates `truth` (n_queries,); `novel` (20, 4), adverts
        of a product never shown before.

    Examples
    --------
    >>> data = ad_clicks(seed=0)
    >>> bool((data.clicks <= data.impressions).all())
    True
    """
    rng = np.random.default_rng(seed)
    n = n_keys + n_queries
    content = np.column_stack([rng.uniform(-1, 1, (n, 2)), rng.normal(size=(n, 2))])
    lift = 1.2 * np.sin(2 * content[:, 0]) + 1.8 * content[:, 1] ** 2 - 0.6
    lift += charm * rng.normal(size=n)
    truth = 1 / (1 + np.exp(4 - lift))
    shown = np.exp(rng.uniform(np.log(3), np.log(1000), n) + favour * lift)
    shown = np.ceil(shown).astype(int)
    clicks = rng.binomial(shown, truth)
    novel = np.column_stack([rng.uniform(3, 5, (20, 2)), rng.normal(size=(20, 2))])
    return AdClicks(
        ("tone", "offer", "colour", "length"),
        content[:n_keys], clicks[:n_keys], shown[:n_keys], content[n_keys:], truth[n_keys:], novel)


def search_log(seed=0, *, n_keys=240, n_queries=1000):
    """Return a click log: query embedding, document clicked, position at which it was shown.

    An old ranker put six documents in an order that hardly depends on the query.  A reader looks
    at position r with probability 1/r, and clicks on a document seen with the probability of its
    relevance.  Only queries with a click are logged, one click each.

    Parameters
    ----------
    seed : int
        Seed of the generator.
    n_keys, n_queries : int
        Numbers of logged and of held-out queries.

    Returns
    -------
    SearchLog
        `keys` (n_keys, 4), of whose features two carry the topic; `documents` (n_keys,), 0 to 5;
        `positions` (n_keys,), 1 to 6; `examination` (6,), the probability that position r is
        looked at (entry r − 1); `queries` (n_queries, 4) and the true relevance `truth`
        (n_queries, 6); `novel` (20, 4), queries on a topic that no document covers.

    Examples
    --------
    >>> search_log(seed=0).examination.round(3).tolist()
    [1.0, 0.5, 0.333, 0.25, 0.2, 0.167]
    """
    rng = np.random.default_rng(seed)
    angle = np.arange(6) * np.pi / 3
    topics = 1.2 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.25, (6, 2))
    examination = 1 / np.arange(1, 7)

    def relevance(queries):
        gap = queries[:, None, :2] - topics
        return np.exp(-0.5 * (gap ** 2).sum(axis=-1) / 0.8 ** 2)

    # Far more searches than clicks: draw them all, keep the first n_keys that end in a click.
    asked = rng.normal(size=(12 * n_keys, 4))
    liking = rng.normal(size=6) + 0.5 * rng.normal(size=(len(asked), 6))
    position = np.argsort(np.argsort(-liking, axis=1), axis=1) + 1
    clicked = rng.random(position.shape) < relevance(asked) * examination[position - 1]
    # One click a search: the one with the largest random number among the clicked documents.
    document = np.where(clicked, rng.random(position.shape), -1).argmax(axis=1)
    rows = np.flatnonzero(clicked.any(axis=1))[:n_keys]
    queries = rng.normal(size=(n_queries, 4))
    novel = np.column_stack([rng.uniform(5, 7, (20, 2)), rng.normal(size=(20, 2))])
    return SearchLog(
        asked[rows], document[rows], position[rows, document[rows]], examination,
        queries, relevance(queries), novel)


def video_frames(seed=0, *, n_frames=300):
    """Return the frames of a film, half of them with a rated importance.

    Ten scenes of four recurring kinds, ten frames a second.  Importance jumps at a cut, drifts
    slowly with time and follows one number of the appearance inside a scene.

    Parameters
    ----------
    seed : int
        Seed of the generator.
    n_frames : int
        Frames in the film; every second one, at random, is labelled.

    Returns
    -------
    VideoFrames
        `keys` (n_frames // 2, 4): time (s) and three numbers of appearance; `values`, ratings
        between 0 and 1; `queries` and `truth`, the frames without a label and their true
        importance; `novel` (20, 4), frames of a kind of scene that was never rated.

    Examples
    --------
    >>> video_frames(seed=0).keys.shape
    (150, 4)
    """
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.choice(np.arange(15, n_frames - 15), 9, replace=False))
    kinds = rng.integers(0, 4, 10)
    kind = kinds[np.searchsorted(cuts, np.arange(n_frames), side="right")]
    inside = rng.normal(0, 0.3, (n_frames, 3))
    appearance = rng.normal(0, 1.5, (4, 3))[kind] + inside
    time = np.arange(n_frames) / 10
    level = np.array([0.15, 0.35, 0.6, 0.85])[kind]
    truth = np.clip(level + 0.15 * np.sin(np.pi * time / 6) + 0.25 * inside[:, 0], 0, 1)
    ratings = np.clip(truth + rng.normal(0, 0.08, n_frames), 0, 1)
    frames = np.column_stack([time, appearance])
    labelled = np.sort(rng.choice(n_frames, n_frames // 2, replace=False))
    rest = np.setdiff1d(np.arange(n_frames), labelled)
    novel = np.column_stack([rng.uniform(0, time[-1], 20), rng.normal(6, 0.3, (20, 3))])
    return VideoFrames(
        ("time / s", "look 1", "look 2", "look 3"),
        frames[labelled], ratings[labelled], frames[rest], truth[rest], novel)


def rms_error(estimate, truth):
    """Return the root of the mean squared difference, over all entries.

    Parameters
    ----------
    estimate, truth : array_like
        Two arrays of one shape, or a constant and an array.

    Returns
    -------
    float
        In the units of `truth`.

    Examples
    --------
    >>> rms_error([1.0, 3.0], [1.0, 1.0])
    1.4142135623730951
    """
    difference = np.asarray(estimate, dtype=float) - np.asarray(truth, dtype=float)
    return float(np.sqrt((difference ** 2).mean()))


def error_lines(truth, guesses, *, digits=3):
    """Return the root mean squared error of each named guess, one to a line.

    Parameters
    ----------
    truth : array_like
    guesses : dict of str to array_like or None
        None stands for a guess that nobody has made yet.
    digits : int
        Decimals.

    Returns
    -------
    str

    Examples
    --------
    >>> print(error_lines([1.0, 3.0], {"mean": 2.0, "yours": None}))
    mean   error 1.000
    yours  not attempted
    """
    width = max(map(len, guesses))
    return "\n".join(
        f"{name:<{width}}  "
        + ("not attempted" if guess is None else f"error {rms_error(guess, truth):.{digits}f}")
        for name, guess in guesses.items())


def nearest_neighbours(queries, keys, values, k=None, *, scale=None):
    """Return the mean value of the k nearest keys.

    Parameters
    ----------
    queries, keys : ndarray, (n_queries, d) and (n_keys, d)
    values : ndarray, (n_keys,) or (n_keys, m)
    k : int, optional
        Number of neighbours.  Without it, the one of `NEIGHBOUR_COUNTS` with the least
        leave-one-out squared error.
    scale : ndarray, (d,), optional
        What each feature is divided by; without it, its standard deviation.

    Returns
    -------
    ndarray, (n_queries,) or (n_queries, m)

    Examples
    --------
    >>> keys = np.array([[0.0], [1.0], [2.0]])
    >>> nearest_neighbours(np.array([[1.8]]), keys, np.array([5.0, 6.0, 7.0]), k=2)
    array([6.5])
    """
    scale = keys.std(axis=0) if scale is None else scale
    if k is None:
        order = _nearest_first(keys / scale, keys / scale, leave_one_out=True)
        k = min((c for c in NEIGHBOUR_COUNTS if c < len(keys)),
                key=lambda c: ((values[order[:, :c]].mean(axis=1) - values) ** 2).mean())
    return values[_nearest_first(queries / scale, keys / scale)[:, :k]].mean(axis=1)


def _nearest_first(queries, keys, leave_one_out=False):
    distance = ((queries[:, None] - keys) ** 2).sum(axis=-1)  # (n_queries, n_keys)
    if leave_one_out:
        np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1, kind="stable")[:, :max(NEIGHBOUR_COUNTS)]


def kernel_sum(queries, keys, bandwidth):
    """Return the sum of the Gaussian over all keys, before anything is normalised.

    Parameters
    ----------
    queries, keys : ndarray, (n_queries, d) and (n_keys, d)
    bandwidth : float or ndarray, (d,)
        In the units of the keys.

    Returns
    -------
    ndarray, (n_queries,)
        Between 0 (no key near) and n_keys (all keys on the query).

    Notes
    -----
    Up to a factor this is a Parzen density estimate at the query; the factor depends on the number
    of keys and on the bandwidth, so compare sums only where both are the same.

    Examples
    --------
    >>> kernel_sum(np.array([[0.0], [9.0]]), np.array([[0.0], [0.0]]), 1.0).round(6)
    array([2., 0.])
    """
    u = np.sqrt((((queries[:, None] - keys) / bandwidth) ** 2).sum(axis=-1))
    return gaussian(u).sum(axis=1)


def refusal_threshold(keys, bandwidth, share=0.05):
    """Return the kernel sum that this share of the keys, each left out in turn, falls below.

    Parameters
    ----------
    keys : ndarray, (n_keys, d)
    bandwidth : float or ndarray, (d,)
    share : float
        How many queries of the known kind one is ready to refuse.

    Returns
    -------
    float

    Examples
    --------
    >>> keys = np.array([[0.0], [0.0], [0.0], [50.0]])
    >>> refusal_threshold(keys, 1.0, share=0.5)
    2.0
    """
    # Each key finds itself at distance zero, where the Gaussian is 1.
    left_out = kernel_sum(keys, keys, bandwidth) - 1
    return float(np.quantile(left_out, share))


def refused(queries, keys, bandwidth, share=0.05):
    """Return which queries have a kernel sum below the threshold of `refusal_threshold`.

    Parameters
    ----------
    queries, keys : ndarray, (n_queries, d) and (n_keys, d)
    bandwidth : float or ndarray, (d,)
    share : float
        How many queries of the known kind one is ready to refuse.

    Returns
    -------
    ndarray of bool, (n_queries,)

    Examples
    --------
    >>> keys = np.arange(10.0)[:, None]
    >>> refused(np.array([[4.5], [40.0]]), keys, 1.0).tolist()
    [False, True]
    """
    return kernel_sum(queries, keys, bandwidth) < refusal_threshold(keys, bandwidth, share)


def fit_bandwidths(keys, values, *, steps=25):
    """Return one bandwidth per feature by gradient descent on the leave-one-out error.

    Parameters
    ----------
    keys : ndarray, (n_keys, d)
    values : ndarray, (n_keys,) or (n_keys, m)
    steps : int
        Gradient steps after the start.

    Returns
    -------
    ndarray, (d,)
        In the units of the keys, each within a factor of 100 of that feature's standard deviation.
        At the upper end the feature has no say.

    Notes
    -----
    Starts at the best common multiple of the standard deviations, because descent from a
    bandwidth that is too small runs to zero.  The descent is in log σ, with a step of its own for
    each feature that grows while the sign of the gradient stays and is halved when it turns [1]_.
    The best point seen is returned.

    References
    ----------
    .. [1] Riedmiller, M. and Braun, H. (1993). A direct adaptive method for faster backpropagation
       learning: the RPROP algorithm. IEEE International Conference on Neural Networks, 586-591.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> keys = rng.uniform(0, 5, (80, 2))
    >>> sigma = fit_bandwidths(keys, np.sin(2 * keys[:, 0]))
    >>> bool(sigma[0] < 0.5 < 5 < sigma[1])
    True
    """
    spread = keys.std(axis=0)
    low, high = np.log(spread / 100), np.log(spread * 100)

    def error(log_sigma):
        return leave_one_out_error(keys, values, bandwidth=np.exp(log_sigma))

    log_sigma = min((np.log(c * spread) for c in np.geomspace(0.1, 3, 12)), key=error)
    best, least = log_sigma, error(log_sigma)
    step, before = np.full(len(spread), 0.3), np.zeros(len(spread))
    for _ in range(steps):
        slope = bandwidth_gradient(keys, values, bandwidth=np.exp(log_sigma), leave_one_out=True)
        turned = slope * before
        step = np.where(turned > 0, np.minimum(1.3 * step, 1), np.where(turned < 0, step / 2, step))
        log_sigma = np.clip(log_sigma - np.sign(slope) * step, low, high)
        before, now = slope, error(log_sigma)
        if now < least:
            best, least = log_sigma, now
    return np.exp(best)


def search_bandwidths(loss, start, *, rounds=3):
    """Return one bandwidth per feature by trying multiples of each in turn.

    For losses without a gradient at hand; `fit_bandwidths` is faster for squared error.

    Parameters
    ----------
    loss : callable
        Takes an array of d bandwidths, returns a float; smaller is better.
    start : ndarray, (d,)
        Where the search begins.
    rounds : int
        How often all features are gone through.

    Returns
    -------
    ndarray, (d,)

    Examples
    --------
    >>> search_bandwidths(lambda s: abs(s - np.array([1.0, 4.0])).sum(), np.array([2.0, 2.0]))
    array([1., 4.])
    """
    best, least = np.array(start, dtype=float), loss(np.array(start, dtype=float))
    for _ in range(rounds):
        for feature in range(len(best)):
            start = best
            for factor in (0.25, 0.5, 0.7, 1.4, 2, 4, 100):
                trial = start.copy()
                trial[feature] *= factor
                now = loss(trial)
                if now < least:
                    best, least = trial, now
    return best
