"""Unions of intervals on lines: roots of quadratics in pieces, the sweep that counts sets."""

import numpy as np
import pytest

from unassuming.geometry.lines import Events, Spans, quadratic_events

INF = np.inf


def events_of(lo, hi, A, B, C, wins=(False,)):
    parts = (np.array(part, dtype=float).reshape(1, -1, len(wins)) for part in (lo, hi, A, B, C))
    return quadratic_events(np.zeros(1, dtype=np.intp), *parts, np.array(wins))


def ends(events, q=1):
    return events.spans(q).split(1)[0].tolist()


@pytest.mark.parametrize(
    ("quadratic", "interval", "expected"),
    [
        ((1, 0, -1), (-INF, INF), [[-INF, -1], [1, INF]]),
        ((-1, 0, 1), (-INF, INF), [[-1, 1]]),
        ((1, 0, -1), (0, INF), [[1, INF]]),
        ((1, 0, -1), (2, 3), [[2, 3]]),
        ((1, 0, 1), (-INF, INF), [[-INF, INF]]),
        ((0, 2, -1), (-INF, INF), [[0.5, INF]]),
        ((0, -2, 1), (0, 0.25), [[0, 0.25]]),
        ((0, 0, -3), (-INF, INF), []),
        ((0, 0, 3), (-INF, INF), [[-INF, INF]]),
        ((-1, 2, -1), (-INF, INF), [[1, 1]]),
        ((1, -2, 1), (-INF, INF), [[-INF, INF]]),
        ((1, 0, -1), (-1, 5), [[1, 5]]),  # a root at the begin is past
    ],
)
def test_where_a_quadratic_is_positive(quadratic, interval, expected):
    assert ends(events_of(*interval, *quadratic)) == expected


@pytest.mark.parametrize("wins", [True, False])
def test_what_is_zero_throughout_is_decided_by_the_tie_order(wins):
    assert ends(events_of(-1, 1, 0, 0, 0, (wins,))) == ([[-1, 1]] if wins else [])


def test_small_roots_keep_their_digits():
    """x² - 1e9 x + 1: the smaller root is 1e-9 (1 + 1e-18)."""
    assert ends(events_of(-1, 1, 1, -1e9, 1))[0][1] == pytest.approx(1e-9, rel=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_counts_are_those_of_a_plain_evaluation(seed):
    """Pieces of several sets, with other ends each; some have no length, at infinity as well."""
    rng = np.random.default_rng(seed)
    N, P, S = 3, 7, 5
    cuts = np.sort(np.round(rng.normal(size=(N, P - 1, S)), 1), axis=1)
    cuts[:, :2, 1], cuts[:, -2:, 2] = -INF, INF
    far = np.full((N, 1, S), INF)
    lo, hi = np.concatenate([-far, cuts], axis=1), np.concatenate([cuts, far], axis=1)
    A, B, C = rng.normal(size=(3, N, P, S)) * rng.choice([0, 1], size=(3, N, P, S), p=[0.3, 0.7])
    wins = rng.random(S) < 0.5
    found = quadratic_events(np.arange(N), lo, hi, A, B, C, wins)
    t = np.concatenate([rng.normal(size=300), [-1e6 - 0.03, 1e6 + 0.03]])
    count = np.zeros((N, len(t)), dtype=int)
    for n, p, s in np.ndindex(N, P, S):
        here = (lo[n, p, s] < t) & (t < hi[n, p, s])
        value = (A[n, p, s] * t + B[n, p, s]) * t + C[n, p, s]
        zero = not (A[n, p, s] or B[n, p, s] or C[n, p, s])
        count[n] += here & (wins[s] if zero else value > 0)
    for q in range(1, S + 1):
        spans = found.spans(q)
        for n in range(N):
            inside = spans.cover(np.full(len(t), n), t)
            near = np.abs(t[:, None] - found.t[found.line == n]).min(axis=1) < 1e-9
            np.testing.assert_array_equal((inside == (count[n] >= q))[~near], True)


def test_closed_sets_that_touch_share_a_point():
    line, t = np.zeros(6, dtype=int), np.array([-INF, 0, 1, 1, 2, INF])
    events = Events(line, t, np.array([0, 1, -1, 1, -1, 0]))
    assert ends(events, 2) == [[1, 1]]


def test_intervals_that_touch_are_joined_and_lines_are_kept_apart():
    spans = Spans.joined(np.array([1, 0, 0]), np.array([[2.0, 3.0], [1.0, 2.0], [-INF, 1.0]]))
    first, second, third = spans.split(3)
    assert first.tolist() == [[-INF, 2]]
    assert second.tolist() == [[2, 3]]
    assert third.shape == (0, 2)
    inside = spans.cover(np.array([0, 0, 1, 2, 1]), np.array([2.0, 2.1, 2.1, 2.1, 3.0]))
    assert inside.tolist() == [True, False, True, False, True]


def test_points_are_kept_only_if_they_are_members():
    spans = Spans(np.array([0, 0]), np.array([[0.0, 1.0], [3.0, 3.0]]))
    asked = []

    def members(line, t):
        asked.extend(t.tolist())
        return t > 4

    likely = np.array([0, 0]), np.array([15.0, 10.5])
    found = spans.closed(np.array([10.0]), members, likely)
    assert asked == [0.0, 13.0, 15.0]
    assert found.ends.tolist() == [[10, 11], [13, 13], [15, 15]]
    assert spans.closed(np.array([10.0]), None).ends.tolist() == [[10, 11]]
