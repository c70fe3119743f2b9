"""Samples of piecewise regions: members, reproducible, within the ball, or refused."""

import numpy as np
import pytest
from scipy.stats import norm as normal
from sklearn.linear_model import HuberRegressor, Lasso, Ridge
from sklearn.svm import SVR

import unassuming as ua
from speed import slow_but

M = 20
KERNEL = {"kernel": "rbf", "gamma": 0.5}


def dual(n=10):
    return ua.datasets.sine(n=n, noise="laplace", random_state=0)[:2]


def primal(n=30, d=3):
    return ua.datasets.linear(n=n, d=d, noise="laplace", random_state=0)[:2]


def build(estimator, data, **options):
    return ua.confidence_region(estimator, *data, **{"m": M, "random_state": 0, **options})


def norms(region, a):
    P = region.objective.design.penalty_matrix()
    return np.sqrt(np.maximum(np.einsum("nj,jk,nk->n", a, P, a), 0.0))


@pytest.fixture(scope="module")
def plane():
    return build(Lasso(alpha=0.2), primal())


KERNELS = {
    "kernel LASSO": (ua.KernelLasso(alpha=1.0, **KERNEL), {}),
    "SVR": (SVR(C=1e3, epsilon=0.1, gamma=0.5), {}),
    "SVR, identity": (SVR(C=1e3, epsilon=0.1, gamma=0.5), {"weighting": "identity"}),
    "kernel Huber": (ua.KernelHuber(alpha=1.0, **KERNEL), {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(KERNELS, "kernel LASSO", "SVR, identity"))
def test_samples_within_a_ball_are_members_and_differ(name):
    estimator, options = KERNELS[name]
    region = build(estimator, dual(8), **options)
    bound, size = 1.5 * norms(region, region.estimate[None])[0], 12
    if name == "SVR, identity":  # nothing holds its bias
        with pytest.raises(ua.NotAvailable, match="does not bound an intercept"):
            region.sample(size, 0.9, norm_bound=bound)
        return
    a = region.sample(size, 0.9, random_state=1, norm_bound=bound, thinning=2)
    assert a.shape == (size, region.objective.d)
    assert region.contains(a, 0.9).all()
    assert (norms(region, a) <= bound * (1 + 1e-9)).all()
    assert len(np.unique(a, axis=0)) > 0.9 * size
    again = region.sample(size, 0.9, random_state=1, norm_bound=bound, thinning=2)
    np.testing.assert_array_equal(a, again)
    other = region.sample(size, 0.9, random_state=2, norm_bound=bound, thinning=2)
    assert not np.array_equal(a, other)


@pytest.mark.slow
def test_features_without_a_ball(plane):
    a = plane.sample(48, 0.9, random_state=0)
    assert plane.contains(a, 0.9).all()
    assert np.linalg.matrix_rank(a - a.mean(axis=0)) == 4
    inner = plane.sample(48, 0.3, random_state=0)
    assert plane.contains(inner, 0.3).all()
    assert (inner.std(axis=0) < a.std(axis=0)).all()


# --- the law --------------------------------------------------------------------------------------


def without_zeros(a):
    """The chains themselves, without the excursions to faces; whole rounds of them."""
    a = a[(a != 0).all(axis=1)]
    return a[: len(a) // 16 * 16]


def effective_size(values, chains=16):
    """N over the autocorrelation time, from all chains at once."""
    c = values.reshape(-1, chains).T - values.mean()
    length, time = c.shape[1], 1.0
    for lag in range(1, length // 2):
        correlation = (c[:, :-lag] * c[:, lag:]).mean() / c.var()
        if correlation < 0.05:
            break
        time += 2 * correlation
    return len(values) / time


@pytest.mark.slow
def test_quantiles_of_two_independent_long_chains_agree(plane):
    """The share of one below a quantile of the other: its error is that of two binomial shares,
    of as many draws as the samples are worth. A two-sided 1e-6 for each of 12 comparisons."""
    one, two = (without_zeros(plane.sample(320, 0.9, random_state=seed)) for seed in (1, 2))
    z = normal.isf(0.5e-6)
    for g in (*np.eye(4)[:3], np.array([1.0, -1.0, 1.0, 1.0])):
        a, b = one @ g, two @ g
        sizes = effective_size(a), effective_size(b)
        assert min(sizes) > 70
        for p in (0.1, 0.5, 0.9):
            spread = np.sqrt(p * (1 - p) * (1 / sizes[0] + 1 / sizes[1]))
            assert abs((b <= np.quantile(a, p)).mean() - p) < z * spread
    assert z * spread < 0.25  # it can fail


@pytest.mark.slow
def test_in_the_plane_samples_are_uniform():
    """Against points of a box around the region that are members."""
    region = build(Lasso(alpha=0.1), primal(30, 1))
    a = without_zeros(region.sample(500, 0.8, random_state=3))
    bounds = region.interval(None, 0.8, simultaneous=True, method="joint")
    box = np.random.default_rng(0).uniform(bounds.lower, bounds.upper, size=(15_000, 2))
    expected = box[region.contains(box, 0.8)]
    assert len(expected) > 250
    z = normal.isf(0.5e-6)
    for g in (*np.eye(2), np.array([1.0, 1.0]), np.array([1.0, -1.0])):
        size = effective_size(a @ g)
        for p in (0.05, 0.25, 0.5, 0.75, 0.95):
            spread = np.sqrt(p * (1 - p) * (1 / size + 1 / len(expected)))
            assert abs((a @ g <= np.quantile(expected @ g, p)).mean() - p) < z * spread


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", slow_but(KERNELS, "kernel LASSO", "kernel Huber"))
def test_unbounded_regions_are_refused_with_a_sentence(name):
    """Huber's sets are cylinders: generic lines all have ends."""
    estimator, options = KERNELS[name]
    region = build(estimator, dual(), **options)
    with pytest.raises(ua.NotAvailable, match=r"needs a bounded region") as caught:
        region.sample(10, 0.9, random_state=0)
    holds = name != "SVR, identity"  # nothing holds its bias
    assert ("sample(size, norm_bound=B)" in str(caught.value)) == holds


@pytest.mark.slow
def test_more_features_than_rows_are_refused_without_a_ball():
    X = np.random.default_rng(0).normal(size=(8, 12))
    region = build(Lasso(alpha=0.2, fit_intercept=False), (X, X[:, 0]))
    with pytest.raises(ua.NotAvailable, match="fewer features than rows"):
        region.sample(10, 0.9, random_state=0)
    a = region.sample(20, 0.9, random_state=0, norm_bound=3.0)
    assert region.contains(a, 0.9).all()


def test_a_bias_is_free_where_coefficients_are_at_the_box():
    """Along the face of the estimate: theory 7.2."""
    region = build(SVR(C=1.0, epsilon=0.1, gamma=0.5), dual(8))
    assert (np.abs(region.estimate[1:]) == 1).sum() > 4
    with pytest.raises(ua.NotAvailable, match="does not bound an intercept"):
        region.sample(10, 0.9, norm_bound=10.0)


def test_permutations_with_an_intercept_have_no_ball():
    region = build(Ridge(), primal(), noise="exchangeable", weighting="identity")
    with pytest.raises(ua.NotAvailable, match="does not bound an intercept"):
        region.sample(10, 0.9, norm_bound=10.0)


@pytest.mark.parametrize("name", ["size", "thinning"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_counts_that_are_none_are_refused(plane, name, value):
    with pytest.raises(ValueError, match=f"{name} is not a count"):
        plane.sample(**{"size": 5, name: value})


def test_a_ball_without_the_estimate_is_refused(plane):
    bound = 0.5 * norms(plane, plane.estimate[None])[0]
    with pytest.raises(ua.NotAvailable, match="starts at the estimate"):
        plane.sample(5, norm_bound=bound)


@pytest.mark.slow
def test_approximate_regions_are_sampled_too():
    region = build(HuberRegressor(alpha=0.0), primal(15, 1), m=10)
    assert not region.exact_crossings
    a = region.sample(16, 0.5, random_state=0, thinning=1)
    assert region.contains(a, 0.5).all()
    assert (a.std(axis=0) > 0).all()


# --- faces ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_share_of_the_samples_is_sparse():
    """At most one excursion for every four points of the chains: a fifth of the samples."""
    region = build(Lasso(alpha=0.8), primal(30, 5), weighting="hessian")
    assert (region.estimate[1:] == 0).sum() >= 2
    a = region.sample(120, 0.9, random_state=0)
    zeros = (a[:, 1:] == 0).sum(axis=1)
    assert region.contains(a, 0.9).all()
    assert 0.05 < (zeros > 0).mean() < 0.35
    assert (zeros > 1).any()


def test_smooth_regions_have_no_faces_to_visit():
    a = build(Ridge(), primal(), weighting="identity").sample(60, 0.9, random_state=0)
    assert (a != 0).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": -1}, "size is not a count"),
        ({"size": 2.5}, "size is not a count"),
        ({"thinning": 0}, "thinning is not a count"),
        ({"random_state": "a"}, "random_state is not a valid seed"),
        ({"norm_bound": -3.0}, "norm_bound is out of range"),
    ],
)
def test_arguments_are_read_before_anything_is_searched_for(options, words):
    """The region is unbounded, which a search would complain about."""
    X = np.random.default_rng(0).normal(size=(8, 12))
    for model in (Lasso(alpha=0.2, fit_intercept=False), Ridge(fit_intercept=False)):
        with pytest.raises(ValueError, match=words):
            build(model, (X, X[:, 0])).sample(**{"size": 5, **options})
