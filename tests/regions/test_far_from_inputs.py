"""Bands far from all inputs, where values of a kernel are so small that their squares vanish."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua

GAMMA, B = 8.0, 4.0
MODELS = {
    "signs": (KernelRidge(kernel="rbf", gamma=GAMMA, alpha=0.3), "symmetric"),
    "permutations": (KernelRidge(kernel="rbf", gamma=GAMMA, alpha=0.3), "exchangeable"),
    "KernelHuber": (ua.KernelHuber(kernel="rbf", gamma=GAMMA, alpha=0.3), "symmetric"),
    "KernelLasso": (ua.KernelLasso(kernel="rbf", gamma=GAMMA, alpha=0.3), "symmetric"),
}


@pytest.mark.parametrize("z", [8.0, 9.3, 10.0, 12.0])
@pytest.mark.parametrize("name", MODELS)
def test_bounds_hold_the_estimate_and_are_not_empty(name, z):
    rng = np.random.default_rng(1)
    X = np.linspace(0, 3, 10)[:, None]
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_t(3, size=10)
    model, noise = MODELS[name]
    region = ua.confidence_region(model, X, y, noise=noise, m=10, random_state=0)
    K = np.exp(-GAMMA * (X - X.T) ** 2)
    a = region.estimate
    norm = np.sqrt(a @ K @ a)
    assert norm < B
    assert region.contains(a)
    row = np.exp(-GAMMA * (z - X[:, 0]) ** 2)
    assert 0 < row.max() < 1e-80
    band = region.band([[z]], norm_bound=B, target="representation")
    assert band.status.name == "CERTIFIED"
    scale = 1e-300 if z == 12.0 else 1e-12 * row.max()
    assert band.lower[0] - scale <= row @ a <= band.upper[0] + scale
    # The ball alone: |f(z)| <= B ‖k(z, x)‖ in the norm of the coefficients that K⁻¹ gives.
    most = B * np.sqrt((row / row.max()) @ np.linalg.solve(K, row / row.max())) * row.max()
    assert 0.1 * most < band.upper[0] - band.lower[0] <= 2 * most * (1 + 1e-6)
