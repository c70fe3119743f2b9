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


def test_an_input_where_a_linear_kernel_vanishes():
    """A row of zeros in the kernel matrix, which no share of its diagonal makes definite."""
    X = np.array([[4.0, 2.0, 4.0], [1.0, 4.0, 3.0], [0.0, 0.0, 0.0]])
    y = np.array([191.0, 207.0, 1.0]) / 8
    noise = ua.noise.BlockSymmetric([0, 2, 1])
    model = KernelRidge(kernel="linear", alpha=1.0)
    region = ua.confidence_region(model, X, y, noise=noise, m=5, random_state=1)
    bound, rng = 30.0, np.random.default_rng(0)
    band = region.band(X, 0.4, norm_bound=bound)
    assert np.abs([band.lower[2], band.upper[2]]).max() < 1e-3
    members = 0
    for slope in rng.normal(size=(1200, 3)) * 4 + [3.0, 4.0, 2.0]:
        values = X @ slope
        if np.linalg.norm(slope) <= bound and region.contains(lambda X, v=values: v, 0.4):
            members += 1
            assert (band.lower <= values).all()
            assert (values <= band.upper).all()
    assert members > 30
