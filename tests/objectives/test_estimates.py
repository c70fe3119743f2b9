"""The estimate is scikit-learn's, its gradient is zero, and it lies in every one of its regions."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import root
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVR

import unassuming as ua
from speed import slow_but

pytestmark = pytest.mark.slow_but_first


def problem(n=24, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 1 + 0.7 * rng.standard_t(3, size=n)


def weights(n, seed=5):
    return np.random.default_rng(seed).uniform(0.3, 3, size=n)


def region_of(model, X, y, **options):
    return ua.confidence_region(model, X, y, **{"m": 100, "random_state": 0, **options})


def own_coefficients(fitted, n):
    """Read [intercept, coefficients] from scikit-learn's attributes."""
    if isinstance(fitted, SVR):
        dual = np.zeros(n)
        dual[fitted.support_] = fitted.dual_coef_[0]
        return np.concatenate([fitted.intercept_, dual])
    if isinstance(fitted, (KernelRidge, ua.KernelLasso, ua.KernelHuber)):
        return fitted.dual_coef_
    intercept = np.ravel(fitted.intercept_) if fitted.fit_intercept else []
    return np.concatenate([intercept, np.ravel(fitted.coef_)])


def assert_close(ours, theirs, tolerance=1e-6):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(1, abs(theirs).max()))


# --- least squares, ridge, kernel ridge -----------------------------------------------------------

DESIGNS = {
    "full rank": lambda X: X,
    "repeated column": lambda X: np.column_stack([X, 2 * X[:, 0]]),
    "constant column": lambda X: np.column_stack([X, np.full(len(X), 3.0)]),
    "more columns than rows": lambda X: np.random.default_rng(1).normal(size=(len(X), 30)),
}
QUADRATIC = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(alpha=0.7),
    Ridge(alpha=25.0, fit_intercept=False),
    KernelRidge(alpha=0.4),
    KernelRidge(alpha=0.4, kernel="rbf", gamma=0.5),
    KernelRidge(alpha=2.0, kernel="poly", degree=2, gamma=0.3, coef0=1),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("model", QUADRATIC, ids=str)
def test_quadratic_estimates_are_those_of_scikit_learn(model, design, weighted):
    X, y = problem()
    X = DESIGNS[design](X)
    w = weights(len(y)) if weighted else None
    fitted = model.fit(X, y, sample_weight=w)
    estimate = region_of(model, X, y, sample_weight=w).estimate
    assert_close(estimate, own_coefficients(fitted, len(y)))


# --- support vector regression --------------------------------------------------------------------


def exponential_kernel(X, Z):
    return np.exp(-np.abs(X[:, None] - Z[None]).sum(axis=-1))


SVRS = {
    "some at zero": SVR(gamma=1.0, epsilon=0.4),
    "some at the box": SVR(gamma=1.0, C=0.3, epsilon=0.1),
    "all at the box": SVR(gamma=1.0, C=0.01, epsilon=0.0),
    "scaled gamma": SVR(C=0.5),
    "no tube": SVR(gamma=2.0, C=5.0, epsilon=0.0),
    "nothing but the tube": SVR(gamma=1.0, epsilon=50.0),
    "callable": SVR(kernel=exponential_kernel, C=2.0, epsilon=0.2),
}


@pytest.mark.parametrize("case", SVRS)
def test_svr_estimates_are_those_of_scikit_learn(case):
    X, y = problem(seed=1)
    model = SVRS[case].set_params(tol=1e-10).fit(X, y)
    theirs = own_coefficients(model, len(y))
    assert_close(region_of(model, X, y).estimate, theirs)
    if "zero" in case:
        assert 0 < (theirs[1:] == 0).sum() < len(y)
    if "box" in case:
        assert (abs(theirs[1:]) == model.C).any()


# --- LASSO and Huber ------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["full rank", "constant column", "more columns than rows"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.02, 0.5, 100.0])
def test_lasso_estimates_are_those_of_scikit_learn(alpha, fit_intercept, design):
    X, y = problem(seed=4)
    X = DESIGNS[design](X)
    model = Lasso(alpha, fit_intercept=fit_intercept, tol=1e-13, max_iter=1_000_000).fit(X, y)
    theirs, ours = own_coefficients(model, len(y)), region_of(model, X, y).estimate
    assert_close(ours, theirs)
    np.testing.assert_array_equal(ours[-X.shape[1] :] == 0, model.coef_ == 0)


def polished_huber(model, X, y):
    """Solve the two stationarity conditions from where scikit-learn stops: near 1e-4, at best."""
    Phi = np.column_stack([np.ones(len(X)), X]) if model.fit_intercept else X
    penalty = model.alpha * np.ones(Phi.shape[1])
    penalty[: int(model.fit_intercept)] = 0

    def conditions(unknown):
        a, z = unknown[:-1], (y - Phi @ unknown[:-1]) / unknown[-1]
        clipped = np.clip(z, -model.epsilon, model.epsilon)
        return np.append(Phi.T @ clipped - penalty * a, (clipped**2 - 1).sum())

    theirs = own_coefficients(model.fit(X, y), len(y))
    found = root(conditions, np.append(theirs, model.scale_), tol=1e-13)
    assert abs(found.fun).max() < 1e-9
    assert_close(found.x[:-1], theirs, 1e-2)
    return found.x[:-1]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("epsilon", "alpha"), [(1.35, 1e-4), (1.1, 0.5), (3.0, 0.0)])
def test_huber_estimates_are_those_of_scikit_learn(epsilon, alpha, fit_intercept):
    X, y = problem(n=40, d=2, seed=6)
    model = HuberRegressor(
        epsilon=epsilon, alpha=alpha, fit_intercept=fit_intercept, tol=1e-9, max_iter=10_000
    )
    assert_close(region_of(model, X, y).estimate, polished_huber(model, X, y))


def test_a_constant_weight_divides_the_penalty_of_huber():
    X, y = problem(n=40, d=2, seed=6)
    weighted = region_of(HuberRegressor(alpha=5.0), X, y, sample_weight=np.full(40, 2.5))
    plain = HuberRegressor(alpha=2.0, tol=1e-9, max_iter=10_000)
    assert_close(weighted.estimate, polished_huber(plain, X, y))
    with_weights = HuberRegressor(alpha=5.0, max_iter=10_000).fit(X, y, np.full(40, 2.5))
    assert_close(weighted.estimate, own_coefficients(with_weights, 40), 1e-3)


@pytest.mark.parametrize("outliers", [[], [2, 5, 8]])
def test_huber_is_refused_where_its_scale_shrinks_to_zero(outliers):
    """Too many points on one line: the infimum is at scale zero, and no minimum."""
    X = np.arange(10.0)[:, None]
    y = 0.1 + 0.3 * X[:, 0]
    y[outliers] += [1, -1, 1][: len(outliers)]
    region = region_of(HuberRegressor(), X, y)
    with pytest.raises(ValueError, match="residuals to estimate their scale"):
        region.estimate  # noqa: B018


# --- classifiers and the models of this library ---------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge_classifier_estimates_are_those_of_scikit_learn(fit_intercept, weighted):
    X, y = problem(seed=7)
    labels = np.where(y > 1, "yes", "no")
    w = weights(len(y)) if weighted else None
    model = RidgeClassifier(alpha=0.6, fit_intercept=fit_intercept).fit(X, labels, sample_weight=w)
    estimate = region_of(model, X, labels, sample_weight=w).estimate
    assert_close(estimate, own_coefficients(model, len(y)))


# --- the gradient at the estimate -----------------------------------------------------------------


def gradient(model, X, a, r, w):
    """Write the least-norm (sub)gradient down from the theory, up to a factor."""
    kernel = isinstance(model, (KernelRidge, SVR, ua.KernelLasso, ua.KernelHuber))
    if kernel:
        Phi = pairwise_kernels(X, metric=model.kernel, gamma=model.gamma, filter_params=True)
    elif model.fit_intercept:
        Phi = np.column_stack([np.ones(len(X)), X])
    else:
        Phi = X
    if isinstance(model, SVR):
        at_box, dual = abs(a[1:]) == model.C, a[1:]
        g = np.where(dual == 0, r - np.clip(r, -model.epsilon, model.epsilon), 0.0)
        g = np.where((dual != 0) & ~at_box, r - model.epsilon * np.sign(dual), g)
        return np.where(at_box, np.sign(dual) * np.minimum(np.sign(dual) * r - model.epsilon, 0), g)
    alpha = getattr(model, "alpha", 0.0)
    penalised = np.ones(len(a))
    penalised[: 0 if kernel else int(model.fit_intercept)] = 0
    if isinstance(model, (Lasso, ua.KernelLasso)):
        level = alpha * penalised * (len(X) if isinstance(model, Lasso) else 1)
        u = Phi.T @ r
        return np.where(a == 0, u - np.clip(u, -level, level), u - level * np.sign(a))
    if isinstance(model, ua.KernelHuber):
        r = np.clip(r, -model.delta, model.delta)
    if isinstance(model, HuberRegressor):
        lo, hi = 1e-12 * abs(r).max(), 2 * abs(r).max()
        for _ in range(200):  # bisection for the scale
            mid = (lo + hi) / 2
            small = np.minimum((r / mid) ** 2, model.epsilon**2).sum() < len(r)
            lo, hi = (lo, mid) if small else (mid, hi)
        r = np.clip(r / hi, -model.epsilon, model.epsilon)
    P = Phi if kernel else np.diag(penalised)
    return Phi.T @ (w * r) - alpha * P @ a


MODELS = {
    "least squares": LinearRegression(),
    "ridge": Ridge(alpha=0.5),
    "ridge without intercept": Ridge(alpha=3.0, fit_intercept=False),
    "kernel ridge": KernelRidge(alpha=0.5, kernel="rbf", gamma=0.5),
    "kernel Huber": ua.KernelHuber(alpha=0.5, delta=0.5, kernel="rbf", gamma=0.5),
    "Huber": HuberRegressor(alpha=0.1),
    "lasso": Lasso(alpha=0.2),
    "kernel lasso": ua.KernelLasso(alpha=0.4, kernel="rbf", gamma=1.0),
    "SVR": SVR(kernel="rbf", gamma=1.0, epsilon=0.3, C=1.5),
}
LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(size=n),
    "integers": lambda rng, n: rng.integers(-3, 4, size=n).astype(float),
}


@st.composite
def problems(draw):
    n = draw(st.integers(8, 16))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X, e = (
        rng.normal(size=(n, draw(st.integers(1, 2)))),
        LAWS[draw(st.sampled_from([*LAWS]))](rng, n),
    )
    if draw(st.booleans()):
        X = np.round(2 * X) / 2  # repeated values
    weighted = draw(st.booleans())
    return X, X.sum(axis=1) + e, rng.uniform(0.2, 4, size=n) if weighted else None


@pytest.mark.parametrize("name", slow_but(MODELS, "least squares", "ridge", "lasso"))
@settings(max_examples=7, deadline=None, derandomize=True)
@given(problem=problems())
def test_estimates_have_gradient_zero_and_rank_one_but_for_ties(name, problem):
    model, (X, y, w) = MODELS[name], problem
    if name not in {"least squares", "ridge", "ridge without intercept", "kernel ridge"}:
        w = None
    w_or_one = np.ones(len(y)) if w is None else w
    region = region_of(model, X, y, sample_weight=w, m=60)
    try:
        a = region.estimate
    except ValueError:  # Huber's scale is zero: see the test above
        assume(False)
    r = region.objective.residuals(a[None])[0]
    assume(abs(r).max() > 1e-6 * abs(y).max())  # otherwise every statistic is a rounding error

    statistics = region.statistics(a)
    assert statistics[0] <= 1e-20 * np.median(statistics[1:])

    # A transformation ties with the estimate iff the gradient vanishes there as well: the same
    # residuals again; both signs without penalty; for SVR flips of rows inside the tube only.
    perturbed = region.perturbations.apply(r)
    size = abs(gradient(model, X, 0 * a, abs(r), w_or_one)).max() + abs(r).max()
    slopes = np.array([abs(gradient(model, X, a, v, w_or_one)).max() for v in perturbed])
    tied = slopes <= 1e-10 * size
    ahead = region.tie_order[1:] < region.tie_order[0]
    assert region.rank(a) == 1 + (tied & ahead).sum()
    assert region_of(model, X, y, sample_weight=w, m=60, ties="conservative").rank(a) == 1
