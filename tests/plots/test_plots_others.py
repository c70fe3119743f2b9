"""Families, ranks, plans and residuals."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

X, Y, _ = ua.datasets.sine(n=40, noise="laplace", random_state=0)


@pytest.fixture(scope="module")
def spline():
    model = make_pipeline(SplineTransformer(5), Ridge(0.1))
    return ua.confidence_region(model, X, Y, random_state=0, m=100)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_members_belong_to_the_region_and_carry_their_level(spline, ax):
    data = ua.plots.family_data(spline, X, size=23, level=0.8)
    assert spline.contains(data.members, level=0.8).all()
    np.testing.assert_array_equal(data.levels, spline.rank(data.members) / spline.m)
    assert (np.diff(data.levels) <= 0).all()
    assert data.levels.min() < 0.3 < 0.6 < data.levels.max()
    np.testing.assert_allclose(data.values, spline.objective.fitted(data.members), atol=1e-9)
    ua.plots.family(spline, X, size=23, level=0.8, ax=ax)
    np.testing.assert_allclose([c[:, 1] for c in ax.collections[0].get_segments()], data.values)
    assert "23 members of the 80 % confidence region" in ax.get_legend().get_title().get_text()
    again, other = (ua.plots.family_data(spline, X, size=4, random_state=s) for s in (0, 1))
    same = ua.plots.family_data(spline, X, size=4)
    np.testing.assert_array_equal(again.values, same.values)
    assert (other.values != same.values).any()


@pytest.mark.slow
def test_curves_of_logistic_regression_are_means_of_labels():
    inputs, y, _ = ua.datasets.labels(n=40, d=1, random_state=0)
    model = LogisticRegression(fit_intercept=False)
    region = ua.confidence_region(model, inputs, y, random_state=0, m=100)
    data = ua.plots.family_data(region, np.sort(inputs, axis=0), size=4, level=0.3, norm_bound=5)
    fitted = region.objective.fitted(data.members)[:, np.argsort(inputs[:, 0])]
    np.testing.assert_allclose(data.values, fitted, atol=1e-12)


# --- ranks --------------------------------------------------------------------------------------


def test_bars_count_equally_many_ranks_and_the_limits_are_binomial(ax):
    data = ua.plots.ranks_data(np.repeat(np.arange(1, 101), 3), m=100)
    assert data.counts.tolist() == [15] * 20
    assert data.edges.tolist() == [0.5 + 5 * k for k in range(21)]
    inside = binom(300, 1 / 20).cdf(data.high) - binom(300, 1 / 20).cdf(data.low - 1)
    assert 1 - 20 * (1 - inside) >= 0.99
    ua.plots.ranks(np.repeat(np.arange(1, 101), 3), 100, ax=ax)
    assert [bar.get_height() for bar in ax.patches] == [15] * 20
    assert ax.get_ylabel() == "count (300 samples)"


# --- plans --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plan():
    model = KernelRidge(kernel="rbf", gamma=0.1)
    given = {"norm_bound": 60, "noise_scale": 0.7, "level": 0.9}
    return ua.plan(model, np.linspace(0, 10, 40)[:, None], **given, alphas=[0.01, 1.0], rows=[20])


def test_lines_are_the_predictions_of_the_plan(plan, ax):
    data = ua.plots.plan_data(plan, "alpha")
    alphas, widths = data.lines[True, "joint region"]
    assert alphas.tolist() == [0.01, 1.0]
    expected = [
        one.half_width
        for one in plan.predictions
        if (one.rows, one.method, one.simultaneous) == (40, "joint region", True)
    ]
    assert widths.tolist() == expected
    assert data.alpha == plan.alpha
    over = ua.plots.plan_data(plan)
    assert over.over == "rows"
    assert over.lines[True, "joint region"][0].tolist() == [20, 40]
    ua.plots.plan(plan, ax=ax)
    assert (ax.get_xlabel(), ax.get_xscale()) == ("number of rows", "log")
    assert "90 %, norm at most 60, noise of scale 0.7" in ax.get_legend().get_title().get_text()


# --- residuals ----------------------------------------------------------------------------------


def test_residuals_are_those_of_the_diagnosis_in_the_order_of_the_axis(ax):
    inputs, y, _ = ua.datasets.linear(n=50, d=2, random_state=0)
    found = ua.confidence_region(LinearRegression(), inputs, y, random_state=0, m=100).diagnose()
    data = ua.plots.diagnosis_data(found, "x0")
    np.testing.assert_array_equal(data.x, np.sort(inputs[:, 0]))
    np.testing.assert_array_equal(data.residuals, found.residuals[np.argsort(inputs[:, 0])])
    assert len(data.notes) == len(found.indications)
    ua.plots.diagnosis(found, ax=ax)
    assert ax.get_xlabel() == "fitted value"
    with pytest.raises(ValueError, match="expected one of 'row', 'x0', 'x1', given 'z'"):
        ua.plots.diagnosis_data(found, "z")
    with pytest.raises(TypeError, match=r"Call diagnosis\(region\.diagnose"):
        ua.plots.diagnosis_data(3)


def test_without_matplotlib_data_are_there_and_drawing_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import unassuming as ua\n"
        "ua.plots.ranks_data([1, 2], 2)\n"
        "try: ua.plots.ranks([1, 2], 2)\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == 'Drawing needs matplotlib: pip install "unassuming[plot]"\n'
