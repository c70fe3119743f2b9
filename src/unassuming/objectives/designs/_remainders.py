"""Designs modulo a prime: known to the last digit, or not at all."""

from __future__ import annotations

import numpy as np

from unassuming._modular import Remainders, remainders
from unassuming._typing import Array
from unassuming.kernels import InnerProductKernel, ways
from unassuming.objectives.designs._design import Design
from unassuming.objectives.designs._features import FeatureDesign
from unassuming.objectives.designs._kernel import KernelDesign


def exact_columns(
    design: Design, alpha: float, prime: int, *, signs: bool
) -> tuple[Remainders, Remainders, Remainders | None] | None:
    """Return Φ up to the scale of columns, P as rows and alpha P, if known to the last digit.

    ``alpha`` is nλ. With ``signs`` the rows may be scaled too, since signs commute with that.
    """
    penalised, alpha = alpha != 0, int(remainders(np.array(alpha), prime))
    if isinstance(design, FeatureDesign):
        if design.rounding:
            return None
        held = design.penalised.astype(np.int64)
        Phi, P = remainders(design.matrix, prime), np.diag(held)[held > 0]
        squares: Remainders | None = np.diag(held) * alpha
    elif isinstance(design, KernelDesign) and design.kernel is not None:
        kernel, squares = design.kernel, None
        if kernel.polynomial is not None:
            # Rows of length one are the rows times numbers, with which signs commute.
            if kernel.polynomial.normalised and not signs:
                return None
            core = monomials_modulo(kernel.polynomial, kernel.X, prime)
            rows = np.eye(core.shape[1], dtype=np.int64)
            if not kernel.polynomial.normalised:
                c, factors = kernel.polynomial.c, kernel.polynomial.monomials(kernel.X.shape[1])
                over = remainders(np.array([c[len(m)] for m in factors]), prime).tolist()
                inverse = [pow(x * ways(m), -1, prime) for x, m in zip(over, factors, strict=True)]
                squares = np.diag(np.array(inverse, dtype=np.int64)) * alpha % prime
        elif kernel.strict:  # its range: any values at the distinct inputs
            which = design.distinct[1]
            core = (which[:, None] == np.arange(which.max() + 1)).astype(np.int64)
            rows = np.eye(core.shape[1], dtype=np.int64)
        else:  # the values of a kernel matrix may be rounded, and then its rank is unknown
            return None
        ones = np.ones((design.n, int(design.intercept)), dtype=np.int64)
        Phi = np.hstack([ones, core])
        P = np.hstack([np.zeros((len(rows), ones.shape[1]), dtype=np.int64), rows])
        if squares is not None and design.intercept:
            squares = np.pad(squares, ((1, 0), (1, 0)))
    else:
        return None
    return Phi, P if penalised else P[:0], squares


def monomials_modulo(kernel: InnerProductKernel, X: Array, prime: int) -> Remainders:
    """Return the monomials of X modulo a prime, (N, D): the features up to their weights."""
    own, columns = remainders(X, prime), []
    for factors in kernel.monomials(X.shape[1]):
        column = np.ones(len(X), dtype=np.int64)
        for j in factors:
            column = column * own[:, j] % prime
        columns.append(column)
    return np.column_stack(columns)
