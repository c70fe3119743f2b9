"""What changes nothing: order and units of columns, a shift along the features, the scale of y."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, LinearRegression, QuantileRegressor, Ridge

from unassuming.geometry.quadratic import QuadraticSets
from unassuming.membership import Engine
from unassuming.noise import Quantile, Symmetric, SymmetricExchangeable
from unassuming.objectives import factory_for
from unassuming.ranking import Order

MODELS = [
    (LinearRegression(), SymmetricExchangeable()),
    (HuberRegressor(alpha=0.0), Symmetric()),
    (QuantileRegressor(quantile=0.3, alpha=0.0), Quantile(0.3)),
]


def table(seed, n=30):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [np.round(rng.normal(15, 5, n), 1), rng.integers(0, 2, n), rng.normal(size=n)]
    )
    return rng, X, np.round(X @ [0.1, 1.0, -0.5] + rng.standard_t(3, size=n), 1)


def engine(model, X, y, noise, seed=0, m=60):
    rng = np.random.default_rng(seed)
    drawn = noise.draw(len(y), m - 1, rng)
    objective = factory_for(model)(model, X, y, None)
    return Engine(objective, noise, drawn, Order.draw(m, "random", rng))


@pytest.mark.parametrize(("model", "noise"), MODELS, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_units_and_order_of_columns_do_not_change_ranks(model, noise, seed):
    rng, X, y = table(seed)
    own = engine(model, X, y, noise)
    a = own.objective.estimate() + 0.3 * rng.normal(size=(40, 4)) * [1, 0.05, 0.5, 0.3]
    moved = X[:, [2, 0, 1]] * [1000.0, 1.8, 1.0] + [0.0, 32.0, 0.0]
    slopes = a[:, [3, 1, 2]] / [1000.0, 1.8, 1.0]
    b = np.column_stack([a[:, 0] - 32.0 * slopes[:, 1], slopes])
    ranks = own.rank(a)
    assert len(np.unique(ranks)) > 5
    assert engine(model, moved, y, noise).rank(b).tolist() == ranks.tolist()


@pytest.mark.parametrize(("model", "noise"), MODELS, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_a_shift_along_the_features_and_the_scale_of_y_move_the_region_alone(model, noise, seed):
    rng, X, y = table(seed)
    own, shift = engine(model, X, y, noise), np.array([2.0, -0.5, 1.0, 3.0])
    a = own.objective.estimate() + 0.3 * rng.normal(size=(40, 4)) * [1, 0.05, 0.5, 0.3]
    ranks = own.rank(a).tolist()
    moved = y + shift[0] + X @ shift[1:]
    assert engine(model, X, moved, noise).rank(a + shift).tolist() == ranks
    if isinstance(noise, Quantile) or isinstance(model, LinearRegression):
        assert engine(model, X, 1e3 * y, noise).rank(1e3 * a).tolist() == ranks


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=2.0)], ids=repr)
def test_what_has_rank_at_most_m_less_q_is_inside_the_bounds(model):
    rng, X, y = table(5)
    sets = QuadraticSets.of(engine(model, X, y, Symmetric()))
    estimate, g = sets.engine.objective.estimate(), rng.normal(size=(6, 4))
    a = estimate + rng.normal(size=(3000, 4)) * [2, 0.1, 0.7, 0.4] * rng.random((3000, 1))
    ranks = sets.engine.rank(a)
    for q in (6, 20, 40):
        lower, upper = sets.outer(g, q)
        inside = (a - estimate)[ranks <= 60 - q] @ g.T
        assert len(inside) > 20
        assert (inside <= upper).all()
        assert (inside >= lower).all()


def test_levels_of_a_kernel_are_nested_and_contain_the_estimate():
    _, X, y = table(6)
    model = KernelRidge(kernel="rbf", gamma=0.1, alpha=0.5)
    region = engine(model, X[:, [0, 2]], y, Symmetric())
    assert region.rank(region.objective.estimate()[None]).tolist() == [1]
    sets = QuadraticSets.of(region)
    g = region.objective.design.matrix
    bounds = [sets.outer(g, q)[1] for q in (10, 30, 50)]
    assert (bounds[0] >= bounds[1]).all()
    assert (bounds[1] >= bounds[2]).all()
    assert np.isfinite(bounds[2]).any()
