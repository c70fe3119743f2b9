"""Levels in words: digits that identify them, and what to do about one that there is not."""

import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from unassuming.ranking import Level, level_in_digits


@given(st.integers(2, 10**6), st.data())
@settings(max_examples=200, deadline=None)
def test_multiples_are_admissible_in_their_digits_and_no_digit_can_go(m, data):
    k = data.draw(st.integers(1, m - 1))
    text = level_in_digits(k / m, m)
    assert Level.exactly(float(text), m) == Level(m - k, m)
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


def test_remedies_of_cells_have_few_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    found = region.summary(level=1 - 1e-8)
    (offered,) = re.findall(r"a level of at most ([\d.]+);", found.explanation.text())
    assert len(offered) <= 9
    again = region.summary(level=float(offered))
    assert np.isfinite(again.upper - again.lower).all()


GROUPS = [(2, LinearRegression, 0.5), (3, LinearRegression, 0.75), (3, Ridge, 0.875)]


@pytest.mark.parametrize(("n", "model", "highest"), GROUPS)
def test_a_small_group_names_its_highest_level(n, model, highest):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 1)), rng.normal(size=n)
    model = model(fit_intercept=False)
    region = ua.confidence_region(model, X, y, m="group", random_state=0)
    for call in (region.interval, region.bounded, lambda: region.band(X), region.ellipsoid):
        with pytest.raises(ValueError, match="higher than m='group' allows") as refusal:
            call()
        said = str(refusal.value)
        assert f"only m = {region.m} transformations" in said
        assert f"the highest level is {highest}, given 0.9." in said
        assert said.count(". ") == 1  # one sentence and a remedy
    assert region.interval(level=highest).level == highest
    m = int(re.search(r"with m=(\d+)", said)[1])
    assert ua.confidence_region(model, X, y, m=m, random_state=0).interval().level == 0.9
    assert "Try --level" in refusal.value.command_line
    assert str(pickle.loads(pickle.dumps(refusal.value))) == said


def test_a_level_below_all_is_rounded_up_in_a_group():
    assert Level.at_least(1e-12, 8) == Level(7, 8)
