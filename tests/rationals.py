"""Statistics of quadratic objectives in exact rationals, without the library."""

from fractions import Fraction

import mpmath
import numpy as np


def rational(values):
    """Floats as the rationals that they are; rationals remain what they are."""
    return [v if isinstance(v, Fraction) else Fraction(float(v)) for v in values]


def solve(A, b):
    """A solution of A x = b, for a system that has one."""
    return solutions(A, [b])[0]


def solutions(A, sides):
    """Solutions of A x = b for several b, for systems that have one."""
    n = len(A)
    M, pivots = [[*row, *values] for row, *values in zip(A, *sides, strict=True)], []
    for j in range(n):
        k = len(pivots)
        found = next((i for i in range(k, n) if M[i][j] != 0), None)
        if found is None:
            continue
        M[k], M[found] = M[found], M[k]
        M[k] = [v / M[k][j] for v in M[k]]
        for i in range(n):
            if i != k and M[i][j] != 0:
                M[i] = [v - M[i][j] * w for v, w in zip(M[i], M[k], strict=True)]
        pivots.append(j)
    found = [[Fraction(0)] * n for _ in sides]
    for k, j in enumerate(pivots):
        for x, value in zip(found, M[k][n:], strict=True):
            x[j] = value
    return found


def column_rank(A):
    """The number of independent columns of a matrix of floats."""
    M, k = [rational(row) for row in A], 0
    for j in range(len(M[0])):
        found = next((i for i in range(k, len(M)) if M[i][j] != 0), None)
        if found is None:
            continue
        M[k], M[found] = M[found], M[k]
        for i in range(k + 1, len(M)):
            if M[i][j] != 0:
                share = M[i][j] / M[k][j]
                M[i] = [v - share * w for v, w in zip(M[i], M[k], strict=True)]
        k += 1
    return k


def dot(x, y):
    return sum(v * w for v, w in zip(x, y, strict=True))


def statistics(Phi, P, y, alpha, a, images):
    """n Z_i = sᵀ H⁺ s with H = ΦᵀΦ + alpha P and s = ΦᵀG_i r - alpha P a."""
    rows, y, a = [rational(row) for row in Phi], rational(y), rational(a)
    columns = list(zip(*rows, strict=True))
    penalty = [[Fraction(alpha) * v for v in rational(row)] for row in P]
    H = [
        [dot(one, two) + penalty[j][k] for k, two in enumerate(columns)]
        for j, one in enumerate(columns)
    ]
    r = [v - dot(row, a) for v, row in zip(y, rows, strict=True)]
    pulled = [dot(row, a) for row in penalty]
    sides = [
        [dot(column, image) - p for column, p in zip(columns, pulled, strict=True)]
        for image in [r, *images(r)]
    ]
    return [dot(s, x) for s, x in zip(sides, solutions(H, sides), strict=True)]


def images(region):
    """The transformations of a region as functions of rational vectors: moved, and flipped."""
    moved = region.perturbations.apply(np.arange(1.0, region.n + 1)).astype(int).tolist()
    return lambda r: [[r[abs(k) - 1] * (1 if k > 0 else -1) for k in row] for row in moved]


def rank(Z, tie_order):
    """1 + the number of statistics before Z_0."""
    return 1 + sum(
        Z[i] < Z[0] or (Z[i] == Z[0] and tie_order[i] < tie_order[0]) for i in range(1, len(Z))
    )


def region_rank(region, alpha, a, K=None):
    """The rank of a candidate of a region of least squares, ridge or kernel ridge.

    K is a kernel matrix without rounding, in place of the one that the package has computed.
    """
    design = region.objective.design
    Phi, P = (design.matrix, design.penalty_matrix()) if K is None else (K, K)
    Z = statistics(Phi, P, region.objective.y, alpha, a, images(region))
    return rank(Z, region.tie_order)


def exponential(x):
    """exp(x) of a rational x <= 0, with an error below 2^-240."""
    with mpmath.workprec(250):
        value = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
        return Fraction(int(mpmath.nint(mpmath.ldexp(value, 240))), 1 << 240)
