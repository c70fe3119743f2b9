"""Rough numbers: the exact ones are within their bounds, and a comparison is right or left open."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming._exact import Exact
from unassuming._rough import Rough

DOUBLES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-9, 9).map(float),
    st.sampled_from([1.0 + 2.0**-52, 2.0**-1074, 1e300, 0.1]),
)
FOUR = st.lists(DOUBLES, min_size=4, max_size=4).map(np.array)
OPERATIONS = {
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y,
    "product": lambda x, y: x * y,
    "matrix product": lambda x, y: x @ y,
    "transposed product": lambda x, y: x.T @ y,
    "cancelling": lambda x, y: (x + y) * (x - y) - (x * x - y * y),
    "size": lambda x, y: abs(x - y)[0],
    "total": lambda x, y: (x * y).sum(),
    "columns": lambda x, y: (x * y).columns(),
    "scaled": lambda x, y: (x * y).times_two_to(-200),
}


def fraction(x):
    """A long double as it is."""
    mantissa, exponent = np.frexp(x)
    return Fraction(int(np.ldexp(mantissa, 64))) * Fraction(2) ** (int(exponent) - 64)


@pytest.mark.slow
@given(FOUR, FOUR, st.sampled_from(sorted(OPERATIONS)))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_exact_numbers_are_within_the_bounds(u, v, name):
    one, two = (Exact.of(x.reshape(2, 2)) for x in (u, v))
    exact = OPERATIONS[name](one, two)
    rough = OPERATIONS[name](Rough.of(one), Rough.of(two))
    middle, radius = np.ravel(rough.middle), np.ravel(rough.radius)
    for x, c, r in zip(np.ravel(np.array(exact.number)), middle, radius, strict=True):
        off = abs(Fraction(int(x)) / Fraction(2) ** exact.shift - fraction(c))
        assert off <= 2 * fraction(r)  # comparisons take twice the radius


@given(DOUBLES, DOUBLES)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_a_comparison_is_right_or_left_open(a, b):
    one, two = Exact.of(a), Exact.of(b)
    found = Rough.of(one).at_most(Rough.of(two))
    assert found is None or found == one.at_most(two)
    if abs(a - b) > 1e-12 * max(abs(a), abs(b)):
        assert found is not None


@pytest.mark.parametrize("bits", [10, 62, 63, 500, 4000])
@pytest.mark.parametrize("sign", [1, -1])
def test_long_integers_keep_their_leading_digits(bits, sign):
    number = sign * ((1 << bits) + 12345 // bits)
    for shift in (0, bits, bits + 200):
        x = Rough.of(Exact(np.array([number, 3], dtype=object), shift))
        assert abs(fraction(x.middle[0]) * Fraction(2) ** shift / number - 1) < 2.0**-50
        assert x.radius[0] < np.abs(x.middle[0]) * 2.0**-50


def test_what_overflows_is_left_open():
    huge = Rough.of(Exact.of(np.array([1e308])))
    for _ in range(10):
        huge = huge * huge
    one = Rough.of(Exact.of(1.0))
    assert huge.sum().at_most(one) is None
    assert one.at_most((huge - huge).sum()) is None
