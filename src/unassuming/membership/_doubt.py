"""Errors of statistics in double precision that the residuals do not show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from unassuming._rounding import EPS, length, powers_of_two
from unassuming._typing import Array
from unassuming._words import joined
from unassuming.objectives import (
    FeatureWhitening,
    Images,
    Quadratic,
    entry_errors,
    projector_error,
)


@final
@dataclass(frozen=True, eq=False)
class Doubt:
    """Errors of the whitening and of kernel values: beyond them double precision decides.

    Attributes
    ----------
    defect : float
        Bound on the error of the projector QQᵀ on the range of the stacked design
        [W^{1/2}Φ/√n; √λ P^{1/2}].
    entries : array of shape (n, d), or None
        Bounds on the errors of the entries of Φ; None if they are as given.
    """

    objective: Quadratic
    defect: float
    entries: Array | None

    @classmethod
    def of(cls, objective: Quadratic) -> Self:
        """Return the errors of one objective."""
        design, white = objective.design, objective.whitening
        defect = projector_error(design, objective.w, objective.lam, white)
        return cls(objective, defect, entry_errors(design))

    @property
    def penalised(self) -> Array:
        """Sizes (d,) of the coefficients in the penalty, where the terms of Ka may cancel."""
        o, design = self.objective, self.objective.design
        if not design.dual:
            return np.zeros(o.d)
        own = np.sqrt(o.n) * o.lam / np.sqrt(o.w)
        return np.concatenate([np.zeros(int(design.intercept)), own])

    def residuals(self, a: Array) -> Array | float:
        """Bound the errors of residuals of candidates (N, d) by those of Φ, shape (N, n)."""
        return 0.0 if self.entries is None else np.abs(a) @ self.entries.T

    def gradient(self, a: Array) -> float:
        """Bound ‖z_0‖, the length of the whitened gradient at a candidate (d,), from above."""
        o, white = self.objective, self.objective.whitening
        r, pull = o.residuals(a[None, :]), white.pull(o.w)
        error = o.residual_error(a[None, :], r) + self.residuals(a[None, :])
        found = pull @ r[0] - white.push @ a
        terms = length(np.abs(pull) @ np.abs(r[0])) + length(np.abs(white.push) @ np.abs(a))
        rounding = 2 * EPS * (o.n + o.d) * terms + length(error * np.sqrt(o.w / o.n))[0]
        held = self._held(a[None, :])[0] + length(r * np.sqrt(o.w / o.n))[0]
        with np.errstate(over="ignore"):  # an infinite bound decides nothing
            return float(length(found) + rounding + (self.defect * held if held else 0.0))

    def gaps(self, a: Array, images: Images) -> tuple[Array, Array]:
        """Bound the errors of Z_i - Z_0 by products of two, (N, m - 1) each.

        They come from the error of the projector.
        """
        moved, whole = self.sizes(a, images.residuals, images.perturbed)
        with np.errstate(over="ignore"):  # an infinite bound decides nothing
            return np.where(moved > 0, self.defect, 0.0) * moved, whole

    def sizes(self, a: Array, residuals: Array, perturbed: Array) -> tuple[Array, Array]:
        """Return the lengths of what z_i - z_0 and z_i + z_0 are projections of, (N, m - 1)."""
        o, r = self.objective, residuals[:, None, :]
        root = np.sqrt(o.w / o.n)
        moved, whole = length((perturbed - r) * root), length((perturbed + r) * root)
        return moved, whole + 2 * self._held(a)[:, None]

    def _held(self, a: Array) -> Array:
        """Return the lengths of the penalty's part of the stacked residuals, (N,)."""
        o, size = self.objective, powers_of_two(np.abs(a).max(axis=1, initial=0.0))
        scaled = a / size[:, None]  # squares of the coefficients may overflow
        penalty = np.einsum("nk,nk->n", scaled @ o.design.penalty_matrix(), scaled)
        held = np.sqrt(o.lam) * size * np.sqrt(np.abs(penalty))
        return np.asarray(held + np.abs(a) @ self.penalised)

    def of_product(self, one: tuple[Array, Array], two: tuple[Array, Array]) -> Array:
        """Bound the error of an inner product of z_i - z_0 with another z_i + z_0, by sizes."""
        with np.errstate(over="ignore"):  # an infinite bound decides nothing
            size = one[0] * two[1]
            return np.asarray(np.where(size > 0, self.defect, 0.0) * size)


def columns_in_doubt(objective: Quadratic) -> list[str]:
    """Return the features that depend on each other so nearly that their projector has an error.

    None if its error does not exceed the rounding of inner products, which is allowed for anyway.
    """
    white = objective.whitening
    if not isinstance(white, FeatureWhitening) or objective.design.rounding:
        return []
    if white.defect <= 8 * EPS * sum(white.q.shape):
        return []
    # Their combinations are long: it takes much of each to move the fitted values by a unit.
    size = np.abs(white.factor.back) * white.factor.unit[:, None]
    longest = size[:, np.argmax(np.linalg.norm(size, axis=0))]
    return [objective.names[j] for j in np.flatnonzero(longest > 0.01 * longest.max())]


def undecided_columns(objective: Quadratic) -> ArithmeticError:
    """Return the refusal of a rank that depends on whether columns are independent."""
    return ArithmeticError(about_columns_in_doubt("the rank of the candidate", objective))


def about_columns_in_doubt(what: str, objective: Quadratic) -> str:
    """Say that something depends on whether columns are independent; empty if none is in doubt."""
    columns = columns_in_doubt(objective)
    if not columns:
        return ""
    return (
        f"{what} cannot be decided in double precision: expected features that are independent, or "
        f"dependent to the last digit, given {joined(columns)}, which depend on each other up to "
        "rounding. Drop one of them, or round them to fewer digits."
    )
