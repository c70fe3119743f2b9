"""|f(z)| <= B √k(z, z) whatever the data are: bounds from cells are cut there."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.svm import SVR

import unassuming as ua
from unassuming.functionals import difference, value

pytestmark = pytest.mark.slow_but_first
WAYS = [{"simultaneous": False, "method": "cells"}, {"method": "cells"}]
SMOOTH = KernelRidge(kernel="rbf", gamma=0.5)
ROBUST = ua.KernelHuber(kernel="rbf", gamma=0.5)  # whose joint region is not predicted
GRID = np.array([[0.0], [4.4], [10.0], [30.0]])

ways = pytest.mark.parametrize("ways", WAYS, ids=str)


def sine(model=SMOOTH, n=50, shift=0.0):
    X, y, _ = ua.datasets.sine(n=n, noise="laplace", random_state=0)
    return ua.confidence_region(model, X, y + shift, m=20, random_state=0)


@ways
@pytest.mark.parametrize("B", [3.0, 30.0, 1000.0])
def test_bounds_never_exceed_what_the_norm_bound_allows(ways, B):
    band = sine().band(GRID, norm_bound=B, **ways)
    known = np.isfinite(band.lower)
    assert (np.abs([band.lower, band.upper])[:, known] <= B * (1 + 1e-12)).all()
    # Far from the data nothing else is known, and rounding goes outward.
    if known[3]:
        assert (band.lower[3], band.upper[3]) == pytest.approx((-B, B), rel=1e-12)
        assert band.upper[3] >= B


@pytest.mark.parametrize("ways", [{}, *WAYS], ids=str)
@pytest.mark.parametrize("model_error", [None, 2.0])
def test_bounds_that_the_data_do_not_narrow_anywhere_say_so(ways, model_error):
    if not ways and model_error:
        return  # the joint region does not allow for it
    alone, given = "follow from the norm bound alone", {"model_error": model_error, **ways}
    # In the joint region the norm that the data need leaves less for other inputs.
    for inputs, says in ((GRID[3:], bool(ways)), (GRID, False), (GRID[:2], False)):
        band = sine(n=200).band(inputs, norm_bound=30.0, **given)
        assert (alone in band.reason) == says
        far = 30 + (model_error or 0)
        assert ((band.upper > far - 1e-6) & (band.lower < 1e-6 - far)).all() == says


@ways
def test_the_limit_is_that_of_the_functional(ways):
    process = GaussianProcessRegressor(4 * RBF(1.0), alpha=0.5, optimizer=None)
    band = sine(process).band(GRID, norm_bound=15.0, **ways)
    assert band.upper[3] == pytest.approx(30, rel=1e-12)  # ‖k(z, ·)‖ = 2
    near = sine().interval(
        difference([[30.0]], [[30.0 + 1e-9]]), norm_bound=30.0, **({"method": "cells"} | ways)
    )
    # ‖k(z, ·) - k(z', ·)‖ is about 1e-9, and rounding errors of kernel values hide that
    assert 3e-8 <= near.upper[0] < 1e-4


@ways
def test_repeated_rows(ways):
    X = np.repeat(np.linspace(0, 10, 5), 10)[:, None]
    y = np.random.default_rng(0).standard_normal(50) - 5
    region = ua.confidence_region(SMOOTH, X, y, m=20, random_state=0)
    band = region.band(GRID, norm_bound=30.0, **ways)
    assert (band.upper <= 30 + 1e-9).all()
    assert (band.lower >= -30 - 1e-9).all()


def test_a_refuted_norm_bound_leaves_nothing_at_once():
    region = sine(shift=1000.0)
    band = region.band(GRID, norm_bound=30, method="cells")
    assert band.status.name == "EMPTY"
    assert np.isnan([band.lower, band.upper]).all()
    assert band.reason.startswith("The norm bound of 30 is too small, unless")
    assert str(band).count("agrees with the data") == 1
    assert "no function within the norm bound agrees" in str(band)


def test_one_at_a_time_only_refuted_values_are_lost():
    band = sine(shift=1000.0).band(GRID, norm_bound=30, simultaneous=False, method="cells")
    assert band.status.name == "SOME_EMPTY"
    assert np.isnan(band.lower).tolist() == [True, True, True, False]
    assert band.upper[3] == pytest.approx(30)
    assert "at 3 of 4 inputs no value within the norm bound agrees with the data" in str(band)
    assert band.reason.startswith(
        "The norm bound of 30 may be too small. If it holds, one interval"
    )
    assert "the probability that some of 4 are can be larger" in band.reason
    assert "at this level" not in str(band)  # it is not a test of all inputs at once
    alone = sine(shift=1000.0).band(GRID[3:], norm_bound=30, simultaneous=False, method="cells")
    assert alone.status.name == "ONE_BY_ONE"


def test_every_value_lost_is_an_empty_answer():
    band = sine(shift=1000.0).band(GRID[:3], norm_bound=30, simultaneous=False, method="cells")
    assert band.status.name == "EMPTY"
    assert band.reason.startswith("The norm bound of 30 is too small, unless")


@ways
def test_the_model_error_can_be_the_cause_as_well(ways):
    which = "The norm bound of 30, or the model error of 0.5,"
    for inputs in (GRID, GRID[:3]):
        band = sine(shift=1000.0).band(inputs, norm_bound=30, model_error=0.5, **ways)
        some = band.status.name == "SOME_EMPTY"
        assert some == (ways == WAYS[0] and len(inputs) == 4)
        assert (
            f"{which} {'may be too small. If both hold' if some else 'is too small, unless'}"
            in (band.reason)
        )


def test_functionals_that_are_lost_are_counted():
    both = value(GRID[2:])
    found = sine(shift=1000.0).interval(both, norm_bound=30, simultaneous=False, method="cells")
    assert "for 1 of 2 functionals no value within the norm bound agrees" in found.description


def test_a_picture_shows_the_inputs_with_a_value():
    inputs, region = np.linspace(0, 30, 61)[:, None], sine(ROBUST, n=400, shift=1000.0)
    ax = ua.plots.band(region, inputs, levels=[], pointwise=[0.9], norm_bound=30)
    drawn = np.concatenate([path.vertices for path in ax.collections[0].get_paths()])
    assert drawn[:, 0].min() > 5
    assert drawn[:, 0].max() == 30
    assert ax.get_legend().get_texts()[0].get_text() == "90 %: empty at some inputs"


@ways
@pytest.mark.parametrize("model", [SVR(gamma=0.5), Ridge()], ids=repr)
def test_an_intercept_has_no_limit(ways, model):
    band = sine(model, n=200, shift=1000.0).band(GRID[:3], norm_bound=30, **ways)
    assert (band.lower > 900).all()


def test_the_slope_beside_an_intercept_has_one():
    X, y, _ = ua.datasets.sine(n=60, random_state=0)
    region = ua.confidence_region(Ridge(), X, 1000 * y + 1e5 * X[:, 0], m=20, random_state=0)
    band = region.interval("x0", norm_bound=3.0, simultaneous=False)
    assert band.status.name == "EMPTY"
    assert region.interval("x0", norm_bound=1e6, simultaneous=False).status.name == "ONE_BY_ONE"


@pytest.mark.slow
@ways
def test_functions_of_this_norm_are_covered_and_attain_the_limit(ways):
    """f = B k(·, z) has the norm B and the value B at z: cutting at B never loses it."""
    X = np.linspace(0, 10, 64)[:, None]
    z = np.array([[4.4], [12.5]])
    rng = np.random.default_rng(1)
    for centre in z:
        truth = 5.0 * np.exp(-0.5 * np.square(X[:, 0] - centre))
        at_z = 5.0 * np.exp(-0.5 * np.square(z[:, 0] - centre))
        got = []
        for _ in range(6):
            y = truth + 0.1 * rng.laplace(size=64)
            region = ua.confidence_region(SMOOTH, X, y, m=20, random_state=0)
            band = region.band(z, norm_bound=5.0, noise_scale=0.1, **ways)
            got.append((band.lower <= at_z) & (at_z <= band.upper))
        assert np.mean(got, axis=0).min() >= 0.8


def test_a_value_beyond_the_limit_is_rejected_as_far_as_ranks_go():
    X, y = np.linspace(0, 10, 60)[:, None], 300 * np.random.default_rng(0).standard_normal(60)
    region = ua.confidence_region(SMOOTH, X, y, m=20, random_state=0)
    inside, beyond = (
        region.hypothesis(value([[4.4]]), tau, norm_bound=30.0) for tau in (29.999, 30.001)
    )
    assert inside.pvalue > 2 / inside.m
    assert beyond.rank == beyond.m


@pytest.mark.parametrize("simultaneous", [True, False])
def test_predictions_are_cut_too(simultaneous):
    X = np.linspace(0, 10, 40)[:, None]
    plan = ua.plan(
        SMOOTH, X, norm_bound=100.0, noise_scale=5.0, alphas=[0.1], inputs=[[30.0], [40.0], [50.0]]
    )
    widths = [one.half_width for one in plan.predictions if one.simultaneous is simultaneous]
    assert max(widths) <= 100 * (1 + 1e-9)


def test_the_picture_says_that_nothing_is_within_the_norm_bound():
    ax = ua.plots.band(
        sine(ROBUST, n=400, shift=1000.0),
        GRID,
        levels=[0.9],
        pointwise=[0.9],
        norm_bound=30,
        method="cells",
    )
    title = " ".join(ax.get_legend().get_title().get_text().split())
    assert title.count("no function within the norm bound agrees with the data") == 1
    assert title.count("no value within the norm bound agrees with the data") == 1
    assert "no member at all" not in title
