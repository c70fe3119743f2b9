import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

from unassuming.kernels import resolve_svr_gamma, svr_gram, truncated_parabolic

RNG = np.random.default_rng(2)
X = RNG.normal(size=(15, 2))
Z = RNG.normal(size=(6, 2))
Y = X[:, 0] - np.sin(X[:, 1])


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_gamma_is_what_svr_uses(gamma):
    assert resolve_svr_gamma(gamma, X) == SVR(gamma=gamma).fit(X, Y)._gamma


def test_gamma_of_equal_inputs():
    assert resolve_svr_gamma("scale", np.ones((3, 2))) == 1.0


def test_unknown_gamma():
    with pytest.raises(ValueError, match=r"gamma is not valid for SVR.*given 'wide'"):
        resolve_svr_gamma("wide", X)


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
    a = np.zeros(15)
    a[svr.support_] = svr.dual_coef_[0]
    for rows in (X, Z):
        predicted = svr_gram(svr, rows, X) @ a + svr.intercept_
        np.testing.assert_allclose(predicted, svr.predict(rows), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(svr_gram(svr, X), svr_gram(svr, X, X), rtol=0.0, atol=1e-14)


def test_precomputed():
    K = X @ X.T
    svr = SVR(kernel="precomputed")
    np.testing.assert_array_equal(svr_gram(svr, K), K)
    np.testing.assert_array_equal(svr_gram(svr, Z @ X.T, K), Z @ X.T)
    with pytest.raises(ValueError, match="not square"):
        svr_gram(svr, X)


def test_callables_must_take_matrices():
    with pytest.raises(ValueError, match=r"expected shape \(15, 15\), given shape \(\)"):
        svr_gram(SVR(kernel=lambda x, z: float(x[0, 0] * z[0, 0])), X)


def test_callables_must_be_symmetric():
    with pytest.raises(ValueError, match="Gram matrix of a callable kernel is not symmetric"):
        svr_gram(SVR(kernel=lambda x, z: x[:, :1] - z[:, :1].T), X)
