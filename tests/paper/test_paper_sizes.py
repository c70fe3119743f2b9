"""Sizes of the regions of a figure, and ε-SVR in its two dual vectors."""

import dataclasses

import numpy as np
import pytest

import unassuming as ua
from unassuming.paper import FIGURES, Size, compared_level, size_rows, size_sentence
from unassuming.paper._coverage import build, repeated
from unassuming.paper._figures import INPUT_RANGE, LEVELS
from unassuming.paper._reproduce import silently
from unassuming.paper._sizes import directions, measure_sizes

SETTINGS = {s.panel: s for k in (2, 4, 5, 6) for s in FIGURES[k].settings}


def test_rays_have_mean_square_one_and_come_in_both_senses():
    middles = (np.arange(1000) + 0.5) / 1000
    values = directions(INPUT_RANGE * middles[:, None])
    np.testing.assert_allclose((values**2).mean(axis=1), 1, rtol=1e-9)
    half = len(values) // 2
    np.testing.assert_array_equal(values[:half], -values[half:])
    assert len(np.unique(values.round(9), axis=0)) == len(values)


@pytest.mark.parametrize("panel", ["2a", "2b", "5a", "6a"])
def test_ends_are_the_last_members_on_their_rays(panel):
    setting = SETTINGS[panel]
    figure = dataclasses.replace(FIGURES[int(panel[0])], settings=(setting,))
    (size,) = measure_sizes(figure, 1, 7, silently)
    sample, seed = repeated(setting, 7, 0)
    region = build(setting, sample, seed)
    steps = np.concatenate([np.linspace(0, 4, 161), np.geomspace(5, 1e6, 20)])
    rays = directions(sample.X)
    for k in range(0, len(rays), 3):
        a = region.objective.coefficients(rays[k : k + 1])[0]
        ranks = region.rank(region.estimate + steps[:, None] * a)
        for level in LEVELS:
            end = size.ends[level][0, k]
            inside = ranks <= region.level(level).largest_rank
            assert not inside[steps > end * (1 + 1e-9)].any()
            if np.isinf(end):
                assert inside[-5:].all()
            else:
                assert end == 0 or region.contains(region.estimate + end * (1 - 1e-9) * a, level)


def fake(name, ends):
    setting = dataclasses.replace(SETTINGS["2a"], name=name)
    return Size(setting, {level: np.array([row]) for level, row in zip(LEVELS, ends, strict=True)})


def test_medians_are_compared_where_all_are_finite():
    inf = np.inf
    few = fake("few", [[1, 2, 3], [1, 4, inf], [2, inf, inf]])
    many = fake("many", [[1, 1, 1], [2, 2, 2], [3, 3, 3]])
    assert few.median(0.5) == 4
    assert few.endless(0.5) == pytest.approx(1 / 3)
    assert compared_level((few, many)) == 0.5
    assert compared_level((many,)) == 0.9
    marked = [
        (row["method"], row["level"]) for row in size_rows((few, many)) if row["compared"] == "yes"
    ]
    assert marked == [("few", 0.5), ("many", 0.5)]
    assert "at level 0.5" in size_sentence((few, many))
    none = fake("none", [[inf, inf, inf]] * 3)
    assert compared_level((few, none)) is None
    assert "At no level" in size_sentence((few, none))


# --- ε-SVR in (α⁺, α⁻) --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def split():
    setting = FIGURES[2].counted[0]
    sample, seed = repeated(setting, 3, 0)
    return build(setting, sample, seed), sample


def plain_statistics(region, a):
    """‖minus gradient + normal cone‖² one entry at a time."""
    dual = region.objective.dual
    n, K, C, epsilon = region.n, dual.kernel.K, dual.C, dual.epsilon
    r = region.objective.y - K @ (a[:n] - a[n:])
    found = []
    for moved in [r, *region.perturbations.apply(r)]:
        total = 0.0
        for j in range(2 * n):
            g = epsilon - moved[j] if j < n else epsilon + moved[j - n]
            if a[j] == 0:
                g = min(g, 0.0)
            if a[j] == C:
                g = max(g, 0.0)
            total += g * g
        found.append(total)
    return found


def test_statistics_are_those_of_the_box(split):
    region, _ = split
    rng = np.random.default_rng(0)
    C = region.objective.dual.C
    for _ in range(5):
        a = rng.uniform(0, C, size=2 * region.n)
        a[rng.uniform(size=len(a)) < 0.3] = 0.0
        a[rng.uniform(size=len(a)) < 0.2] = C
        np.testing.assert_allclose(region.statistics(a), plain_statistics(region, a), rtol=1e-9)


def test_the_estimate_is_stationary_and_maps_to_that_of_alpha(split):
    region, sample = split
    alpha = build(FIGURES[2].settings[1], sample, 0)
    n = region.n
    np.testing.assert_array_equal(region.estimate[:n] - region.estimate[n:], alpha.estimate)
    assert region.statistics(region.estimate)[0] < 1e-16 * region.statistics(sample.truth)[0]


def test_inside_the_box_every_statistic_is_the_same(split):
    region, _ = split
    values = region.statistics(np.full(2 * region.n, 0.5))
    np.testing.assert_allclose(values, values[0], rtol=1e-12)
    assert region.rank(np.full(2 * region.n, 0.5)) == 1 + int(region.tie_order[0])


def test_lines_agree_with_membership(split):
    region, sample = split
    rng = np.random.default_rng(1)
    ends = region.objective.coefficients(sample.truth(sample.X)[None])[0] - region.estimate
    for direction in (ends, rng.normal(size=2 * region.n)):
        spans = region.crossings(direction, level=0.5)
        t = rng.uniform(-2, 2, size=200)
        inside = ((spans[:, 0] <= t[:, None]) & (t[:, None] <= spans[:, 1])).any(axis=1)
        points = region.estimate + t[:, None] * direction
        np.testing.assert_array_equal(region.contains(points, level=0.5), inside)


def test_other_weightings_are_refused(split):
    _, sample = split
    with pytest.raises(ValueError, match="weighting is not available for ε-SVR in"):
        ua.confidence_region(
            FIGURES[2].counted[0].model, sample.X, sample.y, weighting="gram", m=100
        )
