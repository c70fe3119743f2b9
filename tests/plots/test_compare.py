"""A Gaussian process drawn beside a certified band."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unassuming as ua

X, y, f = ua.datasets.sine(n=20, random_state=0)
GRID = np.linspace(0, 10, 7)[:, None]


@pytest.fixture(scope="module")
def region():
    process = GaussianProcessRegressor(9.0 * RBF() + WhiteKernel(0.4), optimizer=None)
    return ua.confidence_region(process, X, y, random_state=0, m=100)


def deviation_of_the_function(X, y, scale=1.0):
    """The posterior deviation by the textbook formula, with noise in the training data alone."""
    kernel = 9.0 * RBF()
    K, k = kernel(X) + 0.4 * np.eye(len(X)), kernel(GRID, X)
    variance = 9.0 - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T))
    return scale * np.sqrt(variance)


@pytest.mark.parametrize("normalize_y", [False, True])
def test_the_interval_is_that_of_the_function(region, normalize_y):
    kernel = 9.0 * RBF() + WhiteKernel(0.4)
    process = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=normalize_y).fit(X, y)
    data = ua.plots.band_data(region, GRID, [0.5, 0.8], norm_bound=9.0, compare=process)
    scale = float(np.std(y)) if normalize_y else 1.0
    half = norm.ppf(0.9) * deviation_of_the_function(X, y, scale)
    assert data.compared.level == 0.8
    np.testing.assert_allclose(data.compared.mean, process.predict(GRID))
    np.testing.assert_allclose((data.compared.upper - data.compared.lower) / 2, half, rtol=1e-6)


@pytest.mark.slow
def test_inputs_in_any_order_and_a_pipeline(region):
    process = make_pipeline(
        StandardScaler(), GaussianProcessRegressor(RBF() + WhiteKernel(), optimizer=None)
    ).fit(X, y)
    one, two = (
        ua.plots.band_data(region, Z, [0.5], norm_bound=9.0, compare=process).compared
        for Z in (GRID, GRID[::-1])
    )
    np.testing.assert_array_equal(one.mean, two.mean)
    assert (one.lower < one.mean).all()


@pytest.mark.slow
def test_it_is_named_in_the_legend_and_in_a_note(region):
    process = GaussianProcessRegressor(RBF(), alpha=0.1, optimizer=None).fit(X, y)
    ax = ua.plots.band(region, GRID, [0.9], norm_bound=9.0, compare=process)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"process, 90 %", "process, mean", "90 % simultaneous band"} <= set(names)
    texts = ax.figure.findobj(lambda artist: hasattr(artist, "get_text"))
    written = " ".join(" ".join(text.get_text().split()) for text in texts)
    assert "if prior and noise are Gaussian" in written


@pytest.mark.slow
def test_refusals(region):
    with pytest.raises(TypeError, match="compare is not a Gaussian process"):
        ua.plots.band_data(region, GRID, [0.5], norm_bound=9.0, compare=LinearRegression())
    with pytest.raises(ValueError, match="compare is not fitted"):
        ua.plots.band_data(region, GRID, [0.5], norm_bound=9.0, compare=GaussianProcessRegressor())
