"""What nothing determines: coefficients that columns share, fitted values of free cycles."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression

from dependent_tables import dependent, outputs
from unassuming.geometry.quadratic import QuadraticSets, free_directions, qth_largest
from unassuming.membership import Engine
from unassuming.noise import Symmetric, SymmetricExchangeable
from unassuming.objectives import factory_for
from unassuming.ranking import Order


def region(model, X, y, noise, m=100, seed=0):
    rng = np.random.default_rng(seed)
    objective = factory_for(model)(model, X, y, None)
    drawn, order = noise.draw(len(y), m - 1, rng), Order.draw(m, "random", rng)
    return QuadraticSets.of(Engine(objective, noise, drawn, order))


@pytest.mark.parametrize("kind", list(dependent(np.random.default_rng(0))))
def test_coefficients_that_columns_share_are_not_bounded(kind):
    """And the others, and bands, are those without the extra column."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = dependent(rng)[kind]
        y = outputs(rng, X)
        sets = region(LinearRegression(), X, y, Symmetric(), seed=seed)
        part = region(LinearRegression(), X[:, :-1], y, Symmetric(), seed=seed)
        assert free_directions(sets).bounded(50) is False
        rows = sets.engine.objective.design.matrix
        for q in (10, 50):
            lower, upper = sets.outer(rows, q)
            low, high = part.outer(rows[:, :-1], q)
            np.testing.assert_allclose([lower, upper], [low, high], rtol=1e-6, atol=1e-9)
            ends = np.array(sets.outer(np.eye(rows.shape[1]), q))
            assert np.isinf(ends[:, 1:]).all(axis=0).sum() >= 1 + (X.shape[1] == 3) * (
                kind != "a duplicated column"
            )
            assert (np.abs(ends[np.isfinite(ends)]) < 1e8).all()


def test_a_fitted_value_is_bounded_where_its_cycle_has_a_negative_sign():
    """Kernel ridge of 24 rows, signs with permutations (docs/theory.md 4.4)."""
    rng = np.random.default_rng(4)
    x = np.linspace(0, 6, 24)[:, None]
    y = np.sin(x[:, 0]) + 0.3 * rng.laplace(size=24)
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.5)
    sets = region(model, x, y, SymmetricExchangeable(), m=40)
    signs, order = sets.engine.drawn
    positive = np.array(
        [[_cycle_sign(s, o, j) for j in range(24)] for s, o in zip(signs, order, strict=True)]
    )
    up, down = sets.supports(sets.engine.objective.design.rows(x))
    np.testing.assert_array_equal(np.isinf(up.T), positive > 0)
    np.testing.assert_array_equal(np.isinf(down.T), positive > 0)
    finite = np.isfinite(qth_largest(up, 20))
    assert finite.tolist() == ((positive > 0).sum(axis=0) < 20).tolist()
    assert 0 < finite.sum() < 24


def _cycle_sign(signs, order, j):
    """The product of the signs along the cycle of j."""
    sign, k = signs[j], order[j]
    while k != j:
        sign, k = sign * signs[k], order[k]
    return sign
