"""Coefficients: boundaries, projections and forests are those of the region and its summary."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import Lasso, LinearRegression, Ridge

import unassuming as ua
from unassuming.plots.coefficients import polygon

PAIR = ["x0", "x2"]


@pytest.fixture(scope="module")
def line():
    X, y, _ = ua.datasets.linear(n=40, d=1, random_state=0)
    return ua.confidence_region(LinearRegression(), X, y, random_state=0, m=100)


@pytest.fixture(scope="module")
def region():
    X, y, _ = ua.datasets.linear(n=120, d=4, random_state=0)
    return ua.confidence_region(LinearRegression(), X, y, random_state=0, m=100)


@pytest.fixture
def ax():
    return Figure().subplots()


def legend(ax):
    drawn = ax.get_legend()
    title = " ".join(drawn.get_title().get_text().split())
    return title, [text.get_text() for text in drawn.get_texts()]


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_membership_flips_at_the_boundary(line, level):
    data = ua.plots.coefficients_data(line, levels=[level], rays=40)
    steps = data.reach[level][:, None] * data.directions
    assert line.contains(line.estimate + (1 - 1e-9) * steps, level=level).all()
    assert not line.contains(line.estimate + (1 + 1e-9) * steps, level=level).any()
    np.testing.assert_allclose(data.boundary[level], line.estimate + steps)


def test_a_region_with_holes_is_not_said_to_end_where_its_first_part_does(ax):
    """A LASSO that many rays leave and enter again."""
    rng = np.random.default_rng(131)
    X = rng.normal(size=(10, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
    y = X @ [1.0, 0.0] + rng.laplace(size=10)
    model = Lasso(alpha=0.7, fit_intercept=False)
    found = ua.confidence_region(model, X, y, random_state=0, m=100)
    data = ua.plots.coefficients_data(found, levels=[0.9], rays=60)
    k = int(np.flatnonzero(data.beyond[0.9])[0])
    assert len(found.crossings(data.directions[k], level=0.9)) > 1
    ua.plots.coefficients(found, levels=[0.9], rays=60, ax=ax)
    title = legend(ax)[0]
    assert "Exact boundary of the part around the estimate along 60 rays" in title
    assert "90 %: some rays enter the region again beyond the boundary shown." in title


# --- whatever the others are --------------------------------------------------------------------


@pytest.mark.parametrize("method", ["joint", "cells"])
def test_the_box_is_that_of_the_intervals(region, method, ax):
    data = ua.plots.coefficients_data(region, PAIR, [0.5, 0.9], rays=8, method=method)
    options = {"method": method, "simultaneous": True}
    for level, interval in region.interval(level=[0.5, 0.9], **options).items():
        rows = [interval.names.index(name) for name in PAIR]
        expected = np.column_stack([interval.lower, interval.upper])[rows]
        np.testing.assert_allclose(data.box[level], expected, rtol=1e-9)
    ua.plots.coefficients(region, PAIR, [0.9], rays=8, method=method, ax=ax)
    title, entries = legend(ax)
    if method == "cells":
        assert title == "Simultaneous intervals of x0 and x2, from balanced cells of rows"
        assert entries == ["90 % intervals", "estimate"]
    else:
        assert title.startswith("Outer bound of x0 and x2, whatever the other coefficients are")
        assert "Slice, with the other coefficients fixed at the estimate" in title
        assert entries == ["90 % region", "90 % slice", "estimate"]


def test_the_polygon_holds_every_member_and_the_slice(region):
    data = ua.plots.coefficients_data(region, PAIR, [0.9], rays=40)
    members = region.sample(200, level=0.9, random_state=0)[:, [1, 3]]
    normals, supports = data.normals, data.supports[0.9]
    points = np.vstack([members, data.boundary[0.9]])
    assert (points @ normals.T <= supports + 1e-9).all()
    corners = polygon(normals, supports, np.array([[-100.0, 100.0], [-100.0, 100.0]]))
    assert len(corners) > 20
    assert polygon(normals, np.full(len(normals), np.nan), np.eye(2)).shape == (0, 2)
    assert (corners @ normals.T <= supports + 1e-9).all()


# --- all coefficients ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def summary():
    X, y, _ = ua.datasets.linear(n=40, d=2, random_state=0)
    return ua.confidence_region(Ridge(30.0), X, y, random_state=0, m=100).summary()


def test_the_forest_has_the_numbers_of_the_summary_in_the_order_asked_for(summary):
    data = ua.plots.forest_data(summary, which=["x1", "intercept"])
    assert data.names == ["x1", "intercept"]
    ends = np.concatenate(data.sets)
    np.testing.assert_array_equal(ends, np.c_[summary.lower, summary.upper][[2, 0]])
    assert ((ends[:, 0] <= data.estimate) & (data.estimate <= ends[:, 1])).all()
    assert not np.allclose(data.model_estimate, data.estimate)  # the penalty
    assert data.notes == ["95 % intervals, one at a time"]
    assert ua.plots.forest_data(replace(summary, simultaneous=True)).notes[0].endswith("at once")


def test_infinite_ends_are_arrows_at_the_edge_and_empty_rows_are_named(summary, ax):
    lower, upper = summary.lower.copy(), summary.upper.copy()
    lower[0], upper[1], lower[2] = -np.inf, np.inf, np.nan
    open_ended = replace(summary, lower=lower, upper=upper)
    ua.plots.forest(open_ended, ax=ax)
    low, high = ax.get_xlim()
    arrows = {one.get_marker(): one.get_xydata().tolist() for one in ax.lines}
    assert arrows["<"] == [[low, 0.0]]
    assert arrows[">"] == [[high, 1.0]]
    title = legend(ax)[0]
    assert "No finite interval at this level: intercept, x0." in title
    assert "No value is in the region: x1." in title


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"which": ["x1", "age"]}, "expected some of intercept, x0, x1, given .'age'."),
        ({"which": []}, "which does not name coefficients"),
        ({"summary": 3}, "Call forest.region.summary.."),
    ],
)
def test_a_forest_needs_a_summary_and_names_of_it(summary, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ua.plots.forest_data(**{"summary": summary, **arguments})
