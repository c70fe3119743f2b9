"""Bounds of quadratic objectives are the recorded ones, widened by 1e-9 of their width."""

import numpy as np
import pytest

from recorded import problems
from second.engines import asked, count, engine_of, quadratic_sets, rows_at
from unassuming.geometry.quadratic import qth_largest, radii, rays, spans

CLOSE = 1e-6


def quadratic(questions):
    return [
        pytest.param(name, question, id=f"{name}, {question.get('level', '')}")
        for name, question in questions
        if quadratic_sets(name) is not None
    ]


def assert_bounds(lower, upper, answer):
    expected = np.array(answer["lower"]), np.array(answer["upper"])
    width = np.where(np.isfinite(expected[1] - expected[0]), expected[1] - expected[0], 1.0)
    for found, recorded in zip((lower, upper), expected, strict=True):
        assert np.isinf(found).tolist() == np.isinf(recorded).tolist()
        some = np.isfinite(recorded)
        assert (np.abs(found[some] - recorded[some]) <= CLOSE * width[some]).all()


@pytest.mark.parametrize(("name", "question"), quadratic(asked("interval", method="joint")))
def test_intervals(name, question):
    sets, g = quadratic_sets(name), question["functionals"]
    g = np.eye(sets.engine.objective.d) if g is None else np.array(g)
    value = g @ sets.engine.objective.estimate()
    lower, upper = sets.outer(g, count(question["level"]))
    assert_bounds(value + lower, value + upper, question["answer"])


@pytest.mark.parametrize(
    ("name", "question"), quadratic(asked("band", method="joint", norm_bound=None))
)
def test_bands(name, question):
    sets, g = quadratic_sets(name), rows_at(problems()[name], question["inputs"])
    value = g @ sets.engine.objective.estimate()
    lower, upper = sets.outer(g, count(question["level"]))
    assert_bounds(value + lower, value + upper, question["answer"])


@pytest.mark.parametrize(("name", "question"), quadratic(asked("reach")))
def test_rays(name, question):
    found = np.sort(rays(quadratic_sets(name), np.array(question["directions"])), axis=1)[:, ::-1]
    np.testing.assert_allclose(found, question["answer"]["reach"], rtol=1e-8)


@pytest.mark.parametrize(("name", "question"), quadratic(asked("ellipsoid")))
def test_ellipsoids(name, question):
    radius = qth_largest(radii(quadratic_sets(name, whitened=True)), count(question["level"]))
    back = engine_of(name).objective.factor.back
    sides = np.array(question["answer"]["sides"])
    half = np.sqrt(radius) * np.linalg.norm(back, axis=1)
    center = question["answer"]["center"]
    np.testing.assert_allclose(center + half, sides[:, 1], rtol=1e-8)


@pytest.mark.parametrize(("name", "question"), quadratic(asked("crossings")))
def test_crossings(name, question):
    """All values between the recorded ends, and none beyond, are in q of the sets."""
    sets, q = quadratic_sets(name), count(question["level"])
    origin = question.get("origin")
    start = sets.engine.objective.estimate() if origin is None else np.array(origin)
    found = spans(sets, start[None], np.array([question["direction"]]))[0]
    for low, high in question["answer"]["sets"]:
        for end in (low, high):
            if np.isfinite(end):
                assert np.nanmin(np.abs(found - end)) <= 1e-8 * max(abs(end), high - low)
    ends = np.append(np.unique(found[np.isfinite(found)]), [0.0] * bool(np.isnan(found).all()))
    between = np.append(np.append(ends[0] - 1, (ends[1:] + ends[:-1]) / 2), ends[-1] + 1)
    held = ((found[:, 0] <= between[:, None]) & (between[:, None] <= found[:, 1])).sum(axis=1)
    expected = [any(low <= t <= high for low, high in question["answer"]["sets"]) for t in between]
    clear = np.append(np.append(True, np.diff(ends) > 1e-9 * np.abs(ends).max()), True)
    assert (held >= q)[clear].tolist() == np.array(expected)[clear].tolist()
