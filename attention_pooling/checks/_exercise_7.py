"""Exercise 7: one-hot values make a classifier."""

import numpy as np

from ._core import Mistake, Task
from ._formulas import columns_to_one, gaussian_scores, kernel, rows_to_one


def class_probabilities(queries, points, labels, bandwidth, classes):
    return rows_to_one(gaussian_scores(queries, points, bandwidth)) @ np.eye(classes)[labels]


def _known_classes_only(queries, points, labels, bandwidth, classes):
    return class_probabilities(queries, points, labels, bandwidth, classes)[:, np.unique(labels)]


def _equal_classes(queries, points, labels, bandwidth, classes):
    k = kernel(queries, points, bandwidth)
    one_hot = np.eye(classes)[labels]
    means = k @ one_hot / np.maximum(one_hot.sum(axis=0), 1)
    return means / means.sum(axis=1, keepdims=True)


def _sum_of_coordinates(queries, points, labels, bandwidth, classes):
    distance = np.abs(queries[:, None] - points[None]).sum(axis=-1)
    return rows_to_one(-(distance**2) / (2 * bandwidth**2)) @ np.eye(classes)[labels]


def _hard(*case):
    return np.eye(case[-1])[class_probabilities(*case).argmax(axis=1)]


def _case(m, counts, bandwidth, classes, seed, d=2):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    points = rng.normal(size=(len(labels), d)) + labels[:, None]
    return rng.uniform(-1, 3, (m, d)), points, labels, bandwidth, classes


def deletion_effect(weights, one_hot):
    estimate = weights @ one_hot
    return weights[:, None] * (estimate - one_hot) / (1 - weights[:, None])


def _weights_case(n, classes, seed):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(n)), np.eye(classes)[rng.integers(0, classes, n)]


TASKS = [
    Task(
        name="class-probabilities",
        wanted="a function `class_probabilities(queries, points, labels, bandwidth, classes)` that"
        " returns an array of shape (queries, classes)",
        cases=[
            _case(5, [4, 3, 6], 0.7, 3, 1),
            _case(6, [5, 4, 0, 3], 0.9, 4, 2),
            _case(4, [3, 8], 0.5, 2, 3, d=3),
        ],
        right=class_probabilities,
        mistakes=[
            Mistake(
                "class-missing",
                _known_classes_only,
                "You return a column for each class that occurs. One of the inputs has a class"
                " without an example: it needs its column of zeros. `classes` says how many.",
            ),
            Mistake(
                "numbers-averaged",
                lambda q, p, y, s, c: rows_to_one(gaussian_scores(q, p, s)) @ y,
                "You averaged the class *numbers*: halfway between classes 0 and 2 is not class"
                " 1. Turn each label into a one-hot row first.",
            ),
            Mistake(
                "decisions",
                lambda *case: class_probabilities(*case).argmax(axis=1),
                "These are the decisions. Return the probabilities of all classes; the next cell"
                " takes the largest.",
            ),
            Mistake(
                "decisions",
                _hard,
                "These are the decisions, as one-hot rows. Return the probabilities themselves.",
            ),
            Mistake(
                "not-normalised",
                lambda q, p, y, s, c: kernel(q, p, s) @ np.eye(c)[y],
                "K is not divided by its sum: the probabilities of a query must sum to 1.",
            ),
            Mistake(
                "mean-over-keys",
                lambda q, p, y, s, c: kernel(q, p, s) @ np.eye(c)[y] / len(p),
                "K is divided by the number of examples, not by its sum over them: the"
                " probabilities of a query must sum to 1.",
            ),
            Mistake(
                "equal-classes",
                _equal_classes,
                "You averaged K within each class first, so that large and small classes count"
                " the same. Nadaraya-Watson weighs every example alike.",
            ),
            Mistake(
                "wrong-axis",
                lambda q, p, y, s, c: columns_to_one(gaussian_scores(q, p, s)) @ np.eye(c)[y],
                "The weights are normalised along the wrong axis: each query's weights over the"
                " examples must sum to 1.",
            ),
            Mistake(
                "sigma-for-its-square",
                lambda q, p, y, s, c: class_probabilities(q, p, y, np.sqrt(s), c),
                "The weights use distance²/(2σ): look at the power of σ.",
            ),
            Mistake(
                "sign-lost",
                lambda q, p, y, s, c: rows_to_one(-gaussian_scores(q, p, s)) @ np.eye(c)[y],
                "The sign is lost: the farthest example has the largest weight.",
            ),
            Mistake(
                "coordinates-added",
                _sum_of_coordinates,
                "The distance adds the differences of the coordinates. Add their squares.",
            ),
        ],
        praise="Each row is a distribution over the classes, and each example's part in it is its"
        " weight.",
        look="It is the same estimator with one row of values for each example.",
        hints=[
            "Nadaraya-Watson averages values of any shape. What value stands for class 2 of 4?",
            "A row with a 1 in column 2: (0, 0, 1, 0). The average of such rows is a distribution"
            " over the classes.",
            "`np.eye(classes)[labels]` makes the rows; `nadaraya_watson(queries, points, rows,"
            " bandwidth=bandwidth)` averages them.",
        ],
    ),
    Task(
        name="deletion",
        wanted="a function `deletion_effect(weights, one_hot)` that returns an array of shape"
        " (examples, classes)",
        cases=[_weights_case(6, 3, 1), _weights_case(9, 4, 2)],
        right=deletion_effect,
        mistakes=[
            Mistake(
                "sign-lost",
                lambda w, y: -deletion_effect(w, y),
                "The sign is lost: after minus before.",
            ),
            Mistake(
                "not-normalised-again",
                lambda w, y: w[:, None] * (w @ y - y),
                "Nearly: after a deletion the other weights are divided by a smaller sum. Your"
                " change lacks that factor.",
            ),
            Mistake(
                "contribution-removed",
                lambda w, y: -w[:, None] * y,
                "You took the example's part away and left the others as they are: their weights"
                " no longer sum to 1.",
            ),
            Mistake(
                "contribution",
                lambda w, y: w[:, None] * y,
                "That is each example's part in the estimate. What changes when it is deleted is"
                " something else: the other examples share its weight.",
            ),
            Mistake(
                "estimate-after",
                lambda w, y: w @ y + deletion_effect(w, y),
                "These are the probabilities after the deletion. Asked is the change.",
            ),
            Mistake(
                "divided-by-weight",
                lambda w, y: w[:, None] * (w @ y - y) / w[:, None],
                "You divided by the weight of the example. Divide by what the *others* weigh.",
            ),
            Mistake(
                "divided-by-one-plus",
                lambda w, y: w[:, None] * (w @ y - y) / (1 + w[:, None]),
                "You divided by one *plus* the weight; the others weigh one minus it.",
            ),
        ],
        praise="An example that agrees with the estimate changes little when it goes, however"
        " large its weight: weight and influence are two things.",
        look="Delete one example, divide the other weights by their sum, and subtract.",
        hints=[
            "Without example j the others keep their kernel values but are divided by a smaller"
            " sum.",
            "The new estimate is (f − w_j y_j)/(1 − w_j). Subtract f.",
            "The difference simplifies to w_j (f − y_j)/(1 − w_j), for all classes at once; use"
            " `weights[:, None]` to give it the right shape.",
        ],
    ),
]
