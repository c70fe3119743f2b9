import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from unassuming.kernels import (
    require_positive_semidefinite,
    require_symmetric,
    truncated_parabolic,
)


@pytest.mark.parametrize("n", [1, 20, 100, 300])
@pytest.mark.parametrize("gamma", [2.0, 0.01])
def test_gaussian_gram_matrices_pass(n, gamma):
    X = np.linspace(0.0, 10.0, n).reshape(-1, 1)
    K = rbf_kernel(X, gamma=gamma)
    require_symmetric(K)
    require_positive_semidefinite(np.linalg.eigvalsh(K), "KernelRidge")


def test_indefinite_gram_matrices_are_refused_with_their_smallest_eigenvalue():
    K = truncated_parabolic(np.linspace(0.0, 10.0, 20).reshape(-1, 1))
    with pytest.raises(ValueError, match=r"which KernelRidge cannot use.*eigenvalues from -0\.43"):
        require_positive_semidefinite(np.linalg.eigvalsh(K), "KernelRidge")


def test_tolerance():
    eigenvalues = np.array([-1e-7, 0.0, 1.0])
    require_positive_semidefinite(eigenvalues, "x", tolerance=1e-6)
    with pytest.raises(ValueError, match="indefinite"):
        require_positive_semidefinite(eigenvalues, "x")


def test_negative_definite_is_refused():
    with pytest.raises(ValueError, match="eigenvalues from -2 to -1"):
        require_positive_semidefinite(np.array([-1.0, -2.0]), "x")


def test_empty_matrices_pass():
    require_symmetric(np.empty((0, 0)))
    require_positive_semidefinite(np.empty(0), "x")


def test_symmetry_up_to_rounding():
    K = rbf_kernel(np.random.default_rng(0).normal(size=(30, 2)))
    K[3, 5] *= 1.0 + 1e-15
    require_symmetric(K)
    K[3, 5] += 1e-6
    with pytest.raises(ValueError, match=r"The matrix is not symmetric.*\(3, 5\) and \(5, 3\)"):
        require_symmetric(K, "The matrix")
