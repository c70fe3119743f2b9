"""Least squares in each cell: v_b and β_b of many numbers at once (docs/theory.md 9.2).

With x̃_b the residual of x_b on the nuisance columns, v_b = ‖x̃_b‖² and β_b = x̃_bᵀy_b / v_b. For a
functional c in the row space of Φ_b these are v_b = 1 / cᵀ(Φ_bᵀΦ_b)⁺c and β_b = cᵀθ_b, with θ_b the
least-squares fit in the cell: one factorisation of the cell serves all functionals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from unassuming._rounding import exceeds
from unassuming._typing import Array
from unassuming.cells._factors import Factor

_LARGEST_ERROR = 1e-3
"""A cell does not identify a number if rounding may change v_b by more than this share."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of N numbers in K cells.

    Attributes
    ----------
    beta : array of shape (N, K)
        β_b; 0 where the cell does not identify the number.
    v : array of shape (N, K)
        v_b, the information about the number in the cell; 0 where it is not identified.
    error : array of shape (N, K)
        Bounds on the rounding errors of ``beta``.
    rest : array of shape (K,)
        Norm of the residuals of each cell.
    freedom : array of shape (K,)
        Rows of the cell minus the rank of its design.
    """

    beta: Array
    v: Array
    error: Array
    rest: Array
    freedom: Array


def estimates(factors: Sequence[Factor], functionals: Array) -> Estimates:
    """Return the estimates of N linear functionals of the coefficients in each cell.

    Parameters
    ----------
    factors : sequence of K Factor
        One for each cell.
    functionals : array of shape (N, d)
        The numbers cᵀθ, one c a row.

    Examples
    --------
    >>> from unassuming.cells import factors_of_rows
    >>> Phi = np.column_stack([np.ones(6), [0.0, 1.0, 2.0, 0.0, 2.0, 4.0]])
    >>> y = np.array([0.0, 1.0, 2.0, 1.0, 2.0, 3.0])
    >>> found = estimates(factors_of_rows(Phi, y, np.array([0, 0, 0, 1, 1, 1]), 2), np.eye(2)[1:])
    >>> found.beta.round(6), found.v.round(6)
    (array([[1. , 0.5]]), array([[2., 8.]]))
    """
    cells = [_in_cell(factor, functionals) for factor in factors]
    beta, v, error = (np.column_stack(part) for part in zip(*cells, strict=True))
    rest = np.array([factor.rest for factor in factors])
    freedom = np.array([float(factor.rows - len(factor.T)) for factor in factors])
    return Estimates(beta, v, error, rest, freedom)


def _in_cell(factor: Factor, functionals: Array) -> tuple[Array, Array, Array]:
    """Return β_b, v_b and the rounding errors of β_b of all functionals in one cell."""
    N = len(functionals)
    if not len(factor.T):
        return np.zeros(N), np.zeros(N), np.zeros(N)
    c, offset = factor.coordinates(functionals)
    Q, L = qr(factor.T.T, mode="economic", check_finite=False)  # T = LᵀQᵀ
    inside = c @ Q
    a = solve_triangular(L, inside.T, check_finite=False)  # Tᵀa = c: cᵀθ = aᵀz
    g = Q @ solve_triangular(L, a, trans="T", check_finite=False)  # (TᵀT)⁺c
    length = np.linalg.norm(a, axis=0)
    columns = np.linalg.norm(factor.T, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The condition number of the functional: how much relative errors of the columns count.
        condition = columns @ np.abs(g) / length
        v = length**-2.0
    unit = factor.unit * condition if factor.squared else factor.unit
    known = ~exceeds(c - inside @ Q.T, c) & (unit * condition < _LARGEST_ERROR)
    known &= np.isfinite(v) & (v > 0)
    theta = Q @ solve_triangular(L, factor.z, trans="T", check_finite=False)
    fitted = factor.length + float(columns @ np.abs(theta))
    error = 2 * unit * condition * length * fitted  # of β_b, and of v_b where it weighs β_b
    beta = a.T @ factor.z + offset
    return np.where(known, beta, 0.0), np.where(known, v, 0.0), np.where(known, error, 0.0)
