"""The predicted half-width of the joint region's band is near the measured one."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

import unassuming as ua
from unassuming.cells.functions.errors import Assumed
from unassuming.cells.functions.kriging import Coordinates, System
from unassuming.regions.single.joint_width import joint_of_kernel


@pytest.mark.slow_but_first
@pytest.mark.parametrize(("alpha", "heavy"), [(0.8, 1.0), (0.05, 1.0), (0.8, 9.0)])
def test_it_is_near_the_measured_one(alpha, heavy):
    X, _, f = ua.datasets.sine(n=60, random_state=0)
    Z = np.linspace(1, 9, 9)[:, None]
    weight = np.where(np.arange(60) % 3 == 0, heavy, 1.0)
    found, one = Coordinates(rbf_kernel(X, gamma=0.5)), np.ones(9)
    system = System(np.zeros((60, 0)), weight, found.features, found.unit)
    wanted = found.wanted(np.zeros((9, 0)), rbf_kernel(Z, X, gamma=0.5), one, one)
    found = joint_of_kernel(system, wanted, Assumed(30.0, noise_scale=0.7), alpha, 0.9)
    measured = []
    for run in range(4):
        y = f(X) + 0.7 * np.random.default_rng(run).standard_normal(60) / np.sqrt(weight)
        region = ua.confidence_region(
            KernelRidge(kernel="rbf", gamma=0.5, alpha=alpha),
            X,
            y,
            m=20,
            sample_weight=weight,
            random_state=run,
        )
        band = region.band(Z, 0.9, norm_bound=30, method="joint")
        measured.append(np.median(band.upper - band.lower) / 2)
    assert np.median(found) == pytest.approx(np.mean(measured), rel=0.15)
