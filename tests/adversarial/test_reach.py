"""Where rays from the estimate end, against exact rationals and against crossings."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adversarial import checks
from adversarial.arithmetic import rationals
from adversarial.problems import NOISES
from adversarial.strategies import mantissas, problems

NEAR = Fraction(1, 10**6)
FAR = (10**3, 10**6, 10**9)


def wrong_ends(problem, region, direction, q):
    """Sentences about ends of a ray at which exact membership does not change."""
    level, u = (problem.m - q) / problem.m, checks.in_floats(direction)
    t = checks.asked(region.reach, u, level=level)
    if t is None:
        return
    spans = region.crossings(u, level=level)
    allowed = checks.Allowed(problem, region)
    exact, a = allowed.rounded, rationals(region.estimate)
    line = exact.line(a, rationals(u))
    held = [high for low, high in spans if low <= 0 <= high]
    if t > 0 and held != [t] and (held or not allowed.either(a, q)):
        yield f"reach {t!r}, crossings {spans.tolist()}"

    def wrong(s, said):
        """Whether a point said to be a member or none is not, and rounding does not decide it."""
        if (exact.rank_on(line, s) <= exact.m - q) == said:
            return False
        return not allowed.either([x + s * z for x, z in zip(a, rationals(u), strict=True)], q)

    if np.isneginf(t):
        if wrong(Fraction(0), False):
            yield "the estimate is a member, but reach is minus infinity"
        return
    inside = [0, *FAR] if np.isposinf(t) else [0, Fraction(t) / 2, Fraction(t) * (1 - NEAR)]
    for s in inside:
        if wrong(Fraction(s), True):
            yield f"reach {t!r}, but no member at {float(s)!r}"
    if 0 < t < np.inf and wrong(Fraction(t) * (1 + NEAR), False):
        yield f"reach {t!r}, but a member after it"


@pytest.mark.slow
@given(st.data(), problems(noises=NOISES, largest_n=6))
@settings(max_examples=24, derandomize=True, deadline=None)
def test_a_ray_ends_where_exact_membership_does(data, drawn):
    problem, truth = drawn
    region = checks.asked(problem.region)
    if region is None:
        return
    direction = data.draw(mantissas(len(truth), "integers").filter(any), label="direction")
    q = data.draw(st.sampled_from([1, 1, 2, problem.m // 2]))
    wrong = list(wrong_ends(problem, region, direction, q))
    assert not wrong, f"{wrong}\n{problem}"
