from functools import partial

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import kernel_metrics

from unassuming.kernels import gram, rectangular, truncated_parabolic

RNG = np.random.default_rng(11)
X = RNG.uniform(0.1, 2.0, size=(9, 3))  # positive, as the chi-squared kernels ask for
Z = RNG.uniform(0.1, 2.0, size=(4, 3))


def scaled_product(x, z, scale=1.0):
    return scale * float(x @ z)


def of_kernel_ridge(kernel, rows, columns, **parameters):
    return KernelRidge(kernel=kernel, **parameters)._get_kernel(rows, columns)


@pytest.mark.parametrize("columns", [None, Z])
@pytest.mark.parametrize("gamma", [None, 0.7])
@pytest.mark.parametrize("name", sorted(kernel_metrics()))
def test_named_kernels_are_those_of_kernel_ridge(name, gamma, columns):
    # KernelRidge cannot do without gamma for the chi-squared kernel, whose default is 1.
    of_ridge = 1.0 if name == "chi2" and gamma is None else gamma
    expected = of_kernel_ridge(name, X, columns, gamma=of_ridge, degree=2, coef0=0.5)
    found = gram(name, X, columns, gamma=gamma, degree=2, coef0=0.5)
    if name == "rbf":  # from differences, which keep their digits far from zero
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("columns", [None, Z])
@pytest.mark.parametrize("kernel", [RBF(0.5), ConstantKernel(2.0) * RBF(1.5) + WhiteKernel(0.3)])
def test_kernel_objects_are_those_of_kernel_ridge(kernel, columns):
    np.testing.assert_array_equal(gram(kernel, X, columns), of_kernel_ridge(kernel, X, columns))


@pytest.mark.parametrize("columns", [None, Z])
@pytest.mark.parametrize(
    ("kernel", "params"),
    [
        (scaled_product, None),
        (scaled_product, {"scale": 3.0}),
        (partial(scaled_product, scale=2.0), None),
        (truncated_parabolic, {"c": 0.4}),
        (rectangular, {"c": 1.5}),
        (partial(truncated_parabolic, c=0.2), None),
    ],
)
def test_callables_are_those_of_kernel_ridge(kernel, params, columns):
    np.testing.assert_allclose(
        gram(kernel, X, columns, params=params),
        of_kernel_ridge(kernel, X, columns, kernel_params=params),
        rtol=0.0,
        atol=1e-14,
    )


def test_our_own_kernels_are_called_once_for_the_whole_matrix():
    calls = []

    def counting(x, z):
        calls.append(1)
        return truncated_parabolic(x, z)

    gram(counting, X)
    assert len(calls) == 9 * 10 // 2
    large = np.linspace(0.0, 10.0, 2000).reshape(-1, 1)
    assert gram(truncated_parabolic, large).shape == (2000, 2000)


def test_precomputed_is_passed_through():
    K = X @ X.T
    assert gram("precomputed", K) is K
    np.testing.assert_array_equal(gram("precomputed", Z @ X.T, K), Z @ X.T)


def test_precomputed_must_be_square_and_symmetric():
    with pytest.raises(ValueError, match=r"precomputed kernel matrix is not square.*\(4, 3\)"):
        gram("precomputed", Z)
    with pytest.raises(ValueError, match=r"not symmetric.*\(0, 1\) and \(1, 0\) that differ by 1"):
        gram("precomputed", np.array([[1.0, 1.0], [0.0, 1.0]]))


def test_precomputed_needs_one_column_per_training_sample():
    with pytest.raises(ValueError, match=r"expected 9 columns.*given shape \(4, 3\)"):
        gram("precomputed", Z, X @ X.T)


def test_unknown_kernels():
    with pytest.raises(ValueError, match=r"kernel is unknown: expected 'precomputed' or one of"):
        gram("gaussian", X)
    with pytest.raises(TypeError, match=r"kernel is not a kernel: .* given 7"):
        gram(7, X)
