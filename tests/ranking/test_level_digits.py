"""Levels in few digits that still identify them."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming.ranking import Level, level_in_digits


@given(st.integers(2, 10**6), st.data())
@settings(max_examples=200, deadline=None)
def test_multiples_are_admissible_in_their_digits_and_no_digit_can_go(m, data):
    k = data.draw(st.integers(1, m - 1))
    text = level_in_digits(k / m, m)
    assert Level.at_least(float(text), m) == Level(m - k, m)
    assert Fraction(text) <= Fraction(k, m)
    assert len(text) <= 11  # at most nine digits
    if Fraction(text) == Fraction(k, m) and len(text) > 5:
        assert text[-1] != "0"


@given(st.integers(1, 40))
def test_other_levels_are_rounded_down_and_lose_a_hundredth_at_most(bits):
    level = 1 - Fraction(1, 2**bits)
    found = Fraction(level_in_digits(float(level)))
    assert found <= level
    assert 1 - found <= (1 - level) * Fraction(101, 100)
    assert len(level_in_digits(float(level))) <= 5 + bits * 0.302


def test_a_level_below_all_is_rounded_up_in_a_group():
    assert Level.at_least(1e-12, 8) == Level(7, 8)
