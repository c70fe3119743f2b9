"""What sets piecewise regions apart: holes, isolated points, sparse estimates (theory 5 and 6)."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

import oracles
import unassuming as ua

KERNEL = {"kernel": "rbf", "gamma": 0.5}


def lasso_region(alpha, **options):
    X, y, _ = ua.datasets.sine(n=20, noise="laplace", random_state=0)
    model = ua.KernelLasso(alpha=alpha, **KERNEL)
    return X, y, ua.confidence_region(model, X, y, **{"m": 100, "random_state": 0, **options})


def lasso_rank(X, y, alpha, region, a):
    """By the plain formula."""
    K, penalty = rbf_kernel(X, gamma=0.5), np.full(len(y), alpha)
    Z = oracles.lasso(K, y, 1.0, penalty, a, region.perturbations.apply)
    return oracles.rank(Z, region.tie_order)


def test_the_estimate_can_be_an_isolated_point_of_a_line():
    X, y, region = lasso_region(10.0)
    d = np.random.default_rng(0).normal(size=(6, 20))[5]
    np.testing.assert_array_equal(region.crossings(d, 0.2), [[0.0, 0.0]])
    assert region.reach(d, 0.2) == 0
    ranks = [lasso_rank(X, y, 10.0, region, region.estimate + t * d) for t in (-1e-8, 0, 1e-8)]
    assert ranks[1] == 1
    assert min(ranks[0], ranks[2]) > 20


def test_an_isolated_point_is_found_from_elsewhere():
    """All zeros of the estimate are crossed at once, at t = 1."""
    _, _, region = lasso_region(10.0)
    d = np.random.default_rng(0).normal(size=(6, 20))[5]
    np.testing.assert_array_equal(
        region.crossings(-d, 0.2, origin=region.estimate + d), [[1.0, 1.0]]
    )


def test_a_region_can_have_a_hole():
    X, y, region = lasso_region(10.0)
    d = np.random.default_rng(0).normal(size=(91, 20))[90]
    spans = region.crossings(d, 0.9)
    expected = [[-2.4639725862, -2.2913442684], [-1.9725308578, 2.6226324277]]
    np.testing.assert_allclose(spans, expected, rtol=1e-9)
    for t, member in ((-2.5, False), (-2.4, True), (-2.1, False), (1.0, True), (2.7, False)):
        assert (lasso_rank(X, y, 10.0, region, region.estimate + t * d) <= 90) == member


def test_a_sparse_neighbour_can_be_a_member_alone():
    """An SVR line with an isolated point where one coefficient is exactly zero or at the box."""
    X, y, _ = ua.datasets.sine(n=12, noise="laplace", random_state=0)
    model = SVR(C=2.0, epsilon=0.3, **KERNEL)
    region = ua.confidence_region(model, X, y, m=20, weighting="identity", random_state=0)
    K, found = rbf_kernel(X, gamma=0.5), 0
    for d in np.random.default_rng(2).normal(size=(40, 13)):
        for low, high in region.crossings(d, 0.8):
            if low == high != 0:
                a = region.estimate + low * d
                near = np.abs(np.abs(a[1:, None]) - [0.0, 2.0])
                j, which = np.unravel_index(near.argmin(), near.shape)
                assert near.min() < 1e-12
                exact = a.copy()
                exact[1 + j] = np.sign(a[1 + j]) * [0.0, 2.0][which]
                for b, member in ((exact, True), (a + 1e-6 * d, False), (a - 1e-6 * d, False)):
                    Z = oracles.svr_with_box(
                        K, y, 2.0, 0.3, b[0], b[1:], region.perturbations.apply, np.eye(12)
                    )
                    assert (oracles.rank(Z, region.tie_order) <= 16) == member
                found += 1
    assert found > 5


# --- estimates lie in every region ---------------------------------------------------------------


SPARSE = {
    "kernel LASSO": ua.KernelLasso(alpha=1.0, **KERNEL),
    "kernel LASSO at zero": ua.KernelLasso(alpha=10.0, **KERNEL),
    "Lasso": Lasso(alpha=0.3),
    "SVR": SVR(C=0.5, epsilon=0.3, **KERNEL),
    "SVR, identity": SVR(C=0.5, epsilon=0.3, **KERNEL),
    "SVR at zero": SVR(C=0.5, epsilon=100.0, **KERNEL),
}


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable", "symmetric-exchangeable"])
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_estimates_lie_in_every_region_but_for_ties(name, noise):
    """Z_0 is zero: only other statistics that are zero, and drawn to come first, go before it."""
    X, y, _ = ua.datasets.linear(n=15, d=4, random_state=1)
    options = {"weighting": "identity"} if "identity" in name else {}
    region = ua.confidence_region(SPARSE[name], X, y, noise=noise, m=40, random_state=2, **options)
    Z, pi, e = region.statistics(region.estimate), region.tie_order, region.estimate
    assert (e == 0).any() or (np.abs(e) == 0.5).any()
    zero = 1e-20 * max(Z.max(), 1.0) >= Z
    assert zero[0]
    assert region.rank(e) == 1 + np.sum(zero[1:] & (pi[1:] < pi[0]))
    assert ("at zero" in name) == bool(zero.all())


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", SPARSE)
def test_every_line_through_a_sparse_estimate_crosses_every_region(name):
    X, y, _ = ua.datasets.linear(n=15, d=4, random_state=1)
    region = ua.confidence_region(SPARSE[name], X, y, m=10, ties="conservative", random_state=2)
    rng = np.random.default_rng(0)
    for d in rng.normal(size=(5, region.objective.d)):
        for spans in region.crossings(d, np.arange(1, 10) / 10).values():
            assert ((spans[:, 0] <= 0) & (spans[:, 1] >= 0)).any()


def test_svr_at_the_box_is_at_the_box():
    X, y, _ = ua.datasets.linear(n=15, d=4, random_state=1)
    region = ua.confidence_region(SPARSE["SVR"], X, y, random_state=2, m=100)
    assert (np.abs(region.estimate[1:]) == 0.5).sum() > 3


def test_the_tie_order_decides_where_everything_ties():
    """For SVR with Ψ = I and signs all statistics tie at a = 0, along the whole bias line."""
    X, y, _ = ua.datasets.sine(n=8, noise="laplace", random_state=0)
    bias = np.eye(9)[0]
    for seed in range(6):
        region = ua.confidence_region(
            SVR(epsilon=0.3, **KERNEL), X, y, m=10, weighting="identity", random_state=seed
        )
        wins = int((region.tie_order[1:] > region.tie_order[0]).sum())
        for q in range(1, 10):
            spans = region.crossings(bias, 1 - q / 10, origin=np.zeros(9))
            assert spans.tolist() == ([[-np.inf, np.inf]] if wins >= q else [])
