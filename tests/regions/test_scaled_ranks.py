"""Ranks of badly scaled data are those of exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

import rationals
import unassuming as ua
from unassuming._rounding import length
from unassuming.objectives._accurate import accurate_residuals

# --- one large cell -------------------------------------------------------------------------------


@pytest.mark.slow_but_first
@pytest.mark.parametrize("cell", [3e6, 5e8, 2e10])
@pytest.mark.parametrize("noise", ["symmetric", "symmetric-exchangeable"])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_one_large_cell_does_not_tie_the_other_rows(alpha, noise, cell):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(15, 2))
    X[3] = [0.0, -cell]
    y = X[:, 0] + rng.normal(size=15)
    model = Ridge(alpha, fit_intercept=False) if alpha else LinearRegression(fit_intercept=False)
    region = ua.confidence_region(model, X, y, noise=noise, m=30, random_state=2)
    candidates = region.estimate + np.array([[0.0, 7e5], [0.0, -30.0], [0.4, 2e-8], [1e4, 1e6]])
    expected = [rationals.region_rank(region, alpha, a) for a in candidates]
    assert [region.rank(a) for a in candidates] == expected
    assert (
        region.rank(np.repeat(candidates, 10, axis=0)).tolist() == np.repeat(expected, 10).tolist()
    )


@pytest.mark.parametrize("model", [Ridge(0.3), KernelRidge(kernel="rbf", alpha=0.3)], ids=repr)
@pytest.mark.parametrize("power", [-560, -300, 300])
def test_ranks_do_not_depend_on_the_unit_of_y(model, power):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(15, 2)), rng.normal(size=15)
    plain, scaled = (
        ua.confidence_region(model, X, y * 2.0**k, m=30, random_state=0) for k in (0, power)
    )
    a = plain.estimate + 0.5 * rng.normal(size=(60, plain.objective.d))
    np.testing.assert_array_equal(scaled.rank(a * 2.0**power), plain.rank(a))
    assert [scaled.rank(one * 2.0**power) for one in a[:9]] == plain.rank(a)[:9].tolist()


# --- terms that cancel ----------------------------------------------------------------------------


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3),
    st.lists(st.floats(-1e20, 1e20), min_size=2, max_size=2),
    st.floats(-10, 10),
)
@settings(derandomize=True, deadline=None)
def test_accurate_residuals_are_within_their_bounds(row, a, y):
    # The last coefficient makes the terms cancel as far as a double can.
    phi = np.array([[*row, 1.0]])
    a = np.array([[*a, 0.5, 0.0]])
    a[0, 3] = -(phi[:, :3] @ a[0, :3])[0]
    r, error = accurate_residuals(np.array([y]), phi, a)
    exact = Fraction(y) - rationals.dot(rationals.rational(phi[0]), rationals.rational(a[0]))
    assert abs(Fraction(float(r[0, 0])) - exact) <= Fraction(float(error[0, 0]))
    assert error[0, 0] <= 5e-16 * abs(r[0, 0]) + 1e-28 * (np.abs(phi) @ np.abs(a.T))[0, 0] + 1e-29


INPUTS = np.linspace(0, 3, 9)[:, None]
SENTENCE = r"^the rank of the candidate cannot be decided .*: expected .*, given .*e\+\d\d\. Pass"


def kernel_region(y, **options):
    model = KernelRidge(kernel="rbf", gamma=0.03, alpha=0.25)
    return ua.confidence_region(model, INPUTS, y, m=20, random_state=5, **options)


def rank_or_none(region, a):
    """The rank, which is the same among others; None if it is refused there, too."""
    many = np.vstack([a, *[region.estimate] * 40])
    try:
        alone = region.rank(a)
    except ArithmeticError:
        with pytest.raises(ArithmeticError, match=SENTENCE):
            region.rank(many)
        return None
    assert region.rank(many)[0] == alone
    return alone


def weak_direction(region):
    values, vectors = np.linalg.eigh(region.objective.design.matrix)
    assert abs(values[0]) < 1e-15 * values[-1]
    return vectors[:, 0]


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["symmetric", "symmetric-exchangeable"])
def test_a_candidate_far_along_a_nearly_null_direction_has_its_exact_rank(noise):
    y = np.sin(INPUTS[:, 0]) + np.random.default_rng(0).normal(size=9)
    region = kernel_region(y, noise=noise)
    null = weak_direction(region)
    expected = []
    # Near 1e15 the rounding of the kernel values themselves moves fitted values like the noise.
    for size in (1e6, 1e9, -1e12, 1e15, -3e15, -1e16, 2e17, 1e19):
        a = region.estimate + size * null
        expected.append(rationals.region_rank(region, 0.25, a))
        found = rank_or_none(region, a)
        assert found == expected[-1] or (found is None and 1e14 < abs(size) < 1e16)
    assert expected[-1] == region.m  # far out, and no member
    many = region.estimate + np.repeat([[2e17], [0.0]], 30, axis=0) * null
    assert region.rank(many).tolist() == [expected[-2]] * 30 + [1] * 30


def test_a_rank_that_cannot_be_decided_is_refused_in_one_sentence():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(9, 1)), rng.normal(size=9)
    options = {"m": 20, "random_state": 0}
    region = ua.confidence_region(Ridge(1.0), np.hstack([x, x]), y, **options)
    far = region.estimate + np.array([0.0, 3e27, -3e27])
    assert region.rank(far) == rationals.region_rank(region, 1.0, far)  # in exact numbers
    region = ua.confidence_region(Ridge(1.0), np.hstack([x, x]), y, weighting="identity", **options)
    for ask in (region.rank, region.contains, region.test):
        with pytest.raises(ArithmeticError, match=SENTENCE):
            ask(far)
    with pytest.raises(ArithmeticError, match=SENTENCE):
        region.rank(np.repeat([region.estimate, far], 40, axis=0))
    region = ua.confidence_region(Ridge(1.0), np.hstack([x, x]), y, **options)
    near = np.round(region.estimate, 3) + np.array([0.0, 2.0**40, -(2.0**40)])
    assert region.rank(near) == rationals.region_rank(region, 1.0, near)


def test_a_tie_that_only_a_cancelling_penalty_suggests_is_refused():
    y = np.sin(INPUTS[:, 0]) + np.random.default_rng(0).normal(size=9)
    region = kernel_region(y, weighting="identity")
    with pytest.raises(ArithmeticError, match=SENTENCE):
        region.rank(region.estimate + 3e17 * weak_direction(region))


@pytest.mark.parametrize("offset", [0.0, 3e4])
def test_data_without_noise_are_ranked_by_the_tie_order(offset):
    rng = np.random.default_rng(3)
    X, a = rng.normal(size=(12, 3)), np.array([offset, 0.7, -1.9, 0.3])
    for model in (LinearRegression(), Ridge(0.4)):
        region = ua.confidence_region(model, X, offset + X @ a[1:], m=30, random_state=1)
        assert region.rank(a) == 1 + np.count_nonzero(region.tie_order < region.tie_order[0])
    coefficients = 1e3 * rng.normal(size=9)
    y = kernel_region(np.zeros(9)).objective.design.matrix @ coefficients
    region = kernel_region(y)
    expected = 1 + np.count_nonzero(region.tie_order < region.tie_order[0])
    assert region.rank(coefficients) == expected


def test_lengths_do_not_overflow():
    x = np.array([[3.0, 4.0], [3e200, 4e200], [3e-200, -4e-200], [0.0, 0.0]])
    assert length(x) == pytest.approx([5.0, 5e200, 5e-200, 0.0], rel=1e-15)
    assert length(x[:1])[0] == 5.0
