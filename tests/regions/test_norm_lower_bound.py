"""The lower confidence bound of the norm, and the band against the norm bound."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, Ridge

import unassuming as ua

MODEL = KernelRidge(kernel="laplacian", gamma=0.5, alpha=0.5)
rng = np.random.default_rng(0)
X = rng.uniform(0, 6, (18, 1))


def norm_of(centres, c):
    """The norm of Σ c_j k(·, t_j)."""
    K = np.exp(-0.5 * np.abs(centres - centres.T))
    return np.sqrt(c @ K @ c)


@pytest.mark.slow
def test_no_member_has_a_smaller_norm():
    y = 3 * np.sin(X[:, 0]) + 0.2 * rng.laplace(size=18)
    region = ua.confidence_region(MODEL, X, y, m=20, random_state=0)
    K, lowest = region.objective.design.K, region.norm_lower_bound([0.5, 0.9])
    assert 0 < lowest[0.9] < lowest[0.5] <= region.suggest_norm_bound() / 2
    for level, least in lowest.items():
        members = region.sample(50, level=level, norm_bound=2 * least + 20, random_state=0)
        norms = np.sqrt(np.einsum("ij,jk,ik->i", members, K, members))
        assert norms.min() >= least
        assert (
            region.band(X, level=level, norm_bound=0.999 * least, method="joint").status.name
            == "EMPTY"
        )
        # Just above it sets meet the ball that need not meet each other; with a member they do.
        assert (
            region.band(X, level=level, norm_bound=norms.min(), method="joint").status.name
            == "CERTIFIED"
        )


def least_norm_by_cvxpy(K, alpha, y, J):
    """The least norm in {r_JᵀD_JJ r_J <= r_Jᵀr̂_J}, r = y - Ka, D = alpha (K + alpha I)⁻¹."""
    D = alpha * np.linalg.inv(K + alpha * np.eye(len(K)))
    root = np.linalg.cholesky(K)  # a = root⁻ᵀ v, so that the norm is that of v
    D_J, rest, v = D[np.ix_(J, J)], (D @ y)[J], cp.Variable(len(K))
    r = y[J] - root[J] @ v
    inside = cp.sum_squares(np.linalg.cholesky(D_J).T @ r) <= rest @ r
    problem = cp.Problem(cp.Minimize(cp.norm(v)), [inside])
    tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-9)
    return problem.solve(solver=cp.CLARABEL, **tight)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 5.0])
def test_it_agrees_with_cvxpy(alpha):
    """The q-th smallest of the least norms over the sets."""
    model = KernelRidge(kernel="laplacian", gamma=0.5, alpha=alpha)
    y = 3 * np.sin(X[:, 0]) + 0.2 * np.random.default_rng(1).laplace(size=18)
    region = ua.confidence_region(model, X, y, m=10, random_state=0)
    signs = region.perturbations.apply(np.ones(18))
    K = region.objective.design.K
    least = [least_norm_by_cvxpy(K, alpha, y, np.flatnonzero(one < 0)) for one in signs]
    for q, level in ((1, 0.9), (2, 0.8), (4, 0.6)):
        assert region.norm_lower_bound(level) == pytest.approx(np.sort(least)[q - 1], rel=1e-6)
        assert region.norm_lower_bound(level) <= np.sort(least)[q - 1] * (1 + 1e-7)


@pytest.mark.slow
def test_coverage_of_the_norm_of_the_function():
    """Sharp if the function is zero; ``python -m benchmarks.norm_coverage`` makes 2,000 runs."""
    runs, level, held, sharp = 70, 0.8, 0, 0
    centres, c = np.array([[1.0], [2.5], [4.7]]), np.array([2.0, -3.0, 1.5])
    truth = np.exp(-0.5 * np.abs(X - centres.T)) @ c
    for seed in range(runs):
        noise = np.random.default_rng(seed).standard_cauchy(size=18)
        for f, norm in ((truth, norm_of(centres, c)), (0 * truth, 0.0)):
            region = ua.confidence_region(MODEL, X, f + 0.3 * noise, m=5, random_state=seed)
            lowest = region.norm_lower_bound(level)
            if norm:
                held += lowest <= norm
            else:
                sharp += lowest <= 0.0
                assert (lowest > 0) <= (region.rank(np.zeros(18)) > 4)
    low, high = binom.ppf([5e-7, 1 - 5e-7], runs, level)
    assert held >= low
    assert low <= sharp <= high


def test_the_norm_of_features_leaves_out_the_intercept():
    Z = rng.normal(size=(40, 2))
    y = 50 + Z @ [1.0, 2.0] + 0.1 * rng.normal(size=40)
    lowest = ua.confidence_region(Ridge(0.1), Z, y, random_state=0, m=100).norm_lower_bound(
        level=0.9
    )
    assert 2.0 < lowest < np.sqrt(5) + 0.01


def test_an_objective_that_is_not_quadratic_is_refused():
    region = ua.confidence_region(Lasso(), X, np.sin(X[:, 0]), random_state=0, m=100)
    with pytest.raises(ua.NotAvailable, match="needs a quadratic objective"):
        region.norm_lower_bound(level=0.9)


def test_the_table_of_norm_bounds():
    y = 3 * np.sin(X[:, 0]) + 0.2 * rng.laplace(size=18)
    region = ua.confidence_region(MODEL, X, y, m=20, random_state=0)
    lowest = region.norm_lower_bound(0.9)
    found = region.norm_bounds_table(X[:3], [4 * lowest, 2 * lowest, 0.9 * lowest], level=0.9)
    assert found.refuted.tolist() == [True, False, False]
    assert np.isnan(found.median_half_width[0])
    assert found.median_half_width[1] < found.median_half_width[2]
    band = region.band(X[:3], norm_bound=4 * lowest, method="joint", level=0.9)
    assert found.largest_half_width[2] == ((band.upper - band.lower) / 2).max()
    text = str(found)
    assert text.count("\n") >= 4
    assert text.splitlines()[1].endswith("refuted")
    assert "They cannot confirm one" in text
    assert found.to_frame().index.name == "norm_bound"
    four = region.norm_bounds_table(X[:1], level=0.9)
    np.testing.assert_allclose(
        four.norm_bound, region.suggest_norm_bound() * 2.0 ** np.arange(-1, 3)
    )
    with pytest.raises(ValueError, match="norm_bounds is not a list of bounds"):
        region.norm_bounds_table(X[:1], [], level=0.9)
    with pytest.raises(
        ValueError, match=r"given an array of shape \(2, 1\)\. Pass the inputs first"
    ):
        region.norm_bounds_table([10, 30], X[:2], level=0.9)
