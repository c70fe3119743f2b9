"""A refusal names the way out, and the way out works."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge
from sklearn.svm import SVR

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
    every = region.interval()
    for names in ("bp", ["bp"], ["age", "intercept"], pd.Index(["bp", "bmi"]), np.array(["age"])):
        found = region.interval(names)
        chosen = [names] if isinstance(names, str) else list(names)
        assert found.names == tuple(chosen)
        places = [region.names.index(name) for name in chosen]
        np.testing.assert_allclose(found.upper, every.upper[places], rtol=1e-12)
        np.testing.assert_allclose(found.lower, every.lower[places], rtol=1e-12)


def test_a_name_that_is_none_is_told_those_there_are():
    with pytest.raises(ValueError, match=r"unknown name: .*'intercept', 'bmi'.*given 'sex'\."):
        region_of(inputs=FRAME).interval(["bmi", "sex"])


def test_a_name_of_two_coefficients_is_refused():
    twice = FRAME.set_axis(["intercept", "bmi", "age"], axis=1)
    with pytest.raises(ValueError, match=r"ambiguous name.*2 coefficients have it"):
        region_of(inputs=twice).interval("intercept")
    assert region_of(inputs=twice).interval("age").names == ("age",)


@pytest.mark.parametrize(
    "functionals",
    [{"bmi": 1.0}, abs, np.full(4, np.nan), np.ones(3), np.ones((0, 4)), 3.0, [["a", "b"]]],
    ids=["dict", "callable", "NaN", "short", "empty", "number", "text"],
)
def test_other_functionals_are_told_of_rows_and_of_names(functionals):
    with pytest.raises(ValueError, match=r"^functionals ") as caught:
        region_of().interval(functionals)
    assert "np.eye(4)" in str(caught.value)
    assert "region.names" in str(caught.value)
    assert "impute" not in str(caught.value)
    assert "Encode" not in str(caught.value)


# Inputs


@pytest.mark.parametrize(
    ("inputs", "remedy"),
    [(X[0], "X.reshape(1, -1)"), (X[0], "X.reshape(-1, 1)"), (FRAME.iloc[0], "X.iloc[[0]]")],
)
def test_a_single_row_is_told_how_to_become_a_table(inputs, remedy):
    with pytest.raises(ValueError, match="X is not a table") as caught:
        region_of(inputs=FRAME).band(inputs)
    assert remedy in str(caught.value)
    assert len(region_of(inputs=FRAME).band(FRAME.iloc[[0]])) == 1


@pytest.mark.parametrize("inputs", [X[:0], FRAME[:0]], ids=["array", "frame"])
def test_a_band_needs_an_input(inputs):
    with pytest.raises(ValueError, match=r"at least one row.*given shape \(0, 3\)"):
        region_of().band(inputs)


@pytest.mark.parametrize("inner", ["yes", 1, None, 0.0], ids=repr)
def test_inner_is_true_or_false(inner):
    region = region_of()
    for ask in (lambda: region.band(X, inner=inner), lambda: region.interval(inner=inner)):
        with pytest.raises(ValueError, match="inner is not a boolean"):
            ask()
    assert region.interval(inner=np.False_).witnesses is None


# Directions


@pytest.mark.parametrize("model", [Ridge(), Lasso()], ids=repr)
def test_a_direction_of_zeros_is_refused(model):
    with pytest.raises(ValueError, match=r"^directions .*zero direction.*given 4 zeros"):
        region_of(model).reach(np.array([[1.0, 0, 0, 0], [0, 0, 0, 0]]))


@pytest.mark.parametrize("model", [Ridge(), Lasso()], ids=repr)
def test_directions_are_counted_as_they_are_taken(model):
    region = region_of(model)
    with pytest.raises(ValueError, match=r"^direction .*rows of 4 numbers.*region\.names"):
        region.crossings(np.ones(3))
    with pytest.raises(ValueError, match=r"^directions .*rows of 4 numbers.*region\.names"):
        region.reach(np.ones(3))


# Norm bounds


@pytest.mark.parametrize(
    "model",
    [Ridge(), KernelRidge(kernel="rbf"), pytest.param(Lasso(0.1), marks=pytest.mark.slow)],
    ids=repr,
)
def test_a_search_from_outside_the_ball_is_refused_before_any_work(model, monkeypatch):
    region = region_of(model)
    low = 0.9 * region.suggest_norm_bound() / 2

    def worked(*args, **options):
        raise AssertionError("bounds were computed first")

    monkeypatch.setattr(type(region.shape), "bounds", worked)
    for ask in (lambda **k: region.band(X[:2], **k), lambda **k: region.interval(**k)):
        with pytest.raises(ua.NotAvailable, match=r"leave out inner=True") as caught:
            ask(norm_bound=low, inner=True)
    monkeypatch.undo()
    named = float(re.search(r"pass norm_bound=([\d.e+]+) or more", str(caught.value))[1])
    assert named == pytest.approx(region.suggest_norm_bound() / 2, rel=2e-5)
    assert region.band(X[:1], norm_bound=named, inner=True).witnesses is not None


def test_a_sample_from_outside_the_ball_is_told_the_smallest_bound_only():
    region = region_of()
    with pytest.raises(ua.NotAvailable, match=r"pass norm_bound=[\d.]+ or more\.$"):
        region.sample(2, norm_bound=1e-3)


def test_a_model_without_a_kernel_is_not_asked_for_the_bound_it_has():
    with pytest.raises(ua.NotAvailable, match="this model has features only: leave out"):
        region_of(LinearRegression()).band(X, norm_bound=3.0, target="function")
    assert region_of().band(X[:2], norm_bound=3.0).target == "representation"


# What a region does not have


@pytest.mark.parametrize("name", ["max_bounded_level", "bounded", "ellipsoid"])
def test_what_a_region_lacks_is_not_a_missing_attribute(name):
    def ask(region):
        found = getattr(region, name)
        return found() if callable(found) else found

    with pytest.raises(ua.NotAvailable, match=rf"^{name} needs weighting='hessian'.*leave out `"):
        ask(region_of(weighting="identity"))
    with pytest.raises(ua.NotAvailable, match=r"weighting=a matrix: leave out"):
        ask(region_of(weighting=np.eye(4)))
    for model, words in [(HuberRegressor(), "Huber regression with epsilon 1.35. Available"),
                         (SVR(), "ε-SVR. Available")]:  # fmt: skip
        with pytest.raises(ua.NotAvailable, match=rf"^{name} needs a quadratic.*region of {words}"):
            ask(region_of(model))


@pytest.mark.slow
def test_what_is_named_as_available_is(monkeypatch):
    monkeypatch.setattr("unassuming.regions.search._line_search._EXACT_SEARCH", (4, 2, 2))
    region = region_of(Lasso(0.1))
    with pytest.raises(ua.NotAvailable) as caught:
        region.ellipsoid()
    line = np.eye(4)[1]
    asked = {
        "rank": lambda: region.rank(region.estimate),
        "contains": lambda: region.contains(region.estimate),
        "test": lambda: region.test(np.zeros(4)),
        "crossings": lambda: region.crossings(line),
        "reach": lambda: region.reach(line),
        "sample": lambda: region.sample(1, random_state=0),
        "interval": lambda: region.interval(line, inner=True).inner_upper,
        "band": lambda: region.band(X[:1], inner=True).inner_upper,
    }
    for name, ask in asked.items():
        assert re.search(rf"\b{name}\b", str(caught.value))
        assert ask() is not None


# Ellipsoids


def test_an_ellipsoid_refuses_vectors_of_another_length_in_its_own_words():
    ellipsoid = region_of().ellipsoid()
    with pytest.raises(ValueError, match=r"^the candidate has the wrong shape.*4 numbers"):
        ellipsoid.contains(np.ones(3))
    with pytest.raises(ValueError, match=r"^g is not numeric: .*given 'a'\."):
        ellipsoid.project("a")
    with pytest.raises(ValueError, match=r"^g has the wrong shape"):
        ellipsoid.project(np.ones((2, 2, 4)))


def test_an_ellipsoid_projects_several_functionals_at_once():
    region = region_of()
    ellipsoid = region.ellipsoid()
    g = np.concatenate([np.eye(4), RNG.normal(size=(2, 4)), np.zeros((1, 4))])
    low, high = ellipsoid.project(g)
    inverse = np.linalg.inv(ellipsoid.matrix)
    half = np.sqrt(ellipsoid.squared_radius * np.einsum("nj,jk,nk->n", g, inverse, g))
    np.testing.assert_allclose(low, g @ region.estimate - half, atol=1e-12)
    np.testing.assert_allclose(high, g @ region.estimate + half, atol=1e-12)
    np.testing.assert_allclose(ellipsoid.project(g[4]), (low[4], high[4]), rtol=1e-13)


# Words


def test_a_bounded_region_is_not_said_to_share_nothing():
    reason = region_of().bounded(0.5).reason
    assert reason == "none of the random transformations leaves a direction open."


def test_a_row_is_said_to_be_counted_from_zero():
    reason = region_of(KernelRidge(kernel="rbf")).bounded(0.9).reason
    assert re.search(r"fitted value of row \d+ \(counted from zero\) alone", reason)


# Overflow


@pytest.mark.parametrize("model", [Ridge(), Lasso(), HuberRegressor(), KernelRidge()], ids=repr)
@pytest.mark.parametrize("count", [1, 50])
def test_a_candidate_whose_fitted_values_overflow_is_refused_in_one_sentence(model, count):
    region = region_of(model)
    huge = np.full((count, region.objective.d), 1.7e308)
    for ask in (region.rank, region.statistics, lambda a: region.test(a[0])):
        with pytest.raises(ValueError, match=r"too large to be ranked.*up to 1\.7e\+308"):
            ask(huge)


# Lines by name


@pytest.mark.parametrize("model", [Ridge(), Lasso(0.1)], ids=["ridge", "LASSO"])
def test_lines_may_be_named(model):
    region = region_of(model, inputs=FRAME)
    bp = np.eye(4)[2]
    assert region.reach("bp") == region.reach(bp)
    np.testing.assert_array_equal(region.reach(["bp", "age"]), region.reach(np.eye(4)[2:]))
    np.testing.assert_array_equal(region.crossings("bp"), region.crossings(bp))
    with pytest.raises(ValueError, match=r"direction contains an unknown name.*given 'sex'"):
        region.crossings("sex")
    with pytest.raises(ValueError, match=r"directions contains an unknown name.*given 'sex'"):
        region.reach(["bp", "sex"])


@pytest.mark.parametrize("model", [Ridge(), Lasso(0.1)], ids=["ridge", "LASSO"])
def test_a_direction_that_leads_nowhere_is_refused_by_crossings_too(model):
    for ask in (region_of(model).crossings, region_of(model).reach):
        with pytest.raises(ValueError, match="zero direction"):
            ask(np.zeros(4))


@pytest.mark.parametrize(
    ("model", "offered"),
    [
        (Lasso(0.1), "'identity', 'hessian' or a matrix"),
        (Ridge(), "'hessian', 'identity', or a matrix"),
        (ua.KernelLasso(kernel="rbf"), "'identity', 'gram', 'hessian' or a matrix"),
    ],
    ids=["LASSO", "ridge", "kernel LASSO"],
)
def test_only_weightings_that_work_are_offered(model, offered):
    with pytest.raises(ValueError, match=re.escape(f"expected {offered}, given 'foo'")):
        region_of(model, weighting="foo")
    for name in re.findall(r"'(\w+)'", offered):
        region_of(model, weighting=name)


def test_what_is_available_is_what_there_is():
    """A model without features has no band, and one without a minimum no estimate to start from."""

    class Plain:
        pass

    class PlainObjective(ua.objectives.Objective):
        def residuals(self, coefficients):
            return self.y - coefficients @ X.T

        def gradient(self, coefficients, residuals):
            return -residuals @ X

    class WithMinimum(PlainObjective):
        def estimate(self):
            return np.linalg.lstsq(X, self.y, rcond=None)[0]

    for kind, offered in ((PlainObjective, 4), (WithMinimum, 7)):
        ua.register_objective(Plain, lambda e, X, y, w, kind=kind: kind(y, X.shape[1]))
        region = region_of(Plain())
        with pytest.raises(ua.NotAvailable) as caught:
            region.ellipsoid()
        listed = str(caught.value).split("Available here: ")[1].rstrip(".").split(", ")
        joined = ", ".join(listed)
        assert "band" not in joined
        assert ("interval" in joined) == (offered == 7)


def test_the_print_tells_where_to_ask_for_bounds():
    for model in (Lasso(0.1), SVR(), HuberRegressor()):
        assert re.search(
            r"bounded +not examined here: crossings\(direction\)", str(region_of(model))
        )


def test_the_base_class_shows_signatures_and_parameters():
    import inspect

    lines = ("reach", "crossings", "sample", "bounded")
    for name in (*lines, "interval", "band", "summary", "test_functional"):
        method = getattr(ua.Region, name)
        kinds = {p.kind for p in inspect.signature(method).parameters.values()}
        assert not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
        for parameter in list(inspect.signature(method).parameters)[1:]:
            assert re.search(rf"\n +{parameter} : ", method.__doc__), (name, parameter)
