"""A column that nearly repeats another one: the other coefficients keep their intervals."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import unassuming as ua

X, Y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def summary(X, model=None, y=Y):
    return ua.confidence_region(model or LinearRegression(), X, y, random_state=0).summary()


COPIES = {
    "noise": lambda x: 2 * x + 1e-9 * np.random.default_rng(0).normal(size=len(x)),
    "single precision": lambda x: (x / 2.54).astype(np.float32).astype(float),
}


@pytest.mark.parametrize("name", COPIES)
def test_other_coefficients_keep_their_intervals(name):
    plain, found = summary(X), summary(X.assign(copy=COPIES[name](X["bmi"])))
    others = [j for j, column in enumerate(plain.names) if column != "bmi"]
    width = (found.upper - found.lower)[others] / (plain.upper - plain.lower)[others]
    assert width.max() < 2.5  # other cells; they were a million times as wide
    assert found.pvalue[plain.names.index("bp")] < 0.01
    copies = [found.names.index("bmi"), found.names.index("copy")]
    assert ((found.upper - found.lower)[copies] > 1e6).all()
    assert "copy nearly repeats bmi: they differ by" in str(found).replace("\n", " ")


def test_nothing_is_said_of_other_columns():
    x = np.linspace(1950, 2020, 200)[:, None]
    y = np.sin(x[:, 0] / 9) + np.random.default_rng(0).laplace(size=200)
    powers = make_pipeline(PolynomialFeatures(3, include_bias=False), LinearRegression())
    exact = X.assign(copy=2 * X["bmi"])
    for found in (summary(X), summary(x, powers, y), summary(exact)):
        assert "nearly repeats" not in str(found)
