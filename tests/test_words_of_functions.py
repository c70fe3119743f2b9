"""What results and help say about functions with a norm bound."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR
from typer.testing import CliRunner

import unassuming as ua
from unassuming._errors import NotAvailable
from unassuming.cli._app import app
from unassuming.noise import BlockSymmetric
from unassuming.regions import table


@pytest.mark.parametrize("model", [SVR(gamma=0.5), ua.KernelHuber(gamma=0.5)], ids=repr)
def test_where_the_region_adds_nothing_cells_are_a_remedy_that_works(model):
    X, y, _ = ua.datasets.sine(n=80, noise="laplace", random_state=0)
    region = ua.confidence_region(model, X, y, m=20, random_state=0)
    reason = region.band([[4.0]], norm_bound=30).reason
    assert "Remedies: method='cells'" in reason
    assert "simultaneous=False" in reason
    for options in ({"method": "cells"}, {"simultaneous": False}):
        band = region.band([[4.0]], norm_bound=30, **options)
        assert 0 < band.upper[0] - band.lower[0] < 59


@pytest.mark.parametrize("model", [SVR(gamma=0.5), ua.KernelHuber(gamma=0.5)], ids=repr)
@pytest.mark.parametrize(
    ("n", "named"), [(16, (True, True)), (15, (False, True)), (4, (False, False))]
)
def test_few_rows_make_cells_remedies_where_they_are_enough(model, n, named):
    X, y, _ = ua.datasets.sine(n=n, noise="laplace", random_state=0)
    region = ua.confidence_region(model, X, y, m=20, random_state=0)
    reason = region.band([[4.0]], norm_bound=30).reason
    assert ("method='cells'" in reason, "simultaneous=False" in reason) == named
    if not named[0]:
        with pytest.raises(NotAvailable, match="balanced cells are too few"):
            region.band([[4.0]], norm_bound=30, method="cells")


@pytest.mark.parametrize("noise", [BlockSymmetric(np.repeat(np.arange(16), 2)), "exchangeable"])
def test_cells_are_a_remedy_if_signs_of_blocks_may_change(noise):
    X, y, _ = ua.datasets.sine(n=32, noise="laplace", random_state=0)
    region = ua.confidence_region(SVR(gamma=0.5), X, y, m=20, random_state=0, noise=noise)
    reason = region.band([[4.0]], norm_bound=30).reason
    assert ("method='cells'" in reason) is (noise != "exchangeable")


def test_one_of_something_is_singular():
    X, y, _ = ua.datasets.linear(n=5, d=2, random_state=0)
    region = ua.confidence_region(LinearRegression(), X, y, m=20, random_state=0)
    assert "least squares in 1 cell of rows" in str(region.summary())
    kernel = ua.confidence_region(KernelRidge(kernel="rbf"), X, y, m=20, random_state=0)
    assert "and an unbounded region needs only 1." in str(kernel.bounded(0.95))


def test_zero_has_no_sign():
    assert table([("", ["a"]), ("lower", [-0.0])]) == ["     lower", "  a      0"]


def test_names_of_the_package_are_the_public_ones():
    assert set(dir(ua)) - set(ua.__all__) == {name for name in dir(ua) if name.startswith("__")} - {
        "__version__"
    }


def test_summary_lists_the_models_that_it_takes():
    shown = CliRunner().invoke(app, ["summary", "--help"], env={"COLUMNS": "200"}).stdout
    assert "<spline|ridge|ols|iv>" in shown
    assert "kernel ridge" not in shown
    assert "krr" in CliRunner().invoke(app, ["region", "--help"], env={"COLUMNS": "200"}).stdout
