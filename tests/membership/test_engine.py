"""Large tables: rows in parts, rows with equal signs summed first."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression, Ridge

from unassuming.geometry.quadratic import QuadraticSets, rays
from unassuming.membership import Engine
from unassuming.noise import (
    Perturbations,
    Symmetric,
    SymmetricExchangeable,
)
from unassuming.objectives import factory_for
from unassuming.ranking import Order

LASSO = Lasso(alpha=0.1)


def region(model, X, y, noise, m=20, w=None, seed=0):
    rng = np.random.default_rng(seed)
    objective = factory_for(model)(model, X, y, w)
    drawn, order = noise.draw(len(y), m - 1, rng), Order.draw(m, "random", rng)
    return Engine(objective, noise, drawn, order)


def problem(n=14, d=2, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.ones(d) + rng.standard_t(3, size=n)


def test_many_rows_are_transformed_in_parts(monkeypatch):
    X, y = problem(n=40)
    model = Ridge(alpha=0.7)
    for noise in (Symmetric(), SymmetricExchangeable()):
        engine = region(model, X, y, noise, m=30)
        a = engine.objective.estimate() + np.random.default_rng(1).normal(size=(5, 3))
        whole = engine.gaps(a)[0], engine.statistics(a), engine.rank(a)
        monkeypatch.setattr("unassuming.membership.engine._LARGEST", 40 * 7)
        parts = engine.gaps(a)[0], engine.statistics(a), engine.rank(a)
        monkeypatch.undo()
        for one, other in zip(whole, parts, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=0.7), LASSO], ids=repr)
def test_rows_with_equal_signs_are_summed_first(model, monkeypatch):
    X, y = problem(n=1500)
    rng, w = np.random.default_rng(8), None
    objective = factory_for(model)(model, X, y, w)
    leverage = rng.uniform(0, 0.1, 1500)
    group = Perturbations.sign_group(Symmetric(), leverage, 64, modulo_sign=False)
    order = Order.draw(64, "random", rng)
    a = objective.estimate() + 0.05 * rng.normal(size=(20, 3))
    sums = Engine(objective, Symmetric(), group.drawn, order)
    found = sums.gaps(a)[0], sums.rank(a)
    monkeypatch.setattr("unassuming.membership.engine._FROM", 10**9)
    plain = Engine(objective, Symmetric(), group.drawn, order)
    np.testing.assert_allclose(found[0], plain.gaps(a)[0], rtol=1e-8)
    assert found[1].tolist() == plain.rank(a).tolist()
    assert len(np.unique(found[1])) > 3


def test_sets_of_many_rows_are_those_of_each_sign_vector():
    X, y = problem(n=700)
    engine = region(Ridge(alpha=0.7), X, y, Symmetric(), m=8)
    leverage = np.random.default_rng(8).uniform(0, 0.1, 700)
    group = Perturbations.sign_group(Symmetric(), leverage, 32, modulo_sign=False)
    order = Order.draw(32, "random", np.random.default_rng(9))
    engine = Engine(engine.objective, Symmetric(), group.drawn, order)
    sets = QuadraticSets.of(engine)
    Q, w = engine.objective.factor.Q, np.linalg.eigvalsh(next(sets.forms())[1].A)
    for signs, found in zip(group.drawn, w, strict=True):
        share = np.linalg.eigvalsh(Q[signs < 0].T @ Q[signs < 0])
        np.testing.assert_allclose(found, np.sort(4 * share * (1 - share)), atol=1e-12)
    u = np.array([[1.0, 0.5, -0.3]])
    ends = rays(sets, u)[0]
    for i in (0, 11, 30):
        Z = engine.statistics(engine.objective.estimate() + ends[i] * u)[0]
        np.testing.assert_allclose(Z[i + 1], Z[0], rtol=1e-8)
