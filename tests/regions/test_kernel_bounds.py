"""Certified bounds of kernels with small penalties, against 60 digits."""

import mpmath as mp
import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from unassuming.regions import Status

M = 20


def exact_kernel(name, gamma, X):
    """The kernel matrix in 60 digits."""
    rows = [[mp.mpf(float(x)) for x in row] for row in X]
    g = mp.mpf(gamma)

    def k(u, v):
        if name == "rbf":
            return mp.exp(-g * sum((a - b) ** 2 for a, b in zip(u, v, strict=True)))
        if name == "laplacian":
            return mp.exp(-g * sum(abs(a - b) for a, b in zip(u, v, strict=True)))
        return (g * sum(a * b for a, b in zip(u, v, strict=True)) + 1) ** 3

    return mp.matrix([[k(u, v) for v in rows] for u in rows])


def exact_uppers(region, K, y, alpha, rows, q):
    """The q-th largest of the largest f(x_j) over the sets, for signs and a K of full rank."""
    n = len(y)
    inverse = mp.inverse(K + alpha * mp.eye(n))  # D / alpha
    y = mp.matrix([mp.mpf(float(v)) for v in y])
    found = {j: [] for j in rows}
    whole = (y.T * inverse * y)[0]
    for signs in region.perturbations.apply(np.ones(n)):
        J, P = ([i for i in range(n) if (signs[i] < 0) == flip] for flip in (True, False))
        for j in set(rows) - set(J):  # free, unless the set is empty
            found[j].append(mp.inf if J else -mp.inf)
        if not set(rows) & set(J):
            continue
        # y_i is y in the rows P and anything in J, with y_iᵀD y_i <= yᵀD y.
        D = mp.matrix([[inverse[a, b] for b in J] for a in J])
        across = mp.matrix([sum((inverse[a, b] * y[b] for b in P), mp.mpf(0)) for a in J])
        centre = -mp.lu_solve(D, across)
        y_P = [y[b] for b in P]
        rest = sum(y[a] * inverse[a, b] * y[b] for a in P for b in P) if y_P else mp.mpf(0)
        rho = whole - rest + (across.T * centre)[0] * -1
        for j in set(rows) & set(J):
            at = J.index(j)
            unit = mp.matrix([mp.mpf(int(a == j)) for a in J])
            spread = mp.lu_solve(D, unit)[at]
            # y_i = f + G(y - f) = 2f - y in the rows J.
            found[j].append((y[j] + centre[at] + mp.sqrt(rho * spread)) / 2)
    return [sorted(found[j], reverse=True)[q - 1] for j in rows]


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("kernel", "gamma", "alpha"),
    [
        (*kernel, alpha)
        for k, kernel in enumerate(
            [("rbf", 0.01), ("laplacian", 10.0), ("rbf", 10.0), ("laplacian", 0.01),
             ("rbf", 100.0), ("poly", 1.0)]
        )
        for alpha in (1e-7, 1e-5, 1e-4, 1e-2, 10.0)[k % 2 :: 2]
    ],
)  # fmt: skip
def test_certified_bands_hold_the_exact_bounds(kernel, gamma, alpha):
    rng = np.random.default_rng(int(gamma * 100))
    n = 9
    X = np.round(rng.uniform(0, 3, (n, 2)), 3)
    y = np.round(5 + rng.normal(size=n), 3)
    model = KernelRidge(kernel=kernel, gamma=gamma, alpha=alpha)
    region = ua.confidence_region(model, X, y, m=M, random_state=1)
    q = 14
    band = region.band(X[:3], level=1 - q / M, method="joint")
    with mp.workdps(60):
        K = exact_kernel(kernel, gamma, X)
        for j, exact in enumerate(exact_uppers(region, K, y, mp.mpf(alpha), range(3), q)):
            assert band.upper[j] >= exact
            if band.status is Status.CERTIFIED:
                assert np.isfinite(band.upper[j])
            if alpha >= 1e-6 and kernel != "poly" and gamma >= 10 and mp.isfinite(exact):
                assert float(band.upper[j] - exact) < 1e-4 * (1 + abs(float(exact)))
