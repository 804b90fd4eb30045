"""Partial pools: any split, any order, any merge tree gives the one-shot estimate."""

import functools
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references import NAMES
from scipy.special import softmax

from attention_pooling import EmptyNeighbourhoodWarning, PartialPool, nadaraya_watson

TRAILING = [(), (1,), (3,), (2, 2)]


def cauchy(u):
    return 1 / (1 + u * u)


def _tree(pools, rng):
    """Merge random pairs until one pool is left."""
    pools = list(pools)
    while len(pools) > 1:
        i, j = rng.choice(len(pools), 2, replace=False)
        merged = pools[i].merge(pools[j])
        pools = [p for k, p in enumerate(pools) if k not in (i, j)] + [merged]
    return pools[0]


def _parts(cuts, *arrays):
    ends = [0, *sorted(cuts), len(arrays[0])]
    for start, stop in zip(ends, ends[1:]):
        yield tuple(a[start:stop] for a in arrays)


@pytest.fixture
def quiet_empties():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyNeighbourhoodWarning)
        yield


@pytest.mark.usefixtures("quiet_empties")
@pytest.mark.parametrize("kernel", [*NAMES, cauchy])
@settings(deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_any_split_and_any_tree_give_the_one_shot_estimate(kernel, data, seed):
    rng = np.random.default_rng(seed)
    m, n, d = data.draw(st.integers(0, 5)), data.draw(st.integers(1, 30)), data.draw(st.integers(1, 2))
    queries, keys = 2 * rng.normal(size=(m, d)), rng.normal(size=(n, d))
    values = rng.normal(size=(n, *data.draw(st.sampled_from(TRAILING))))
    sigma = data.draw(st.sampled_from([1e-160, 1e-3, 0.1, 0.5, 3.0]))
    cuts = data.draw(st.lists(st.integers(0, n), max_size=6))
    expected = nadaraya_watson(queries, keys, values, kernel, sigma)
    pools = [PartialPool(queries, kernel, sigma).update(*p) for p in _parts(cuts, keys, values)]
    left = functools.reduce(PartialPool.merge, pools)
    right = functools.reduce(PartialPool.merge, pools[::-1])
    stream = PartialPool(queries, kernel, sigma)
    for part in _parts(cuts, keys, values):
        stream.update(*part)
    for pool in (left, right, _tree(pools, rng), stream):
        np.testing.assert_allclose(pool.result(), expected, rtol=0, atol=1e-12)


@settings(deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_scores_from_minus_to_plus_a_million(data, seed):
    rng = np.random.default_rng(seed)
    m, n = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 30))
    scores = rng.uniform(-1, 1, (m, n)) * 10.0 ** data.draw(st.integers(-3, 6))
    scores[rng.random((m, n)) < 0.2] = -np.inf
    scores[:, rng.integers(n)] = rng.uniform(-1e6, 1e6)  # no row is masked altogether
    values = rng.normal(size=(n, *data.draw(st.sampled_from(TRAILING))))
    cuts = data.draw(st.lists(st.integers(0, n), max_size=6))
    pools = [PartialPool.from_scores(s.T, v) for s, v in _parts(cuts, scores.T, values)]
    expected = np.tensordot(softmax(scores, axis=1), values, axes=1)
    np.testing.assert_allclose(_tree(pools, rng).result(), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(_tree(pools, rng).m, scores.max(axis=1))


@pytest.mark.parametrize("kernel", [*NAMES, cauchy])
def test_merging_commutes_bit_for_bit(kernel):
    rng = np.random.default_rng(0)
    queries = rng.normal(size=9)
    a, b = (PartialPool(queries, kernel, 2.0).update(rng.normal(size=n), rng.normal(size=(n, 2)))
            for n in (17, 40))
    ab, ba = a.merge(b), b.merge(a)
    for name in ("m", "s", "t"):
        np.testing.assert_array_equal(getattr(ab, name), getattr(ba, name))


def test_merge_leaves_its_parts_alone_and_update_returns_the_pool():
    a, b = PartialPool([0.0]).update([1.0], [2.0]), PartialPool([0.0]).update([3.0], [4.0])
    before = a.m.copy(), a.s.copy(), a.t.copy()
    a.merge(b)
    for old, new in zip(before, (a.m, a.s, a.t)):
        np.testing.assert_array_equal(old, new)
    assert a.update([5.0], [6.0]) is a and a.s > before[1]


def test_the_state_is_that_of_the_merge_law():
    pool = PartialPool([0.0, 10.0], bandwidth=2.0).update([1.0, 2.0], [3.0, 4.0])
    score = -((np.array([[1.0, 2.0], [9.0, 8.0]]) / 2) ** 2) / 2
    np.testing.assert_allclose(pool.m, score.max(axis=1))
    np.testing.assert_allclose(pool.s, np.exp(score - score.max(axis=1)[:, None]).sum(axis=1))
    np.testing.assert_allclose(pool.t, np.exp(score - score.max(axis=1)[:, None]) @ [3, 4])


@pytest.mark.parametrize("kernel", [*NAMES, cauchy])
def test_the_empty_pool_is_the_identity(kernel):
    empty = PartialPool([0.0, 1.0], kernel, 5.0)
    assert (empty.m == -np.inf).all() and (empty.s == 0).all()
    full = PartialPool([0.0, 1.0], kernel, 5.0).update([0.5, 2.0], [1.0, 2.0])
    nothing = PartialPool([0.0, 1.0], kernel, 5.0).update([], np.zeros(0))
    for pool in (empty.merge(full), full.merge(empty), nothing.merge(full), full.merge(nothing)):
        for name in ("m", "s", "t"):
            np.testing.assert_array_equal(getattr(pool, name), getattr(full, name))
    with pytest.warns(EmptyNeighbourhoodWarning, match="2 of 2"):
        assert np.isnan(empty.merge(nothing).result()).all()
    assert PartialPool([], kernel).result().shape == (0,)


def test_parts_out_of_reach_and_the_warning_of_the_whole():
    pool = PartialPool([0.0, 50.0], "epanechnikov", 1.0).update([0.5], [7.0]).update([45.0], [1.0])
    with pytest.warns(EmptyNeighbourhoodWarning, match="1 of 2 .* bandwidth of 5.01"):
        np.testing.assert_array_equal(pool.result(), [7.0, np.nan])
    masked = PartialPool.from_scores([[-np.inf]], [1.0])
    with pytest.warns(EmptyNeighbourhoodWarning, match="minus infinity"):
        assert np.isnan(masked.merge(masked).result()).all()
    assert masked.merge(PartialPool.from_scores([[-1e6]], [3.0])).result() == [3.0]


@pytest.mark.parametrize("sigma", [1e-155, 5e-324])
def test_a_gaussian_part_never_looks_empty(sigma):
    far = PartialPool([0.4, 1e155], bandwidth=sigma).update([2.0], [30.0])
    assert far.m[0] == -np.inf and far.s.tolist() == [1, 1]
    assert far.result().tolist() == [30, 30]
    both = far.merge(PartialPool([0.4, 1e155], bandwidth=sigma).update([0.0, 1.0], [10.0, 20.0]))
    assert both.result().tolist() == [10, 20]


@pytest.mark.parametrize(
    "other",
    [
        PartialPool([0.0, 1.0, 3.0]),
        PartialPool([0.0, 1.0]),
        PartialPool([0.0, 1.0, 2.0], "boxcar"),
        PartialPool([0.0, 1.0, 2.0], cauchy),
        PartialPool([0.0, 1.0, 2.0], bandwidth=2.0),
        PartialPool([0.0, 1.0, 2.0]).update([1.0], [[1.0, 2.0]]),
        PartialPool.from_scores(np.zeros((3, 1)), [1.0]),
        "pool",
    ],
)
def test_pools_that_do_not_belong_together_are_refused(other):
    pool = PartialPool([0.0, 1.0, 2.0]).update([1.0], [2.0])
    with pytest.raises(ValueError, match="other|values"):
        pool.merge(other)


def test_callables_are_compared_by_their_code():
    def make():
        return lambda u: np.exp(-u)

    a, b = (PartialPool([0.0], make()).update([float(i)], [i]) for i in (1, 2))
    assert np.isfinite(a.merge(b).result()).all()
    with pytest.raises(ValueError, match="kernel"):
        a.merge(PartialPool([0.0], lambda u: np.exp(-2 * u)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: PartialPool([0.0], "gauss"),
        lambda: PartialPool([0.0], bandwidth=0),
        lambda: PartialPool([0.0], bandwidth="x"),
        lambda: PartialPool([[0.0, 1]], bandwidth=[1, 2, 3]),
        lambda: PartialPool([0.0]).update([1.0], [1.0, 2]),
        lambda: PartialPool([0.0]).update([], [1.0]),
        lambda: PartialPool([0.0]).update([np.nan], [1.0]),
        lambda: PartialPool([0.0]).update([1.0], [1.0]).update([1.0], [[1.0]]),
        lambda: PartialPool([0.0]).update([[1.0, 2]], [1.0]),
        lambda: PartialPool([0.0]).update([1.0] * 9, [1.7e308] * 9),
        lambda: PartialPool.from_scores([[0.0]], [1.0]).update([1.0], [1.0]),
        lambda: PartialPool.from_scores([[np.nan]], [1.0]),
        lambda: PartialPool.from_scores([[np.inf]], [1.0]),
        lambda: PartialPool.from_scores([0.0], [1.0]),
        lambda: PartialPool.from_scores([[0.0]], [1.0, 2]),
    ],
)
def test_wrong_inputs_are_refused(wrong):
    with pytest.raises(ValueError, match="must|cannot"):
        wrong()


def test_pools_travel_and_stay_mergeable():
    queries = np.linspace(0, 5, 1000)
    pool = PartialPool(queries, cauchy, 0.3).update([1.0, 2.0], [3.0, 4.0])
    wire = pickle.dumps(pool)
    assert len(wire) < 4.5 * queries.nbytes  # queries, reference, s, t: nothing else of size
    np.testing.assert_array_equal(pickle.loads(wire).merge(pool).result(), pool.result())


def test_precision_scalars_and_queries_that_are_not_finite():
    single = [np.float32(a) for a in ([0.5, 1], [0, 1, 2], [1, 2, 3])]
    half = PartialPool(single[0]).update(single[1], single[2])
    assert half.result().dtype == np.float32
    assert half.update([1.0], [2.0]).result().dtype == np.float64
    assert np.ndim(PartialPool(0.5).update([0.0, 1], [1, 2]).result()) == 0
    assert PartialPool(0.5).update([0.0, 1], np.eye(2)).result().shape == (2,)
    estimate = PartialPool([np.nan, 0.0], "boxcar").update([0.5], [2.0]).result()
    np.testing.assert_array_equal(estimate, [np.nan, 2.0])
    two = PartialPool([[0.0, 0.0]], bandwidth=[1, 2]).update([[1.0, 0], [0, 1]], [1.0, 2.0])
    expected = nadaraya_watson([[0.0, 0.0]], [[1.0, 0], [0, 1]], [1.0, 2.0], bandwidth=[1, 2])
    np.testing.assert_allclose(two.result(), expected, rtol=1e-14)


def test_later_changes_of_the_queries_do_not_reach_the_pool():
    queries = np.array([0.0, 1.0])
    pool = PartialPool(queries).update([0.0], [1.0])
    queries += 100
    np.testing.assert_array_equal(pool.queries, [0.0, 1.0])
