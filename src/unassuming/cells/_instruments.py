"""Instruments: the coefficient of a column that depends on the noise (docs/theory.md 11).

y = xβ + Zγ + e, where x may depend on e, and the instruments W and the controls Z do not. In cell b
let W̃_b be the residuals of W_b on Z_b, u_b = W̃_bᵀy_b and v_b = W̃_bᵀx_b. Then u_b - v_bβ* = W̃_bᵀe_b
changes its sign with the noise of the cell, whatever x is. So with V = Σ_b W̃_bᵀW̃_b the statistics

    Z_s(β) = ‖V^(-1/2) Σ_b s_b (u_b - v_bβ)‖²

are exchangeable over the sign vectors s at β = β*, for instruments of every strength. If s flips
the cells in F, and F' are the others, then Z_0 <= Z_s if and only if

    ⟨V^(-1/2)(u_F - v_Fβ), V^(-1/2)(u_F' - v_F'β)⟩ <= 0,

a quadratic inequality in β. The β that satisfy at least q of these inequalities form a finite union
of closed intervals, whose coverage is 1 - q/m. Cells and V depend on (W, Z) alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from unassuming._rounding import EPS, powers_of_two
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells._several import PseudoRows
from unassuming.cells._signs import flipped_cells
from unassuming.cells._unions import Quadratics, at_least


@final
@dataclass(frozen=True, eq=False)
class InstrumentCells:
    """The cells of k instruments (and tested controls) for p endogenous columns.

    Attributes
    ----------
    rows : array of shape (B, k, k)
        Triangular factors of W̃_bᵀW̃_b.
    y, y_error : arrays of shape (B, k)
        What takes the place of y, and bounds on its rounding errors.
    x, x_error : arrays of shape (B, k, p)
        What takes the place of the endogenous columns, and bounds on its rounding errors.
    cells : integer array of shape (B,)
        The numbers of the cells.
    """

    rows: Array
    y: Array
    y_error: Array
    x: Array
    x_error: Array
    cells: IntArray

    @classmethod
    def of(cls, y: PseudoRows, x: Sequence[PseudoRows]) -> InstrumentCells:
        """Join the pseudo-rows of the outputs and of each endogenous column, in the same cells."""
        return cls(
            y.rows,
            y.targets,
            y.error,
            np.stack([part.targets for part in x], axis=-1),
            np.stack([part.error for part in x], axis=-1),
            y.cells,
        )

    def at(self, beta: Array) -> PseudoRows:
        """Return the pseudo-rows of y - xβ, for `joint_rank`."""
        size = np.abs(self.y) + np.abs(self.x) @ np.abs(beta)
        error = self.y_error + self.x_error @ np.abs(beta) + 4 * EPS * size
        return PseudoRows(self.rows, self.y - self.x @ beta, error, self.cells)


@final
@dataclass(frozen=True, eq=False)
class InstrumentSet:
    """The values of one coefficient that are not rejected, and what they come from.

    Attributes
    ----------
    estimate : float
        The minimiser of Z_0; NaN if the instruments do not move the endogenous column at all.
    ends : array of shape (r, 2)
        Closed intervals, sorted and disjoint; the ends may be infinite. Empty if no value remains.
    """

    estimate: float
    ends: Array


class _Sums(NamedTuple):
    """Whitened u_b and v_b of one endogenous column, shape (B, k), with bounds of their errors."""

    u: Array
    v: Array
    u_error: Array
    v_error: Array


def instrument_set(found: InstrumentCells, q: int, seed: int = 0) -> InstrumentSet:
    """Return the values of the coefficient of one endogenous column that lie in q of the sets.

    Ties count in favour of a value: the coverage is 1 - q/m if the noise has no atoms and at least
    1 - q/m in any case.

    Parameters
    ----------
    found : InstrumentCells
        With p = 1.
    q : int
        With 0 every value remains.
    seed : int
        Where the sign vectors of more than 16 cells come from.

    Examples
    --------
    Six cells and one instrument. If it moves x by one unit in each, there is an interval:

    >>> y, one = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 7.0])[:, None], np.ones((6, 1, 1))
    >>> cells = InstrumentCells(one, y, 0 * y, one, 0 * one, np.arange(6))
    >>> instrument_set(cells, q=1).ends.round(6)
    array([[1., 7.]])

    If it moves x in opposite directions, the data exclude an interval:

    >>> x = np.array([1.0, 1.0, 1.0, 1.0, 1.0, -0.5])[:, None, None]
    >>> instrument_set(InstrumentCells(one, y, 0 * y, x, 0 * one, np.arange(6)), q=1).ends.round(6)
    array([[-inf, -14.],
           [  1.,  inf]])
    """
    line = np.array([[-np.inf, np.inf]])
    if not len(found.cells):
        return InstrumentSet(np.nan, line)
    sums, unit = _scaled(_whitened(found))
    total_u, total_v = sums.u.sum(axis=0), _beyond_rounding(*_summed(sums.v, sums.v_error))[0]
    square = float(total_v @ total_v)
    estimate = float(total_v @ total_u) / square * unit if square > 0 else np.nan
    if q == 0:
        return InstrumentSet(estimate, line)
    # About a mean of the cells no product is a difference of large numbers. The estimate is far
    # away where the cells contradict each other.
    length = float(np.square(sums.v).sum())
    centre = float((sums.v * sums.u).sum()) / length if length > 0 else 0.0
    off = sums.u_error + sums.v_error * abs(centre)
    off = off + 2 * EPS * (np.abs(sums.u) + np.abs(sums.v * centre))
    moved = sums._replace(u=sums.u - sums.v * centre, u_error=off)
    t = at_least(_products(moved, flipped_cells(len(found.cells), seed)), q)
    with np.errstate(invalid="ignore"):
        slack = 4 * EPS * (abs(centre) + np.abs(t))
        ends = centre + t + np.where(np.isfinite(t), slack * [-1.0, 1.0], 0.0)
    return InstrumentSet(estimate, ends * unit)


def _whitened(found: InstrumentCells) -> _Sums:
    """Return V^(-1/2) u_b and V^(-1/2) v_b, up to a common rotation."""
    B, k = found.y.shape
    Q = np.linalg.qr(found.rows.reshape(B * k, k))[0].reshape(B, k, k)
    size = np.abs(Q).sum(axis=1)

    def carried(targets: Array, error: Array) -> tuple[Array, Array]:
        whole = (error + 4 * k * EPS * np.abs(targets)).sum(axis=1)
        return np.einsum("bij,bi->bj", Q, targets), size * whole[:, None]

    u, u_error = carried(found.y, found.y_error)
    v, v_error = carried(found.x[..., 0], found.x_error[..., 0])
    v, v_error = _beyond_rounding(v, v_error)
    return _Sums(u, v, u_error, v_error)


def _summed(terms: Array, error: Array, which: Array | None = None) -> tuple[Array, Array]:
    """Return sums over cells (B, k), of all or of ``which`` (S, B), and bounds of their errors."""
    each = error + len(terms) * EPS * np.abs(terms)
    if which is None:
        return terms.sum(axis=0), each.sum(axis=0)
    return which @ terms, which @ each


def _beyond_rounding(v: Array, error: Array) -> tuple[Array, Array]:
    """Set to zero what may be rounding alone: such an instrument does not move x at all."""
    none = np.abs(v) <= error
    return np.where(none, 0.0, v), np.where(none, 0.0, error)


def _scaled(sums: _Sums) -> tuple[_Sums, float]:
    """Divide by powers of two, so that no product overflows; return the unit of β as well."""
    of_u, of_v = (float(powers_of_two(np.abs(part).max(initial=0.0))) for part in sums[:2])
    u, v, u_error, v_error = sums
    return _Sums(u / of_u, v / of_v, u_error / of_u, v_error / of_v), of_u / of_v


def _products(sums: _Sums, flipped: BoolArray) -> Quadratics:
    """Return ⟨u_F - v_F t, u_F' - v_F' t⟩ as quadratics in t, with bounds of their errors."""
    F, others = flipped.astype(np.float64), (~flipped).astype(np.float64)
    (u, du), (U, dU) = (_summed(sums.u, sums.u_error, part) for part in (F, others))
    (v, dv), (V, dV) = (
        _beyond_rounding(*_summed(sums.v, sums.v_error, part)) for part in (F, others)
    )

    def product(x: Array, y: Array, dx: Array, dy: Array) -> tuple[Array, Array]:
        error = np.abs(x) * dy + dx * np.abs(y) + dx * dy
        return (x * y).sum(axis=1), (error + 4 * EPS * np.abs(x * y)).sum(axis=1)

    a, da = product(v, V, dv, dV)
    c, dc = product(u, U, du, dU)
    one, d_one = product(u, V, du, dV)
    two, d_two = product(v, U, dv, dU)
    return Quadratics(a, -(one + two), c, da, d_one + d_two, dc)
