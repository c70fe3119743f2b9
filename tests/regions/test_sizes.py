"""Numbers near the limits of double precision: the right answer, or one sentence."""

from functools import cache

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(24, 2)), 3)
Y = X @ [1.0, -2.0] + RNG.normal(size=24)
Z = X[:2] + 0.5


def linear(X_unit, y_unit):
    return LinearRegression(), np.r_[y_unit, y_unit / X_unit, y_unit / X_unit]


def ridge(X_unit, y_unit):
    return Ridge(2.0 * X_unit * X_unit), linear(X_unit, y_unit)[1]


def kernel(X_unit, y_unit):
    return KernelRidge(alpha=2.0 * X_unit * X_unit), np.full(24, y_unit / X_unit / X_unit)


def gaussian(X_unit, y_unit):
    model = KernelRidge(kernel="rbf", gamma=0.5 / X_unit / X_unit, alpha=0.5)
    return model, np.full(24, y_unit)


MODELS = {"least squares": linear, "ridge": ridge, "linear kernel": kernel, "gaussian": gaussian}
ENDS = ["lower", "upper"]
METHODS = {
    "band": lambda r, s, t, u: np.ravel([getattr(r.band(Z * s, 0.5), e) / t for e in ENDS]),
    "interval": lambda r, s, t, u: np.ravel([getattr(r.interval(level=0.5), e) / u for e in ENDS]),
    "pointwise": lambda r, s, t, u: np.ravel(
        [getattr(r.band(Z * s, 0.5, simultaneous=False), e) / t for e in ENDS]
    ),
    "ellipsoid": lambda r, s, t, u: np.r_[r.ellipsoid(0.5).squared_radius / t / t],
    "reach": lambda r, s, t, u: r.reach(np.stack([u, -u]), 0.5),
    "crossings": lambda r, s, t, u: np.ravel(r.crossings(u, 0.5)),
    "rank": lambda r, s, t, u: r.rank(np.stack([r.estimate + 0.3 * u, 0 * u])),
    "test": lambda r, s, t, u: np.r_[r.test(r.estimate + 0.3 * u).pvalue],
    "sample": lambda r, s, t, u: np.ravel(r.sample(3, 0.5, random_state=0) / u),
    "bounded": lambda r, s, t, u: np.r_[float(bool(r.bounded(0.5)))],
    "summary": lambda r, s, t, u: np.r_[len(str(r.summary(0.75))) > 0],
}
UNITS = [(1, 996), (1, 990), (1, 500), (1, -565), (1, -1000), (531, 0), (-531, 0), (531, 996),
         (531, -565), (-531, 565)]  # fmt: skip


@cache
def built(model, s, t):
    """The region, or the sentence, and the units of its coefficients."""
    with np.errstate(over="ignore", under="ignore"):
        chosen, u = MODELS[model](s, t)
    try:
        return ua.confidence_region(chosen, X * s, Y * t, m=20, random_state=0), u
    except (ua.NotAvailable, ValueError, ArithmeticError) as error:
        return str(error), u


def answer(model, method, s, t):
    """The answer in units of the data, or the sentence."""
    region, u = built(model, s, t)
    if isinstance(region, str):
        return region
    try:
        return np.asarray(METHODS[method](region, s, t, u), dtype=float)
    except (ua.NotAvailable, ValueError, ArithmeticError) as error:
        return str(error)


@pytest.mark.slow_but_first
@pytest.mark.filterwarnings("ignore:The sample:UserWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", MODELS)
def test_powers_of_two_change_nothing_or_are_refused(model, method):
    plain, right = answer(model, method, 1.0, 1.0), 0
    for s, t in UNITS:
        found = answer(model, method, 2.0 ** (s if s != 1 else 0), 2.0**t)
        if isinstance(found, str):
            assert isinstance(plain, str) or "expected" in found, found
        else:
            right += 1
            np.testing.assert_allclose(found, plain, rtol=1e-6, atol=1e-9)
    assert right or isinstance(plain, str) or method in ("ellipsoid", "pointwise", "summary")


@pytest.mark.parametrize(
    ("model", "X", "y", "words"),
    [
        (LinearRegression(), X, Y * 1e300, "y is too large: expected at most 1e.290"),
        (LinearRegression(), X * 1e160, Y * 1e-170, "the coefficient of x0 is beyond"),
        (KernelRidge(kernel="rbf"), X * 1e160, Y, "X is too large: expected at most 1e.150"),
        (Ridge(1e-300), X, Y, "the penalty is too small"),
    ],
)
def test_data_beyond_double_precision_are_refused_by_name(model, X, y, words):
    with pytest.raises(ValueError, match=words):
        ua.confidence_region(model, X, y, m=20, random_state=0)
