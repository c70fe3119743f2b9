"""Least squares in each cell: v_b and β_b of many numbers at once (docs/theory.md 9.2).

With x̃_b the residual of x_b on the nuisance columns, v_b = ‖x̃_b‖² and β_b = x̃_bᵀy_b / v_b. For a
functional c in the row space of Φ_b these are v_b = 1 / cᵀ(Φ_bᵀΦ_b)⁺c and β_b = cᵀθ_b, with θ_b the
least-squares fit in the cell: one factorisation of the cell serves all functionals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, exceeds
from unassuming._typing import Array, BoolArray
from unassuming.cells._factors import Factor

_BATCH = 2**25

LARGEST_ERROR = 1e-3
"""A cell whose columns rounding may change does not identify a number whose v_b it changes by more
than this share."""
SURE = 0.3
"""The columns of a cell are known if rounding changes them by less than this share."""


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

    def without_last(self) -> Estimates:
        """Return the estimates in all cells but the last."""
        beta, v, error = (part[:, :-1] for part in (self.beta, self.v, self.error))
        return Estimates(beta, v, error, self.rest[:-1], self.freedom[:-1])


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
    N, K = len(functionals), len(factors)
    beta, v, error = np.zeros((3, N, K))
    ranks = np.array([len(factor.T) for factor in factors], dtype=np.intp)
    for r in np.unique(ranks[ranks > 0]).tolist():
        some = np.flatnonzero(ranks == r)
        for part in slices(len(some), rows_that_fit(_BATCH, N * functionals.shape[1])):
            which = some[part]
            found = _in_cells([factors[b] for b in which], functionals)
            beta[:, which], v[:, which], error[:, which] = found
    rest = np.array([factor.rest for factor in factors])
    freedom = np.array([float(factor.rows - len(factor.T)) for factor in factors])
    return Estimates(beta, v, error, rest, freedom)


def _in_cells(factors: Sequence[Factor], functionals: Array) -> tuple[Array, Array, Array]:
    """Return β_b, v_b and the rounding errors of β_b, shape (N, k), in k cells of the same rank."""
    T, z = (np.stack([getattr(f, name) for f in factors]) for name in ("T", "z"))
    unit, length, rest = (
        np.array([getattr(f, name) for f in factors])[:, None]
        for name in ("unit", "length", "rest")
    )
    # In the coordinates of T, shape (k, N, d), and offsets, shape (k, N).
    c, offset = map(np.stack, zip(*(f.coordinates(functionals) for f in factors), strict=True))
    Q, L = np.linalg.qr(T.swapaxes(1, 2))  # T = LᵀQᵀ
    inside = c @ Q
    a = np.linalg.solve(L, inside.swapaxes(1, 2))  # Tᵀa = c: cᵀθ = aᵀz, shape (k, r, N)
    # (TᵀT)⁺c of the functionals, and last θ, shape (k, d, N + 1)
    solved = Q @ np.linalg.solve(L.swapaxes(1, 2), np.concatenate([a, z[:, :, None]], axis=2))
    size = np.linalg.norm(a, axis=1)  # (k, N)
    columns = np.linalg.norm(T, axis=1)
    terms = np.einsum("kd,kdn->kn", columns, np.abs(solved))
    with np.errstate(divide="ignore", invalid="ignore"):
        unscaled = T / np.where(columns > 0, columns, 1.0)[:, None, :]
        whole = 1 / np.linalg.svd(unscaled, compute_uv=False).min(axis=1)[:, None]
        fitted, own = length + terms[:, -1:], terms[:, :-1]
        error, sure = rounding_errors(whole, T.shape[2], size, own, unit, rest, fitted)
        # The condition number of the functional: how much relative errors of the columns count.
        condition = own / size
        v = size**-2.0
    known = sure | (unit * condition < LARGEST_ERROR)
    known &= ~exceeds(c - inside @ Q.swapaxes(1, 2), c) & np.isfinite(v) & (v > 0)
    beta = np.einsum("krn,kr->kn", a, z) + offset
    error = error + 2 * EPS * np.abs(offset)
    beta, v, error = (np.where(known, part, 0.0).T for part in (beta, v, error))
    return beta, v, error


def rounding_errors(
    condition: Array, d: int, size: Array, terms: Array, unit: Array | float, rest: Array, y: Array
) -> tuple[Array, BoolArray]:
    """Bound the rounding errors of least-squares estimates of N numbers in k cells, (k, N).

    The second result (k, 1) says in which cells the columns are known well enough.

    If the columns change by Δ and G' is their new Gram matrix, then

        cᵀ(θ' - θ) = (G'⁻¹c)ᵀΔᵀ(y - Φθ) - (Φ'G'⁻¹c)ᵀΔθ.

    So the ``terms`` of G⁻¹c in units of the columns (k, N) multiply the residuals, of length
    ``rest``, and only the length of ΦG⁻¹c, its ``size`` (k, N), multiplies θ: a column that nearly
    repeats another one has large coefficients, which do no harm to the others. With the condition κ
    of the d columns in these units (k, 1), the terms of G⁻¹c change by at most 2dκ² times ``unit``
    and ``size``, to first order. ``y`` (k, 1) bounds the lengths of outputs and of the terms of Φθ.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        inverse = terms + 2 * d * unit * condition**2 * size
        error = 2 * unit * (inverse * (rest + unit * y) + size * y)
        return error, np.sqrt(d) * unit * condition < SURE
