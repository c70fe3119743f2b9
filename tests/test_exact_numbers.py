"""Doubles as integers, and systems of equations in fixed-point numbers, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming._exact import Exact, Triangle

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


def fractions(x):
    return [Fraction(int(v)) / Fraction(2) ** x.shift for v in np.ravel(x.number)]


@given(st.lists(DOUBLES, min_size=1, max_size=4), st.lists(DOUBLES, min_size=4, max_size=4))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_numbers_are_not_rounded(u, v):
    v = v[: len(u)]
    a, b = (list(map(Fraction, x)) for x in (u, v))
    x, z = Exact.of(np.array(u)), Exact.of(np.array(v))
    assert fractions(x + z) == [p + q for p, q in zip(a, b, strict=True)]
    assert fractions(x - z) == [p - q for p, q in zip(a, b, strict=True)]
    assert fractions(abs(x * z)) == [abs(p * q) for p, q in zip(a, b, strict=True)]
    assert fractions((x * z).sum()) == [sum(p * q for p, q in zip(a, b, strict=True))]
    assert fractions(abs((x * z).sum()) + x[0]) == [abs(sum(map(Fraction.__mul__, a, b))) + a[0]]
    assert fractions(x.max()) == [max(a)]


@pytest.mark.parametrize("power", [-301, 0, 7, 500])
def test_roots_are_rounded_up(power):
    numbers = np.ldexp([0.0, 1.0, 2.0, 9.0, 1e-30, 123456789.25], power)
    roots = fractions(Exact.of(numbers).root_above())
    assert fractions(Exact.of(-numbers).root_above()) == [roots[0]] * 6
    for x, root in zip(map(Fraction, numbers), roots, strict=True):
        assert (
            x < root**2 <= x * (1 + Fraction(1, 2**50)) + Fraction(1, 2**100) * Fraction(2) ** power
        )


@pytest.mark.parametrize("spread", [0, 60, 400])
@pytest.mark.parametrize("rank", [1, 3, 5])
def test_a_triangle_has_the_rank_and_the_solutions_of_the_matrix(spread, rank):
    rng = np.random.default_rng([spread, rank])
    L = rng.integers(-9, 10, size=(5, rank)) * 1.0 + np.eye(5, rank) * 20
    L *= 2.0 ** rng.integers(-spread, spread + 1, size=(5, 1))
    E = Exact.of(L)
    A, b = E @ E.T, E @ Exact.of(rng.normal(size=(rank, 1)))
    triangle = Triangle(A)
    assert len(triangle.pivots) == rank
    off, size = abs(A @ triangle.solve(b) - b), abs(b)
    for x, scale in zip(fractions(off), fractions(size), strict=True):
        assert x <= scale / 2**100


def test_two_nearly_equal_columns_are_independent():
    L = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52], [2.0**-900, 2.0**-900]])
    E = Exact.of(L)
    assert len(Triangle(E.T @ E).pivots) == 2


def test_a_matrix_with_a_negative_eigenvalue_is_refused():
    for A in ([[1.0, 2.0], [2.0, 1.0]], [[-1.0]]):
        with pytest.raises(ArithmeticError, match="not positive semidefinite"):
            Triangle(Exact.of(np.array(A)))
