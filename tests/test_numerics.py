"""The one page on rounding: the factor, the comparison, the door."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from unassuming._numerics import EPS, blur, factor, gaps, kernel_factor, snapped
from unassuming.inputs.door import far_columns
from unassuming.ranking import precedes


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def with_ones(X):
    return np.column_stack([np.ones(len(X)), X])


def tables(rng, n=30):
    """Tables in which columns depend on each other, with the number of independent ones."""
    x, z = np.round(rng.normal(15, 5, n), 1), np.round(rng.normal(size=n), 1)
    shares = np.round(rng.dirichlet([1, 1, 1], n), 2)
    shares[:, 2] = np.round(1 - shares[:, 0] - shares[:, 1], 2)
    groups = np.eye(3)[np.r_[0, 1, 2, rng.integers(0, 3, n - 3)]]
    return {
        "Celsius and Fahrenheit": (np.column_stack([x, 1.8 * x + 32, z]), [0, 1]),
        "kg and lb": (np.column_stack([x, x * 2.20462, z]), [0, 1]),
        "shares": (np.column_stack([shares, z]), [0, 1, 2]),
        "parts and total": (np.column_stack([x, z, x + z]), [0, 1, 2]),
        "x and standardised x": (np.column_stack([x, (x - x.mean()) / x.std(), z]), [0, 1]),
        "dummies": (np.column_stack([groups, z]), [0, 1, 2]),
        "duplicated": (np.column_stack([x, z, x]), [0, 2]),
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", list(tables(np.random.default_rng(0))))
def test_dependent_columns_are_dependent_in_every_unit(kind, seed):
    rng = np.random.default_rng(seed)
    X, shared = tables(rng)[kind]
    Phi, y = with_ones(X), rng.laplace(size=len(X))
    first = None
    for units in (np.ones(X.shape[1]), 10.0 ** rng.integers(-9, 9, X.shape[1])):
        found = factor(with_ones(X * units), np.ones(len(X)), intercept=True)
        assert found.Q.shape[1] == X.shape[1]  # the intercept and all columns but one
        slopes = np.flatnonzero(found.unseen(np.eye(Phi.shape[1]))[1:])
        assert slopes.tolist() == shared
        assert not found.unseen(with_ones(X * units)).any()  # fitted values are determined
        assert not len(found.in_doubt)
        fitted = found.Q @ (found.Q.T @ y)
        first = fitted if first is None else first
        np.testing.assert_allclose(fitted, first, atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_the_factor_whitens(intercept, alpha, rng):
    X, w = rng.normal(size=(25, 4)), rng.uniform(0.5, 2, 25)
    X[:, 3] = X[:, 0] - X[:, 1] if alpha == 0 else X[:, 3]
    Phi = with_ones(X) if intercept else X
    R = np.sqrt(alpha) * np.eye(Phi.shape[1])[int(intercept) :] if alpha else None
    found = factor(Phi, w, R, intercept=intercept)
    P = np.zeros((len(Phi.T),) * 2) if R is None else R.T @ R
    H = Phi.T @ (w[:, None] * Phi) + P
    back = found.back
    np.testing.assert_allclose(back.T @ H @ back, np.eye(len(back.T)), atol=1e-12)
    np.testing.assert_allclose(found.Q, np.sqrt(w)[:, None] * (Phi @ back), atol=1e-12)
    np.testing.assert_allclose(found.push, back.T @ P, atol=1e-12)
    np.testing.assert_allclose(Phi @ found.null, 0, atol=1e-12)
    assert found.null.shape[1] + len(back.T) == len(back)


def test_coefficients_of_dependent_columns_are_those_of_scikit_learn(rng):
    X, y = tables(rng)["Celsius and Fahrenheit"][0], rng.normal(size=30)
    found, model = factor(with_ones(X), np.ones(30), intercept=True), LinearRegression().fit(X, y)
    expected = np.r_[model.intercept_, model.coef_]
    np.testing.assert_allclose(found.back @ (found.Q.T @ y), expected, rtol=1e-9)


def test_a_tall_table_has_the_factor_of_a_short_one(rng):
    X = rng.normal(size=(2000, 5)) * [1, 10, 100, 1e3, 1] + 50
    X[:, 4] += X[:, 0]
    tall = factor(with_ones(X), np.ones(2000), intercept=True)
    U = np.linalg.svd(with_ones(X), full_matrices=False)[0]
    np.testing.assert_allclose(tall.Q.T @ tall.Q, np.eye(6), atol=50 * EPS)
    y = rng.normal(size=2000)
    np.testing.assert_allclose(tall.Q @ (tall.Q.T @ y), U @ (U.T @ y), atol=1e-12)


def test_a_kernel_is_factored_as_its_features_are(rng):
    A, w, alpha = rng.normal(size=(12, 3)), rng.uniform(0.5, 2, 12), 0.4
    K = A @ A.T
    found, expected = kernel_factor(K, w, alpha), factor(A, w, np.sqrt(alpha) * np.eye(3))
    for y in (rng.normal(size=12), rng.normal(size=12)):
        np.testing.assert_allclose(found.Q @ (found.Q.T @ y), expected.Q @ (expected.Q.T @ y))
    H = K @ (w[:, None] * K) + alpha * K
    np.testing.assert_allclose(found.back.T @ H @ found.back, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(found.push, found.back.T @ (alpha * K), atol=1e-10)


def exact_gaps(X, y, a, signs):
    """Z_i - Z_0 of least squares in rationals: (G r)ᵀS(G r) - rᵀSr, S the projection."""
    X = [[Fraction(int(x)) for x in row] for row in X]
    columns = [list(column) for column in zip(*X, strict=True)]
    basis: list[list[Fraction]] = []
    for column in columns:  # Gram and Schmidt
        for b in basis:
            share = sum(p * q for p, q in zip(b, column, strict=True)) / sum(q * q for q in b)
            column = [p - share * q for p, q in zip(column, b, strict=True)]
        if any(column):
            basis.append(column)
    r = [
        Fraction(int(out)) - sum(p * Fraction(float(q)) for p, q in zip(row, a, strict=True))
        for row, out in zip(X, y, strict=True)
    ]

    def statistic(e):
        shares = [(sum(p * q for p, q in zip(b, e, strict=True)), b) for b in basis]
        return sum(share * share / sum(q * q for q in b) for share, b in shares)

    first = statistic(r)
    return [statistic([int(s) * q for s, q in zip(row, r, strict=True)]) - first for row in signs]


@pytest.mark.parametrize("seed", range(6))
def test_integers_tie_exactly_where_rationals_do(seed):
    """All signs of 7 rows of integers, candidates in quarters: many gaps are ties."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (7, 2)), rng.integers(-1, 2, 7)
    X[:, 1] = [1, 1, 1, 1, 0, 0, 0]
    Phi = with_ones(X).astype(float)
    signs = np.array(list(product([1.0, -1.0], repeat=7)))[1:]
    found = factor(Phi, np.ones(7), intercept=True)
    candidates = np.vstack([rng.integers(-2, 3, (6, 3)) / 4, np.zeros(3)])
    e = blur(y, np.abs(candidates) @ np.abs(Phi).T)
    r = snapped(y - candidates @ Phi.T, e)
    d = snapped((signs - 1) * r[:, None], 2 * e)
    p, z = d @ found.Q, r @ found.Q
    gap, tolerance = gaps(r, d, p, 2 * z[:, None] + p, 0 * z, e, 1.0)
    exact = [exact_gaps(Phi, y, a, signs) for a in candidates]
    signum = np.array([[(g > 0) - (g < 0) for g in row] for row in exact])
    assert (signum == np.where(np.abs(gap) <= tolerance, 0, np.sign(gap))).all()
    assert (signum == 0).mean() > 0.02
    assert (np.sign(gap) != signum).any()  # without a tolerance the test would fail


def test_equal_statistics_follow_the_tie_order():
    gap, tolerance = np.array([-1.0, -1e-17, 1e-17, 1.0]), np.full(4, 1e-15)
    before = precedes(gap, tolerance, np.array([2, 4, 3, 1, 0]))
    assert before.tolist() == [True, False, True, False]


def test_residuals_near_a_kink_are_at_the_kink():
    x, e = np.array([[1e-17, 0.5 + 1e-16, 0.4], [1e-14, 0.5, -1e-17]]), np.array([1e-15, 1e-16])
    assert snapped(x, e, (0.0, 0.5)).tolist() == [[0.0, 0.5, 0.4], [1e-14, 0.5, 0.0]]


@pytest.mark.parametrize(("share", "doubt", "rank"), [(1e-9, 0, 3), (3e-11, 2, 3), (1e-13, 0, 2)])
def test_columns_in_doubt_are_named(share, doubt, rank, rng):
    x, z = rng.normal(size=(2, 200))
    X = np.column_stack([x, z, x + share * rng.normal(size=200)])
    for rows in (slice(None), slice(0, 40)):
        found = factor(X[rows] * [1, 1e4, 1e-3], np.ones(len(X[rows])))
        assert found.Q.shape[1] == rank
        assert found.in_doubt.tolist() == [0, 2][:doubt]


def test_far_cells_are_found(rng):
    X = np.column_stack([rng.normal(size=50), rng.normal(size=50), np.arange(50) < 3])
    X[7, 1], X[:, 0] = 1e8, X[:, 0] * 1e12
    assert far_columns(X).tolist() == [1]
    assert not len(far_columns(np.ones((5, 2))))
