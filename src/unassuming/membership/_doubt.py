"""Errors of statistics in double precision that the residuals do not show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from unassuming._rounding import length
from unassuming._typing import Array
from unassuming.objectives import Images, Quadratic, entry_errors, projector_error


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

    def gaps(self, a: Array, images: Images) -> Array:
        """Bound the errors of Z_i - Z_0 by that of the projector, shape (N, m - 1)."""
        sizes = self.sizes(a, images.residuals, images.perturbed)
        return self.of_product(sizes, sizes)

    def sizes(self, a: Array, residuals: Array, perturbed: Array) -> tuple[Array, Array]:
        """Return the lengths of what z_i - z_0 and z_i + z_0 are projections of, (N, m - 1)."""
        o, r = self.objective, residuals[:, None, :]
        root = np.sqrt(o.w / o.n)
        moved, whole = length((perturbed - r) * root), length((perturbed + r) * root)
        penalty = np.einsum("nk,nk->n", a @ o.design.penalty_matrix(), a)
        held = np.sqrt(o.lam * np.abs(penalty)) + np.abs(a) @ self.penalised
        return moved, whole + 2 * held[:, None]

    def of_product(self, one: tuple[Array, Array], two: tuple[Array, Array]) -> Array:
        """Bound the error of an inner product of z_i - z_0 with another z_i + z_0, by sizes."""
        size = one[0] * two[1]
        return np.asarray(np.where(size > 0, self.defect, 0.0) * size)
