"""Pictures of a plan."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua


@pytest.fixture(scope="module")
def plan():
    X = np.linspace(0, 10, 40)[:, None]
    model = KernelRidge(kernel="rbf", gamma=0.1)
    given = {"norm_bound": 60, "noise_scale": 0.7, "level": 0.9}
    return ua.plan(model, X, **given, alphas=[0.01, 0.1, 1.0], rows=[20])


@pytest.mark.slow
def test_over_the_penalty(plan):
    data = ua.plots.plan_data(plan, "alpha")
    x, width = data.lines[True, "joint region"]
    assert x.tolist() == [0.01, 0.1, 1.0]
    assert width.min() == min(p.half_width for p in plan.predictions if p.alpha and p.rows == 40)
    assert x[width.argmin()] == data.alpha == plan.alpha
    cells = data.lines[False, "cells"]
    assert np.isnan(cells[0]).all()
    assert cells[1].tolist() == [plan.best(simultaneous=False).half_width]


@pytest.mark.slow
def test_over_the_rows(plan):
    data = ua.plots.plan_data(plan)
    assert data.over == "rows"
    for (simultaneous, method), (x, width) in data.lines.items():
        assert x.tolist() == [20, 40]
        for n, found in zip(x, width, strict=True):
            same = [p for p in plan.predictions if (p.rows, p.method) == (n, method)]
            assert found == min(p.half_width for p in same if p.simultaneous == simultaneous)


@pytest.mark.parametrize("over", ["alpha", "rows"])
def test_the_lines_are_the_data(plan, over):
    data = ua.plots.plan_data(plan, over)
    ax = ua.plots.plan(plan, over, ax=Figure().subplots())
    x, width = data.lines[True, "joint region"]
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.column_stack([x, width]))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[0] == "all inputs at once, joint region"
    assert ("best: 0.01" in names) == (over == "alpha")


def test_messages(plan):
    with pytest.raises(TypeError, match=r"expected the result of ua\.plan"):
        ua.plots.plan(3)
    with pytest.raises(ValueError, match="over is unknown"):
        ua.plots.plan(plan, "gamma")
