"""One cell that exceeds all others: lines, bounds and verdicts against rational arithmetic."""

from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import unassuming as ua
from rational_sets import INFINITE, MODELS, RationalSets
from speed import slow_but

N, M, LEVEL, Q = 60, 20, 0.9, 2
FEW, LOWER = 10, 0.8  # sets, and the level at which Q of them count
ROW = 7
CELLS = (1e8, -1e15, 1e50, 1e130, -1e160, 1e200, 1e290)
NOISES = {
    "signs": ua.noise.Symmetric(),
    "block signs": ua.noise.BlockSymmetric(np.arange(N) // 5),
    "permutations": ua.noise.Exchangeable(),
    "permutations within": ua.noise.ExchangeableWithin(6),
    "both": ua.noise.SymmetricExchangeable(),
}


def data(cell, n=N, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ np.arange(1.0, d + 1) + rng.laplace(size=n)
    X[ROW, 0] = cell
    return X, y


def regions(X, y, model, noise, m=M, seed=1):
    region = ua.confidence_region(model, X, y, noise=noise, m=m, random_state=seed)
    return region, RationalSets.of(model, X, y, region.perturbations)


def assert_exact(region, exact, *, wide=False):
    """With ``wide`` bounds may be infinite where the truth is finite."""
    d = len(region.estimate)
    found = region.interval(level=LOWER)
    for one, low, high in zip(np.eye(d), found.lower, found.upper, strict=True):
        lower, upper = exact.bounds(one, Q)
        assert high == np.inf if upper == INFINITE else wide or high < np.inf
        assert Decimal(float(low)) <= lower
        assert Decimal(float(high)) >= upper
        if np.isfinite(high):
            assert float(high - low) == pytest.approx(float(upper - lower), rel=1e-3)
    unbounded = max(exact.never_ends(one) for one in np.eye(d)) >= Q
    assert region.bounded(LOWER).verdict == ("unbounded" if unbounded else "bounded")
    for direction in (*np.eye(d), -np.eye(d)[-2], np.arange(1.0, d + 1)):
        expected = float(exact.reach(region.estimate, direction, Q))
        reach = region.reach(direction, level=LOWER)
        assert reach == pytest.approx(expected, rel=1e-6)
        assert region.crossings(direction, level=LOWER)[-1][1] == pytest.approx(reach, rel=1e-6)


CASES = [
    (tuple(MODELS)[(i + j) % len(MODELS)], noise, cell)
    for i, noise in enumerate(NOISES)
    for j, cell in enumerate(CELLS)
]
"""Every noise with every cell, and both with every model."""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", slow_but(CASES, CASES[5], CASES[-2]))
def test_lines_bounds_and_verdicts_are_exact(case):
    model, noise, cell = case
    # Whitened columns that are moved within blocks have lost the digits of the others.
    wide = noise == "permutations within" and abs(cell) > 1e10
    assert_exact(*regions(*data(cell), MODELS[model], NOISES[noise], m=FEW), wide=wide)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["signs", "permutations within"])
def test_lines_of_many_rows_agree_with_intervals(monkeypatch, noise):
    """More rows and columns than ranks are computed for without rounding, with another limit."""
    monkeypatch.setattr("unassuming.membership._exact._MOST_PRODUCTS", 2**14)
    rng = np.random.default_rng(3)
    n, d = 270, 10
    X = rng.normal(size=(n, d))
    y = X.sum(axis=1) + rng.laplace(size=n)
    X[ROW, 0] = 1e120
    noise = ua.noise.Symmetric() if noise == "signs" else ua.noise.ExchangeableWithin(3)
    region, exact = regions(X, y, LinearRegression(fit_intercept=False), noise, m=5)
    for direction in np.eye(d)[:2]:
        expected = float(exact.reach(region.estimate, direction, 1))
        assert region.reach(direction, level=LOWER) == pytest.approx(expected, rel=1e-6)


def test_lines_that_take_too_long_are_refused(monkeypatch):
    monkeypatch.setattr("unassuming.membership._exact._MOST_PRODUCTS", 0)
    monkeypatch.setattr("unassuming.membership._exact._MOST_OF_A_LINE", 0)
    X, y = data(1e200)
    region = ua.confidence_region(LinearRegression(), X, y, m=M, random_state=1)
    with pytest.raises(ValueError, match=r"cannot be decided in double precision.*drop its row"):
        region.reach("x0", level=LEVEL)
    with pytest.raises(ValueError, match=r"cannot be decided in double precision.*drop its row"):
        region.crossings([0.0, 1.0, 0.0], level=LEVEL)
    assert np.isfinite(region.reach("x1", level=LEVEL))
    X[:, 0] = 0.0
    X[ROW, 0] = 1.0  # a column of one row is kept or reversed: that is no doubt
    region = ua.confidence_region(LinearRegression(), X, y, m=M, random_state=1)
    assert region.reach("x0", level=LEVEL) == np.inf


def reach_or_refusal(region, direction):
    try:
        return region.reach(direction, level=LEVEL)
    except (ValueError, ArithmeticError) as refusal:
        return str(refusal)


PAIRS = [(1e18, 1e30), (1e10, 1e22), (-1e15, 1e18), (1e50, -1e51)]


@cache
def two_large_cells(pair, apart, intercept, noise):
    X, y = data(1.0)
    X[[ROW, ROW + apart], [0, 1]] = pair
    return X, y, regions(X, y, LinearRegression(fit_intercept=intercept), NOISES[noise], m=10)[1]


@pytest.mark.parametrize("most", [2**20, 0], ids=["exact", "refused"])
@pytest.mark.parametrize("noise", slow_but(NOISES, "signs"))
@pytest.mark.parametrize("intercept", slow_but([True, False], True))
def test_two_large_cells_in_a_row_do_not_lengthen_rays(monkeypatch, intercept, noise, most):
    """The residual of their row is lost, and ranks are not there to confirm lines."""
    monkeypatch.setattr("unassuming.membership._exact._MOST_PRODUCTS", 0)
    monkeypatch.setattr("unassuming.membership._exact._MOST_OF_A_LINE", most)
    model, answers = LinearRegression(fit_intercept=intercept), 0
    for pair in PAIRS:
        for apart in (0, 9):
            X, y, exact = two_large_cells(pair, apart, intercept, noise)
            region = ua.confidence_region(model, X, y, noise=NOISES[noise], m=10, random_state=1)
            for direction in np.eye(len(region.estimate)):
                found = reach_or_refusal(region, direction)
                if isinstance(found, str):
                    assert "in double precision" in found
                    continue
                expected = float(exact.first_end(region.estimate, direction, 1))
                assert found == pytest.approx(expected, rel=1e-6 if most else 1e-3)
                answers += 1
    assert answers or not most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "pair"), [("signs", (1e100, 1e140)), ("block signs", (-1e140, 1e100))]
)
def test_two_rows_with_nearly_all_leverage_do_not_tie_the_others(noise, pair):
    """Whether their residuals are rounded matters little: 1 - h_j is near 1e-280."""
    X, y = data(1.0)
    X[[ROW, ROW + 9], [0, 1]] = pair
    region, exact = regions(X, y, LinearRegression(fit_intercept=False), NOISES[noise])
    for direction in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0]):
        # The estimate as a double may be an exact member or not, but what is beside it is one.
        inside = region.estimate + 0.5 * np.array(direction)
        expected = 0.5 + float(exact.first_end(inside, direction, Q))
        assert region.reach(direction, level=LEVEL) == pytest.approx(expected, rel=1e-6)


def test_columns_that_one_row_makes_nearly_dependent_are_not_taken_for_dependent():
    X, y = data(1e20)
    X[ROW] = 1e20, 3e25
    region, exact = regions(X, y, LinearRegression(), NOISES["permutations"])
    for direction in np.eye(3)[1:]:
        ends = region.crossings(direction, level=LEVEL, origin=[0.0, 1.0, 2.0])
        assert np.isfinite(ends).all()
    assert len(exact.seen) == 3


def test_a_row_that_stands_apart_is_the_remedy():
    X, y = data(1e200)
    region = ua.confidence_region(LinearRegression(), X, y, m=M, random_state=1)
    with pytest.raises(ua.NotAvailable, match=r"row 7 \(counted from zero\) stands for a missing"):
        region.summary()
    X[[3, 9], 0] = -1e200
    region = ua.confidence_region(LinearRegression(), X, y, m=M, random_state=1)
    with pytest.raises(ua.NotAvailable, match=r"rows 3, 7, 9 \(counted from zero\) stand for"):
        region.summary()
    with pytest.raises(ValueError, match=r"row 7 \(counted from zero\)"):
        ua.confidence_region(LinearRegression(), *data(1e300))
    with pytest.raises(ValueError, match="Divide x0 by a power of ten"):
        ua.confidence_region(LinearRegression(), data(1.0)[0] * 1e295, y)


@pytest.mark.parametrize("unit", [1.0, 1e-60, 1e-150, 1e-200])
@pytest.mark.filterwarnings("error")
def test_an_ellipsoid_that_is_too_long_is_refused_in_every_unit(unit):
    """Another unit does not help, so the row is the remedy; without it there is an ellipsoid."""
    X, y = data(1e200)
    X[:, 0] *= unit
    region = ua.confidence_region(LinearRegression(), X, y, m=M, random_state=1)
    with pytest.raises(ua.NotAvailable, match=r"fit into double.*row 7 \(counted.*drop the row"):
        region.ellipsoid()
    X, y = np.delete(X, ROW, axis=0), np.delete(y, ROW)
    X[:, 0] /= unit
    region = ua.confidence_region(LinearRegression(), X, y, m=M, random_state=1)
    assert np.isfinite(region.ellipsoid().squared_radius)


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize("step", [StandardScaler(), PolynomialFeatures(2)], ids=str)
def test_a_cell_that_a_step_cannot_square_is_named(step):
    X, y = data(1e200)
    model = make_pipeline(step, LinearRegression())
    with pytest.raises(ValueError, match=r"1e.200 in row 7 of column 0 \(counted from zero\)"):
        ua.confidence_region(model, X, y, m=M)
    with pytest.raises(ValueError, match=r"1e.200 in row 7 of column 'size' \(counted from zero"):
        ua.confidence_region(model, pd.DataFrame(X, columns=["size", "b"]), y, m=M)


@pytest.mark.filterwarnings("error")
def test_a_warning_of_a_step_is_not_taken_for_a_need_of_y():
    X, y = data(1e200)
    with pytest.raises(RuntimeWarning, match="overflow"):
        ua.confidence_region(make_pipeline(StandardScaler(), LinearRegression()), X, y, m=M)


@pytest.mark.filterwarnings("error")
def test_a_column_in_another_unit_has_an_interval_and_not_nan():
    X, y = data(1e200, n=200)
    X[:, 0] *= 1e-70
    found = ua.confidence_region(LinearRegression(), X, y, random_state=1).summary()
    assert (found.lower < found.upper).all()
    assert (found.lower[1] < 1e70) & (found.upper[1] > 1e69)


@pytest.mark.filterwarnings("error")
def test_rays_of_pictures_are_finite():
    X, y = data(1e200, d=1)
    region = ua.confidence_region(LinearRegression(), X, y, m=M, random_state=1)
    drawn = ua.plots.coefficients_data(region, levels=[LEVEL], rays=12)
    assert np.isfinite(drawn.directions).all()
    assert np.isfinite(drawn.boundary[LEVEL]).all()


def test_an_estimate_that_double_precision_does_not_hold_is_refused():
    X, y = data(1e200)
    X[ROW] = 1e200
    region = ua.confidence_region(LinearRegression(fit_intercept=False), X, y, m=M, random_state=1)
    with pytest.raises(ValueError, match="drop the rows"):
        region.interval()


@pytest.mark.parametrize("noise", slow_but(NOISES, "signs"))
def test_many_lines_have_the_ends_of_single_ones(noise):
    """The steps of many lines are taken from a table, those of few are not."""
    X, y = data(1e15)
    region, exact = regions(X, y, LinearRegression(), NOISES[noise])
    gaps, every, wins = region._engine._exact, np.arange(M - 1), region.tie_order[1:] > 0
    directions = np.random.default_rng(2).normal(size=(9, 3)) * [1.0, 1e-9, 1.0]
    found = [
        gaps.ends(region.estimate, u, every[k % 3 :], wins[k % 3 :])
        for k, u in enumerate(directions)
    ]
    assert gaps._steps.asked > 3
    for k in (0, 7, 8):
        alone = type(gaps)(gaps.system, gaps.moves)
        ends = alone.ends(region.estimate, directions[k], every[k % 3 :], wins[k % 3 :])
        assert np.array_equal(ends, found[k])
    assert float(exact.reach(region.estimate, directions[0], 1)) == pytest.approx(found[0][1].max())


@pytest.mark.slow
def test_what_is_in_doubt_is_computed_exactly_even_if_all_sets_take_too_long(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 10))
    y = X.sum(axis=1) + rng.laplace(size=3000)
    X[:, 1] += 1e9
    X[:, 2] = 1.6e9 + np.arange(3000) * 86400.0  # Unix times
    ends = []
    for most in (2**20, 2**23):  # the second one is enough for all sets
        monkeypatch.setattr("unassuming.membership._exact._MOST_OF_A_LINE", most)
        region = ua.confidence_region(LinearRegression(), X, y, m=40, random_state=3)
        origin = region.estimate * 1.0001
        ends.append(region.crossings("x3", level=LEVEL, origin=origin))
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)


@pytest.mark.slow
def test_cells_do_not_call_undetermined_what_rounding_hides_there():
    """Two large cells in one row make their columns nearly dependent in one of the cells."""
    X, y = data(1.0, n=300, d=3)
    region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    usual = region.interval(["x0", "x1"], level=LEVEL, method="cells")
    X[ROW, :2] = 1e15, 1e12
    region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    joint = region.interval(["x0", "x1"], level=LEVEL)
    assert np.isfinite(joint.upper).all()
    found = region.interval(["x0", "x1"], level=LEVEL, method="cells")
    assert ((found.lower < [1.0, 2.0]) & (found.upper > [1.0, 2.0])).all()
    assert (found.upper - found.lower < 3 * (usual.upper - usual.lower)).all()
    assert "repeats" not in str(region.summary())  # but for one row they have nothing in common
    X[ROW, :2] = 1e18, 1e15
    region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    with pytest.raises(ua.NotAvailable, match="Use method='joint'"):
        region.interval(["x0", "x1"], level=LEVEL, method="cells")
    chosen = region.interval(["x0", "x1"], level=LEVEL, method="auto")
    assert np.isfinite(chosen.upper).all()
    X[:, 1] = 2 * X[:, 0]  # truly dependent
    region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    found = region.interval(["x1", "x2"], level=LEVEL, method="cells")
    assert found.status.name == "UNDETERMINED"
