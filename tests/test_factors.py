"""Factors of badly scaled matrices, against 80 digits."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming._factors import Start, factor, refined
from unassuming._products import accurate_product, exact_difference, image, sliced_product
from unassuming._rounding import EPS, column_ranges, column_sizes


def many_digits(x):
    return mp.matrix(np.asarray(x, dtype=float).tolist())


def largest(x):
    return max((abs(v) for v in x), default=mp.mpf(0))


def badly_scaled(rng, n=12, d=3):
    scales = 2.0 ** rng.integers(-60, 61, (n, 1)), 2.0 ** rng.integers(-60, 61, d)
    return rng.normal(size=(n, d)) * scales[0] * scales[1]


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_sliced_products_have_twice_the_digits_and_bounded_errors(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 40))
    A, B = badly_scaled(rng, 3, d), badly_scaled(rng, d, 2)
    more = -(A @ B), rng.normal(size=(3, 2))
    found, bound = sliced_product(A, B, *more)
    with mp.workdps(80):
        wrong = many_digits(A) * many_digits(B) - many_digits(found)
        wrong += many_digits(more[0]) + many_digits(more[1])
        assert all(abs(wrong[i, j]) <= bound[i, j] for i in range(3) for j in range(2))
    size = d * np.abs(A).max(axis=1)[:, None] * np.abs(B).max(axis=0) + np.abs(more[1])
    assert (bound <= 2 * EPS * np.abs(found) + 1e-26 * size).all()


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_a_product_is_as_good_as_with_twice_the_digits(seed):
    rng = np.random.default_rng(seed)
    A, B = badly_scaled(rng, 4, 5), badly_scaled(rng, 5, 2)
    A[:, 4] = -A[:, 0]
    B[4] = B[0] * (1 + 1e-13)
    found, terms = accurate_product(A, B), np.abs(A) @ np.abs(B)
    with mp.workdps(80):
        wrong = many_digits(A) * many_digits(B) - many_digits(found)
        for i in range(4):
            for j in range(2):
                assert abs(wrong[i, j]) <= EPS * abs(found[i, j]) + (5 * EPS) ** 2 * terms[i, j]


def test_a_difference_and_its_rounding_error():
    value, rest = exact_difference(np.array([1e17, 0.1]), np.array([1.0, -0.2]))
    np.testing.assert_array_equal(value, [1e17, 0.1 + 0.2])
    assert rest[0] == -1.0
    with mp.workdps(60):
        assert mp.mpf(value[1]) + mp.mpf(rest[1]) == mp.mpf(0.1) + mp.mpf(0.2)


@given(st.integers(0, 10**6), st.sampled_from(["rows", "sentinel", "powers", "weights"]))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_columns_are_orthonormal_whatever_the_scales(seed, kind):
    rng = np.random.default_rng(seed)
    X, root = badly_scaled(rng), np.ones(12)
    if kind == "sentinel":
        X = rng.normal(size=(12, 3))
        X[rng.integers(12), 1] = 10.0 ** rng.integers(5, 30)
    if kind == "powers":
        X = np.vander(1950.0 + rng.integers(0, 60) + np.arange(12), 4)
    if kind == "weights":
        root = 10.0 ** rng.uniform(-10, 0, 12)
    found = factor(X, root=root)
    if (
        kind in ("rows", "weights") and not found.decided
    ):  # as many orders of magnitude as that may be too many
        return
    assert found.decided
    assert not found.null.shape[1]
    with mp.workdps(80):
        inverse = many_digits(found.lower) ** -1
        images = many_digits(X) * many_digits(found.back) * inverse.T
        for i in range(12):
            for j in range(images.cols):
                wrong = abs(images[i, j] * root[i] - found.columns[i, j])
                assert wrong <= EPS * found.sizes[i, j]
                images[i, j] *= root[i]
        assert largest(images.T * images - mp.eye(images.cols)) <= found.error
        g = rng.normal(size=(1, X.shape[1]))
        exact = many_digits(g) * many_digits(found.back) * inverse.T
        turned = found.turn(g)
        size = float(largest(exact))
        assert float(largest(exact - many_digits(turned))) <= 1e-13 * size


def test_dependent_columns_are_found_at_any_scale():
    rng = np.random.default_rng(0)
    X = rng.integers(-(2**30), 2**30, (9, 2)) * 2.0 ** rng.integers(-40, 40, (9, 1))
    X = np.column_stack([X, X @ [3.0, -1.0]]) * [1.0, 2.0**50, 2.0**-50]
    found = factor(X)
    assert found.back.shape == (3, 2)
    v = found.null[:, 0] / found.null[0, 0]
    np.testing.assert_allclose(v * [1, 2.0**50, 2.0**-50], [1, -1 / 3, -1 / 3], rtol=1e-12)
    inside = np.array([[0.0, 1.0, 2.0**-100], [X[4, 0], X[4, 1], X[4, 2]]])
    assert found.blind(inside[1:]).all()
    assert not found.blind(inside[:1] + np.eye(3)[:1]).any()


def test_columns_that_differ_by_more_than_rounding_are_not_dependent():
    x = np.random.default_rng(0).normal(size=20)
    near = np.column_stack([x, x * (1 + 1e-12 * np.arange(20))])
    assert factor(near).back.shape == (2, 2)
    assert factor(np.column_stack([x, x])).back.shape == (2, 1)


@pytest.mark.parametrize("shape", [(0, 2), (1, 3), (3, 1)])
def test_few_rows(shape):
    found = factor(np.ones(shape))
    assert found.back.shape[1] == min(1, shape[0])
    assert found.null.shape == (shape[1], shape[1] - found.back.shape[1])


@pytest.mark.parametrize("n", [0, 1, 5, 20_000])
def test_ranges_of_columns(n):
    rows = np.random.default_rng(n).normal(size=(n, 3)) + np.array([0.0, 10.0, -10.0])
    low, high = column_ranges(rows)
    if n == 0:
        assert not low.any()
        assert not high.any()
        return
    assert low.tolist() == rows.min(axis=0).tolist()
    assert high.tolist() == rows.max(axis=0).tolist()
    assert column_sizes(rows).tolist() == np.abs(rows).max(axis=0).tolist()


def test_the_error_of_a_product_is_bounded_in_the_worst_case():
    """A bound that grows like the root of the number of terms is too small here.

    Every partial sum of these terms lies just above a power of two, and every rounding has the
    same sign.
    """
    d = 400
    rows = np.full((1, d), 1.0)
    rows[0, 1:] = 2.0**-53 * (1 + 2.0**-10)
    found, error = image(rows, np.ones((d, 64)), sizes=np.abs(rows))
    exact = sum(Fraction(x) for x in rows[0].tolist())
    wrong = np.array([abs(Fraction(x) - exact) for x in found[0].tolist()], dtype=float)
    assert (wrong <= error[0]).all()

    plain = np.add.accumulate(rows[0])[-1]  # in the order of the terms: all but one are lost or up
    worst = float(abs(Fraction(plain) - exact))
    assert worst > (np.sqrt(d) + 1) * EPS * float(exact)  # the old constant
    assert worst <= error[0].min()


def test_the_rank_of_columns_that_differ_in_the_last_digit():
    x = np.random.default_rng(1).normal(size=30)
    near = np.column_stack([np.ones(30), x, np.nextafter(x, np.inf)])
    found = factor(near)
    assert found.null.shape[1] == 0
    assert found.error < 1e-11
    with mp.workdps(80):
        back = many_digits(found.back)
        if found.rest is not None:  # more digits than a double has
            back += many_digits(found.rest)
        images = many_digits(near) * back * (many_digits(found.lower) ** -1).T
        assert largest(images.T * images - mp.eye(3)) <= found.error
        assert largest(images - many_digits(found.columns)) <= EPS * found.sizes.max()


def test_functionals_are_seen_by_null_vectors_without_rounding():
    """The null vector is (2^-47, -1, 1): the first entry is as small as rounding."""
    X = np.array([[1.0, 2.0**-47, 0.0], [1.0, 1.0 + 2.0**-47, 1.0], [1.0, 3.0 + 2.0**-47, 3.0]])
    found = factor(X)
    assert found.null.shape[1] == 1
    assert found.blind(X).all()
    assert not found.blind(np.eye(3)).any()
    assert found.blind(np.array([[1.0, 0.0, -(2.0**-47)]])).all()
    # Thirds that add up to one are meant to; integers that differ by a last digit are not equal.
    dummies = factor(np.column_stack([np.ones(6), np.repeat(np.eye(3), 2, axis=0)]))
    assert dummies.blind(np.array([[1.0, 1 / 3, 1 / 3, 1 / 3]])).all()
    assert not dummies.blind(np.array([[1.0, 1 / 3, 1 / 3, 0.25]])).any()


@pytest.mark.parametrize("power", [-200, 0, 200])
def test_which_functionals_are_seen_does_not_depend_on_their_size(power):
    near = factor(np.column_stack([np.ones(6), np.repeat(np.eye(3), 2, axis=0)]))
    few = np.array([[1.0, 1.0, 1.0, 1.0 - 2.0**-20], [1.0, 1.0, 1.0, 1.0]])
    long = np.array([[1.0, 1 / 3, 1 / 3, 1 / 3], [1.0, 1 / 3, 1 / 3, 0.25]])
    np.testing.assert_array_equal(near.blind(2.0**power * few), [False, False])
    np.testing.assert_array_equal(near.blind(2.0**power * long), [True, False])
    X = np.array([[1.0, 2.0**-20, 0.0], [1.0, 1.0 + 2.0**-20, 1.0], [1.0, 3.0 + 2.0**-20, 3.0]])
    assert not factor(X).blind(2.0**power * np.array([[2.0**-52, 1.0, 1.0]])).any()


def test_a_factor_without_enough_refinements_describes_its_own_columns(monkeypatch):
    monkeypatch.setattr("unassuming._factors._REFINEMENTS", 1)
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 2)))[0]
    found = refined(Q, Start(10 * np.eye(2), np.zeros((2, 0))))
    assert not found.decided
    np.testing.assert_allclose(Q @ found.basis, found.columns, atol=1e-12)
