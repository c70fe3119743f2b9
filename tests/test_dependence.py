"""Ranks and null vectors of badly scaled matrices, against rationals."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import unassuming._factors
from rationals import column_rank, rational
from unassuming._factors import factor
from unassuming._modular import PRIMES
from unassuming._rounding import EPS
from unassuming.objectives.designs import FeatureDesign


def copies(rng):
    """A table with copies, sums, near copies and columns of few rows, in all units."""
    n, d = int(rng.integers(4, 12)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, d)) if rng.random() < 0.5 else 1.0 * rng.integers(-3, 4, (n, d))
    if rng.random() < 0.6:
        X *= 2.0 ** rng.integers(-40, 41, (n, 1))
    if rng.random() < 0.6:
        X *= rng.random((n, d)) < 0.6
    columns = [*X.T]
    for _ in range(int(rng.integers(1, 3))):
        copy, few, i = X[:, rng.integers(d)], np.zeros(n), rng.integers(n)
        few[rng.integers(0, n, 2)] = rng.normal(size=2)
        near = copy * np.where(np.arange(n) == i, 1 + 2.0 ** -rng.integers(20, 53), 1.0)
        columns.append([copy, few, near, X @ rng.integers(-3, 4, d)][rng.integers(4)])
    X = np.column_stack(columns) * 2.0 ** rng.integers(-60, 61, len(columns))
    return X[:, rng.permutation(len(columns))]


def shares(X, v):
    """Each row of X v, over the sum of its absolute terms, in rationals."""
    terms = [[a * b for a, b in zip(rational(row), rational(v), strict=True)] for row in X]
    sizes = [sum(map(abs, row)) for row in terms]
    return [abs(sum(row)) / size for row, size in zip(terms, sizes, strict=True) if size]


@given(st.integers(0, 10**6))
@example(0)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_ranks_are_those_of_exact_arithmetic(seed):
    X = copies(np.random.default_rng(seed))
    found = factor(X)
    assert found.back.shape[1] == column_rank(X)
    if found.certain:
        allowed = 16 * (X.shape[1] + 1) * EPS  # in each row, whatever its size
        assert all(share <= allowed for v in found.null.T for share in shares(X, v))


def test_a_copy_in_other_units_beside_a_column_of_two_rows():
    rng = np.random.default_rng(0)
    x, few = rng.normal(size=10) * 2.0 ** rng.integers(-40, 41, 10), np.zeros(10)
    few[[3, 7]] = rng.normal(size=2)
    found = factor(np.column_stack([x, few, x * 2.0**-29]))
    assert found.certain
    assert found.decided
    (v,) = found.null.T
    np.testing.assert_array_equal(v / v[0], [1, 0, -(2.0**29)])


def test_columns_that_are_clearly_independent_need_no_exact_rank(monkeypatch):
    def refuse(*_):
        raise AssertionError("the exact rank was computed")

    monkeypatch.setattr(unassuming._factors.Dependence, "of", refuse)
    X = np.random.default_rng(0).normal(size=(200, 20)) * 10.0 ** np.arange(-10, 10)
    assert factor(X).decided
    near = np.column_stack([X, X[:, 0] + 1e-12 * X[:, 1]])
    with pytest.raises(AssertionError, match="was computed"):
        factor(near)


def test_primes_that_divide_a_column_do_not_make_it_dependent():
    X = np.random.default_rng(0).integers(-9, 10, (8, 3)) * np.array([1.0, *PRIMES])
    found = factor(np.column_stack([X, X[:, 0]]))  # each prime makes one column vanish
    assert found.back.shape[1] >= 3
    assert not found.certain


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_null_vectors_beside_an_intercept_refer_to_the_columns_as_they_are(seed):
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 3, 12)
    dummies = np.eye(3)[level] * rng.choice([1.0, 2.0**-40, 3.0], 3)
    X = np.column_stack([dummies, rng.normal(size=12) + 1000.0])
    X = np.column_stack([X, X[:, 3] * 2.0**20 + rng.choice([0.0, 5.0])])
    design = FeatureDesign(X[:, rng.permutation(5)], intercept=True)
    found = design.whiten(np.ones(12), 0.0).factor
    assert found.back.shape[1] == column_rank(design.matrix)
    allowed = 64 * EPS
    assert not found.certain or all(
        share <= allowed for v in found.null.T for share in shares(design.matrix, v)
    )
    assert found.blind(design.matrix).all()
