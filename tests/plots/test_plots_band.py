"""Bands: what is drawn is what the region says, named and explained."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

X, Y, F = ua.datasets.sine(n=40, noise="laplace", random_state=0)
FRAME = pd.DataFrame({"cost $x$": X[:, 0]})


@pytest.fixture(scope="module")
def spline():
    model = make_pipeline(SplineTransformer(5), Ridge(0.1))
    return ua.confidence_region(model, X, Y, random_state=0, m=100)


@pytest.fixture(scope="module")
def kernel():
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8)
    return ua.confidence_region(model, FRAME, Y, random_state=0, m=100)


@pytest.fixture
def ax():
    return Figure().subplots()


def legend(ax):
    """What the legend says: its title on one line, then its entries."""
    drawn = ax.get_legend()
    title = " ".join(drawn.get_title().get_text().split())
    return title, [text.get_text() for text in drawn.get_texts()]


def test_bounds_are_those_of_the_region_in_the_order_of_the_feature(spline):
    shuffled = np.array([[7.0], [1.0], [4.0]])
    data = ua.plots.band_data(spline, shuffled, [0.9, 0.5], pointwise=[0.8])
    assert data.x.tolist() == [1.0, 4.0, 7.0]
    ordered = np.sort(shuffled, axis=0)
    for level, band in spline.band(ordered, [0.5, 0.9]).items():
        np.testing.assert_allclose(data.lower[level], band.lower, rtol=1e-12)
        np.testing.assert_allclose(data.upper[level], band.upper, rtol=1e-12)
        np.testing.assert_allclose(data.estimate, band.estimate, rtol=1e-12)
    alone = spline.band(ordered, 0.8, simultaneous=False)
    np.testing.assert_allclose(data.pointwise_upper[0.8], alone.upper, rtol=1e-12)


def test_the_grid_spans_the_data_and_keeps_the_names_of_a_frame(kernel):
    data = ua.plots.band_data(kernel, levels=[0.3])
    assert (data.x[0], data.x[-1], len(data.x), data.name) == (0.0, 10.0, 200, "cost $x$")
    np.testing.assert_array_equal(data.observed_x, X[:, 0])
    np.testing.assert_array_equal(data.observed_y, Y)


def test_infinite_bounds_fill_the_picture_and_say_why(kernel, ax):
    data = ua.plots.band_data(kernel, X[:3], [0.9])
    assert np.isposinf(data.upper[0.9]).all()
    ua.plots.band(kernel, FRAME, levels=[0.9], ax=ax)
    title, entries = legend(ax)
    answer = kernel.band(FRAME, 0.9)
    assert entries[0] == f"90 %: {answer.status.name.lower()}"
    assert f"90 %: {answer.description}" in title
    box = ax.collections[0].get_paths()[0].get_extents()
    low, high = ax.get_ylim()
    assert box.y0 < low < high < box.y1
    assert ax.get_xlabel() == "cost $x$"
    ax.figure.canvas.draw()  # dollars in a name are no mathematics


def test_an_empty_region_has_no_shade(kernel, ax):
    ua.plots.band(kernel, FRAME, [0.9], norm_bound=0.01, ax=ax)
    title, entries = legend(ax)
    assert entries[0] == "90 %: empty"
    assert "no function within the norm bound agrees with the data" in title
    assert "Covers" not in title


def test_a_region_from_a_stream_needs_inputs_and_draws_no_points(ax):
    stream = ua.StreamingRegion(Ridge())
    stream.partial_fit(X, Y)
    ua.plots.band(stream.region(), X[::10], [0.5], ax=ax)
    assert "data" not in legend(ax)[1]


def test_what_cannot_be_drawn_is_refused(spline):
    inputs, y, _ = ua.datasets.linear(n=20, d=2, random_state=0)
    two = ua.confidence_region(LinearRegression(), inputs, y, random_state=0, m=100)
    with pytest.raises(ValueError, match="a table with 1 feature, given shape"):
        ua.plots.band_data(two)
    with pytest.raises(ValueError, match="no band is asked for"):
        ua.plots.band_data(spline, levels=[])
    with pytest.raises(ValueError, match="the region is not that of a classifier"):
        ua.plots.classification_data(spline)


# --- classification -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def classes():
    inputs, y, _ = ua.datasets.labels(n=60, d=2, random_state=0)
    labels = np.where(y > 0, "yes", "no")
    table = pd.DataFrame(3 * inputs, columns=["a", "b"])
    model = LogisticRegression(fit_intercept=False)
    return ua.confidence_region(model, table, labels, random_state=0, m=20)


def test_a_label_is_undecided_where_bounds_have_both_signs(classes):
    data = ua.plots.classification_data(classes, levels=[0.5, 0.9], resolution=7)
    grid = pd.DataFrame({"a": np.tile(data.x1, 7), "b": np.repeat(data.x2, 7)})
    for level, band in classes.band(grid, [0.5, 0.9]).items():
        np.testing.assert_array_equal(data.lower[level].ravel(), band.lower)
        both = (band.lower <= 0) & (band.upper >= 0)
        np.testing.assert_array_equal(data.undecided[level].ravel(), both)
    assert (data.undecided[0.9] >= data.undecided[0.5]).all()
    assert list(data.classes) == ["no", "yes"]
    assert data.observed_x.shape == (60, 2)
