"""Penalties that are lost in the rounding of a kernel matrix: exact ranks, or a refusal."""

import mpmath
import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

import unassuming as ua
from fixed_point import BITS, fixed
from rationals import images, statistics
from unassuming.objectives import unresolved_share

N, M = 14, 20
pytestmark = pytest.mark.filterwarnings("ignore:The published region of LS-SVC:UserWarning")


def data(n=N):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("C", [1e18, 1.0, 1e14, 1e40])
@pytest.mark.parametrize("noise", [ua.noise.Symmetric(), ua.noise.Exchangeable()], ids=str)
def test_ranks_of_few_rows_are_exact_whatever_the_penalty(noise, C):
    X, labels = data()
    model = ua.LSSVC(kernel="rbf", C=C)
    region = ua.confidence_region(model, X, labels, noise=noise, m=M, random_state=0)
    a = np.zeros(N + 1)
    a[[0, 3]] = 0.1, 0.5
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    Phi, P = np.column_stack([np.ones(N), K]), np.zeros((N + 1, N + 1))
    P[1:, 1:] = K
    Z = statistics(Phi, P, 2.0 * labels - 1, 1 / (2 * C), a, images(region))
    assert region.rank(a) == 1 + sum(z < Z[0] for z in Z[1:])


def test_a_penalty_that_rounding_hides_is_refused_for_labels():
    X, labels = data()
    with pytest.raises(ValueError, match=r"lost in the rounding .* given 5e-19\. Use a smaller C"):
        ua.confidence_region(ua.LSSVC(kernel="rbf", C=1e18), X, labels, m=M)
    assert ua.confidence_region(ua.LSSVC(kernel="rbf", C=1e12), X, labels, m=M).m == M
    # The coefficients of features do not depend on a kernel matrix.
    assert ua.confidence_region(ua.LSSVC(C=1e18), X, labels, m=M).m == M


def test_a_penalty_that_rounding_hides_is_refused_for_many_rows():
    X, labels = data(80)
    with pytest.raises(ValueError, match="lost in the rounding of the kernel matrix"):
        ua.confidence_region(ua.LSSVC(kernel="rbf", C=1e18), X, labels, noise="symmetric", m=M)


def exact_statistics(K, alpha, a, rows):
    """n Z_i = hᵀh - alpha hᵀ(K + alpha)⁻¹h with h = G_i r - alpha a, in 77 digits."""
    alpha, n = int(fixed(alpha)), len(K)
    h = fixed(rows).T - (alpha * fixed(a) >> BITS)[:, None]
    A = np.hstack([K + alpha * np.eye(n, dtype=int).astype(object), h])
    for k in range(n):  # no pivots are needed: K + alpha is positive definite
        A[k + 1 :] -= (A[k + 1 :, [k]] << BITS) // A[k, k] * A[k] >> BITS
    u = A[:, n:]
    for k in reversed(range(n)):
        u[k] = (u[k] << BITS) // A[k, k]
        u[:k] -= A[:k, [k]] * u[k] >> BITS
    return (h * (h - (alpha * u >> BITS))).sum(axis=0) / 2.0 ** (2 * BITS)


def exact_kernel(x, gamma):
    """The Gaussian kernel of the inputs as they are, in 77 digits."""
    with mpmath.workprec(BITS + 64):
        points, scale = [mpmath.mpf(float(t)) for t in x], mpmath.mpf(2) ** BITS
        rows = [[int(mpmath.exp(-gamma * (s - t) ** 2) * scale) for t in points] for s in points]
    return np.array(rows, dtype=object)


@pytest.mark.parametrize("gamma", [0.05, 1.0])
def test_ranks_of_labels_near_the_least_penalty_are_exact(gamma):
    rng, n = np.random.default_rng(1), 25
    X = rng.uniform(-2, 2, size=(n, 1))
    y = np.where(rng.random(n) < 0.5 + 0.3 * np.sin(2 * X[:, 0]), 1, -1)
    K, exact = rbf_kernel(X, gamma=gamma), exact_kernel(X[:, 0], gamma)
    candidates = np.zeros((12, n))
    candidates[:, :3] = rng.uniform(-0.3, 0.3, size=(12, 3))
    answers = {}
    for ratio in (4.0, 1e5, 1e9):
        alpha = ratio * np.finfo(float).eps * np.linalg.eigvalsh(K)[-1]
        model = ua.LSSVC(C=1 / (2 * alpha), kernel="rbf", gamma=gamma, fit_intercept=False)
        region = ua.confidence_region(model, X, y, m=10, random_state=0)
        share = unresolved_share(
            region.objective.design, np.ones(n), alpha / n, region.objective.whitening
        )
        answers[ratio] = 0
        for a in candidates:
            r = y - K @ a
            rows = np.vstack([r, region.perturbations.apply(r, K @ a)])
            Z = exact_statistics(exact, alpha, a, rows)
            error = np.abs(Z / n - region.statistics(a))
            assert (error <= share * (rows**2).sum(axis=1) / n + 1e-13).all()
            answers[ratio] += region.rank(a) == 1 + sum(z < Z[0] for z in Z[1:])
    assert answers == dict.fromkeys(answers, len(candidates))


def test_ranks_of_many_labels_near_the_least_penalty_are_refused():
    rng, n = np.random.default_rng(1), 70
    X, y = rng.uniform(-2, 2, size=(n, 1)), np.where(rng.random(n) < 0.5, 1, -1)
    largest = np.linalg.eigvalsh(rbf_kernel(X, gamma=0.05))[-1]
    model = ua.LSSVC(C=1 / (8 * np.finfo(float).eps * largest), gamma=0.05, kernel="rbf")
    region = ua.confidence_region(model, X, y, m=10, random_state=0)
    with pytest.raises(ArithmeticError, match="which rounding of the kernel matrix does not hide"):
        region.rank(np.zeros(n + 1))


def test_a_region_with_candidates_that_cannot_be_ranked_is_saved(tmp_path):
    X, y, _ = ua.datasets.sine(n=100, random_state=0)
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=1e-12)
    region = ua.confidence_region(model, X, y, m=10, random_state=0)
    with pytest.raises(ArithmeticError, match="cannot be decided"):
        region.rank(region.estimate)
    ua.save(region, tmp_path / "region")
    found, zero = ua.load(tmp_path / "region"), np.zeros(100)
    np.testing.assert_array_equal(found.statistics(zero), region.statistics(zero))
