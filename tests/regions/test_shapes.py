"""Shapes of regions give the recorded answers: lines, bounds, ellipsoids, boundedness."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import QuantileRegressor

from engines import asked, count, engine_of, quadratic_sets, rows_at
from recorded import problems
from unassuming._errors import NotAvailable
from unassuming.geometry.branch_and_bound import GAP
from unassuming.membership import Engine
from unassuming.noise import Quantile
from unassuming.objectives import factory_for
from unassuming.ranking import Order
from unassuming.ranking.levels import Level
from unassuming.regions.shapes import shape_of as shape_of_engine
from unassuming.regions.shapes.labels import LabelShape
from unassuming.regions.shapes.piecewise import PiecewiseShape
from unassuming.regions.shapes.quadratic import QuadraticShape
from unassuming.regions.shapes.quantiles import QuantileShape
from unassuming.regions.shapes.shape import Question

CLOSE, NORM_BOUND = 1e-6, 1e-3


@cache
def shape_of(name):
    return QuadraticShape(engine_of(name))


def level_of(question):
    return Level(count(question["level"]), 100)


def quadratic(kind, **such):
    return [
        pytest.param(name, question, id=f"{name}, {question.get('level', '')}")
        for name, question in asked(kind, **such)
        if quadratic_sets(name) is not None
    ]


def assert_bounds(found, answer, close=CLOSE):
    low, high = np.array(answer["lower"]), np.array(answer["upper"])
    width = np.where(np.isfinite(high - low), high - low, 1.0)
    for ours, recorded in ((found.lower, low), (found.upper, high)):
        assert np.isinf(ours).tolist() == np.isinf(recorded).tolist()
        some = np.isfinite(recorded)
        assert (np.abs(ours[some] - recorded[some]) <= close * width[some]).all()
    assert (found.status.name == "CERTIFIED") == bool(np.isfinite([low, high]).all())
    assert (found.explanation.text() == "") == (found.status.name == "CERTIFIED")


@pytest.mark.parametrize(("name", "question"), quadratic("interval", method="joint"))
def test_intervals(name, question):
    g = question["functionals"]
    g = np.eye(engine_of(name).objective.d) if g is None else np.array(g)
    (found,) = shape_of(name).bounds(Question(g), [level_of(question)])
    assert_bounds(found, question["answer"])


@pytest.mark.parametrize(("name", "question"), quadratic("band", method="joint"))
def test_bands(name, question):
    g, inputs = rows_at(problems()[name], question["inputs"]), np.array(question["inputs"])
    bound, design = question.get("norm_bound"), engine_of(name).objective.design
    similarity = design.self_similarity(inputs) if design.dual and bound else None
    asked_for = Question(g, bound, similarity, question.get("target") == "function")
    (found,) = shape_of(name).bounds(asked_for, [level_of(question)])
    assert_bounds(found, question["answer"], CLOSE if bound is None else NORM_BOUND)


@pytest.mark.parametrize(("name", "question"), quadratic("reach"))
def test_reach(name, question):
    expected = np.array(question["answer"]["reach"])
    found = shape_of(name).reach(np.array(question["directions"]), range(1, 100))
    np.testing.assert_allclose(np.array(found).T, expected, rtol=1e-8)


@pytest.mark.parametrize(("name", "question"), quadratic("crossings"))
def test_crossings(name, question):
    shape, origin = shape_of(name), question.get("origin")
    start = shape.estimate if origin is None else np.array(origin)
    direction, q = np.array([question["direction"]]), count(question["level"])
    ((found,),) = shape.intervals(start[None], direction, [q])
    expected = np.array(question["answer"]["sets"]).reshape(-1, 2)
    assert found.shape == expected.shape
    ends = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=CLOSE, atol=CLOSE * ends)


@pytest.mark.parametrize(("name", "question"), quadratic("ellipsoid"))
def test_ellipsoids(name, question):
    found, answer = shape_of(name).ellipsoid(level_of(question)), question["answer"]
    np.testing.assert_allclose(found.center, answer["center"], rtol=CLOSE, atol=1e-9)
    sides = [found.project(one) for one in np.eye(len(found.center))]
    np.testing.assert_allclose(sides, answer["sides"], rtol=CLOSE)
    if np.isfinite(found.squared_radius):
        assert found.contains(found.center)
        end = found.center + 0.999 * np.sqrt(found.squared_radius) * found.root_inverse[:, 0]
        assert found.contains(end)
        assert not found.contains(2 * end - found.center)


@pytest.mark.parametrize(("name", "question"), quadratic("bounded"))
def test_boundedness(name, question):
    found, expected = shape_of(name).bounded(level_of(question)), question["answer"]["verdict"]
    if expected != "undetermined":
        assert found.verdict == expected
    assert (found.direction is None) == (found.verdict != "unbounded")
    if found.direction is not None and not engine_of(name).objective.design.dual:
        both = np.stack([found.direction, -found.direction])
        (reach,) = shape_of(name).reach(both, [level_of(question).q])
        assert np.isinf(reach).all()


@pytest.mark.parametrize(("name", "question"), quadratic("max_bounded_level"))
def test_largest_bounded_levels(name, question):
    found, expected = shape_of(name).largest_bounded_rank() / 100, question["answer"]["level"]
    undecided = [q for n, q in asked("bounded", level=0.5) if n == name]
    if any(q["answer"]["verdict"] == "undetermined" for q in undecided):  # now it is decided
        assert found >= expected
    else:
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "question"), quadratic("norm_lower_bound"))
def test_norms(name, question):
    found = shape_of(name).norm_lower_bound(level_of(question))
    assert found == pytest.approx(question["answer"]["bound"], rel=1e-5, abs=1e-9)


# --- piecewise -----------------------------------------------------------------------------------

PIECEWISE = [
    name
    for name in problems()
    if quadratic_sets(name) is None
    and not engine_of(name).noise.labels
    and engine_of(name).objective.quantile is None
]


@cache
def piecewise_of(name):
    return PiecewiseShape(engine_of(name))


def piecewise(kind, **such):
    return [
        pytest.param(name, question, id=f"{name}, {question.get('level', '')}")
        for name, question in asked(kind, **such)
        if name in PIECEWISE
    ]


def assert_no_wider(found, answer, close, narrower=1e-3):
    """Where the record has finite bounds, these are as tight; where they are new, they are."""
    low, high = np.array(answer["lower"]), np.array(answer["upper"])
    width = np.where(np.isfinite(high - low), high - low, 1.0)
    for side, ours, recorded in ((-1, found.lower, low), (1, found.upper, high)):
        some = np.isfinite(recorded)
        beyond = side * (ours[some] - recorded[some])
        assert (beyond <= close * width[some]).all()
        assert (beyond >= -narrower * width[some]).all()
    finite = np.isfinite([found.lower, found.upper]).all()
    assert (found.status.name == "CERTIFIED") == bool(finite)
    assert (found.explanation.text() == "") == bool(finite)


@pytest.mark.parametrize(("name", "question"), piecewise("interval", method="joint"))
def test_intervals_of_piecewise_shapes(name, question):
    g = question["functionals"]
    g = np.eye(engine_of(name).objective.d) if g is None else np.array(g)
    (found,) = piecewise_of(name).bounds(Question(g), [level_of(question)])
    assert_no_wider(found, question["answer"], NORM_BOUND)
    members = problems()[name].arrays["candidates"]
    values = members[engine_of(name).rank(members) <= level_of(question).largest_rank] @ g.T
    assert ((found.lower <= values) & (values <= found.upper)).all()


@pytest.mark.parametrize(("name", "question"), piecewise("band", method="joint"))
def test_bands_of_piecewise_shapes(name, question):
    g, inputs = rows_at(problems()[name], question["inputs"]), np.array(question["inputs"])
    bound, design = question.get("norm_bound"), engine_of(name).objective.design
    similarity = design.self_similarity(inputs) if design.dual and bound else None
    asked_for = Question(g, bound, similarity, question.get("target") == "function")
    (found,) = piecewise_of(name).bounds(asked_for, [level_of(question)])
    assert_no_wider(found, question["answer"], NORM_BOUND)


@pytest.mark.parametrize(("name", "question"), piecewise("reach"))
def test_reach_of_piecewise_shapes(name, question):
    shape, expected = piecewise_of(name), np.array(question["answer"]["reach"])
    found = shape.reach(np.array(question["directions"]), range(1, 100))
    np.testing.assert_allclose(np.array(found).T, expected, rtol=1e-8 if shape.exact else CLOSE)


@pytest.mark.parametrize(("name", "question"), piecewise("crossings"))
def test_crossings_of_piecewise_shapes(name, question):
    shape, origin = piecewise_of(name), question.get("origin")
    start = shape.estimate if origin is None else np.array(origin)
    direction, q = np.array([question["direction"]]), count(question["level"])
    ((found,),) = shape.intervals(start[None], direction, [q])
    expected = np.array(question["answer"]["sets"]).reshape(-1, 2)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


# --- quantiles -----------------------------------------------------------------------------------


@cache
def quantile_shape_of(name):
    return QuantileShape(engine_of(name))


def quantiles(kind, **such):
    return [
        pytest.param(name, question, id=f"{name}, {question.get('level', '')}")
        for name, question in asked(kind, **such)
        if name.startswith("quantiles")
    ]


@pytest.mark.parametrize(("name", "question"), quantiles("interval", method="joint"))
def test_intervals_of_quantiles(name, question):
    g, shape = question["functionals"], quantile_shape_of(name)
    g, level = np.eye(engine_of(name).objective.d) if g is None else np.array(g), level_of(question)
    (found,) = shape.bounds(Question(g), [level])
    assert_no_wider(found, question["answer"], CLOSE, GAP)
    members = problems()[name].arrays["candidates"]
    values = members[shape.accepts(members, level)] @ g.T
    assert ((found.lower <= values) & (values <= found.upper)).all()


@pytest.mark.parametrize(("name", "question"), quantiles("band", method="joint"))
def test_bands_of_quantiles(name, question):
    g = rows_at(problems()[name], question["inputs"])
    asked_for = Question(g, question.get("norm_bound"))
    (found,) = quantile_shape_of(name).bounds(asked_for, [level_of(question)])
    assert_no_wider(found, question["answer"], CLOSE, GAP)


@pytest.mark.parametrize(("name", "question"), quantiles("bounded"))
def test_boundedness_of_quantiles(name, question):
    found = quantile_shape_of(name).bounded(level_of(question))
    assert found.verdict == question["answer"]["verdict"]


def test_a_functional_that_free_directions_do_not_see_has_finite_bounds_near_members():
    """The slope of an age beside that of a dummy of few rows, at quantile 0.1."""
    rng = np.random.default_rng(3)
    age, dummy = rng.uniform(20, 60, 80), (np.arange(80) % 16 == 0).astype(float)
    y = 1 + 0.1 * age + dummy + (0.5 + dummy) * rng.lognormal(size=80)
    noise, order = Quantile(0.1), Order(rng.permutation(40))
    model, X = QuantileRegressor(quantile=0.1, alpha=0.0), np.column_stack([age, dummy])
    objective = factory_for(model)(model, X, y, None)
    engine = Engine(objective, noise, noise.draw(80, 39, rng), order)
    shape, level, g = QuantileShape(engine), Level(4, 40), np.eye(3)
    bounded = shape.bounded(level)
    assert bounded.verdict == "unbounded"
    assert np.flatnonzero(bounded.direction).tolist() == [2]
    (found,) = shape.bounds(Question(g), [level])
    assert np.isfinite([found.lower[1], found.upper[1]]).all()
    assert np.isinf([found.lower[2], found.upper[2]]).any()
    assert (shape.engine.rank(found.witnesses.reshape(-1, 3)) <= level.largest_rank).all()
    low, high = (found.witnesses * g).sum(axis=2)
    assert np.isfinite([low, high]).all()
    assert ((found.lower <= low) & (low <= high) & (high <= found.upper)).all()
    far = np.linspace(-10, 10, 41)[:, None] * (found.upper - found.lower)[1] * g[1]
    ends = shape.estimate + far + 1e4 * bounded.direction
    kept = shape.accepts(ends, level)
    assert (ends[kept, 1] <= found.upper[1]).all()
    assert (ends[kept, 1] >= found.lower[1]).all()


# --- labels --------------------------------------------------------------------------------------


@cache
def label_shape_of(name):
    return LabelShape(engine_of(name))


def labels(kind, **such):
    return [
        pytest.param(name, question, id=f"{name}, {question.get('level', '')}")
        for name, question in asked(kind, **such)
        if engine_of(name).noise.labels
    ]


@pytest.mark.parametrize(("name", "question"), labels("interval", method="joint"))
def test_intervals_of_labels(name, question):
    g, shape = question["functionals"], label_shape_of(name)
    g, level = np.eye(engine_of(name).objective.d) if g is None else np.array(g), level_of(question)
    (found,) = shape.bounds(Question(g), [level])
    assert_no_wider(found, question["answer"], CLOSE, GAP)
    members = problems()[name].arrays["candidates"]
    values = members[shape.accepts(members, level)] @ g.T
    assert ((found.lower <= values) & (values <= found.upper)).all()
    if found.witnesses is not None:
        assert shape.accepts(found.witnesses.reshape(-1, g.shape[1]), level).all()


@pytest.mark.parametrize(("name", "question"), labels("band", method="joint"))
def test_bands_of_labels(name, question):
    """Bounds of E[y|x], which lies in [-1, 1]."""
    g, inputs = rows_at(problems()[name], question["inputs"]), np.array(question["inputs"])
    bound, design = question.get("norm_bound"), engine_of(name).objective.design
    similarity = design.self_similarity(inputs) if design.dual and bound else None
    asked_for = Question(g, bound, similarity, question.get("target") == "function")
    (found,) = label_shape_of(name).bounds(asked_for, [level_of(question)])
    mean = engine_of(name).objective.loss.mean
    low, high = (np.array(question["answer"][side]) for side in ("lower", "upper"))
    for side, ours, recorded in ((-1, found.lower, low), (1, found.upper, high)):
        beyond = side * (np.clip(mean(ours), -1, 1) - recorded) / (high - low)
        assert (beyond <= (CLOSE if bound is None else NORM_BOUND)).all()
        assert (beyond >= -GAP).all()


@pytest.mark.parametrize(("name", "question"), labels("bounded"))
def test_boundedness_of_labels(name, question):
    found = label_shape_of(name).bounded(level_of(question))
    assert found.verdict == question["answer"]["verdict"]
    if found.direction is not None:
        moved = engine_of(name).objective.design.matrix @ found.direction
        assert np.abs(moved).max() <= 1e-9 * np.abs(found.direction).max()


def test_every_recorded_problem_has_its_shape():
    found = {name: shape_of_engine(engine_of(name)).name for name in problems()}
    for name, shape in found.items():
        if engine_of(name).noise.labels:
            assert shape == "labels"
        elif name.startswith("quantiles"):
            assert shape == "quantiles"
        else:
            assert shape == ("quadratic" if quadratic_sets(name) is not None else "piecewise")
    assert found["least squares, Psi = I"] == found["least squares, weights and permutations"]
    assert set(found.values()) == {"labels", "quantiles", "quadratic", "piecewise"}


def test_a_matrix_as_weighting_has_no_ellipsoids():
    engine = replace(engine_of("least squares"), weighting=np.eye(4))
    assert shape_of_engine(engine).name == "piecewise"


# --- samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["least squares", "ridge", "LASSO"])
def test_samples_are_members_within_the_bounds_and_fill_them(name):
    engine, level = engine_of(name), Level(20, 100)
    shape = shape_of(name) if quadratic_sets(name) is not None else piecewise_of(name)
    found = shape.sample(64, level, np.random.default_rng(0))
    assert found.shape == (64, engine.objective.d)
    assert (engine.rank(found) <= level.largest_rank).all()
    g = np.eye(engine.objective.d)
    (bounds,) = shape.bounds(Question(g), [level])
    assert ((bounds.lower <= found) & (found <= bounds.upper)).all()
    ways = np.concatenate([g, -g])
    (reach,) = shape.reach(ways, [level.q])
    sides = reach.reshape(2, -1).sum(axis=0)
    assert (np.ptp(found, axis=0) > 0.3 * sides).all()


def test_samples_in_a_ball_have_at_most_its_norm():
    shape, level = shape_of("ridge"), Level(20, 100)
    slopes = np.linalg.norm(shape.estimate[1:])
    found = shape.sample(32, level, np.random.default_rng(0), norm_bound=1.01 * slopes)
    assert (np.linalg.norm(found[:, 1:], axis=1) <= 1.01 * slopes * (1 + 1e-9)).all()
    assert shape.accepts(found, level).all()
    with pytest.raises(Exception, match="pass a larger norm_bound"):
        shape.sample(1, level, np.random.default_rng(0), norm_bound=0.9 * slopes)


def test_a_region_without_end_is_not_sampled():
    shape = shape_of("least squares, permutations")  # which say nothing about the intercept
    with pytest.raises(NotAvailable, match=r"is unbounded: .*norm_bound=B"):
        shape.sample(4, Level(20, 100), np.random.default_rng(0))


# --- inner bounds --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "question"),
    [
        pytest.param(name, question, id=name)
        for name, question in asked("interval", inner=True)
        if not engine_of(name).objective.design.dual
    ],
)
def test_inner_bounds_are_attained_nearly_as_far_out_as_recorded(name, question):
    shape, level, answer = shape_of_engine(engine_of(name)), level_of(question), question["answer"]
    g = question["functionals"]
    g = np.eye(engine_of(name).objective.d) if g is None else np.array(g)
    found = shape.witnesses(g, level)
    assert shape.accepts(found.reshape(-1, g.shape[1]), level).all()
    low, high = (found * g).sum(axis=2)
    least, most = np.array(answer["inner_lower"]), np.array(answer["inner_upper"])
    some = np.isfinite([answer["lower"], answer["upper"]]).all(axis=0)  # else it is arbitrary
    assert ((high - low)[some] >= 0.95 * (most - least)[some]).all()
    (bounds,) = shape.bounds(Question(g), [level])
    assert ((bounds.lower <= low) & (high <= bounds.upper)).all()
