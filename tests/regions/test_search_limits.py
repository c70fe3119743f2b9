"""Searches where only membership can be tested: a window, a limit of lines, and what they say."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor, LogisticRegression

import unassuming as ua
from unassuming.regions._explain import Cause
from unassuming.regions.search import _line_search
from unassuming.regions.search._allowance import Allowance
from unassuming.regions.search._window import Window


def everything(origins, directions):
    return [np.array([[-np.inf, -2.0], [-1.0, np.inf]]) for _ in origins]


def test_an_allowance_follows_lines_at_equal_distances_and_then_none():
    seen = []
    members = Allowance(everything, 5, seen.append)
    lines = np.zeros((4, 2)), np.ones((4, 2))
    assert [len(spans) for spans in members(*lines)] == [2] * 4
    assert not members.exceeded
    assert [len(spans) for spans in members(*lines)] == [2, 1, 1, 1]
    assert members.exceeded
    assert [spans.tolist() for spans in members(*lines)] == [[[0.0, 0.0]]] * 4
    assert (seen, members.used) == ([1, 2, 3, 4, 5], 5)
    some = Allowance(everything, 3, seen.append)(np.zeros((5, 2)), np.ones((5, 2)))
    assert [len(spans) for spans in some] == [2, 1, 2, 1, 2]


def test_a_window_ends_where_a_fitted_value_has_moved_too_far():
    phi = np.array([[1.0, 0.0], [0.0, 4.0]])
    window = Window(everything, np.array([5.0, 0.0]), phi, spread=2.0)  # values move by 20
    origins = np.array([[5.0, 0.0], [5.0, 0.0], [15.0, 0.0]])
    first, second, third = window(origins, np.array([[1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]))
    assert first.tolist() == [[-20, -2], [-1, 20]]
    assert second.tolist() == [[-5, -2], [-1, 5]]
    assert third.tolist() == [[-5, -2], [-1, 5]]
    assert window.reached
    inside = Window(lambda o, d: [np.array([[-1.0, 1.0]])], np.zeros(2), phi, 2.0)
    assert inside(np.zeros((1, 2)), np.ones((1, 2)))[0].tolist() == [[-1, 1]]
    assert not inside.reached


@pytest.fixture
def brief(monkeypatch):
    monkeypatch.setattr(_line_search, "_EFFORT", 1)
    monkeypatch.setattr(_line_search, "_FEWEST", 12)


@pytest.mark.slow
def test_a_weak_penalty_has_members_far_out_that_no_search_reports(brief):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) / 30
    X[:, 2] = X[:, 1] + rng.normal(size=40) / 300
    y = X @ [300, 300, 0] + rng.laplace(size=40)
    region = ua.confidence_region(HuberRegressor(max_iter=1000), X, y, m=20, random_state=0)
    directions = rng.normal(size=(300, 4)) * [0, 1, 1, 1]
    assert region.contains(region.estimate + 1e10 * directions, 0.9).any()  # it has no end
    found = region.interval(level=0.9, inner=True, simultaneous=True, method="joint")
    assert np.abs([found.inner_lower, found.inner_upper]).max() < 1e6
    assert region.contains(found.witnesses.reshape(-1, 4), 0.9).all()
    assert (found.inner_lower <= found.estimate).all()
    assert (found.inner_upper >= found.estimate).all()


def test_a_search_that_stops_says_so_and_is_the_same_again(brief):
    X, y, _ = ua.datasets.labels(n=30, random_state=0)
    region = ua.confidence_region(LogisticRegression(), X, y, m=20, random_state=0)
    found, again = (region.band(X[:8], inner=True, method="joint") for _ in range(2))
    assert Cause.SEARCH_STOPPED in [fact.cause for fact in found.explanation.facts]
    assert "stopped after 12 lines, its limit" in found.reason
    assert "inner=True" not in found.reason  # it was followed
    np.testing.assert_array_equal(found.witnesses, again.witnesses)
    assert "inner=True" in region.band(X[:8], method="joint").reason
