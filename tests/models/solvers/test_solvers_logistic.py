"""Logistic regression to rounding: optimality conditions, known solutions, separable labels."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from unassuming.models.solvers import logistic


def problem(seed, n=30, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2, size=d)
    odds = (X / np.abs(X).max(axis=0)) @ rng.normal(size=d)
    y = np.where(rng.uniform(size=n) < expit(odds), 1.0, -1.0)
    return np.column_stack([np.ones(n), X]), y, rng.uniform(0.1, 3.0, size=n)


def lack(Phi, y, c, q, p, a):
    """The distance of each derivative from the subdifferential, over the size of its terms."""
    terms = Phi.T * (c * y * expit(-y * (Phi @ a)))
    u = terms.sum(axis=1) - q * a
    gap = np.where(a == 0, np.maximum(np.abs(u) - p, 0), np.abs(u - p * np.sign(a)))
    return gap / (np.abs(terms).sum(axis=1) + q * np.abs(a) + p)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 40),
    d=st.integers(1, 8),
    strength=st.floats(-3, 3),
    ratio=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_the_optimality_conditions_hold_to_rounding(seed, n, d, strength, ratio):
    Phi, y, c = problem(seed, n, d)
    assume(abs(y.sum()) < n)
    penalty = 10.0**strength * np.r_[0.0, np.ones(d)]
    q, p = (1 - ratio) * penalty, ratio * penalty
    a = logistic(Phi, y, c, q, p)
    assert lack(Phi, y, c, q, p, a).max() < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_minimum_that_a_general_method_finds(seed):
    Phi, y, c = problem(seed)
    Phi[:, 1:] /= np.abs(Phi[:, 1:]).max(axis=0)
    q, p = np.r_[0.0, np.full(4, 0.4)], np.r_[0.0, np.full(4, 0.3)]

    def value(split):  # a = a⁺ - a⁻ makes the absolute values smooth
        a = split[:5] - split[5:]
        loss = c @ np.logaddexp(0, -y * (Phi @ a))
        return loss + q @ a**2 / 2 + np.r_[p, p] @ split

    found = minimize(value, np.zeros(10), bounds=[(0, None)] * 10, tol=1e-14)
    a = logistic(Phi, y, c, q, p)
    ours = value(np.r_[np.maximum(a, 0), np.maximum(-a, 0)])
    assert ours <= found.fun + 1e-12
    np.testing.assert_allclose(a, found.x[:5] - found.x[5:], atol=1e-4)


def test_a_large_penalty_leaves_the_intercept_alone():
    Phi, y, c = problem(0)
    a = logistic(Phi, y, c, np.zeros(5), np.r_[0.0, np.full(4, 1e6)])
    assert (a[1:] == 0).all()
    assert a[0] == pytest.approx(np.log(c[y > 0].sum() / c[y < 0].sum()), rel=1e-12)


def test_groups_have_their_own_odds():
    """Two groups, no penalty: the log-odds are those of the counts."""
    Phi = np.repeat([[1.0, 0.0], [0.0, 1.0]], [5, 7], axis=0)
    y = np.array([1, 1, -1, -1, -1, 1, 1, 1, 1, 1, -1, -1.0])
    a = logistic(Phi, y, np.ones(12), np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(a, [np.log(2 / 3), np.log(5 / 2)], rtol=1e-12)


def test_dependent_columns_have_a_minimum_too():
    Phi, y, c = problem(1)
    free = np.zeros(6)
    a = logistic(np.column_stack([Phi, Phi[:, 1]]), y, c, free, free)
    b = logistic(Phi, y, c, free[:5], free[:5])
    np.testing.assert_allclose([*a[:1], a[1] + a[5], *a[2:5]], b, rtol=1e-9)


X = np.array([-2.0, -1.0, 0.5, 1.0, 3.0])
SEPARABLE = {
    "with a gap": [-1, -1, 1, 1, 1],
    "one point": [-1, -1, -1, -1, 1],
}
OVERLAPPING = {"in the middle": [-1, 1, -1, 1, 1], "at the end": [1, -1, -1, 1, -1]}


@pytest.mark.parametrize("case", SEPARABLE)
def test_separable_labels_have_no_minimum(case):
    Phi, y = np.column_stack([np.ones(5), X]), np.array(SEPARABLE[case], dtype=float)
    free = np.zeros(2)
    with pytest.raises(ValueError, match=r"^y can be separated by the features.*finite C"):
        logistic(Phi, y, np.ones(5), free, free)
    assert np.isfinite(logistic(Phi, y, np.ones(5), np.array([0.0, 1e-3]), free)).all()


def test_labels_that_touch_at_one_input_have_no_minimum():
    """Quasi-separation: both labels at x = 0.5, all others on their own side."""
    Phi = np.column_stack([np.ones(6), [*X, 0.5]])
    with pytest.raises(ValueError, match="can be separated"):
        logistic(Phi, np.array([-1, -1, 1, 1, 1, -1.0]), np.ones(6), np.zeros(2), np.zeros(2))


@pytest.mark.parametrize("case", OVERLAPPING)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_overlapping_labels_have_one_at_any_scale(case, scale):
    Phi, y = np.column_stack([np.ones(5), scale * X]), np.array(OVERLAPPING[case], dtype=float)
    a = logistic(Phi, y, np.ones(5), np.zeros(2), np.zeros(2))
    assert lack(Phi, y, np.ones(5), np.zeros(2), np.zeros(2), a).max() < 1e-12
