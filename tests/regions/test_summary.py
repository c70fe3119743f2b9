"""`region.summary` and its relatives: pointwise intervals and tests."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import unassuming as ua
from unassuming.regions import Status

NOISES = [
    "symmetric",
    "exchangeable",
    "symmetric-exchangeable",
    "spherical",
    ua.noise.BlockSymmetric(np.arange(60) // 2),
    ua.noise.ExchangeableWithin(30),
]


def data(n=60, d=2, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.arange(1.0, d + 1) + noise * rng.standard_t(3, size=n)


def region_of(model=None, noise="symmetric", seed=0, n=60, **options):
    X, y = data(n, seed=seed)
    model = LinearRegression() if model is None else model
    return ua.confidence_region(model, X, y, noise=noise, m=10, random_state=3, **options)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_a_row_is_the_interval_and_the_test_of_its_coefficient(noise):
    region = region_of(noise=noise)
    table = region.summary(level=0.9)
    for j, name in enumerate(region.names):
        one = region.interval(name, level=0.9, simultaneous=False)
        np.testing.assert_allclose(
            [one.lower[0], one.upper[0]], [table.lower[j], table.upper[j]], rtol=1e-12
        )
        assert one.attained[0] == table.level[j] >= 0.9
        assert not one.simultaneous
        assert one.method == table.method[j].replace("nothing", "cells")
        pvalue = region.hypothesis(name, level=0.9).pvalue
        assert pvalue == pytest.approx(table.pvalue[j], rel=1e-12)
    several = region.interval(["x1", "x0"], level=0.9, simultaneous=False)
    np.testing.assert_allclose(several.lower, table.lower[[2, 1]], rtol=1e-12)


SYMMETRIC = {ties: region_of(ties=ties, n=40) for ties in ("random", "conservative")}


@pytest.mark.slow
@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    st.sampled_from(["intercept", "x0", "x1", "difference"]),
    st.floats(-0.5, 1.5),
    st.sampled_from([0.5, 0.8, 0.9, 0.95]),
)
def test_interval_and_test_are_dual(name, share, level):
    functional = [0.0, 1.0, -1.0] if name == "difference" else name
    region = SYMMETRIC["conservative"]
    found = region.interval(functional, level=level, simultaneous=False)
    low, high = float(found.lower[0]), float(found.upper[0])
    for tau in (low + share * (high - low), low, high):
        test = region.hypothesis(functional, tau, level=level)
        inside = low <= tau <= high
        assert inside == (test.pvalue > (1 - found.attained[0]) * (1 + 1e-9))
    above = region.hypothesis(functional, high + 1e-6 * (high - low), level=level)
    assert above.pvalue <= (1 - found.attained[0]) * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
def test_the_cells_never_see_y(noise):
    """With cells that do not depend on y, the estimate of each number is linear in y."""
    X, y = data(50)
    tables = [
        ua.confidence_region(LinearRegression(), X, outputs, noise=noise).summary()
        for outputs in (y, np.square(y), y + np.square(y))  # in another order each
    ]
    one, other, both = (table.estimate[1:] for table in tables)
    np.testing.assert_allclose(one + other, both, rtol=1e-9)
    assert tables[0].method == tables[1].method == tables[2].method


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_no_seed_enters(noise):
    X, y = data()
    found = []
    for seed in (0, 4, 5):
        region = ua.confidence_region(LinearRegression(), X, y, noise=noise, random_state=seed)
        table, single = region.summary(), region.interval("x1", level=[0.9, 0.95])
        test = region.hypothesis("x0", 1.0).pvalue
        arrays = [table.estimate, table.lower, table.upper, table.pvalue, table.level]
        arrays += [single[0.9].lower, single[0.95].upper]
        found.append([test, *(part.tobytes() for part in arrays)])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("noise", NOISES[:4])
def test_order_of_rows_and_columns_and_a_dependent_column_change_nothing(noise):
    X, y = data(d=3)
    X = np.column_stack([X[:, :2], np.rint(X[:, 2]), np.arange(60) % 7 == 0])
    table = ua.confidence_region(LinearRegression(), X, y, noise=noise).summary()
    width = table.upper - table.lower
    order = np.random.default_rng(1).permutation(60)
    more = np.column_stack([X, 2 * X[:, 0] + 1])
    for rows, columns, which in (
        (order, X, np.arange(5)),
        (np.arange(60), X[:, ::-1], np.array([0, 4, 3, 2, 1])),
        (np.arange(60), more, np.arange(2, 5)),
    ):
        moved = ua.confidence_region(LinearRegression(), columns[rows], y[rows], noise=noise)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = moved.summary()
        same = np.arange(2, 5) if len(which) == 3 else np.arange(5)
        same = same[np.isfinite(width[same])]
        there = which if len(which) == 3 else which[same]
        for name in ("estimate", "lower", "upper"):
            gap = np.abs(getattr(other, name)[there] - getattr(table, name)[same])
            assert (gap < 1e-10 * width[same]).all(), (noise, name)
        np.testing.assert_allclose(other.pvalue[there], table.pvalue[same], rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        Ridge(10.0),
        Lasso(0.5),
        HuberRegressor(max_iter=500),
        make_pipeline(PolynomialFeatures(1, include_bias=False), Ridge(10.0)),
    ],
    ids=repr,
)
def test_the_model_plays_no_part_in_the_intervals(model):
    plain, other = region_of().summary(), region_of(model).summary()
    for name in ("estimate", "lower", "upper", "pvalue", "level"):
        assert getattr(other, name).tolist() == getattr(plain, name).tolist()
    assert other.model_estimate.tolist() == region_of(model).estimate.tolist()


def test_pipelines_and_frames_name_the_rows():
    X, y = data()
    frame = pd.DataFrame(X, columns=["dose", "age"])
    scaled = ua.confidence_region(
        make_pipeline(StandardScaler(), LinearRegression()), frame, y, random_state=0, m=100
    ).summary()
    table = scaled.to_frame()
    assert table.index.tolist() == ["intercept", "dose", "age"]
    assert table.columns.tolist() == [
        *("estimate", "lower", "upper", "pvalue", "model_estimate", "level", "method")
    ]
    raw = ua.confidence_region(LinearRegression(), frame, y, random_state=0, m=100)
    scale = frame["dose"].std(ddof=0)
    row = raw.summary().to_frame().loc["dose"]
    assert table.loc["dose", "lower"] == pytest.approx(row["lower"] * scale)


@pytest.mark.slow
def test_weights_scale_the_rows():
    X, y = data()
    w = np.random.default_rng(0).uniform(0.2, 3, 60)
    options = {"m": 10, "random_state": 0}
    weighted = ua.confidence_region(LinearRegression(), X, y, sample_weight=w, **options)
    root = np.sqrt(w)
    columns = np.column_stack([root, X * root[:, None]])
    scaled = ua.confidence_region(
        LinearRegression(fit_intercept=False), columns, y * root, **options
    )
    for name in ("lower", "upper", "pvalue"):
        expected = getattr(scaled.summary(), name)
        np.testing.assert_allclose(getattr(weighted.summary(), name), expected, rtol=1e-9)
    w[::3] = 0
    kept = w > 0
    dropped = ua.confidence_region(LinearRegression(), X, y, sample_weight=w, **options)
    alone = ua.confidence_region(
        LinearRegression(), X[kept], y[kept], sample_weight=w[kept], **options
    )
    assert dropped.summary().lower.tolist() == alone.summary().lower.tolist()
    labels = np.arange(60) % 12
    found = dropped.summary(cells=labels, level=0.5)
    assert found.lower.tolist() == alone.summary(cells=labels[kept], level=0.5).lower.tolist()


def test_spherical_noise_gives_the_t_interval():
    X, y = data()
    region = region_of(noise="spherical")
    table = region.summary(level=0.95)
    Phi = np.column_stack([np.ones(60), X])
    theta, rest, *_ = np.linalg.lstsq(Phi, y, rcond=None)
    error = np.sqrt(rest[0] / 57 * np.diag(np.linalg.inv(Phi.T @ Phi)))
    half = stats.t.ppf(0.975, 57) * error
    np.testing.assert_allclose(table.lower, theta - half)
    np.testing.assert_allclose(table.pvalue, 2 * stats.t.sf(np.abs(theta / error), 57))
    assert table.method == ("t",) * 3
    assert (table.level == 0.95).all()
    both = region.hypothesis(["x0", "x1"])
    reduced = np.square(y - y.mean()).sum()
    F = (reduced - rest[0]) / 2 / (rest[0] / 57)
    assert both.statistic == pytest.approx(F)
    assert both.freedoms == (2.0, 57.0)
    assert both.pvalue == pytest.approx(stats.f.sf(F, 2, 57))
    assert region.summary(method="cells").method == ("cells",) * 3


def test_a_pointwise_band_is_an_interval_of_each_value():
    region = region_of(n=200)
    X = np.array([[0.0, 0.0], [1.0, -1.0]])
    band = region.band(X, level=[0.5, 0.9], simultaneous=False)
    rows = np.column_stack([np.ones(2), X])
    found = region.interval(rows, level=0.9, simultaneous=False)
    np.testing.assert_allclose(band[0.9].lower, found.lower)
    assert (band[0.5].lower > band[0.9].lower).all()
    assert "one at a time" in str(band[0.9])
    assert band[0.9].status is Status.ONE_BY_ONE
    joint = region.band(X, level=0.9, method="joint")
    assert (band[0.9].upper - band[0.9].lower < joint.upper - joint.lower).all()
    model = ua.ConfidenceRegressor(LinearRegression(), level=0.9, m=10).fit(*data(200))
    assert (
        model.predict_mean_interval(X).tolist()
        == np.column_stack([band[0.9].lower, band[0.9].upper]).tolist()
    )
    several = model.predict_mean_interval(X, level=[0.5, 0.9])
    assert several[0.5][:, 0].tolist() == band[0.5].lower.tolist()


@pytest.mark.slow
def test_simultaneous_methods():
    region = region_of(n=400)
    exact = region.interval(level=0.9, method="cells", simultaneous=True)
    assert exact.simultaneous
    assert exact.method == "balanced cells"
    assert exact.attained[0] >= 0.9
    assert "all at once" in str(exact)
    joint = region.interval(level=0.9, simultaneous=True, method="joint")
    assert joint.method == "joint region"
    assert joint.attained.tolist() == [0.9] * 3
    auto = region.interval(level=0.9, method="auto", simultaneous=True)
    assert auto.lower.tolist() in (exact.lower.tolist(), joint.lower.tolist())
    table = region.summary(level=0.9, simultaneous=True)
    assert table.simultaneous
    assert table.lower.tolist() == auto.lower.tolist()
    for method in ("joint", "cells"):
        found = region.summary(level=0.9, simultaneous=True, method=method)
        rejected = found.pvalue <= (1 - found.level) * (1 + 1e-9)
        assert ((found.lower > 0) | (found.upper < 0)).tolist() == rejected.tolist()
    few = region_of(n=30)
    assert few.interval(level=0.9, method="auto", simultaneous=True).method == "joint region"
    with pytest.raises(ua.NotAvailable, match="balanced cells are too few"):
        few.interval(level=0.9, method="cells", simultaneous=True)


def test_printed_summary():
    text = str(region_of(Ridge(100.0)).summary())
    assert "one at a time. Assumes independent errors, symmetric about zero." in text
    assert "column model_estimate of frames" in text
    exact = str(region_of(noise="spherical", n=400).summary())
    assert len(exact.splitlines()) == 6  # names, three coefficients, a sentence on two lines
    X, y = data(400, 60)
    long = ua.confidence_region(LinearRegression(), X, y, noise="spherical", m=2, random_state=0)
    assert "..." in str(long.summary())
    assert len(str(long.summary()).splitlines()) < 60
    html = region_of().summary()._repr_html_()
    assert html.startswith("<div><table>")
    assert "<th style='text-align:left'>x0</th>" in html


@pytest.mark.slow
def test_too_few_rows_are_infinite_and_say_why():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(16, 6))
    region = ua.confidence_region(LinearRegression(), X, rng.normal(size=16), m=10, random_state=0)
    table = region.summary()
    assert np.isneginf(table.lower).all()
    assert set(table.pvalue) == {1.0}
    words = " ".join(str(table).split())
    assert "No finite interval of level 0.95 is possible for all 7 numbers, but one of" in words
    assert "level 0.9375 is. About 28 rows like these would do." in words
    assert "ask at level 0.9375 or below" in words
    assert np.isfinite(region.summary(0.9375).upper).all()
    assert region.hypothesis("x0").pvalue == 1
    interval = region.interval("x0", level=0.95, simultaneous=False)
    assert interval.status is Status.TOO_FEW_CELLS
    assert "About 28 rows" in interval.reason
    frame = pd.get_dummies(pd.Series(list("aaaabbbbccccaaaa"))).astype(float)
    hot = ua.confidence_region(
        LinearRegression(), frame, rng.normal(size=16), random_state=0, m=100
    )
    assert "intercept, a, b, c depend on each other" in str(hot.summary(level=0.5))
    shift = region_of(noise="exchangeable").summary()
    assert np.isinf(shift.upper).tolist() == [True, False, False]
    assert "the data say nothing about intercept" in str(shift)


@pytest.mark.slow
def test_rare_levels_of_a_factor():
    rng = np.random.default_rng(0)
    level = np.repeat(list("abc"), [40, 17, 3])
    frame = pd.get_dummies(pd.Series(level)).astype(float).drop(columns="a")
    region = ua.confidence_region(
        LinearRegression(), frame, rng.normal(size=60), random_state=0, m=100
    )
    table = region.summary()
    assert np.isfinite(table.lower).tolist() == [True, True, False]
    words = " ".join(str(table).split())
    assert "for c, but one of level 0.75 is. About 120 rows" in words
    assert "ask at level 0.75 or below" in words


def test_a_treatment_of_few_clusters_has_as_many_cells_as_there_are_treated_ones():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(7), 8)
    X = np.column_stack([clusters < 3, rng.normal(size=(56, 2))])
    noise = ua.noise.BlockSymmetric(clusters)
    y = rng.normal(size=7)[clusters] + rng.normal(size=56)
    region = ua.confidence_region(LinearRegression(), X, y, noise=noise, m=10, random_state=0)
    words = " ".join(str(region.summary()).split())
    assert "for x0, but one of level 0.75 is. About 112 rows" in words
    assert np.isfinite(region.interval("x0", level=0.75, simultaneous=False).upper).all()
    assert np.isfinite(region.summary().upper[2])
    assert region.hypothesis(["x1", "x2"]).m >= 32  # not the few cells of the treatment


class Pinned(ua.noise.Symmetric):
    """A subclass that draws in its own way and declares nothing."""

    def draw(self, n, size, rng):
        return rng.choice(np.array([-1, 1], dtype=np.int8), size=(size, n))


class Declared(Pinned):
    def sign_units(self, n):
        return np.arange(n) // 2


class Wrong(Pinned):
    def sign_units(self, n):
        return np.arange(n - 1)


def test_noise_classes_declare_what_they_allow():
    with pytest.raises(ua.NotAvailable, match=r"declares neither.*sign_units"):
        region_of(noise=Pinned()).summary()
    declared = region_of(noise=Declared())
    assert np.isfinite(declared.summary().upper).all()
    with pytest.raises(ValueError, match="expected one number for each of the 60 rows, given 59"):
        region_of(noise=Wrong()).summary()
    with pytest.raises(ua.NotAvailable, match="method='pairs' needs rows that may be swapped"):
        region_of().summary(method="pairs")
    with pytest.raises(ua.NotAvailable, match="method='t' needs spherical noise"):
        region_of().summary(method="t")


def test_models_without_an_answer_say_why():
    X, y = data(30)
    labels = ua.confidence_region(RidgeClassifier(), X, y > 0, m=10, random_state=0)
    kernel = ua.confidence_region(KernelRidge(), X, y, m=10, random_state=0)
    for region, reason in ((labels, "labels are not a linear"), (kernel, "model with features")):
        for ask in (
            region.summary,
            lambda r=region: r.hypothesis([1.0] * r.objective.d),
            lambda r=region: r.band(X, simultaneous=False, level=0.9),
            lambda r=region: r.summary(simultaneous=True),
        ):
            with pytest.raises(ua.NotAvailable, match=reason):
                ask()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"functionals": [0.0, 0.0, 0.0]}, "functionals contains a zero functional"),
        ({"functionals": [0.0, np.nan, 0.0]}, "functionals has missing or infinite values"),
        ({"functionals": "age"}, "functionals contains an unknown name"),
        ({"cells": np.zeros(59, dtype=int)}, "cells has the wrong length: expected one label"),
        ({"cells": np.zeros(60, dtype=int)}, "cells has one label only"),
        (
            {"cells": [np.nan] + [1.0] * 59},
            "missing label: .* given nan at row 0 .counted from zero",
        ),
        ({"cells": 61}, "expected an integer from 2 to 16, or 32, or one label"),
        ({"cells": 20}, "expected an integer from 2 to 16, or 32, or one label"),
        ({"cells": np.arange(60)}, "too many labels: expected 2 to 32 labels"),
        ({"cells": 1}, "cells is not a number of cells"),
        ({"cells": True}, "cells is not a number of cells"),
        ({"cell_weights": "abs"}, "cell_weights is unknown: expected 'design' or 'residuals'"),
        ({"cell_estimate": "mode"}, "cell_estimate is unknown"),
        ({"method": "joint"}, "method is unknown"),
        ({"level": 1.5}, "level must be a number strictly between 0 and 1"),
        ({"level": 95}, "Pass 0.95 if 95 percent was meant"),
        ({"simultaneous": "no"}, "simultaneous is not a boolean"),
        ({"simultaneous": True, "method": "halves"}, "expected 'auto' or 'cells' or 'joint'"),
        (
            {"simultaneous": True, "cell_weights": "residuals"},
            "cell_weights does not go with simultaneous",
        ),
        ({"simultaneous": True, "method": "cells", "cells": 12}, "expected a power of two"),
    ],
)
def test_bad_options(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        region_of().summary(**options)
