"""Regions cover as often as they say where the theory promises it, and not where it does not."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from speed import slow_but
from unassuming.paper import FIGURES
from unassuming.paper._coverage import Count, process_coverage, repeated, truth_ranks
from unassuming.paper._reproduce import silently

RUNS = 80
EXACT = {
    f"{s.panel} {s.name}": s
    for figure in FIGURES.values()
    for s in (*figure.settings, *figure.counted)
    if s.promise == "exact"
}


def in_binomial_band(covered, runs, level):
    low, high = binom.ppf([5e-7, 1 - 5e-7], runs, level)
    return low <= covered <= high


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", slow_but(EXACT, *list(EXACT)[::5]))
def test_exact_regions_hold_the_truth_as_often_as_they_say(name):
    ranks = truth_ranks(EXACT[name], RUNS, 1, silently)
    for rank in (10, 50, 90):
        assert in_binomial_band((ranks <= rank).sum(), RUNS, rank / 100)


def test_all_but_two_regions_promise_to_be_exact():
    without = [
        s.panel
        for figure in FIGURES.values()
        for s in (*figure.settings, *figure.counted)
        if s.promise != "exact"
    ]
    assert without == ["1", "4d"]


@pytest.mark.slow
def test_the_published_classifier_never_holds_its_truth():
    (setting,) = FIGURES[1].settings
    ranks = truth_ranks(setting, RUNS, 1, silently)
    assert (ranks > 80).all()  # nor the region of level 0.8
    assert not in_binomial_band((ranks <= 90).sum(), RUNS, 0.9)


@pytest.mark.slow
def test_the_band_of_the_process_does_not_cover_everywhere():
    setting = FIGURES[3].settings[0]
    found = process_coverage(setting, (0.9,), 60, 1, silently)
    assert not in_binomial_band(found.everywhere(0.9).covered, 60, 0.9)
    assert found.everywhere(0.9).covered < 30
    assert 0.8 < found.each(0.9) < 0.95
    assert found.each(0.9) == np.mean(found.inside[0.9])


def test_settings_with_the_same_law_are_measured_on_the_same_samples():
    first, second = (repeated(setting, 4, 7) for setting in FIGURES[2].settings)
    np.testing.assert_array_equal(first[0].y, second[0].y)
    assert first[1] == second[1]
    other = repeated(FIGURES[2].settings[0], 4, 8)
    assert (other[0].y != first[0].y).all()
    assert other[1] != first[1]


@pytest.mark.parametrize(("covered", "runs"), [(0, 50), (31, 50), (50, 50)])
def test_the_interval_is_that_of_clopper_and_pearson(covered, runs):
    low, high = Count(covered, runs).interval
    expected = beta.ppf(
        [0.005, 0.995], [covered, covered + 1], [runs - covered + 1, runs - covered]
    )
    assert low == pytest.approx(0 if covered == 0 else expected[0])
    assert high == pytest.approx(1 if covered == runs else expected[1])
