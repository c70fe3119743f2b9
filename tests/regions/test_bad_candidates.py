"""Candidates that cannot be tested are refused: what was wrong, expected, given, and what to do."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from test_bad_input import N, X, Y, assert_refused, cases, region_of


def wrong_length(inputs):
    return np.zeros(3)


def not_finite(inputs):
    return np.where(np.arange(N) == 4, np.nan, 0.0)


def wordy(inputs):
    return ["low"] * N


def nothing(inputs):
    return None


SHAPE = r"^the candidate has the wrong shape: expected 3 coefficients \[intercept, x0, x1\].*given "
CANDIDATES = [
    ("too long", lambda: region_of().rank(np.zeros(5)), SHAPE + r"shape \(5,\)\. Pass a callable"),
    ("rows too long", lambda: region_of().rank(np.zeros((4, 5))), SHAPE + r"shape \(4, 5\)"),
    ("three dimensions", lambda: region_of().rank(np.zeros((2, 2, 3))), SHAPE + r"shape \(2, 2, 3"),
    ("a number", lambda: region_of().rank(3.0), SHAPE + r"shape \(\)"),
    ("empty", lambda: region_of().rank([]), SHAPE + r"shape \(0,\)"),
    (
        "NaN",
        lambda: region_of().rank([0.0, np.nan, 1.0]),
        "^the candidate has missing or infinite values: expected finite .*given nan at position 1",
    ),
    (
        "inf in an array",
        lambda: region_of().rank([[0.0, 0.0, 1.0], [0.0, np.inf, 1.0]]),
        "^the candidate has missing or infinite values: .*given inf at position 1, 1",
    ),
    (
        "text",
        lambda: region_of().rank("ridge"),
        "^the candidate is not numeric: expected finite numbers, given .*'ridge'",
    ),
    ("None", lambda: region_of().rank(None), "^the candidate .*expected .*given None"),
    (
        "vectors of different lengths",
        lambda: region_of().rank([[1.0, 2.0, 3.0], [1.0, 2.0]]),
        "^the candidate (?!is not numeric).*: expected .*given .*length",
    ),
    (
        "a class",
        lambda: region_of().rank(Ridge),
        r"^the candidate .*class.*: expected .*given .*Ridge",
    ),
    (
        "too large",
        lambda: region_of().rank([1e200, 0.0, 0.0]),
        r"too large to be ranked in double precision: .*given coefficients up to 1e\+200",
    ),
    (
        "callable with the wrong shape",
        lambda: region_of().rank(wrong_length),
        "^the value of the candidate wrong_length has the wrong shape: expected one number for "
        r"each of the 12 rows of X, given shape \(3,\)\.",
    ),
    (
        "callable with two columns",
        lambda: region_of().rank(lambda inputs: inputs),
        r"has the wrong shape: expected one number for each .*given shape \(12, 2\)",
    ),
    (
        "callable with one number",
        lambda: region_of().rank(lambda inputs: 0.0),
        r"has the wrong shape: expected one number for each .*given shape \(\)",
    ),
    (
        "callable with NaN",
        lambda: region_of().rank(not_finite),
        "^the value of the candidate not_finite has missing or infinite values: .*position 4",
    ),
    (
        "callable with text",
        lambda: region_of().rank(wordy),
        "^the value of the candidate wordy is not numeric: .*given .*'low'",
    ),
    (
        "callable without a value",
        lambda: region_of().rank(nothing),
        "^the value of the candidate nothing .*expected .*given None",
    ),
]


@cases(CANDIDATES)
def test_bad_candidates_are_refused(action, pattern):
    assert_refused(action, ValueError, pattern)


def test_an_error_inside_a_callable_is_its_own():
    def fails(inputs):
        raise KeyError("dose")

    with pytest.raises(KeyError, match="dose"):
        region_of().rank(fails)


def test_an_estimator_that_is_not_fitted_says_so_itself():
    with pytest.raises(ValueError, match="is not fitted yet"):
        region_of().rank(Ridge())


def test_an_estimator_fitted_to_other_columns_says_so_itself():
    with pytest.raises(ValueError, match="X has 2 features, but Ridge is expecting 1 features"):
        region_of().rank(Ridge().fit(X[:, :1], Y))
