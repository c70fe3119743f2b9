"""Simultaneous bands: the interval of the fitted values, at inputs in any form."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, SplineTransformer

import unassuming as ua
from unassuming.regions import Status


def data(seed=0, n=40, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 1 + X @ rng.normal(size=d) + rng.laplace(size=n)


def splines():
    return make_pipeline(SplineTransformer(4), Ridge(alpha=0.3))


@pytest.mark.parametrize("noise", ["symmetric", "symmetric-exchangeable", "spherical"])
def test_the_band_at_the_training_inputs_bounds_the_fitted_values(noise):
    X, y = data()
    Phi = np.column_stack([np.ones(len(X)), X])
    region = ua.confidence_region(Ridge(alpha=2.0), X, y, noise=noise, random_state=0)
    band, interval = (
        region.band(X, 0.8, method="joint"),
        region.interval(Phi, 0.8, simultaneous=True, method="joint"),
    )
    np.testing.assert_allclose(band.lower, interval.lower, rtol=1e-12)
    np.testing.assert_allclose(band.upper, interval.upper, rtol=1e-12)
    np.testing.assert_allclose(band.estimate, Ridge(alpha=2.0).fit(X, y).predict(X), rtol=1e-9)


def test_the_band_of_a_kernel_bounds_the_values_of_its_expansion():
    rng = np.random.default_rng(1)
    X, Z = rng.uniform(0, 4, size=(10, 1)), rng.uniform(0, 4, size=(5, 1))
    y = np.sin(X[:, 0]) + rng.normal(size=10)
    region = ua.confidence_region(
        KernelRidge(kernel="laplacian", gamma=1.0, alpha=0.5), X, y, noise="spherical",
        random_state=0,
    )  # fmt: skip
    for inputs in (X, Z):
        band = region.band(inputs, method="joint")
        interval = region.interval(
            laplacian_kernel(inputs, X, gamma=1.0), simultaneous=True, method="joint"
        )
        assert np.isfinite(band.upper).all()
        np.testing.assert_allclose(band.upper, interval.upper, rtol=1e-9)
        np.testing.assert_allclose(band.lower, interval.lower, rtol=1e-9)


def test_every_member_lies_inside_the_band_at_every_level_and_input():
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(-2, 2, size=60))[:, None]
    y = np.sin(2 * x[:, 0]) + rng.standard_t(2, size=60)
    pipeline = splines()
    region = ua.confidence_region(pipeline, x, y, random_state=2)
    grid = np.linspace(-2, 2, 31)[:, None]
    spline = SplineTransformer(4).fit(x)
    rows = np.column_stack([np.ones(31), spline.transform(grid)])
    # An intercept and a spline basis share the constants: look where fitted values move.
    u = np.linalg.pinv(rows) @ rows @ rng.normal(size=(rows.shape[1], 200))
    for level in (0.2, 0.5, 0.9):
        band = region.band(grid, level, method="joint")
        assert band.status is Status.CERTIFIED
        ends = region.estimate + 0.999 * (region.reach(u.T, level)[:, None] * u.T)
        members = np.concatenate([ends, region.sample(50, level, random_state=0)])
        assert region.contains(members, level).all()
        values = members @ rows.T
        assert ((band.lower <= values) & (values <= band.upper)).all()
        assert ((values - band.estimate) / (band.upper - band.estimate)).max() > 0.5


def test_bands_are_nested_and_come_as_a_dictionary():
    X, y = data(3)
    region = ua.confidence_region(Ridge(), X, y, random_state=3)
    bands = region.band(X, level=(0.5, 0.95, 0.75), method="joint")
    assert list(bands) == [0.5, 0.95, 0.75]
    assert (bands[0.95].lower < bands[0.75].lower).all()
    assert (bands[0.75].lower < bands[0.5].lower).all()
    assert (bands[0.95].upper > bands[0.75].upper).all()
    assert (bands[0.75].upper > bands[0.5].upper).all()
    np.testing.assert_array_equal(region.band(X, 0.75, method="joint").upper, bands[0.75].upper)
    assert list(region.band(X, np.array([0.5]), method="joint")) == [0.5]


def test_a_pipeline_gives_the_band_of_its_features():
    rng = np.random.default_rng(6)
    x = rng.uniform(-1, 1, size=(50, 1))
    y = x[:, 0] ** 2 + rng.laplace(size=50)
    new = np.linspace(-1, 1, 7)[:, None]
    pipeline = make_pipeline(PolynomialFeatures(3, include_bias=False), LinearRegression())
    piped = ua.confidence_region(pipeline, x, y, random_state=6).band(new, method="joint")
    plain = ua.confidence_region(LinearRegression(), x ** [1, 2, 3], y, random_state=6)
    np.testing.assert_allclose(
        piped.upper, plain.band(new ** [1, 2, 3], method="joint").upper, rtol=1e-9
    )
    np.testing.assert_allclose(
        piped.lower, plain.band(new ** [1, 2, 3], method="joint").lower, rtol=1e-9
    )


def test_a_table_with_text_goes_through_its_encoder():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"x": rng.normal(size=40), "city": np.tile(["A", "B"], 20)})
    y = frame["x"] + 2 * (frame["city"] == "B") + rng.laplace(size=40)
    columns = ColumnTransformer(
        [("x", "passthrough", ["x"]), ("city", OneHotEncoder(drop="first"), ["city"])]
    )
    region = ua.confidence_region(make_pipeline(columns, Ridge(0.1)), frame, y, random_state=7)
    new = pd.DataFrame({"x": [0.0, 0.0], "city": ["A", "B"]})
    band, rows = region.band(new, method="joint"), np.array([[1.0, 0, 0], [1.0, 0, 1]])
    np.testing.assert_allclose(
        band.upper, region.interval(rows, simultaneous=True, method="joint").upper, rtol=1e-12
    )


def test_to_frame_has_one_row_for_each_input():
    X, y = data(12)
    region = ua.confidence_region(Ridge(), X, y, random_state=0)
    frame = region.band(X[:6], method="joint").to_frame()
    assert list(frame.columns) == ["estimate", "lower", "upper"]
    assert len(frame) == 6
    assert (frame["lower"] < frame["upper"]).all()
    assert "inner_upper" in region.band(X[:2], inner=True, method="joint").to_frame()


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (np.ones((3, 5)), "X has the wrong number of features: expected 2, as in the data"),
        (np.ones(2), "X is not a table"),
        (np.array([[1.0, np.nan]]), "X has missing or infinite values"),
        (np.array([["a", "b"]]), "X is not numeric"),
    ],
)
def test_inputs_of_the_wrong_kind_are_refused(inputs, said):
    X, y = data(14)
    region = ua.confidence_region(Ridge(), X, y, random_state=0)
    with pytest.raises(ValueError, match=said):
        region.band(inputs, method="joint")


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
def test_inputs_with_another_number_of_features_are_refused_by_a_kernel_too(kernel):
    X, y = data(14)
    region = ua.confidence_region(KernelRidge(kernel=kernel), X, y, random_state=0)
    with pytest.raises(ValueError, match=r"features|dimension"):
        region.band(np.ones((3, 5)), method="joint")


def test_a_target_without_meaning_is_refused():
    X, y = data(16)
    region = ua.confidence_region(Ridge(), X, y, random_state=0)
    with pytest.raises(ValueError, match="target is unknown"):
        region.band(X, target="truth", method="joint")
