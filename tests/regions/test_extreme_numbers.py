"""Numbers whose squares leave double precision: what is asked scales with the unit of y."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression

import unassuming as ua

pytestmark = pytest.mark.slow_but_first
N = 40
KERNEL = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1)
UNITS = [2.0**-560, 2.0**515, 2.0**530]  # 3e-169, 1e155, 4e159


def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(N, 1))
    return X, np.sin(X[:, 0]) + 0.3 * rng.laplace(size=N)


def region(unit=1.0):
    X, y = data()
    return ua.confidence_region(KERNEL, X, unit * y, m=40, random_state=0)


@pytest.mark.parametrize("unit", UNITS)
def test_norms_scale_with_y(unit):
    one, other = region(), region(unit)
    assert one.norm_lower_bound() > 0
    assert other.norm_lower_bound() / unit == pytest.approx(one.norm_lower_bound(), rel=1e-9)
    assert other.suggest_norm_bound() / unit == pytest.approx(one.suggest_norm_bound(), rel=1e-9)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "options",
    [{"simultaneous": False}, {"method": "cells"}, {}],
    ids=["one by one", "cells", "joint"],
)
def test_bands_scale_with_y(options, unit):
    X, _ = data()
    one = region().band(X[:3], norm_bound=20.0, **options)
    other = region(unit).band(X[:3], norm_bound=20.0 * unit, **options)
    assert other.status == one.status
    assert other.lower / unit == pytest.approx(one.lower, rel=1e-6)
    assert other.upper / unit == pytest.approx(one.upper, rel=1e-6)


@pytest.mark.parametrize("unit", UNITS)
def test_tests_of_a_functional_scale_with_y(unit):
    value = ua.functionals.value(data()[0][:1])
    one = region().test_functional(value, 1.5, norm_bound=20.0)
    other = region(unit).test_functional(value, 1.5 * unit, norm_bound=20.0 * unit)
    assert other.pvalue == one.pvalue < 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "options", [{}, {"simultaneous": False}, {"method": "cells"}, {"method": "auto"}], ids=str
)
def test_a_ball_of_any_size_bounds_a_function(options):
    X, _ = data()
    for bound in (1e150, 1e160, 1e300):
        found = region().band(X[:3], norm_bound=bound, **options)
        assert np.isfinite(found.upper).all()
        assert (found.upper <= 1.1 * bound).all()  # the kernel is 1 at every input


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("model", [ua.KernelLasso, ua.KernelHuber], ids=lambda one: one.__name__)
def test_a_ball_of_any_size_bounds_a_piecewise_model(model):
    X, y = data()
    model = model(kernel="rbf", gamma=0.5, alpha=0.1)
    piecewise = ua.confidence_region(model, X, y, m=10, random_state=0)
    expected = piecewise.band(X[:3], norm_bound=1e90, method="joint").upper / 1e90
    assert (expected <= 1.001).all()
    for bound in (1e150, 1e160, 1e200, 1e300):
        found = piecewise.band(X[:3], norm_bound=bound, method="joint")
        assert found.upper / bound == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["norm_bound", "model_error", "noise_scale"])
def test_an_assumption_that_double_precision_cannot_multiply_is_refused(name):
    given = {"norm_bound": 20.0, name: 1e307}
    with pytest.raises(ValueError, match=f"{name} is too large .* at most 1e.300, given 1e.307"):
        region().band(data()[0][:3], method="cells", **given)
    if name == "norm_bound":
        with pytest.raises(ValueError, match=r"norm_bounds is too large .* given 1e.307"):
            region().norm_bounds_table(data()[0][:3], [1.0, 1e307])


@pytest.mark.filterwarnings("error")
def test_a_large_ball_leaves_intervals_of_least_squares_as_they_are():
    X, y = data()
    model = ua.confidence_region(LinearRegression(), X, y, m=40, random_state=0)
    found = model.interval(norm_bound=1e160)
    plain = model.interval()
    assert found.upper == pytest.approx(plain.upper, rel=1e-6)


def test_a_noise_scale_of_any_size_leaves_the_ball():
    X, _ = data()
    for options in ({"simultaneous": False}, {"method": "cells"}):
        found = region().band(X[:3], norm_bound=20.0, noise_scale=1e300, **options)
        assert found.upper == pytest.approx(20.0, rel=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_one_enormous_cell_does_not_make_answers_contradict_each_other():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X @ [1, 2] + rng.laplace(size=60)
    found = []
    for cell in (1e12, 1e160, 1e200, 1e290):
        X[5, 0] = cell
        model = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        assert model.bounded(0.9)
        found.append(model.interval())
    assert {one.status.name for one in found} == {"CERTIFIED"}
    for one in found[1:]:
        assert one.upper == pytest.approx(found[0].upper, rel=1e-6)
    with pytest.raises(ua.NotAvailable, match=r"squares of the features do not fit .* 1e.150"):
        model.ellipsoid()
    lasso = ua.confidence_region(Lasso(), X, y, m=10, random_state=0)
    with pytest.raises(ua.NotAvailable, match=r"LASSO .* squares fit .* largest of x0 is 1e.290"):
        lasso.interval()
    with pytest.raises(
        ValueError, match=r"statistics of the candidate .* and the data as they are"
    ):
        model.rank([0, 1, 2])


@pytest.mark.slow_but_first
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("noise", ["symmetric", ua.noise.ExchangeableWithin(50)], ids=str)
def test_squares_that_overflow_are_no_warning(noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X @ [1, 2] + rng.laplace(size=200)
    found = []
    for cell in (1e12, 1e200):
        X[150, 0] = cell
        model = ua.confidence_region(LinearRegression(), X, y, noise=noise, random_state=0)
        found.append((model.bounded(0.9).verdict, model.interval(level=0.9)))
    assert found[0][0] == found[1][0]
    assert found[1][1].status == found[0][1].status
    assert found[1][1].upper[2] == pytest.approx(found[0][1].upper[2], rel=1e-6)
