"""What results and help say about functions with a norm bound."""

import re

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


@pytest.mark.parametrize("level", [0.7, 0.9])
@pytest.mark.parametrize(
    ("model", "options"),
    [
        (KernelRidge(kernel="rbf"), {"norm_bound": 30}),
        (SVR(), {"norm_bound": 30}),
        (LinearRegression(), {}),
        (LinearRegression(), {"model_error": 0.1}),
    ],
    ids=repr,
)
def test_the_rows_that_balanced_cells_need_are_enough(model, options, level):
    X, y, _ = ua.datasets.sine(n=40, noise="laplace", random_state=0)

    def band(n):
        region = ua.confidence_region(model, X[:n], y[:n], m=20, random_state=0)
        return region.band([[4.0]], level, method="cells", **options)

    with pytest.raises(NotAvailable) as error:
        band(3)
    named = int(re.search(r"so at least (\d+) rows", str(error.value))[1])
    assert "simultaneous=False" not in error.value.command_line
    assert band(named).method == "balanced cells"
    with pytest.raises(NotAvailable, match=f"so at least {named} rows, and there are {named - 1}"):
        band(named - 1)


def test_why_there_are_no_balanced_cells():
    X, y, _ = ua.datasets.sine(n=12, random_state=0)
    kernel = ua.confidence_region(KernelRidge(kernel="rbf"), X, y, m=20, random_state=0)
    blocks = BlockSymmetric(np.arange(12) // 2)
    lines = ua.confidence_region(LinearRegression(), X, y, m=20, noise=blocks, random_state=0)
    few = ua.confidence_region(LinearRegression(), X[:4], y[:4], m=20, random_state=0)
    for region, options, words in (
        (kernel, {"norm_bound": 3, "cells": 8}, "needs at least 16 cells, given cells=8. Use"),
        (kernel, {"norm_bound": 3, "cells": 64}, "cells=64 asks for 64 cells of at least 1 row"),
        (kernel, {"norm_bound": 3, "level": 0.999999}, "0.999999: no number of cells allows it"),
        (lines, {}, "it needs 16 cells of whole blocks of rows, and there are 6 blocks"),
        (lines, {"model_error": 1.0}, "there are 6 blocks. Use a lower level or bounds that"),
        (few, {}, "and there are 4. Use method='joint' or a lower level."),
    ):
        with pytest.raises(NotAvailable) as error:
            region.band([[4.0]], method="cells", **options)
        assert words in str(error.value)


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
