"""Outer bounds of SVR, LASSO and others: inequalities that hold on every set."""

import numpy as np
import pytest
from sklearn.svm import SVR

from engines import engine_of, quadratic_sets
from recorded import problems
from unassuming.geometry.piecewise.model import Model
from unassuming.geometry.piecewise.relaxation import Relaxation
from unassuming.membership import Engine
from unassuming.noise import Symmetric
from unassuming.objectives import factory_for
from unassuming.ranking import Order

PIECEWISE = [
    name
    for name in problems()
    if Model.of(engine_of(name)) is not None and quadratic_sets(name) is None
]
NAMES = [name for name in PIECEWISE if "weights and permutations" not in name]


def relaxation_of(name, bound=0.0):
    engine = engine_of(name)
    return Relaxation(Model.of(engine), engine.objective.design.ball(), bound)


def candidates(engine, rng, count=150):
    """Near the estimate and far from it; many with zeros."""
    d, estimate = engine.objective.d, engine.objective.estimate()
    size = (
        np.abs(estimate) + (0.01 if engine.objective.design.dual else 1e-3) * np.abs(estimate).max()
    )
    steps = size * 10 ** rng.uniform(-3, 1, size=(count, 1)) * rng.normal(size=(count, d))
    a = estimate * rng.choice([0, 1], size=(count, 1)) + steps
    zero = rng.random((count, d)) < rng.choice([0.0, 0.5, 0.9], size=(count, 1))
    return np.where(zero, 0.0, a)


def violations(one, eta, x):
    """xᵀAx - 2bᵀx - c for all points and sets, relative to its terms."""
    A, b, c = one.inequalities(eta)
    square, linear = np.einsum("nj,sjk,nk->ns", x, A, x), 2 * x @ b.T
    return (square - linear - c) / (np.abs(square) + np.abs(linear) + np.abs(c) + 1e-300)


SMOOTH = [name for name in NAMES if not engine_of(name).objective.loss.knots]


@pytest.mark.parametrize("name", SMOOTH)
def test_inequalities_hold_at_every_point_of_a_set_sparse_ones_too(name):
    engine = engine_of(name)
    one = relaxation_of(name, 1e3)
    a = candidates(engine, np.random.default_rng(3))
    gap, tolerance = engine.gaps(a)
    inside, x = gap >= -tolerance, a @ one.ball.forward.T
    assert 0.02 < inside.mean() < 0.98
    for eta in (0.01, 0.1, 1.0) if one.spread.any() else (0.0,):
        assert violations(one, eta, x)[inside].max() <= 1e-9
        if not one.spread.any():  # without kinks they are the sets themselves
            clear = np.abs(gap) > 1e-6 * np.abs(gap).max()
            assert ((violations(one, eta, x) <= 0) == inside)[clear].all()


def test_nothing_but_the_ball_is_known_where_the_box_can_be_reached():
    rng = np.random.default_rng(1)
    X = np.linspace(0, 4, 20)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=20)
    model, noise = SVR(C=100.0, epsilon=0.01, kernel="rbf", gamma=5.0), Symmetric()
    objective = factory_for(model)(model, X, y, None)
    engine = Engine(objective, noise, noise.draw(20, 99, rng), Order(rng.permutation(100)))
    ball = objective.design.ball()
    t, rest = ball.functionals(objective.design.matrix - np.eye(21)[0], np.ones(20))
    for bound, known in ((3.0, True), (300.0, False)):
        up, _ = Relaxation(Model.of(engine), ball, bound).supports(t, rest)
        assert (up <= bound * (1 + 1e-9)).all()
        assert (up < 0.9 * bound).any() == known
