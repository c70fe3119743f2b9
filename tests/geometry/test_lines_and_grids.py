"""Lines of every loss and noise: membership flips at every end; grids bracket members."""

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet, Lasso, Ridge
from sklearn.svm import SVR, LinearSVR

import unassuming as ua
from engines import engine_of
from scans import assert_flips
from unassuming import noise as noises
from unassuming.geometry.choose import lines_of
from unassuming.geometry.grid_lines import GridLines
from unassuming.membership import Engine
from unassuming.objectives import factory_for
from unassuming.ranking import Order

KERNEL = {"kernel": "rbf", "gamma": 0.5}
MODELS = {
    "LASSO": (Lasso(alpha=0.1), None),
    "LASSO, hessian": (Lasso(alpha=0.1), "hessian"),
    "elastic net": (ElasticNet(alpha=0.1, l1_ratio=0.6), None),
    "kernel LASSO": (ua.KernelLasso(alpha=0.3, **KERNEL), None),
    "SVR": (SVR(C=2.0, epsilon=0.1, **KERNEL), None),
    "SVR, identity": (SVR(C=2.0, epsilon=0.1, **KERNEL), "identity"),
    "kernel Huber": (ua.KernelHuber(alpha=0.5, delta=0.3, **KERNEL), None),
    "linear SVR": (LinearSVR(epsilon=0.2, C=1.0), None),
    "linear SVR, squares": (
        LinearSVR(epsilon=0.2, C=1.0, loss="squared_epsilon_insensitive", dual=True),
        None,
    ),
    "ridge, identity": (Ridge(0.5), "identity"),
}
NOISES = {
    "signs": noises.Symmetric(),
    "blocks": noises.BlockSymmetric(np.arange(14) // 2),
    "permutations": noises.Exchangeable(),
    "within": noises.ExchangeableWithin(7),
    "both": noises.SymmetricExchangeable(),
    "rotations": noises.Spherical(),
}


def random_lines(estimate, rng):
    """Generic, along a coordinate, from elsewhere, and through sparse points."""
    d, keep = len(estimate), rng.random(len(estimate)) < 0.5
    keep[rng.integers(d)] = True
    way = rng.normal(size=d)
    yield estimate, way
    yield estimate, np.eye(d)[rng.integers(d)]
    yield estimate + 0.05 * np.abs(estimate).max() * rng.normal(size=d), way
    yield estimate * keep, way
    yield estimate * keep, way * keep


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", MODELS)
def test_membership_flips_at_every_end_for_every_loss_and_noise(name, noise):
    seed = 10 * list(MODELS).index(name) + list(NOISES).index(noise)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 2))
    X = np.round(X, 1) if seed % 2 else X
    y = X @ [1.0, 0.0] + 0.3 * rng.laplace(size=14)
    model, weighting = MODELS[name]
    objective = factory_for(model)(model, X, y, None)
    drawn = NOISES[noise].draw(14, 39, rng)
    order = Order(rng.permutation(40))
    engine = Engine(objective, NOISES[noise], drawn, order, weighting)
    lines = lines_of(engine)
    assert lines.exact
    for origin, direction in random_lines(objective.estimate(), rng):
        assert_flips(engine, lines, origin, direction, [4, 20], size=1e-6, count=150)


@pytest.mark.parametrize(
    "name", ["LASSO", "SVR", "quantiles, L1", "labels, ridge", "labels, logistic"]
)
def test_lines_of_a_batch_do_not_see_each_other(name):
    engine, rng = engine_of(name), np.random.default_rng(0)
    lines, estimate = lines_of(engine), engine.objective.estimate()
    size = np.abs(estimate).max() * 0.1
    origins = 0.5 * estimate + size * rng.normal(size=(5, len(estimate))) * np.array(
        [[0], [0], [1], [1], [1]]
    )
    directions = size * rng.normal(size=(5, len(estimate)))
    together = lines.intervals(origins, directions, [5, 40])
    for j in range(5):
        alone = lines.intervals(origins[j : j + 1], directions[j : j + 1], [5, 40])
        for one, every in zip(alone, together, strict=True):
            np.testing.assert_allclose(one[0], every[j], rtol=1e-9, atol=1e-12)


def test_a_grid_brackets_members():
    engine = engine_of("ARX")
    grid, estimate = GridLines(engine.rank, engine.m), engine.objective.estimate()
    direction = np.eye(len(estimate))[0]
    (spans,) = grid.intervals(estimate[None], direction[None], [10])[0]
    ends = spans[np.isfinite(spans)]
    assert len(ends)
    at = estimate + ends[:, None] * direction
    assert (engine.rank(at) <= engine.m - 10).all()
