"""Members are counted as they are ranked; regions cover, end and reach as they say."""

import numpy as np
import pytest
from scipy.stats import binom

from speed import slow_but
from unassuming.paper import FIGURES, reproduce
from unassuming.paper.figures import LEVELS
from unassuming.paper.reproduce import (
    boundedness,
    build,
    evaluate,
    process_shares,
    silently,
    truth_ranks,
)

SETTINGS = {s.panel: s for figure in FIGURES.values() for s in figure.settings}
EXACT = {
    f"{s.panel} {s.name}": s
    for figure in FIGURES.values()
    for s in (*figure.settings, *figure.counted)
    if s.promise == "exact"
}
RUNS = 80


def region_of(panel, seed=0):
    setting = SETTINGS[panel]
    return build(setting, setting.draw(np.random.default_rng(seed)), seed)


def members_of(region, size, seed=0):
    """Candidates in some region, their ranks, and the count of each rank."""
    seen = []
    counts = evaluate(region, size, seed, lambda a, ranks: seen.append((a, ranks)), silently)
    return *(np.concatenate(part) for part in zip(*seen, strict=True)), counts


# --- members ------------------------------------------------------------------------------------


@pytest.mark.slow_but_first
@pytest.mark.parametrize("panel", SETTINGS)
def test_every_region_has_members_of_low_middle_and_high_level(panel):
    *_, counts = members_of(region_of(panel), 4000)
    low, middle, high = (counts[: rank + 1].sum() / 4000 for rank in (10, 50, 90))
    assert counts.sum() == 4000
    assert 0.02 < low < middle < high < 0.999
    assert counts[1] > 0


def test_what_cannot_be_reproduced_is_refused():
    for arguments in ((7,), (1, 0), (1, 10, 0)):
        with pytest.raises(ValueError, match="expected a figure from 1 to 6"):
            reproduce(*arguments)


# --- coverage -----------------------------------------------------------------------------------


def in_binomial_band(covered, runs, level):
    low, high = binom.ppf([5e-7, 1 - 5e-7], runs, level)
    return low <= covered <= high


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", slow_but(EXACT, *list(EXACT)[::5]))
def test_exact_regions_hold_the_truth_as_often_as_they_say(name):
    ranks = truth_ranks(EXACT[name], RUNS, 1, silently)
    for rank in (10, 50, 90):
        assert in_binomial_band((ranks <= rank).sum(), RUNS, rank / 100)


@pytest.mark.slow
def test_the_published_classifier_never_holds_its_truth():
    ranks = truth_ranks(SETTINGS["1"], RUNS, 1, silently)
    assert (ranks > 80).all()  # nor the region of level 0.8
    assert not in_binomial_band((ranks <= 90).sum(), RUNS, 0.9)


@pytest.mark.slow
def test_the_band_of_the_process_does_not_cover_everywhere():
    shares = process_shares(SETTINGS["3a"], 60, 1, silently)[0.9]
    assert not in_binomial_band((shares == 1).sum(), 60, 0.9)
    assert (shares == 1).sum() < 30
    assert 0.8 < shares.mean() < 0.95


# --- where regions end --------------------------------------------------------------------------


def test_kernel_ridge_is_bounded_up_to_the_level_that_the_signs_allow():
    region = region_of("2a")
    plus = (region.perturbations.apply(np.ones(20)) > 0).sum(axis=0).max()
    expected = {p: "yes" if round(100 * p) <= 99 - plus else "no" for p in LEVELS}
    assert boundedness(region) == expected == {0.1: "yes", 0.5: "no", 0.9: "no"}
    assert boundedness(region_of("1")) == dict.fromkeys(LEVELS, "yes")


@pytest.mark.slow_but_first
@pytest.mark.parametrize("panel", ["3a", "5a", "5b", "5c", "6a", "6b", "6c", "6d"])
def test_kernel_lasso_is_unbounded_at_every_level(panel):
    assert boundedness(region_of(panel)) == dict.fromkeys(LEVELS, "no")
