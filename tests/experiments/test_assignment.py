"""Randomised experiments: all assignments are enumerated, and ranks are counted as integers."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, permutation_test
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.experiments import EffectStatus

RNG = np.random.default_rng(5)


def all_assignments(strata, clusters, treated):
    """Yield every assignment of rows that treats so many units in each stratum, by plain loops."""
    units = list(dict.fromkeys(clusters))
    parts = list(dict.fromkeys(strata))
    inside = {s: [u for u in units if strata[list(clusters).index(u)] == s] for s in parts}
    for chosen in product(*(combinations(inside[s], treated[s]) for s in parts)):
        picked = {u for group in chosen for u in group}
        yield np.array([float(c in picked) for c in clusters])


DESIGNS = {
    "balanced": (list("aaaaaa"), list(range(6)), {"a": 3}),
    "unbalanced": (list("aaaaaa"), list(range(6)), {"a": 2}),
    "strata": (list("aaaabbb"), list(range(7)), {"a": 2, "b": 1}),
    "a stratum without choice": (list("aaaabb"), list(range(6)), {"a": 2, "b": 2}),
    "clusters": (list("aaaaaaaa"), [0, 0, 1, 2, 2, 2, 3, 4], {"a": 2}),
    "clusters in strata": (
        list("aaaaabbbb"), [0, 0, 1, 2, 2, 3, 3, 4, 5], {"a": 1, "b": 2}
    ),
}  # fmt: skip


@pytest.mark.parametrize("controlled", [False, True])
@pytest.mark.parametrize("name", DESIGNS)
def test_over_all_assignments_every_rank_occurs_equally_often(name, controlled):
    strata, clusters, treated = DESIGNS[name]
    n = len(strata)
    without = RNG.lognormal(size=n)
    controls = RNG.normal(size=(n, 1)) if controlled else None
    effect, ranks, intervals = 1.7, [], []
    for t in all_assignments(strata, clusters, treated):
        found = ua.assignment_test(
            without + effect * t,
            t,
            strata=strata,
            clusters=clusters,
            controls=controls,
            effect=effect,
            level=0.6,
        )
        ranks.append(found.rank)
        intervals.append(found.interval.lower <= effect <= found.interval.upper)
        assert found.enumerated
    # Mirror images have the same rank, so that each occurs once or twice.
    counts = Counter(ranks)
    assert sorted(counts) == list(range(1, found.m + 1))
    assert set(counts.values()) == {len(ranks) // found.m}
    assert sum(intervals) == round(found.interval.level * len(ranks))


@pytest.mark.slow
def test_with_ties_the_conservative_order_covers_at_least_and_the_random_one_exactly():
    without = np.array([0.0, 0, 1, 1, 1, 3])
    kept = {"random": 0, "conservative": 0}
    level, seeds = 0.6, 15
    for ties in kept:
        for t, seed in product(combinations(range(6), 2), range(seeds)):
            treated = np.isin(np.arange(6), t)
            found = ua.assignment_test(
                without + treated, treated, effect=1.0, level=level, ties=ties, random_state=seed
            )
            kept[ties] += found.pvalue > 1 - found.interval.level
    runs = 15 * seeds
    low, high = binom.ppf([5e-7, 1 - 5e-7], runs, 0.6)
    assert low <= kept["random"] <= high
    assert kept["conservative"] >= 0.6 * runs


@pytest.mark.parametrize("n", [7, 8])
@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_the_p_value_is_that_of_scipy(n, effect):
    y, t = RNG.lognormal(size=n), np.arange(n) % 2
    y = y + t

    def difference(a, b):
        return abs(a.mean() - b.mean())

    shifted = y - effect * t
    other = permutation_test(
        (shifted[t == 1], shifted[t == 0]), difference, n_resamples=np.inf, alternative="greater"
    )
    found = ua.assignment_test(y, t, effect=effect)
    assert found.pvalue == pytest.approx(other.pvalue, abs=1e-12)
    assert found.estimate == pytest.approx(y[t == 1].mean() - y[t == 0].mean())


def plain_statistic(t, y0, strata, controls):
    """|t statistic|, up to an increasing function: the partial correlation with the treatment."""
    dummies = np.array(strata)[:, None] == np.array(sorted(set(strata)))
    C = np.column_stack([dummies, controls])

    def rest(v):
        return v - C @ np.linalg.lstsq(C, v, rcond=None)[0]

    return abs(rest(t) @ rest(y0)) / np.linalg.norm(rest(t))


def test_the_statistics_are_partial_correlations_and_the_estimate_that_of_least_squares():
    strata, t = list("aaaabbbb"), np.array([0, 1, 1, 0, 1, 0, 0, 0])
    y, controls = RNG.normal(size=8), RNG.normal(size=(8, 2))
    found = ua.assignment_test(y, t, strata=strata, controls=controls, effect=0.4)
    assignments = all_assignments(strata, range(8), {"a": 2, "b": 1})
    plain = sorted(plain_statistic(s, y - 0.4 * t, strata, controls) for s in assignments)
    np.testing.assert_allclose(sorted(found.statistics), plain, rtol=1e-10)
    dummies = (np.array(strata)[:, None] == np.array(["a", "b"])).astype(float)
    fit = LinearRegression(fit_intercept=False).fit(np.column_stack([t, dummies, controls]), y)
    assert found.estimate == pytest.approx(fit.coef_[0])


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(5, 9),
    controlled=st.booleans(),
    integers=st.booleans(),
    drawn=st.booleans(),
)
def test_the_interval_agrees_with_a_dense_scan_of_effects(seed, n, controlled, integers, drawn):
    rng = np.random.default_rng(seed)
    t = rng.permutation(np.r_[1, 1, np.zeros(n - 2)])
    y = rng.integers(0, 4, size=n).astype(float) if integers else rng.standard_cauchy(n)
    controls = rng.normal(size=n) if controlled else None
    found = ua.assignment_test(
        y, t, controls=controls, level=0.8, m=20 if drawn else None, random_state=seed % 1000
    )
    bounds, span = found.interval, 20 * (1 + abs(found.estimate) + np.ptp(y))
    effects = found.estimate + np.linspace(-span, span, 2001)
    inside = found.pvalues(effects) > 1 - bounds.level + 1e-12
    near = np.minimum(abs(effects - bounds.lower), abs(effects - bounds.upper)) < 1e-9 * span
    expected = (bounds.lower <= effects) & (effects <= bounds.upper)
    np.testing.assert_array_equal(inside[~near], expected[~near])
    if bounds.status is EffectStatus.EXACT and not integers:
        ends = np.array([bounds.lower, bounds.upper])
        step = 1e-6 * (1 + abs(ends))
        assert (found.pvalues(ends + step * [-1, 1]) <= 1 - bounds.level + 1e-12).all()


@pytest.mark.slow
def test_coverage_of_drawn_assignments_and_power_with_controls():
    """Skewed outcomes that controls explain: exact, and narrower with them."""
    rng, runs = np.random.default_rng(3), 300
    inside, rejected, widths = 0, 0, []
    x = rng.normal(size=24)
    without = 3 * x + rng.lognormal(size=24)
    strata = np.repeat(list("ab"), 12)
    for seed in range(runs):
        t = np.concatenate([rng.permutation(np.repeat([0, 1], [8, 4])) for _ in range(2)])
        y = without + 2.5 * t
        found = ua.assignment_test(
            y, t, strata=strata, controls=x, level=0.8, m=40, random_state=seed
        )
        inside += found.interval.lower <= 2.5 <= found.interval.upper
        rejected += found.pvalue <= 0.1
        if seed < 20:
            bare = ua.assignment_test(y, t, strata=strata, level=0.8, m=40, random_state=seed)
            widths.append((found.interval.upper - found.interval.lower,
                           bare.interval.upper - bare.interval.lower))  # fmt: skip
    low, high = binom.ppf([5e-7, 1 - 5e-7], runs, 0.8)
    assert low <= inside <= high
    assert rejected > 0.8 * runs
    narrow, wide = np.median(widths, axis=0)
    assert narrow < 0.7 * wide


Y, T = RNG.normal(size=6), np.array([0, 1, 0, 1, 0, 1])
BAD = {
    "one value": ({"treatment": np.ones(6)}, "treatment does not have two values.*given 1 "),
    "three values": (
        {"treatment": [0, 1, 2] * 2},
        r"given 3 \(0, 1, 2\).*two treatments at a time",
    ),
    "missing treatment": ({"treatment": [0, 1, np.nan, 1, 0, 1]}, "treatment has a missing label"),
    "missing label": ({"strata": ["a", None] * 3}, "strata has a missing label.*at row 1"),
    "NaN": ({"y": [1, 2, np.nan, 3, 4, 5]}, "y has missing or infinite values"),
    "table": ({"y": np.ones((6, 2))}, "y is not a vector.*one outcome at a time"),
    "short treatment": ({"treatment": [0, 1]}, "treatment has the wrong length: expected 6"),
    "short strata": ({"strata": [0, 1]}, "strata has the wrong length: expected 6"),
    "short clusters": ({"clusters": [0, 1]}, "clusters has the wrong length: expected 6"),
    "short controls": ({"controls": np.ones((5, 1))}, "controls has the wrong length: expected 6"),
    "within a cluster": ({"clusters": [0, 0, 1, 1, 2, 2]}, "varies within a cluster.*cluster 0"),
    "strata in a cluster": (
        {"treatment": [0, 0, 1, 1, 1, 0], "clusters": [0, 0, 1, 1, 2, 3], "strata": list("abaabb")},
        "strata varies within a cluster",
    ),
    "no variation": ({"strata": T}, "treatment varies within too few strata"),
    "collinear": ({"controls": T}, "treatment is a linear combination of the controls"),
    "treated": ({"treated": 7}, "treated is not a value of treatment"),
    "effect": ({"effect": np.nan}, "effect is not a number"),
    "level": ({"level": 95}, "level must be a number strictly between 0 and 1"),
    "m": ({"m": 1}, "m must be an integer of at least 2"),
    "too high": ({"m": 30, "level": 0.97}, "level is too high: expected at most 0.96"),
    "too few": (
        {"treatment": [0, 0, 0, 1, 1, 1], "clusters": [0, 0, 0, 1, 1, 1]},
        "treatment varies too little",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_sentence(name):
    changes, message = BAD[name]
    arguments = {"y": Y, "treatment": T, "level": 0.9, **changes}
    with pytest.raises(ValueError, match=message):
        ua.assignment_test(arguments.pop("y"), arguments.pop("treatment"), **arguments)


def test_too_many_assignments_to_list():
    with pytest.raises(ValueError, match="m is too large: expected at most 4096 assignments"):
        ua.assignment_test(np.arange(30.0), np.arange(30) % 2, m="all")
