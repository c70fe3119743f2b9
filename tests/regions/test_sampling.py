"""Members of the region by hit-and-run: accepted, uniform, reproducible, or refused."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression
from some_regions import EVERY, RBF, features, region_of

import unassuming as ua
from speed import slow_but

SAMPLED = [name for name in EVERY if name != "quantile with penalty"]  # without end


@pytest.mark.parametrize("name", slow_but(SAMPLED, "ridge", "lasso", "ridge classifier"))
def test_samples_are_members_and_spread_in_every_direction(name):
    """Within a ball where the region has no end."""
    region, bound = region_of(name), None
    design = region.objective.design
    if "kernel" in name or name in (
        "lasso, identity",
        "LinearSVR",
        "SVR",
        "SVR, identity",
        "rbf LSSVC",
        "quantile with penalty",
    ):
        ball = design.ball()
        P = (ball.forward.T * ball.nu) @ ball.forward
        bound = 1.5 * np.sqrt(region.estimate @ P @ region.estimate)
    options = {"level": 0.8, "norm_bound": bound, "thinning": 2}
    a = region.sample(24, random_state=1, **options)
    assert a.shape == (24, region.objective.d)
    assert region.contains(a, 0.8).all()
    if bound is not None:
        assert (np.sqrt(np.einsum("nj,jk,nk->n", a, P, a)) <= bound * (1 + 1e-9)).all()
    assert (region.objective.fitted(a).std(axis=0) > 0).all()
    np.testing.assert_array_equal(region.sample(24, random_state=1, **options), a)
    assert not np.array_equal(region.sample(24, random_state=2, **options), a)


@pytest.fixture(scope="module")
def plane():
    return ua.confidence_region(LinearRegression(), *features(16, 1), m=20)


def uniform_members(region, level, size, rng):
    """Uniform points of the region, by rejection from its ellipsoid."""
    e = region.ellipsoid(level)
    root = np.linalg.inv(np.linalg.cholesky(e.matrix)).T  # a - center = root v
    found = []
    while sum(map(len, found)) < size:
        u = rng.normal(size=(size, len(e.center)))
        u *= rng.random((size, 1)) ** (1 / u.shape[1]) / np.linalg.norm(u, axis=1, keepdims=True)
        points = e.center + np.sqrt(e.squared_radius) * u @ root.T
        found.append(points[region.contains(points, level)])
    return np.concatenate(found)[:size]


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.2, 0.9])
def test_samples_are_uniform(plane, level):
    expected = uniform_members(plane, level, 2000, np.random.default_rng(0))
    a = plane.sample(1200, level, random_state=2, thinning=4)
    for g in (np.eye(2)[0], np.eye(2)[1], np.array([1.0, -1.0]), np.array([1.0, 2.0])):
        assert ks_2samp(a @ g, expected @ g).statistic < 0.07
    # Distances from the estimate too: a sample that hugs the middle or the ends is not uniform.
    H = plane.ellipsoid(level).matrix
    far = [
        np.einsum("nj,jk,nk->n", s, H, s) for s in (a - plane.estimate, expected - plane.estimate)
    ]
    assert ks_2samp(*far).statistic < 0.07


@pytest.mark.slow
def test_a_region_whose_estimate_is_outside_is_sampled_from_another_member():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 1))
    y = np.where(rng.uniform(size=30) < (1 + np.tanh(3 * X[:, 0])) / 2, 1, -1)
    region = ua.confidence_region(ua.LSSVC(C=50.0), X, y)
    assert abs(region.objective.fitted(region.estimate[None])).max() > 1
    assert not region.contains(region.estimate, 0.95)
    assert region.contains(region.sample(10, level=0.95, random_state=0), 0.95).all()
    huber = ua.confidence_region(HuberRegressor(alpha=0.0), *features(15, 1), m=10)
    assert huber.contains(huber.sample(16, 0.5, random_state=0, thinning=1), 0.5).all()


def test_regions_of_one_point_and_of_none():
    X = np.random.default_rng(0).normal(size=(24, 2))
    region = ua.confidence_region(LinearRegression(), X, np.zeros(24), m=20)
    assert region.contains(region.estimate, 0.95)
    np.testing.assert_array_equal(region.sample(20, 0.95, random_state=0), np.zeros((20, 3)))
    if not region.contains(region.estimate, 0.05):
        with pytest.raises(ua.NotAvailable, match="outside the region"):
            region.sample(5, 0.05, random_state=0)


UNBOUNDED = ["kernel ridge", "kernel LASSO", "kernel Huber"]


@pytest.mark.parametrize("name", UNBOUNDED)
def test_unbounded_regions_are_refused_with_the_reason(name):
    with pytest.raises(ua.NotAvailable, match=r"bounded(.|\n)*norm_bound"):
        region_of(name).sample(10, 0.9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *(({"size": wrong}, "size is not a count") for wrong in (0, -3, 2.5, True, "ten")),
        *(({"thinning": wrong}, "thinning is not a count") for wrong in (0, 2.5, True)),
        ({"random_state": "a"}, "random_state is not a valid seed"),
        ({"level": [0.5, 0.9]}, r"^level must be one number"),
    ],
)
def test_arguments_are_read_before_anything_is_searched_for(options, words):
    """The region is unbounded, which a search would complain about."""
    X = np.random.default_rng(0).normal(size=(8, 12))
    for model in (Lasso(alpha=0.2, fit_intercept=False), ua.KernelLasso(**RBF)):
        with pytest.raises(ValueError, match=words):
            ua.confidence_region(model, X, X[:, 0], m=20).sample(**{"size": 5, **options})


def test_columns_in_dollars_beside_rates_are_walked_and_searched_alike():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.exp(rng.uniform(20, 30, 150)), rng.normal(0.03, 0.01, 150)])
    y = 20 * X[:, 1] + rng.normal(size=150)
    region = ua.confidence_region(LinearRegression(), X, y)
    found = region.interval(level=0.9, simultaneous=True, method="joint", inner=True)
    width = found.upper - found.lower
    assert (found.inner_upper - found.inner_lower > 0.9 * width).all()
    assert (region.sample(200, level=0.9, random_state=0).std(axis=0) > 0.05 * width).all()
