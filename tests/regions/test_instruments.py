"""Regions with instruments: exact ranks and coverage, sets and their print, what is refused."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import unassuming as ua
from unassuming.regions import Status

SEEDS = range(100)


def data(n=60, strength=0.8, k=1, seed=0, noise="laplace"):
    X, y, truth = ua.datasets.instrumented(n, strength, k, noise, seed)
    return pd.DataFrame(X, columns=["x", "z", *(f"w{j}" for j in range(k))]), y, truth


def region_of(n=60, strength=0.8, k=1, seed=0, noise="laplace", endogenous="x", **options):
    X, y, truth = data(n, strength, k, seed, noise)
    names = [f"w{j}" for j in range(k)]
    model = ua.InstrumentalRegression(endogenous=endogenous, instruments=names)
    return ua.confidence_region(model, X, y, **{"m": 100, "random_state": seed} | options), truth


def two_endogenous(n=80, seed=0):
    """Two endogenous columns, three instruments and no control."""
    rng = np.random.default_rng(seed)
    W, e = rng.normal(size=(n, 3)), rng.laplace(size=n)
    x = W[:, :2] + W[:, 2:] + 0.7 * e[:, None] + rng.normal(size=(n, 2))
    y = 1 + x @ [0.5, -1.0] + e
    X = pd.DataFrame(np.column_stack([x, W]), columns=["a", "b", "u", "v", "w"])
    model = ua.InstrumentalRegression(endogenous=["a", "b"], instruments=["u", "v", "w"])
    return ua.confidence_region(model, X, y, random_state=seed), np.array([1.0, 0.5, -1.0])


def band_of(runs, level):
    return binom.ppf(5e-7, runs, level), binom.isf(5e-7, runs, level)


# --- exactness ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_rank_of_the_joint_region_is_equally_frequent_over_all_sign_patterns():
    """n = 7: all 128 patterns of the noise, and the whole group of signs modulo ±1."""
    rng, n, truth = np.random.default_rng(3), 7, np.array([1.0, 0.7])
    w, sizes, other = rng.normal(size=(3, n))
    model = ua.InstrumentalRegression(endogenous=0, instruments=1)
    ranks = []
    for signs in product((-1.0, 1.0), repeat=n):
        e = np.array(signs) * sizes
        x = 0.2 * w + other + np.cumsum(e) ** 2
        y = truth[0] + truth[1] * x + e
        X = np.column_stack([x, w])
        ranks.append(ua.confidence_region(model, X, y, m="all", random_state=0).rank(truth))
    counts = np.bincount(ranks, minlength=65)[1:]
    assert counts.tolist() == [2] * 64


@pytest.mark.slow
def test_public_sets_cover_exactly_the_right_number_of_sign_patterns():
    """n = 8 in four given cells: all 16 patterns of the cells, level 7/8, of four noise vectors."""
    rng, n, beta = np.random.default_rng(4), 8, 0.7
    w, other, *noise = rng.normal(size=(6, n))
    labels, model = np.arange(n) // 2, ua.InstrumentalRegression(endogenous=0, instruments=1)
    for vector in noise:
        inside = 0
        for signs in product((-1.0, 1.0), repeat=4):
            e = np.array(signs)[labels] * vector
            x = 0.1 * w + other + np.abs(e) * e
            region = ua.confidence_region(
                model, np.column_stack([x, w]), 1 + beta * x + e, m=2, random_state=0
            )
            found = region.interval("x0", level=0.875, simultaneous=False, cells=labels)
            inside += int(found.sets[0].contains(beta))
        assert inside == 16 * 7 // 8


@pytest.mark.slow
@pytest.mark.parametrize(("strength", "k"), [(0.0, 1), (0.15, 3)])
def test_coverage_is_the_level_for_instruments_of_every_strength(strength, k):
    inside = at_once = 0
    for seed in SEEDS:
        region, truth = region_of(36, strength, k, seed, "student", m=20)
        found = region.interval(level=0.9, simultaneous=False, cells=np.arange(36) % 6)
        assert found.attained[0] == 1 - 3 / 32
        inside += int(found.sets[0].contains(truth[-1]))
        at_once += int(region.contains(truth, level=0.9))
    assert band_of(len(SEEDS), 1 - 3 / 32)[0] <= inside <= band_of(len(SEEDS), 1 - 3 / 32)[1]
    assert band_of(len(SEEDS), 0.9)[0] <= at_once <= band_of(len(SEEDS), 0.9)[1]


# --- geometry ----------------------------------------------------------------------------------


def test_statistics_of_the_joint_region_are_those_of_the_formula():
    region, truth = two_endogenous(n=30)
    W = np.column_stack([np.ones(30), region.inputs[["u", "v", "w"]]])
    X = np.column_stack([np.ones(30), region.inputs[["a", "b"]]])
    w, Q = np.linalg.eigh(W.T @ W)
    root = Q / np.sqrt(w) @ Q.T
    r = region.objective.y - X @ truth
    perturbed = np.vstack([r, region.perturbations.apply(r)])
    expected = np.square(perturbed @ W @ root).sum(axis=1) / 30
    np.testing.assert_allclose(region.statistics(truth), expected, rtol=1e-9)


# --- several columns ---------------------------------------------------------------------------


def test_all_endogenous_coefficients_are_tested_at_once_with_others_if_asked():
    region, truth = two_endogenous()
    assert region.hypothesis(["a", "b"], truth[1:]).pvalue > 0.02
    assert region.hypothesis(["a", "b"], truth[1:] + 1).pvalue < 0.01
    assert region.hypothesis(["intercept", "a", "b"], truth).pvalue > 0.02
    assert region.hypothesis(["intercept", "a", "b"], truth + np.array([2, 0, 0])).pvalue < 0.01
    combined = np.array([[0, 1.0, 1.0], [0, 1.0, -1.0]])
    same = region.hypothesis(combined, combined @ truth)
    assert same.pvalue == region.hypothesis(["a", "b"], truth[1:]).pvalue


def test_what_no_cell_removes_is_refused_with_the_reason():
    region, _ = two_endogenous()
    for action in (region.summary, lambda: region.interval("a", simultaneous=False)):
        with pytest.raises(ua.NotAvailable, match=r"several \(a and b\).*hypothesis"):
            action()
    with pytest.raises(ua.NotAvailable, match="every endogenous coefficient"):
        region.hypothesis("a")
    single, _ = region_of()
    with pytest.raises(ua.NotAvailable, match="z is not a multiple of the coefficient of x"):
        single.summary(functionals=["x", "z"])
    with pytest.raises(ua.NotAvailable, match="input 0 is not a multiple"):
        single.band(single.inputs[:2], simultaneous=False)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda r: r.summary(method="halves"), "method does not go with instruments"),
        (
            lambda r: r.summary(cell_weights="residuals"),
            "does not go with instruments, whose residuals",
        ),
        (
            lambda r: r.summary(cell_estimate="median"),
            "does not go with instruments, whose residuals",
        ),
        (lambda r: r.interval(method="cells", simultaneous=True), "x may depend on it"),
        (lambda r: r.interval("x", simultaneous=False, norm_bound=2.0), "needs inputs that do not"),
        (
            lambda r: r.interval(model_error=0.1, simultaneous=True, method="joint"),
            "needs inputs that do not",
        ),
        (lambda r: r.lack_of_fit(), "inputs that do not depend on the noise"),
        (lambda r: r.bounded(), "needs a quadratic objective"),
    ],
)
def test_methods_that_need_exogenous_columns_are_refused(action, message):
    region, _ = region_of()
    with pytest.raises(ua.NotAvailable, match=message):
        action(region)


# --- results -----------------------------------------------------------------------------------


def weak():
    """A region whose set is two rays."""
    for seed in range(100):
        region, _ = region_of(strength=0.2, seed=seed)
        found = region.summary(0.95)
        if len(found.sets[0]) == 2 and not found.sets[0].bounded:
            return region, found
    raise AssertionError


def test_two_rays_are_returned_and_printed_as_such():
    region, found = weak()
    (low, a), (b, high) = found.sets[0].ends
    assert (low, high) == (-np.inf, np.inf)
    assert f"(-inf, {a:.6g}] or [{b:.6g}, inf)" in str(found)
    words = " ".join(str(found).split())
    assert "ends of their hull" in words
    assert "No method avoids that" in words
    assert "(-inf" in found._repr_html_()
    assert found.to_frame().loc["x", "set"] == str(found.sets[0])
    assert (found.lower[0], found.upper[0]) == (-np.inf, np.inf)
    interval = region.interval(level=0.95, simultaneous=False)
    assert interval.status is Status.ENDLESS_SET
    assert str(found.sets[0]) in str(interval)
    minus = region.interval([0.0, 0.0, -2.0], level=0.95, simultaneous=False).sets[0]
    np.testing.assert_allclose(minus.ends, [[-np.inf, -2 * b], [-2 * a, np.inf]])


def test_instruments_that_contradict_each_other_leave_no_value():
    rng = np.random.default_rng(0)
    W, e = rng.normal(size=(200, 2)), rng.normal(size=200)
    x = W.sum(axis=1) + 0.3 * e
    y = x + 3 * W[:, 0] + e  # the first instrument acts on y by itself
    model = ua.InstrumentalRegression(endogenous=0, instruments=[1, 2])
    region = ua.confidence_region(model, np.column_stack([x, W]), y, random_state=0)
    found = region.interval(level=0.9, simultaneous=False)
    assert found.status is Status.EMPTY
    assert np.isnan([found.lower[0], found.upper[0]]).all()
    assert "no value" in str(found)
    assert "No value of x0 agrees with all instruments" in found.reason
    assert not region.contains(region.estimate)
