"""Outer ellipsoids: the radii of the semidefinite programme, and every member inside."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

# --- the programme of the SPS papers --------------------------------------------------------------


def paper_sets(Phi, y, w, lam, P, G):
    """A_i, b_i, c_i with E_i = {v : vᵀA_i v + 2b_iᵀv + c_i <= 0}, v = R^{1/2}(θ - θ̂).

    R = ΦᵀWΦ/n + λP, Q_i = ΦᵀWG_iΦ/n + λP, ψ_i = ΦᵀWG_i y/n: the formulas of the papers for the
    stacked design, whose lower rows no transformation touches.
    """
    n = len(y)
    R = Phi.T @ (w[:, None] * Phi) / n + lam * P
    values, vectors = np.linalg.eigh(R)
    assert values[0] > 1e-8 * values[-1], "the plain formulas need a well conditioned R"
    half = vectors / np.sqrt(values) @ vectors.T  # R^{-1/2}
    theta = np.linalg.solve(R, Phi.T @ (w * y) / n)
    for Gi in G:
        Q = Phi.T @ (w[:, None] * (Gi @ Phi)) / n + lam * P
        M = half @ Q @ half
        a = half @ (Phi.T @ (w * (Gi @ y)) / n - Q @ theta)
        yield np.eye(len(R)) - M.T @ M, M.T @ a, -float(a @ a)


def programme(A, b, c):
    """Minimise γ with ξ >= 0 and [[ξA - I, ξb], [ξbᵀ, ξc + γ]] ⪰ 0; infinite if infeasible."""
    d = len(b)
    xi, gamma = cp.Variable(nonneg=True), cp.Variable()
    block = cp.Variable((d + 1, d + 1), PSD=True)
    constraints = [
        block[:d, :d] == xi * A - np.eye(d),
        block[:d, d] == xi * b,
        block[d, d] == xi * c + gamma,
    ]
    problem = cp.Problem(cp.Minimize(gamma), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Clarabel calls some answers inaccurate
        problem.solve(solver=cp.CLARABEL)
    assert problem.status.removesuffix("_inaccurate") in ("optimal", "infeasible")
    return np.inf if gamma.value is None else float(gamma.value)


def transformations(region):
    """The matrices G_i, shape (m - 1, n, n): column j is the image of the j-th unit vector."""
    return np.moveaxis(region.perturbations.apply(np.eye(region.n)), 0, -1)


def all_radii(region):
    levels = [1 - q / region.m for q in range(1, region.m)]
    return np.array([e.squared_radius for e in region.ellipsoid(levels).values()])


def ones(X):
    return np.column_stack([np.ones(len(X)), X])


def least_squares(d, noise, seed, *, weighted=False):
    rng = np.random.default_rng(seed)
    n = 3 * d + 6
    X = rng.normal(size=(n, d))
    y = X.sum(axis=1) + rng.standard_cauchy(n)
    w = rng.uniform(0.3, 2, n) if weighted else np.ones(n)
    model = LinearRegression(fit_intercept=False)
    region = ua.confidence_region(
        model, X, y, noise=noise, m=8, sample_weight=w if weighted else None, random_state=seed
    )
    return region, (X, y, w, 0.0, np.zeros((d, d)))


def ridge(d, noise, seed, *, weighted=False):
    rng = np.random.default_rng(seed)
    n, alpha = 3 * d + 4, 0.8
    X = rng.normal(size=(n, d - 1))
    y = 1 + X.sum(axis=1) + rng.laplace(size=n)
    w = rng.uniform(0.3, 2, n) if weighted else np.ones(n)
    region = ua.confidence_region(
        Ridge(alpha), X, y, noise=noise, m=8, sample_weight=w if weighted else None,
        random_state=seed,
    )  # fmt: skip
    return region, (ones(X), y, w, alpha / n, np.diag([0.0] + [1.0] * (d - 1)))


def kernel_ridge(n, noise, seed):
    rng = np.random.default_rng(seed)
    X, alpha = 2.0 * np.arange(n)[:, None], 2.0
    y = np.sin(X[:, 0]) + rng.normal(size=n)
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=alpha)
    region = ua.confidence_region(model, X, y, noise=noise, m=8, random_state=seed)
    K = rbf_kernel(X, gamma=0.5)
    return region, (K, y, np.ones(n), alpha / n, K)


PROBLEMS = [
    *((least_squares, d, "symmetric", {}) for d in (1, 3, 5, 8, 10, 12)),
    *((least_squares, d, noise, {}) for d in (2, 5) for noise in ("exchangeable", "spherical")),
    *((least_squares, d, "symmetric", {"weighted": True}) for d in (7,)),
    *((ridge, d, "symmetric", {}) for d in (2, 4, 6, 9, 11)),
    *((ridge, d, "symmetric-exchangeable", {}) for d in (3,)),
    (ridge, 4, "symmetric", {"weighted": True}),
    *((kernel_ridge, n, "spherical", {}) for n in (4, 8)),
    (kernel_ridge, 6, "symmetric-exchangeable", {}),
]


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("build", "d", "noise", "options"),
    [pytest.param(*p, marks=pytest.mark.slow) if p[1] % 2 else p for p in PROBLEMS],
    ids=[f"{b.__name__}-{d}-{noise}{'-weighted' * bool(o)}" for b, d, noise, o in PROBLEMS],
)
def test_radii_are_those_of_the_semidefinite_programme(build, d, noise, options):
    region, plain = build(d, noise, seed=d, **options)
    sets = list(paper_sets(*plain, transformations(region)))
    expected = np.sort([programme(*one) for one in sets])[::-1]
    radii = all_radii(region)
    np.testing.assert_array_equal(np.isinf(radii), np.isinf(expected))
    finite = np.isfinite(radii)
    # Clarabel calls the largest radii inaccurate; they differ by up to 3e-6.
    np.testing.assert_allclose(radii[finite], expected[finite], rtol=1e-5)


# --- the region lies inside -----------------------------------------------------------------------

REGIONS = {
    "signs": (LinearRegression(), "symmetric"),
    "permutations": (LinearRegression(fit_intercept=False), "exchangeable"),
    "both": (Ridge(1.0), "symmetric-exchangeable"),
    "rotations": (Ridge(1.0), "spherical"),
    "rotated kernel": (KernelRidge(kernel="rbf", gamma=1.0, alpha=1.0), "spherical"),
    "blocks": (Ridge(0.1), ua.noise.BlockSymmetric(np.arange(24) // 2)),
}


@pytest.fixture(scope="module", params=REGIONS)
def region(request):
    model, noise = REGIONS[request.param]
    X, y, _ = ua.datasets.linear(n=24, d=2, noise="cauchy", random_state=3)
    return ua.confidence_region(model, X, y, noise=noise, m=20, random_state=4)


# --- the ellipsoid itself -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def weighted():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 2)) * [1.0, 10.0]
    y = 1 + X @ [1.0, 0.3] + rng.laplace(size=30)
    w = rng.uniform(0.2, 2, 30)
    model = Ridge(alpha=2.0)
    region = ua.confidence_region(model, X, y, m=20, sample_weight=w, random_state=6)
    H = ones(X).T @ (w[:, None] * ones(X)) / 30 + 2.0 / 30 * np.diag([0.0, 1.0, 1.0])
    fit = model.fit(X, y, sample_weight=w)
    return region.ellipsoid(0.9), H, np.array([fit.intercept_, *fit.coef_])


def test_matrix_and_center_are_the_plain_formulas(weighted):
    ellipsoid, H, fit = weighted
    np.testing.assert_allclose(ellipsoid.matrix, H, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ellipsoid.center, fit, rtol=1e-9)
    assert 0 < ellipsoid.squared_radius < np.inf


def test_project_is_the_plain_formula(weighted):
    ellipsoid, H, fit = weighted
    rng = np.random.default_rng(1)
    for g in rng.normal(size=(5, 3)):
        half = np.sqrt(ellipsoid.squared_radius * (g @ np.linalg.solve(H, g)))
        np.testing.assert_allclose(ellipsoid.project(g), [g @ fit - half, g @ fit + half])
    assert ellipsoid.project(np.zeros(3)) == (0.0, 0.0)
    with pytest.raises(ValueError, match="one for each coefficient"):
        ellipsoid.project([1.0, 2.0])


def test_directions_that_no_fitted_value_sees_are_unbounded():
    rng = np.random.default_rng(7)
    X = rng.uniform(size=(40, 1))
    y = np.sin(6 * X[:, 0]) + rng.laplace(scale=0.2, size=40)
    model = make_pipeline(SplineTransformer(4), Ridge(0.1))
    region = ua.confidence_region(model, X, y, m=20, random_state=0)
    e = region.ellipsoid(0.9)
    hidden = np.array([1.0] + [-1.0] * (region.objective.d - 1))  # the basis sums to one
    assert np.abs(region.objective.design.matrix @ hidden).max() < 1e-12
    assert np.isfinite(e.squared_radius)
    assert e.contains(region.estimate + 1e3 * hidden)
    assert e.project(hidden) == (-np.inf, np.inf)
    low, high = e.project(region.objective.design.matrix[0])
    assert -np.inf < low < high < np.inf
    assert e.volume() == np.inf
    lengths = np.linalg.norm(e.axes(), axis=1)
    assert np.isinf(lengths[0])
    assert np.isfinite(lengths[1:]).all()


def test_empty_regions_have_an_empty_ellipsoid():
    X = np.random.default_rng(0).normal(size=(24, 2))
    region = ua.confidence_region(LinearRegression(), X, np.zeros(24), m=20, random_state=0)
    e = region.ellipsoid(0.05)
    assert not region.contains(region.estimate, 0.05)
    assert e.squared_radius == -np.inf
    assert not e.contains(region.estimate)
    assert "no member at all" in str(e)
    assert e.volume() == 0.0
    low, high = e.project([1.0, 2.0, 3.0])
    assert low > high  # the bounds of nothing
    assert not np.isnan(e.axes()).any()
