"""The pictures: what is on the axes is the data, named and explained."""

import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

ROOT = Path(__file__).resolve().parents[2]
X, Y, F = ua.datasets.sine(n=40, noise="laplace", random_state=0)


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def spline():
    model = make_pipeline(SplineTransformer(5), Ridge(0.1))
    return ua.confidence_region(model, X, Y, random_state=0, m=100)


@pytest.fixture(scope="module")
def kernel():
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8)
    return ua.confidence_region(model, pd.DataFrame({"time": X[:, 0]}), Y, random_state=0, m=100)


def legend(ax):
    """What the legend says: its title, then its entries."""
    drawn = ax.get_legend()
    return drawn.get_title().get_text(), [text.get_text() for text in drawn.get_texts()]


def contains(filled, points):
    """Whether a filled contour holds the points."""
    inside = np.zeros(len(points), dtype=bool)
    for path in filled.get_paths():
        inside |= path.contains_points(points)
    return inside


def line(ax, label):
    return next(drawn for drawn in ax.lines if drawn.get_label() == label)


def test_axes_that_are_given_are_used_and_returned(spline):
    figure = Figure()
    ax = figure.subplots()
    assert ua.plots.band(spline, levels=[0.9], ax=ax) is ax
    assert ua.plots.ranks([1, 2], 2).figure is not figure


def test_all_pictures_use_the_axes_that_are_given(spline):
    inputs, y, _ = ua.datasets.labels(n=30, d=2, random_state=0)
    labels = ua.confidence_region(LogisticRegression(), inputs, y, random_state=0, m=100)
    pictures = [
        lambda ax: ua.plots.family(spline, size=5, random_state=0, ax=ax),
        lambda ax: ua.plots.coefficients(spline, levels=[0.5], rays=8, ax=ax),
        lambda ax: ua.plots.classification(labels, levels=[0.9], resolution=3, ax=ax),
        lambda ax: ua.plots.ranks([1, 2], 2, ax=ax),
    ]
    for draw in pictures:
        ax = Figure().subplots()
        assert draw(ax) is ax
        assert ax.get_children()
        assert ax.has_data()


def test_a_region_with_holes_is_not_said_to_end_where_its_first_part_does():
    """A LASSO that many rays leave and enter again."""
    rng = np.random.default_rng(131)
    inputs = rng.normal(size=(10, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
    y = inputs @ [1.0, 0.0] + rng.laplace(size=10)
    model = Lasso(alpha=0.7, fit_intercept=False)
    region = ua.confidence_region(model, inputs, y, random_state=0, m=100)
    data = ua.plots.coefficients_data(region, levels=[0.9], rays=60)
    k = int(np.flatnonzero(data.beyond[0.9])[0])
    assert len(region.crossings(data.directions[k], level=0.9)) > 1
    title = legend(ua.plots.coefficients(region, levels=[0.9], rays=60))[0]
    assert "Exact boundary of the part around the estimate along 60 rays" in title
    assert "90 %: some rays enter the region again beyond the boundary shown." in title


@pytest.mark.slow
def test_a_picture_without_rays_does_not_describe_them():
    """An estimate outside [-1, 1] lies in no region of labels: only the projection is drawn."""
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(40, 2))
    labels = np.where(inputs @ [2.0, 1.0] + 0.5 * rng.normal(size=40) > 0, 1, -1)
    region = ua.confidence_region(RidgeClassifier(), inputs, labels, m=20, random_state=0)
    title = legend(ua.plots.coefficients(region, levels=[0.9], rays=20))[0]
    assert "the estimate is outside the region" in title
    assert "Slice" not in title
    assert "boundary shown" not in title


def test_the_shade_is_the_certified_band(spline):
    ax = ua.plots.band(spline, levels=[0.5, 0.9])
    data = ua.plots.band_data(spline, levels=[0.5, 0.9])
    for shade, level in zip(ax.collections, (0.9, 0.5), strict=True):
        corners = shade.get_paths()[0].vertices
        drawn = {(round(x, 6), round(y, 6)) for x, y in corners}
        assert set(zip(data.x.round(6), data.lower[level].round(6), strict=True)) <= drawn
        assert set(zip(data.x.round(6), data.upper[level].round(6), strict=True)) <= drawn
    np.testing.assert_array_equal(line(ax, "estimate").get_ydata(), data.estimate)
    np.testing.assert_array_equal(line(ax, "data").get_ydata(), Y)


def test_the_truth_is_drawn_where_the_band_is(spline):
    ax = ua.plots.band(spline, np.array([[5.0], [2.0]]), levels=[0.5], truth=F)
    np.testing.assert_allclose(line(ax, "truth").get_xydata(), [[2, F([[2]])[0]], [5, F([[5]])[0]]])


def test_attained_values_are_dashes_without_lines_between_them(spline):
    ax = ua.plots.band(spline, levels=[0.5], inner=2)
    drawn = line(ax, "50 % inner bound")
    assert (drawn.get_marker(), drawn.get_linestyle(), len(drawn.get_xdata())) == ("_", "None", 4)


def test_an_unbounded_band_fills_the_picture_and_says_so(kernel):
    ax = ua.plots.band(kernel, levels=[0.9])
    low, high = ax.get_ylim()
    corners = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert corners.min() < low
    assert corners.max() > high
    assert ((low < Y) & (high > Y)).all()
    title, entries = legend(ax)
    assert "90 %: unbounded" in entries
    assert "no finite bound is true" in " ".join(title.split())


def test_the_band_of_a_quantile_covers_a_quantile():
    model = QuantileRegressor(quantile=0.7, alpha=0)
    region = ua.confidence_region(model, X, Y, random_state=0, m=100)
    title = legend(ua.plots.band(region, levels=[0.5]))[0]
    assert "Covers the 0.7-quantile of y given x, if it lies" in " ".join(title.split())


@pytest.mark.slow
def test_it_says_what_the_band_covers(kernel):
    title = legend(ua.plots.band(kernel, levels=[0.3]))[0]
    assert "that equals the noise-free function at the observed" in " ".join(title.split())
    title, entries = legend(ua.plots.band(kernel, levels=[0.9], norm_bound=30))
    assert "the function itself, if its norm is at most 30" in title
    assert "90 % simultaneous band" in entries


def test_a_region_without_members_has_no_shade(kernel):
    ax = ua.plots.band(kernel, X_frame(), levels=[0.9], norm_bound=0.01)
    title, entries = legend(ax)
    assert "90 %: empty region" in entries
    assert "Covers" not in title
    assert not any(len(path.vertices) for path in ax.collections[0].get_paths())


def X_frame():
    return pd.DataFrame({"time": [1.0, 2.0]})


def test_axes_carry_the_name_of_the_column(kernel):
    ax = ua.plots.band(kernel, levels=[0.3])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time", "y")


def test_the_family_has_a_scale_of_levels(spline):
    ax = ua.plots.family(spline, size=10, level=0.8)
    drawn, data = ax.collections[0], ua.plots.family_data(spline, size=10, level=0.8)
    np.testing.assert_array_equal(drawn.get_array(), data.levels)
    np.testing.assert_array_equal([s[:, 1] for s in drawn.get_segments()], data.values)
    scale = ax.figure.axes[-1]
    assert "level" in scale.get_ylabel()
    assert drawn.get_clim() == (0, 0.8)


def test_every_outline_lies_inside_the_picture():
    inputs, y, truth = ua.datasets.linear(n=40, d=1, random_state=0)
    region = ua.confidence_region(LinearRegression(), inputs, y, random_state=0, m=100)
    ax = ua.plots.coefficients(region, truth=truth)
    corners = np.concatenate([patch.get_xy() for patch in ax.patches])
    corners = np.concatenate([corners, *(drawn.get_xydata() for drawn in ax.lines)])
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert ((corners > [left, bottom]) & (corners < [right, top])).all()
    title, entries = legend(ax)
    assert "Exact boundary" in title
    assert {
        "50 % region",
        "95 % region",
        "outer ellipses",
        "estimate",
        "truth",
    } == set(entries)


def test_an_open_region_leaves_the_picture_and_says_so():
    inputs, y, _ = ua.datasets.linear(n=40, d=2, random_state=0)
    region = ua.confidence_region(
        LinearRegression(), inputs, y, noise="exchangeable", random_state=0, m=100
    )
    ax = ua.plots.coefficients(region, ("intercept", "x0"), levels=[0.5, 0.9])
    (left, right), corners = ax.get_xlim(), ax.patches[0].get_xy()[:, 0]
    assert corners.min() < left
    assert corners.max() > right
    title = legend(ax)[0]
    assert "50 %, 90 %: the region is unbounded in some directions." in title
    assert "other coefficients fixed at the estimate" in " ".join(title.split())


def test_a_boundary_found_on_a_grid_is_not_called_exact():
    inputs, y, _ = ua.datasets.labels(n=30, random_state=0)
    region = ua.confidence_region(LogisticRegression(), inputs, y, random_state=0, m=100)
    title = " ".join(legend(ua.plots.coefficients(region, levels=[0.3], rays=8))[0].split())
    assert "traced, not certified: boundary found by tests of membership on a grid" in title


def test_the_undecided_zone_is_shaded_and_the_classes_are_told_apart():
    inputs, y = ua.datasets.two_classes(n=60, random_state=0)
    with pytest.warns(UserWarning, match="no coverage guarantee"):
        region = ua.confidence_region(
            ua.LSSVC(), inputs, y, noise="symmetric", random_state=0, m=100
        )
    ax = ua.plots.classification(region, levels=[0.5, 0.9], resolution=15)
    data = ua.plots.classification_data(region, levels=[0.5, 0.9], resolution=15)
    at = np.column_stack([part.ravel() for part in np.meshgrid(data.x1, data.x2)])
    for filled, level in zip(ax.collections, (0.9, 0.5), strict=False):
        shaded = contains(filled, at).reshape(15, 15)[1:-1, 1:-1]  # paths end at the outermost
        np.testing.assert_array_equal(shaded, data.undecided[level][1:-1, 1:-1])
        assert 0 < shaded.sum() < shaded.size
    assert len({drawn.get_marker() for drawn in ax.lines}) == 2
    assert "no coverage guarantee" in legend(ax)[0]
    expected = [
        "undecided at 90 %",
        "undecided at 50 %",
        "decision boundary",
        "class -1",
        "class 1",
    ]
    assert legend(ax)[1] == expected


def test_a_zone_narrower_than_the_grid_is_drawn_along_the_whole_boundary():
    """With 2,000 rows: nearly every point of a coarse grid is decided, the boundary is not."""
    inputs, y, _ = ua.datasets.labels(n=2000, d=2, random_state=0)
    with pytest.warns(UserWarning, match="no coverage guarantee"):
        region = ua.confidence_region(
            ua.LSSVC(), inputs, y, noise="symmetric", random_state=0, m=100
        )
    ax = ua.plots.classification(region, levels=[0.5], resolution=6)
    data = ua.plots.classification_data(region, levels=[0.5], resolution=6)
    assert data.undecided[0.5].sum() <= 6
    zone, boundary = ax.collections
    (path,) = boundary.get_paths()
    along = path.interpolated(10).vertices[5:-5]
    assert contains(zone, along).mean() > 0.95


def test_a_region_without_members_shades_nothing_and_says_so():
    """One input far away leaves |f| <= 1 only slopes that the other labels contradict."""
    inputs = np.random.default_rng(0).uniform(-1, 1, size=(100, 2))
    y = np.where(inputs[:, 0] > 0, 1, -1)
    inputs[0] = 30.0
    region = ua.confidence_region(RidgeClassifier(), inputs, y, random_state=0, m=100)
    ax = ua.plots.classification(region, levels=[0.5], resolution=4)
    title, labels = legend(ax)
    assert "50 %: the region of this level has no member at all." in title
    assert not any("undecided" in label for label in labels)


@pytest.mark.slow
def test_a_zone_that_is_everywhere_is_said_to_be():
    rng = np.random.default_rng(0)
    inputs, y = rng.uniform(-1, 1, size=(40, 2)), rng.integers(2, size=40)  # E[y|x] = 0
    region = ua.confidence_region(RidgeClassifier(), inputs, y, m=20, random_state=0)
    title = legend(ua.plots.classification(region, levels=[0.9], resolution=4))[0]
    assert "90 %: the label is undecided at every input shown." in title


def test_the_histogram_shows_the_counts_and_the_uniform_law():
    ranks = np.random.default_rng(0).integers(1, 101, size=300)
    ax = ua.plots.ranks(ranks, 100)
    assert sum(bar.get_height() for bar in ax.patches) == 300
    assert line(ax, "expected for uniform ranks").get_ydata()[0] == 15
    assert "300 samples" in ax.get_ylabel()


@pytest.mark.slow
def test_matplotlib_is_loaded_when_something_is_drawn_and_missed_in_one_sentence(python, tmp_path):
    missing = tmp_path / "matplotlib"
    missing.mkdir()
    (missing / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'matplotlib'\", name='matplotlib')\n"
    )
    script = (
        "import sys; sys.path[:0] = [sys.argv[1], sys.argv[2]]\n"
        "import unassuming as ua\n"
        "assert 'matplotlib' not in sys.modules\n"
        "ua.plots.ranks_data([1, 2], 2)\n"
        "try: ua.plots.ranks([1, 2], 2)\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    ran = subprocess.run(
        [*python, "-c", script, str(tmp_path), str(ROOT / "src")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == 'Drawing needs matplotlib: pip install "unassuming[plot]"\n'


def test_the_legend_says_how_many_rows_of_a_stream_are_drawn():
    stream = ua.StreamingRegion(LinearRegression(), random_state=0, m=100).partial_fit(X, Y)
    ax = ua.plots.band(stream.region(), X[::10], levels=[0.5], rows=(X[:5], Y[:5]))
    assert f"5 of the {len(Y)} rows" in legend(ax)[1]
    ax = ua.plots.band(stream.region(), X[::10], levels=[0.5])
    assert not any("rows" in entry or entry == "data" for entry in legend(ax)[1])
