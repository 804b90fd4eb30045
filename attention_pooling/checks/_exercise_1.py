"""Exercise 1: Parzen windows and the Nadaraya-Watson classifier."""

import numpy as np

from ._core import Mistake, Task
from ._formulas import kernel, squared_distances


def joint_densities(queries, points, labels, bandwidth):
    constant = (2 * np.pi * bandwidth**2) ** (points.shape[1] / 2)
    return _class_sums(kernel(queries, points, bandwidth), labels) / (len(points) * constant)


def _class_sums(k, labels):
    return np.stack([k[:, labels == c].sum(axis=1) for c in (-1, 1)], axis=1)


def _with_constant(constant):
    def wrong(queries, points, labels, bandwidth):
        sums = _class_sums(kernel(queries, points, bandwidth), labels)
        return sums / (len(points) * constant(bandwidth, points.shape[1]))

    return wrong


def _with_exponent(exponent):
    def wrong(queries, points, labels, bandwidth):
        constant = (2 * np.pi * bandwidth**2) ** (points.shape[1] / 2)
        k = np.exp(exponent(squared_distances(queries, points), bandwidth))
        return _class_sums(k, labels) / (len(points) * constant)

    return wrong


def _given_class(queries, points, labels, bandwidth):
    counts = np.array([(labels == c).sum() for c in (-1, 1)])
    return joint_densities(queries, points, labels, bandwidth) * len(points) / counts


def _posterior(queries, points, labels, bandwidth):
    joint = joint_densities(queries, points, labels, bandwidth)
    return joint / joint.sum(axis=1, keepdims=True)


def _two_classes(m, plus, minus, d, seed):
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(0.6, 1, (plus, d)), rng.normal(-0.6, 1, (minus, d))])
    labels = np.repeat([1, -1], [plus, minus])
    order = rng.permutation(len(points))
    return rng.uniform(-2, 2, (m, d)), points[order], labels[order]


def disagreements(queries, points, labels, bandwidth, priors):
    return _parzen(queries, points, labels, bandwidth, priors) != _pooled(
        queries, points, labels, bandwidth
    )


def _parzen(queries, points, labels, bandwidth, priors):
    given = _given_class(queries, points, labels, bandwidth) * np.asarray(priors)
    return given[:, 1] > given[:, 0]


def _pooled(queries, points, labels, bandwidth):
    return kernel(queries, points, bandwidth) @ labels > 0


def _counted_twice(queries, points, labels, bandwidth, priors):
    joint = joint_densities(queries, points, labels, bandwidth) * np.asarray(priors)
    return (joint[:, 1] > joint[:, 0]) != _pooled(queries, points, labels, bandwidth)


def _zero_one(queries, points, labels, bandwidth, priors):
    return ~_parzen(queries, points, labels, bandwidth, priors)


TASKS = [
    Task(
        name="joint-densities",
        wanted="a function `joint_densities(queries, points, labels, bandwidth)` that returns an"
        " array of shape (queries, 2), first the density with label -1, then with +1",
        cases=[
            (*_two_classes(5, 7, 4, 2, 10), 0.7),
            (*_two_classes(4, 3, 6, 1, 11), 0.5),
            (*_two_classes(3, 5, 4, 3, 12), 1.4),
        ],
        right=joint_densities,
        mistakes=[
            Mistake(
                "given-class",
                _given_class,
                "You divided by the number of points of the class. That is the density *given*"
                " the class; the joint density of point and label divides by the number of all"
                " points. Look at what the two columns should integrate to together.",
            ),
            Mistake(
                "sum-for-mean",
                lambda q, p, y, s: joint_densities(q, p, y, s) * len(p),
                "This is a sum over the points. A density is their mean: its two columns together"
                " integrate to 1, whatever the number of points.",
            ),
            Mistake(
                "posterior",
                _posterior,
                "Your rows sum to 1: that is the probability of the label given the point, after"
                " a division by the density of the point. A joint density is not divided by it.",
            ),
            Mistake(
                "no-constant",
                _with_constant(lambda s, d: 1.0),
                "The kernel is not yet a density: its integral over all points must be 1. Look at"
                " the constant in front of the exponential, and at how it depends on the"
                " bandwidth and on the number of features.",
            ),
            Mistake(
                "no-bandwidth-in-constant",
                _with_constant(lambda s, d: (2 * np.pi) ** (d / 2)),
                "The constant in front of the exponential lacks the bandwidth. A kernel twice as"
                " wide must be lower, or its integral doubles in each direction.",
            ),
            Mistake(
                "constant-of-one-feature",
                _with_constant(lambda s, d: (2 * np.pi) ** 0.5 * s),
                "The constant is that of one feature. With d features the kernel spreads in d"
                " directions: look at the power of its constant.",
            ),
            Mistake(
                "bandwidth-power",
                _with_constant(lambda s, d: (2 * np.pi) ** (d / 2) * s),
                "In the constant the bandwidth stands with the power of one feature. With d"
                " features the kernel spreads in d directions: look at the power of σ.",
            ),
            Mistake(
                "constant-of-two-features",
                _with_constant(lambda s, d: 2 * np.pi * s**2),
                "Right for two features only. This check also tries one and three: take the"
                " number of features from `points.shape[1]`.",
            ),
            Mistake(
                "sigma-for-its-square",
                _with_exponent(lambda d2, s: -d2 / (2 * s)),
                "In the exponent the squared distance is divided by 2σ; look at the power of σ.",
            ),
            Mistake(
                "half-lost",
                _with_exponent(lambda d2, s: -d2 / s**2),
                "The exponent is twice too large: look for the ½ of the Gaussian.",
            ),
            Mistake(
                "sign-lost",
                _with_exponent(lambda d2, s: d2 / (2 * s**2)),
                "The sign in the exponent is lost: your kernel grows with the distance.",
            ),
            Mistake(
                "distance-not-squared",
                _with_exponent(lambda d2, s: -np.sqrt(d2) / (2 * s**2)),
                "The distance in the exponent is not squared.",
            ),
            Mistake(
                "columns-swapped",
                lambda *case: joint_densities(*case)[:, ::-1],
                "The columns have changed places: the first is for label -1, the second for +1.",
            ),
        ],
        praise="Their difference is the density of the point times the Nadaraya-Watson estimate"
        " of the label, which is what your proof needs.",
        look="Look at one query and one point first: one over the number of points, times a"
        " Gaussian density at their distance.",
        hints=[
            "Each point contributes one bump, a Gaussian density centred on it. The joint"
            " estimate with label c sums the bumps of the points with that label, and divides by"
            " the number of all points.",
            "In d features the Gaussian density with standard deviation σ is"
            " exp(−distance²/(2σ²)) divided by (2πσ²) to the power d/2.",
            "Compute the matrix of squared distances by `queries[:, None] - points[None]`, turn"
            " it into densities, and sum the columns where `labels == -1`, then those where"
            " `labels == 1`. `np.stack([...], axis=1)` puts the two sums side by side.",
        ],
    ),
    Task(
        name="disagreements",
        wanted="a function `disagreements(queries, points, labels, bandwidth, priors)` that"
        " returns one True or False for each query",
        cases=[
            (*_two_classes(40, 14, 6, 2, 20), 0.8, (0.5, 0.5)),
            (*_two_classes(40, 8, 12, 2, 21), 0.6, (0.2, 0.8)),
            (*_two_classes(30, 15, 5, 1, 22), 0.7, (0.25, 0.75)),
        ],
        right=disagreements,
        mistakes=[
            Mistake(
                "priors-ignored",
                lambda queries, *rest: np.zeros(len(queries), dtype=bool),
                "Nothing disagrees: the priors have no effect in your function. With the counts"
                " of the data as priors that is the theorem; here the priors are given.",
            ),
            Mistake(
                "priors-counted-twice",
                _counted_twice,
                "You multiplied the *joint* densities by the priors, so the counts of the data"
                " are in twice. The prior multiplies the density given the class.",
            ),
            Mistake(
                "agreements",
                lambda *case: ~disagreements(*case),
                "These are the queries where the two agree: True and False have changed places.",
            ),
            Mistake(
                "labels-zero-one",
                _zero_one,
                "Your pooled label seems never to be negative, as happens when labels 0 and 1"
                " are averaged instead of -1 and +1.",
            ),
            Mistake(
                "priors-swapped",
                lambda q, p, y, s, priors: disagreements(q, p, y, s, priors[::-1]),
                "The priors have changed places: `priors[0]` belongs to label -1.",
            ),
            Mistake(
                "decisions",
                _parzen,
                "These are the decisions of the Parzen rule. Compare them with the sign of the"
                " pooled label: the check wants to know where the two differ.",
            ),
            Mistake(
                "decisions",
                lambda *case: np.where(_parzen(*case), 1, -1),
                "These are the decisions of the Parzen rule. Compare them with the sign of the"
                " pooled label: the check wants to know where the two differ.",
            ),
            Mistake(
                "share",
                lambda *case: disagreements(*case).mean(),
                "That is the share of the queries. Return one True or False for each query; the"
                " cell below takes the mean.",
            ),
        ],
        praise="With the counts of the data as priors there is none; each other choice of priors"
        " moves the border between the classes.",
        look="Compute two decisions for each query, +1 or -1, and compare them.",
        hints=[
            "The Parzen rule with priors compares, for each query, prior times density given the"
            " class. The density given the class divides by the number of points of that class.",
            "The other decision is the sign of the Nadaraya-Watson estimate of the label; its"
            " denominator is positive, so the sign of the kernel-weighted sum of labels is"
            " enough.",
            "`joint_densities` already holds both: multiply its columns by n/n₋ and n/n₊ for the"
            " density given the class, and take `column 1 - column 0` for the sign of the pooled"
            " label.",
        ],
    ),
]
