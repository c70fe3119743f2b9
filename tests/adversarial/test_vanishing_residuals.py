"""Residuals that vanish as they are meant, and not after the data were rounded.

Statistics then have no slope in such a residual, and rounding moves them by its square.
"""

from fractions import Fraction

import pytest

from adversarial import checks
from adversarial.problems import Problem


def problem(seed: int) -> Problem:
    """y = 3 X + (1/8, 1/8, 1/8): equal residuals at 3, and 3 X + 1/8 rounds to another number."""
    X = [1125899906842624.5, 0.5, -8.0]
    y = [3 * Fraction(x) + Fraction(1, 8) for x in X]
    return Problem.of(
        model="ridge", X=[[x] for x in X], y=y, alpha=1024.0, intercept=False,
        noise="exchangeable within", blocks=(2, 0, 2), block_rows=3, m=20, seed=seed,
    )  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_equal_residuals_tie_in_memory_and_in_a_stream(seed):
    one = problem(seed)
    assert any(Fraction(float(z)) != z for z in one.y)
    region, candidates = one.region(), [[Fraction(3)]]
    assert not list(checks.ranks(one, region, candidates))
    assert not list(checks.stream(one, region, candidates))
    assert not list(checks.one_answer(region, candidates))
