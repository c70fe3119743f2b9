"""Statistics that differ by less than 2^-256 of their terms are not equal."""

import pytest

from adversarial import checks
from adversarial.problems import Problem

X = [[250.0, 310.5], [-0.03, -0.07], [0.05, 2e7], [-0.5, 1.75], [-7e11, -5e10], [-31.0, 4.5]]
"""The values of a cubic kernel reach 1e73. The penalty is 1e-11."""


@pytest.mark.slow_but_first
@pytest.mark.parametrize("seed", range(2))
def test_ranks_of_an_estimate_that_leaves_tiny_residuals_are_exact(seed):
    problem = Problem.of(
        model="LS-SVC, polynomial kernel", X=[*X, X[0]], y=[1.0] + [-1.0] * 6, alpha=2.0**-37,
        degree=3, gamma=2.0, coef0=1.0, intercept=True, noise="block symmetric",
        blocks=(0, 2, 0, 1, 0, 0, 2), block_rows=3, m=20, seed=seed,
    )  # fmt: skip
    region = problem.region()
    assert not list(checks.ranks(problem, region, [problem.exact(region).estimate]))


def test_a_region_of_rotations_is_not_empty_because_of_rounding():
    """One row of 1e37 hides the residuals of the others; taken literally, the estimate fits."""
    problem = Problem.of(
        model="ridge", alpha=1.0, intercept=False, noise="spherical", m=10, seed=32429,
        X=[
            ["-1313723121664/125"],
            ["-58486031814536298407767510652335161344/5"],
            [999.0],
            ["-178241142784/125"],
        ],
        y=[
            "-1202712630739392/625",
            "-53543962126207981192311156002212825696192/25",
            763486.5,
            "-163179403362752/625",
        ],
    )  # fmt: skip
    assert not list(checks.band(problem, problem.region(), problem.rounded().X[:2], 5))
