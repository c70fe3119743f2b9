"""Kernel matrices without rounding."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from unassuming._exact import Exact
from unassuming._typing import Array
from unassuming.kernels._training import TrainingKernel

_BITS = 256  # of exponentials
_DIGITS = 100


def exact_gram(kernel: TrainingKernel) -> tuple[Exact, Array] | None:
    """Return the kernel matrix at the training inputs.

    Also return how much its entries may change, in units of rounding, if the inputs and the
    parameters of the kernel are rounded. None if the kernel is known by its values only.

    Examples
    --------
    >>> kernel = TrainingKernel(None, np.array([[0.5], [3.0]]), precomputed=False, strict=False)
    >>> exact_gram(kernel) is None
    True
    """
    if kernel.precomputed:
        return None
    if kernel.gaussian is not None:
        return _gaussian(kernel.X, kernel.gaussian)
    polynomial = kernel.polynomial
    if polynomial is None or polynomial.normalised:
        return None
    X, c = Exact.of(kernel.X), polynomial.c
    inner, size = X @ X.T, np.abs(kernel.X) @ np.abs(kernel.X).T
    weights, found, error = Exact.of(np.array(c)), inner - inner, np.zeros_like(size)
    for k in range(polynomial.degree, -1, -1):  # Horner's rule
        found = found * inner + weights[k]
        error = error * size + c[k] * (2 * k + (0 if c == (0.0, 1.0) else polynomial.degree))
    return found, error


def _gaussian(X: Array, gamma: float) -> tuple[Exact, Array]:
    """Return exp(-gamma ‖x - z‖²), rounded to 256 bits."""
    numbers = Exact.of(X)
    apart = numbers.number[:, None, :] - numbers.number
    squares, shift = (apart * apart).sum(axis=2), 2 * numbers.shift
    top, bottom = gamma.as_integer_ratio()
    found = np.empty_like(squares)
    with localcontext() as context:
        context.prec = _DIGITS
        unit = Decimal(2) ** _BITS
        for at, square in np.ndenumerate(squares):
            exponent = Decimal(-square * top) / (Decimal(bottom) * Decimal(2) ** shift)
            found[at] = int((exponent.exp() * unit).to_integral_value())
    difference = np.abs(X[:, None, :] - X)
    moved = 2 * (difference * (np.abs(X)[:, None, :] + np.abs(X))).sum(axis=2)
    square = (difference**2).sum(axis=2)
    return Exact(found, _BITS), gamma * (moved + square) * np.exp(-gamma * square)
