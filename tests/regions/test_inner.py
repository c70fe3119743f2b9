"""Inner bounds: attained by members, below the outer bounds, and near them."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel

import unassuming as ua
from speed import slow_but
from unassuming.regions import Status

LAWS = {
    "laplace": lambda rng, n: rng.laplace(size=n),
    "cauchy": lambda rng, n: rng.standard_cauchy(size=n),
    "heteroscedastic": lambda rng, n: np.linspace(0.1, 3, n) * rng.standard_t(1.5, size=n),
}


def assert_attained(region, found, g):
    """Witnesses are members, attain the inner values, and stay within the outer bounds."""
    low, high = found.witnesses
    assert np.all(region.contains(np.concatenate([low, high]), found.level))
    np.testing.assert_allclose(np.einsum("nd,nd->n", low, g), found.inner_lower, rtol=1e-12)
    np.testing.assert_allclose(np.einsum("nd,nd->n", high, g), found.inner_upper, rtol=1e-12)
    assert (found.lower <= found.inner_lower).all()
    assert (found.inner_upper <= found.upper).all()
    assert (found.inner_lower <= found.estimate + 1e-12).all()
    assert (found.estimate <= found.inner_upper + 1e-12).all()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("d", slow_but([2, 3, 4, 6], 3))
def test_the_inner_width_is_nine_tenths_of_the_outer_for_least_squares(d, law):
    for seed in range(2 if d < 4 else 1):
        rng = np.random.default_rng([d, seed])
        X = rng.normal(size=(20 * d, d))
        y = X @ rng.normal(size=d) + LAWS[law](rng, 20 * d)
        region = ua.confidence_region(
            LinearRegression(fit_intercept=False), X, y, m=40, random_state=seed
        )
        g = np.concatenate([np.eye(d), rng.normal(size=(8 - d, d))])
        found = region.interval(g, inner=True, simultaneous=True, method="joint")
        share = (found.inner_upper - found.inner_lower) / (found.upper - found.lower)
        assert np.median(share) >= 0.9
        assert_attained(region, found, g)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    noise=st.sampled_from(["symmetric", "symmetric-exchangeable", "spherical", "exchangeable"]),
    alpha=st.sampled_from([0.0, 0.1, 10.0]),
    q=st.integers(1, 19),
    ties=st.sampled_from(["random", "conservative"]),
)
def test_witnesses_are_members_and_attain_their_values(seed, noise, alpha, q, ties):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 20))
    X = rng.normal(size=(n, 2)) * [1.0, 30.0]
    y = X @ [1.0, 0.0] + rng.standard_t(1, size=n)
    region = ua.confidence_region(
        Ridge(alpha=alpha), X, y, noise=noise, m=20, ties=ties, random_state=seed % 1000
    )
    g = np.concatenate([np.eye(3), rng.normal(size=(1, 3))])
    found = region.interval(g, 1 - q / 20, inner=True, simultaneous=True, method="joint")
    if found.status is not Status.EMPTY:
        assert_attained(region, found, g)


def test_weights_are_respected():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y, w = X @ [1.0, 2.0] + rng.laplace(size=40), rng.uniform(0.1, 5.0, size=40)
    region = ua.confidence_region(Ridge(0.1), X, y, sample_weight=w, random_state=1)
    assert_attained(
        region, region.interval(inner=True, simultaneous=True, method="joint"), np.eye(3)
    )


def test_several_levels_have_their_own_witnesses():
    X, y, _ = ua.datasets.linear(n=60, random_state=2)
    region = ua.confidence_region(LinearRegression(), X, y, random_state=2)
    found = region.interval(level=[0.5, 0.9], inner=True, simultaneous=True, method="joint")
    for interval in found.values():
        assert_attained(region, interval, np.eye(4))
    assert (found[0.9].inner_upper > found[0.5].inner_upper).all()
    assert (found[0.9].inner_upper > found[0.5].upper).all()


def test_a_band_has_witnesses_at_every_input():
    X, y, _ = ua.datasets.linear(n=60, random_state=3)
    region = ua.confidence_region(Ridge(0.5), X, y, random_state=3)
    band = region.band(X[:6], inner=True, method="joint")
    assert band.witnesses.shape == (2, 6, 4)
    assert_attained(region, band, np.column_stack([np.ones(6), X[:6]]))
    share = (band.inner_upper - band.inner_lower) / (band.upper - band.lower)
    assert np.median(share) > 0.9


def test_the_same_seed_finds_the_same_witnesses():
    X, y, _ = ua.datasets.linear(n=40, random_state=4)
    region = ua.confidence_region(Ridge(), X, y, random_state=4)
    one, two = (
        region.interval(inner=True, simultaneous=True, method="joint"),
        region.interval(inner=True, simultaneous=True, method="joint"),
    )
    np.testing.assert_array_equal(one.witnesses, two.witnesses)


@pytest.mark.slow
def test_the_search_beats_random_rays():
    # In ten dimensions random rays alone stay far below (docs/theory.md 4.3).
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 10))
    region = ua.confidence_region(
        LinearRegression(fit_intercept=False), X, rng.laplace(size=200), random_state=5
    )
    u = rng.normal(size=(2000, 10))
    by_rays = (region.estimate + region.reach(u)[:, None] * u)[:, 0].max() - region.estimate[0]
    found = region.interval(np.eye(10)[0], inner=True, simultaneous=True, method="joint")
    assert found.inner_upper[0] - region.estimate[0] > 1.1 * by_rays


# Kernels, unbounded regions, norm bounds


@cache
def kernel_region(n=20, noise="symmetric", alpha=2.0):
    X, y, _ = ua.datasets.sine(n=n, random_state=0)
    estimator = KernelRidge(kernel="rbf", gamma=0.5, alpha=alpha)
    return X, ua.confidence_region(estimator, X, y, noise=noise, m=40, random_state=0)


@pytest.mark.slow
def test_the_inner_band_of_a_kernel_fills_the_outer_one_where_it_is_finite():
    X, region = kernel_region()
    band = region.band(X[::4], 0.3, inner=True, method="joint")
    assert band.status is Status.CERTIFIED
    assert_attained(region, band, region.objective.design.rows(X[::4]))
    share = (band.inner_upper - band.inner_lower) / (band.upper - band.lower)
    assert np.median(share) > 0.9


@pytest.mark.slow
def test_the_inner_band_of_a_nearly_singular_kernel_does_not_collapse():
    X, region = kernel_region(n=100)
    band = region.band(X[::25], 0.3, inner=True, method="joint")
    assert_attained(region, band, region.objective.design.rows(X[::25]))
    share = (band.inner_upper - band.inner_lower) / (band.upper - band.lower)
    assert share.min() > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("noise", slow_but(["symmetric", "symmetric-exchangeable"], "symmetric"))
def test_inner_bounds_stay_finite_and_attained_where_the_outer_are_not(noise):
    X, region = kernel_region(noise=noise)
    band = region.band(X[:2], 0.9, inner=True, method="joint")
    assert np.isinf(band.upper).all()
    assert np.isfinite(band.witnesses).all()
    assert_attained(region, band, region.objective.design.rows(X[:2]))
    assert (band.inner_upper > band.estimate).all()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["representation", "function"])
def test_witnesses_meet_the_norm_bound(target):
    X, region = kernel_region()
    Z, bound = np.array([[0.3], [5.1], [9.0]]), 30.0
    band = region.band(Z, norm_bound=bound, target=target, inner=True, method="joint")
    assert_attained(region, band, region.objective.design.rows(Z))
    members, K = band.witnesses.reshape(-1, 20), rbf_kernel(X, gamma=0.5)
    norms = np.sqrt(np.einsum("nd,de,ne->n", members, K, members))
    assert (norms <= bound * (1 + 1e-9)).all()
    share = (band.inner_upper - band.inner_lower) / (band.upper - band.lower)
    assert np.median(share) > 0.5


def test_witnesses_of_features_meet_the_norm_bound():
    X, y, _ = ua.datasets.linear(n=40, random_state=6)
    region = ua.confidence_region(Ridge(0.5), X, y, random_state=6)
    bound = 1.05 * region.suggest_norm_bound() / 2
    found = region.interval(norm_bound=bound, inner=True, simultaneous=True, method="joint")
    assert_attained(region, found, np.eye(4))
    assert (np.linalg.norm(found.witnesses[..., 1:], axis=-1) <= bound * (1 + 1e-9)).all()


def test_a_search_that_would_start_outside_the_ball_says_so():
    X, y, _ = ua.datasets.linear(n=40, random_state=6)
    region = ua.confidence_region(Ridge(0.5), X, y, m=20, random_state=6)
    bound = 0.95 * region.suggest_norm_bound() / 2
    assert (
        region.interval(norm_bound=bound, simultaneous=True, method="joint").status
        is Status.CERTIFIED
    )
    with pytest.raises(ua.NotAvailable, match="starts at the estimate"):
        region.interval(norm_bound=bound, inner=True, simultaneous=True, method="joint")


def test_functionals_that_are_not_determined_have_inner_bounds_all_the_same():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 2))
    X = np.column_stack([X, X[:, 0]])
    region = ua.confidence_region(Ridge(1.0), X, rng.normal(size=40), random_state=7)
    found = region.interval(inner=True, simultaneous=True, method="joint")
    np.testing.assert_array_equal(np.isinf(found.upper), [False, True, False, True])
    assert_attained(region, found, np.eye(4))


def test_a_region_without_members_has_no_inner_bounds():
    # y is an exact multiple of x, without rounding: all statistics tie, and the order decides.
    x = np.arange(6.0)[:, None]
    region = ua.confidence_region(
        LinearRegression(fit_intercept=False), x, 2 * x[:, 0], m=20, random_state=0
    )
    assert not region.contains(region.estimate, 0.05)
    found = region.interval(level=0.05, inner=True, simultaneous=True, method="joint")
    assert found.status is Status.EMPTY
    for value in (found.inner_lower, found.inner_upper, found.witnesses):
        assert value is None or np.isnan(value).all()
