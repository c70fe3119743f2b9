"""The simultaneous band contains the true function as often as promised."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua

FEW = 80  # of bands in a ball; less than 70 % coverage is below their two-sided 1e-6 band


def covers(band, values):
    return bool(((band.lower <= values) & (values <= band.upper)).all())


def assert_honest(inside, covered):
    """The region holds the truth exactly as often as promised; the band whenever the region does.

    ``inside`` and ``covered`` say for each run whether the region and the band hold the truth.
    """
    low, high = binom.ppf(5e-7, len(inside), 0.9), binom.isf(5e-7, len(inside), 0.9)
    assert low <= inside.sum() <= high
    assert covered[inside].all()
    assert covered.sum() >= low


@pytest.mark.slow
def test_kernel_ridge_with_a_norm_bound_covers_the_function_between_its_inputs():
    # No input in (4, 6), a centre of f there: only the norm bound speaks of f in the gap.
    X = np.concatenate([np.linspace(0, 4, 8), np.linspace(6, 10, 8)])[:, None]
    grid = np.concatenate(
        [np.linspace(0.3, 3.8, 6), np.linspace(4.3, 5.7, 8), 6.1 + np.arange(6) / 2]
    )
    grid = grid[:, None]
    model = KernelRidge(kernel="rbf", gamma=2.0, alpha=0.3)
    inside, covered = np.empty(FEW, dtype=bool), np.empty(FEW, dtype=bool)
    for run in range(FEW):
        rng = np.random.default_rng([2, run])
        centres = np.append(rng.uniform(0, 10, size=3), rng.uniform(4.5, 5.5))
        f = ua.datasets.KernelExpansion(centres, 5 * rng.normal(size=4), 2.0)
        y = f(X) + np.linspace(0.2, 1.0, 16) * rng.standard_t(2, size=16)
        region = ua.confidence_region(model, X, y, m=20, random_state=run)
        inside[run] = region.contains(f, 0.9)
        band = region.band(grid, 0.9, norm_bound=f.norm, method="joint")
        assert band.target == "function"
        covered[run] = covers(band, f(grid))
    assert_honest(inside, covered)
