"""Halves: where cells identify too little, and for robust estimates (docs/theory.md 9.4).

A random sign vector splits the rows in two. The estimates of τ from the two halves have opposite
errors if and only if τ lies between them. A half that does not identify τ does not restrict it.
"""

from __future__ import annotations

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import SEEN, column_units, rank_cut
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells._estimates import LARGEST_ERROR, rounding_errors
from unassuming.cells._factors import KNOWN
from unassuming.cells._robust import Fit, robust_coefficients

_BATCH = 2**25


def random_halves(units: int, size: int, seed: int = 0) -> BoolArray:
    """Return which units change their sign, for ``size`` random sign vectors, shape (size, units).

    Examples
    --------
    >>> random_halves(4, 10).shape
    (10, 4)
    """
    return np.asarray(np.random.default_rng([seed, 114]).integers(0, 2, size=(size, units)) == 1)


def half_spans(
    Phi: Array,
    y: Array,
    functionals: Array,
    flipped: BoolArray,
    clusters: IntArray | None = None,
    fit: Fit | None = None,
) -> tuple[Array, Array]:
    """Return the intervals between the estimates of two halves, lo and hi of shape (N, m - 1).

    Parameters
    ----------
    Phi : array of shape (n, d)
    y : array of shape (n,)
    functionals : array of shape (N, d)
    flipped : boolean array of shape (m - 1, U)
        Which units (rows, or clusters) change their sign.
    clusters : integer array of shape (n,), optional
        The cluster of each row, from 0.
    fit : callable, optional
        A robust fit in place of least squares, as for `robust_coefficients`.

    Examples
    --------
    >>> flipped = np.array([[True, True, False, False], [True, True, True, True]])
    >>> y = np.array([1.0, 2.0, 5.0, 6.0])
    >>> lo, hi = half_spans(np.ones((4, 1)), y, np.ones((1, 1)), flipped)
    >>> lo.round(6), hi.round(6)
    (array([[ 1.5, -inf]]), array([[5.5,  inf]]))
    """
    rows = flipped if clusters is None else flipped[:, clusters]
    shape = (len(flipped), len(functionals))
    lo, hi = np.full(shape, -np.inf), np.full(shape, np.inf)
    n, d = Phi.shape
    for part in slices(len(rows), rows_that_fit(_BATCH, n * (d + 1))):
        halves = [_least_squares(Phi, y, functionals, half) for half in (rows[part], ~rows[part])]
        known = halves[0][1] & halves[1][1]
        if fit is not None:
            halves = [
                (_robust(Phi, y, functionals, half, fit), known, 0 * error)
                for half, (_, _, error) in zip((rows[part], ~rows[part]), halves, strict=True)
            ]
        low, high = (
            reduce(np.asarray([beta + side * error for beta, _, error in halves]), axis=0)
            for reduce, side in ((np.min, -1), (np.max, 1))
        )
        lo[part], hi[part] = np.where(known, low, -np.inf), np.where(known, high, np.inf)
    return lo.T, hi.T


def _least_squares(
    Phi: Array, y: Array, functionals: Array, chosen: BoolArray
) -> tuple[Array, BoolArray, Array]:
    """Return estimates from chosen rows (B, n), which are identified, and rounding errors.

    Each is of shape (B, N).
    """
    n, d = Phi.shape
    scale = column_units(Phi)
    c, stacked = functionals / scale, np.column_stack([Phi / scale, y])
    R = np.zeros((len(chosen), min(n, d + 1), d + 1))
    for one, rows in zip(R, chosen, strict=True):
        found = np.linalg.qr(stacked[rows], mode="r")
        one[: len(found)] = found
    U, values, Vt = np.linalg.svd(R[..., :d], full_matrices=False)
    cut = rank_cut((n, d))
    kept = values > KNOWN * np.sqrt(d) * cut * values[:, :1]
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
    z = np.einsum("bij,bi->bj", U, R[..., d])
    inside = np.where(kept[:, None, :], c @ Vt.swapaxes(1, 2), 0.0)  # (B, N, r)
    a = inside * inverse[:, None, :]
    beta = np.einsum("bnr,br->bn", a, z)
    g = (a * inverse[:, None, :]) @ Vt
    length = np.linalg.norm(a, axis=2)
    columns = np.linalg.norm(R[..., :d], axis=1)
    weight = np.einsum("bnd,bd->bn", np.abs(g), columns)  # the condition number times the length
    theta = np.abs(np.einsum("br,brd->bd", z * inverse, Vt))
    fitted = np.linalg.norm(R[..., d], axis=1) + np.einsum("bd,bd->b", columns, theta)
    whole, own = (np.linalg.norm(part, axis=1) for part in (R[..., d], np.where(kept, z, 0.0)))
    rest = np.sqrt(np.maximum(whole**2 - own**2, 0.0) + cut * whole**2)
    condition = columns.max(axis=1, initial=0.0) * inverse.max(axis=1, initial=0.0)
    error, sure = rounding_errors(
        condition[:, None], d, length, weight, cut, rest[:, None], fitted[:, None]
    )
    left = np.linalg.norm(c - inside @ Vt, axis=2)
    known = left <= SEEN * np.linalg.norm(c, axis=1)
    known &= (length > 0) & (sure | (cut * weight < LARGEST_ERROR * length))
    return beta, known, error


def _robust(Phi: Array, y: Array, functionals: Array, chosen: BoolArray, fit: Fit) -> Array:
    """Return robust estimates from chosen rows, shape (B, N); zero without rows."""
    found = [
        robust_coefficients(Phi[rows], y[rows], fit) if rows.any() else np.zeros(Phi.shape[1])
        for rows in chosen
    ]
    return np.asarray(np.array(found) @ functionals.T)
