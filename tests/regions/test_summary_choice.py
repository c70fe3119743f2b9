"""Which method serves a number: stronger assumptions, few rows, and what is said about it."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor, LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

import unassuming as ua
from unassuming.cells import Method, certified_q
from unassuming.regions.single._divided import InCells
from unassuming.regions.single._methods import Asked, _certified
from unassuming.regions.single._numbers import _too_few


def few_rows(n=16, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d - 1))
    return X, X[:, 0] + rng.normal(size=n)


def region_of(X, y, noise, **options):
    return ua.confidence_region(
        LinearRegression(), X, y, noise=noise, **{"m": 100, "random_state": 0, **options}
    )


@pytest.mark.slow
def test_a_stronger_assumption_allows_the_methods_of_the_weaker_one():
    X, y = few_rows()
    names = ["x0", "x1"]
    weak = region_of(X, y, "exchangeable").summary(functionals=names)
    both = region_of(X, y, "symmetric-exchangeable").summary(functionals=names)
    assert weak.method == both.method == ("palmrt", "palmrt")
    assert np.isfinite(both.upper - both.lower).all()
    np.testing.assert_array_equal(both.lower, weak.lower)
    np.testing.assert_array_equal(both.upper, weak.upper)
    assert np.isinf(region_of(X, y, "symmetric").summary(functionals=names).upper).all()


@pytest.mark.slow
def test_signs_serve_what_permutations_cannot():
    """Exchangeable noise may have any mean; symmetric noise may not."""
    X, y = few_rows(21, 4)
    both = region_of(X, y, "symmetric-exchangeable").summary()
    assert both.method == ("halves", "palmrt", "palmrt", "palmrt")
    assert np.isfinite(both.upper - both.lower).all()
    assert np.isinf(region_of(X, y, "exchangeable").summary(functionals="intercept").upper[0])


def test_cells_that_keep_too_little_give_way():
    """Equal cells have an interval of 2.35 standard errors over the root of what they keep."""
    kept = np.array([[1.0] * 8, [0.5] * 8, [0.05] * 8, [1.0] * 6 + [0.0] * 2])
    nothing = np.zeros_like(kept)
    found = InCells(nothing, kept, kept, nothing, np.full(4, 8.0))
    assert _too_few(found, 0.95).tolist() == [False, False, True, True]


def test_intervals_without_a_common_point_do_not_change_the_method():
    """Which method serves a number must not depend on y."""
    lo = np.arange(0.0, 190.0, 10.0)[None]
    asked = Asked(np.ones((1, 1)), 0.8, np.zeros(1), "random", 0)
    empty = _certified(Method.HALVES, lo, lo + 1, np.array([42.0]), asked)
    assert certified_q(0.8, 20) == 2
    assert (empty.lower[0], empty.upper[0], empty.finite[0]) == (42.0, 42.0, True)
    assert empty.pvalue[0] == 3 / 20
    endless = np.where(lo < 20, -np.inf, lo), np.where(lo < 20, np.inf, lo + 1)
    assert not _certified(Method.HALVES, *endless, np.zeros(1), asked).finite[0]


def test_pairs_give_way_to_permutations_with_few_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 11))
    region = region_of(X, X[:, 0] + rng.normal(size=100), "exchangeable")
    found, pairs = (region.summary(functionals="x0", method=m) for m in ("auto", "pairs"))
    assert found.method == ("palmrt",)
    assert (found.upper - found.lower)[0] < (pairs.upper - pairs.lower)[0]


@pytest.mark.parametrize(
    ("noise", "model", "weight", "apart"),
    [
        ("spherical", LinearRegression(), True, "estimates, without the sample weights, since"),
        ("spherical", Ridge(10.0), True, "without the penalty, and without the sample weights"),
        ("symmetric", Ridge(100.0), True, "separate estimates, without the penalty."),
        ("symmetric", HuberRegressor(alpha=200.0), False, "the penalty and the loss of the model"),
    ],
)
def test_what_sets_the_estimate_apart(noise, model, weight, apart):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    y = X[:, 0] * 2 + rng.normal(size=40) * 0.01
    y[0] += 3.0
    w = np.where(np.arange(40) == 0, 1e4, 1.0) if weight else None
    region = ua.confidence_region(model, X, y, noise=noise, sample_weight=w, m=10, random_state=0)
    said = str(region.summary()).replace("\n", " ")
    assert "outside the interval of" in said
    assert apart in said


@pytest.mark.slow
def test_bounds_from_cells_say_where_the_estimate_lies_outside():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=400)
    region = ua.confidence_region(Ridge(500.0), X, y, random_state=0)
    single = region.interval("x1", simultaneous=False)
    together = region.interval(method="cells", simultaneous=True)
    assert "the interval of x1: " in single.reason
    assert "separate estimates, without the penalty." in together.reason
    assert "the interval of input 0" in region.band(X[:1] * 9, method="cells").reason
    plain = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    assert plain.interval("x1", level=0.9, simultaneous=False).reason == ""


def test_balanced_cells_refuse_exchangeable_noise_with_the_reason():
    X, y = few_rows(60, 3)
    region = region_of(X, y, "exchangeable")
    with pytest.raises(ua.NotAvailable, match="are too imprecise for all at once"):
        region.interval(method="cells", simultaneous=True)
    auto, joint = (
        region.interval(method="auto", simultaneous=True),
        region.interval(method="joint", simultaneous=True),
    )
    np.testing.assert_array_equal(auto.upper, joint.upper)


@pytest.mark.slow
def test_permutations_are_a_remedy_where_they_would_work():
    X, y = few_rows()
    names = ["x0", "x1"]
    remedy = "noise='exchangeable', if the noise is exchangeable"
    assert remedy in region_of(X, y, "symmetric").summary(functionals=names).explanation.text()
    alone = region_of(X, y, "symmetric").summary(functionals="intercept")
    assert remedy not in alone.explanation.text()
    few = region_of(X[:12], y[:12], "symmetric").summary(functionals=names)
    assert remedy not in few.explanation.text()


@pytest.mark.slow
def test_the_band_of_an_estimator_is_the_narrower_kind_by_prediction():
    X, y, _ = ua.datasets.linear(n=400, d=6, random_state=0)
    model = ua.ConfidenceRegressor(LinearRegression(), level=0.9).fit(X, y)
    band = model.region_.band(X[:30], level=0.9, method="auto")
    assert band.method == "balanced cells"
    np.testing.assert_array_equal(model.predict_band(X[:30])[:, 1], band.upper)
    assert model.band_status_ == "every bound is finite, and all of them hold at once"


def test_a_long_model_is_wrapped():
    X, y = few_rows(60, 3)
    steps = [StandardScaler(with_mean=bool(k % 2), with_std=False) for k in range(5)]
    region = ua.confidence_region(make_pipeline(*steps, Ridge(0.5)), X, y, m=10, random_state=0)
    for text in (str(region), str(region.summary())):
        assert max(map(len, text.splitlines())) <= 100
        assert "Ridge(alpha=0.5)" in text


@pytest.mark.slow
def test_a_value_at_the_edge_of_a_spline_is_not_wider_than_the_band():
    """Cells keep little of it, so halves take their place; the design alone decides that."""
    X, y, _ = ua.datasets.sine(n=80, noise="laplace", random_state=0)
    spline = make_pipeline(SplineTransformer(8, include_bias=False), LinearRegression())
    region = ua.confidence_region(spline, X, y, random_state=0)
    edges = np.array([[0.0], [0.4], [9.6], [10.0]])
    alone, together = (region.band(edges, 0.9, simultaneous=both) for both in (False, True))
    assert "halves" in alone.method
    assert ((alone.upper - alone.lower) < (together.upper - together.lower)).all()
