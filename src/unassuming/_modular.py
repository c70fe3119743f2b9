"""Ranks and null spaces of matrices of doubles in exact arithmetic, modulo primes.

A double is an integer times a power of two, so it has a remainder modulo every odd prime. The rank
of the remainders is never above the rank of the matrix, and it is below only if the prime divides
all minors of that size. What two primes agree on is taken as exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, isqrt, lcm

import numpy as np
from numpy.typing import NDArray

from unassuming._batches import slices
from unassuming._typing import Array

Remainders = NDArray[np.int64]

PRIMES = (2147483629, 2147483587)
"""Primes below 2³¹, so that products of two remainders are exact integers."""


def remainders(X: Array, prime: int) -> Remainders:
    """Return doubles m 2^e modulo a prime."""
    mantissa, exponent = np.frexp(X)
    digits = np.ldexp(mantissa, 53).astype(np.int64) % prime
    low = int(exponent.min(initial=0))
    powers = np.array(
        [pow(2, e - 53, prime) for e in range(low, int(exponent.max(initial=0)) + 1)],
        dtype=np.int64,
    )
    return np.asarray(digits * powers[exponent - low] % prime)


def echelon(M: Remainders, prime: int, *, reduced: bool = True) -> tuple[Remainders, list[int]]:
    """Return an echelon form without its rows of zeros, (r, d), and the pivot columns.

    The reduced form has ones at the pivots, and zeros above and below them.

    Examples
    --------
    >>> echelon(np.array([[1, 2, 3], [2, 4, 6], [0, 0, 2]]), 7)
    (array([[1, 2, 0],
           [0, 0, 1]]), [0, 2])
    """
    M, pivots = M.copy(), list[int]()
    for j in range(M.shape[1]):
        r = len(pivots)
        if r == len(M):
            break
        rows = np.flatnonzero(M[r:, j])
        if not len(rows):
            continue
        if rows[0]:
            M[[r, r + rows[0]]] = M[[r + rows[0], r]]
        M[r, j:] = M[r, j:] * pow(int(M[r, j]), -1, prime) % prime
        others = r + rows[rows > 0]
        if reduced:
            others = np.concatenate([np.flatnonzero(M[:r, j]), others])
        M[others, j:] = (M[others, j:] - M[others, j, None] * M[r, j:]) % prime
        pivots.append(j)
    return M[: len(pivots)], pivots


def rank_modulo(M: Remainders, prime: int) -> int:
    """Return the rank modulo a prime."""
    return len(echelon(M, prime, reduced=False)[1])


_SMALL = 2**20
"""Integers of which ratios are recognised by their remainders."""

_ROWS = 2**14
"""Rows that are reduced at once."""


def row_spaces(parts: Sequence[Array]) -> list[Remainders]:
    """Return a basis (r, d) of the rows of a sum of matrices of doubles (n, d), for each prime.

    Its number of rows is never above the rank, and below only if the prime divides all minors of
    the true size.

    Examples
    --------
    >>> near = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52], [1.0, 1.0]])
    >>> [len(basis) for basis in row_spaces([near])]
    [2, 2]
    >>> [len(basis) for basis in row_spaces([near, -near[:, ::-1]])]
    [1, 1]
    """
    n, d = parts[0].shape
    found = []
    for prime in PRIMES:
        form = np.zeros((0, d), dtype=np.int64)
        for some in slices(n, _ROWS):
            M = np.add.reduce([remainders(part[some], prime) for part in parts]) % prime
            form = echelon(np.vstack([form, few_rows(M, prime)]), prime, reduced=False)[0]
            if len(form) == d:
                break
        found.append(form)
    return found


def few_rows(M: Remainders, prime: int) -> Remainders:
    """Return random combinations of the rows of a tall matrix.

    They have the same null space, but for a chance of about one over the prime.
    """
    count = M.shape[1] + 2
    if len(M) <= count:
        return M
    mix = np.random.default_rng(0).integers(0, 2**31 - 1, size=(count, len(M)))
    return product(mix % prime, M, prime)


def null_space(M: Remainders, prime: int) -> Remainders:
    """Return a basis of the vectors that M (n, d) maps to zero, shape (d, d - r).

    Examples
    --------
    >>> null_space(np.array([[1, 2, 3]]), 7)
    array([[5, 4],
           [1, 0],
           [0, 1]])
    """
    form, pivots = echelon(M, prime)
    rest = np.setdiff1d(np.arange(M.shape[1]), pivots)
    null = np.zeros((M.shape[1], len(rest)), dtype=np.int64)
    null[rest, range(len(rest))] = 1
    null[pivots] = -form[:, rest] % prime
    return null


def rational_basis(bases: Sequence[Remainders]) -> Array | None:
    """Return the basis (d, f) of simple numbers with these remainders, one for each prime.

    The bases have ones at the same places, as those of `null_space`. None if there is none: numbers
    are integers up to 2²⁰ over powers of two, which the product of the primes determines.

    Examples
    --------
    >>> rational_basis([null_space(np.array([[2, 4, 0], [0, 2, 3]]), prime) for prime in PRIMES])
    array([[ 3. ],
           [-1.5],
           [ 1. ]])
    """
    one, two = PRIMES
    whole, back = one * two, one * pow(one, -1, two)
    if len({basis.shape for basis in bases}) > 1:
        return None
    found = np.zeros(bases[0].shape)
    for at in np.argwhere(bases[0] + bases[1]).tolist():
        x, y = (int(basis[tuple(at)]) for basis in bases)
        ratio = _ratio((x + (y - x) * back) % whole, whole)
        if ratio is None:
            return None
        found[tuple(at)] = ratio
    return found


def _ratio(remainder: int, modulus: int) -> float | None:
    """Return p / q with that remainder, if both are small and the ratio is a double."""
    a, b, s, t = modulus, remainder, 0, 1
    while b > _SMALL:  # Euclid's algorithm: b = t remainder, modulo the modulus
        quotient = a // b
        a, b, s, t = b, a - quotient * b, t, s - quotient * t
    if not 0 < abs(t) <= _SMALL or abs(t) & (abs(t) - 1):
        return None
    return b / t


_WHOLE = 2**53
"""Doubles represent all integers up to here."""


def integer_vector(vectors: Sequence[Remainders]) -> Array | None:
    """Return the vector (d,) of integers that is proportional to remainders, one for each prime.

    None if there is none: its entries are integers up to 2⁵³ over those of one entry, with ratios
    of numbers below 2³⁰.

    Examples
    --------
    >>> integer_vector([null_space(np.array([[3, 2, 0]]), prime)[:, 0] for prime in PRIMES])
    array([-2.,  3.,  0.])
    """
    one, two = PRIMES
    whole, back = one * two, one * pow(one, -1, two)
    ratios = [
        fraction((x + (y - x) * back) % whole, whole)
        for x, y in zip(vectors[0].tolist(), vectors[1].tolist(), strict=True)
    ]
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < len(ratios):
        return None
    common = lcm(*(bottom for _, bottom in known))
    found = [top * (common // bottom) for top, bottom in known]
    common = gcd(*found)
    if not common or max(map(abs, found)) > _WHOLE * common:
        return None
    return np.array([x // common for x in found], dtype=np.float64)


def fraction(remainder: int, modulus: int) -> tuple[int, int] | None:
    """Return p and q > 0 with that remainder p / q, if both are at most √(modulus / 2).

    Examples
    --------
    >>> fraction(5 * pow(7, -1, 10007) % 10007, 10007)
    (5, 7)
    """
    most = isqrt(modulus // 2)
    a, b, s, t = modulus, remainder, 0, 1
    while b > most:  # Euclid's algorithm: b = t remainder, modulo the modulus
        quotient = a // b
        a, b, s, t = b, a - quotient * b, t, s - quotient * t
    if not 0 < abs(t) <= most:
        return None
    return (b, t) if t > 0 else (-b, -t)


def product(A: Remainders, B: Remainders, prime: int) -> Remainders:
    """Return A B modulo a prime: no sum of products overflows."""
    high, low = np.divmod(B, 2**16)
    # Sums of 2^14 products of 31 and 16 bits stay below 2^61.
    total = np.zeros((len(A), B.shape[1]), dtype=np.int64)
    for start in range(0, A.shape[1], 2**14):
        some = slice(start, start + 2**14)
        part = (A[:, some] @ high[some]) % prime * 2**16 + (A[:, some] @ low[some]) % prime
        total = (total + part) % prime
    return total


def intersection(A: Remainders, B: Remainders, prime: int) -> Remainders:
    """Return a basis (d, f) of what the columns of two matrices both span."""
    null = null_space(np.hstack([A, B]), prime)[: A.shape[1]]
    return column_basis(product(A, null, prime), prime)


def column_basis(A: Remainders, prime: int) -> Remainders:
    """Return a basis of the columns of a matrix, shape (d, r)."""
    return np.ascontiguousarray(echelon(A.T, prime)[0].T)
