"""The scenarios' data have the truth they claim, and their tools agree with brute force and scikit-learn."""

import inspect

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text
from sklearn.neighbors import KNeighborsRegressor

from attention_pooling import figures, figures_scenarios, leave_one_out_error, nadaraya_watson
from attention_pooling import scenarios
from attention_pooling.scenarios import (
    ad_clicks, cold_start, error_lines, fit_bandwidths, kernel_sum, nearest_neighbours, rated_answers,
    refusal_threshold, refused, rms_error, search_bandwidths, search_log, video_frames)

DATA = [cold_start, rated_answers, ad_clicks, search_log, video_frames]
each_data = pytest.mark.parametrize("make", DATA, ids=lambda make: make.__name__)


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b))


@each_data
def test_data_depend_on_the_seed_and_on_nothing_else(make):
    np.random.seed(0)
    first = make(seed=3)
    np.random.seed(1)
    assert same(first, make(seed=3))
    assert not np.array_equal(first.keys, make(seed=4).keys)


@each_data
def test_records_fit_together(make):
    data = make(seed=1)
    assert len(data.queries) == len(data.truth)
    assert data.keys.shape[1] == data.queries.shape[1] == data.novel.shape[1]
    for field in set(data._fields) & {"values", "clicks", "impressions", "documents", "positions"}:
        assert len(getattr(data, field)) == len(data.keys), field
    for part in (data.keys, data.queries, data.truth, data.novel):
        assert np.isfinite(part).all()


@each_data
def test_novel_queries_are_farther_from_the_keys_than_the_others(make):
    data = make(seed=2)
    spread = data.keys.std(axis=0)

    def nearest(queries):
        return np.sqrt((((queries[:, None] - data.keys) / spread) ** 2).sum(axis=-1)).min(axis=1)

    assert np.median(nearest(data.novel)) > np.quantile(nearest(data.queries), 0.95)


# The truth is what the values are drawn from: large samples come near to it.


def test_shares_of_clicks_are_drawn_from_the_interests():
    data = cold_start(seed=0, n_keys=20_000, n_queries=20_000)
    assert np.allclose(data.values.sum(axis=1), 1) and np.allclose(data.truth.sum(axis=1), 1)
    assert np.allclose(data.values.mean(axis=0), data.truth.mean(axis=0), atol=0.005)


def test_ratings_scatter_around_the_truth_and_the_encoder_only_turns_the_axes():
    data, plain = (rated_answers(seed=0, n_keys=20_000, n_queries=20_000, mixed=m) for m in (True, False))
    assert set(np.unique(data.values)) == {1, 2, 3, 4, 5}
    assert abs(data.values.mean() - data.truth.mean()) < 0.03
    assert np.allclose(plain.keys @ data.rotation, data.keys)
    assert np.allclose(data.rotation @ data.rotation.T, np.eye(8))
    assert np.array_equal(plain.truth, data.truth) and np.array_equal(plain.values, data.values)


def test_clicks_are_drawn_at_the_true_rate_and_favourites_bias_them():
    def pooled_and_true(**options):
        data = ad_clicks(seed=0, n_keys=40_000, n_queries=40_000, **options)
        return data.clicks.sum() / data.impressions.sum(), data.truth.mean()

    pooled, true = pooled_and_true()
    assert abs(pooled / true - 1) < 0.03
    pooled, true = pooled_and_true(charm=0.5, favour=0.8)
    assert pooled / true > 1.5


def test_clicks_divided_by_examination_are_in_proportion_to_relevance():
    data = search_log(seed=0, n_keys=8_000, n_queries=8_000)
    clicked = np.eye(6)[data.documents]
    corrected = clicked / data.examination[data.positions - 1][:, None]
    relevance = data.truth.mean(axis=0) / data.truth.mean(axis=0).sum()

    def off(clicks):
        return np.abs(clicks.sum(axis=0) / clicks.sum() - relevance).max()

    # Two documents clicked in one search leave one click: the correction is not quite exact.
    assert off(corrected) < 0.03 < 0.1 < off(clicked)


def test_every_frame_of_the_film_is_rated_or_asked_for():
    film = video_frames(seed=0)
    times = np.concatenate([film.keys[:, 0], film.queries[:, 0]])
    assert np.allclose(np.sort(times), np.arange(300) / 10)
    assert film.values.min() >= 0 and film.values.max() <= 1


# Tools


def test_nearest_neighbours_agree_with_scikit_learn():
    data = cold_start(seed=0)
    spread = data.keys.std(axis=0)
    peer = KNeighborsRegressor(7).fit(data.keys / spread, data.values).predict(data.queries / spread)
    assert np.allclose(nearest_neighbours(data.queries, data.keys, data.values, k=7), peer)


def test_the_number_of_neighbours_has_the_least_left_out_error():
    data = rated_answers(seed=1)
    keys = data.keys / data.keys.std(axis=0)

    def left_out(k):
        guesses = [KNeighborsRegressor(k).fit(np.delete(keys, i, 0), np.delete(data.values, i)).predict(keys[[i]])[0]
                   for i in range(len(keys))]
        return np.mean((np.array(guesses) - data.values) ** 2)

    best = min((5, 8, 12, 16), key=left_out)
    chosen = nearest_neighbours(data.queries, data.keys, data.values)
    assert np.allclose(chosen, nearest_neighbours(data.queries, data.keys, data.values, k=best))


def test_kernel_sum_is_the_sum_of_the_gaussian():
    rng = np.random.default_rng(0)
    queries, keys, sigma = rng.normal(size=(3, 2)), rng.normal(size=(5, 2)), np.array([0.5, 2.0])
    for query, total in zip(queries, kernel_sum(queries, keys, sigma)):
        by_hand = sum(np.exp(-0.5 * sum(((query - key) / sigma) ** 2)) for key in keys)
        assert abs(total - by_hand) < 1e-12


def test_refusal_keeps_its_share_and_a_far_query_is_refused():
    keys = np.random.default_rng(0).normal(size=(400, 2))
    left_out = np.array([kernel_sum(keys[[i]], np.delete(keys, i, 0), 0.5)[0] for i in range(400)])
    assert abs(np.mean(left_out < refusal_threshold(keys, 0.5, share=0.1)) - 0.1) < 0.005
    assert refused(np.array([[0.0, 0.0], [9.0, 9.0]]), keys, 0.5).tolist() == [False, True]


def test_fitted_bandwidths_lower_the_left_out_error_and_drop_a_useless_feature():
    rng = np.random.default_rng(0)
    keys = rng.uniform(0, 5, (100, 3))
    values = np.sin(2 * keys[:, 0]) + keys[:, 1] + rng.normal(0, 0.2, 100)
    sigma, spread = fit_bandwidths(keys, values), keys.std(axis=0)
    common = min(leave_one_out_error(keys, values, bandwidth=c * spread) for c in np.geomspace(0.1, 3, 12))
    assert leave_one_out_error(keys, values, bandwidth=sigma) < 0.8 * common
    assert sigma[2] > 2 * sigma[:2].max() and sigma[0] < spread[0] / 2


def test_fitted_bandwidths_do_not_depend_on_the_units():
    data = video_frames(seed=1)
    units = np.array([1000, 1, 0.01, 1])
    fitted, rescaled = fit_bandwidths(data.keys, data.values), fit_bandwidths(data.keys * units, data.values)
    # Rounding may turn a step at a flat place: compare what the bandwidths do, closely, and themselves, roughly.
    errors = [leave_one_out_error(data.keys, data.values, bandwidth=s) for s in (fitted, rescaled / units)]
    assert abs(errors[0] - errors[1]) < 1e-6 * errors[0]
    assert np.allclose(np.log(fitted), np.log(rescaled / units), atol=1e-3)


def test_search_never_returns_anything_worse_than_its_start():
    rng = np.random.default_rng(0)
    for _ in range(20):
        target, start = np.exp(rng.normal(size=(2, 3)))

        def loss(sigma):
            return np.abs(np.log(sigma / target)).sum()

        found = search_bandwidths(loss, start)
        assert loss(found) <= loss(start)
        assert loss(found) < 1


def test_error_lines_say_what_is_missing():
    lines = error_lines([0.0, 0.0], {"a": [3.0, 4.0], "bb": None}, digits=2).splitlines()
    assert lines == [f"a   error {np.sqrt(12.5):.2f}", "bb  not attempted"]


# What the pages say about which design wins, on data that the pages do not show


@pytest.mark.parametrize("seed", [1, 2])
def test_bandwidths_per_feature_beat_both_baselines_for_new_users(seed):
    data = cold_start(seed)
    known = data.keys, data.values
    estimate = nadaraya_watson(data.queries, *known, bandwidth=fit_bandwidths(*known))
    neighbours = nearest_neighbours(data.queries, *known)
    assert rms_error(estimate, data.truth) < 0.8 * rms_error(neighbours, data.truth)
    assert rms_error(neighbours, data.truth) < rms_error(data.values.mean(axis=0) + 0 * data.truth, data.truth)


@pytest.mark.parametrize("seed", [1, 2])
def test_axes_with_a_meaning_are_what_makes_ratings_easy(seed):
    errors = {}
    for mixed in (True, False):
        data = rated_answers(seed, mixed=mixed)
        sigma = fit_bandwidths(data.keys, data.values)
        errors[mixed] = rms_error(nadaraya_watson(data.queries, data.keys, data.values, bandwidth=sigma), data.truth)
    assert errors[False] < 0.65 * errors[True]


# Figures

WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(30))
POINTS = np.random.default_rng(1).uniform(0, 10, (30, 2))
SHARES = np.array([0.5, 0.3, 0.2])
DRAW = {
    "interests_of_a_user": lambda f: f(POINTS, POINTS[0], WEIGHTS, ("film", "garden", "chess"), SHARES, SHARES[::-1]),
    "weight_and_influence": lambda f: f(["pair 1, rated 4", "pair 22, rated 5"], [0.3, 0.2], [0.1, -0.2]),
    "clicks_behind_a_rate": lambda f: f(np.geomspace(4, 900, 30), POINTS[:, 0], WEIGHTS, 5.0, 5.2),
    "clicks_behind_a_ranking": lambda f: f(
        POINTS / 5, POINTS[0] / 5, np.arange(30) % 3, WEIGHTS, SHARES, SHARES[::-1], SHARES),
    "frames_behind_a_frame": lambda f: f(
        np.arange(30.0), np.linspace(0, 1, 30), WEIGHTS, np.arange(29.0), np.linspace(0, 1, 29), np.linspace(1, 0, 29), 7.0),
}


def test_every_figure_of_the_scenarios_is_drawn_here():
    public = {name for name, value in vars(figures_scenarios).items()
              if inspect.isfunction(value) and value.__module__ == figures_scenarios.__name__ and name[0] != "_"}
    assert public == set(DRAW)


@pytest.mark.parametrize("name", DRAW)
def test_figures_are_legible_and_keep_their_words_inside(name):
    figure = DRAW[name](getattr(figures_scenarios, name))
    figure.draw_without_rendering()
    assert figure.get_size_inches()[0] == figures.WIDTH
    assert not any(ax.get_title() for ax in figure.axes)
    assert all(ax.get_xlabel() for ax in figure.axes)
    width, height = figure.bbox.size
    for text in figure.findobj(Text):
        if text.get_text() and text.get_visible() and not text.get_clip_on():
            box = text.get_window_extent()
            assert text.get_fontsize() >= 8.5, text.get_text()
            assert box.x0 >= -1 and box.x1 <= width + 1 and box.y0 >= -1 and box.y1 <= height + 1, text.get_text()
    plt.close(figure)


def test_circles_have_the_area_of_their_weight():
    figure = DRAW["interests_of_a_user"](figures_scenarios.interests_of_a_user)
    sizes = figure.axes[0].collections[0].get_sizes()
    assert np.allclose(np.diff(sizes) / np.diff(WEIGHTS), np.diff(sizes)[0] / np.diff(WEIGHTS)[0])
    plt.close(figure)


def test_the_data_module_draws_nothing():
    assert "matplotlib" not in inspect.getsource(scenarios)
