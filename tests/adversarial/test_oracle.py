"""The oracle itself: against 500 digits, against itself, and against the package on plain data."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adversarial import checks
from adversarial.arithmetic import (
    adjugate,
    dot,
    independent_rows,
    integers,
    null_space,
    rationals,
    root_below,
    times,
)
from adversarial.boundedness import largest_number_of_free_sets
from adversarial.budget import cases
from adversarial.members import far_members
from adversarial.problems import MODELS, Problem
from adversarial.strategies import candidates, mantissas, problems

INTEGERS = st.integers(-9, 9)


def number(x: Fraction):
    return mpmath.mpf(x.numerator) / x.denominator


def in_digits(exact, a):
    """Z_0, ..., Z_{m-1} in 500 digits, by the eigenvectors of H: all that H^{-1/2} needs."""
    Phi, W = (
        mpmath.matrix([[*map(number, row)] for row in exact.Phi]),
        mpmath.diag([*map(number, exact.w)]),
    )
    P, n = mpmath.matrix([[*map(number, row)] for row in exact.P]), exact.n
    lam = number(exact.alpha) / n
    c, y = mpmath.matrix([*map(number, a)]), mpmath.matrix([*map(number, exact.y)])
    H = Phi.T * W * Phi / n + lam * P
    values, U = mpmath.eigsy((H + H.T) / 2)
    cut = mpmath.mpf(10) ** -250 * max(abs(v) for v in values)
    r, Z = y - Phi * c, []
    for move in exact.all_moves:
        moved = mpmath.matrix([sign * r[row] for row, sign in move])
        s = U.T * (Phi.T * W * moved / n - lam * P * c)
        Z.append(mpmath.fsum(s[k] ** 2 / values[k] for k in range(len(values)) if values[k] > cut))
    return Z


@pytest.mark.slow
@cases("oracle")
@given(st.data(), problems(largest_n=4))
def test_statistics_agree_with_many_digits(data, drawn):
    problem, truth = drawn
    region = checks.asked(problem.region)
    if region is None:
        return
    exact = problem.exact(region)
    with mpmath.workdps(500):
        for a in data.draw(candidates(exact, truth))[:4]:
            found, Z = exact.statistics(a), in_digits(exact, a)
            largest = max(found)
            k = found.index(largest)
            for z, x in zip(Z, found, strict=True):
                assert abs(z * largest - Z[k] * x) <= mpmath.mpf(10) ** -40 * Z[k] * largest


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@cases("plain data")
@given(st.data())
def test_the_package_agrees_on_plain_data(model, data):
    problem, truth = data.draw(problems(models=(model,), plain=True))
    region = problem.region()
    *asked_for, _ = data.draw(candidates(problem.exact(region), truth))  # the last one is 1e16 off
    assert list(checks.ranks(problem, region, asked_for)) == []


@cases("oracle")
@given(st.data(), problems(largest_n=6))
def test_lines_and_rays_agree_with_ranks(data, drawn):
    problem, truth = drawn
    region = checks.asked(problem.region)
    if region is None or problem.w is not None:
        return
    exact = problem.exact(region)
    u = data.draw(mantissas(exact.d, "integers").filter(any))
    t = Fraction(data.draw(INTEGERS), 7)
    a = [x + t * v for x, v in zip(truth, u, strict=True)]
    assert exact.rank_on(exact.line(truth, u), t) == exact.rank(a)

    line, q = exact.line(exact.estimate, u), data.draw(st.integers(1, problem.m - 1))
    end = exact.reach(line, q)
    if end is None:
        assert exact.rank_on(line, Fraction(10**40)) <= exact.m - q
    elif end > 0:
        assert exact.rank_on(line, end * (1 - Fraction(1, 2**80))) <= exact.m - q
        assert exact.rank_on(line, end * (1 + Fraction(1, 2**80))) > exact.m - q


@pytest.mark.parametrize("line", [(1, -1, -1), (7, 3, -2), (1, -(10**9), -1), (10**9, -1, -3)])
def test_rays_end_at_the_roots_of_their_polynomials(line):
    problem = Problem.of(model="ridge", X=[[1], [2], [4]], y=[1, 0, 2], m=2, ties="conservative")
    exact, (c, b, k) = problem.exact(problem.region()), line
    end = exact.reach([line], 1)
    assert c + b * end + k * end**2 >= 0
    further = end * (1 + Fraction(1, 2**110))
    assert c + b * further + k * further**2 < 0


@cases("oracle")
@given(st.data(), problems(models=("least squares", "ridge"), noises=("symmetric",), largest_n=6))
def test_supports_are_the_largest_values_on_a_set(data, drawn):
    problem, _ = drawn
    region = checks.asked(problem.region)
    if region is None or problem.m > 6:  # of more sets not all supports are tried
        return
    exact = problem.exact(region)
    if largest_number_of_free_sets(exact) > 0:
        return
    g = data.draw(mantissas(exact.d, "integers").filter(any))
    if any(dot(g, v) for v in null_space(integers(*exact.Phi)[0])):  # it has no largest value
        return
    values = [value for _, value in far_members(exact, g, 1)]
    centre = dot(g, exact.estimate)
    for _ in range(5):  # no ray of the region of q = 1 goes further than the supports of its sets
        u = data.draw(mantissas(exact.d, "integers").filter(any))
        end = exact.reach(exact.line(exact.estimate, u), 1)
        if values and end is not None and end > 0:
            value = centre + end * dot(g, u)
            spread = max(values) - min(values)
            assert min(values) - spread / 2**60 <= value <= max(values) + spread / 2**60


@given(st.lists(st.lists(INTEGERS, min_size=4, max_size=4), min_size=1, max_size=4))
def test_exact_linear_algebra(L):
    A = [[dot(u, v) for v in zip(*L, strict=True)] for u in zip(*L, strict=True)]  # LᵀL
    p = independent_rows(A)
    App = [[A[i][j] for j in p] for i in p]
    adj, det = adjugate(App)
    assert det > 0
    product = [times(adj, column) for column in zip(*App, strict=True)]
    assert product == [[det * (i == j) for i in range(len(p))] for j in range(len(p))]
    basis = null_space(A)
    assert len(basis) + len(p) == 4
    assert all(not any(times(A, v)) for v in basis)
    if len(p) < 4:
        assert adjugate(A) is None


@given(st.fractions(min_value=0))
def test_roots_are_rounded_down(x):
    root = root_below(x)
    assert root**2 <= x <= (root * (1 + Fraction(1, 2**110))) ** 2


def test_a_problem_can_be_built_from_its_report():
    problem = Problem("ridge", [[Fraction(1, 10)], [Fraction(2)]], [Fraction(1, 3), Fraction(0)])
    again = eval(repr(problem), {"Problem": Problem})
    assert (again.X, again.y, again.alpha) == (problem.X, problem.y, problem.alpha)


def gap_and_change(problem, region, a):
    """Z_1 - Z_0 and the bound of its change, in units of rounding."""
    rounding = problem.rounding(problem.exact(region))
    one, two = rounding.side(a, 1), rounding.side(a, 0)
    return rounding.gap(one, two), rounding.change(a, one, two)


@pytest.mark.parametrize("model", ["least squares", "ridge", "precomputed kernel"])
@pytest.mark.parametrize("noise", ["symmetric", "symmetric-exchangeable"])
def test_the_change_by_rounding_is_that_of_one_number_at_a_time(model, noise):
    rng = np.random.default_rng(5)
    X = rng.integers(1, 9, size=(4, 2))
    X = X @ X.T + np.diag([1, 2, 3, 4]) if model == "precomputed kernel" else X
    y, w = rng.integers(-9, 9, size=4), [1, 2, 2, 3] if noise == "symmetric" else [2, 2, 2, 2]
    shown = {"y": [*map(int, y)], "w": w, "alpha": 3, "noise": noise, "m": 5}
    problem = Problem.of(model=model, X=X.tolist(), **shown)
    region = problem.region()
    a = rationals(range(3, 3 + problem.exact(region).d))
    gap, change = gap_and_change(problem, region, a)
    step = 1 + Fraction(1, 2**90)
    total = Fraction(0)

    def moved(name, values):
        other = replace(problem, **{name: values}) if name != "a" else problem
        return abs(gap_and_change(other, region, values if name == "a" else a)[0] - gap)

    for name, values in (("y", problem.y), ("w", problem.w), ("a", a)):
        for j, x in enumerate(values):
            total += moved(name, [*values[:j], x * step, *values[j + 1 :]])
    if model != "least squares":
        total += moved("alpha", problem.alpha * step)
    for j, k in np.ndindex(*X.shape):
        rows = [row[:] for row in problem.X]
        rows[j][k] *= step
        if model == "precomputed kernel":  # k(x, z) = k(z, x)
            if j > k:
                continue
            rows[k][j] = rows[j][k]
        total += moved("X", rows)
    assert float(total * 2**90 / change) == pytest.approx(1.0, rel=1e-9)


def test_ties_as_they_are_meant_make_a_member_whatever_rounding_did():
    # Noise of 0.1 in every row ties under permutations; y in floats has lost most of its digits.
    X = [[Fraction(k * 2**46 + 1, 7)] for k in (3, -5, 11, 2, -8)]
    y = [2 * row[0] + Fraction(1, 10) for row in X]
    options = {"alpha": Fraction(1, 4), "intercept": False, "noise": "exchangeable", "seed": 3}
    problem = Problem("ridge", X, y, ties="conservative", **options)
    allowed = checks.Allowed(problem, problem.region())
    truth = [Fraction(2)]
    assert allowed.exact.rank(truth) == 1 < allowed.rounded.rank(truth)
    assert allowed.permits(truth, 1, inside=True)
    assert not allowed.permits(truth, 1, inside=False)
    assert not allowed.either(truth, 1)
