"""Two coefficients whatever the others are: the polygon, its box, and the table."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression

import unassuming as ua
from unassuming.plots._projection import Projection

PAIR = ["x0", "x2"]


@pytest.fixture(scope="module")
def region():
    inputs, y, _ = ua.datasets.linear(n=130, d=3, random_state=0)
    return ua.confidence_region(LinearRegression(), inputs, y, random_state=0, m=100)


@pytest.mark.parametrize("method", ["joint", "cells"])
def test_the_box_is_that_of_the_intervals(region, method):
    data = ua.plots.coefficients_data(region, PAIR, [0.5, 0.9], rays=8, method=method)
    for level, interval in region.interval(
        level=[0.5, 0.9], method=method, simultaneous=True
    ).items():
        rows = [interval.names.index(name) for name in PAIR]
        expected = np.column_stack([interval.lower, interval.upper])[rows]
        np.testing.assert_allclose(data.projection.box(level), expected, rtol=1e-9)


def test_the_polygon_holds_every_member_and_the_slice(region):
    data = ua.plots.coefficients_data(region, PAIR, [0.9], rays=40)
    members = region.sample(200, level=0.9, random_state=0)[:, [1, 3]]
    points = np.vstack([members, data.boundary[0.9]])
    supports = data.projection.supports[0.9]
    assert (points @ data.projection.normals.T <= supports + 1e-9).all()
    window = np.array([[-100.0, 100.0], [-100.0, 100.0]])
    corners = data.projection.polygon(0.9, window)
    assert (corners @ data.projection.normals.T <= supports + 1e-9).all()
    box = np.column_stack([corners.min(axis=0), corners.max(axis=0)])
    wide = data.projection.box(0.9)
    assert (box[:, 0] >= wide[:, 0] - 1e-9).all()
    assert (box[:, 1] <= wide[:, 1] + 1e-9).all()


def test_an_unbounded_side_leaves_the_window_and_an_empty_region_has_no_corner():
    axes = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    supports = {0.9: np.array([1.0, 2.0, np.inf, 0.0]), 0.5: np.full(4, np.nan)}
    projection = Projection(axes, supports)
    window = np.array([[-9.0, 9.0], [-9.0, 9.0]])
    corners = projection.polygon(0.9, window)
    assert sorted(map(tuple, corners)) == [(-2.0, 0.0), (-2.0, 9.0), (1.0, 0.0), (1.0, 9.0)]
    assert projection.polygon(0.5, window).shape == (0, 2)
    assert projection.bounded == []


def test_a_slice_is_called_a_slice(region):
    ax = ua.plots.coefficients(region, PAIR, [0.9], rays=12)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["90 % region", "90 % slice", "estimate"]
    drawn = ax.patches[0].get_xy()
    data = ua.plots.coefficients_data(region, PAIR, [0.9], rays=12)
    low, high = data.projection.box(0.9).T
    assert (drawn >= low - 1e-9).all()
    assert (drawn <= high + 1e-9).all()
    cells = ua.plots.coefficients(region, PAIR, [0.9], rays=12, method="cells")
    labels = [text.get_text() for text in cells.get_legend().get_texts()]
    assert labels == ["90 % intervals", "estimate"]


def test_a_slice_that_the_estimate_hides_is_neither_drawn_nor_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(130, 2))
    near = np.hstack([X, X + 1e-3 * rng.normal(size=(130, 2))])
    region = ua.confidence_region(
        LinearRegression(), near, rng.normal(size=130), random_state=0, m=100
    )
    ax = ua.plots.coefficients(region, levels=[0.9], rays=12)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["90 % region", "estimate"]
    assert "Slice" not in ax.get_legend().get_title().get_text()


def test_without_finite_bounds_only_the_slice_is_drawn():
    inputs, y, _ = ua.datasets.linear(n=12, d=5, random_state=0)
    region = ua.confidence_region(Lasso(0.1), inputs, y, m=20, random_state=0)
    ax = ua.plots.coefficients(region, levels=[0.9], rays=8)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "90 % slice" in labels
    assert "90 % region" not in labels


@pytest.mark.slow
def test_the_box_of_labels_is_that_of_the_intervals():
    """Searches for two numbers and for all of them stop at different bounds."""
    inputs, labels, _ = ua.datasets.labels(n=16, random_state=0)
    region = ua.confidence_region(ua.LSSVC(), inputs, labels, m=10, random_state=0)
    table = region.interval(level=0.5, simultaneous=True, method="joint")
    data = ua.plots.coefficients_data(region, levels=[0.5], rays=4)
    rows = [table.names.index(name) for name in data.names]
    expected = np.column_stack([table.lower, table.upper])[rows]
    np.testing.assert_array_equal(data.projection.box(0.5), expected)


def test_given_intervals_are_drawn_as_they_are(region):
    found = region.interval(level=0.9, simultaneous=True, method="joint")
    wider = replace(found, lower=found.lower - 1, upper=found.upper + 2)
    data = ua.plots.coefficients_data(region, PAIR, [0.9], rays=8, intervals={0.9: wider})
    rows = [found.names.index(name) for name in PAIR]
    expected = np.column_stack([wider.lower, wider.upper])[rows]
    np.testing.assert_array_equal(data.projection.box(0.9), expected)


@pytest.mark.parametrize("simultaneous", [True, False])
def test_given_bands_are_drawn_as_they_are(simultaneous):
    X, y, _ = ua.datasets.linear(n=60, d=1, random_state=0)
    line = ua.confidence_region(LinearRegression(), X, y, random_state=0, m=100)
    grid = np.array([[1.0], [-1.0], [0.0]])
    found = line.band(grid, level=0.5, simultaneous=simultaneous)
    wider = replace(found, lower=found.lower - 1)
    levels = {"levels": [0.5]} if simultaneous else {"levels": [], "pointwise": [0.5]}
    data = ua.plots.band_data(line, grid, bands={0.5: wider}, **levels)
    drawn = data.lower if simultaneous else data.pointwise_lower
    np.testing.assert_array_equal(drawn[0.5], wider.lower[[1, 2, 0]])
    other = {"levels": [], "pointwise": [0.5]} if simultaneous else {"levels": [0.5]}
    data = ua.plots.band_data(line, grid, bands={0.5: wider}, **other)
    computed = line.band(grid, level=0.5, simultaneous=not simultaneous)
    drawn = data.pointwise_lower if simultaneous else data.lower
    np.testing.assert_array_equal(drawn[0.5], computed.lower[[1, 2, 0]])
