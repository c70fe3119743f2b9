"""The plain, slow version of the cells (docs/theory.md 11.2): the oracle of the tests."""

from fractions import Fraction
from itertools import product

import numpy as np
from scipy.stats import binom


def rational(array):
    """The entries of an array as exact fractions."""
    if np.ndim(array) == 0:
        return Fraction(array.item() if hasattr(array, "item") else array)
    return [rational(part) for part in array]


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def project_out(x, columns):
    """The residual of x after least squares on some columns, by Gram-Schmidt in fractions."""
    basis = []
    for column in columns:
        u = list(column)
        for b in basis:
            t = dot(u, b) / dot(b, b)
            u = [p - t * q for p, q in zip(u, b, strict=True)]
        if any(u):
            basis.append(u)
    for b in basis:
        t = dot(x, b) / dot(b, b)
        x = [p - t * q for p, q in zip(x, b, strict=True)]
    return x


def exact_weights(Phi, c, labels):
    """For each cell its rows, x̃_b and v_b, as fractions; cells that do not identify τ left out."""
    Phi, c = rational(Phi), rational(c)
    pivot = next(k for k, entry in enumerate(c) if entry)
    d = len(c)
    # A basis of the complement of c: e_k - (c_k / c_pivot) e_pivot.
    nuisance = [
        [Fraction(j == k) - (c[k] / c[pivot] if j == pivot else 0) for j in range(d)]
        for k in range(d)
        if k != pivot
    ]
    found = []
    for b in range(max(labels) + 1):
        rows = [i for i, label in enumerate(labels) if label == b]
        x = [dot(Phi[i], c) / dot(c, c) for i in rows]
        Z = [[dot(Phi[i], u) for i in rows] for u in nuisance]
        residual = project_out(x, Z)
        if any(residual):
            found.append((rows, residual, dot(residual, residual)))
    return found


def within_binomial_band(count, runs, p):
    """Whether a count lies in the two-sided 1e-6 band of its binomial law."""
    low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], runs, p)
    return low <= count <= high


def sign_patterns(n):
    return np.array(list(product((1.0, -1.0), repeat=n)))
