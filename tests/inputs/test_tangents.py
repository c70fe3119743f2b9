"""Derivatives of transformers, against differences."""

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

import unassuming as ua
from unassuming.inputs import tangents

X = 3 + 2 * np.random.default_rng(0).normal(size=(40, 2))
INSIDE = X[:6] + 1e-3
BEYOND = np.array([[-20.0, 30.0], [25.0, -9.0]])


def extrapolated(how):
    return SplineTransformer(5, degree=3, extrapolation=how)


@pytest.mark.parametrize(
    "steps",
    [
        (StandardScaler(),),
        (StandardScaler(with_std=False), RobustScaler(), MaxAbsScaler(), MinMaxScaler((-2, 3))),
        (PolynomialFeatures(3),),
        (PolynomialFeatures(2, include_bias=False), StandardScaler()),
        (SplineTransformer(6, include_bias=False, sparse_output=True),),
        *((extrapolated(how),) for how in ("constant", "linear", "periodic", "continue")),
        (StandardScaler(), SplineTransformer(4, degree=2), "passthrough"),
        (Nystroem(n_components=9, random_state=0),),
        (Nystroem("poly", degree=2, n_components=5, random_state=0),),
        (
            FrozenEstimator(StandardScaler().fit(X)),
            Nystroem(gamma=0.3, random_state=0, n_components=7),
        ),
        (make_pipeline(StandardScaler(), PolynomialFeatures(2)), SplineTransformer(4)),
    ],
    ids=str,
)
@pytest.mark.parametrize("column", [0, 1])
def test_they_agree_with_differences(steps, column):
    fitted = make_pipeline(*steps).fit(X)
    h = 1e-5 * np.eye(2)[column]
    for inputs in (INSIDE, BEYOND):
        features, slopes = tangents(fitted, inputs, column)
        near = [fitted.transform(inputs + s * h) for s in (-1, 0, 1)]
        near = [one.toarray() if hasattr(one, "toarray") else one for one in near]
        np.testing.assert_allclose(features, near[1], rtol=1e-12, atol=1e-12)
        size = 1 + np.abs(near[1]).max()
        np.testing.assert_allclose(slopes, (near[2] - near[0]) / 2e-5, rtol=1e-5, atol=1e-6 * size)


def test_tables_with_names():
    frame = pd.DataFrame(X, columns=["a", "b"])
    fitted = make_pipeline(StandardScaler(), PolynomialFeatures(2)).fit(frame)
    plain = make_pipeline(StandardScaler(), PolynomialFeatures(2)).fit(X)
    for one, two in zip(tangents(fitted, frame[:3], 1), tangents(plain, X[:3], 1), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-13)


def test_without_transformers_a_column_is_its_own_derivative():
    features, slopes = tangents(None, X, 1)
    np.testing.assert_array_equal(features, X)
    np.testing.assert_array_equal(slopes, np.tile([0.0, 1.0], (40, 1)))


@pytest.mark.parametrize(
    "step",
    [
        SplineTransformer(4, degree=1),
        MinMaxScaler(clip=True),
        Nystroem("laplacian", n_components=5),
    ],
    ids=str,
)
def test_no_derivative(step):
    with pytest.raises(ua.NotAvailable, match=f"{type(step).__name__}.* has none: use Standard"):
        tangents(make_pipeline(step).fit(X), X, 0)
