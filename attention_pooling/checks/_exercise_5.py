"""Exercise 5: from distance to dot product on the unit sphere."""

import numpy as np

from ._core import Mistake, Task
from ._formulas import columns_to_one, gaussian_scores, rows_to_one


def sphere_weights(queries, keys, bandwidth):
    return rows_to_one(queries @ keys.T / bandwidth**2)


def _scores(scale):
    return lambda q, k, s: rows_to_one(scale(s, q.shape[1]) * (q @ k.T))


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def repaired_weights(queries, keys, bandwidth):
    return rows_to_one(gaussian_scores(queries, keys, bandwidth))


def _with_bias(bias):
    def wrong(queries, keys, bandwidth):
        norms = np.linalg.norm(keys, axis=1)
        return rows_to_one(queries @ keys.T / bandwidth**2 + bias(norms, bandwidth))

    return wrong


def _all_near(numbers, target=None):
    return np.allclose(numbers, numbers[0] if target is None else target)


def dot_product_suffices(queries, keys):
    return _all_near(np.linalg.norm(keys, axis=1))


def _random(m, n, d, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=(n, d))


Q, K = _random(4, 6, 3, 5)
Q2, K2 = _random(3, 5, 8, 6)

TASKS = [
    Task(
        name="sphere-weights",
        wanted="a function `sphere_weights(queries, keys, bandwidth)` that returns an array of"
        " shape (queries, keys)",
        cases=[
            (_unit(Q), _unit(K), 0.6),
            (_unit(Q2), _unit(K2), 1.7),
            (2.5 * _unit(Q), _unit(K), 0.9),
            (Q, K, 1.4),
        ],
        right=sphere_weights,
        mistakes=[
            Mistake(
                "distances",
                repaired_weights,
                "Right on the sphere, but computed from distances: the check also tries keys of"
                " unequal length, and there the answer shows it. Use the products q·k only.",
            ),
            Mistake(
                "unit-length-forced",
                lambda q, k, s: sphere_weights(_unit(q), _unit(k), s),
                "You scale the vectors to unit length inside the function. It should take them as"
                " they come; the exercise is about what happens when they are not.",
            ),
            Mistake(
                "sigma-for-its-square",
                _scores(lambda s, d: 1 / s),
                "The products are divided by σ: look at the power.",
            ),
            Mistake(
                "half",
                _scores(lambda s, d: 1 / (2 * s**2)),
                "The products are divided by 2σ². Expand the square once more: the middle term"
                " carries a 2.",
            ),
            Mistake(
                "twice",
                _scores(lambda s, d: 2 / s**2),
                "The products are twice too large: the 2 of the middle term meets the ½ of the"
                " Gaussian.",
            ),
            Mistake(
                "sign-lost",
                _scores(lambda s, d: -1 / s**2),
                "The sign is lost: a larger product means a *smaller* distance, so a larger"
                " weight.",
            ),
            Mistake(
                "root-of-dimension",
                _scores(lambda s, d: 1 / np.sqrt(d)),
                "This is the Transformer's scale, 1/√d. Here σ sets the scale; which σ would make"
                " the two the same?",
            ),
            Mistake(
                "no-scale",
                _scores(lambda s, d: 1.0),
                "The bandwidth has no effect in your function.",
            ),
            Mistake(
                "not-normalised",
                lambda q, k, s: np.exp(q @ k.T / s**2),
                "The exponentials are not divided by their sum: rows must sum to 1.",
            ),
            Mistake(
                "wrong-axis",
                lambda q, k, s: columns_to_one(q @ k.T / s**2),
                "The columns sum to 1; the rows should. Look at the axis of the sum.",
            ),
            Mistake(
                "keys-for-queries",
                lambda q, k, s: sphere_weights(k, q, s),
                "Keys were taken for queries: rows are queries, columns are keys.",
            ),
        ],
        praise="A softmax of products: this is scaled dot-product attention with 1/σ² as the"
        " scale.",
        look="Expand the squared distance between q and k into three terms, and see which of"
        " them depend on the key.",
        hints=[
            "Expand ‖q − k‖² = ‖q‖² − 2 q·k + ‖k‖². On the sphere two of the terms are numbers.",
            "What is the same for all keys of a row cancels in the softmax. What is left of"
            " −‖q − k‖²/(2σ²)?",
            "A softmax along each row of `queries @ keys.T / bandwidth**2`.",
        ],
    ),
    Task(
        name="weakest-condition",
        wanted="a function `dot_product_suffices(queries, keys)` that returns True or False",
        cases=[
            (_unit(Q), _unit(K)),
            (Q, _unit(K)),
            (_unit(Q), K),
            (Q, 3 * _unit(K)),
            (Q, K),
            (_unit(Q2), 0.1 * _unit(K2)),
            (Q2, np.concatenate([_unit(K2)[:4], 1.01 * _unit(K2)[4:]])),
            (Q2, K2[:1]),
            (Q, np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 5.0], [-4.0, 0.0, 3.0]])),
            (_unit(Q)[:1], K),
            (2 * _unit(Q), K),
            (3 * _unit(Q2), 3 * _unit(K2)),
        ],
        right=dot_product_suffices,
        mistakes=[
            Mistake(
                "everything-unit",
                lambda q, k: _all_near(np.linalg.norm(q, axis=1), 1)
                and _all_near(np.linalg.norm(k, axis=1), 1),
                "You ask for unit length of queries and keys. That is enough, but more than is"
                " needed: try a query twice as long and compare the weights.",
            ),
            Mistake(
                "keys-unit",
                lambda q, k: _all_near(np.linalg.norm(k, axis=1), 1),
                "Close: you look at the keys only, as you should. But must their length be 1? Try"
                " keys that all have length 3.",
            ),
            Mistake(
                "queries-unit",
                lambda q, k: _all_near(np.linalg.norm(q, axis=1), 1),
                "You look at the length of the queries. Which of the three terms of the square"
                " cancels in the softmax whatever it is, and which does not?",
            ),
            Mistake(
                "queries-equal",
                lambda q, k: _all_near(np.linalg.norm(q, axis=1)),
                "You ask that the *queries* have equal lengths. A row of weights knows one query"
                " only; which vectors does it compare with each other?",
            ),
            Mistake(
                "both-equal",
                lambda q, k: _all_near(np.linalg.norm(k, axis=1))
                and _all_near(np.linalg.norm(q, axis=1)),
                "You ask for equal lengths of the queries as well. Each query has its own row,"
                " and its own length cancels there.",
            ),
            Mistake(
                "same-length",
                lambda q, k: _all_near(np.linalg.norm(np.concatenate([q, k]), axis=1)),
                "You ask that queries and keys share one length. Nothing compares a query's"
                " length with a key's.",
            ),
            Mistake(
                "exact-comparison",
                lambda q, k: np.ptp(np.linalg.norm(k, axis=1)) == 0,
                "The right condition, but compared with `==`: after rounding, lengths that should"
                " be equal differ in the last digit. Use `np.allclose`.",
            ),
            Mistake(
                "always",
                lambda q, k: True,
                "You always say True. Try keys of lengths 1 and 2 on one line through 0.",
            ),
            Mistake(
                "never",
                lambda q, k: False,
                "You always say False. On the unit sphere the norms can be dropped.",
            ),
        ],
        praise="Keys of equal length are enough, and needed; queries may have any length, which"
        " acts like a temperature.",
        look="Three terms: one depends on the query only, one on both, one on the key only.",
        hints=[
            "A term that is the same for all keys of a row cancels in the softmax.",
            "The term −‖q‖²/(2σ²) is such a term, always. When is −‖k‖²/(2σ²) one?",
            "When all keys have the same length, whatever it is. Compare"
            " `np.linalg.norm(keys, axis=1)` with its first entry by `np.allclose`.",
        ],
    ),
    Task(
        name="repaired-weights",
        wanted="a function `repaired_weights(queries, keys, bandwidth)` that returns an array of"
        " shape (queries, keys)",
        cases=[(Q, K, 0.8), (Q2, K2, 1.7), (_unit(Q), K, 1.3)],
        right=repaired_weights,
        mistakes=[
            Mistake(
                "no-bias",
                sphere_weights,
                "This is the softmax of the products alone. It favours long keys; add the term"
                " that depends on the key only.",
            ),
            Mistake(
                "half-lost",
                _with_bias(lambda r, s: -(r**2) / s**2),
                "The added term is twice too large: look for the ½ of the Gaussian.",
            ),
            Mistake(
                "sign-lost",
                _with_bias(lambda r, s: r**2 / (2 * s**2)),
                "The added term has the wrong sign: long keys get a bonus where they should lose"
                " one.",
            ),
            Mistake(
                "bandwidth-lost",
                _with_bias(lambda r, s: -(r**2) / 2),
                "The added term is not divided by σ².",
            ),
            Mistake(
                "norm-not-squared",
                _with_bias(lambda r, s: -r / (2 * s**2)),
                "The added term has the length of the key; look at its power.",
            ),
            Mistake(
                "keys-scaled",
                lambda q, k, s: sphere_weights(q, _unit(k), s),
                "You scale the keys to unit length. That gives other weights; leave the keys and"
                " add a term to the scores.",
            ),
            Mistake(
                "after-softmax",
                lambda q, k, s: sphere_weights(q, k, s) - (k**2).sum(axis=1) / (2 * s**2),
                "The term is added to the weights. Add it to the scores, before the softmax.",
            ),
            Mistake(
                "wrong-axis",
                lambda q, k, s: columns_to_one(gaussian_scores(q, k, s)),
                "The columns sum to 1; the rows should. Look at the axis of the sum.",
            ),
            Mistake(
                "sigma-for-its-square",
                lambda q, k, s: repaired_weights(q, k, np.sqrt(s)),
                "The scores are divided by σ where they should be divided by σ².",
            ),
        ],
        praise="One number for each key, added to its scores, turns a dot product back into a"
        " distance.",
        look="Look at the three terms of the square again: one was dropped that does not cancel.",
        hints=[
            "Take the expansion of −‖q − k‖²/(2σ²) and keep what depends on the key.",
            "Two terms do: q·k/σ², and one with ‖k‖² alone.",
            "Subtract `(keys**2).sum(axis=1) / (2 * bandwidth**2)` from the scores"
            " `queries @ keys.T / bandwidth**2`, then take the softmax.",
        ],
    ),
]
