"""Allowances for rounding that were derived on paper, against 60 digits or rational numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from unassuming.cells._factors import centred
from unassuming.regions.single._methods import _moved


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6),
    st.sampled_from([0.1, 1.0, 7.0, 33.3, 1e4, 1e9]),
)
def test_centring_rounds_nothing(values, shift):
    x = np.array(values) + shift * max(1.0, np.abs(values).max())
    columns, centre = centred(np.column_stack([np.ones(len(x)), x]))
    for before, after in zip(x.tolist(), columns[:, 1].tolist(), strict=True):
        assert Fraction(before) - Fraction(float(centre[1])) == Fraction(after)


def test_columns_far_from_zero_are_centred():
    x = 1e9 + np.arange(5.0)
    assert centred(np.column_stack([np.ones(5), x]))[1][1] != 0


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9), st.floats(-1e12, 1e12), st.floats(-9, 9))
def test_offsets_are_added_outward(low, width, centre, g):
    offset = g * centre
    lo, hi = _moved(np.array([[low]]), np.array([[low + width]]), np.array([offset]))
    exact = Fraction(g) * Fraction(centre)
    if abs(offset) > 1e-290 or offset == exact:
        assert Fraction(float(lo[0, 0])) <= Fraction(low) + exact
        assert Fraction(float(hi[0, 0])) >= Fraction(low + width) + exact


def worst(angles=2001):
    """The largest change of y_iᵀDy_i, relative to ε(‖y‖² + ‖Fx‖²), for one row and G = -1."""
    with mp.workdps(60):
        for error in (mpf(10) ** -12, mpf("0.01"), mpf("0.9")):
            found = mpf(0)
            for t in range(angles):
                angle = mp.pi * t / (2 * (angles - 1))
                y, f = mp.cos(angle), -mp.sin(angle)
                moved = f - (y - f)
                other = moved - error * (y - f)
                found = max(found, abs(other**2 - moved**2) / error)
            yield found


def test_errors_of_transformations_change_a_set_by_less_than_eight_times_as_much():
    small, *others = worst()
    assert small == pytest.approx(3 + np.sqrt(10), rel=1e-5)
    assert all(small < one < 8 for one in others)


def test_errors_of_residuals_enter_the_linear_term_at_most_three_times():
    """-⟨EF, (I - S)G δr + S δr⟩ for plane rotations and every share S of the first axis."""
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(2000):
        G, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        S = (Q * rng.uniform(size=3)) @ Q.T if rng.random() < 0.5 else Q[:, :1] @ Q[:, :1].T
        size = np.linalg.norm((G - np.eye(3)).T @ ((np.eye(3) - S) @ G + S), 2)
        largest = max(largest, size)
    assert 2 < largest < 2 * np.sqrt(2)
