"""Outer ellipsoids: the radii of the semidefinite programme, and every member inside."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy.stats import binom
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


def test_hard_case_from_data():
    # Orthogonal columns, one of which no transformation but those of its own rows can tilt: the
    # linear term has no component along the smallest eigenvalue.
    n = 8
    Phi = np.zeros((n, 2))
    Phi[:4, 0], Phi[4:, 1] = 1.0, [1.0, 1.0, 1.0, -1.0]
    y = np.array([1.0, 1.0, 1.0, 1.0, 2.0, -1.0, 0.5, 3.0])  # fitted exactly by the first column
    region = ua.confidence_region(
        LinearRegression(fit_intercept=False), Phi, y, m=30, random_state=0
    )
    hard = 0
    plain = (Phi, y, np.ones(n), 0.0, np.zeros((2, 2)))
    expected = []
    for A, b, c in paper_sets(*plain, transformations(region)):
        values, vectors = np.linalg.eigh(A)
        hard += values[0] > 1e-9 and abs(vectors[:, 0] @ b) < 1e-12 and abs(b).max() > 0.01
        expected.append(programme(A, b, c) if values[0] > 1e-9 else np.inf if c < -1e-12 else None)
    assert hard > 0
    radii = all_radii(region)
    certain = np.array([e for e in expected if e is not None])
    unsure = len(expected) - len(certain)  # identical ties: everything or nothing
    won = int(np.isposinf(radii).sum() - np.isinf(certain).sum())
    assert 0 <= won <= unsure
    np.testing.assert_allclose(
        radii[np.isfinite(radii)], np.sort(certain[np.isfinite(certain)])[::-1], rtol=1e-6
    )


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


def test_the_boundary_lies_inside(region):
    u = np.random.default_rng(0).normal(size=(300, region.objective.d))
    for level, ellipsoid in region.ellipsoid([0.1, 0.5, 0.75, 0.9, 0.95]).items():
        t = region.reach(u, level)
        inside = np.isfinite(t)
        assert ellipsoid.contains(region.estimate + t[inside, None] * u[inside]).all()
        if np.isfinite(ellipsoid.squared_radius):
            assert inside.all()
        if np.isfinite(ellipsoid.squared_radius) and region.objective.d <= 3:
            # Not idly: the farthest of so many rays comes near.
            points = t[:, None] * u
            value = np.einsum("nj,jk,nk->n", points, ellipsoid.matrix, points)
            assert value.max() > 0.1 * ellipsoid.squared_radius


def test_ellipsoids_of_several_levels_are_nested(region):
    levels = [1 - q / 20 for q in range(1, 20)]
    found = region.ellipsoid(levels)
    assert list(found) == levels
    radii = np.array([e.squared_radius for e in found.values()])
    assert (radii[:-1] >= radii[1:]).all()
    for level in (0.5, 0.9):
        alone = region.ellipsoid(level)
        assert alone.squared_radius == found[level].squared_radius
        assert alone.level == level


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


def test_contains_is_the_quadratic_form(weighted):
    ellipsoid, H, fit = weighted
    u = np.random.default_rng(0).normal(size=(50, 3))
    t = np.sqrt(ellipsoid.squared_radius / np.einsum("nj,jk,nk->n", u, H, u))[:, None]
    assert ellipsoid.contains(fit + (1 - 1e-9) * t * u).all()
    assert not ellipsoid.contains(fit + (1 + 1e-9) * t * u).any()
    assert ellipsoid.contains(ellipsoid.center) is True


def test_axes_are_conjugate_half_axes_longest_first(weighted):
    ellipsoid, H, _ = weighted
    axes = ellipsoid.axes()
    np.testing.assert_allclose(axes @ H @ axes.T, ellipsoid.squared_radius * np.eye(3), atol=1e-9)
    lengths = np.linalg.norm(axes, axis=1)
    np.testing.assert_allclose(axes @ axes.T, np.diag(lengths**2), atol=1e-9)
    assert (np.diff(lengths) < 0).all()


def test_project_is_the_plain_formula(weighted):
    ellipsoid, H, fit = weighted
    rng = np.random.default_rng(1)
    for g in rng.normal(size=(5, 3)):
        half = np.sqrt(ellipsoid.squared_radius * (g @ np.linalg.solve(H, g)))
        np.testing.assert_allclose(ellipsoid.project(g), [g @ fit - half, g @ fit + half])
    assert ellipsoid.project(np.zeros(3)) == (0.0, 0.0)
    with pytest.raises(ValueError, match="one for each coefficient"):
        ellipsoid.project([1.0, 2.0])


def test_volume_by_formula_and_by_monte_carlo(weighted):
    ellipsoid, H, _ = weighted
    volume = ellipsoid.volume()
    assert volume == pytest.approx(
        4 / 3 * np.pi * ellipsoid.squared_radius**1.5 / np.sqrt(np.linalg.det(H)), rel=1e-10
    )
    box = np.array([ellipsoid.project(g) for g in np.eye(3)])
    points = np.random.default_rng(2).uniform(*box.T, size=(20_000, 3))
    share = volume / np.prod(box[:, 1] - box[:, 0])
    hits = int(ellipsoid.contains(points).sum())
    assert binom.ppf(5e-7, 20_000, share) <= hits <= binom.isf(5e-7, 20_000, share)


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


def test_an_exact_fit_is_a_point():
    X = np.random.default_rng(0).normal(size=(24, 2))
    region = ua.confidence_region(LinearRegression(), X, np.zeros(24), m=20, random_state=0)
    wins = int((region.tie_order[1:] > region.tie_order[0]).sum())
    assert 1 < wins < 19
    assert wins != 19 - wins
    np.testing.assert_array_equal(all_radii(region), [0.0] * wins + [-np.inf] * (19 - wins))
    e = region.ellipsoid(0.95)
    assert e.squared_radius == 0.0
    assert e.contains(region.estimate)
    assert not e.contains(region.estimate + 1e-9)
    assert e.volume() == 0.0
    assert e.project([1.0, 2.0, 3.0]) == (0.0, 0.0)


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


# --- the setting of the paper, and coverage -------------------------------------------------------


@pytest.mark.slow
def test_ellipsoid_covers_the_true_coefficients():
    runs, covered, far = 140, 0, 0
    rng = np.random.default_rng(0)
    truth = np.array([1.0, -2.0, 0.5])
    X = rng.normal(size=(24, 2))
    scale = np.exp(rng.normal(size=24))
    model = LinearRegression()
    for seed in range(runs):
        y = ones(X) @ truth + scale * rng.standard_cauchy(24)
        e = ua.confidence_region(model, X, y, m=20, random_state=seed).ellipsoid(0.9)
        assert np.isfinite(e.squared_radius)
        covered += e.contains(truth)
        far += e.contains(truth + 1e6)
    assert covered >= binom.ppf(5e-7, runs, 0.9)
    assert far < runs / 100
