"""Signs of quadratics on intervals, and the sweep that counts them."""

from itertools import pairwise

import numpy as np
import pytest

from unassuming.geometry._spans import Spans, sign_changes, sweep

INF = np.inf


def changes(A, B, C, lo, hi, tie=False):
    arrays = [np.array([float(x)]) for x in (A, B, C, lo, hi)]
    state, roots, change = sign_changes(*arrays, np.array([tie]))
    real = ~np.isnan(roots[0])
    signs = [1 if state[0] else -1, *change[0][real]]
    assert all(one == -two for one, two in pairwise(signs))
    return bool(state[0]), roots[0][real].tolist()


@pytest.mark.parametrize(
    ("quadratic", "interval", "expected"),
    [
        ((1, 0, -1), (-INF, INF), (True, [-1, 1])),
        ((-1, 0, 1), (-INF, INF), (False, [-1, 1])),
        ((1, 0, -1), (0, INF), (False, [1])),
        ((1, 0, -1), (2, 3), (True, [])),
        ((1, 0, 1), (-INF, INF), (True, [])),
        ((0, 2, -1), (-INF, INF), (False, [0.5])),
        ((0, -2, 1), (0, 0.25), (True, [])),
        ((0, 0, -3), (-INF, INF), (False, [])),
        ((-1, 2, -1), (-INF, INF), (False, [1, 1])),
        ((1e-300, 1e300, -1e300), (-INF, INF), (False, [1])),
    ],
)
def test_signs_after_the_start_and_changes_inside(quadratic, interval, expected):
    assert changes(*quadratic, *interval) == expected


def test_a_change_at_the_start_is_past():
    assert changes(1, 0, -1, -1, 5) == (False, [1])


@pytest.mark.parametrize("tie", [True, False])
def test_what_is_zero_throughout_is_decided_by_the_tie_order(tie):
    assert changes(0, 0, 0, -1, 1, tie=tie) == (tie, [])


def test_small_roots_keep_their_digits():
    """x² - 1e9 x + 1: the smaller root is 1e-9 (1 + 1e-18)."""
    assert changes(1, -1e9, 1, -1, 1)[1] == pytest.approx([1e-9], rel=1e-15)


def stretches(events, q):
    t, change = zip(*events, strict=True)
    group = np.zeros(len(t), dtype=int)
    return sweep(group, np.array(t, dtype=float), np.array(change), q)[1].tolist()


def test_the_sweep_counts_sets_that_overlap():
    events = [(-INF, 0), (0, 1), (1, 1), (2, -1), (3, -1), (INF, 0)]
    assert stretches(events, 2) == [[1, 2]]
    assert stretches(events, 1) == [[0, 1], [1, 2], [2, 3]]


def test_closed_sets_that_touch_share_a_point():
    events = [(-INF, 0), (0, 1), (1, -1), (1, 1), (2, -1), (INF, 0)]
    assert stretches(events, 2) == [[1, 1]]


def test_groups_are_counted_apart():
    group = np.array([0, 0, 1, 1])
    found, spans = sweep(group, np.array([0.0, 1.0, 5.0, 6.0]), np.array([2, 0, 1, 0]), 2)
    assert found.tolist() == [0]
    assert spans.tolist() == [[0, 1]]


def test_intervals_that_touch_are_joined_and_lines_are_kept_apart():
    spans = Spans.joined(np.array([1, 0, 0]), np.array([[2.0, 3.0], [1.0, 2.0], [-INF, 1.0]]))
    first, second, third = spans.split(3)
    assert first.tolist() == [[-INF, 2]]
    assert second.tolist() == [[2, 3]]
    assert third.shape == (0, 2)
    inside = spans.cover(np.array([0, 0, 1, 2]), np.array([2.0, 2.1, 2.1, 2.1]))
    assert inside.tolist() == [True, False, True, False]
