"""Bounds over label regions: outer ones hold every member, inner ones are attained."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import unassuming as ua
from unassuming.regions import Status

GAP = 0.02  # of the width, where a search for bounds ends
RBF = {"kernel": "rbf", "gamma": 0.7}


def problem(n=40, d=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    f = 0.1 + 0.6 * X[:, 0]
    return X, np.where(rng.uniform(size=n) < (1 + f) / 2, 1, -1)


def region_of(model, n=40, d=1, seed=0, **options):
    options = {"m": 40, "random_state": 0, **options}
    return ua.confidence_region(model, *problem(n, d, seed), **options)


PLANES = {
    "intercept and slope": (RidgeClassifier(), 1, {}),
    "identity weighting": (RidgeClassifier(), 1, {"weighting": "identity"}),
    "two slopes": (RidgeClassifier(fit_intercept=False), 2, {}),
    "linear LSSVC": (ua.LSSVC(C=0.5), 1, {}),
}
INPUTS = {1: np.array([[-1.0], [0.2], [0.9]]), 2: np.array([[-1.0, 0.4], [0.2, 0.1], [0.9, 0.9]])}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "level"),
    [*((name, 0.9) for name in PLANES), ("linear LSSVC", 0.5)],
)
def test_branch_and_bound_agrees_with_a_dense_grid(name, level):
    model, d, options = PLANES[name]
    m = 40 if level > 0.5 else 100  # fewer sets leave slivers that the grid misses
    region = region_of(model, d=d, m=m, **options)
    band = region.band(INPUTS[d], level, method="joint")
    assert band.status is type(band.status).CERTIFIED
    assert "attain every bound" in band.reason
    interval = region.interval(level=level, simultaneous=True, method="joint")
    axes = [np.linspace(*ends, 100) for ends in zip(interval.lower, interval.upper, strict=True)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    members = grid[region.contains(grid, level)]
    values = np.clip(members @ region.objective.design.rows(INPUTS[d]).T, -1, 1)
    width = band.upper - band.lower
    assert (values.max(axis=0) <= band.upper).all()
    assert (values.min(axis=0) >= band.lower).all()
    near = (GAP + 0.02) * width  # the gap, and the step of the grid
    assert (values.max(axis=0) >= band.upper - near).all()
    assert (values.min(axis=0) <= band.lower + near).all()


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 3])
def test_outer_bounds_hold_every_sampled_member(d):
    region = region_of(RidgeClassifier(), d=d)
    Z = np.random.default_rng(1).uniform(-1.5, 1.5, size=(2, d))
    a = region.sample(30, level=0.9, random_state=0)
    values = np.clip(a @ region.objective.design.rows(Z).T, -1, 1)
    band, interval = (
        region.band(Z, 0.9, method="joint"),
        region.interval(level=0.9, simultaneous=True, method="joint"),
    )
    assert ((band.lower <= values) & (values <= band.upper)).all()
    assert ((interval.lower <= a) & (a <= interval.upper)).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_outer_bounds_of_a_kernel_hold_every_sampled_member(intercept):
    model = ua.LSSVC(C=0.4, fit_intercept=intercept, **RBF)
    region = region_of(model, n=15, d=2, m=20)
    a = region.sample(20, level=0.9, random_state=0, thinning=3)
    band = region.band(region.inputs, 0.9, method="joint")
    values = region.objective.fitted(a)
    assert ((band.lower <= values) & (values <= band.upper)).all()
    np.testing.assert_allclose([band.lower, band.upper], [[-1] * 15, [1] * 15], rtol=1e-9)
    assert "|f| <= 1 at the inputs alone" in band.reason


def test_a_bias_beside_a_kernel_leaves_new_inputs_undetermined():
    region = region_of(ua.LSSVC(C=0.4, **RBF), n=15, d=2, m=20)
    band = region.band([[0.3, 0.2]], method="joint")
    assert (band.lower[0], band.upper[0], band.status) == (-1, 1, Status.TRIVIAL)
    assert "do not determine the model elsewhere" in str(band)
    assert region.bounded(0.9).verdict == "unbounded"
    a = 1e3 * region.bounded(0.9).direction
    assert region.contains([0 * a, a], 0.9).all()


def test_inner_bounds_are_attained_by_members():
    region = region_of(RidgeClassifier())
    Z = INPUTS[1]
    band = region.band(Z, 0.9, inner=True, method="joint")
    rows = region.objective.design.rows(Z)
    for side, values in enumerate((band.inner_lower, band.inner_upper)):
        assert region.contains(band.witnesses[side], 0.9).all()
        np.testing.assert_allclose((band.witnesses[side] * rows).sum(axis=1), values, rtol=1e-12)
    assert (band.lower <= band.inner_lower).all()
    assert (band.inner_upper <= band.upper).all()
    assert (band.upper - band.inner_upper <= GAP * (band.upper - band.lower)).all()


@pytest.mark.slow
def test_levels_are_nested():
    region = region_of(RidgeClassifier())
    bands = region.band(INPUTS[1], [0.5, 0.75, 0.95], method="joint")
    for small, large in ((0.5, 0.75), (0.75, 0.95)):
        assert (bands[large].lower < bands[small].lower).all()
        assert (bands[small].upper < bands[large].upper).all()


@pytest.mark.slow
def test_a_model_that_is_too_small_has_a_certainly_empty_region():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 1))
    y = np.sign(X[:, 0])  # the least squares line is too steep for [-1, 1]
    region = ua.confidence_region(RidgeClassifier(), X, y, m=20, random_state=0)
    band = region.band([[0.0]], 0.5, inner=True, method="joint")
    assert "no member at all" in str(band)
    assert "too small for the data" in band.reason
    assert np.isnan([band.lower, band.upper]).all()
    assert band.inner_lower is None
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 40)] * 2), axis=-1).reshape(-1, 2)
    assert not region.contains(grid, 0.5).any()


def test_the_band_of_logistic_regression_is_trivial_and_says_so():
    region = region_of(LogisticRegression(), m=20)
    band = region.band([[0.5]], method="joint")
    assert (band.lower[0], band.upper[0]) == (-1, 1)
    assert band.estimate[0] == pytest.approx(np.tanh(region.estimate @ [1, 0.5] / 2))
    assert "nothing is known beyond [-1, 1]" in str(band)
    assert np.isinf(region.interval(simultaneous=True, method="joint").upper).all()


@pytest.mark.slow
def test_boxes_on_a_flip_do_not_survive_for_ever():
    """Here one uncertain label, taken entry by entry, keeps a box alive down to rounding."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 1))
    y = np.where(rng.uniform(size=120) < (1.1 + 0.8 * X[:, 0]) / 2, 1, -1)
    region = ua.confidence_region(RidgeClassifier(alpha=0.5), X, y, random_state=0)
    band = region.band([[-0.95], [-0.1], [0.95]], 0.9, method="joint")
    assert "attain every bound" in band.reason


def test_a_polynomial_kernel_is_bounded_through_its_few_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    model = ua.LSSVC(kernel="poly", degree=2, gamma=1.0, fit_intercept=False)
    band = ua.confidence_region(model, X, y, random_state=0).band([[0.0], [1.0]], method="joint")
    assert (np.abs(band.lower) < 0.9).all()
    assert (band.upper < 0.99).all()
