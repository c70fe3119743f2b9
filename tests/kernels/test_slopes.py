"""Derivatives of kernels, against differences."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import (
    RBF,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from unassuming.kernels import gram, kernel_slope

KERNELS = [
    RBF(1.3),
    RBF([0.7, 2.0]),
    Matern(1.1, nu=1.5),
    Matern([0.8, 1.5], nu=2.5),
    Matern(1.1, nu=np.inf),
    RationalQuadratic(1.2, 0.7),
    DotProduct(0.5),
    2.0 * RBF(0.9) + DotProduct(1.0) + WhiteKernel(0.3),
    RBF(1.0) * Matern(2.0, nu=2.5) * DotProduct(1.5),
    DotProduct(0.5) ** 3,
    (RBF(1.0) + DotProduct(1.0)) ** 2,
]
Z = np.random.default_rng(0).normal(size=(4, 2))
X = np.random.default_rng(1).normal(size=(5, 2))


NAMED = [
    ("rbf", 0.7, 3, 1),
    ("poly", 0.4, 3, 0.5),
    ("polynomial", 1.0, 1, 0.0),
    ("linear", 0.5, 3, 1),
]


@pytest.mark.parametrize("along", [[1.0, 0.0], [0.0, 1.0], [0.6, -2.0]])
@pytest.mark.parametrize("named", NAMED, ids=str)
def test_slopes_of_named_kernels_agree_with_differences(named, along):
    kernel, gamma, degree, coef0 = named
    slope, options = kernel_slope(*named), {"gamma": gamma, "degree": degree, "coef0": coef0}
    _, in_z, _, both = slope(Z[:, None], X, np.array(along))
    h = 1e-4 * np.array(along)
    at = {
        (s, t): gram(kernel, Z + s * h, X + t * h, **options)
        for s in (-1, 0, 1)
        for t in (-1, 0, 1)
    }
    np.testing.assert_allclose(in_z, (at[1, 0] - at[-1, 0]) / 2e-4, atol=1e-5)
    mixed = (at[1, 1] - at[1, -1] - at[-1, 1] + at[-1, -1]) / 4e-8
    np.testing.assert_allclose(both, mixed, atol=1e-4)


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_slopes_agree_with_differences(kernel, column):
    slope = kernel_slope(kernel)
    value, in_z, in_x, both = slope(Z[:, None], X, np.eye(2)[column])
    h = 1e-4 * np.eye(2)[column]
    at = {(s, t): gram(kernel, Z + s * h, X + t * h) for s in (-1, 0, 1) for t in (-1, 0, 1)}
    np.testing.assert_allclose(value, at[0, 0], atol=1e-12)
    np.testing.assert_allclose(in_z, (at[1, 0] - at[-1, 0]) / 2e-4, atol=1e-6)
    np.testing.assert_allclose(in_x, (at[0, 1] - at[0, -1]) / 2e-4, atol=1e-6)
    mixed = (at[1, 1] - at[1, -1] - at[-1, 1] + at[-1, -1]) / 4e-8
    np.testing.assert_allclose(both, mixed, atol=1e-5)


def test_the_norm_of_a_slope_at_one_point():
    """∂²k/∂z∂x at x = z: 2γ for rbf, 3/ℓ² and 5/(3ℓ²) for Matern."""
    z = np.ones((1, 1))
    assert kernel_slope("rbf", 0.5)(z, z, np.ones(1))[3] == pytest.approx(1.0)
    assert kernel_slope(Matern(2.0, nu=1.5))(z, z, np.ones(1))[3] == pytest.approx(3 / 4)
    assert kernel_slope(Matern(2.0, nu=2.5))(z, z, np.ones(1))[3] == pytest.approx(5 / 12)


@pytest.mark.parametrize(
    "kernel", ["laplacian", "sigmoid", Matern(nu=0.5), Matern(nu=0.7), ExpSineSquared(), min]
)
def test_kernels_without_a_known_derivative(kernel):
    assert kernel_slope(kernel, 1.0) is None
