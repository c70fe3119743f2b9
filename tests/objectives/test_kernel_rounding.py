"""δ, what rounding may have done to a kernel matrix and its decomposition, against 40 digits."""

import mpmath as mp
import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from unassuming._rounding import EPS
from unassuming.objectives.designs._kernel import (
    KernelDesign,
    _share_of_representation,
    rounding_of_kernel,
)


def exact_gram(X, kernel, gamma):
    """K* in 40 digits."""
    rows = [[mp.mpf(float(x)) for x in row] for row in X]

    def one(u, v):
        if kernel == "rbf":
            return mp.exp(-gamma * mp.fsum((a - b) ** 2 for a, b in zip(u, v, strict=True)))
        return mp.exp(-gamma * mp.fsum(abs(a - b) for a, b in zip(u, v, strict=True)))

    return mp.matrix([[one(u, v) for v in rows] for u in rows])


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize(("n", "p", "gamma"), [(6, 1, 0.5), (14, 3, 0.01), (14, 3, 8.0)])
def test_the_decomposition_of_a_kernel_is_within_delta(kernel, offset, n, p, gamma):
    X = np.random.default_rng(n).normal(size=(n, p)) + offset
    y, model = np.zeros(n), KernelRidge(kernel=kernel, gamma=gamma, alpha=1.0)
    design = ua.confidence_region(model, X, y, m=2, random_state=0).objective.design
    assert isinstance(design, KernelDesign)
    values, u = design.spectrum
    with mp.workdps(40):
        U, exact = mp.matrix(u.tolist()), exact_gram(X, kernel, gamma)
        apart = exact - U * mp.diag(values.tolist()) * U.T
        error = np.linalg.norm(np.array(apart.tolist(), dtype=float), 2)
    assert 0 < error <= rounding_of_kernel(design) < 1e4 * EPS * n


def test_a_representation_is_within_its_share():
    rng = np.random.default_rng(0)
    for k in range(40):
        Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        least, delta = 10.0 ** rng.uniform(-3, 0), 10.0 ** rng.uniform(-5, -1)
        values = np.sort(np.append(least, least + rng.exponential(size=3)))
        off = rng.normal(size=(4, 4))
        off = (off + off.T) * delta / np.linalg.norm(off + off.T, 2)
        share = _share_of_representation(delta, least)
        K = (Q * values) @ Q.T + off
        if not np.isfinite(share):
            assert least <= delta
            continue
        z = rng.normal(size=4)
        turned = (Q.T @ z) / np.sqrt(values + delta)
        exact = np.sqrt(values + delta) * (Q.T @ np.linalg.solve(K, z))
        assert np.linalg.norm(exact - turned) <= share * np.linalg.norm(turned) * (1 + 1e-9), k
