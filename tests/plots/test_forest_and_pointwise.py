"""Forest plots of a summary, and pointwise bands beside simultaneous ones."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

X, Y, COEFFICIENTS = ua.datasets.linear(n=40, d=2, random_state=0)


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def summary():
    region = ua.confidence_region(Ridge(30.0), X, Y, random_state=0, m=100)
    return region.summary()


@pytest.fixture(scope="module")
def line():
    return ua.confidence_region(LinearRegression(), X[:, :1], Y, random_state=0, m=100)


def legend(ax):
    drawn = ax.get_legend()
    return drawn.get_title().get_text(), [text.get_text() for text in drawn.get_texts()]


def marked(ax, marker):
    """The points with a marker, as pairs."""
    found = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == marker]
    return [tuple(point) for points in found for point in points]


# forest


def test_forest_data_are_the_numbers_of_the_summary_in_the_order_asked_for(summary):
    data = ua.plots.forest_data(summary, which=["x1", "intercept"])
    frame = summary.to_frame().loc[["x1", "intercept"]]
    assert data.names == ("x1", "intercept")
    for name in ("estimate", "model_estimate", "lower", "upper"):
        np.testing.assert_array_equal(getattr(data, name), frame[name].to_numpy(dtype=float))
    assert data.title == "95 % intervals, one at a time"
    assert data.notes == ()
    assert ua.plots.forest_data(replace(summary, simultaneous=True)).title.endswith("all at once")


def test_every_row_has_its_interval_its_points_and_its_name(summary):
    ax = Figure().subplots()
    assert ua.plots.forest(summary, ax=ax) is ax
    drawn = ax.collections[0].get_segments()
    expected = zip(summary.lower, summary.upper, strict=True)
    assert [(s[0, 0], s[1, 0]) for s in drawn] == list(expected)
    assert [s[0, 1] for s in drawn] == [0, 1, 2]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(summary.names)
    assert ax.get_ylim() == (2.5, -0.5)  # the first name is at the top
    assert [x for x, _ in marked(ax, "o")] == summary.estimate.tolist()
    assert [x for x, _ in marked(ax, "|")] == summary.model_estimate.tolist()
    left, right = ax.get_xlim()
    assert left < min(summary.lower.min(), 0) < max(summary.upper.max(), 0) < right
    assert any(line.get_linestyle() == "--" and line.get_xdata()[0] == 0 for line in ax.lines)
    assert not marked(ax, "<") + marked(ax, ">")


def test_infinite_ends_are_arrows_at_the_edge_and_are_named(summary):
    lower, upper = summary.lower.copy(), summary.upper.copy()
    lower[1], upper[1:] = -np.inf, np.inf
    point = np.where(np.arange(3) == 1, np.nan, summary.estimate)
    open_ended = replace(summary, lower=lower, upper=upper, estimate=point)
    ax = ua.plots.forest(open_ended)
    left, right = ax.get_xlim()
    assert marked(ax, "<") == [(left, 1)]
    assert marked(ax, ">") == [(right, 1), (right, 2)]
    segments = ax.collections[0].get_segments()
    assert segments[1][:, 0].tolist() == [left, right]
    assert segments[2][:, 0].tolist() == [summary.lower[2], right]
    title = legend(ax)[0]
    assert title.startswith("95 % intervals, one at a time\n")
    assert "No finite interval at this level: x0, x1." in title


def test_an_empty_interval_is_not_drawn_but_named(summary):
    lower, upper = summary.lower.copy(), summary.upper.copy()
    lower[0], upper[0] = np.inf, -np.inf
    ax = ua.plots.forest(replace(summary, lower=lower, upper=upper))
    assert len(ax.collections[0].get_segments()) == 2
    assert not marked(ax, "<") + marked(ax, ">")
    assert "No value is in the region: intercept." in legend(ax)[0]


def test_the_figure_grows_with_the_rows(summary):
    few = ua.plots.forest(summary, which=["x0"]).figure.get_figheight()
    assert ua.plots.forest(summary).figure.get_figheight() > few


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"which": ["age"]}, ValueError, "expected some of intercept, x0, x1, given 'age'"),
        ({"which": []}, ValueError, "which is empty"),
        ({"summary": [1.0]}, TypeError, "expected the result of region.summary"),
    ],
)
def test_what_cannot_be_drawn_is_refused(summary, arguments, error, message):
    with pytest.raises(error, match=message):
        ua.plots.forest(**{"summary": summary, **arguments})


# band


def test_pointwise_and_simultaneous_bands_are_drawn_together(line):
    at = np.linspace(-1, 1, 5)[::-1, None]
    data = ua.plots.band_data(line, at, levels=[0.9], pointwise=[0.95, 0.8])
    for level in (0.8, 0.95):
        expected = line.band(at[::-1], level=level, simultaneous=False)
        np.testing.assert_allclose(data.pointwise_lower[level], expected.lower, rtol=1e-12)
        np.testing.assert_allclose(data.pointwise_upper[level], expected.upper, rtol=1e-12)
    ax = ua.plots.band(line, at, levels=[0.9], pointwise=[0.95, 0.8])
    names = ["90 % simultaneous band", "95 % pointwise band", "80 % pointwise band"]
    assert [shade.get_label() for shade in ax.collections] == names
    corners = {tuple(v) for v in ax.collections[2].get_paths()[0].vertices.round(9)}
    for bound in (data.pointwise_lower[0.8], data.pointwise_upper[0.8]):
        assert set(zip(data.x.round(9), bound.round(9), strict=True)) <= corners


def test_pointwise_bands_can_stand_alone_and_say_where_they_are_infinite(line):
    ax = ua.plots.band(line, levels=[], pointwise=[0.9])
    assert [shade.get_label() for shade in ax.collections] == ["90 % pointwise band"]
    few = ua.confidence_region(LinearRegression(), X[:6, :1], Y[:6], random_state=0, m=100)
    title, entries = legend(ua.plots.band(few, levels=[], pointwise=[0.99]))
    assert "99 %: not finite everywhere" in entries
    assert "Pointwise, 99 %: too few parts of the data" in title


def test_a_band_without_levels_or_without_features_is_refused(line):
    with pytest.raises(ValueError, match="no band is asked for"):
        ua.plots.band_data(line, levels=[])
    kernel = ua.confidence_region(KernelRidge(kernel="rbf"), X[:, :1], Y, random_state=0, m=100)
    with pytest.raises(ua.NotAvailable, match="a model with features"):
        ua.plots.band_data(kernel, levels=[], pointwise=[0.9])


@pytest.mark.slow
def test_only_the_joint_region_has_members_inside_its_band():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    region = ua.confidence_region(
        LinearRegression(), X, X[:, 0] + rng.normal(size=400), random_state=0, m=100
    )
    with pytest.raises(ua.NotAvailable, match="members: leave out inner, or use method='joint'"):
        ua.plots.band_data(region, levels=[0.9], method="cells", inner=3)
    drawn, joint = (
        ua.plots.band_data(region, levels=[0.9], method=method, inner=1)
        for method in ("auto", "joint")
    )
    assert drawn.lower[0.9].tolist() == joint.lower[0.9].tolist()
    assert drawn.inner_lower[0.9].tolist() == joint.inner_lower[0.9].tolist()


def test_a_band_allows_for_a_model_error_and_takes_a_noise_scale():
    X, y, _ = ua.datasets.sine(n=200, random_state=0)
    model = make_pipeline(SplineTransformer(6), LinearRegression())
    region = ua.confidence_region(model, X, y, m=20, random_state=0)
    grid, assumed = X[:5], {"model_error": 0.2, "noise_scale": 0.7}
    options = {"levels": [0.9], "pointwise": [0.9], "method": "cells", "target": "function"}
    data = ua.plots.band_data(region, grid, **options, **assumed)
    for simultaneous, drawn in ((True, data.upper), (False, data.pointwise_upper)):
        own = {"method": "cells"} if simultaneous else {"simultaneous": False}
        band = region.band(grid, 0.9, target="function", **own, **assumed)
        np.testing.assert_allclose(np.sort(drawn[0.9]), np.sort(band.upper))
    ax = ua.plots.band(region, grid, **options, **assumed)
    title = " ".join(ax.get_legend().get_title().get_text().split())
    assert "Covers the function itself, if the model misses it by at most 0.2." in title
    ax = ua.plots.band(region, grid, **{**options, "target": None}, **assumed)
    title = " ".join(ax.get_legend().get_title().get_text().split())
    assert "Covers the model, if the model misses the noise-free function by at most 0.2." in title
