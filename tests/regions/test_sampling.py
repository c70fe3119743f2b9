"""Members of the region by hit-and-run: accepted, uniform, reproducible, or refused."""

import numpy as np
import pytest
from scipy.stats import ks_2samp, kstest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua
from speed import slow_but


def linear_region(model, *, n=20, d=1, seed=0, **options):
    X, y, _ = ua.datasets.linear(n=n, d=d, noise="laplace", random_state=seed)
    return ua.confidence_region(model, X, y, **{"m": 20, "random_state": seed, **options})


@pytest.fixture(scope="module")
def plane():
    return linear_region(LinearRegression(), n=16)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize(
    ("model", "noise"),
    [
        (LinearRegression(), "symmetric"),
        (Ridge(0.5), "symmetric-exchangeable"),
        (Ridge(0.5), "spherical"),
        (LinearRegression(fit_intercept=False), "exchangeable"),
        (KernelRidge(kernel="linear", alpha=0.5), "symmetric"),
    ],
    ids=["signs", "both", "rotations", "permutations", "low-rank kernel"],
)
def test_samples_are_members_and_lie_in_the_ellipsoid(model, noise, level):
    region = linear_region(model, d=2, noise=noise)
    a = region.sample(60, level, random_state=1)
    assert a.shape == (60, region.objective.d)
    assert region.contains(a, level).all()
    assert np.isfinite(region.ellipsoid(level).squared_radius)
    assert region.ellipsoid(level).contains(a).all()
    values = a @ region.objective.design.matrix.T
    assert np.linalg.matrix_rank(values - values.mean(axis=0), tol=1e-6) == (
        np.linalg.matrix_rank(region.objective.design.matrix)
    )


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
    rng = np.random.default_rng(0)
    expected = uniform_members(plane, level, 2000, rng)
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
def test_two_seeds_give_like_quantiles(plane):
    one, two = (plane.sample(500, 0.9, random_state=seed) for seed in (3, 4))
    assert not np.array_equal(one, two)
    spread = one.std(axis=0)
    for p in (0.1, 0.5, 0.9):
        gap = np.quantile(one, p, axis=0) - np.quantile(two, p, axis=0)
        assert (np.abs(gap) < 0.3 * spread).all()


def test_the_same_seed_gives_the_same_sample(plane):
    a = plane.sample(50, 0.9, random_state=5)
    np.testing.assert_array_equal(a, plane.sample(50, 0.9, random_state=5))
    np.testing.assert_array_equal(
        a, plane.sample(50, random_state=5, level=0.9)
    )  # the default level
    b, c = (plane.sample(50, random_state=np.random.default_rng(5), level=0.9) for _ in range(2))
    np.testing.assert_array_equal(b, c)
    assert not np.array_equal(a, plane.sample(50, 0.9, random_state=6))


@pytest.mark.parametrize("size", [1, 7, 16, 17, 100])
def test_as_many_as_asked_for(plane, size):
    assert plane.sample(size, 0.9, random_state=0).shape == (size, 2)


@pytest.mark.parametrize("size", [0, -3, 2.5, True, "ten"])
def test_sizes_that_are_no_counts_are_refused(plane, size):
    with pytest.raises(ValueError, match="size"):
        plane.sample(size, 0.9)


def test_features_with_an_unseen_direction():
    rng = np.random.default_rng(7)
    X = rng.uniform(size=(40, 1))
    y = np.sin(6 * X[:, 0]) + rng.laplace(scale=0.2, size=40)
    region = ua.confidence_region(
        make_pipeline(SplineTransformer(4), Ridge(0.1)), X, y, m=20, random_state=0
    )
    a = region.sample(200, 0.9, random_state=1)
    assert region.contains(a, 0.9).all()
    assert region.ellipsoid(0.9).contains(a).all()
    # The basis sums to one, so fitted values do not see the direction (1, -1, ..., -1). Nothing
    # holds a walk there, and the samples stay where the penalty puts them.
    np.testing.assert_allclose(a[:, 1:].sum(axis=1), region.estimate[1:].sum(), atol=1e-9)
    assert (a @ region.objective.design.matrix.T).std(axis=0).min() > 0


@pytest.mark.slow
def test_ties_do_not_mislead_the_walk():
    # Three rows: ±I are drawn often, and the tie order makes their sets everything or nothing.
    # With one coefficient the region is an interval, and a step leads anywhere in it.
    for seed in range(4):
        X, y, _ = ua.datasets.linear(n=3, d=1, random_state=seed)
        region = ua.confidence_region(
            LinearRegression(fit_intercept=False), X, y, m=40, random_state=seed
        )
        level = region.max_bounded_level
        assert region.contains(region.estimate, level)
        low, high = -region.reach([-1.0], level), region.reach([1.0], level)
        a = region.sample(400, level, random_state=0, thinning=1)[:, 0]
        assert region.contains(a[:, None], level).all()
        assert kstest((a - region.estimate - low) / (high - low), "uniform").statistic < 0.12


# --- unbounded regions ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kernel():
    X, y, _ = ua.datasets.sine(n=12, random_state=0)
    model = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.5)
    return ua.confidence_region(model, X, y, m=20, random_state=0), rbf_kernel(X, gamma=1.0)


def test_unbounded_regions_are_refused_with_the_reason(kernel):
    with pytest.raises(ua.NotAvailable, match=r"unbounded.*set no limit along.*norm_bound"):
        kernel[0].sample(10, 0.9)


def test_permutations_with_an_intercept_are_refused():
    with pytest.raises(ua.NotAvailable, match="constant shift"):
        linear_region(Ridge(0.5), noise="exchangeable").sample(10, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("share", slow_but([1.05, 1.5, 4.0], 1.5))
def test_within_a_norm_bound(kernel, share):
    region, K = kernel
    bound = share * float(np.sqrt(region.estimate @ K @ region.estimate))
    a = region.sample(50, 0.9, random_state=1, norm_bound=bound)
    norms = np.sqrt(np.einsum("nj,jk,nk->n", a, K, a))
    assert region.contains(a, 0.9).all()
    assert (norms <= bound * (1 + 1e-9)).all()
    assert norms.max() > 0.9 * bound  # the bound is what ends the region


@pytest.mark.slow
def test_the_bound_is_on_the_penalised_coefficients():
    region = linear_region(Ridge(0.5), d=2)
    bound = 1.02 * float(np.linalg.norm(region.estimate[1:]))
    free, held = (region.sample(300, 0.9, random_state=1, norm_bound=b) for b in (None, bound))
    assert (np.linalg.norm(free[:, 1:], axis=1) > bound).any()
    assert (np.linalg.norm(held[:, 1:], axis=1) <= bound * (1 + 1e-9)).all()
    assert region.contains(held, 0.9).all()


def test_a_bound_that_the_estimate_breaks_is_refused(kernel):
    region, K = kernel
    bound = 0.9 * float(np.sqrt(region.estimate @ K @ region.estimate))
    with pytest.raises(ua.NotAvailable, match="starts at the estimate"):
        region.sample(10, 0.9, norm_bound=bound)


@pytest.mark.parametrize("bound", [0.0, -1.0, np.nan, np.inf])
def test_bounds_that_are_no_bounds_are_refused(kernel, bound):
    with pytest.raises(ValueError, match="norm_bound"):
        kernel[0].sample(10, 0.9, norm_bound=bound)


def test_a_norm_bound_that_leaves_the_region_unbounded_is_refused():
    # Permutations never see the intercept, and the bound is on the other coefficients.
    region = linear_region(Ridge(0.5), noise="exchangeable")
    with pytest.raises(ua.NotAvailable, match=r"constant shift|intercept"):
        region.sample(10, 0.9, random_state=0, norm_bound=10.0)


# --- regions of one point, and of none ------------------------------------------------------------


def test_a_region_of_one_point():
    X = np.random.default_rng(0).normal(size=(24, 2))
    region = ua.confidence_region(LinearRegression(), X, np.zeros(24), m=20, random_state=0)
    assert region.contains(region.estimate, 0.95)
    np.testing.assert_array_equal(region.sample(20, 0.95, random_state=0), np.zeros((20, 3)))


@pytest.mark.parametrize("thinning", [0, -1, 2.5, "a", True])
def test_thinning_is_a_count(plane, thinning):
    with pytest.raises(ValueError, match="thinning is not a count"):
        plane.sample(3, 0.9, random_state=0, thinning=thinning)
