"""The picture of a diagnosis, and its data."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.linear_model import LinearRegression

import unassuming as ua


@pytest.fixture(scope="module")
def diagnosis():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=200)
    y = x**2 + 0.05 * rng.normal(size=200)
    return ua.confidence_region(LinearRegression(), x[:, None], y, random_state=0).diagnose()


def test_the_data_are_the_residuals_in_the_order_of_the_axis(diagnosis):
    data = ua.plots.diagnosis_data(diagnosis, "x0")
    order = np.argsort(diagnosis.inputs["x0"])
    np.testing.assert_array_equal(data.residuals, diagnosis.residuals[order])
    assert (np.diff(data.x) >= 0).all()
    assert data.line[[0, -1]].min() > 0 > data.line.min()  # a parabola is left
    assert [note.split(":")[0] for note in data.notes] == ["symmetry", "equal spread", "no order"]


@pytest.mark.parametrize(("against", "name"), [(None, "fitted value"), ("row", "row")])
def test_the_picture_shows_them(diagnosis, against, name):
    ax = diagnosis.plot(against)
    data = ua.plots.diagnosis_data(diagnosis, against)
    drawn = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
    np.testing.assert_array_equal(drawn["residual"], np.column_stack([data.x, data.residuals]))
    np.testing.assert_array_equal(
        drawn["running median"], np.column_stack([data.line_x, data.line])
    )
    assert ax.get_xlabel() == name
    plt.close(ax.figure)


def test_few_rows_have_no_line():
    X, y = np.arange(4.0)[:, None], np.array([0.0, 1.0, 0.0, 1.0])
    found = ua.confidence_region(LinearRegression(), X, y, random_state=0).diagnose()
    assert len(ua.plots.diagnosis_data(found).line) == 0


def test_mistakes_get_a_sentence(diagnosis):
    with pytest.raises(ValueError, match="against is unknown: expected one of 'row', 'x0'"):
        diagnosis.plot("z")
    with pytest.raises(TypeError, match=r"expected the result of region.diagnose\(\)"):
        ua.plots.diagnosis_data(3)


def test_the_running_median_does_not_depend_on_the_order_of_rows_with_equal_inputs():
    rng = np.random.default_rng(1)
    x, y = np.repeat(np.arange(8.0), 10), rng.lognormal(size=80)
    within = np.concatenate([10 * k + rng.permutation(10) for k in range(8)])
    places, line = ua.plots.running_median(x, y)
    again = ua.plots.running_median(x, y[within])
    assert (np.diff(places) > 0).all()
    np.testing.assert_array_equal(again, (places, line))
