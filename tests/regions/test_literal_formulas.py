"""The library's statistics and ranks against the formulas as they stand in print.

Only ``region.perturbations.apply`` and ``region.tie_order`` are taken from the library.
"""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.svm import SVR

import oracles
import unassuming as ua

pytestmark = pytest.mark.slow_but_first
N, M = 12, 40
NOISES = ["symmetric", "exchangeable", "symmetric-exchangeable", "spherical"]
RNG = np.random.default_rng(20)
X = RNG.normal(size=(N, 2))
PHI = np.column_stack([np.ones(N), X])
T = np.linspace(-2, 2, N)[:, None]
K = np.exp(-4 * (T - T.T) ** 2) + 0.1 * np.eye(N)  # well conditioned
Y = np.sin(T[:, 0]) + RNG.laplace(size=N)
LABELS = np.where(X[:, 0] + RNG.normal(size=N) > 0, 1.0, -1.0)
W = RNG.uniform(0.5, 2.0, size=N)


def assert_agree(region, candidates, formula, factor=1.0):
    """Compare statistics at 1e-10 and ranks exactly, one candidate at a time and all at once."""
    ranks = []
    for a in candidates:
        Z = formula(a, region.perturbations.apply)
        assert len(Z) == region.m
        np.testing.assert_allclose(factor * region.statistics(a), Z, rtol=1e-10, atol=1e-12)
        ranks.append(oracles.rank(Z, region.tie_order))
        assert region.rank(a) == ranks[-1]
    assert region.rank(np.array(candidates)).tolist() == ranks
    assert len(set(ranks)) > 5  # the candidates are neither all inside nor all outside


def around(region, scale, size=48):
    """Candidates at all distances of the estimate, enough of them for the fast path."""
    rng = np.random.default_rng(4)
    steps = scale * rng.normal(size=(size, region.objective.d))
    return region.estimate + steps * np.linspace(0.01, 1, size)[:, None]


def build(estimator, X, y, noise, **options):
    return ua.confidence_region(estimator, X, y, noise=noise, m=M, random_state=6, **options)


# --- quadratic objectives: the canonical form ‖z - Φa‖² --------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_least_squares_is_sps(noise):
    region = build(LinearRegression(), X, Y, noise)
    Phi, z = PHI / np.sqrt(N), Y / np.sqrt(N)
    assert_agree(region, around(region, 0.8), lambda a, g: oracles.sps(Phi, z, N, a, g))


@pytest.mark.parametrize("noise", NOISES)
def test_ridge_with_intercept_is_sps_on_the_stacked_design(noise):
    region = build(Ridge(alpha=0.6), X, Y, noise)
    Phi, z = oracles.stacked_ridge(PHI, Y, 0.6 / N, intercept=True)
    assert_agree(region, around(region, 0.8), lambda a, g: oracles.sps(Phi, z, N, a, g))


@pytest.mark.parametrize("noise", NOISES)
def test_kernel_ridge_is_sps_on_the_stacked_design(noise):
    region = build(KernelRidge(alpha=1.2, kernel="precomputed"), K, Y, noise)
    Phi, z = oracles.stacked_kernel_ridge(K, Y, 1.2 / N)
    assert_agree(region, around(region, 1.0), lambda a, g: oracles.sps(Phi, z, N, a, g))


def test_weighted_kernel_ridge_is_sps_on_the_stacked_design_for_signs():
    estimator = KernelRidge(alpha=1.2, kernel="precomputed")
    region = build(estimator, K, Y, "symmetric", sample_weight=W)
    Phi, z = oracles.stacked_kernel_ridge(K, Y, 1.2 / N, W)
    assert_agree(region, around(region, 1.0), lambda a, g: oracles.sps(Phi, z, N, a, g))


@pytest.mark.parametrize("noise", NOISES)
def test_with_weights_the_noise_is_transformed_before_it_is_weighted(noise):
    # In the stacked form the weighted residuals are permuted, which does not keep their law.
    estimator = KernelRidge(alpha=1.2, kernel="precomputed")
    region = build(estimator, K, Y, noise, sample_weight=W)
    assert_agree(
        region,
        around(region, 1.0),
        lambda a, g: oracles.weighted_quadratic(K, Y, W, 1.2 / N, K, a, g),
    )


def test_ls_svc_with_its_slacks_is_the_library_up_to_the_factor_n_C():
    # The canonical form of ½‖Ba‖² + C Σ ξ² is n C times that of ridge regression on the labels:
    # ΦᵀΦ = n C H and ΦᵀG(z - Φa) = n C s, hence Z is n C times as large and ranks are the same.
    C = 0.3
    with pytest.warns(UserWarning, match="no coverage guarantee"):
        region = build(ua.LSSVC(C=C), X, LABELS, "symmetric")
    Phi, z = oracles.stacked_ls_svc(PHI, LABELS, C)
    assert_agree(
        region,
        around(region, 0.8),
        lambda a, g: oracles.sps(Phi, z, N, a, g),
        factor=N * C,
    )


@pytest.mark.parametrize(
    ("estimator", "alpha"), [(RidgeClassifier(alpha=0.8), 0.8), (ua.LSSVC(C=0.5), 1.0)], ids=str
)
def test_labels_are_redrawn_from_the_candidate(estimator, alpha):
    region = build(estimator, X, LABELS, "labels")
    rng, P = np.random.default_rng(3), np.diag([0.0, 1.0, 1.0])
    inside = 0.7 * rng.normal(size=(400, 3)) / np.abs(PHI).sum(axis=1).max()
    candidates = inside + np.array([0.0, 0.2, 0.0])
    candidates = candidates[(np.abs(candidates @ PHI.T) <= 1).all(axis=1)][:48]
    assert len(candidates) == 48

    def formula(a, images):
        fresh = lambda r: images(r, PHI @ a)  # noqa: E731
        return oracles.weighted_quadratic(PHI, LABELS, np.ones(N), alpha / N, P, a, fresh)

    assert_agree(region, candidates, formula)


# --- support vector regression and the 1-norm ------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_svr_as_published(noise):
    region = build(SVR(kernel="precomputed", C=50, epsilon=0.2), K, Y, noise, weighting="identity")
    duals = around(region, 1.0)
    duals[:, 0] = 0.0  # the published formula has no bias
    assert (duals[:, 1:] != 0).all()
    assert_agree(region, duals, lambda a, g: oracles.epsilon_svr(K, Y, 0.2, a[1:], g))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("weighting", ["gram", "identity"])
def test_svr_with_bias_zeros_and_the_box(noise, weighting):
    C = 1.5
    region = build(SVR(kernel="precomputed", C=C, epsilon=0.2), K, Y, noise, weighting=weighting)
    candidates = around(region, 1.0)
    where = np.random.default_rng(9).integers(0, 5, size=candidates[:, 1:].shape)
    for code, value in ((0, 0.0), (1, C), (2, -C)):
        candidates[:, 1:][where == code] = value
    psi = np.eye(N) if weighting == "identity" else oracles.root(K)
    assert_agree(
        region,
        candidates,
        lambda a, g: oracles.svr_with_box(K, Y, C, 0.2, a[0], a[1:], g, psi),
    )


@pytest.mark.parametrize("noise", NOISES)
def test_kernel_lasso_as_published(noise):
    region = build(ua.KernelLasso(0.7, kernel="precomputed"), K, Y, noise)
    candidates = around(region, 0.5)
    assert (candidates != 0).all()
    assert_agree(region, candidates, lambda a, g: oracles.kernel_lasso(K, Y, 0.7, a, g))


@pytest.mark.parametrize("noise", NOISES)
def test_kernel_lasso_with_zeros_takes_the_least_subgradient(noise):
    region = build(ua.KernelLasso(0.7, kernel="precomputed"), K, Y, noise)
    candidates = around(region, 0.5)
    candidates[np.random.default_rng(8).random(candidates.shape) < 0.4] = 0.0
    assert_agree(region, candidates, lambda a, g: oracles.lasso(K, Y, 1.0, np.full(N, 0.7), a, g))


@pytest.mark.parametrize("noise", NOISES)
def test_lasso_with_zeros_takes_the_least_subgradient(noise):
    region = build(Lasso(alpha=0.3), X, Y, noise, weighting="identity")
    candidates = around(region, 0.8)
    candidates[np.random.default_rng(8).random(candidates.shape) < 0.4] = 0.0
    penalty = np.array([0.0, 0.3, 0.3])
    assert_agree(region, candidates, lambda a, g: oracles.lasso(PHI, Y, 1 / N, penalty, a, g))


# --- Huber -----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_kernel_huber_clips_the_transformed_residuals(noise):
    delta = 0.5
    region = build(ua.KernelHuber(1.2, delta=delta, kernel="precomputed"), K, Y, noise)

    def formula(a, images):
        clip = lambda r: [min(max(v, -delta), delta) for v in r]  # noqa: E731
        return oracles.huber(K, Y, 1.2 / N, K, clip, a, images)

    assert_agree(region, around(region, 1.0), formula)


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
def test_huber_regressor_scales_the_transformed_residuals_by_their_own_scale(noise):
    epsilon, P = 1.35, np.diag([0.0, 1.0, 1.0])
    region = build(HuberRegressor(epsilon=epsilon, alpha=0.6), X, Y, noise)

    def influence(r):
        sigma = oracles.huber_scale(r, epsilon)
        return [min(max(v / sigma, -epsilon), epsilon) for v in r]

    assert_agree(
        region,
        around(region, 0.8, size=8),
        lambda a, g: oracles.huber(PHI, Y, 0.6 / N, P, influence, a, g),
    )


# --- the kernel of the library is the kernel of the formula -----------------------------------


@pytest.mark.parametrize(
    ("kernel", "options"), [("rbf", {"gamma": 2.0}), (RBF(length_scale=0.5), {})], ids=str
)
def test_a_gaussian_kernel_by_name_or_as_an_object(kernel, options):
    # exp(-‖z - s‖² / (2σ²)) with σ = ½ is gamma = 2.
    gaussian = np.array([[np.exp(-((s - t) ** 2) / 0.5) for s in T[:, 0]] for t in T[:, 0]])
    estimator = KernelRidge(kernel=kernel, alpha=0.2 * N, **options)
    region = build(estimator, T, Y, "symmetric")
    Phi, z = oracles.stacked_kernel_ridge(gaussian, Y, 0.2)
    assert_agree(region, around(region, 1.0), lambda a, g: oracles.sps(Phi, z, N, a, g))
