"""Pipelines and models as people use them, on data that ship with scikit-learn and statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import binom, f
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

import unassuming as ua


def engel():
    """Household income and food expenditure, 235 Belgian households of 1857."""
    data = sm.datasets.engel.load_pandas().data
    return data[["income"]], data["foodexp"]


def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


def stackloss():
    """Loss of ammonia in a plant, 21 days."""
    data = sm.datasets.stackloss.load_pandas()
    return data.exog, data.endog


def mixed():
    """Diabetes with sex as a category in words."""
    X, y = diabetes()
    sex = np.where(X["sex"] > 0, "one", "other")
    return X[["age", "bmi", "bp"]].assign(sex=sex), y


def holed():
    """Diabetes with some entries missing."""
    X, y = diabetes()
    return X.mask(np.random.default_rng(0).uniform(size=X.shape) < 0.05), y


columns = ColumnTransformer(
    [("numbers", StandardScaler(), ["age", "bmi", "bp"]), ("words", OneHotEncoder(), ["sex"])]
)

PIPELINES = {
    "Nystroem": (diabetes, [StandardScaler(), Nystroem(gamma=0.02, n_components=15)]),
    "polynomials": (stackloss, [StandardScaler(), PolynomialFeatures(2, include_bias=False)]),
    "splines": (engel, [SplineTransformer(n_knots=4)]),
    "random features": (diabetes, [StandardScaler(), RBFSampler(gamma=0.01, n_components=20)]),
    "one-hot columns": (mixed, [columns]),
    "missing values": (holed, [SimpleImputer(), StandardScaler()]),
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("kind", PIPELINES)
def test_pipelines_give_a_finite_band_around_the_predictions(kind):
    load, steps = PIPELINES[kind]
    X, y = load()
    model = ua.ConfidenceRegressor(make_pipeline(*steps, Ridge(1.0)), level=0.5, random_state=0)
    model.fit(X, y)
    band, prediction = model.predict_band(X), model.predict(X)
    np.testing.assert_allclose(
        model.region_.band(X, level=0.5, method="joint").estimate, prediction, rtol=1e-6, atol=1e-6
    )
    # The penalty of the model plays no part in bounds from cells, which have an estimate of theirs.
    assert ((band[:, 0] <= prediction) & (prediction <= band[:, 1])).mean() > 0.9
    own = model.region_.band(X, level=0.5).estimate
    assert ((band[:, 0] <= own) & (own <= band[:, 1])).all()
    assert np.isfinite(band).all(), model.band_status_
    assert np.isfinite(cross_val_score(model, X, y, cv=2)).all()
    assert model.n_features_in_ == X.shape[1]


# --- exact in practice ----------------------------------------------------------------------------

RUNS = 400


@pytest.mark.slow
def test_least_squares_is_exact_with_heteroscedastic_heavy_tails(capsys):
    """n = 25, t(2) noise whose scale grows with the inputs: joint coverage at 0.9."""
    n, beta = 25, np.array([1.0, 2.0, -1.0])
    quantile = f.ppf(0.9, 3, n - 3)
    ours = classical = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 2))
        Phi = np.column_stack([np.ones(n), X])
        scale = 0.1 + X[:, 0] ** 2
        y = Phi @ beta + scale * rng.standard_t(2, size=n)
        region = ua.confidence_region(LinearRegression(), X, y, random_state=seed)
        ours += region.contains(beta, level=0.9)
        estimate, rss, *_ = np.linalg.lstsq(Phi, y, rcond=None)
        step = Phi @ (estimate - beta)
        classical += (step @ step) / 3 <= quantile * rss[0] / (n - 3)
    low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], RUNS, 0.9)
    with capsys.disabled():
        print(
            f"\njoint coverage at 0.9 in {RUNS} runs: this region {ours / RUNS:.4f}, "
            f"classical F region {classical / RUNS:.4f}"
        )
    assert low <= ours <= high
    assert classical < low  # the comparison is worth printing
