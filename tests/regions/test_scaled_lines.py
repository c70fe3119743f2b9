"""Lines whose components, or weightings, differ by many orders of magnitude."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso

import unassuming as ua


@pytest.mark.parametrize("tiny", [1e-90, 1e-101, 1e-120, 1e-300])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_coefficients_that_hardly_move_keep_their_sign(tiny, sign):
    """Kernel values underflow: a direction may have components of any size."""
    X, y, _ = ua.datasets.linear(n=40, d=2, random_state=0)
    region = ua.confidence_region(Lasso(0.1), X, y, random_state=0)
    plain = region.crossings([0.0, 1.0, 0.0], level=0.9)
    np.testing.assert_allclose(region.crossings([0.0, 1.0, sign * tiny], level=0.9), plain)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
def test_the_hessian_of_a_nearly_singular_kernel_leaves_no_ties_of_rounding(noise):
    """Condition 2e10: weighted by its whole inverse root, half of the lines had no end."""
    X, y, _ = ua.datasets.sine(n=25, noise="laplace", random_state=0)
    model = ua.KernelLasso(alpha=0.8, kernel="rbf", gamma=0.5)
    region = ua.confidence_region(model, X, y, noise=noise, weighting="hessian", random_state=0)
    rng = np.random.default_rng(0)
    for _ in range(12):
        direction = rng.normal(size=25)
        spans = region.crossings(direction, level=0.8)
        t = np.concatenate([np.linspace(-1, 1, 81), np.geomspace(1e-3, 1e3, 40)])
        inside = ((spans[:, :1] <= t) & (t <= spans[:, 1:])).any(axis=0)
        members = region.contains(region.estimate + t[:, None] * direction, level=0.8)
        np.testing.assert_array_equal(members, inside)
