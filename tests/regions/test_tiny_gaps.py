"""Statistics that differ by less than 2^-256 of their terms are not equal."""

import pytest

from adversarial import checks
from adversarial.problems import Problem

X = [[250.0, 310.5], [-0.03, -0.07], [0.05, 2e7], [-0.5, 1.75], [-7e11, -5e10], [-31.0, 4.5]]
"""The values of a cubic kernel reach 1e73. The penalty is 1e-11."""


@pytest.mark.parametrize("seed", range(2))
def test_ranks_of_an_estimate_that_leaves_tiny_residuals_are_exact(seed):
    problem = Problem.of(
        model="LS-SVC, polynomial kernel", X=[*X, X[0]], y=[1.0] + [-1.0] * 6, alpha=2.0**-37,
        degree=3, gamma=2.0, coef0=1.0, intercept=True, noise="block symmetric",
        blocks=(0, 2, 0, 1, 0, 0, 2), block_rows=3, m=20, seed=seed,
    )  # fmt: skip
    region = problem.region()
    assert not list(checks.ranks(problem, region, [problem.exact(region).estimate]))
