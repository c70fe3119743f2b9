"""Polynomials of the inner product, and kernels of full rank at distinct inputs."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

from unassuming.kernels import gram, inner_product_kernel, strictly_positive_definite, white_noise

X = np.random.default_rng(0).normal(size=(7, 3))


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ("linear", {}),
        ("cosine", {}),
        ("poly", {"gamma": 0.4, "degree": 3, "coef0": 0.5}),
        (DotProduct(0.5) ** 2 + 2.0 * DotProduct(0.0), {}),
        (ConstantKernel(3.0) * DotProduct(1.0), {}),
    ],
    ids=str,
)
def test_products_of_features_are_those_of_the_kernel(kernel, options):
    known = inner_product_kernel(kernel, 3, **options)
    F = known.features(X)
    assert F.shape == (7, known.count(3))
    np.testing.assert_allclose(F @ F.T, gram(kernel, X, X, **options), atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", RBF(), DotProduct() + RBF(), DotProduct() ** 0.5])
def test_other_kernels_are_not_known_to_have_few_features(kernel):
    assert inner_product_kernel(kernel, 3) is None


def test_sums_with_a_strictly_positive_definite_kernel_are_one_and_products_may_not_be():
    assert strictly_positive_definite("rbf")
    assert strictly_positive_definite(RBF() + DotProduct())
    assert strictly_positive_definite(2.0 * RBF())
    assert not strictly_positive_definite(RBF() * DotProduct())
    assert not strictly_positive_definite("linear")


def test_white_noise_is_what_it_adds_to_the_diagonal():
    kernel = (RBF() + WhiteKernel(0.3)) * (DotProduct() + WhiteKernel(0.1)) + WhiteKernel(0.2)
    expected = kernel.diag(X) - np.diagonal(kernel(X, X))
    np.testing.assert_allclose(white_noise(kernel, X), expected, rtol=1e-12)
    np.testing.assert_array_equal(white_noise(RBF() + WhiteKernel(0.3), X), np.full(7, 0.3))
