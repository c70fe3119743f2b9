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
    """

    level: Array
    spread: Array
    moved: float

    @classmethod
    def of_triangle(cls, R: Array, unit: float, moved: float, *, intercept: bool) -> SumErrors:
        """Return errors relative to the columns of R, and to their means and what is left."""
        first = int(intercept)
        level, spread = np.abs(R[:first]).sum(axis=0), np.linalg.norm(R[first:], axis=0)
        return cls(first * unit * (level + spread), unit * spread + 8 * EPS * level, moved)


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

    def contrast(self, a: Array, r: Array, perturbed: Array, *, exact: bool) -> Contrast:
        """Return z_0 and z_i - z_0, or refuse: the sums may have lost what decides the rank."""
        del perturbed, exact
        known_zero = np.asarray(
            ~r.any(axis=1)
        )  # y and Φ a agree to rounding, as do their perturbations
        o, h, first = self.objective, self.moved.shape[1], int(self.objective.design.intercept)
        # Also where they are below their rounding errors, unless all of them are.
        r = np.where(known_zero[:, None], 0.0, o.residuals(a)[:, :h])
        pull, push = self._pull, o.whitening.push
        z0 = r @ pull.T - a @ push.T
        d = (r @ self._images.reshape(-1, h).T).reshape(len(a), -1, len(pull))

        level, spread = (
            abs(a) @ part[:-1] + part[-1] for part in (self.errors.level, self.errors.spread)
        )
        off = np.full((len(a), h), spread[:, None])  # errors of the residuals
        off[:, :first] = level[:, None]
        unit = 8 * EPS * (h + len(pull))
        rows = np.linalg.norm(pull, axis=1)
        size = np.linalg.norm(r, axis=1)[:, None] * rows + abs(a) @ abs(push.T)
        e0 = unit * size + off @ abs(pull.T)
        seen = self._seen
        length = np.linalg.norm(r[:, seen], axis=1)
        lost = self.errors.moved * length + 2 * np.linalg.norm(off[:, seen], axis=1)
        e = lost[:, None] * abs(pull[:, seen]).sum(axis=1) + 2 * unit * length[:, None] * rows
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
        lost = ((np.abs(gaps) <= tolerance) & ~small & ~known).sum(axis=1)
        if lost.any():
            raise ValueError(
                "the rank of a candidate cannot be decided from sums over the rows: expected "
                "statistics that differ by more than the rounding errors of the sums, given "
                f"{lost.max()} of {gaps.shape[1]} that do not. Subtract a number near the mean "
                "from y and from each feature, rescale rows of very different size, or build the "
                "region in memory."
            )
