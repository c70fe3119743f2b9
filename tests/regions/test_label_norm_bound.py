"""Label regions and a norm bound: bounds and samples within the ball, and never worse for it."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

import unassuming as ua
from unassuming.regions import Status

Z = np.array([[0.9], [-0.9], [0.1]])


def problem(n=30):
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(n, 1))
    return X, np.where(rng.uniform(size=n) < (1 + 0.7 * X[:, 0]) / 2, 1, -1)


@pytest.fixture(scope="module")
def region():
    return ua.confidence_region(RidgeClassifier(), *problem(), m=20, random_state=0)


@pytest.fixture(scope="module")
def members(region):
    grid = np.stack(np.meshgrid(*[np.linspace(-1.1, 1.1, 133)] * 2), axis=-1).reshape(-1, 2)
    return grid[region.contains(grid)]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("bound", [0.1, 0.3, 0.8, 5.0])
def test_the_band_is_that_of_the_members_in_the_ball(region, members, bound):
    values = members[abs(members[:, 1]) <= bound] @ np.vstack([np.ones(3), Z[:, 0]])
    values = np.clip(values, -1, 1)
    band = region.band(Z, norm_bound=bound, method="joint")
    width = band.upper - band.lower
    assert (values.max(axis=0) <= band.upper).all()
    assert (band.lower <= values.min(axis=0)).all()
    assert (band.upper - values.max(axis=0) < 0.06 * width).all()  # the gap and the grid
    assert (values.min(axis=0) - band.lower < 0.06 * width).all()
    assert "attain every bound" in band.reason


def test_a_smaller_ball_gives_a_smaller_band(region):
    widths = [
        np.ptp([b.lower, b.upper])
        for b in (region.band(Z, norm_bound=B, method="joint") for B in (0.1, 5))
    ]
    assert widths[0] < 0.7 * widths[1]


def test_witnesses_lie_in_the_ball(region):
    band = region.band(Z, norm_bound=0.5, inner=True, method="joint")
    witnesses = band.witnesses.reshape(-1, 2)
    assert region.contains(witnesses).all()
    assert (abs(witnesses[:, 1]) <= 0.5).all()
    assert (band.inner_upper >= band.upper - 0.03 * (band.upper - band.lower)).all()


def steep():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 1))
    y = np.where(rng.uniform(size=200) < (1 + 0.95 * X[:, 0]) / 2, 1, -1)
    return ua.confidence_region(RidgeClassifier(), X, y, m=20, random_state=0)


@pytest.mark.slow
def test_a_ball_without_members_is_empty_in_band_and_interval_alike():
    region = steep()
    assert region.interval("x0", simultaneous=True, method="joint").lower[0] > 0.5
    for answer in (
        region.band(Z, norm_bound=0.3, method="joint"),
        region.interval(norm_bound=0.3, simultaneous=True, method="joint"),
    ):
        assert answer.status is Status.EMPTY
        assert np.isnan([answer.lower, answer.upper]).all()
        assert "the norm bound of 0.3, or the model, is too small" in answer.reason
        assert "The estimate's own norm is" in answer.reason


def test_hidden_coefficients_are_no_reason_to_leave_the_ball():
    """A column given twice: (1, 1) has the fitted values of (2, 0) and a smaller norm."""
    X, y = problem()
    twice = ua.confidence_region(RidgeClassifier(0.5), np.hstack([X, X]), y, m=20, random_state=0)
    band = twice.band(np.hstack([Z, Z]), norm_bound=0.5, method="joint")
    line = np.array([-0.1, 0.3, 0.3])
    assert twice.contains(line)
    assert np.linalg.norm(line[1:]) < 0.5 < 0.6  # 0.6 in one column would be outside
    assert (line[0] + 0.6 * Z[:, 0] <= band.upper).all()
    assert (line[0] + 0.6 * Z[:, 0] >= band.lower).all()


MODELS = {
    "ridge classifier": RidgeClassifier(),
    "linear LSSVC": ua.LSSVC(C=0.5),
    "rbf LSSVC": ua.LSSVC(C=0.5, kernel="rbf", gamma=2.0),
    "rbf LSSVC without bias": ua.LSSVC(C=0.5, kernel="rbf", gamma=2.0, fit_intercept=False),
}
models = pytest.mark.parametrize("name", MODELS)


@models
def test_samples_lie_in_the_ball(name):
    region = ua.confidence_region(MODELS[name], *problem(12), m=20, random_state=0)
    a = region.sample(8, norm_bound=3.0, random_state=0, thinning=3)
    P = region.objective.design.penalty_matrix()
    assert region.contains(a).all()
    assert (np.einsum("ij,jk,ik->i", a, P, a) <= 9 * (1 + 1e-9)).all()


@models
def test_bounds_are_never_worse_for_a_norm_bound(name):
    X, y = problem(12)
    region = ua.confidence_region(MODELS[name], X, y, m=20, random_state=0)
    inputs = np.vstack([X, Z])
    without = region.band(inputs, method="joint")
    for bound in (3.0, 100.0):
        given = region.band(inputs, norm_bound=bound, target="representation", method="joint")
        wider = 0.02 * (without.upper - without.lower)  # what the search leaves open
        wider = np.where(np.isfinite(wider), wider, 0.0) + 1e-9
        assert (given.upper <= without.upper + wider).all()
        assert (given.lower >= without.lower - wider).all()


@pytest.mark.parametrize("bound", [0.5, 3.0, 100.0])
def test_at_the_data_a_function_beside_a_bias_stays_within_one(bound):
    X, y = problem(12)
    region = ua.confidence_region(MODELS["rbf LSSVC"], X, y, m=20, random_state=0)
    band = region.band(X, norm_bound=bound, method="joint")
    assert band.target == "function"
    assert abs(np.concatenate([band.lower, band.upper])).max() <= 1 + 1e-9


@pytest.mark.slow
def test_a_constant_may_move_into_the_intercept_which_no_norm_bounds():
    """A constant column beside the intercept: of the same fitted values, the least norm counts."""
    X, _ = problem()
    y = np.where(np.arange(30) % 5 > 0, 1, -1)
    region = ua.confidence_region(RidgeClassifier(), np.hstack([X**0, X]), y, m=20, random_state=0)
    level = np.array([0.6, 0.0, 0.0])
    assert region.contains(level)
    band = region.band([[1.0, 0.0]], norm_bound=0.1, method="joint")
    assert band.lower[0] < 0.6 < band.upper[0]
