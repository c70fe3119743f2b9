"""What a region takes as functionals, inputs, directions and options, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso, Ridge

import unassuming as ua

RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 3))
Y = X @ [3.0, -2.0, 0.5] + RNG.laplace(size=25)
FRAME = pd.DataFrame(X, columns=["bmi", "bp", "age"])


def region_of(model=None, inputs=X, y=Y, **options):
    model = Ridge() if model is None else model
    return ua.confidence_region(model, inputs, y, **{"m": 20, "random_state": 0, **options})


# Coefficients by name


def test_coefficients_may_be_named():
    region = region_of(inputs=FRAME)
    every = region.interval(simultaneous=True, method="joint", level=0.9)
    for names in ("bp", ["bp"], ["age", "intercept"], pd.Index(["bp", "bmi"]), np.array(["age"])):
        found = region.interval(names, simultaneous=True, method="joint", level=0.9)
        chosen = [names] if isinstance(names, str) else list(names)
        assert found.names == tuple(chosen)
        places = [region.names.index(name) for name in chosen]
        np.testing.assert_allclose(found.upper, every.upper[places], rtol=1e-12)
        np.testing.assert_allclose(found.lower, every.lower[places], rtol=1e-12)


def test_a_name_of_two_coefficients_is_refused():
    twice = FRAME.set_axis(["intercept", "bmi", "age"], axis=1)
    with pytest.raises(ValueError, match="ambiguous name"):
        region_of(inputs=twice).interval("intercept", simultaneous=True, method="joint", level=0.9)
    assert region_of(inputs=twice).interval(
        "age", simultaneous=True, method="joint", level=0.9
    ).names == ("age",)


@pytest.mark.parametrize(
    "functionals",
    [{"bmi": 1.0}, abs, np.full(4, np.nan), np.ones(3), np.ones((0, 4)), 3.0, [["a", "b"]]],
    ids=["dict", "callable", "NaN", "short", "empty", "number", "text"],
)
def test_other_functionals_are_refused(functionals):
    with pytest.raises(ValueError, match=r"^functionals "):
        region_of().interval(functionals, simultaneous=True, method="joint", level=0.9)


# Inputs


@pytest.mark.parametrize("inputs", [X[0], FRAME.iloc[0]], ids=["array", "frame"])
def test_a_single_row_is_not_a_table(inputs):
    with pytest.raises(ValueError, match="X is not a table"):
        region_of(inputs=FRAME).band(inputs, method="joint", level=0.9)
    assert len(region_of(inputs=FRAME).band(FRAME.iloc[[0]], method="joint", level=0.9)) == 1


@pytest.mark.parametrize("inputs", [X[:0], FRAME[:0]], ids=["array", "frame"])
def test_a_band_needs_an_input(inputs):
    with pytest.raises(ValueError, match=r"at least one row.*given shape \(0, 3\)"):
        region_of().band(inputs, method="joint", level=0.9)


@pytest.mark.parametrize("inner", ["yes", 1, None, 0.0], ids=repr)
def test_inner_is_true_or_false(inner):
    region = region_of()
    for ask in (
        lambda: region.band(X, inner=inner, method="joint", level=0.9),
        lambda: region.interval(inner=inner, simultaneous=True, method="joint", level=0.9),
    ):
        with pytest.raises(ValueError, match="inner is not a boolean"):
            ask()
    assert (
        region.interval(inner=np.False_, simultaneous=True, method="joint", level=0.9).witnesses
        is None
    )


# Norm bounds


# Ellipsoids


# Lines by name


@pytest.mark.parametrize("model", [Ridge(), Lasso(0.1)], ids=["ridge", "LASSO"])
def test_lines_may_be_named(model):
    region = region_of(model, inputs=FRAME)
    bp = np.eye(4)[2]
    assert region.reach("bp", level=0.9) == region.reach(bp, level=0.9)
    np.testing.assert_array_equal(
        region.reach(["bp", "age"], level=0.9), region.reach(np.eye(4)[2:], level=0.9)
    )
    np.testing.assert_array_equal(
        region.crossings("bp", level=0.9), region.crossings(bp, level=0.9)
    )
    with pytest.raises(ValueError, match="unknown name"):
        region.crossings("sex", level=0.9)
    with pytest.raises(ValueError, match="unknown name"):
        region.reach(["bp", "sex"], level=0.9)


@pytest.mark.parametrize("model", [Ridge(), Lasso(0.1)], ids=["ridge", "LASSO"])
def test_a_direction_that_leads_nowhere_is_refused_by_crossings_too(model):
    for ask in (region_of(model).crossings, region_of(model).reach):
        with pytest.raises(ValueError, match="zero direction"):
            ask(np.zeros(4))
