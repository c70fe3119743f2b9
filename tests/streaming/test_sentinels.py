"""One cell that exceeds all others: a stream agrees with the region in memory, or says nothing."""

from contextlib import suppress

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from unassuming.noise import Rounded
from unassuming.streaming._known import known_columns

MODELS = {
    "least squares": LinearRegression(),
    "no intercept": LinearRegression(fit_intercept=False),
    "ridge": Ridge(3.0),
}


def both(n, sentinel, seed=0, model="least squares", noise="symmetric"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = X @ [1, 2] + rng.laplace(size=n)
    X[150, 0] = sentinel
    options = {"noise": noise, "m": 40, "random_state": seed}
    stream = ua.StreamingRegion(MODELS[model], **options).partial_fit(X, y)
    return ua.confidence_region(MODELS[model], X, y, **options), stream.region()


def assert_no_contradiction(memory, stream):
    """Whatever the stream claims is true in memory; it may claim less."""
    for level in (0.5, 0.9):
        verdict, claim = memory.bounded(level).verdict, stream.bounded(level).verdict
        assert claim in (verdict, "undetermined")
        one, two = memory.interval(level=level), stream.interval(level=level)
        assert two.status.name in (one.status.name, "NOT_CERTIFIED")
        if two.status.name == "CERTIFIED":
            slack = 1e-6 * np.abs(one.upper - one.lower)
            assert (two.lower <= one.lower + slack).all()
            assert (two.upper >= one.upper - slack).all()
        for direction in np.eye(len(memory.estimate)):
            end = memory.reach(direction, level=level)
            with suppress(ValueError):  # the sums do not decide it
                assert stream.reach(direction, level=level) == pytest.approx(end, rel=1e-4)
    assert stream.max_bounded_level <= memory.max_bounded_level


@pytest.mark.parametrize("sentinel", [1e4, 1e6, 1e7, 1e8, -1e10])
@pytest.mark.parametrize("n", [1100, 2000])
def test_a_stream_does_not_contradict_the_region_in_memory(n, sentinel):
    assert_no_contradiction(*both(n, sentinel))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("noise", ["symmetric", ua.noise.ExchangeableWithin(50)], ids=str)
@pytest.mark.parametrize("model", MODELS)
def test_no_model_and_no_noise_contradicts_the_region_in_memory(model, noise, seed):
    for sentinel in 10.0 ** np.arange(3, 14, 3):
        assert_no_contradiction(*both(1500, sentinel, seed, model, noise))


def test_what_sums_do_not_decide_is_refused_with_a_reason():
    _, stream = both(2000, 1e10)
    answer = stream.bounded(0.9)
    assert answer.verdict == "undetermined"
    assert "Sums over the rows have too few digits" in str(answer)
    assert "build the region in memory" in str(answer)
    interval = stream.interval()
    assert interval.status.name == "NOT_CERTIFIED"
    assert "build the region in memory" in interval.reason
    assert stream.max_bounded_level == 0
    with pytest.raises(ValueError, match="cannot be decided from sums over the rows"):
        stream.reach("x0")
    with pytest.raises(ValueError, match="cannot be decided from sums over the rows"):
        stream.crossings(np.array([0.0, 1.0, 0.0]))


def test_a_large_cell_that_sums_can_hold_costs_nothing():
    memory, stream = both(2000, 1e4)
    one, two = memory.interval(), stream.interval()
    assert two.status.name == one.status.name == "CERTIFIED"
    assert two.upper == pytest.approx(one.upper, rel=1e-5)
    assert stream.reach("x0") == pytest.approx(memory.reach("x0"), rel=1e-6)


def test_a_ball_alone_bounds_what_sums_do_not():
    _, stream = both(2000, 1e10, model="ridge")
    assert stream.interval(norm_bound=7.0).upper[1:] == pytest.approx(7.0, rel=1e-9)
    assert stream.norm_lower_bound() == 0


def test_columns_are_known_to_be_kept_only_if_their_smallest_entry_shows():
    """Signs that keep the first row and flip the second, with columns of one and two rows."""
    phi = np.array([[1.0, 1.0], [0.0, 1e-3]])
    E = np.diag([0.0, -2.0])[None]
    options = {"signs": True, "intercept": False}
    for error, kept in ((1e-14, [True, False]), (1.0, [False, False])):
        found, turned = known_columns(E, phi, np.array([1.0, 1e-3]), error, **options)
        assert found.tolist() == [kept]
        assert not turned.any()
    blurred = np.diag([-1e-9, -2.0])[None]  # as if the second column had no other entry
    found, _ = known_columns(blurred, phi, np.array([1.0, 1e-3]), 1e-14, **options)
    assert found.tolist() == [[True, False]]


def test_a_direction_is_free_if_all_its_coefficients_are():
    known = Rounded(0.0, np.array([[True, True, False], [False, True, False]]), np.array([2, 1]))
    along = known.along(np.array([[1.0, 2.0, 0.0], [0.0, 5.0, 0.0], [0.0, 1.0, 1e-300]]))
    assert along.tolist() == [[True, False], [True, True], [False, False]]
