"""Bounds of functionals in a quantile region with an unbounded direction."""

import numpy as np
from sklearn.linear_model import QuantileRegressor

from unassuming.membership import Engine
from unassuming.noise import Quantile
from unassuming.objectives import factory_for
from unassuming.ranking import Order
from unassuming.ranking.levels import Level
from unassuming.regions.shapes.quantiles import QuantileShape
from unassuming.regions.shapes.shape import Question


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


# --- samples -------------------------------------------------------------------------------------


# --- inner bounds --------------------------------------------------------------------------------
