"""One inequality and one ball: the least bound over all multipliers, against a dense search."""

import numpy as np
import pytest

from unassuming.geometry.quadratic._multipliers import Multipliers


def problem(seed, tight):
    """Σ σ v² - 2bᵀv <= c has points; ``tight`` decides how many of them are in the ball."""
    rng = np.random.default_rng([seed, 7])
    k = int(rng.integers(2, 12))
    sigma = 10.0 ** rng.uniform(-6, 2, size=k) * (rng.random(k) < 0.9)
    centre = rng.normal(size=k)
    b = sigma * centre
    c = float(-(sigma @ centre**2) + 10.0 ** rng.uniform(-3, 1))
    return Multipliers(sigma, b, c, bound=float(tight * np.linalg.norm(centre)))


def bounds(one, g, own, theta):
    """The formula of docs/theory.md 4.4 at many θ, without any care."""
    W = 1 / (1 + theta[:, None] * one.sigma)
    S = one.bound**2 + theta * one.c + theta**2 * (W @ one.b**2)
    radius = np.sqrt(np.maximum(S, 0) * (W @ g**2 + own))
    return theta * (W @ (g * one.b)) + radius


def after_all_grids(one):
    """Whether the inequality and the ball are apart by the finest grid."""
    *_, (square, _) = one._squares()
    return square > one.bound**2 * (1 + 1e-9)


@pytest.mark.parametrize("tight", [0.3, 0.9, 3.0, 30.0])
@pytest.mark.parametrize("seed", range(6))
def test_no_multiplier_of_a_dense_grid_does_better(seed, tight):
    one = problem(seed, tight)
    theta = np.exp(np.linspace(-40, 40, 40_001))
    S = one.bound**2 + theta * one.c
    S += theta**2 * ((1 / (1 + theta[:, None] * one.sigma)) @ one.b**2)
    assert one.apart == after_all_grids(one)
    if one.apart:
        assert S.min() < 1e-9 * one.bound**2
        return
    g = np.random.default_rng(seed).normal(size=(5, len(one.b)))
    own = np.array([0.0, 0.0, 0.1, 1.0, 10.0])
    found = one.supports(g, own)
    for i in range(5):
        for sign, value in ((1, found[0, i]), (-1, found[1, i])):
            least = bounds(one, sign * g[i], own[i], theta).min()
            scale = max(abs(least), 1e-6 * one.bound)
            assert value <= least + 1e-9 * scale  # as good as the grid
            assert value >= least - 1e-4 * scale  # which is nearly the best


def test_the_search_for_a_proof_of_emptiness_ends_early_only_if_more_of_it_changes_nothing():
    seen = set()
    for seed in range(200):
        one = problem(seed, 10.0 ** np.random.default_rng(seed).uniform(-1.5, 1))
        apart = after_all_grids(one)
        assert one.apart == apart
        square, ratio = next(one._squares())
        seen.add((apart, square * ratio <= one.bound**2))
    assert seen == {(True, False), (False, False), (False, True)}
