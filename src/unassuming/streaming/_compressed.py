"""A few rows in place of many: the same inner products, and so the same region.

A quadratic region depends on the rows only through T_i = ΦᵀG_iΦ and u_i = ΦᵀG_i y (docs/theory.md
4.5). So other rows and transformations with the same inner products give the same region. The new
rows are coordinates in an orthonormal basis of the range of Φ, one more for the residual, and as
many again for the part that the transformations move out of that space.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import svd

from unassuming._errors import NotAvailable
from unassuming._modular import Remainders
from unassuming._numerics import factor
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.estimates import BLUR, CellSums, Coordinates, KeptCells
from unassuming.noise import Noise, Perturbations
from unassuming.objectives import FeatureDesign, Quadratic, Score
from unassuming.streaming._cells import RowCells
from unassuming.streaming._errors import Errors, sizes_between
from unassuming.streaming._known import rounded, span_of
from unassuming.streaming._score import SumErrors, SumScore
from unassuming.streaming._sums import Part, between

_LARGEST_ERROR = 1e-3
"""The largest relative error in a direction that rounded means may cause."""

_ROUNDED = 1e-7
"""Eigenvalues of sums in a cell, of one in all rows, below this are rounding."""


class CompressedNoise(Noise):
    """Transformations of compressed rows: (size, 2h, h), from the first half to both halves."""

    def draw(self, n: int, size: int, rng: np.random.Generator) -> Any:
        """Raise: the sums of a stream determine these transformations."""
        raise NotAvailable("Transformations of compressed rows come from the sums of a stream.")

    def apply(self, drawn: Array, residuals: Array, fitted: Array | None) -> Array:
        """Transform vectors (..., 2h) whose second half is zero; returns (..., size, 2h)."""
        size, n, half = drawn.shape
        vectors = residuals[..., :half].reshape(-1, half)
        moved = vectors @ drawn.reshape(-1, half).T
        return moved.reshape(*residuals.shape[:-1], size, n)

    @property
    def orthogonal(self) -> bool:
        """True, for vectors whose second half is zero."""
        return True


def uncompressed(
    Z: Array, weight: Array, alpha: float, *, intercept: bool, names: list[str]
) -> Quadratic:
    """Return the objective for few rows Z = [Φ, y] with their weights, which are not compressed.

    With few rows statistics often tie, and sums would blur the ties by rounding.
    """
    n = len(Z)
    design = FeatureDesign.of_columns(Z[:, :-1], intercept=intercept, names=names, rounding=0.0)
    return Quadratic(design, Z[:, -1], weight, alpha / n)


def compress(
    whole: Part,
    reversed: BoolArray,
    n: int,
    alpha: float,
    *,
    intercept: bool,
    names: list[str],
    cells: RowCells,
    null: tuple[Remainders, ...] | None = None,
) -> tuple[Quadratic, Perturbations, Score, KeptCells | None]:
    """Return the objective, the transformations and the statistics in compressed rows, and cells.

    ``whole`` has the triangle R of [Φ, y] = QR, (d + 1, d + 1), and Qᵀ(G_i - I)Q for each i,
    (m - 1, d + 1, d + 1); ``reversed`` says which G_i are -I; n is the number of rows, and alpha
    is nλ. ``null`` are the null vectors of Φ modulo primes, in exact arithmetic; None if dependence
    up to rounding counts as such.
    """
    R, moved, d = whole.basis, whole.moved, len(whole.basis) - 1
    unit = 16 * EPS * np.sqrt(d)  # what counts as rounding, relative to the lengths of columns
    rank = d if null is None else d - min(one.shape[1] for one in null)
    basis, phi = _range(R[:, :d], unit, rank, intercept=intercept)
    y_q, residual = basis.T @ R[:, d], R[:, d].copy()
    for _ in range(2):  # twice, for rounding
        residual -= basis @ (basis.T @ residual)
    rho = float(np.linalg.norm(residual))
    rho, residual = (rho, residual / rho) if rho > 0 else (0.0, residual)
    half = len(phi) + 1
    frame = np.column_stack([basis, residual])
    E = between(moved, frame)
    matrix, y = np.zeros((2 * half, d)), np.zeros(2 * half)
    matrix[: half - 1] = phi
    # A residual that consists of rounding errors is set to zero.
    least = unit * float(np.linalg.norm(R[int(intercept) :, d])) + float(whole.errors.lengths[d])
    rho = rho if rho > least else 0.0
    y[:half] = *y_q, rho
    design = FeatureDesign.of_columns(matrix, intercept=intercept, names=names, rounding=unit)
    if null is not None:
        seen_rank = min(len(phi), d - design.unseen)
        if seen_rank < rank:
            raise _refused(
                "depend on each other up to rounding, and sums over the rows do not tell them "
                "apart",
                "features that are independent, or dependent to the last digit",
                f"{d} of rank {rank}, of which the sums see {seen_rank}",
            )
        design.exact_null = null if rank < d else ()
    # With these weights ΦᵀWΦ divided by the number of compressed rows is the sum divided by n.
    objective = Quadratic(design, y, np.full(2 * half, 2 * half / n), alpha / n)
    first, in_frame = int(intercept), np.column_stack([matrix[:half], y[:half]])
    own = Errors.of_rows(R[first:], frame[first:], in_frame)  # the intercept stays what it is
    turned = whole.errors.turned(own, sizes_between(moved, frame))
    errors = SumErrors.of(turned, objective)
    still = whole.still | np.stack([np.zeros_like(reversed), reversed])[:, :, None]
    held = np.arange(d) >= int(intercept) if alpha > 0 else np.zeros(d, dtype=np.bool_)
    seen = np.isfinite(whole.least[:d])
    known = rounded(still, seen, held, errors)
    E[still[0].all(axis=1)] = 0.0  # ΦᵀG_i = Φᵀ: the identity has the same statistics
    drawn = _isometries(E, phi, known.still)
    perturbations = Perturbations(CompressedNoise(), drawn, 2 * half, len(drawn) + 1, known)
    kept = None
    if cells.number:
        inside = between(whole.cells, frame)
        sizes, blocks = cells.sizes(n), not cells.by_rows
        kept = _cells_of_sums(phi, y_q, rho, inside, sizes, blocks=blocks, intercept=intercept)
    score = SumScore(objective, E, errors, reversed, whole.least)
    return objective, perturbations, score, kept


def _cells_of_sums(
    phi: Array,
    y: Array,
    rest: float,
    inside: Array,
    rows: IntArray,
    *,
    blocks: bool,
    intercept: bool = False,
) -> KeptCells:
    """Return cells from products of an orthonormal basis of the columns of [Φ, y].

    Φ = U phi and y = U y, with the last vector of the basis along the residual of y, of length
    ``rest``. ``inside`` (C, r + 1, r + 1) are the products of the rows of U in each cell. What they
    say less than 1e-7 about is rounding. The first column may be an intercept, along the first
    vector of the basis.
    """
    r, centred, shift = len(y), np.eye(phi.shape[1]), 0.0
    if intercept:
        centred[0, 1:], shift = -phi[0, 1:] / phi[0, 0], float(y[0] / phi[0, 0])
    found = factor(phi @ centred, np.ones(r))
    found = replace(
        found,
        **{name: centred @ getattr(found, name) for name in ("back", "null", "scales")},
    )
    y = y - shift * phi[:, 0]
    lam, V = np.linalg.eigh(found.Q.T @ inside[:, :r, :r] @ found.Q)
    G = (V * np.where(lam > _ROUNDED, lam, 0.0)[:, None]) @ V.swapaxes(1, 2)
    h = rest * inside[:, :r, r] @ found.Q
    squares = rest**2 * inside[:, r, r]
    blur = BLUR * float(np.hypot(np.linalg.norm(y), rest))
    first = found.Q.T @ phi[:, 0] if intercept else None
    at = Coordinates(found, found.Q.T @ y, rest, int(rows.sum()), blur, shift, first)
    return KeptCells(at, CellSums(G, h, squares, rows.astype(np.float64)), blocks)


def _range(phi: Array, unit: float, rank: int, *, intercept: bool) -> tuple[Array, Array]:
    """Return an orthonormal basis (k, r) of the range of Φ, and Φ in it, (r, d), r <= rank.

    Without its first row, the triangle is that of the columns minus their means. With an intercept,
    these columns decide about linear dependence.
    """
    first, (k, d) = int(intercept), phi.shape
    centred = phi[first:, first:].copy()
    size, length = (np.linalg.norm(part, axis=0) for part in (phi[:, first:], centred))
    cut = 16 * unit
    length = np.where(length > cut * size, length, 0.0)
    centred[:, length == 0] = 0.0
    u, s, vt = svd(centred / np.where(length > 0, length, 1.0))
    r = min(int(np.count_nonzero(s > cut * s.max(initial=0.0))), rank - first)
    if first + r == 0:
        raise _refused("are zero throughout", "at least one that is not", f"{d} of them")
    # The rounding error of a mean is relative to its size, and differs from leaf to leaf.
    seen = length > 0
    means = np.linalg.norm(vt[:r][:, seen] * (size[seen] / length[seen]), axis=1)
    spread = float((s[:r] / means).min(initial=1.0))
    if first and _LARGEST_ERROR * spread < EPS:
        raise _refused(
            "vary too little, compared with their means, for sums over the rows",
            f"combinations that vary by {EPS / _LARGEST_ERROR:.1g} of their means or more",
            f"one that varies by {spread:.1g}",
        )
    basis, inside = np.zeros((k, first + r)), np.zeros((first + r, d))
    basis[:first, :first] = np.eye(first)
    basis[first:, first:] = u[:, :r]
    inside[:first] = phi[:first]
    inside[first:, first:] = (s[:r, None] * vt[:r]) * length
    return basis, inside


def _isometries(E: Array, phi: Array, still: BoolArray) -> Array:
    """Return G_i on the basis, as unit columns that include the part outside: (m - 1, 2h, h).

    With M = I + E, the part outside the basis is a root N of I - MᵀM. Where G_i keeps or reverses
    columns of phi (r, d), by ``still`` (m - 1, d), this matrix is zero: there N, and the component
    of M along the residual, are set to zero.
    """
    h = E.shape[1]
    stay = np.broadcast_to(np.eye(h), E.shape).copy()
    some, which = np.unique(still, axis=0, return_inverse=True)
    for k in np.flatnonzero(some.any(axis=1)):
        u = span_of(phi[:, some[k]])
        stay[which.reshape(-1) == k, :-1, :-1] -= u @ u.T
    outside = -E - np.swapaxes(E, 1, 2) - np.swapaxes(E, 1, 2) @ E  # I - MᵀM
    w, V = np.linalg.eigh(stay @ outside @ stay)
    drawn = np.empty((len(E), 2 * h, h))
    drawn[:, :h] = np.eye(h) + E
    drawn[:, h - 1] = (drawn[:, h - 1][:, None, :] @ stay)[:, 0]
    drawn[:, h:] = np.sqrt(np.maximum(w, 0.0))[:, :, None] * np.swapaxes(V, 1, 2) @ stay
    return drawn


def _refused(wrong: str, expected: str, given: str) -> ValueError:
    return ValueError(
        f"the features {wrong}: expected {expected}, given {given}. Subtract a number near their "
        "means, leave some out, or build the region in memory."
    )
