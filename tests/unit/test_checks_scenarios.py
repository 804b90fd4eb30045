"""The checks of the scenarios: the starter, right answers in several forms, every listed mistake."""

import numpy as np
import pytest

from attention_pooling import attention_weights, nadaraya_watson
from attention_pooling.checks import NOT_ATTEMPTED, NOT_YET, RIGHT, check, hint
from attention_pooling.checks import _scenarios

TASKS = {task.name: task for task in _scenarios.TASKS}


def looped_weights(query, keys, bandwidth):
    """One row of weights, with nothing but loops and the standard library's idea of a sum."""
    kernel = []
    for key in keys:
        squares = [((q - k) / s) ** 2 for q, k, s in zip(query, key, bandwidth)]
        kernel.append(np.exp(-sum(squares) / 2))
    return [k / sum(kernel) for k in kernel]


def looped_distribution(queries, keys, shares, bandwidth):
    return [
        sum(w * row for w, row in zip(looped_weights(q, keys, bandwidth), shares)) for q in queries
    ]


def deleted_one_by_one(query, keys, ratings, bandwidth):
    before = nadaraya_watson(query[None], keys, ratings, bandwidth=bandwidth)
    for j in range(len(keys)):
        after = nadaraya_watson(
            query[None], np.delete(keys, j, 0), np.delete(ratings, j), bandwidth=bandwidth)
        yield (after - before).item()


def influence_from_weights(query, keys, ratings, bandwidth):
    w = attention_weights(query[None], keys, bandwidth=bandwidth)[0]
    return (w * (w @ ratings - ratings) / (1 - w)).reshape(-1, 1)


def influence_looped(query, keys, ratings, bandwidth):
    w = looped_weights(query, keys, bandwidth)
    f = sum(a * b for a, b in zip(w, ratings))
    return [(f - a * b) / (1 - a) - f for a, b in zip(w, ratings)]


def pooled_twice(queries, keys, clicks, impressions, bandwidth):
    top, bottom = (nadaraya_watson(queries, keys, v, bandwidth=bandwidth)
                   for v in (clicks, impressions))
    return top / bottom


def rates_weighted(queries, keys, clicks, impressions, bandwidth):
    weights = attention_weights(queries, keys, bandwidth=bandwidth) * impressions
    return (weights / weights.sum(axis=1, keepdims=True)) @ (clicks / impressions)


def rates_looped(queries, keys, clicks, impressions, bandwidth):
    rates = []
    for query in queries:
        w = np.array(looped_weights(query, keys, bandwidth))
        rates.append(sum(w * clicks) / sum(w * impressions))
    return np.array(rates)[:, None]


def scores_package(queries, keys, clicked, positions, examination, bandwidth):
    values = clicked / examination[positions - 1][:, None]
    return nadaraya_watson(queries, keys, values, bandwidth=bandwidth)


def scores_added(queries, keys, clicked, positions, examination, bandwidth):
    """Not normalised: a sum of kernels ranks as well as their mean."""
    scores = np.zeros((len(queries), clicked.shape[1]))
    for i, query in enumerate(queries):
        for key, row, position in zip(keys, clicked, positions):
            u = (query - key) / bandwidth
            scores[i] += np.exp(-(u @ u) / 2) * row / examination[position - 1]
    return scores


def scores_as_shares(*case):
    scores = scores_added(*case)
    return (scores / scores.sum(axis=1, keepdims=True)).tolist()


def importance_masked(queries, keys, ratings, bandwidth, window):
    weights = attention_weights(queries, keys, bandwidth=bandwidth)
    weights = weights * (abs(queries[:, [0]] - keys[:, 0]) <= window)
    return weights @ ratings / weights.sum(axis=1)


def importance_looped(queries, keys, ratings, bandwidth, window):
    estimates = []
    for query in queries:
        near = [j for j in range(len(keys)) if abs(keys[j][0] - query[0]) <= window]
        if near:
            w = looped_weights(query, keys[near], bandwidth)
            estimates.append(sum(a * b for a, b in zip(w, ratings[near])))
        else:
            estimates.append(float("nan"))
    return estimates


def importance_two_kernels(queries, keys, ratings, bandwidth, window):
    def kernel(columns):
        u = (queries[:, None, columns] - keys[:, columns]) / bandwidth[columns]
        return np.exp(-0.5 * (u ** 2).sum(axis=-1))

    k = kernel([0]) * kernel([1, 2, 3])
    k[abs(queries[:, None, 0] - keys[:, 0]) > window] = 0
    return (k @ ratings[:, None]) / k.sum(axis=1, keepdims=True)


RIGHT_ANSWERS = {
    "scenario-1": [
        lambda q, k, v, s: nadaraya_watson(q, k, v, bandwidth=s),
        lambda q, k, v, s: attention_weights(q / s, k / s).astype(np.float32) @ v,
        looped_distribution,
    ],
    "scenario-2": [influence_from_weights, influence_looped, deleted_one_by_one],
    "scenario-3": [pooled_twice, rates_weighted, rates_looped],
    "scenario-4": [scores_package, scores_added, scores_as_shares],
    "scenario-5": [importance_masked, importance_looped, importance_two_kernels],
}


def test_each_scenario_has_its_check():
    assert list(TASKS) == [f"scenario-{i}" for i in range(1, 6)]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("starter", [None, ..., lambda *case: None, lambda *case: ...])
def test_a_starter_is_not_attempted(name, starter):
    assert check(name, starter).outcome == NOT_ATTEMPTED


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("form", range(3))
def test_right_answers_of_any_form_pass(name, form):
    result = check(name, RIGHT_ANSWERS[name][form])
    assert result.outcome == RIGHT, result.message


MISTAKES = [(name, i) for name, task in TASKS.items() for i in range(len(task.mistakes))]


@pytest.mark.parametrize(("name", "index"), MISTAKES)
def test_each_mistake_gets_its_own_message(name, index):
    mistake = TASKS[name].mistakes[index]
    result = check(name, mistake.wrong)
    assert (result.outcome, result.mistake) == (NOT_YET, mistake.label), result.message
    assert mistake.message[:40] in " ".join(result.message.split())


def test_each_check_knows_at_least_four_mistakes():
    for task in TASKS.values():
        assert len({mistake.label for mistake in task.mistakes}) >= 4, task.name


@pytest.mark.parametrize("name", TASKS)
def test_an_unknown_mistake_is_not_yet(name):
    result = check(name, lambda *case: np.full_like(np.asarray(TASKS[name].right(*case)), 7.0))
    assert result.outcome == NOT_YET


def test_scores_of_the_wrong_shape_say_so():
    wrong = check("scenario-4", lambda *case: scores_package(*case).T)
    assert wrong.mistake == "transposed"
    assert check("scenario-4", lambda *case: scores_package(*case)[:, 0]).mistake == "shape"


@pytest.mark.parametrize("name", TASKS)
def test_three_hints_lead_there(name):
    texts = [hint(name, step).text for step in (1, 2, 3)]
    assert len(set(texts)) == 3
