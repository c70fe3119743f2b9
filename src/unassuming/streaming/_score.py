"""The statistics of a stream, with the rounding errors of its sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._rounding import EPS, length
from unassuming._typing import Array, BoolArray
from unassuming.objectives import Quadratic, Score
from unassuming.ranking import Contrast
from unassuming.streaming._errors import UNKNOWN, Errors

_SMALL = 2.0**-30
"""Rounding errors of this share of the largest gap between statistics are smaller than any gap that
is likely to occur: what is within them counts as a tie. Within larger errors nothing is known."""

_FEW = 0.04
"""The share of statistics that may tie with that of the data. More of them tie if the residuals of
some rows exceed those of all others by so much that sums lose the others."""

_LARGEST = 2.0**-6
"""Products of errors of this size are still small."""

_HIDDEN = 2.0**-10
"""Residuals are zero if all of them together are below this share of every entry of the data."""


@final
@dataclass(frozen=True, eq=False)
class SumErrors:
    """Bounds of the rounding errors of sums in compressed rows.

    The rows are [Φ, y] = QR + F. With coefficients a = â + L v, where v are whitened coordinates,
    Φa = Φâ + Q(R_Φ L v) + F_Φ L v: errors of columns turn the fitted values by ‖F_Φ L‖ <= t. The
    products ΦᵀΦ and ΦᵀG_iΦ in whitened coordinates are then off by defect + 2t and
    defect + moved + 2t, and those with the residuals r by (defect + moved + t)‖r‖ and the errors of
    r. Of such products the forms of the sets consist (`FormMaker`).

    Attributes
    ----------
    lengths : array of shape (d + 1,)
        Lengths of the errors of the columns of Φ, and of y.
    moved : float
        Error of Qᵀ(G_i - I)Q, as an operator, and of QᵀQ.
    turned : float
        t.
    relative : float
        The largest error of a column, relative to its length; that of y relative to y less its
        mean.
    """

    lengths: Array
    moved: float
    turned: float
    relative: float

    @classmethod
    def of(cls, errors: Errors, objective: Quadratic) -> SumErrors:
        """Return the bounds, given those of the sums in the basis of the compressed rows."""
        back = objective.whitening.back * np.sqrt(objective.w[0] / objective.n)
        turned = float(errors.lengths[:-1] @ np.linalg.norm(back, axis=1))
        first, rows = int(objective.design.intercept), objective.design.matrix
        size = np.append(length(rows.T), length(objective.y[first:]))
        relative = np.divide(errors.lengths, size, out=np.zeros(len(size)), where=size > 0)
        largest = float(relative.max(initial=0.0))
        return cls(errors.lengths, errors.defect + errors.moved, turned, largest)

    @property
    def whole(self) -> float:
        """The error of the transformations with a quarter more, for products of errors.

        Everything is unknown if these are not small.
        """
        known = self.moved + self.turned + self.relative <= _LARGEST
        return 1.25 * self.moved if known else UNKNOWN


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
        off = abs(a) @ self.errors.lengths[:-1] + self.errors.lengths[-1]  # errors of the residuals
        # Where y and Φ a agree to rounding, so do their perturbations.
        terms = np.where(a != 0, abs(a) * self.least[:-1], np.inf).min(axis=1, initial=np.inf)
        floor = _HIDDEN * np.minimum(terms, self.least[-1])
        known_zero = np.asarray(~r.any(axis=1) & (off <= floor))
        r = np.where(known_zero[:, None], 0.0, o.residuals(a)[:, :h])
        pull, push = self._pull, o.whitening.push
        z0 = r @ pull.T - a @ push.T
        d = (r @ self._images.reshape(-1, h).T).reshape(len(a), -1, len(pull))

        # The rows of H^{-1/2} are parts of orthonormal vectors, known to rounding as a whole.
        whole = float(np.sqrt(o.w[0] / o.n))
        unit = 8 * EPS * (h + len(pull)) + self.errors.turned + self.errors.moved
        size = whole * np.linalg.norm(r, axis=1)
        size += np.sqrt(o.lam) * np.linalg.norm(a[:, first:], axis=1)
        e0 = unit * size[:, None] + off[:, None] * np.linalg.norm(pull, axis=1)
        seen = self._seen
        moved = np.linalg.norm(r[:, seen], axis=1)
        lost = self.errors.moved * moved + 2 * off
        e = lost[:, None] * np.linalg.norm(pull[:, seen], axis=1)
        e += 2 * unit * whole * moved[:, None]
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
        if lost.any() and self.errors.whole >= UNKNOWN:
            raise ValueError(
                "the rank of a candidate cannot be decided from sums over the rows: expected sums "
                "with known rounding errors, given columns that depend on each other up to "
                "rounding. Drop one of them, or build the region in memory with "
                "ua.confidence_region(estimator, X, y)."
            )
        if lost.any():
            raise ValueError(
                "the rank of a candidate cannot be decided from sums over the rows: expected "
                "statistics that differ by more than the rounding errors of the sums, given "
                f"{lost.max()} of {gaps.shape[1]} that do not. Build the region in memory "
                "with ua.confidence_region(estimator, X, y)."
            )
