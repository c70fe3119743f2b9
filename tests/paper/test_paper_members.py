"""Random coefficients around the estimate reach all levels, and are counted as they are ranked."""

import numpy as np
import pytest

from unassuming.paper import FIGURES, reproduce
from unassuming.paper._bounded import Ends, ends
from unassuming.paper._coverage import build
from unassuming.paper._members import evaluate
from unassuming.paper._reproduce import silently

SETTINGS = {s.panel: s for figure in FIGURES.values() for s in figure.settings}


def region_of(panel, seed=0):
    setting = SETTINGS[panel]
    return build(setting, setting.draw(np.random.default_rng(seed)), seed)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("panel", SETTINGS)
def test_every_region_has_members_of_low_middle_and_high_level(panel):
    region = region_of(panel)
    found = evaluate(
        region, 4000, np.random.default_rng(0), lambda a, ranks: None, silently, "members"
    )
    assert found.total == 4000
    low, middle, high = (found.up_to(rank) for rank in (10, 50, 90))
    assert 0.02 < low / 4000 < middle / 4000 < high / 4000 < 0.999
    assert found.counts[1] > 0


def test_what_is_marked_is_what_some_region_holds():
    region, seen = region_of("3a"), []
    found = evaluate(
        region,
        20_000,
        np.random.default_rng(0),
        lambda a, ranks: seen.append((a, ranks)),
        silently,
        "members",
    )
    a, ranks = (np.concatenate(part) for part in zip(*seen, strict=True))
    few = slice(0, 30)  # so few are compared one by one
    np.testing.assert_array_equal(region.rank(a[few]), ranks[few])
    assert ranks.max() < region.m
    assert len(a) == found.up_to(region.m - 1) == 20_000 - found.counts[region.m]
    np.testing.assert_array_equal(np.bincount(ranks, minlength=101)[:100], found.counts[:100])


def test_the_picture_of_functions_is_that_of_the_members():
    found = reproduce(3, members=40, repetitions=1)
    panel = found.panels[0]
    raster, seen = panel.rasters["models"], []
    rng = np.random.default_rng(np.random.SeedSequence([0, 2]))
    evaluate(panel.region, 40, rng, lambda a, ranks: seen.append((a, ranks)), silently, "members")
    ((a, ranks),) = seen
    X = panel.sample.X
    expected = np.zeros((240, 240), dtype=int)
    bottom, top = raster.window[1]
    for one, rank in zip(a, ranks, strict=True):
        for column, x in enumerate(raster.columns):
            value = one @ np.exp(-((x - X[:, 0]) ** 2) / 2)
            row = int(np.floor((value - bottom) / (top - bottom) * 240))
            if 0 <= row < 240:
                known = expected[row, column]
                expected[row, column] = rank if known == 0 else min(known, rank)
    np.testing.assert_array_equal(raster.lowest(), expected)


def test_lines_and_coefficients_are_those_of_the_members():
    panel = reproduce(1, members=60, repetitions=1).panels[0]
    raster, seen = panel.rasters["models"], []
    rng = np.random.default_rng(np.random.SeedSequence([0, 2]))
    evaluate(panel.region, 60, rng, lambda a, ranks: seen.append((a, ranks)), silently, "members")
    ((a, ranks),) = seen
    lowest = raster.lowest()
    rows, columns = np.nonzero(lowest)
    half = raster.columns[1] - raster.columns[0]
    for row, column in list(zip(rows, columns, strict=True))[::97]:
        x = np.array([raster.columns[column], raster.rows[row]])
        near = np.abs(a @ x) / np.abs(a).max(axis=1) <= 0.5 * half * (1 + 1e-9)
        assert lowest[row, column] == ranks[near].min()
    points = panel.rasters["coefficients"]
    assert (points.lowest() > 0).sum() <= 60


# --- where regions end --------------------------------------------------------------------------


def test_kernel_ridge_is_bounded_up_to_the_level_that_the_signs_allow():
    region = region_of("2a")
    plus = (region.perturbations.apply(np.ones(20)) > 0).sum(axis=0).max()
    assert ends(region) == Ends(99 - plus, 100 - plus)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("panel", ["3a", "5a", "5b", "5c", "6a", "6b", "6c", "6d"])
def test_kernel_lasso_is_unbounded_at_every_level(panel):
    assert ends(region_of(panel)) == Ends(0, 1)


def test_far_along_the_smallest_eigenvector_kernel_lasso_ranks_first():
    region = region_of("3a")
    vectors = np.linalg.eigh(region.objective.design.matrix)[1]
    far = region.estimate + 1e12 * vectors[:, [0]].T
    assert region.rank(far)[0] == 1


@pytest.mark.slow
def test_with_the_identity_as_kernel_lasso_is_open_where_the_signs_are():
    region = region_of("5d")
    plus = (region.perturbations.apply(np.ones(20)) > 0).sum(axis=0).max()
    assert ends(region).unbounded == 100 - plus


@pytest.mark.slow
def test_svr_is_unbounded_at_the_usual_levels():
    found = ends(region_of("2b"))
    assert found.bounded == 0
    assert found.unbounded <= 50


def test_ls_svc_is_bounded():
    assert ends(region_of("1")) == Ends(99, 100)


@pytest.mark.parametrize(
    ("known", "said", "at"),
    [
        (Ends(0, 1), "unbounded at every level", ["no", "no"]),
        (Ends(99, 100), "bounded at every level", ["yes", "yes"]),
        (Ends(36, 37), "bounded up to level 0.36", ["yes", "no"]),
        (Ends(0, 24), "unbounded from level 0.24 on, not known below", ["not known", "no"]),
        (Ends(0, 100), "no unbounded direction was found", ["not known", "not known"]),
    ],
)
def test_what_is_said_of_the_ends(known, said, at):
    assert known.sentence(100) == said
    assert [known.at(rank) for rank in (10, 90)] == at
