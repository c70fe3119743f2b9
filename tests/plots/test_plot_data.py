"""The data behind the pictures: the region's own numbers, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

X, Y, F = ua.datasets.sine(n=40, noise="laplace", random_state=0)


@pytest.fixture(scope="module")
def spline():
    model = make_pipeline(SplineTransformer(5), Ridge(0.1))
    return ua.confidence_region(model, X, Y, random_state=0, m=100)


@pytest.fixture(scope="module")
def kernel():
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8)
    return ua.confidence_region(model, pd.DataFrame({"time": X[:, 0]}), Y, random_state=0, m=100)


@pytest.fixture(scope="module")
def line():
    inputs, y, _ = ua.datasets.linear(n=40, d=1, random_state=0)
    return ua.confidence_region(LinearRegression(), inputs, y, random_state=0, m=100)


# band


def test_bounds_are_those_of_the_region_in_the_order_of_the_feature(spline):
    shuffled = np.array([[7.0], [1.0], [4.0]])
    data = ua.plots.band_data(spline, shuffled, levels=[0.9, 0.5], method="joint")
    for level in (0.5, 0.9):
        band = spline.band(np.sort(shuffled, axis=0), level=level, method="joint")
        assert data.x.tolist() == [1.0, 4.0, 7.0]
        np.testing.assert_allclose(data.lower[level], band.lower, rtol=1e-12)
        np.testing.assert_allclose(data.upper[level], band.upper, rtol=1e-12)
        np.testing.assert_allclose(data.estimate, band.estimate, rtol=1e-12)


def test_the_grid_spans_the_data_and_keeps_the_names_of_a_frame(kernel):
    data = ua.plots.band_data(kernel, levels=[0.3])
    assert (data.x[0], data.x[-1], len(data.x)) == (0.0, 10.0, 200)
    np.testing.assert_array_equal(data.observed_x, X[:, 0])
    np.testing.assert_array_equal(data.observed_y, Y)


def test_infinite_bounds_stay_infinite_and_say_why(kernel):
    data = ua.plots.band_data(kernel, X[:3], levels=[0.9])
    assert np.isposinf(data.upper[0.9]).all()
    assert np.isneginf(data.lower[0.9]).all()
    assert data.status[0.9].name == "UNBOUNDED"
    assert "norm_bound" in data.reason[0.9]


def test_a_norm_bound_makes_it_a_band_of_the_function(kernel):
    data = ua.plots.band_data(kernel, X[::10], levels=[0.9], norm_bound=30)
    assert data.target == "function"
    assert np.isfinite(data.upper[0.9]).all()


def test_attained_values_lie_within_the_outer_bounds(spline):
    data = ua.plots.band_data(spline, X, levels=[0.9], inner=3)
    assert data.inner_x.tolist() == [X[0, 0], X[20, 0], X[-1, 0]]
    outer = spline.band(data.inner_x[:, None], level=0.9, method="joint")
    assert (outer.lower <= data.inner_lower[0.9]).all()
    assert (data.inner_lower[0.9] < data.inner_upper[0.9]).all()
    assert (data.inner_upper[0.9] <= outer.upper).all()


def test_rows_of_weight_zero_are_not_among_the_data():
    weight = np.where(np.arange(40) < 5, 0.0, 1.0)
    region = ua.confidence_region(Ridge(), X, Y, sample_weight=weight, random_state=0, m=100)
    data = ua.plots.band_data(region, levels=[0.5])
    np.testing.assert_array_equal(data.observed_x, X[5:, 0])
    np.testing.assert_array_equal(data.observed_y, Y[5:])


def test_the_levels_are_those_asked_for_and_the_bounds_those_attained():
    few = ua.confidence_region(LinearRegression(), X[::8], Y[::8], m="all", random_state=0)
    attained = float(few.level(0.8))
    data = ua.plots.band_data(few, levels=[0.8], method="joint")
    assert list(data.lower) == [0.8] != [attained]
    same = ua.plots.band_data(few, levels=[attained], method="joint")
    np.testing.assert_array_equal(data.lower[0.8], same.lower[attained])


def test_two_features_are_no_band():
    inputs, y, _ = ua.datasets.linear(n=20, d=2, random_state=0)
    region = ua.confidence_region(LinearRegression(), inputs, y, random_state=0, m=100)
    with pytest.raises(ValueError, match="a table with 1 feature, given shape"):
        ua.plots.band_data(region)


# family


def test_members_belong_to_the_region_and_carry_their_level(spline):
    data = ua.plots.family_data(spline, X, size=23, level=0.8)
    assert spline.contains(data.members, level=0.8).all()
    np.testing.assert_array_equal(data.levels, spline.rank(data.members) / spline.m)
    assert (np.diff(data.levels) <= 0).all()
    assert data.levels.min() < 0.3 < 0.6 < data.levels.max()


def test_curves_are_the_fitted_values_of_the_members(spline):
    data = ua.plots.family_data(spline, X, size=5)
    np.testing.assert_allclose(data.values, spline.objective.fitted(data.members), atol=1e-9)
    fitted = spline.objective.fitted(spline.estimate[None, :])[0]
    np.testing.assert_allclose(data.estimate, fitted, atol=1e-9)


@pytest.mark.slow
def test_curves_of_logistic_regression_are_means_of_labels():
    inputs, y, _ = ua.datasets.labels(n=40, d=1, random_state=0)
    model = LogisticRegression(fit_intercept=False)
    region = ua.confidence_region(model, inputs, y, random_state=0, m=100)
    ordered = np.sort(inputs, axis=0)
    data = ua.plots.family_data(region, ordered, size=4, level=0.3, norm_bound=5)
    order = np.argsort(inputs[:, 0])
    fitted = region.objective.fitted(data.members)[:, order]
    np.testing.assert_allclose(data.values, fitted, atol=1e-12)


def test_the_same_state_gives_the_same_family(spline):
    one, two, other = (
        ua.plots.family_data(spline, X, size=4, random_state=state) for state in (3, 3, 4)
    )
    np.testing.assert_array_equal(one.values, two.values)
    assert not np.array_equal(one.values, other.values)


def test_an_unbounded_family_is_refused(kernel):
    with pytest.raises(ua.NotAvailable, match="bounded region"):
        ua.plots.family_data(kernel, size=3, level=0.9)


# coefficients


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_membership_flips_at_the_boundary(line, level):
    data = ua.plots.coefficients_data(line, levels=[level], rays=40)
    out = data.boundary[level] - data.estimate
    assert line.contains(data.estimate + 0.999 * out, level=level).all()
    assert not line.contains(data.estimate + 1.001 * out, level=level).any()


def test_the_outer_ellipse_holds_the_boundary_and_is_the_ellipsoid(line):
    data = ua.plots.coefficients_data(line, levels=[0.9], rays=40)
    ellipsoid = line.ellipsoid(0.9)
    assert ellipsoid.contains(data.boundary[0.9]).all()
    away = data.ellipses[0.9] - ellipsoid.center
    size = np.einsum("kj,jl,kl->k", away, ellipsoid.matrix, away)
    np.testing.assert_allclose(size, ellipsoid.squared_radius, rtol=1e-9)


def test_a_slice_keeps_the_other_coefficients():
    inputs, y, _ = ua.datasets.linear(n=40, d=3, random_state=0)
    region = ua.confidence_region(LinearRegression(), inputs, y, random_state=0, m=100)
    data = ua.plots.coefficients_data(region, ["x0", "x2"], levels=[0.9], rays=8)
    assert (data.names, data.slice) == (("x0", "x2"), True)
    inside = np.tile(region.estimate, (8, 1))
    inside[:, [1, 3]] += 0.999 * (data.boundary[0.9] - data.estimate)
    assert region.contains(inside, level=0.9).all()
    assert ua.plots.coefficients_data(region, rays=8).names == ("x0", "x1")


def test_the_rays_go_once_around_and_along_the_axes(line):
    data = ua.plots.coefficients_data(line, rays=30)
    angle = np.unwrap(np.arctan2(data.directions[:, 1], data.directions[:, 0]))
    turn = angle[-1] - angle[0]
    assert len(angle) == 30
    assert np.pi < abs(turn) < 2 * np.pi
    assert (np.diff(angle) * np.sign(turn) >= 0).all()
    assert ((data.directions == 0).sum(axis=0) >= 2).all()


def test_a_direction_without_end_is_seen_even_if_it_is_a_single_one():
    inputs, y, _ = ua.datasets.linear(n=40, d=2, random_state=0)
    region = ua.confidence_region(
        LinearRegression(), inputs, y, noise="exchangeable", random_state=0, m=100
    )
    data = ua.plots.coefficients_data(region, ["intercept", "x0"], levels=[0.9], rays=20)
    assert np.isposinf(data.reach[0.9]).sum() == 2
    assert np.isnan(data.boundary[0.9]).any(axis=1).sum() == 2
    assert not data.ellipses


def test_other_models_have_rays_and_no_ellipse():
    inputs, y, _ = ua.datasets.linear(n=30, d=2, random_state=0)
    region = ua.confidence_region(Lasso(0.1), inputs, y, random_state=0, m=100)
    data = ua.plots.coefficients_data(region, levels=[0.5], rays=12)
    assert np.isfinite(data.boundary[0.5]).all()
    assert not data.ellipses


@pytest.mark.parametrize(
    "which", [("x0",), ("x0", "x0"), (0, -2), ("x0", "age"), (0, 7), (0, 1, 1)]
)
def test_which_has_to_name_two_coefficients(line, which):
    with pytest.raises(ValueError, match="which does not name two coefficients"):
        ua.plots.coefficients_data(line, which)


# classification


@pytest.fixture(scope="module")
def classes():
    inputs, y = ua.datasets.two_classes(n=60, random_state=0)
    names = np.where(y > 0, "yes", "no")
    with pytest.warns(UserWarning, match="no coverage guarantee"):
        return ua.confidence_region(
            ua.LSSVC(),
            pd.DataFrame(inputs, columns=["a", "b"]),
            names,
            noise="symmetric",
            random_state=0,
            m=100,
        )


@pytest.mark.slow
def test_a_label_is_decided_where_all_bounds_have_one_sign(classes):
    data = ua.plots.classification_data(classes, levels=[0.5, 0.9], resolution=9)
    for level in (0.5, 0.9):
        for i, j in np.ndindex(9, 9):
            at = pd.DataFrame({"a": [data.x1[j]], "b": [data.x2[i]]})
            band = classes.band(at, level=level, method="joint")
            decided = band.lower[0] > 0 or band.upper[0] < 0
            assert data.undecided[level][i, j] == (not decided)
            assert data.estimate[i, j] == pytest.approx(band.estimate[0], abs=1e-9)
    assert 0 < data.undecided[0.5].sum() < data.undecided[0.9].sum() < 81


def test_the_grid_shows_all_data(classes):
    data = ua.plots.classification_data(classes, levels=[0.5], resolution=4)
    low, high = data.observed_x.min(axis=0), data.observed_x.max(axis=0)
    assert data.x1[0] < low[0] < high[0] < data.x1[-1]
    assert data.x2[0] < low[1] < high[1] < data.x2[-1]
    assert list(data.classes) == ["no", "yes"]


def test_infinite_bounds_decide_nothing():
    inputs, y, _ = ua.datasets.labels(n=30, random_state=0)
    region = ua.confidence_region(LogisticRegression(), inputs, y, random_state=0, m=100)
    data = ua.plots.classification_data(region, levels=[0.9], resolution=5)
    assert data.undecided[0.9].all()


def test_a_regression_has_no_classes(line):
    with pytest.raises(ValueError, match="not that of a classifier"):
        ua.plots.classification_data(line)


# ranks


def test_bars_count_every_rank_once():
    data = ua.plots.ranks_data(np.repeat(np.arange(1, 101), 3), m=100)
    assert data.counts.tolist() == [15] * 20
    assert data.expected == 15


def test_the_limits_hold_all_bars_of_uniform_ranks_with_their_probability():
    data = ua.plots.ranks_data(np.ones(500, dtype=int), m=100, bars=10)
    law = binom(500, 0.1)
    outside = law.cdf(data.low - 1) + law.sf(data.high)
    assert 10 * outside <= 0.01
    assert law.cdf(data.low) > 0.0005  # no wider than they have to be
    assert law.sf(data.high - 1) > 0.0005


@pytest.mark.parametrize(
    ("ranks", "m", "bars", "message"),
    [
        ([0, 3], 10, None, "integers from 1 to m = 10, given 0 to 3"),
        ([11], 10, None, "out of range"),
        ([], 10, None, "a vector of integers"),
        ([0.5], 10, None, "a vector of integers"),
        ([3], 10, 3, "bars does not divide m"),
    ],
)
def test_bad_ranks_are_refused(ranks, m, bars, message):
    with pytest.raises(ValueError, match=message):
        ua.plots.ranks_data(ranks, m, bars)


# band of a stream


def test_a_stream_has_a_band_without_points_unless_rows_are_given():
    frame = pd.DataFrame({"time": X[:, 0]})
    stream = ua.StreamingRegion(LinearRegression(), random_state=0, m=100).partial_fit(frame, Y)
    region, at = stream.region(), frame[::10]
    alone = ua.plots.band_data(region, at, levels=[0.9])
    assert (len(alone.observed_x), alone.name) == (0, "time")
    np.testing.assert_allclose(alone.upper[0.9], region.band(at, level=0.9, method="joint").upper)
    given = ua.plots.band_data(region, at, levels=[0.9], rows=(frame[:5], Y[:5]))
    assert given.observed_y.tolist() == Y[:5].tolist()
    assert given.observed_x.tolist() == X[:5, 0].tolist()
