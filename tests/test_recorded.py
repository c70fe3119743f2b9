"""The library gives the recorded answers."""

from functools import cache

import numpy as np
import pytest

from recorded import ask, problems

NAMES = list(problems())
CLOSE = 1e-6
"""How much numbers may differ, relative to their size, or to the width between two bounds."""
NARROWER = {"labels": 0.03, "quantiles": 0.03}
"""By how much a joint bound may be narrower than recorded, 1e-3 by default; none may be wider. That
of labels and quantiles was recorded where members came within 2 % of it."""
NORM_BOUND = 1e-3
"""The same with a norm bound, where bounds come from a minimisation."""
MEDIAN = 0.02
"""The same of least absolute deviations in cells, whose minimisers need not be unique."""
INNER = 0.05
"""The same of values that members attain, which a search finds."""

SAMPLED = {"labels, logistic": ("reach", "crossings"), "labels, logistic, plain": ("reach",)}
"""Lines that were sampled for the record, which misses gaps."""


@cache
def region_of(name):
    return problems()[name].region()


@cache
def answers(name):
    return [ask(region_of(name), question) for question in problems()[name].questions]


@pytest.mark.parametrize("name", NAMES)
def test_the_transformations_are_the_stored_ones(name):
    problem, region = problems()[name], region_of(name)
    rng = np.random.default_rng(0)
    r, f = rng.normal(size=(2, region.n)), rng.uniform(-1, 1, (2, region.n))
    used = region.perturbations.apply(r, f)
    assert used.shape == (2, region.m - 1, region.n)
    stored = problem.moved(r, f)
    if "basis" in problem.arrays and not np.allclose(used, stored):  # the rows may be rotated
        stored = problem.moved_coordinates(r, f)
    np.testing.assert_allclose(used, stored, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if "quantiles" not in name])
def test_the_estimate_is_the_recorded_one(name):
    """The first candidate; a quantile may have several minimisers."""
    expected = problems()[name].arrays["candidates"][0]
    size = np.abs(expected).max()
    np.testing.assert_allclose(region_of(name).estimate, expected, rtol=CLOSE, atol=CLOSE * size)


@pytest.mark.parametrize("name", NAMES)
def test_ranks_are_the_recorded_ones(name):
    problem, region = problems()[name], region_of(name)
    expected = problem.ranks(region.tie_order)  # whatever the tie order is
    assert region.rank(problem.arrays["candidates"]).tolist() == expected.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_the_recorded_ones(name):
    problem, region = problems()[name], region_of(name)
    # Ties are part of the answers: on lines that stay in a face, of blocks with equal signs. If
    # the tie order is drawn in another way, give the stored one to the region in Problem.region.
    assert region.tie_order.tolist() == problem.arrays["tie_order"].tolist()
    for question, found in zip(problem.questions, answers(name), strict=True):
        assert found.keys() == question["answer"].keys(), question["ask"]
        if question["ask"] in SAMPLED.get(name, ()):
            continue
        for key, expected in question["answer"].items():
            if key == "estimate" and question.get("simultaneous") is False:
                continue  # now that of least squares in the cells: it belongs to the interval
            complaint = difference(name, question, key, found[key], expected)
            assert not complaint, (shown(question), key, complaint)


def shown(question):
    long = ("answer", "inputs", "cells", "values", "directions")
    return {key: value for key, value in question.items() if key not in long}


def difference(name, question, key, found, expected):
    """What differs by more than the tolerance; nothing if nothing does.

    What was recorded as undetermined may be decided, and what was infinite be finite.
    """
    if expected == "undetermined":
        return ""
    if question["ask"] == "max_bounded_level":
        return "" if found >= expected else f"{found}, recorded {expected}"
    if isinstance(expected, (int, str)):
        return "" if found == expected else f"{found}, recorded {expected}"
    found, expected = np.array(found), np.array(expected)
    if found.shape != expected.shape:
        return f"{found}, recorded {expected}"
    beyond, tolerance = tolerances(name.split(",")[0], question, key, found, expected)
    with np.errstate(invalid="ignore"):
        bad = (np.abs(beyond) > tolerance) | np.isnan(beyond)
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))  # nan: an empty region
    joint = question.get("method") == "joint"
    bad = np.where(np.isfinite(found), bad & (np.isfinite(expected) | ~joint), ~same)
    return f"{found[bad]}, recorded {expected[bad]}" if bad.any() else ""


def tolerances(kind, question, key, found, expected):
    """By how much numbers are larger than recorded, or wider, and by how much they may be."""
    answer, joint = question["answer"], question.get("simultaneous") is True
    with np.errstate(invalid="ignore"):
        beyond = found - expected
        if key.startswith("inner"):
            return beyond, INNER * (np.array(answer["upper"]) - answer["lower"])
        if key in ("lower", "upper", "estimate") and "lower" in answer:
            width = np.array(answer["upper"]) - answer["lower"]
            size = np.where(np.isfinite(width), width, np.abs(expected))
            if joint and key != "estimate":
                wider = NORM_BOUND if "norm_bound" in question else CLOSE
                outward = beyond if key == "upper" else -beyond
                return beyond, np.where(outward > 0, wider, NARROWER.get(kind, 1e-3)) * size
            if "norm_bound" in question and key != "estimate":
                return beyond, NORM_BOUND * size
            if question.get("options", {}).get("cell_estimate") == "median":
                return beyond, MEDIAN * size
            return beyond, CLOSE * np.maximum(size, np.abs(expected))
    if key == "sides":
        return beyond, CLOSE * (expected[:, 1:] - expected[:, :1])
    if key in ("sets", "statistics", "center"):
        close = 10 * CLOSE if key == "statistics" else CLOSE  # of values that K hardly reaches
        return beyond, close * np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    size = np.abs(expected)  # and what nothing distinguishes from zero
    return beyond, CLOSE * size + 1e-12 * size.max(initial=0.0, where=np.isfinite(size))


@pytest.mark.parametrize("name", NAMES)
def test_joint_intervals_contain_the_recorded_members(name):
    """However narrow they become."""
    problem, region = problems()[name], region_of(name)
    for question, found in zip(problem.questions, answers(name), strict=True):
        if question["ask"] != "interval" or not question["simultaneous"]:
            continue
        q = round((1 - question["level"]) * region.m)
        members = problem.arrays["candidates"][problem.arrays["ranks"] <= region.m - q]
        functionals = question["functionals"]
        g = np.eye(members.shape[1]) if functionals is None else np.array(functionals)
        values = members @ g.T
        assert (np.array(found["lower"]) <= values).all()
        assert (values <= np.array(found["upper"])).all()


def test_the_record_is_of_many_kinds():
    kinds = {(type(p.estimator).__name__, p.text["noise"]["class"]) for p in problems().values()}
    assert len(kinds) >= 50
    assert len(NAMES) >= 60
    assert {p.text["ties"] for p in problems().values()} == {"random", "conservative"}
    asked = [question["ask"] for p in problems().values() for question in p.questions]
    assert len(set(asked)) == 12
    assert sum(int(p.tied.sum()) for p in problems().values()) > 500
