"""Products and sums of doubles with their rounding errors: twice the digits where terms cancel."""

from __future__ import annotations

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, gamma, length, powers_of_two
from unassuming._typing import Array

_SPLIT = 2.0**27 + 1
_BATCH_BYTES = 2**20
_RESULTS, _PRODUCTS = 32, 2**13
"""Up to so many results for each of their terms, and products, the number of steps counts most."""
_FINE = 2e-13
"""An error up to which the plain product serves."""
_MANY = 2**16
"""Products for which twice the digits take noticeable time."""
_SLICES = 5
_BLOCK = 64
"""Rows whose products are added in one sum."""


def accurate_product(A: Array, B: Array) -> Array:
    """Return A B as if computed with twice the digits, (n, d) and (d, k) -> (n, k).

    The error is at most EPS times the result, plus (d EPS)² |A||B| (Ogita, Rump and Oishi).

    Examples
    --------
    >>> A, B = np.array([[1.0, 1e17, -1e17]]), np.array([[3.0], [1.0], [1.0]])
    >>> accurate_product(A, B)
    array([[3.]])
    """
    results, terms = len(A) * B.shape[1], len(B)
    if results <= _RESULTS * terms and results * terms <= _PRODUCTS:
        return _small_product(A, B)
    found = np.empty((len(A), B.shape[1]))
    B_high, B_low = _halves(B)
    for some in slices(len(A), rows_that_fit(_BATCH_BYTES, max(1, B.shape[1]))):
        high, low = _halves(A[some])
        total, rest = np.zeros((2, *found[some].shape))
        for j in range(A.shape[1]):
            a, b = A[some, j, None], B[j]
            product = a * b
            one, two = high[:, j, None], low[:, j, None]
            most = (product - one * B_high[j]) - two * B_high[j]
            off = two * B_low[j] - (most - one * B_low[j])
            total, lost = exact_sum(total, product)
            rest += lost + off
        found[some] = total + rest
    return found


def sliced_product(A: Array, B: Array, *more: Array) -> tuple[Array, Array]:
    """Return A B plus ``more`` (n, k) with about twice the digits, and bounds on the errors.

    Both factors are cut into slices of few bits, so that products of slices are exact sums, whoever
    computes them (Ozaki, Ogita, Oishi and Rump). What is left of a row of A or of a column of B is
    below its largest entry by the bits of all slices.

    Examples
    --------
    >>> A, B = np.array([[1.0, 1e17, -1e17]]), np.array([[3.0], [1.0], [1.0]])
    >>> sliced_product(A, B, np.array([[-3.0]]), np.array([[1e-9]]))[0]
    array([[1.e-09]])
    """
    terms = max(2, len(B))
    bits = (53 - int(np.ceil(np.log2(terms)))) // 2 - 1
    right = _slices(B, bits, axis=0)
    total, rest = np.zeros((2, len(A), B.shape[1]))
    for term in more:
        total, lost = exact_sum(total, term)
        rest += lost
    left = _slices(A, bits, axis=1)
    for order in range(_SLICES):
        for i in range(order + 1):
            total, lost = exact_sum(total, left[i] @ right[order - i])
            rest += lost
    found = total + rest
    rows, columns = np.abs(A).max(axis=1, initial=0.0), np.abs(B).max(axis=0, initial=0.0)
    size = terms * rows[:, None] * columns
    # Units are at most twice the largest entries. The errors of sums are summed with rounding, too.
    cut = (_SLICES + 1) * 2.0 ** (3 - bits * _SLICES) * size
    count = _SLICES * (_SLICES + 1) / 2 + len(more)
    largest = size + sum((np.abs(term) for term in more), np.zeros_like(size))
    return found, EPS * np.abs(found) + cut + (count * EPS) ** 2 * largest


def _slices(A: Array, bits: int, axis: int) -> list[Array]:
    """Return matrices with a sum near A, whose entries are multiples of one unit in each line."""
    largest = np.abs(A).max(axis=axis, initial=0.0, keepdims=True)
    unit, rest, found = powers_of_two(largest), A, []
    for _ in range(_SLICES):
        big = unit * 2.0 ** (53 - bits)
        found.append((rest + big) - big)
        rest, unit = rest - found[-1], unit * 2.0**-bits
    return found


def _small_product(A: Array, B: Array) -> Array:
    """Multiply in fewer steps: compute all products first, then add them one after the other."""
    product, off = exact_product(A.T[:, :, None], B[:, None, :])  # (d, n, k)
    start = np.zeros((1, *product.shape[1:]))
    totals = np.add.accumulate(np.concatenate([start, product]))
    before, total = totals[:-1], totals[1:]
    of_product = total - before
    off += (before - (total - of_product)) + (product - of_product)
    return np.asarray(totals[-1] + np.add.accumulate(np.concatenate([start, off]))[-1])


def exact_product(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x y, rounded, and the rounding error (Dekker)."""
    product = x * y
    (x1, x2), (y1, y2) = _halves(x), _halves(y)
    return product, x2 * y2 - (((product - x1 * y1) - x2 * y1) - x1 * y2)


def exact_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x + y, rounded, and the rounding error (Knuth)."""
    total = x + y
    of_y = total - x
    return total, (x - (total - of_y)) + (y - of_y)


def exact_difference(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x - y, rounded, and the rounding error."""
    return exact_sum(x, -y)


def _halves(x: Array) -> tuple[Array, Array]:
    """Return x as the sum of two numbers of 26 bits (Veltkamp)."""
    big = _SPLIT * x
    high = big - (big - x)
    return high, x - high


def image(
    rows: Array, back: Array, sizes: Array | None = None, root: Array | None = None
) -> tuple[Array, Array]:
    """Return diag(root) rows @ back and bounds on its rounding errors, entry by entry.

    The product has twice the digits if the plain one would lose too many. ``sizes`` bounds |rows|
    from above, with a margin for errors of the rows themselves. The weights of the rows come last:
    rounding weighted rows would change how nearly dependent the columns are.
    """
    d = rows.shape[1]
    terms = (np.abs(rows) if sizes is None else sizes) @ np.abs(back)
    # The rounding of d products and sums, of the terms themselves, and of the rows.
    error = (gamma(d + 1) + (0.0 if sizes is None else EPS)) * terms
    found = rows @ back
    many = rows.size * back.shape[1] > _MANY
    fine = many and bool((length(error.T) <= _FINE * length(found.T)).all())
    if sizes is None and not fine:
        found = accurate_product(rows, back)
        error = EPS * np.abs(found) + (d * EPS) ** 2 * terms
    if root is None:
        return found, error
    found *= root[:, None]
    return found, (error * root[:, None] + EPS * np.abs(found)) * (1 + 4 * EPS)


@np.errstate(over="ignore", invalid="ignore")  # what is not finite decides nothing
def inner_products(columns: Array) -> tuple[Array, float]:
    """Return MᵀM for columns M (n, r), and a bound of the length of its error.

    Blocks of rows are added in pairs, so that few roundings add up.

    Examples
    --------
    >>> gram, error = inner_products(np.ones((1000, 1)))
    >>> float(gram[0, 0]), bool(error < 1e-10)
    (1000.0, True)
    """
    n, r = columns.shape
    blocks, levels = -(-n // _BLOCK), 0
    square = float(np.linalg.norm(columns)) ** 2
    if blocks <= 1:
        return columns.T @ columns, gamma(n + 1) * square
    padded = np.zeros((blocks * _BLOCK, r))
    padded[:n] = columns
    padded = padded.reshape(blocks, _BLOCK, r)
    parts = np.swapaxes(padded, 1, 2) @ padded
    while len(parts) > 1:
        half, levels = len(parts) // 2, levels + 1
        rest = parts[2 * half :]
        parts = np.concatenate([parts[:half] + parts[half : 2 * half], rest])
    return parts[0], gamma(_BLOCK + levels + 2) * square
