"""The table "What each model can do" in the how-to on models, asked of the code."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.svm import SVR, LinearSVR

import unassuming as ua
from unassuming.objectives import registered_classes
from unassuming.regions import Status

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "models.md"
SMOOTH = {"kernel": "rbf", "gamma": 0.5}
MODELS = {
    "LinearRegression": LinearRegression(),
    "Ridge": Ridge(),
    "Lasso": Lasso(alpha=0.01),
    "ElasticNet": ElasticNet(alpha=0.01),
    "LinearSVR": LinearSVR(),
    "QuantileRegressor": QuantileRegressor(alpha=0.0),
    "HuberRegressor": HuberRegressor(),
    "KernelRidge": KernelRidge(**SMOOTH),
    "GaussianProcessRegressor": GaussianProcessRegressor(RBF(), alpha=0.5, optimizer=None),
    "ua.KernelLasso": ua.KernelLasso(**SMOOTH),
    "ua.KernelHuber": ua.KernelHuber(**SMOOTH),
    "SVR": SVR(**SMOOTH),
    "RidgeClassifier": RidgeClassifier(),
    "ua.LSSVC": ua.LSSVC(),
    "LogisticRegression": LogisticRegression(),
}
OTHERS = {"ua.ARX", "ua.InstrumentalRegression"}
"""Models with other data, which have tests of their own below."""


def table():
    """The rows, by the names of the models: bounds, and one number at a time."""
    text = PAGE.read_text().split("## What each model can do")[1].split("## ")[0]
    rows = {}
    for line in text.splitlines():
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        if len(cells) == 3:
            for name in re.findall(r"`([\w.]+)`", cells[0]):
                rows[name] = [cell.strip() for cell in cells[1:3]]
    return rows


TABLE = table()


def test_the_table_has_every_model():
    names = {name.removeprefix("ua.") for name in TABLE}
    known = {cls.__name__: cls for cls in registered_classes()}
    assert names <= set(known)
    # The others are not public: tests and the figures of the article have models of their own.
    for name in set(known) - names:
        assert not hasattr(ua, name)
        assert not hasattr(import_module(known[name].__module__.rpartition("._")[0] or "sys"), name)
    assert set(MODELS) | OTHERS == set(TABLE)


def region_of(name, columns=1):
    model, n = MODELS[name], 40 if hasattr(MODELS[name], "kernel") else 80
    if name in ("RidgeClassifier", "ua.LSSVC", "LogisticRegression"):
        X, y, _ = ua.datasets.labels(n=n, d=columns, random_state=0)
    else:
        X, y, _ = ua.datasets.linear(n=n, d=columns, random_state=0)
    return X, ua.confidence_region(model, X, y, random_state=0, m=100)


def finite(answer):
    return bool(np.isfinite(answer.upper - answer.lower).all())


def simultaneous(name):
    """The word of the table for simultaneous bounds, as the code answers."""
    X, region = region_of(name)
    band = region.band(X[:3], method="joint", level=0.9)
    if region.problem.classes is not None:
        more = region_of(name, columns=4)[1].band(
            X[:3].repeat(4, axis=1), method="joint", level=0.9
        )
        assert more.status is not Status.CERTIFIED or (more.upper - more.lower > 1).any()
        return "none" if band.status is Status.TRIVIAL else "up to 4 coefficients"
    if finite(band):
        X, larger = region_of(name, columns=4)
        return (
            "finite with enough rows"
            if finite(larger.band(X[:3], method="joint", level=0.9))
            else "up to 4 coefficients"
        )
    design = region.objective.design
    if not design.dual:
        if not finite(region.band(X[:3], method="cells", level=0.9)):
            return "none"
        model = clone(MODELS[name]).set_params(fit_intercept=False)
        alone = ua.confidence_region(model, X, region.objective.y, random_state=0, m=100)
        ball = " or `norm_bound` without an intercept"
        bounded = finite(alone.band(X[:3], norm_bound=5, method="joint", level=0.9))
        return f'`method="cells"`{"," * bounded}{ball * bounded}'
    if finite(region.band(X[:3], norm_bound=5, method="joint", level=0.9)):
        return "with `norm_bound`"
    assert finite(region.band(X[:3], norm_bound=5, method="cells", level=0.9))
    return '`method="cells"` with `norm_bound`'


def one_at_a_time(name):
    X, region = region_of(name)
    try:
        return "yes" if finite(region.summary()) else "no"
    except ua.NotAvailable:
        pass
    try:
        found = region.band(X[:3], norm_bound=5, simultaneous=False, level=0.9)
    except ua.NotAvailable:
        return "no"
    return "with `norm_bound`" if finite(found) else "no"


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", list(MODELS))
def test_the_code_answers_as_the_table_says(name):
    bounds, single = TABLE[name]
    assert simultaneous(name) in bounds
    assert one_at_a_time(name) == single


def test_a_dynamical_system_has_no_simultaneous_bounds():
    bounds, single = TABLE["ua.ARX"]
    assert bounds == "none; `crossings`"
    assert single == "no"
    u, y, _ = ua.datasets.arx(n=40, random_state=0)
    region = ua.confidence_region(ua.ARX(1, 1), u, y, m=10, random_state=0)
    assert (
        region.interval(simultaneous=True, method="joint", level=0.9).status
        is Status.NO_OUTER_BOUND
    )
    with pytest.raises(ua.NotAvailable):
        region.band(u[:3], method="joint", level=0.9)
    assert not region.exact_crossings
    assert len(region.crossings("a1", level=0.8))
    found = region.interval("a1", level=0.8, inner=True, simultaneous=True, method="joint")
    assert found.inner_lower[0] < region.estimate[0] < found.inner_upper[0]
    for ask in (region.summary, lambda: region.interval("a1", simultaneous=False, level=0.9)):
        with pytest.raises(ua.NotAvailable):
            ask()


def instrumented(strength):
    X, y, _ = ua.datasets.instrumented(n=100, strength=strength, random_state=0)
    model = ua.InstrumentalRegression(endogenous=0, instruments=2)
    return ua.confidence_region(model, X, y, random_state=0, m=100)


def test_instruments_give_intervals_rays_or_the_line():
    bounds, single = TABLE["ua.InstrumentalRegression"]
    assert bounds == "finite if instruments are strong"
    assert single == "the endogenous column"
    strong, weak = instrumented(2.0), instrumented(0.0)
    assert finite(strong.interval(simultaneous=True, method="joint", level=0.9))
    assert not finite(weak.interval(simultaneous=True, method="joint", level=0.9))
    summary = strong.summary()
    assert summary.names == ("x0",)
    assert len(summary.sets[0]) == 1
    assert summary.sets[0].bounded
    assert not weak.summary().sets[0].bounded
