"""One region, several shapes: which one it has and why, and what it costs to ask."""

import importlib

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.svm import SVR

import unassuming as ua
from unassuming.geometry.labels import Admissible, Boxes, LabelModel
from unassuming.regions.shapes import LabelShape, PiecewiseShape, QuadraticShape

X, Y, _ = ua.datasets.linear(n=20, d=2, random_state=0)
LABELS = np.where(np.median(Y) < Y, 1, -1)

CASES = {
    "least squares": (LinearRegression(), Y, {}, QuadraticShape, "weighted by its Hessian"),
    "kernel ridge": (KernelRidge(kernel="rbf"), Y, {}, QuadraticShape, "weighted by its Hessian"),
    "identity": (Ridge(), Y, {"weighting": "identity"}, PiecewiseShape, "not weighted by its Hess"),
    "SVR": (SVR(), Y, {}, PiecewiseShape, "gradient of ε-SVR is piecewise linear"),
    "Lasso": (Lasso(0.1), Y, {}, PiecewiseShape, "gradient of the LASSO objective is piecewise"),
    "Huber": (HuberRegressor(), Y, {}, PiecewiseShape, "only membership can be tested for Huber"),
    "labels": (RidgeClassifier(), LABELS, {}, LabelShape, "fresh labels are drawn"),
    "logistic": (LogisticRegression(), LABELS, {}, LabelShape, "fresh labels are drawn"),
}


def build(name, m=20):
    estimator, y, options, _, _ = CASES[name]
    return ua.confidence_region(estimator, X, y, m=m, random_state=0, **options)


@pytest.mark.parametrize("name", CASES)
def test_the_shape_says_which_it_is_and_why(name):
    region, (_, _, _, kind, why) = build(name), CASES[name]
    assert type(region) is ua.Region
    assert type(region.shape) is kind
    assert str(region.shape).startswith(f"{region.shape.name}: ")
    assert why in str(region.shape)
    assert region.exact_crossings == region.shape.exact == (name not in ("Huber", "logistic"))


def test_a_stream_is_a_problem_without_rows():
    region = ua.StreamingRegion(LinearRegression(), m=20, random_state=0).partial_fit(X, Y).region()
    assert type(region) is ua.Region
    assert type(region.shape) is QuadraticShape
    assert region.problem.rows is None
    for ask in (lambda: region.perturbations, lambda: region.inputs, region.diagnose):
        with pytest.raises(ua.NotAvailable, match=r"need.* the rows of the data"):
            ask()
    with pytest.raises(ua.NotAvailable, match="other than coefficient vectors need the rows"):
        region.rank(lambda X: X[:, 0])


@pytest.mark.parametrize("name", CASES)
def test_the_work_of_printing_does_not_grow_with_m(name, monkeypatch):
    """At most a few decompositions of single matrices, such as the rank of the features."""
    made = []

    def counted(path):
        module, function = path.rsplit(".", 1)
        plain = getattr(importlib.import_module(module), function)

        def wrapper(A, *args, **options):
            made.append(np.ndim(A))
            return plain(A, *args, **options)

        monkeypatch.setattr(path, wrapper)

    for path in ("eigh", "eigvalsh", "svd", "qr", "cholesky", "matrix_rank"):
        counted(f"numpy.linalg.{path}")
    work = []
    for m in (20, 200):
        region = build(name, m=m)
        made.clear()
        for costly in (Boxes, LabelModel):  # SciPy's decompositions, of label regions
            monkeypatch.setattr(costly, "of", None)
        for kind in ("of_features", "of_kernel"):
            monkeypatch.setattr(Admissible, kind, None)
        assert "Confidence region of" in str(region)
        assert all(ndim <= 2 for ndim in made)  # no stack of m - 1 matrices
        work.append(len(made))
    assert work[0] == work[1] <= 2


def test_the_identity_of_a_region_is_read_only():
    region = build("least squares")
    for name in ("n", "m", "noise", "names", "tie_order", "estimate"):
        with pytest.raises(AttributeError):
            setattr(region, name, 1)


def test_printing_counts_signs_where_that_decides():
    region = build("kernel ridge", m=40)
    assert f"up to level {region.max_bounded_level:.4g}" in str(region)
    assert "region.bounded(level) decides" in str(build("least squares"))


@pytest.mark.parametrize("name", CASES)
def test_a_test_compares_once(name, monkeypatch):
    """Residuals, admission and the comparison of a candidate are computed once."""
    region = build(name)
    _ = region.estimate
    counts = {"residuals": 0, "admits": 0, "contrast": 0}

    def counted(owner, method, key):
        plain = getattr(owner, method)

        def wrapper(*args, **options):
            counts[key] += 1
            return plain(*args, **options)

        monkeypatch.setattr(owner, method, wrapper)

    counted(type(region.objective), "residuals", "residuals")
    counted(type(region.noise), "admits", "admits")
    counted(type(region._engine.score), "contrast", "contrast")
    coefficients = 0.9 * region.estimate
    result = region.test(coefficients)
    assert counts == {"residuals": 1, "admits": 1, "contrast": 1}
    assert result.rank == region.rank(coefficients)
    np.testing.assert_array_equal(result.statistics, region.statistics(coefficients))
