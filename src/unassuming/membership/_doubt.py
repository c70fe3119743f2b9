"""Errors of statistics in double precision that the residuals do not show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from unassuming._rounding import EPS, length
from unassuming._typing import Array
from unassuming.objectives import Images, KernelDesign, Quadratic


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
        design, n = objective.design, objective.n
        if not isinstance(design, KernelDesign):
            return cls(objective, objective.whitening.defect, None)
        largest = float(np.abs(design.spectrum[0]).max() * objective.w.max())
        ratio = 1 + largest / (n * objective.lam)
        # Through features the condition is the root of that of the kernel matrix.
        defect = 16 * n * EPS * (ratio if design.features is None else np.sqrt(ratio))
        errors = _kernel_errors(design)
        if errors is not None and design.intercept:
            errors = np.column_stack([np.zeros(n), errors])
        return cls(objective, float(defect), errors)

    @property
    def penalised(self) -> Array:
        """Sizes (d,) of the coefficients in the penalty, where the terms of Ka may cancel."""
        o, design = self.objective, self.objective.design
        if not isinstance(design, KernelDesign):
            return np.zeros(o.d)
        own = np.sqrt(o.n) * o.lam / np.sqrt(o.w)
        return np.concatenate([np.zeros(int(design.intercept)), own])

    def residuals(self, a: Array) -> Array | float:
        """Bound the errors of residuals of candidates (N, d) by those of Φ, shape (N, n)."""
        return 0.0 if self.entries is None else np.abs(a) @ self.entries.T

    def gaps(self, a: Array, images: Images) -> Array:
        """Bound the errors of Z_i - Z_0 by that of the projector, shape (N, m - 1)."""
        o, r = self.objective, images.residuals[:, None, :]
        root = np.sqrt(o.w / o.n)
        moved = length((images.perturbed - r) * root)
        whole = length((images.perturbed + r) * root)
        penalty = np.einsum("nk,nk->n", a @ o.design.penalty_matrix(), a)
        held = np.sqrt(o.lam * np.abs(penalty)) + np.abs(a) @ self.penalised
        whole = whole + 2 * held[:, None]
        size = moved * whole
        return np.asarray(np.where(size > 0, self.defect, 0.0) * size)


def _kernel_errors(design: KernelDesign) -> Array | None:
    """Bound the errors of computed kernel values, (n, n); None if they are as given."""
    kernel = design.kernel
    if kernel is None or kernel.precomputed:
        return None
    X, p = kernel.X, kernel.X.shape[1]
    if kernel.gaussian is not None:
        squares = (X**2).sum(axis=1)
        exponent = kernel.gaussian * (squares[:, None] + squares)
        return np.asarray(EPS * (4 + 2 * (p + 4) * exponent) * design.K)
    if kernel.polynomial is None or kernel.polynomial.normalised:
        return None
    size, total = np.abs(X) @ np.abs(X).T, np.zeros_like(design.K)
    for c in reversed(kernel.polynomial.c):
        total = total * size + c
    return np.asarray((p + 4 * kernel.polynomial.degree) * EPS * total)
