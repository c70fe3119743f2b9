"""Several numbers at once: the rank of a vector of functionals (docs/theory.md 11.2).

The numbers are τ = Cθ with k rows in C, so that θ = C⁺τ + Nγ. In cell b let X̃_b be the k columns
of τ after least squares on those of γ. Then u_b = X̃_bᵀ(y_b - X_bτ) changes its sign with the noise
of the cell at the true τ, so the ‖V^(-1/2) Σ_b s_b u_b‖² with V = Σ_b X̃_bᵀX̃_b are exchangeable.

Instruments W test a column x that depends on the noise (14). With u_b and v_b the whitened W̃_bᵀy_b
and W̃_bᵀx_b the Z_s(β) = ‖Σ_b s_b (u_b - v_bβ)‖² are exchangeable at β*. If s flips the cells in F,
Z_0 <= Z_s if and only if ⟨u_F - v_Fβ, u_F' - v_F'β⟩ <= 0, a quadratic inequality.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import null_space

from unassuming._numerics import CUT, EPS
from unassuming._typing import Array, IntArray
from unassuming.cells.division import (
    Division,
    balanced_places,
    divide,
    numbers_of_cells,
    width_factor,
)
from unassuming.cells.estimates import Atoms
from unassuming.cells.theorem import fewest_cells, in_use, words

_FREE = 1e-13  # directions with a smaller share of the information of a cell are not identified
_TIED = 1e-10  # statistics that differ by less, as a share of their lengths, are equal


@final
@dataclass(frozen=True, eq=False)
class Several:
    """What B cells say about k numbers: V_b (B, k, k), and X̃_bᵀ times T columns (B, k, T)."""

    V: Array
    u: Array

    @classmethod
    def of(cls, G: Array, h: Array, C: Array) -> Several:
        """Eliminate the other coefficients from products of cells: G (K, r, r) and h (K, r, T)."""
        # `C` (k, r) has independent rows of like length; the sum of G is about I.
        P, N = np.linalg.pinv(C), null_space(C)
        least = _FREE * np.trace(G, axis1=1, axis2=2)[:, None]
        lam, W = np.linalg.eigh(N.T @ G @ N)
        inverse = np.where(lam > least, 1 / np.where(lam > least, lam, 1.0), 0.0)
        cross = P.T @ G @ N @ W
        V = P.T @ G @ P - (cross * inverse[:, None]) @ cross.swapaxes(1, 2)
        u = P.T @ h - (cross * inverse[:, None]) @ (W.swapaxes(1, 2) @ N.T @ h)
        lam, W = np.linalg.eigh(V)
        seen = lam > least * np.square(P).sum()
        keep = (W * seen[:, None]) @ W.swapaxes(1, 2)  # onto what the cell identifies
        size = np.linalg.norm(P) * np.linalg.norm(h, axis=1, keepdims=True)
        u = keep @ np.where(np.abs(u) > CUT * size, u, 0.0)
        V = (W * np.where(seen, lam, 0.0)[:, None]) @ W.swapaxes(1, 2)
        total = V.sum(axis=0)
        share = np.einsum("bij,ji->b", V, np.linalg.pinv(total)) if V.any() else np.zeros(len(V))
        used: IntArray = in_use(share)
        return cls(V[used], u[used])

    def kept(self, C: Array) -> float:
        """Return the mean share that the cells keep of the information of all rows, (CCᵀ)⁻¹."""
        V = self.V.sum(axis=0)
        values = np.linalg.eigvalsh(V)  # none, where the cells leave a number undetermined
        return float(np.trace(C @ C.T @ V) / len(C)) if values[0] > _FREE * values[-1] else 0.0

    def at(self, tau: Array) -> Array:
        """Return V^(-1/2)u_b for the first column and hypothetical values τ (k,): (B, k)."""
        return self.whitened(self.u[..., 0] - self.V @ tau)

    def whitened(self, u: Array) -> Array:
        """Return V^(-1/2)u_b for vectors (B, k, ...)."""
        lam, W = np.linalg.eigh(self.V.sum(axis=0))
        root = np.where(lam > _FREE * lam[-1], 1 / np.sqrt(np.maximum(lam, 1e-300)), 0.0)
        return np.asarray(np.einsum("ij,bj...->bi...", (W * root) @ W.T, u))


def joint_rank(z: Array) -> tuple[int, Array]:
    """Return the rank of Z_0 = ‖Σ_b z_b‖² among the ‖Σ_b s_b z_b‖², z (B, k), and all of them."""
    # Ties count in favour of the hypothesis.
    flipped = (1 - words(len(z))[1:]) / 2
    total, change = z.sum(axis=0), -2 * flipped @ z
    gap = np.einsum("sk,sk->s", change, change + 2 * total)  # Z_s - Z_0
    size = np.linalg.norm(change, axis=1) + np.linalg.norm(change + 2 * total, axis=1)
    before = gap < -_TIED * np.linalg.norm(z, axis=1).sum() * size
    statistics = np.square(np.vstack([0 * total, change]) + total).sum(axis=1)
    return 1 + int(before.sum()), statistics


def division(atoms: Atoms, C: Array, level: float, cells: int | None = None) -> Division:
    """Return the cells for functionals C (k, r), by the width predicted for one number."""
    # Fewer cells than for an interval are tried as well: halves do not take their place here.
    N, each, r = atoms.L.shape
    few = {K for K in range(fewest_cells(level), 8) if K <= N}
    if len(C) == 1:
        u = C / np.linalg.norm(C)
        best = divide(atoms, u, level, cells)[0]
        if np.isfinite(best.width) or cells is not None:
            return best
        return min(
            (divide(atoms, u, level, K)[0] for K in sorted(few)),
            key=lambda one: one.width,
            default=best,
        )
    U, found = np.linalg.qr(C.T)[0].T, []
    numbers = few | set(numbers_of_cells(N, N * each, r)) if cells is None else {cells}
    for K in sorted(numbers):
        places = balanced_places(atoms, K, U)
        found.append(Division(places, predicted(atoms.products(places), C, level)))
    return min(found, key=lambda one: one.width, default=Division())


def predicted(G: Array, C: Array, level: float) -> float:
    """Return the predicted width of cells with products G (K, r, r), as for one number."""
    found = Several.of(G, np.zeros((*G.shape[:2], 1)), C)
    kept = found.kept(C) if len(found.V) > 1 else 0.0
    return width_factor(len(found.V), level) / float(np.sqrt(kept)) if kept > 0 else np.inf


_OUTWARD = 1e-9  # by this share of their distance from the centre ends move outward, and more


def instrument_estimate(u: Array, v: Array) -> float:
    """Return the minimiser of Z_0 for u_b and v_b (B, k); NaN if the instruments do not move x."""
    total = v.sum(axis=0)
    square = float(total @ total)
    return float(total @ u.sum(axis=0)) / square if square > 0 else np.nan


def instrument_set(u: Array, v: Array, q: int) -> Array:
    """Return the closed intervals (r, 2) of β that satisfy q >= 1 inequalities, u, v (B, k)."""
    # Sorted and disjoint; ends may be infinite, single points are [β, β]. Ties count in favour of
    # β.
    size_u, size_v = (float(np.abs(part).max(initial=0.0)) or 1.0 for part in (u, v))
    u, v = u / size_u, v / size_v
    length = float(np.square(v).sum())
    centre = float((v * u).sum()) / length if length > 0 else 0.0
    u = u - v * centre
    spans = solved(*_quadratics(u, v))
    far = np.abs(spans) + 1e-3 * float(np.linalg.norm(u)) / (np.sqrt(length) or 1.0)
    spans = spans + _OUTWARD * far * [-1.0, 1.0]
    return (covered(spans, q) + centre) * (size_u / size_v)


def _quadratics(u: Array, v: Array) -> tuple[Array, Array, Array, Array]:
    """Return a, b, c of at² + bt + c = ⟨u_F - v_Ft, u_F' - v_F't⟩, each (S,), and √(b² - 4ac)."""
    # What may be rounding is zero in a and b, which decide how the inequality ends far out. The
    # root is NaN where there is none. It is rounded so that the sets become longer.
    F = (1 - words(len(u))[1:]) / 2
    (u1, v1), (u2, v2) = ((part @ u, part @ v) for part in (F, 1 - F))

    def product(x: Array, y: Array) -> Array:
        return np.asarray((x * y).sum(axis=1))

    unit = 16 * len(u) * EPS
    far, near = np.abs(v).sum(), np.abs(u).sum()
    a, c, one, two = product(v1, v2), product(u1, u2), product(u1, v2), product(v1, u2)
    a = np.where(np.abs(a) > unit * far**2, a, 0.0)
    b = np.where((a == 0) & (np.abs(one + two) <= unit * far * near), 0.0, -(one + two))
    # b² - 4ac = (one - two)² + 4 (one two - ac), where the second vanishes for one instrument.
    outward = np.where(a < 0, -1.0, 1.0)
    d = np.maximum(np.abs(one - two) + outward * unit * (np.abs(one) + np.abs(two)), 0.0)
    if u.shape[1] == 1:
        return a, b, c, d
    square = b * b - 4 * a * c + outward * unit * (b * b + 4 * np.abs(a * c))
    return a, b, c, np.sqrt(np.where(square >= 0, square, np.nan))


def solved(a: Array, b: Array, c: Array, root: Array) -> Array:
    """Return the intervals (r, 2) of t where each at² + bt + c <= 0 holds, given √(b² - 4ac)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        far = -(b + np.where(b >= 0, root, -root)) / 2
        one, two = far / a, np.where(far != 0, c / far, -b / (2 * a))
        low, high = np.minimum(one, two), np.maximum(one, two)
        end = -c / b
    inf, none = np.full(len(a), np.inf), np.isnan(root)
    between, rays = (a > 0) & ~none, (a < 0) & ~none
    up, down = (a == 0) & (b < 0), (a == 0) & (b > 0)
    line = ((a < 0) & none) | ((a == 0) & (b == 0) & (c <= 0))
    kinds = (
        (between, low, high),
        (rays, -inf, low),
        (rays, high, inf),
        (up, end, inf),
        (down, -inf, end),
        (line, -inf, inf),
    )
    return np.concatenate([np.stack([x[which], y[which]], axis=1) for which, x, y in kinds])


def covered(spans: Array, q: int) -> Array:
    """Return the stretches (r, 2) that at least q of the closed intervals (S, 2) cover."""
    ends, change = spans.T.ravel(), np.repeat([1, -1], len(spans))
    order = np.lexsort((-change, ends))  # at equal ends openings first: closed intervals
    enough = np.cumsum(change[order]) >= q
    before = np.concatenate([[False], enough[:-1]])
    starts, stops = np.flatnonzero(enough & ~before), np.flatnonzero(~enough & before)
    return np.stack([ends[order][starts], ends[order][stops]], axis=1)
