"""A few rows in place of many: the same inner products, and so the same region.

A quadratic region sees the rows only through T_i = ΦᵀG_iΦ and u_i = ΦᵀG_i y (docs/theory.md 4.5).
So the rows can be replaced by any others that have the same inner products, under transformations
that have the same ones. Here they are the coordinates in an orthonormal basis of the range of the
stacked design [Φ; √(nλ) P^{1/2}], one more for the residual, and as many again for what the
transformations turn out of that space. The penalty becomes rows like the others, which no
transformation moves: ridge is least squares on the stacked design under diag(G_i, I).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh, svd

from unassuming._errors import NotAvailable, complaint
from unassuming._typing import Array
from unassuming.noise import Noise, Perturbations
from unassuming.objectives import FeatureDesign, Quadratic

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
_DEPENDENT = 64.0
"""Features count as dependent up to this many rounding errors of the sums of their products."""
_SURE = 1e4
"""Features are far enough from dependent beyond this many."""


class CompressedNoise(Noise):
    """Transformations of compressed rows: (size, 2h, h), from the first half to both halves."""

    def draw(self, n: int, size: int, rng: np.random.Generator) -> Any:
        """Not drawn: they come from sums over the rows."""
        raise NotAvailable("Transformations of compressed rows come from the sums of a stream.")

    def apply(self, drawn: Array, residuals: Array, fitted: Array | None) -> Array:
        """Move vectors (..., 2h) whose second half is zero; returns (..., size, 2h)."""
        del fitted
        size, n, half = drawn.shape
        vectors = residuals[..., :half].reshape(-1, half)
        moved = vectors @ drawn.reshape(-1, half).T
        return moved.reshape(*residuals.shape[:-1], size, n)

    @property
    def orthogonal(self) -> bool:
        """True, on the vectors that occur."""
        return True


class CompressedDesign(FeatureDesign):
    """Φ in compressed rows: the first column is the intercept, if there is one."""

    def __init__(
        self, matrix: Array, *, intercept: bool, names: list[str], rounding: float
    ) -> None:
        self.matrix = matrix
        self.X = matrix[:, int(intercept) :]
        self.one = matrix[:, 0] if intercept else np.zeros(len(matrix))
        self.intercept = intercept
        self.names = names
        self.rounding = rounding


def uncompressed(Z: Array, penalty: Array, *, intercept: bool, names: list[str]) -> Quadratic:
    """Return the objective for few rows Z = [Φ, y], taken as they are.

    With few rows statistics often tie, and the rows tell that better than sums over them.
    """
    n = len(Z)
    design = CompressedDesign(Z[:, :-1], intercept=intercept, names=names, rounding=0.0)
    return Quadratic(design, Z[:, -1], np.ones(n), float(penalty.max()) / n)


def compress(
    gram: Array, moved: Array, n: int, penalty: Array, *, intercept: bool, names: list[str]
) -> tuple[Quadratic, Perturbations]:
    """Return the objective and the transformations in compressed rows.

    Parameters
    ----------
    gram : array of shape (d + 1, d + 1)
        ZᵀZ with Z = [Φ, y].
    moved : array of shape (m - 1, d + 1, d + 1)
        Zᵀ(G_i - I)Z.
    n : int
        Number of rows.
    penalty : array of shape (d,)
        nλ for each coefficient, zero for the intercept.
    """
    d = len(gram) - 1
    unit = 16 * _EPS * np.sqrt(d)  # the error of the sums, relative to the lengths of the columns
    R, B, rounding = _basis(gram[:d, :d], penalty, unit)
    moved = _whole_reversals(gram, moved, unit)
    y_q, rho = B.T @ gram[:d, d], float(np.sqrt(gram[d, d])) or 1.0
    E = _in_basis(moved, B, y_q, rho)
    drawn = _isometries(E, rounding)
    half = len(R) + 1
    matrix, y = np.zeros((2 * half, d)), np.zeros(2 * half)
    matrix[: half - 1] = R
    # Where the transformations leave nothing of the residual, there is none.
    y[:half] = *y_q, rho if np.abs(E[:, :-1, -1]).max() > rounding else 0.0
    design = CompressedDesign(matrix, intercept=intercept, names=names, rounding=rounding)
    # With these weights ΦᵀWΦ divided by the number of compressed rows is the sum divided by n.
    objective = Quadratic(design, y, np.full(2 * half, 2 * half / n), 0.0)
    return objective, Perturbations(CompressedNoise(), drawn, 2 * half, len(drawn) + 1)


def _basis(gram: Array, penalty: Array, unit: float) -> tuple[Array, Array, float]:
    """Return R and B, with RᵀR = ΦᵀΦ + nλP and an orthonormal stacked design times B.

    Directions that change no fitted value are left out: no test sees them. The third number is the
    relative error that these matrices come with.
    """
    stacked = gram + np.diag(penalty)
    length = _lengths(stacked)
    values, V = eigh(stacked / np.outer(length, length))
    keep = values > _DEPENDENT * unit * values[-1]
    if not stacked.any():
        raise _refused("are zero throughout", "at least one that is not", f"{len(gram)} of them")
    share = float(values[keep][0] / values[-1])
    if share <= _SURE * unit:
        raise _refused(
            "are too nearly dependent for sums over the rows",
            f"a combination of them (scaled to length one) no shorter than "
            f"{np.sqrt(_SURE * unit):.1g}",
            f"{np.sqrt(share):.1g}",
        )
    root, V = np.sqrt(values[keep]), V[:, keep]
    R, B = root[:, None] * V.T * length, V / root / length[:, None]
    if penalty.any():
        own = _lengths(gram)
        values, X = eigh(gram / np.outer(own, own))
        unseen = X[:, values <= _DEPENDENT * unit * values[-1]] / own[:, None]
        # What the penalty has left of them; those that it has not moved are gone already.
        left, sizes, _ = svd(R @ unseen)
        U = left[:, np.count_nonzero(sizes > np.sqrt(_DEPENDENT * unit)) :]
        R, B = U.T @ R, B @ U
    return R, B, unit / share


def _lengths(gram: Array) -> Array:
    """Return powers of two near the lengths of the columns, one for those of length zero."""
    length = np.sqrt(np.diagonal(gram))
    return np.asarray(np.ldexp(1.0, np.frexp(np.where(length > 0, length, 0.5))[1]))


def _whole_reversals(gram: Array, moved: Array, unit: float) -> Array:
    """Return the sums with those of -I, which rounding alone tells from -2ZᵀZ, equal to that."""
    length = np.sqrt(np.diagonal(gram))
    off = np.abs(moved + 2 * gram) / np.outer(length, length).clip(min=_TINY)
    whole = off.max(axis=(1, 2)) <= 4 * unit
    return np.where(whole[:, None, None], -2 * gram, moved)


def _in_basis(moved: Array, B: Array, y_q: Array, rho: float) -> Array:
    """Return qᵀ(G_i - I)q in the basis of the range and the residual, (m - 1, r + 1, r + 1).

    Only inner products of the residual with the range matter, not its length: it is extended to
    the length ρ = ‖y‖ of the outputs, by a direction that stays where it is. So nothing is divided
    by a length that could be nothing but rounding.
    """
    d, r = B.shape
    E = np.empty((len(moved), r + 1, r + 1))
    E[:, :r, :r] = qq = B.T @ moved[:, :d, :d] @ B
    qy, yq = moved[:, :d, d] @ B, moved[:, d, :d] @ B
    E[:, :r, r] = (qy - qq @ y_q) / rho
    E[:, r, :r] = (yq - y_q @ qq) / rho
    E[:, r, r] = (moved[:, d, d] - qy @ y_q - yq @ y_q + (qq @ y_q) @ y_q) / rho**2
    return E


def _isometries(E: Array, rounding: float) -> Array:
    """Return G_i on the basis, as columns of length one with their parts outside: (m - 1, 2h, h).

    With M = I + E the part outside is a root N of I - MᵀM. Directions of the range along which this
    is zero to rounding are free: there N, and what M takes to the residual, is zero.
    """
    h = E.shape[1]
    outside = -E - np.swapaxes(E, 1, 2) - np.swapaxes(E, 1, 2) @ E  # I - MᵀM
    inner = E[:, :-1, :-1]
    loss = -inner - np.swapaxes(inner, 1, 2) - np.swapaxes(inner, 1, 2) @ inner
    w, V = np.linalg.eigh(loss)
    stay = np.zeros_like(E)
    stay[:, :-1, :-1] = (V * (w > 4 * rounding)[:, None, :]) @ np.swapaxes(V, 1, 2)
    stay[:, -1, -1] = 1.0
    tight = (w > 4 * rounding).all(axis=1)
    stay[tight] = np.eye(h)
    w, V = np.linalg.eigh(stay @ outside @ stay)
    drawn = np.empty((len(E), 2 * h, h))
    drawn[:, :h] = np.eye(h) + E
    drawn[:, h - 1] = (drawn[:, h - 1][:, None, :] @ stay)[:, 0]
    drawn[:, h:] = np.sqrt(np.maximum(w, 0.0))[:, :, None] * np.swapaxes(V, 1, 2)
    drawn[~tight, h:] = drawn[~tight, h:] @ stay[~tight]
    return drawn


def _refused(wrong: str, expected: str, given: str) -> ValueError:
    return ValueError(
        complaint(
            "the features",
            wrong,
            expected,
            given,
            "Standardise or orthogonalise them, leave some out, or use Ridge with a larger alpha; "
            "or build the region in memory.",
        )
    )
