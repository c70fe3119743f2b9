"""A numerically singular Gram matrix, in 77 digits (theory 10).

Python's integers are exact and fast, so a number is kept as an integer in units of 2**-BITS:
the fixed-point arithmetic of 77 digits after the point.
"""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

BITS = 256
WIDE_N = 100
WIDE_X = np.linspace(0, 10, WIDE_N)[:, None]
WIDE_K = rbf_kernel(WIDE_X, gamma=2.0)  # σ = 1/2; its eigenvalues fall below rounding
WIDE_TRUTH = WIDE_X[:, 0] * np.sin(WIDE_X[:, 0])
WIDE_Y = WIDE_TRUTH + np.random.default_rng(1).laplace(scale=0.5, size=WIDE_N)


def fixed(values):
    """Floats in units of 2**-BITS."""

    def one(x):
        numerator, denominator = float(x).as_integer_ratio()
        return (numerator << BITS) // denominator

    return np.frompyfunc(one, 1, 1)(np.asarray(values, dtype=np.float64))


def product(A, B):
    """A matrix product of numbers in units of 2**-BITS."""
    return A.dot(B) >> BITS


def perturbed(region, r):
    """G_i r for signs and permutations, without rounding; shape (n, m - 1)."""
    columns = region.perturbations.apply(np.arange(1.0, WIDE_N + 1)).astype(int)  # ±(row + 1)
    return (r[abs(columns) - 1] * np.sign(columns)).T


def soft(u, a, alpha):
    """The element of least size of u - alpha ∂|a|, per coordinate."""
    clipped = np.maximum(np.minimum(u, alpha), -alpha)
    return np.where(a > 0, u - alpha, np.where(a < 0, u + alpha, u - clipped))
