"""Whitened coordinates against the Hessian written down."""

import numpy as np
import pytest

from unassuming.kernels import gram
from unassuming.objectives import FeatureDesign, KernelDesign

N = 9
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
REPEATED = X[[0, 1, 2, 3, 4, 5, 6, 0, 1]]
WEIGHTS = {"equal": np.full(N, 2.0), "different": RNG.uniform(0.5, 3.0, size=N)}


def design(kind, intercept):
    if kind == "features":
        return FeatureDesign(X, intercept=intercept)
    if kind == "dependent features":
        whole = np.round(X * 2.0**20)  # so that the third column is exact
        return FeatureDesign(
            np.column_stack([whole, whole @ [1.0, 2.0]]) / 2.0**20, intercept=intercept
        )
    inputs = REPEATED if kind == "kernel, repeated inputs" else X
    return KernelDesign(gram("laplacian", inputs, gamma=0.7), intercept=intercept)


CASES = [
    (kind, intercept, weights, lam)
    for kind in ("features", "dependent features", "kernel", "kernel, repeated inputs")
    for intercept in (False, True)
    for weights in WEIGHTS
    for lam in ((0.0, 0.3) if "features" in kind else (0.3, 1e3))
]


@pytest.mark.parametrize(("kind", "intercept", "weights", "lam"), CASES)
def test_the_hessian_is_the_identity_in_these_coordinates(kind, intercept, weights, lam):
    phi, w = design(kind, intercept), WEIGHTS[weights]
    Phi, P = phi.matrix, phi.penalty_matrix()
    white = phi.whiten(w, lam)
    H = Phi.T @ (w[:, None] * Phi) / N + lam * P
    back = white.back
    np.testing.assert_allclose(back.T @ H @ back, np.eye(back.shape[1]), atol=1e-9)
    np.testing.assert_allclose(white.push, back.T @ (lam * P), atol=1e-9)
    np.testing.assert_allclose(white.pull(w), back.T @ (Phi.T * w / N), atol=1e-9)
    np.testing.assert_allclose(white.q, np.sqrt(w / N)[:, None] * Phi @ back, atol=1e-9)
    assert back.shape[1] == np.linalg.matrix_rank(H)


@pytest.mark.parametrize(("kind", "intercept", "weights", "lam"), CASES)
def test_seen_directions_are_those_that_change_fitted_values(kind, intercept, weights, lam):
    phi = design(kind, intercept)
    white = phi.whiten(WEIGHTS[weights], lam)
    seen = white.seen()
    rank = np.linalg.matrix_rank(phi.matrix)
    np.testing.assert_allclose(seen.T @ seen, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose(white.q @ seen @ seen.T, white.q, atol=1e-12)
