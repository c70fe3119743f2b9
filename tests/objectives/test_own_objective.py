"""An objective of one's own: residuals and a gradient are enough for exact ranks."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.utils import all_estimators

from unassuming.membership import Engine
from unassuming.noise import Perturbations, Symmetric
from unassuming.objectives import (
    Objective,
    check_objective,
    factory_for,
    from_ridge,
    register_objective,
    registered_classes,
    registry,
)
from unassuming.ranking import Order


class AbsoluteRidge(Objective):
    """Absolute residuals and a ridge penalty."""

    def __init__(self, X, y, alpha):
        super().__init__(y, X.shape[1])
        self.X, self.alpha = X, alpha

    def residuals(self, coefficients):
        return self.y - coefficients @ self.X.T

    def gradient(self, coefficients, residuals):
        penalty = self.alpha * coefficients
        extra = residuals.ndim - coefficients.ndim
        return penalty.reshape(len(penalty), *(1,) * extra, -1) - np.sign(residuals) @ self.X


def problem(n=12, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.ones(d) + rng.normal(size=n)


def engine(objective, m=100, weighting=None):
    rng = np.random.default_rng(0)
    drawn = Symmetric().draw(objective.n, m - 1, rng)
    return Engine(objective, Symmetric(), drawn, Order.draw(m, "random", rng), weighting)


def test_statistics_are_the_squared_norms_of_the_gradients():
    X, y = problem()
    psi, a = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0.5, 1.5])
    for weighting, matrix in ((None, np.eye(2)), ("identity", np.eye(2)), (psi, psi)):
        region = engine(AbsoluteRidge(X, y, 0.7), weighting=weighting)
        r = y - X @ a
        rows = np.vstack([r, Symmetric().apply(region.drawn, r, None)])
        expected = [np.sum((matrix @ (0.7 * a - X.T @ np.sign(row))) ** 2) for row in rows]
        np.testing.assert_allclose(region.statistics(a[None])[0], expected, rtol=1e-12)


def test_ranks_follow_from_statistics_and_the_tie_order():
    X, y = problem(n=4)  # so few that some transformations are the identity, and tie
    region = engine(AbsoluteRidge(X, y, 0.3))
    candidates = np.random.default_rng(1).normal(1, 1, size=(50, 2))
    Z = region.statistics(candidates)
    close = np.isclose(Z[:, 1:], Z[:, :1], rtol=1e-12, atol=0)
    assert close.any()
    ranks = 1 + np.where(close, region.order.first, Z[:, 1:] < Z[:, :1]).sum(axis=1)
    np.testing.assert_array_equal(region.rank(candidates), ranks)


@pytest.mark.parametrize("blind", [False, True])
def test_ranks_are_exactly_uniform(blind):
    """All 16 noise vectors ±|e| have the same probability: each rank must come up as often."""
    rng = np.random.default_rng(3)
    X, truth, size = rng.normal(size=(4, 2)), np.array([0.4, -1.1]), rng.exponential(size=4)
    ranks = []
    for code in range(16):
        e = (1 - 2 * ((code >> np.arange(4)) & 1)) * size
        objective = AbsoluteRidge(X, X @ truth + e, 0.0 if blind else 0.3)
        every = Perturbations.enumerate(Symmetric(), 4, modulo_sign=blind)
        order = Order(np.arange(every.m))
        ranks.append(int(Engine(objective, Symmetric(), every.drawn, order).rank(truth[None])[0]))
    assert sorted(ranks) == sorted([*range(1, every.m + 1)] * (16 // every.m))


def test_a_function_needs_a_rule_for_its_coefficients():
    objective = AbsoluteRidge(*problem(), 0.3)
    with pytest.raises(Exception, match=r"needs the method coefficients\(values\)\. Define it, or"):
        objective.at_values(np.zeros((1, 12)))
    with pytest.raises(Exception, match=r"needs the method estimate\(\)\. Define it, or"):
        objective.estimate()


def test_an_objective_with_the_wrong_axes_is_refused():
    class Lost(AbsoluteRidge):
        def gradient(self, coefficients, residuals):
            return self.alpha * coefficients - np.sign(residuals) @ self.X

    check_objective(AbsoluteRidge(*problem(), 0.3), AbsoluteRidge)
    with pytest.raises(ValueError, match=r"Lost\.gradient.*fails for .*\(2, 3, 12\)"):
        check_objective(Lost(*problem(), 0.3), Lost)
    with pytest.raises(TypeError, match=r"did not return an objective.*given None"):
        check_objective(None, Lost)


def test_a_class_is_known_exactly(monkeypatch):
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))

    class Ridgelike(Ridge):
        """May minimise anything."""

    with pytest.raises(TypeError, match="given Ridgelike"):
        factory_for(Ridgelike())
    register_objective(Ridgelike, from_ridge)
    assert factory_for(Ridgelike()) is from_ridge
    with pytest.raises(TypeError, match=r"estimator_class is not a class.*given Ridge\(\)"):
        register_objective(Ridge(), from_ridge)
    with pytest.raises(TypeError, match=r"factory is not callable.*given 'from_ridge'"):
        register_objective(Ridge, "from_ridge")


@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_every_model_of_scikit_learn_is_supported_or_told_a_nearest_one(kind):
    for name, cls in all_estimators(type_filter=kind):
        if cls not in registered_classes():
            model = object.__new__(cls)  # some need arguments, and none of them matters
            with pytest.raises(TypeError, match=rf"given {name}\. (Use|Tune|Transform|No model)"):
                factory_for(model)
