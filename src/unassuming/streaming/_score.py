"""The statistics of a stream, with the rounding errors of its sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.objectives import Quadratic, Score
from unassuming.ranking import Contrast

_SMALL = 2.0**-30
"""Rounding errors of this share of the largest gap between statistics are smaller than any gap that
is likely to occur: what is within them counts as a tie. Within larger errors nothing is known."""

_FEW = 0.04
"""The share of statistics that may tie with that of the data. More of them tie if the residuals of
some rows exceed those of all others by so much that sums lose the others."""

_HIDDEN = 2.0**-10
"""Residuals are zero if all of them together are below this share of every entry of the data."""


@final
@dataclass(frozen=True, eq=False)
class SumErrors:
    """Bounds of the rounding errors of sums, each for the columns of Φ and then for y.

    Attributes
    ----------
    level : array of shape (d + 1,)
        Errors along the intercept, or 0 if there is none.
    spread : array of shape (d + 1,)
        Lengths of the errors along all other directions.
    moved : float
        Spectral norm of the errors of Qᵀ(G_i - I)Q.
    turned : float
        The angle by which the range of Φ may be turned.
    """

    level: Array
    spread: Array
    moved: float
    turned: float

    @classmethod
    def of_triangle(cls, R: Array, unit: float, moved: float, *, intercept: bool) -> SumErrors:
        """Return errors relative to the columns of R, and to their means and what is left."""
        first = int(intercept)
        level, length = np.abs(R[:first]).sum(axis=0), np.linalg.norm(R[first:], axis=0)
        error = unit * length + EPS * level
        return cls(first * error, error, moved, 0.0)

    def without(self, lost: Array, turned: float) -> SumErrors:
        """Return the errors after directions have been left out that count as dependent.

        ``lost`` (k, d) is what the columns of Φ lose by that.
        """
        spread = self.spread + np.append(np.linalg.norm(lost, axis=0), 0.0)
        return SumErrors(self.level, spread, self.moved, turned)


@final
@dataclass(frozen=True, eq=False)
class SumScore(Score):
    """z_0 and z_i - z_0 in compressed rows, from E_i = Qᵀ(G_i - I)Q and not from residuals.

    A direction that no transformation moves has no part in E_i r. Its share of the residuals can be
    as large as the mean of y, and must not enter the errors of z_i - z_0 either.
    """

    objective: Quadratic
    moved: Array  # (m - 1, h, h): E_i
    errors: SumErrors
    reversed: BoolArray  # (m - 1,): which transformations are -I, exactly
    least: Array  # (d + 1,): the smallest entries of Φ and y

    def contrast(
        self, a: Array, r: Array, perturbed: Array, *, exact: bool, error: Array | float = 0.0
    ) -> Contrast:
        """Return z_0 and z_i - z_0, or refuse: the sums may have lost what decides the rank."""
        del perturbed, exact, error
        o, h, first = self.objective, self.moved.shape[1], int(self.objective.design.intercept)
        level, spread = (
            abs(a) @ part[:-1] + part[-1] for part in (self.errors.level, self.errors.spread)
        )
        off = np.stack([level, spread], axis=1)  # errors of the residuals, (N, 2)
        # Where y and Φ a agree to rounding, so do their perturbations.
        terms = np.where(a != 0, abs(a) * self.least[:-1], np.inf).min(axis=1, initial=np.inf)
        floor = _HIDDEN * np.minimum(terms, self.least[-1])
        known_zero = np.asarray(~r.any(axis=1) & (np.hypot(level, spread) <= floor))
        r = np.where(known_zero[:, None], 0.0, o.residuals(a)[:, :h])
        pull, push = self._pull, o.whitening.push
        z0 = r @ pull.T - a @ push.T
        d = (r @ self._images.reshape(-1, h).T).reshape(len(a), -1, len(pull))

        # The rows of H^{-1/2} are parts of orthonormal vectors, known to rounding as a whole.
        whole = float(np.sqrt(o.w[0] / o.n))
        unit = 8 * EPS * (h + len(pull)) + self.errors.turned
        size = whole * np.linalg.norm(r, axis=1)
        size += np.sqrt(o.lam) * np.linalg.norm(a[:, first:], axis=1)
        parts = pull[:, :first], pull[:, first:]
        rows = np.stack([np.linalg.norm(part, axis=1) for part in parts])
        e0 = unit * size[:, None] + off @ rows
        seen = self._seen
        length = np.linalg.norm(r[:, seen], axis=1)
        moved = np.hypot(level, spread) if seen[:first].all() else spread
        lost = self.errors.moved * length + 2 * moved
        e = lost[:, None] * np.linalg.norm(pull[:, seen], axis=1)
        e += 2 * unit * whole * length[:, None]
        idle = known_zero[:, None] | ~np.asarray(self.moved.any(axis=(1, 2)))
        found = Contrast(z0, d, e0, np.where(idle[:, :, None], 0.0, e[:, None, :]))
        if found.representable():
            self._check(found, idle)
        return found

    @cached_property
    def _pull(self) -> Array:
        """H^{-1/2} ΦᵀW/n, (k, h)."""
        return self.objective.whitening.pull(self.objective.w)[:, : self.moved.shape[1]]

    @cached_property
    def _images(self) -> Array:
        """The same times E_i, (m - 1, k, h)."""
        return self._pull @ self.moved

    @cached_property
    def _seen(self) -> Array:
        """Which compressed rows the transformations move."""
        along = self.moved.any(axis=(0, 1)) | self.moved.any(axis=(0, 2))
        return np.asarray(along)

    def _check(self, contrast: Contrast, idle: BoolArray) -> None:
        """Refuse candidates whose rank depends on what the sums have lost."""
        gaps, tolerance = contrast.normalised().gaps()
        small = tolerance <= _SMALL * np.abs(gaps).max(axis=1, keepdims=True)
        known = idle | (self.reversed & self.objective.sign_blind)
        open_ = (np.abs(gaps) <= tolerance) & ~known
        few = open_.sum(axis=1, keepdims=True) <= _FEW * gaps.shape[1]
        lost = (open_ & ~(small & few)).sum(axis=1)
        if lost.any():
            raise ValueError(
                "the rank of a candidate cannot be decided from sums over the rows: expected "
                "statistics that differ by more than the rounding errors of the sums, given "
                f"{lost.max()} of {gaps.shape[1]} that do not. Subtract a number near the mean "
                "from y and from each feature, rescale rows of very different size, or build the "
                "region in memory."
            )
