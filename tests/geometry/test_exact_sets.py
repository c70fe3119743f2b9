"""Ranks modulo primes, and free directions and ties of sets, against rationals."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression

import unassuming as ua
from adversarial import checks
from adversarial.arithmetic import null_space
from adversarial.boundedness import largest_number_of_free_sets, unseen
from adversarial.strategies import problems
from unassuming import _modular as modular
from unassuming.geometry.quadratic import ExactSets, commute

PRIME = modular.PRIMES[0]
MATRICES = st.integers(1, 5).flatmap(
    lambda d: st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=1, max_size=6)
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(MATRICES, st.integers(-60, 60))
def test_ranks_and_null_spaces_are_those_of_rationals(rows, power):
    # Times a power of two and a decimal, so that remainders are those of long fractions.
    X = np.array(rows) * 0.1 * 2.0**power
    M = modular.remainders(X, PRIME)
    expected = null_space(rows)
    null = modular.null_space(M, PRIME)
    assert null.shape[1] == len(expected)
    assert modular.rank_modulo(M, PRIME) == M.shape[1] - len(expected)
    assert not modular.product(M, null, PRIME).any()
    assert modular.rank_modulo(null.T, PRIME) == null.shape[1]


def test_products_do_not_overflow():
    A = np.full((2, 40_000), PRIME - 1)
    assert (modular.product(A, A.T, PRIME) == 40_000 % PRIME).all()


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(problems(largest_n=6))
def test_free_directions_and_ties_are_those_of_rationals(drawn):
    problem, _ = drawn
    region = checks.asked(problem.region)
    if region is None or not commute(region.perturbations, np.sqrt(region.objective.w)):
        return
    exact = problem.rounded().exact(region)
    still = unseen(exact) - (exact.d - len(exact.p))  # of the coordinates of the oracle
    found = ExactSets.of(region.objective, region.perturbations)
    assert found or problem.model == "precomputed kernel"
    for one in found:
        for i, (Q, _, c) in enumerate(exact.sets):
            assert one.free(i).shape[1] == len(null_space(Q)) - still
            assert one.ties(i) in (None, c == 0)
        possible = [i for i in range(exact.m - 1) if exact.sets[i][2]]
        shared = one.most(possible)
        assert one.share(shared.sets) or not shared.sets
        if shared.exact and len(possible) == exact.m - 1:
            assert len(shared.sets) == largest_number_of_free_sets(exact)


def test_columns_that_differ_in_the_last_digit_are_two():
    # Double precision takes them for one, and then no set is unbounded.
    x = np.array([0.75, 0.34, 0.5, 0.035, -0.25, -0.29])
    X = np.column_stack([x, np.nextafter(x, 1)])
    y = 1 + x + np.array([0.1, -0.2, 0.3, 0.1, -0.1, 0.2])
    region = ua.confidence_region(LinearRegression(), X, y, m=40, random_state=0)
    Phi = np.column_stack([np.ones(6), X])
    signs = region.perturbations.apply(np.ones(6))
    ranks = [
        [3 - len(null_space(Phi[s == side].tolist())) for side in (1, -1)]
        for s in signs
        if abs(s.sum()) < 6
    ]
    assert min(map(min, ranks)) < 3
    verdict = region.bounded(1 - 1 / 40)
    assert verdict.verdict == "undetermined"  # the direction has no digits in double precision
    assert "no direction was found" in verdict.reason
    assert "without changing any fitted value" not in verdict.reason


def test_a_kernel_of_one_badly_scaled_feature_is_bounded():
    # Any row with a number other than zero determines the coefficient.
    X = np.array([[1e10], [-2.6e29], [1.3e40], [-3.8e13], [5.3e12]])
    y = X[:, 0] * np.array([1.1, 0.9, 1.0, 1.2, 0.8])
    region = ua.confidence_region(
        KernelRidge(kernel="linear", alpha=1.0), X, y,
        noise="symmetric-exchangeable", m=20, random_state=0,
    )  # fmt: skip
    moved = region.perturbations.apply(X[:, 0]) != X[:, 0]
    assert moved.any(axis=1).all()
    assert region.bounded(0.95).verdict == "bounded"
