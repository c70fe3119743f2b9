"""Label regions along lines: crossings agree with membership, and samples are members."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

import unassuming as ua

RBF = {"kernel": "rbf", "gamma": 0.7}
MODELS = {
    "ridge classifier": (RidgeClassifier(alpha=0.5), {}),
    "ridge classifier, identity": (RidgeClassifier(alpha=0.5), {"weighting": "identity"}),
    "ridge classifier, no penalty": (RidgeClassifier(alpha=0.0), {}),
    "linear LSSVC": (ua.LSSVC(C=0.4), {}),
    "rbf LSSVC": (ua.LSSVC(C=0.4, **RBF), {}),
    "rbf LSSVC, gram": (ua.LSSVC(C=0.4, **RBF), {"weighting": "gram"}),
    "rbf LSSVC, no bias": (ua.LSSVC(C=0.4, fit_intercept=False, **RBF), {}),
}
names = pytest.mark.parametrize("name", MODELS)


def labels(X, rng):
    f = 0.1 + 0.5 * np.tanh(X[:, 0]) - 0.3 * np.tanh(X[:, 1])
    return np.where(rng.uniform(size=len(X)) < (1 + f) / 2, 1, -1)


def problem(n=20, seed=0, twins=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if twins:
        X = np.repeat(X[: n // 2], 2, axis=0)  # fresh labels of twins may be exchanged: ties
    return X, labels(X, rng)


def region_of(name, m=20, **problem_options):
    model, options = MODELS[name]
    return ua.confidence_region(model, *problem(**problem_options), m=m, random_state=0, **options)


def random_lines(region, count, seed=1):
    """Lines that pass the region: origins near small fitted values, directions of unit change."""
    rng = np.random.default_rng(seed)
    _, s, vt = np.linalg.svd(region.objective.design.matrix, full_matrices=False)
    axes = (vt[s > 1e-3 * s[0]] / s[s > 1e-3 * s[0], None]).T
    for _ in range(count):
        steps = rng.normal(size=(2, axes.shape[1]))
        yield 0.3 * axes @ steps[0], axes @ steps[1]


def scan(region, origin, direction, level, spans, points=1200):
    """Compare membership on a dense grid, and on both sides of every end, with the intervals."""
    ends = spans[np.isfinite(spans)]
    step = 1e-6 * np.maximum(np.abs(ends), 1)
    t = np.concatenate([np.linspace(-5.003, 5, points), ends - step, ends + step])
    inside = ((spans[:, :1] <= t) & (t <= spans[:, 1:])).any(axis=0)
    return inside, region.contains(origin + t[:, None] * direction, level)


@pytest.mark.slow_but_first
@names
@pytest.mark.parametrize("twins", [False, True])
def test_crossings_agree_with_membership_on_a_dense_scan(name, twins):
    region = region_of(name, twins=twins)
    assert region.exact_crossings
    members = 0
    for origin, direction in random_lines(region, 4):
        for level, spans in region.crossings(direction, [0.5, 0.9], origin).items():
            inside, truth = scan(region, origin, direction, level, spans)
            np.testing.assert_array_equal(inside, truth)
            members += truth.sum()
    assert members > 50


def test_no_interval_leaves_the_unit_interval():
    region = region_of("ridge classifier")
    for origin, direction in random_lines(region, 6):
        for t in region.crossings(direction, 0.95, origin).ravel():
            f = region.objective.fitted((origin + t * direction)[None])[0]
            assert abs(f).max() <= 1 + 1e-9


@names
def test_levels_are_nested_on_lines(name):
    region = region_of(name)
    for origin, direction in random_lines(region, 3):
        found = region.crossings(direction, [0.5, 0.75, 0.95], origin)
        for small, large in ((0.5, 0.75), (0.75, 0.95)):
            for low, high in found[small]:
                assert ((found[large][:, 0] <= low) & (high <= found[large][:, 1])).any()


def test_reach_starts_at_the_estimate_and_ends_in_the_region():
    region = region_of("ridge classifier")
    assert region.contains(region.estimate, 0.9)
    for _, direction in random_lines(region, 4):
        t = region.reach(direction, 0.9)
        assert region.contains(region.estimate + (1 - 1e-9) * t * direction, level=0.9)
        assert not region.contains(region.estimate + (1 + 1e-6) * t * direction, level=0.9)


@names
def test_samples_are_members_and_differ(name):
    region = region_of(name)
    a = region.sample(20, level=0.9, random_state=0, thinning=3)
    assert region.contains(a, 0.9).all()
    assert np.ptp(region.objective.fitted(a), axis=0).min() > 0.01


def test_sampling_works_where_the_estimate_leaves_the_unit_interval():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 1))
    y = np.where(rng.uniform(size=30) < (1 + np.tanh(3 * X[:, 0])) / 2, 1, -1)
    region = ua.confidence_region(RidgeClassifier(alpha=0.01), X, y, random_state=0, m=100)
    assert abs(region.objective.fitted(region.estimate[None])).max() > 1
    assert not region.contains(region.estimate, 0.95)
    assert region.contains(region.sample(10, level=0.95, random_state=0), 0.95).all()
