"""Predicted widths: what they depend on, how they compare with measured ones, and the messages."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVR

import unassuming as ua
from unassuming.planning.widths import spread

X = np.linspace(0, 10, 40)[:, None]
SMOOTH = KernelRidge(kernel="rbf", gamma=0.1, alpha=0.5)
GIVEN = {"norm_bound": 60, "noise_scale": 0.7, "alphas": [0.01, 1.0], "inputs": X[2::5]}


@pytest.fixture(scope="module")
def plan():
    return ua.plan(SMOOTH, X, rows=[20], **{**GIVEN, "alphas": [1.0, 0.01]})


@pytest.mark.slow
def test_the_best_penalty_is_that_of_the_narrowest_joint_region(plan):
    joint = {p.alpha: p.half_width for p in plan.predictions if p.alpha and p.rows == 40}
    assert list(joint) == [0.01, 1.0]
    assert plan.alpha == min(joint, key=joint.get) == 0.01
    assert plan.estimator.get_params() == {**SMOOTH.get_params(), "alpha": 0.01}
    assert SMOOTH.alpha == 0.5


MODELS = {
    "cells are best": (KernelRidge(kernel="rbf", gamma=0.05), 200, 60.0, 0.8),
    "the joint region is best": (KernelRidge(kernel="rbf", gamma=0.1), 60, 60.0, 0.9),
    "a pipeline": (make_pipeline(SplineTransformer(6), Ridge()), 200, 40.0, 0.9),
    "SVR": (SVR(gamma=0.5), 64, 30.0, 0.9),
    "no norm bound": (LinearRegression(), 60, None, 0.9),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_calls_give_what_was_predicted(name):
    model, n, B, level = MODELS[name]
    X, y, _ = ua.datasets.sine(n=n, random_state=0)
    alphas = None if name in ("SVR", "no norm bound") else [0.1]
    plan = ua.plan(model, X, norm_bound=B, noise_scale=0.7, level=level, alphas=alphas)
    region = ua.confidence_region(plan.estimator, X, y, random_state=0, m=100)
    printed = str(plan).split("ua.confidence_region(plan.estimator, X, y):\n")[1].split("\n")
    for line, simultaneous in zip(printed, (True, False), strict=True):
        best = plan.best(simultaneous=simultaneous)
        assert line.endswith(f"  {plan.call(simultaneous=simultaneous)}")
        band = eval(plan.call(simultaneous=simultaneous), {"region": region, "X": X})
        assert (band.method, band.simultaneous) == (best.method, simultaneous)
        assert level - 1e-9 <= band.level < level + 0.04
        measured = float(np.median(band.upper - band.lower)) / 2
        if B is not None:
            assert 0.6 < measured / best.half_width < 1.6
    assert ("method='cells'" in str(plan)) == (name in ("cells are best", "a pipeline", "SVR"))


def test_a_plan_prints_a_table_and_is_a_frame(plan):
    text, frame = str(plan), plan.to_frame()
    assert len(frame) == len(plan.predictions)
    assert text.count("best") == 4
    for number in ("40 rows", "level 0.95", "at most 60", "scale 0.7"):
        assert number in " ".join(text.split())
    # All predictions for the rows at hand, and the narrowest of each method for 20 rows.
    own = sum(p.rows == 40 for p in plan.predictions)
    others = {p.method for p in plan.predictions if p.rows == 20}
    rows, calls = text.split("\nCalls, with region =")
    assert calls.count("region.band(X, norm_bound=60") == 2
    lines = [line for line in rows.splitlines() if line.startswith("  ")]
    assert len(lines) == 1 + own + len(others)


@pytest.mark.slow
def test_the_rows_for_a_half_width_have_that_half_width(plan):
    for simultaneous, width in ((False, 0.6), (True, 2.5)):
        n = plan.rows_for(width, simultaneous=simultaneous)
        there = ua.plan(SMOOTH, X[spread(X, n)], **GIVEN)
        assert there.best(simultaneous=simultaneous).half_width == pytest.approx(width, rel=0.2)
    assert plan.rows_for(0.5, simultaneous=False) > plan.rows_for(0.6, simultaneous=False)
    with pytest.raises(ValueError, match="half_width is out of range"):
        plan.rows_for(0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise_scale": None}, "noise_scale is missing"),
        ({"noise_scale": -1.0}, "noise_scale is out of range"),
        ({"norm_bound": 0.0}, "norm_bound is out of range"),
        ({"alphas": [0.0]}, "alphas is out of range"),
        ({"alphas": []}, "alphas is out of range"),
        ({"rows": [1]}, "rows is out of range"),
        ({"level": 90}, "level must be a number strictly between 0 and 1"),
        ({"estimator": LinearRegression(), "alphas": [1.0]}, "alphas does not apply"),
        ({"estimator": RidgeClassifier()}, "a plan needs a regression"),
    ],
)
def test_messages(options, message):
    given = {"estimator": SMOOTH, "norm_bound": 60, "noise_scale": 0.7, **options}
    with pytest.raises((ValueError, ua.NotAvailable), match=message):
        ua.plan(given.pop("estimator"), X, **given)


@pytest.mark.slow
def test_tuned_region_plans_the_penalty_for_its_own_rows():
    X, y, _ = ua.datasets.sine(n=60, random_state=0)
    search = GridSearchCV(SMOOTH, {"gamma": [0.1, 0.3]})
    given = GIVEN.copy()
    tuned = ua.tuned_region(search, X, y, plan=given, random_state=0)
    own = X[tuned.tuning.region_rows]
    chosen = ua.plan(SMOOTH.set_params(gamma=tuned.estimator.gamma), own, **given)
    assert tuned.estimator.alpha == chosen.alpha == tuned.tuning.best_params["alpha"]
    # The outputs of the region do not enter.
    other = y.copy()
    other[tuned.tuning.region_rows] += 100.0
    del given["noise_scale"]
    again = ua.tuned_region(search, X, other, plan=given, random_state=0)
    first = ua.tuned_region(search, X, y, plan=given, random_state=0)
    assert again.tuning.best_params == first.tuning.best_params
    with pytest.raises(ValueError, match="plan does not fit: expected norm_bound"):
        ua.tuned_region(search, X, y, plan={"bound": 3})
