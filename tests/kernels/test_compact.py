from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVR

from unassuming.kernels import rectangular, truncated_parabolic

RNG = np.random.default_rng(5)
X = RNG.uniform(0.0, 3.0, size=(12, 2))
Z = RNG.uniform(0.0, 3.0, size=(7, 2))
VECTORS = arrays(np.float64, 3, elements=st.floats(-10.0, 10.0))


@pytest.mark.parametrize("kernel", [truncated_parabolic, rectangular])
@pytest.mark.parametrize("c", [0.3, 1.0, 2.0])
def test_matrix_and_pairs_agree_to_the_bit(kernel, c):
    matrix = kernel(X, Z, c=c)
    pairs = np.array([[kernel(x, z, c=c) for z in Z] for x in X])
    assert matrix.shape == (12, 7)
    assert 0.0 < matrix.mean() < 1.0
    np.testing.assert_array_equal(matrix, pairs)
    np.testing.assert_array_equal(matrix, pairwise_kernels(X, Z, metric=kernel, c=c))
    np.testing.assert_array_equal(kernel(X, c=c), kernel(X, X, c=c))


@given(x=VECTORS, z=VECTORS, c=st.floats(0.01, 5.0))
def test_definitions(x, z, c):
    square = float(np.sum((x - z) ** 2))
    assert truncated_parabolic(x, z, c=c) == pytest.approx(max(1.0 - c * square, 0.0), abs=1e-12)
    assert truncated_parabolic(x, z, c=c) == truncated_parabolic(z, x, c=c)
    distance = np.sqrt(square)
    if not np.isclose(distance, c, rtol=1e-12):
        assert rectangular(x, z, c=c) == float(distance <= c)
    assert isinstance(rectangular(x, z, c=c), float)
    assert truncated_parabolic(x, x, c=c) == rectangular(x, x, c=c) == 1.0


def test_grid_of_the_paper_has_an_identity_gram_matrix():
    grid = np.linspace(0.0, 1.0, 20).reshape(-1, 1)
    np.testing.assert_array_equal(rectangular(grid, c=1 / 38), np.eye(20))


def test_truncated_parabola_is_indefinite_on_the_grid_of_the_paper():
    grid = np.linspace(0.0, 10.0, 20).reshape(-1, 1)
    smallest = np.linalg.eigvalsh(truncated_parabolic(grid))[0]
    assert smallest == pytest.approx(-0.43, abs=0.005)


@pytest.mark.parametrize("kernel", [truncated_parabolic, rectangular])
def test_scikit_learn_accepts_them(kernel):
    y = np.sin(X[:, 0])
    ridge = KernelRidge(kernel=kernel, kernel_params={"c": 0.05}, alpha=5.0).fit(X, y)
    K = kernel(X, c=0.05)
    np.testing.assert_allclose(ridge.dual_coef_, np.linalg.solve(K + 5.0 * np.eye(12), y))
    svr = SVR(kernel=partial(kernel, c=0.5)).fit(X, y)
    precomputed = SVR(kernel="precomputed").fit(kernel(X, c=0.5), y)
    np.testing.assert_array_equal(svr.predict(Z), precomputed.predict(kernel(Z, X, c=0.5)))


@pytest.mark.parametrize("kernel", [truncated_parabolic, rectangular])
@pytest.mark.parametrize("c", [0.0, -1.0, np.nan, np.inf])
def test_the_parameter_must_be_positive(kernel, c):
    with pytest.raises(ValueError, match="c is not usable in a kernel: expected a positive"):
        kernel(X, c=c)
