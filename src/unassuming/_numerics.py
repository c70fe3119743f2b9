"""What counts as equal: the only page that knows the unit of rounding.

Exactness is a statement about the noise, not about the last bit. Ordinary data are decided by three
rules, each made once: columns depend on each other if the factor of the design says so, statistics
tie if they differ by no more than one tolerance, and data that double precision does not resolve
are refused at one door, before anything is computed from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import eigh, solve_triangular, svd

from unassuming._typing import Array, BoolArray, IntArray

EPS = float(np.finfo(np.float64).eps)
CUT, SEEN = 1e-11, 1e-7
"""Singular values below this share of the largest are zero: the columns depend on each other. A
functional sees a direction without fitted values above this share of its length."""

CELL, CONDITION, PENALTY, OUTPUT = 1e7, 1e10, 1e-9, 1e150
"""The door: the largest cell, in scales of its column; the largest condition number of independent
columns, centred and scaled; the least penalty of a kernel, as a share of its largest eigenvalue;
the largest output."""


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """Coordinates v in which H = ΦᵀWΦ + P is the identity (docs/theory.md 4).

    The rows of Q (n, k), those of W^½Φ, and of the penalty's part are together orthonormal columns.
    ``back`` (d, k) is H^(-1/2), from v to coefficients; ``push`` (k, d) is H^(-1/2)P; ``null``
    (d, d - k) spans the coefficients without fitted values; ``scales`` (d, d) makes coefficients of
    those of columns centred and scaled, whose singular values above the cut are ``values``;
    ``weakest`` (d,) are the shares of the columns in the direction of the last.
    """

    Q: Array
    back: Array
    push: Array
    null: Array
    scales: Array
    values: Array
    weakest: Array

    def unseen(self, g: Array) -> BoolArray:
        """Which functionals g (..., d) the columns do not determine, in any units."""
        size = np.linalg.norm(g @ self.scales, axis=-1)
        return np.asarray(np.linalg.norm(g @ self.null, axis=-1) > SEEN * size)

    @property
    def in_doubt(self) -> IntArray:
        """The columns that are neither dependent nor resolved, if there are any."""
        resolved = not len(self.values) or self.values[0] <= CONDITION * self.values[-1]
        return np.flatnonzero((self.weakest > 0.1 * self.weakest.max()) & (not resolved))


def factor(Phi: Array, w: Array, R: Array | None = None, *, intercept: bool = False) -> Factor:
    """Factor W^½Φ above R, where P = RᵀR; the first column may be an intercept without penalty."""
    n, d = Phi.shape
    R = np.zeros((0, d)) if R is None else R
    scales, size = np.eye(d), np.sqrt(_dots(Phi.T, Phi.T))
    if intercept:
        scales[0, 1:] = -(w @ Phi[:, 1:]) / w.sum()
    columns = Phi @ scales
    spread = np.sqrt(_dots(columns.T, columns.T))
    flat = ~(spread > CUT * size)  # zero, or a multiple of the intercept
    unit = np.where(size > 0, np.where(flat, size, spread), 1.0)
    scales = scales / unit
    columns *= np.where(flat, 0.0, 1 / unit)
    if not (w == 1).all():
        columns *= np.sqrt(w)[:, None]
    columns = np.vstack([columns, R @ scales]) if len(R) else columns
    U, s, V = _singular(columns)
    k = int((s > CUT * s[0]).sum()) if s.any() else 0
    Q, Qp, back, free = U[:n, :k], U[n:, :k], V[:k].T / s[:k], V[k:].T
    if len(R):  # what the penalty alone sees changes no comparison
        seen, turn = svd(Q, full_matrices=True)[1:]
        rank = int((seen > CUT).sum())
        free = np.hstack([free, back @ turn[rank:].T])
        Q, Qp, back = (part @ turn[:rank].T for part in (Q, Qp, back))
    back, null = scales @ back, scales @ (free / np.linalg.norm(free, axis=0))
    if not len(R):  # of coefficients with the same fitted values, those with the shortest slopes
        i = int(intercept)
        back = back - null @ np.linalg.lstsq(null[i:], back[i:], rcond=CUT)[0]
    weakest = np.abs(V[k - 1]) if k else np.zeros(d)
    return Factor(Q, back, Qp.T @ R, null, scales, s[:k], weakest)


def _singular(M: Array) -> tuple[Array, Array, Array]:
    """Return U, s, Vᵀ of tall well-conditioned columns from their products, of others directly."""
    n, d = M.shape
    if n > 64 * d:
        lam, V = eigh(M.T @ M)
        if lam[0] > 1e-8 * lam[-1]:  # products make columns orthonormal to 1e-8, then to EPS
            s = np.sqrt(lam[::-1])
            U = M @ (V[:, ::-1] / s)
            lower = np.linalg.cholesky(U.T @ U)  # all but I: its inverse is exact enough
            U = U @ solve_triangular(lower, np.eye(d), lower=True).T
            return U, s, V[:, ::-1].T
    U, s, V = svd(M, full_matrices=n < d)
    return U[:, :d], np.append(s, np.zeros(len(V) - len(s))), V


def kernel_factor(K: Array, w: Array, alpha: float) -> Factor:
    """Factor Φ = K with P = alpha K through W^½KW^½ = UΛUᵀ: nothing is divided by alpha."""
    root = np.sqrt(w)
    lam, U = eigh(root[:, None] * K * root)
    keep = lam > len(lam) * EPS * lam[-1]
    lam, U, n = lam[keep], U[:, keep], len(K)
    share = np.sqrt(lam / (lam + alpha))
    back = root[:, None] * U / np.sqrt(lam * (lam + alpha))
    push = alpha * (U * share).T / root
    return Factor(U * share, back, push, np.zeros((n, 0)), np.eye(n), np.ones(1), np.zeros(n))


def rank_cut(shape: tuple[int, ...]) -> float:
    """Return the relative size below which a singular value is nothing but rounding."""
    return max(shape) * EPS


def powers_of_two(lengths: Array) -> Array:
    """Return powers of two near some lengths, one for zero: dividing by them rounds nothing."""
    return np.asarray(np.ldexp(1.0, np.frexp(lengths)[1]))


def blur(y: Array, terms: Array) -> Array:
    """Return e (N,), the rounding of residuals y - Φa; ``terms`` (N, n) are |Φ||a|."""
    return np.asarray(4 * EPS * (np.abs(y) + terms).max(axis=-1))


def snapped(x: Array, e: Array, kinks: tuple[float, ...] = (0.0,)) -> Array:
    """Return x (N, ..., n), with what is within e (N,) of a kink at the kink."""
    for kink in kinks:
        near = np.abs(x - kink) <= e.reshape(-1, *[1] * (x.ndim - 1))
        x = np.where(near, kink, x)
    return x


def gaps(r: Array, d: Array, p: Array, s: Array, P: Array, e: Array, norm: float) -> list[Array]:
    """Return Z_i - Z_0, up to a positive factor, and the tolerance within which they are equal.

    Of residuals r (N, n) and their changes d = (G_i - I)r (N, m, n); of the weighted gradients z_i
    (N, m, k) the difference p = z_i - z_0 and the sum s = z_i + z_0; of the penalty's part P of z_0
    (N, k); of the blur e (N,) of r. The map from r to z_0 has this norm: 1 for the rows of Q.
    """
    n, k = d.shape[-1], p.shape[-1]
    moved, both, changed = (np.sqrt(_dots(part, part)) for part in (p, s, d))
    size, common = _dots(r, r)[:, None], np.matmul(np.abs(d), np.abs(r)[..., None])[..., 0]
    whole = np.sqrt(4 * (size + common) + changed**2)  # ‖2|r| + |d|‖
    sums = (n + k) * norm * (changed * both + whole * moved) + np.sqrt(_dots(P, P))[:, None] * moved
    entries = 4 * norm * e[:, None] * np.sqrt(n) * (moved + both * (changed > 0))
    return [_dots(p, s), 16 * EPS * sums + entries]


def _dots(x: Array, y: Array) -> Array:
    """Return the inner products of the last axes."""
    return np.asarray(np.einsum("...k,...k->...", x, y))
