"""The plain oracle of lines: ranks on a fine grid, on both sides of every end, and at kinks."""

import numpy as np


def inside(spans, t):
    return ((spans[:, :1] <= t) & (t <= spans[:, 1:])).any(axis=0)


def points_of(spans, origin, direction, size=1e-7, count=400):
    """A grid of t about the ends, and t close to every end, at a distance from all."""
    ends = np.append(np.unique(spans[np.isfinite(spans)]), 0.0 if not spans.size else [])
    if not len(ends):
        ends = np.zeros(1)
    unit = np.abs(origin).max() / np.abs(direction).max() + 1e-3
    wide = max(np.ptp(ends), np.abs(ends).max(), unit)
    t = [np.linspace(ends.min() - wide, ends.max() + wide, count)]
    t += [ends + side * size * np.maximum(np.abs(ends), wide * 1e-3) for side in (-1, 1)]
    t += [(ends[1:] * s + ends[:-1] * (1 - s)) for s in (0.01, 0.5, 0.99)]
    t = np.concatenate([*t, [-1e3 * wide, 1e3 * wide]])
    return t[np.abs(t[:, None] - ends).min(axis=1) > 0.5 * size * wide * 1e-3]


def members(engine, origin, direction, t, q):
    return engine.rank(origin + t[:, None] * direction) <= engine.m - q


def at_kinks(engine, origin, direction):
    """Candidates on the line whose coefficients are exactly at kinks, and their t."""
    penalty = engine.objective.penalty
    if penalty is None or not penalty.kinked:
        return np.zeros(0), np.zeros((0, len(origin)))
    first, t, a = len(origin) - len(penalty.l1), [], []
    for j in range(first, len(origin)):
        for kink in penalty.values if direction[j] else ():
            t.append((kink - origin[j]) / direction[j])
            a.append(origin + t[-1] * direction)
            size = np.abs(origin) + np.abs(t[-1] * direction)
            near = np.abs(a[-1] - kink) <= 1e-15 * size
            a[-1][near & (np.arange(len(origin)) >= first)] = kink
            a[-1][j] = kink
    return np.array(t), np.array(a).reshape(len(t), len(origin))


def assert_flips(engine, lines, origin, direction, qs, size=1e-7, count=400):
    """Membership flips at every end of every interval and nowhere else; returns the number."""
    found = lines.intervals(origin[None], direction[None], qs)
    for q, (spans,) in zip(qs, found, strict=True):
        assert (spans[1:, 0] > spans[:-1, 1]).all()
        t = points_of(spans, origin, direction, size, count)
        truth = members(engine, origin, direction, t, q)
        wrong = t[inside(spans, t) != truth]
        assert not len(wrong), (q, wrong, spans)
        t, a = at_kinks(engine, origin, direction)
        single = spans[spans[:, 0] == spans[:, 1], 0]
        if len(t):
            truth = engine.rank(a) <= engine.m - q
            away = np.abs(t[:, None] - single).min(axis=1, initial=np.inf) * np.abs(direction).max()
            near = away <= 1e-14 * np.abs(a).max()
            # A point between two members may be none: intervals are closures.
            missed = truth & ~inside(spans, t) & ~near
            assert not missed.any(), (q, t[missed], spans)
    return sum(len(spans) for (spans,) in found)
