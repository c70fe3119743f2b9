"""Linear algebra in integers and rationals, without rounding."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isqrt, lcm
from operator import mul

Rational = Fraction
Vector = list[Fraction]
Matrix = list[list[Fraction]]
BITS = 120
"""Relative precision, in bits, of the square roots that are rounded."""

Transformation = list[tuple[int, int]]  # (G r)_j = sign_j r_{row_j}, as pairs (row, sign)
Rotation = list[list[int]]  # a dense matrix, times DENOMINATOR
DENOMINATOR = 2**1074
"""Every double is an integer over this."""


def dot(u, v):
    """uᵀv in integers or rationals."""
    return sum(map(mul, u, v))


def product(u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    """uᵀv of rationals, summed as integers."""
    (u_,), c = integers(u)
    (v_,), b = integers(v)
    return Fraction(dot(u_, v_), c * b)


def times(A, v):
    """A v."""
    return [dot(row, v) for row in A]


def transposed(A):
    """Aᵀ, as a list of lists."""
    return [list(column) for column in zip(*A, strict=True)]


def rationals(values: Iterable) -> Vector:
    """Floats, decimal strings, integers or fractions as the rationals that they are."""
    kept = (Fraction, str, int)
    return [Fraction(v if isinstance(v, kept) else float(v)) for v in values]


def integers(*vectors: Sequence[Fraction]) -> tuple[list[list[int]], int]:
    """Vectors times their common denominator, and that denominator."""
    common = lcm(*(x.denominator for v in vectors for x in v))
    return [[x.numerator * (common // x.denominator) for x in v] for v in vectors], common


def independent_rows(A: list[list[int]]) -> list[int]:
    """A largest set p with A_pp nonsingular, for a positive semidefinite matrix of integers."""
    A, previous, chosen = [row[:] for row in A], 1, []
    left = list(range(len(A)))
    while left:
        k = next((j for j in left if A[j][j]), None)
        if k is None:  # a vanishing diagonal of a semidefinite matrix: nothing is left
            if any(A[i][j] for i in left for j in left):
                raise ValueError("the matrix is not positive semidefinite")
            break
        if A[k][k] < 0:
            raise ValueError("the matrix is not positive semidefinite")
        left.remove(k)
        chosen.append(k)
        for i in left:
            for j in left:
                A[i][j] = (A[k][k] * A[i][j] - A[i][k] * A[k][j]) // previous
        previous = A[k][k]
    return sorted(chosen)


def adjugate(A: list[list[int]]) -> tuple[list[list[int]], int] | None:
    """adj(A) and det(A) of a square matrix of integers by Bareiss; None if it is singular."""
    n = len(A)
    B = [[*row, *(int(i == j) for j in range(n))] for i, row in enumerate(A)]
    previous, sign = 1, 1
    for k in range(n):
        pivot = next((i for i in range(k, n) if B[i][k]), None)
        if pivot is None:
            return None
        if pivot != k:
            B[k], B[pivot], sign = B[pivot], B[k], -sign
        top = B[k]
        for i in range(n):
            if i != k:
                row, factor = B[i], B[i][k]
                B[i] = [
                    (top[k] * x - factor * z) // previous for x, z in zip(row, top, strict=True)
                ]
        previous = top[k]
    # Every row now reads det · A⁻¹, up to the sign of the row exchanges.
    det = sign * previous
    return [[sign * x for x in row[n:]] for row in B], det


def nearly_inverse(A: list[list[int]], bits: int = 160) -> tuple[list[list[int]], int] | None:
    """B and c with A⁻¹ ≈ B / c, for a positive definite matrix; None if it seems to be singular.

    The matrix is scaled by powers of two to a diagonal near one and rounded to so many bits.
    """
    if any(row[i] <= 0 for i, row in enumerate(A)):
        return None
    e = [row[i].bit_length() // 2 for i, row in enumerate(A)]
    top = max([*e, bits])
    scaled = [[(x << bits) >> (e[i] + e[j]) for j, x in enumerate(row)] for i, row in enumerate(A)]
    inverse = adjugate(scaled)
    if inverse is None or inverse[1] <= 0:
        return None
    B = [
        [x << (2 * top - e[i] - e[j]) for j, x in enumerate(row)]
        for i, row in enumerate(inverse[0])
    ]
    return B, inverse[1] << (2 * top - bits)


def singular(A: list[list[int]], prime: int = 2**61 - 1) -> bool:
    """Whether a square matrix of integers is singular: if it is not modulo a prime, it is not."""
    B, n = [[x % prime for x in row] for row in A], len(A)
    for k in range(n):
        pivot = next((i for i in range(k, n) if B[i][k]), None)
        if pivot is None:
            return adjugate(A) is None
        B[k], B[pivot] = B[pivot], B[k]
        inverse = pow(B[k][k], -1, prime)
        for i in range(k + 1, n):
            factor = B[i][k] * inverse % prime
            B[i] = [(x - factor * z) % prime for x, z in zip(B[i], B[k], strict=True)]
    return False


def null_space(A: list[list[int]]) -> list[Vector]:
    """A basis of the solutions of Av = 0."""
    rows, columns, pivots = [rationals(row) for row in A], len(A[0]), []
    for k in range(columns):
        top = len(pivots)
        found = next((i for i in range(top, len(rows)) if rows[i][k]), None)
        if found is None:
            continue
        rows[top], rows[found] = rows[found], rows[top]
        rows[top] = [x / rows[top][k] for x in rows[top]]
        for i in range(len(rows)):
            if i != top and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [x - factor * z for x, z in zip(rows[i], rows[top], strict=True)]
        pivots.append(k)
    basis = []
    for k in sorted(set(range(columns)) - set(pivots)):
        v = [Fraction(0)] * columns
        v[k] = Fraction(1)
        for i, j in enumerate(pivots):
            v[j] = -rows[i][k]
        basis.append(v)
    return basis


def null_vector(A: list[list[int]]) -> Vector | None:
    """A vector v ≠ 0 with Av = 0, or None."""
    return next(iter(null_space(A)), None)


def root_below(x: Fraction, bits: int = BITS) -> Fraction:
    """A rational at most √x, within a relative 2^-bits of it."""
    return Fraction(*root_of(x.numerator, x.denominator, bits)) if x > 0 else Fraction(0)


def root_of(numerator: int, denominator: int, bits: int = BITS) -> tuple[int, int]:
    """√(numerator / denominator) from below, as an integer over a power of two."""
    shift = max(0, 2 * bits - (numerator.bit_length() - denominator.bit_length()))
    shift += shift % 2
    return isqrt((numerator << shift) // denominator), 1 << (shift // 2)


def quotient_below(numerator: int, denominator: int, bits: int = BITS) -> Fraction:
    """numerator / denominator >= 0 from below, as a binary number of about that many bits."""
    shift = max(0, bits - (numerator.bit_length() - denominator.bit_length()))
    return Fraction((numerator << shift) // denominator, 1 << shift)


def shortened(x: int, bits: int = BITS) -> int:
    """An integer with all but its leading bits set to zero."""
    drop = max(0, x.bit_length() - bits)
    return (x >> drop) << drop
