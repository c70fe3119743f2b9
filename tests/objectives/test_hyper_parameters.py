"""Hyper-parameters of estimators in the symbols of the theory."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.svm import SVR
from test_registry import problem, region_of

import unassuming as ua


def whitened(H, g):
    """Return gᵀ H⁺ g."""
    return g @ np.linalg.pinv(H, hermitian=True) @ g


def sum_over_rows(region, a, Phi, statistic):
    r = region.objective.y - Phi @ a
    return [statistic(row) for row in np.vstack([r, region.perturbations.apply(r)])]


def rbf(X, gamma):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=-1))


@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_alpha_of_ridge_is_n_lambda(alpha, weighted):
    X, y = problem()
    w = np.linspace(1, 3, 12) if weighted else np.ones(12)
    model = Ridge(alpha) if alpha else LinearRegression()
    region = region_of(model, X, y, sample_weight=w if weighted else None)
    Phi, P = np.column_stack([np.ones(12), X]), np.diag([0.0, 1.0, 1.0])
    lam, a = alpha / 12, np.array([0.3, 1.0, -0.2])
    H = Phi.T @ (w[:, None] * Phi) / 12 + lam * P
    expected = sum_over_rows(
        region, a, Phi, lambda r: whitened(H, Phi.T @ (w * r) / 12 - lam * P @ a)
    )
    np.testing.assert_allclose(region.statistics(a), expected, rtol=1e-10)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_ridge_classifier_is_ridge_on_labels_of_plus_and_minus_one(fit_intercept):
    X, y = problem()
    labels = np.where(y > 0, "b", "a")
    model = RidgeClassifier(3.0, fit_intercept=fit_intercept)
    classifier = region_of(model, X, labels)
    with pytest.warns(UserWarning, match="y has only two values, -1 and 1"):
        ridge = region_of(Ridge(3.0, fit_intercept=fit_intercept), X, np.where(y > 0, 1.0, -1.0))
    np.testing.assert_allclose(classifier.estimate, ridge.estimate, rtol=1e-12)


def test_alpha_of_kernel_ridge_is_n_lambda():
    X, y = problem()
    region = region_of(KernelRidge(alpha=2.0, kernel="rbf", gamma=1.5), X, y)
    K, lam, a = rbf(X, 1.5), 2.0 / 12, np.linspace(-1, 1, 12)
    H = K @ K / 12 + lam * K
    expected = sum_over_rows(region, a, K, lambda r: whitened(H, K @ r / 12 - lam * K @ a))
    np.testing.assert_allclose(region.statistics(a), expected, rtol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_one_over_two_C_of_lssvc_is_n_lambda(kernel):
    X, y = problem()
    region = region_of(ua.LSSVC(0.2, kernel=kernel, gamma=1.5), X, np.sign(y))
    block = X if kernel == "linear" else rbf(X, 1.5)
    Phi = np.column_stack([np.ones(12), block])
    P = np.zeros((Phi.shape[1],) * 2)
    P[1:, 1:] = np.eye(2) if kernel == "linear" else block
    lam, a = 1 / (2 * 0.2) / 12, np.linspace(-0.1, 0.1, Phi.shape[1])
    H = Phi.T @ Phi / 12 + lam * P
    fitted = Phi @ a
    fresh = region.perturbations.apply(np.sign(y) - fitted, fitted)
    rows = np.vstack([np.sign(y) - fitted, fresh])
    expected = [whitened(H, Phi.T @ r / 12 - lam * P @ a) for r in rows]
    np.testing.assert_allclose(region.statistics(a), expected, rtol=1e-7)


@pytest.mark.parametrize("weight", [None, 4.0])
def test_C_of_svr_is_the_box_and_epsilon_the_tube(weight):
    X, y = problem()
    w = None if weight is None else np.full(12, weight)
    region = region_of(
        SVR(C=0.5, epsilon=0.1, gamma=1.5), X, y, weighting="identity", sample_weight=w
    )
    C = 0.5 * (weight or 1)
    a = np.array([0.2, C, -C, 0, 0, 2 * C, -2 * C, 0.3, -0.3, 0.1, 0.1, -0.1, 0.4])
    K = rbf(X, 1.5)

    def squares(r):
        total = 0.0
        for r_j, a_j in zip(r, a[1:], strict=True):
            if a_j == 0:
                g = max(abs(r_j) - 0.1, 0.0)
            elif a_j == C:
                g = min(r_j - 0.1, 0.0)
            elif a_j == -C:
                g = max(r_j + 0.1, 0.0)
            else:
                g = r_j - 0.1 * np.sign(a_j)
            total += g**2
        return total

    expected = sum_over_rows(region, a, np.column_stack([np.ones(12), K]), squares)
    np.testing.assert_allclose(region.statistics(a), expected, rtol=1e-12)


def soft(u, level):
    return np.sign(u) * np.maximum(abs(u) - level, 0)


def test_alpha_of_lasso_goes_with_squares_divided_by_two_n():
    X, y = problem(d=3)
    region = region_of(Lasso(0.3), X, y, weighting="identity")
    Phi, a = np.column_stack([np.ones(12), X]), np.array([0.2, 1.0, 0.0, -0.5])

    def squares(r):
        u = Phi.T @ r / 12
        return u[0] ** 2 + (u[1] - 0.3) ** 2 + soft(u[2], 0.3) ** 2 + (u[3] + 0.3) ** 2

    np.testing.assert_allclose(
        region.statistics(a), sum_over_rows(region, a, Phi, squares), rtol=1e-10
    )


def test_alpha_of_kernel_lasso_goes_with_half_the_squares():
    X, y = problem()
    region = region_of(ua.KernelLasso(0.6, kernel="rbf", gamma=1.5), X, y)
    K, a = rbf(X, 1.5), np.r_[np.zeros(6), -1, -2, 1, 2, 3, 0.5]

    def squares(r):
        u = K @ r
        return np.sum(np.where(a == 0, soft(u, 0.6), u - 0.6 * np.sign(a)) ** 2)

    np.testing.assert_allclose(
        region.statistics(a), sum_over_rows(region, a, K, squares), rtol=1e-10
    )


def test_alpha_of_huber_is_n_lambda_and_the_scale_belongs_to_each_residual_vector():
    X, y = problem()
    region = region_of(HuberRegressor(epsilon=1.5, alpha=2.0), X, y, noise="spherical")
    Phi, P = np.column_stack([np.ones(12), X]), np.diag([0.0, 1.0, 1.0])
    lam, a = 2.0 / 12, np.array([0.3, 1.0, -0.2])
    H = Phi.T @ Phi / 12 + lam * P

    def squares(r):
        lo, hi = 1e-9, 2 * abs(r).max()
        for _ in range(100):
            mid = (lo + hi) / 2
            lo, hi = (lo, mid) if np.minimum((r / mid) ** 2, 1.5**2).sum() < 12 else (mid, hi)
        return whitened(H, Phi.T @ np.clip(r / hi, -1.5, 1.5) / 12 - lam * P @ a)

    np.testing.assert_allclose(
        region.statistics(a), sum_over_rows(region, a, Phi, squares), rtol=1e-8
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_alpha_of_kernel_huber_is_n_lambda_and_delta_the_threshold(weighted):
    X, y = problem()
    w = np.linspace(1, 3, 12) if weighted else np.ones(12)
    model = ua.KernelHuber(2.0, delta=0.4, kernel="rbf", gamma=1.5)
    region = region_of(model, X, y, sample_weight=w)
    K, lam, a = rbf(X, 1.5), 2.0 / 12, np.linspace(-1, 1, 12)
    H = K @ (w[:, None] * K) / 12 + lam * K
    expected = sum_over_rows(
        region, a, K, lambda r: whitened(H, K @ (w * np.clip(r, -0.4, 0.4)) / 12 - lam * K @ a)
    )
    np.testing.assert_allclose(region.statistics(a), expected, rtol=1e-8)


@pytest.mark.parametrize(
    "model",
    [Ridge(-1.0), Ridge(np.inf), Ridge([1.0, 2.0]), Ridge(None), Ridge("auto")],
    ids=repr,
)
def test_a_hyper_parameter_out_of_range_is_named(model):
    with pytest.raises(ValueError, match=r"Ridge's alpha .*expected one finite number >= 0, given"):
        region_of(model, *problem())


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (SVR(C=0), "SVR's C"),
        (SVR(epsilon=-0.1), "SVR's epsilon"),
        (ua.KernelHuber(alpha=0), "KernelHuber's alpha"),
        (ua.KernelHuber(delta=-1), "KernelHuber's delta"),
        (ua.LSSVC(C=0), "LSSVC's C"),
        (HuberRegressor(epsilon=np.nan), "HuberRegressor's epsilon"),
        (HuberRegressor(epsilon=1.0), "HuberRegressor's epsilon"),
    ],
    ids=repr,
)
def test_hyper_parameters_that_leave_no_objective_are_refused(model, name):
    X, y = problem()
    with pytest.raises(ValueError, match=f"{name} is out of range: expected"):
        region_of(model, X, np.sign(y))
