"""Lines on which double precision finds wrong ends: rounding hides a set, or makes it endless."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adversarial import checks
from adversarial.arithmetic import rationals
from adversarial.problems import Problem
from unassuming.membership._parabola import Parabola

WHOLE = st.integers(-(2**70), 2**70)
POINTS = [0.0, 0.3, -0.7, 1.0, -3.0, 20.0, -20.0]
LINES = {
    "an input of 1e14": (
        Problem.of(
            model="least squares",
            X=[["-63/1717986918400"], ["-78/5"], ["-1372190511464448/5"], ["0"], ["271/100"]],
            y=["83.1", "1307.75", "86173564119967667/4", "83.25", "-129.585"],
            seed=69,
        ),
        [2, -2],
        [2, -5],
        1,
    ),
    "columns of 1e15": (
        Problem.of(
            model="least squares",
            X=[
                [-(2.0**32), 2.0**-18, 0.0, -(2.0**-20)],
                [2.0**51, -0.5, -1.0, 0.0],
                [-0.75, 2.0**-51, 2.0**-52, 2.0**-53],
                [3 * 2.0**49, 2.5, 0.75, 1e10],
                [2.0**49, 1.0, 0.75, 1.25],
            ],
            y=[-(2.0**33), 2.0**52 + 1000, 999.0, 3 * 2.0**50, 2.0**50 + 1000],
            intercept=False,
            m=5,
            seed=1591,
        ),
        [0, -3, -5, 5],
        [0, -1, 5, 0],
        2,
    ),
    **{
        f"bounds of errors that overflow, {k}": (
            Problem.of(
                model="LS-SVC, polynomial kernel",
                X=[[1.5, 6e7], [0.25, 9e6], [2.0**43, 3 * 2.0**k], [-0.5, 731.0]],
                y=[1, -1, -1, -1],
                degree=3,
                gamma=2,
                noise="symmetric-exchangeable",
                m=5,
                seed=11,
            ),
            [-2, 3, -5, -4, 1],
            [4, 1, -3, 5, 0],
            1,
        )
        for k in (65, 68)  # of the lines, and of the gradient at the estimate
    },
    "rows that rounding makes equal at the origin": (
        Problem.of(
            model="least squares",
            X=[[8.0, 2.0**-16 + 2.0**-62], [0.0, 777.0], [8.0, 2.0**-16 - 5 * 2.0**-64]],
            y=[19.0 + 2.0**-48, 1002.0, 11.0 - 2.0**-49],
            intercept=False,
            noise="exchangeable within",
            block_rows=3,
            seed=7,
        ),
        [0, 0],
        [0, 3],
        2,
    ),
    "rows equal but for the line": (
        Problem.of(
            model="LS-SVC, polynomial kernel",
            X=[[2e7, 1.4721, 1.4907], [0.6276, -0.0454, 0.9329], [0.6276, -0.0454, 0.9329]],
            y=[1, -1, -1],
            degree=3,
            gamma="1/2",
            noise="symmetric-exchangeable",
            seed=2,
        ),
        [0, 0, 0, 0],
        [3, -4, -5, -1],
        1,
    ),
    "a y that hides the kernel at the origin": (
        Problem.of(
            model="gaussian kernel",
            X=[[-5, -4, 0, 5], [1, -4, -5, 0], [4, -1, -4, -2]],
            y=[700 - 2.0**48, 700 + 2.0**48, 700 + 2.0**48],
            alpha=2.0**20,
            noise="exchangeable within",
            blocks=(0, 2, 2),
            block_rows=3,
            m=5,
            seed=2,
        ),
        [0, 0, 0],
        [-1, -1, 4],
        2,
    ),
    "a column of 1e18": (
        Problem.of(
            model="LS-SVC",
            X=[
                [-443.52, -6.93, 8.6e15, 30.93],
                [199.68, 3.12, -2.9e16, -1.99],
                [1795.2, 28.05, 1.6e18, -3.3],
                [-7.264, -0.1135, -1.7e15, 0.314],
            ],
            y=[1, -1, -1, -1],
            alpha=2,
            gamma="1/2",
            noise="block symmetric",
            blocks=(1, 2, 1, 1),
            seed=13,
        ),
        [0, 0, 0, 0, 0],
        [5, -2, -1, 1, -3],
        1,
    ),
    "a row of 1e35 that stays where it is": (
        Problem.of(
            model="least squares",
            X=[[2.0], [0.02], [-2.0], [1e35]],
            y=[1.0, -1.0, 1.0, 1.0],
            intercept=False,
            m=20,
            seed=4,
        ),
        [0],
        [1],
        1,
    ),
    "an end near zero beside a wide interval": (
        Problem.of(
            model="gaussian kernel",
            X=[[4, 5, -5], [3, 1, -3], [5, -2, 4], [1, 2, 4]],
            y=[1e9 - 0.25, 1e9 - 0.25, 1e9 - 0.25, 1e9 + 0.25],
            gamma=2,
            intercept=False,
            noise="block symmetric",
            blocks=(0, 2, 2, 0),
            m=20,
            seed=10,
        ),
        [0, 0, 0, 0],
        [5, -1, -3, -2],
        10,
    ),
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", LINES)
def test_crossings_of_badly_scaled_data_are_exact(name):
    problem, origin, direction, q = LINES[name]
    region = problem.region()
    region.crossings(direction, level=1 - q / problem.m, origin=origin)  # no refusal
    found = checks.crossings(problem, region, rationals(origin), rationals(direction), q, POINTS)
    assert list(found) == []


@given(WHOLE, WHOLE, st.integers(-(2**70), 0), st.booleans())
@example(0, 0, 0, True)
@example(0, 0, 0, False)
@example(3, 0, 0, False)
@example(-3, 0, 0, True)
@example(5, -2, 0, True)
@example(-1, 2, -1, True)  # a double root
@example(2**70, 1, -(2**70), True)
@settings(derandomize=True, deadline=None)
def test_ends_of_parabolas_have_the_right_signs(c, b, k, wins):
    low, high = Parabola(c, b, k).ends(wins=wins)

    def holds(t):
        value = c + b * t + k * t * t
        return value > 0 or (value == 0 and (wins or bool(b or k)))

    if low > high:
        vertex = Fraction(-b, 2 * k) if k else Fraction(0)
        assert not holds(vertex)
        return
    step = Fraction(1, 2**40)
    for end, sign in ((low, -1), (high, 1)):
        if np.isinf(end):
            assert holds(Fraction(sign * 10**60))
        else:
            away = max(abs(Fraction(end)), Fraction(high - low if high < np.inf > -low else 1))
            assert not holds(Fraction(end) + sign * (step * away + step))
    if low < high and not (np.isinf(low) or np.isinf(high)):
        assert holds((Fraction(low) + Fraction(high)) / 2)


def test_a_line_whose_statistics_tie_near_the_origin_and_far_away_only():
    """In between, bt exceeds the rounding of the data: on one side its terms cancel."""
    X = [
        [-0.02617757118556913, -0.6549498166557379, -2.3930819424820515],
        [-1.7354380460125147, 2.7605327789003913, 0.9316002188611956],
        [-1.1453151944528054e18, -4.664016769711686e17, 4.4252596000991546e17],
    ]
    problem = Problem.of(
        model="LS-SVC",
        X=X,
        y=[1.0, -1.0, -1.0],
        noise="symmetric-exchangeable",
        m=5,
        seed=4716,
        ties="conservative",
    )
    region, origin, way = problem.region(), rationals([0] * 4), rationals([0, -3, 0, 1])
    assert not list(checks.crossings(problem, region, origin, way, 1, [1.0, -1e-3, 10.0, -10.0]))
