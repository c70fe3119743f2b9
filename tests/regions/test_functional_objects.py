"""Values, differences, averages and slopes of a function."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVR

import unassuming as ua
from unassuming.cells.functions.errors import Errors
from unassuming.cells.functions.theorem import biased_intervals
from unassuming.functionals import average, difference, slope, value
from unassuming.inputs import SingleOptions
from unassuming.regions.single.functions import Assumption, Functions, functional_rows

pytestmark = pytest.mark.slow_but_first
X, Y, F = ua.datasets.sine(n=120, noise="laplace", random_state=3)
GRID = np.array([[0.9], [4.37], [7.2]])
ALONE = {"norm_bound": 30, "simultaneous": False}


def region_of(model=None, y=Y):
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8) if model is None else model
    return ua.confidence_region(model, X, y, m=20, random_state=0)


def middle(found):
    return (found.lower + found.upper) / 2


@pytest.mark.parametrize(
    "model",
    [None, SVR(gamma=0.5), KernelRidge(kernel="poly", degree=3, gamma=0.1)],
    ids=["ridge", "SVR", "poly"],
)
def test_values_are_those_of_the_band(model):
    region = region_of(model)
    found, band = region.interval(value(GRID), **ALONE), region.band(GRID, **ALONE)
    np.testing.assert_allclose(found.lower, band.lower, rtol=1e-6)
    np.testing.assert_allclose(found.estimate, band.estimate)
    assert found.names == ("value 0", "value 1", "value 2")


def test_a_constant_vanishes_from_differences():
    """A free constant, as SVR has, does not move a difference."""
    pair = difference(GRID[1:], GRID[:2])
    found = [region_of(SVR(gamma=0.5), y).interval(pair, **ALONE) for y in (Y, Y + 500)]
    np.testing.assert_allclose(found[0].lower, found[1].lower, atol=1e-6)
    truth = F(GRID[1:]) - F(GRID[:2])
    assert (np.abs(middle(found[0]) - truth) < found[0].upper - found[0].lower).all()


def test_an_average_is_narrower_than_its_values():
    region = region_of()
    inputs = np.linspace(1, 9, 40)[:, None]
    mean, values = region.interval(average(inputs), **ALONE), region.band(inputs, **ALONE)
    assert (mean.upper - mean.lower)[0] < 0.8 * (values.upper - values.lower).min()
    assert mean.lower[0] - 0.1 < F(inputs).mean() < mean.upper[0] + 0.1
    weighted = region.interval(average(inputs[:1], [1.0]), **ALONE)
    assert weighted.lower[0] == pytest.approx(values.lower[0], rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        None,
        GaussianProcessRegressor(Matern(1.0, nu=2.5), alpha=0.5, optimizer=None),
        SVR(C=5.0, gamma="scale"),
        make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", gamma=4.0, alpha=0.8)),
        make_pipeline(SplineTransformer(12), Ridge(0.01)),
    ],
)
def test_a_slope_is_the_limit_of_differences(model):
    region = region_of(model)
    h = 1e-3
    near = difference(GRID + h / 2, GRID - h / 2)
    options = {"norm_bound": 30, "simultaneous": False, "cells": 6}
    exact = region.interval(slope(GRID), **options)
    quotient = region.interval(near, **options)
    np.testing.assert_allclose(exact.estimate, quotient.estimate / h, rtol=1e-2)
    truth = np.sin(GRID[:, 0]) + GRID[:, 0] * np.cos(GRID[:, 0])
    assert (np.abs(middle(exact) - truth) < exact.upper - exact.lower).all()


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(SplineTransformer(12), Ridge(0.01)),
        make_pipeline(Nystroem(gamma=0.5, n_components=15, random_state=0), Ridge(0.01)),
        make_pipeline(PolynomialFeatures(3), LinearRegression()),
    ],
)
def test_intervals_of_slopes_are_the_limit_of_those_of_differences(model):
    region, h = region_of(model), 1e-4
    near = difference(GRID + h / 2, GRID - h / 2)
    options = {"norm_bound": 300, "simultaneous": False, "cells": 6}
    exact, quotient = region.interval(slope(GRID), **options), region.interval(near, **options)
    for name in ("estimate", "lower", "upper"):
        np.testing.assert_allclose(
            getattr(exact, name), getattr(quotient, name) / h, rtol=1e-3, atol=1e-3
        )
    assert (exact.lower < exact.upper).all()


@pytest.mark.slow
def test_coverage_of_a_slope_a_difference_and_an_average():
    """A function with the norm B; Cauchy noise."""
    rng, n, runs, B, level = np.random.default_rng(0), 100, 2000, 20.0, 0.9
    inputs, z = np.linspace(0, 10, n)[:, None], np.array([[4.4]])
    centres, c = rng.uniform(0, 10, 8), rng.normal(size=8)
    c *= B / np.sqrt(c @ np.exp(-0.5 * np.square(centres[:, None] - centres)) @ c)

    def f(x):
        return np.exp(-0.5 * np.square(np.asarray(x) - centres)) @ c

    steep = (np.exp(-0.5 * np.square(4.4 - centres)) * (centres - 4.4)) @ c
    asked = [
        (slope(z), steep),
        (difference(z, [[6.0]]), f(z)[0] - f([[6.0]])[0]),
        (average(inputs), f(inputs).mean()),
    ]
    region = ua.confidence_region(
        KernelRidge(kernel="rbf", gamma=0.5), inputs, f(inputs), m=20, random_state=0
    )
    functions, assumption = Functions(region.problem), Assumption(B)
    assumed = functions.assumed(assumption)
    for functional, truth in asked:
        g = functional_rows(region.problem, functional)
        wanted = functions.functional(functional, g, assumption)
        divisions, chosen = functions.chosen(wanted, level, SingleOptions(), assumption)
        kriging = divisions[chosen.which[0]]
        a, known = kriging.weights(wanted, chosen.mu[0])
        errors = Errors.of(wanted, kriging, a, known)
        y = (f(inputs) + 0.3 * rng.standard_cauchy((runs, n)))[:, functions.order]
        got = biased_intervals(
            kriging.sums(a, y)[:, 0], errors.part(np.zeros(runs, dtype=int)), assumed, level
        )
        covered = np.count_nonzero((got.lower <= truth) & (truth <= got.upper))
        assert covered >= binom.ppf(5e-7, runs, level)


def test_features_take_them_without_a_norm_bound():
    region = region_of(make_pipeline(StandardScaler(), LinearRegression()))
    found = region.interval(difference([[3.0]], [[1.0]]), simultaneous=True, method="joint")
    band = region.band([[3.0], [1.0]], method="joint")
    assert found.estimate[0] == pytest.approx(band.estimate[0] - band.estimate[1])
    alone = region.interval(difference([[3.0]], [[1.0]]))
    assert found.lower[0] < alone.lower[0] < alone.upper[0] < found.upper[0]
    joint = region.interval(average(GRID), simultaneous=True, method="joint")
    assert joint.lower[0] < joint.estimate[0] < joint.upper[0]


def test_hypotheses_are_dual_to_intervals():
    region = region_of()
    found = region.interval(slope(GRID[[1]]), level=0.9, **ALONE)
    for end, inside in ((found.lower[0], -1), (found.upper[0], 1)):
        for step in (-1e-6, 1e-6):
            test = region.hypothesis(slope(GRID[[1]]), value=end + step, level=0.9, norm_bound=30)
            assert (test.pvalue > 1 - found.attained[0]) == (step * inside < 0)
    assert test.tested.startswith("slope 0 = ")
    assert "upper bound" in str(test)


def test_simultaneous_functionals_of_a_kernel_take_cells():
    region = ua.confidence_region(
        KernelRidge(kernel="rbf", gamma=0.1), *ua.datasets.sine(n=300, random_state=0)[:2], m=20
    )
    pairs = difference(GRID[1:], GRID[:2])
    found = region.interval(pairs, norm_bound=60, method="cells", simultaneous=True)
    assert found.method == "balanced cells"
    truth = F(GRID[1:]) - F(GRID[:2])
    assert ((found.lower <= truth) & (truth <= found.upper)).all()
    with pytest.raises(ua.NotAvailable, match="functionals of the function of a kernel: expected"):
        region.interval(pairs, norm_bound=60, simultaneous=True, method="joint")


def test_an_indefinite_kernel_has_no_norm():
    region = region_of(ua.KernelLasso(kernel=ua.kernels.truncated_parabolic))
    for ask in (lambda: region.interval(value(GRID), **ALONE), lambda: region.band(GRID, **ALONE)):
        with pytest.raises(ValueError, match="positive semidefinite"):
            ask()


def test_bad_input():
    region = region_of()
    with pytest.raises(ua.NotAvailable, match="slopes need a kernel with a derivative"):
        region_of(KernelRidge(kernel="laplacian")).interval(slope(GRID), **ALONE)
    steps = make_pipeline(KBinsDiscretizer(5, strategy="uniform"), Ridge())
    for pipeline in (steps, make_pipeline(SplineTransformer(5, degree=1), Ridge())):
        with pytest.raises(ua.NotAvailable, match="slopes need transformers with a known deriv"):
            region_of(pipeline).interval(slope(GRID), **ALONE)
    with pytest.raises(ValueError, match="column does not fit X: expected a number below 1"):
        region.interval(slope(GRID, 1), **ALONE)
    with pytest.raises(ValueError, match="column is not the number of a column"):
        slope(GRID, -1)
    with pytest.raises(ValueError, match="Z does not fit X: expected 3 rows"):
        difference(GRID, GRID[:2])
    with pytest.raises(ValueError, match="weights does not fit X: expected 3 finite numbers"):
        average(GRID, [1.0, 2.0])
    with pytest.raises(ValueError, match="X is not a table"):
        value([1.0, 2.0])
    with pytest.raises(ua.NotAvailable, match=r"norm_bound=B, simultaneous=False"):
        region.interval(value(GRID), simultaneous=False)
    with pytest.raises(ua.NotAvailable, match="expected one functional, given 3"):
        region.hypothesis(value(GRID), norm_bound=30)


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        KernelRidge(kernel="rbf"),
        make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")),
    ],
    ids=["linear", "kernel", "pipeline"],
)
def test_slopes_at_other_columns_are_refused(model):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"])
    region = ua.confidence_region(model, table, rng.normal(size=30), random_state=0)
    options = {"simultaneous": False, "norm_bound": 5.0}
    for row in ([[1.0]], [[1.0, 2.0, 3.0]]):  # a single column would fit by broadcasting
        with pytest.raises(ValueError, match="expected 2, as in the data"):
            region.interval(slope(row), **options)
    with pytest.raises(ValueError, match="in another order"):
        region.interval(slope(table[["b", "a"]].iloc[:1]), **options)
    region.interval(slope(table.iloc[:1]), **options)


def test_a_band_of_a_kernel_says_how_many_columns_it_expects():
    region = region_of()
    with pytest.raises(ValueError, match="expected 1, as in the data, given 2"):
        region.band([[1.0, 2.0]], norm_bound=30, method="joint")
