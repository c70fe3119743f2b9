import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import get_tags

from unassuming.models import LSSVC

RNG = np.random.default_rng(32)
X = RNG.normal(size=(40, 2))
Y = np.where(X[:, 0] - X[:, 1] ** 2 + 0.5 + 0.3 * RNG.normal(size=40) > 0.0, 1, -1)


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 2**32 - 1),
    C=st.sampled_from([1e-3, 0.1, 10.0, 1e5]),
    gamma=st.sampled_from([0.01, 1.0]),
    weighted=st.booleans(),
    fit_intercept=st.booleans(),
)
def test_the_optimality_conditions_hold(seed, C, gamma, weighted, fit_intercept):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(20, 2)), np.where(np.arange(20) < 6, 1.0, -1.0)
    w = rng.uniform(0.1, 2.0, size=20) if weighted else np.ones(20)
    model = LSSVC(C, kernel="rbf", gamma=gamma, fit_intercept=fit_intercept)
    model.fit(x, y, sample_weight=w)
    K, a, b = rbf_kernel(x, gamma=gamma), model.dual_coef_, model.intercept_
    size = 1.0 + np.max(K @ np.abs(a))
    residuals = y - b - K @ a
    np.testing.assert_allclose(a / (2.0 * C), w * residuals, rtol=0.0, atol=1e-13 * size)
    if fit_intercept:
        assert abs(a.sum()) <= 1e-13 * np.abs(a).sum() * 20
    else:
        assert b == 0.0


def test_cvxpy_solves_the_same_problem_with_slacks():
    C = 0.7
    model = LSSVC(C).fit(X, Y)
    w, b = cp.Variable(2), cp.Variable()
    slacks = 1.0 - cp.multiply(Y, X @ w + b)
    cp.Problem(cp.Minimize(cp.sum_squares(w) / 2.0 + C * cp.sum_squares(slacks))).solve(
        solver=cp.CLARABEL
    )
    np.testing.assert_allclose(X.T @ model.dual_coef_, w.value, atol=1e-6)
    assert model.intercept_ == pytest.approx(float(b.value), abs=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_linear_kernel_is_ridge_on_the_labels(fit_intercept):
    model = LSSVC(0.1, fit_intercept=fit_intercept).fit(X, Y)
    ridge = Ridge(5.0, fit_intercept=fit_intercept, solver="cholesky").fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), ridge.predict(X), atol=1e-12)


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (-1, 1), (3, 7), (False, True)])
def test_any_two_labels(labels):
    y = np.asarray(labels)[(Y > 0).astype(int)]
    model = LSSVC(1.0, kernel="rbf", gamma=1.0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, labels)
    reference = LSSVC(1.0, kernel="rbf", gamma=1.0).fit(X, Y)
    np.testing.assert_array_equal(model.dual_coef_, reference.dual_coef_)
    expected = np.asarray(labels)[(model.decision_function(X) > 0.0).astype(int)]
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.score(X, y) > 0.9


def test_two_classes_only():
    assert not get_tags(LSSVC()).classifier_tags.multi_class
    with pytest.raises(
        ValueError, match=r"Only binary classification is supported\. .* multiclass"
    ):
        LSSVC().fit(X, np.arange(40) % 3)
    with pytest.raises(ValueError, match=r"y has one class only.*given the class 1"):
        LSSVC().fit(X, np.ones(40, dtype=int))
    with pytest.raises(ValueError, match=r"y has one class only among the rows of positive weight"):
        LSSVC().fit(X, Y, sample_weight=(Y > 0).astype(float))
