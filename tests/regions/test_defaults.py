"""What is answered where nothing is asked for: levels, one number at a time, clusters, seeds."""

import inspect

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua

X, Y, TRUTH = ua.datasets.linear(n=120, d=2, random_state=0)
ATTAINED = 122 / 128  # the smallest multiple of 1/128 from 0.95 on
JOINT = {"simultaneous": True, "method": "joint"}


@pytest.fixture(scope="module")
def region():
    return ua.confidence_region(LinearRegression(), X, Y)


def test_a_region_has_128_statistics_and_seed_0(region):
    assert (region.m, region.seed) == (128, 0)
    assert float(region.level(0.95)) == ATTAINED == 0.953125


@pytest.mark.parametrize(
    "ask",
    [
        lambda region: region.interval(**JOINT),
        lambda region: region.band(X[:3], method="joint"),
        lambda region: region.ellipsoid(),
        lambda region: region.bounded(),
        lambda region: region.norm_bounds_table(X[:3], [5.0]),
    ],
    ids=["interval", "band", "ellipsoid", "bounded", "norm bounds"],
)
def test_results_of_the_joint_region_report_the_attained_level(region, ask):
    assert ask(region).level == ATTAINED
    assert "0.953125" in str(ask(region))


def test_results_from_balanced_cells_report_the_level_of_their_cells(region):
    for found in (region.interval(simultaneous=True, method="cells"), region.band(X[:3])):
        assert found.method == "balanced cells"
        assert type(found.level) is float
        assert found.level == found.attained[0] == 31 / 32
        assert "at level 0.96875, all at once" in str(found)


def test_an_interval_holds_by_itself_and_reports_the_level_of_its_cells(region):
    found, joint = region.interval(), region.interval(**JOINT)
    assert not found.simultaneous
    assert joint.simultaneous
    assert 0.95 <= found.level == found.attained.min() < ATTAINED
    summary = region.summary()
    np.testing.assert_array_equal(found.lower, summary.lower)
    np.testing.assert_array_equal(summary.level, found.attained)
    assert region.band(X[:3]).simultaneous
    assert ((found.upper - found.lower) < (joint.upper - joint.lower)).all()


def test_several_levels_are_the_keys_and_each_result_has_its_own(region):
    for options in ({}, JOINT):
        found = region.interval(level=[0.5, 0.9], **options)
        assert list(found) == [0.5, 0.9]
        assert found[0.9].level > 0.9
    assert region.interval(level=[0.9], **JOINT)[0.9].level == 116 / 128
    assert list(region.contains(TRUTH, level=[0.6, 0.9])) == [0.6, 0.9]
    assert region.ellipsoid(level=[0.9])[0.9].level == 116 / 128


def test_clusters_are_blocks_whose_signs_may_change():
    labels = np.arange(120) // 4
    one = ua.confidence_region(Ridge(), X, Y, clusters=labels)
    two = ua.confidence_region(Ridge(), X, Y, noise=ua.noise.BlockSymmetric(labels))
    np.testing.assert_array_equal(one.perturbations.apply(Y), two.perturbations.apply(Y))
    np.testing.assert_array_equal(one.interval().lower, two.interval().lower)
    with pytest.raises(ValueError, match="clusters and noise are two assumptions"):
        ua.confidence_region(Ridge(), X, Y, clusters=labels, noise="symmetric")


@pytest.mark.parametrize(
    "call",
    [
        ua.ConfidenceRegressor,
        ua.ConfidenceClassifier,
        ua.testing.coverage,
        ua.confidence_region,
        ua.StreamingRegion,
    ],
)
def test_every_call_has_the_same_defaults(call):
    told = inspect.signature(call).parameters
    wanted = {"level": 0.95, "m": 128, "random_state": 0}
    assert {name: told[name].default for name in wanted if name in told} == {
        name: value for name, value in wanted.items() if name in told
    }
    assert {"m", "random_state"} <= set(told)


def test_the_smallest_p_values_are_marked_in_print_alone(region):
    test = region.test(TRUTH + 50)
    assert (test.rank, test.pvalue) == (128, 1 / 128)
    assert "p-value <= 0.0079:" in str(test)
    summary = region.summary(functionals=[TRUTH, [0, -TRUTH[2], TRUTH[1]]])
    least = summary.pvalue == summary.smallest_pvalue
    assert least.tolist() == [True, False]
    assert str(summary).count("<= ") == least.sum()
