"""Designs: what is computed once from the inputs."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua


def test_eigenvectors_of_close_eigenvalues_are_orthogonal_to_rounding():
    """LAPACK's default driver reaches 3e-13 here."""
    X = np.sort(np.random.default_rng(0).uniform(0, 10, size=500))[:, None]
    model = KernelRidge(kernel="laplacian", gamma=1.0)
    design = ua.confidence_region(model, X, np.sin(X[:, 0]), m=10, random_state=0).objective.design
    values, vectors = design.spectrum
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(500), atol=3e-14)
    np.testing.assert_allclose(vectors * values @ vectors.T, design.K, atol=1e-11)
