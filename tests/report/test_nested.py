"""Bounds of lower levels lie inside those of higher ones."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.report import nested

LEVELS = [0.9, 0.5]


@pytest.fixture(scope="module")
def region():
    X, y, _ = ua.datasets.linear(n=60, d=2, random_state=0)
    return ua.confidence_region(LinearRegression(), X, y, random_state=0, m=100)


def ended_early(region, method):
    """A question whose search at level 0.5 has left the first interval wide."""

    def question(*, level, **options):
        found = region.interval(level=level, **options)
        if 0.5 in found:
            far = found[0.5].lower.copy()
            far[0] -= 100
            found[0.5] = replace(found[0.5], lower=far, method=method)
        return found

    return question


def test_a_search_that_ended_early_takes_the_bounds_of_the_higher_level(region):
    question = ended_early(region, "joint region")
    found = nested(question, LEVELS, {"method": "joint", "simultaneous": True})
    exact = region.interval(level=LEVELS, method="joint", simultaneous=True)
    assert found[0.5].lower[0] == exact[0.9].lower[0]
    np.testing.assert_array_equal(found[0.5].lower[1:], exact[0.5].lower[1:])
    np.testing.assert_array_equal(found[0.5].upper, exact[0.5].upper)
    np.testing.assert_array_equal(found[0.9].lower, exact[0.9].lower)


def test_bounds_that_do_not_come_from_the_joint_region_stay_as_they_are(region):
    question = ended_early(region, "balanced cells")
    found = nested(question, LEVELS, {"method": "joint", "simultaneous": True})
    assert found[0.5].lower[0] < found[0.9].lower[0]
