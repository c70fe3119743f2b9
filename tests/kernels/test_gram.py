"""Gram matrices are those of KernelRidge and SVR; matrices that a method cannot use are refused."""

from functools import partial

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import kernel_metrics, rbf_kernel
from sklearn.svm import SVR

from unassuming.kernels import (
    gram,
    rectangular,
    require_positive_semidefinite,
    require_symmetric,
    resolve_svr_gamma,
    svr_gram,
    truncated_parabolic,
)

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


# --- support vector regression --------------------------------------------------------------------

Y = X[:, 0] - np.sin(X[:, 1])


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_gamma_is_what_svr_uses(gamma):
    assert resolve_svr_gamma(gamma, X) == SVR(gamma=gamma).fit(X, Y)._gamma


@pytest.mark.parametrize(
    "svr",
    [
        SVR(),
        SVR(kernel="rbf", gamma=0.2),
        SVR(kernel="linear"),
        SVR(kernel="poly", degree=2, coef0=0.5, gamma="auto"),
        SVR(kernel="sigmoid", coef0=0.1),
        SVR(kernel=rbf_kernel),
        SVR(kernel=RBF(0.7)),
        SVR(kernel=truncated_parabolic),
    ],
    ids=["default", "rbf", "linear", "poly", "sigmoid", "callable", "object", "ours"],
)
def test_gram_matrix_reproduces_the_predictions_of_svr(svr):
    svr.set_params(tol=1e-10).fit(X, Y)
    a = np.zeros(9)
    a[svr.support_] = svr.dual_coef_[0]
    for rows in (X, Z):
        predicted = svr_gram(svr, rows, X) @ a + svr.intercept_
        np.testing.assert_allclose(predicted, svr.predict(rows), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(svr_gram(svr, X), svr_gram(svr, X, X), rtol=0.0, atol=1e-14)


# --- conditions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 20, 100, 300])
@pytest.mark.parametrize("gamma", [2.0, 0.01])
def test_gaussian_gram_matrices_pass(n, gamma):
    X = np.linspace(0.0, 10.0, n).reshape(-1, 1)
    K = rbf_kernel(X, gamma=gamma)
    require_symmetric(K)
    require_positive_semidefinite(np.linalg.eigvalsh(K), "KernelRidge")
