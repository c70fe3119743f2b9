"""Statistics of quadratic objectives in exact rationals, without the library."""

from fractions import Fraction

import numpy as np


def rational(values):
    """Floats as the rationals that they are."""
    return [Fraction(float(v)) for v in values]


def solve(A, b):
    """A solution of A x = b, for a system that has one."""
    M, pivots = [[*row, v] for row, v in zip(A, b, strict=True)], []
    for j in range(len(b)):
        k = len(pivots)
        found = next((i for i in range(k, len(M)) if M[i][j] != 0), None)
        if found is None:
            continue
        M[k], M[found] = M[found], M[k]
        M[k] = [v / M[k][j] for v in M[k]]
        for i in range(len(M)):
            if i != k and M[i][j] != 0:
                M[i] = [v - M[i][j] * w for v, w in zip(M[i], M[k], strict=True)]
        pivots.append(j)
    x = [Fraction(0)] * len(b)
    for k, j in enumerate(pivots):
        x[j] = M[k][-1]
    return x


def dot(x, y):
    return sum(v * w for v, w in zip(x, y, strict=True))


def statistics(Phi, P, y, alpha, a, images):
    """n Z_i = sᵀ H⁺ s with H = ΦᵀΦ + alpha P and s = ΦᵀG_i r - alpha P a."""
    rows, y, a = [rational(row) for row in Phi], rational(y), rational(a)
    columns = list(zip(*rows, strict=True))
    penalty = [[Fraction(alpha) * Fraction(float(v)) for v in row] for row in P]
    H = [
        [dot(one, two) + penalty[j][k] for k, two in enumerate(columns)]
        for j, one in enumerate(columns)
    ]
    r = [v - dot(row, a) for v, row in zip(y, rows, strict=True)]
    pulled = [dot(row, a) for row in penalty]
    Z = []
    for image in [r, *images(r)]:
        s = [dot(column, image) - p for column, p in zip(columns, pulled, strict=True)]
        Z.append(dot(s, solve(H, s)))
    return Z


def images(region):
    """The transformations of a region as functions of rational vectors: moved, and flipped."""
    moved = region.perturbations.apply(np.arange(1.0, region.n + 1)).astype(int).tolist()
    return lambda r: [[r[abs(k) - 1] * (1 if k > 0 else -1) for k in row] for row in moved]


def rank(Z, tie_order):
    """1 + the number of statistics before Z_0."""
    return 1 + sum(
        Z[i] < Z[0] or (Z[i] == Z[0] and tie_order[i] < tie_order[0]) for i in range(1, len(Z))
    )


def region_rank(region, alpha, a):
    """The rank of a candidate of a region of least squares, ridge or kernel ridge."""
    design = region.objective.design
    Z = statistics(
        design.matrix, design.penalty_matrix(), region.objective.y, alpha, a, images(region)
    )
    return rank(Z, region.tie_order)
