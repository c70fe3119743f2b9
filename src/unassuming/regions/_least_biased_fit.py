"""A fit with little bias, whose residuals can be used to test the noise.

A penalty pulls the estimate of a model towards zero, and its residuals inherit bias, scale and
serial structure that the noise does not have. If the truth lies in the span of fewer features than
rows, the residuals of least squares on them have no bias: r = (I - H)(f* + e) = (I - H) e. With a
kernel, or as many features as rows, the data are smoothed instead, with a penalty chosen by
generalised cross-validation, and some bias remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import eigh, svd

from unassuming._rounding import rank_cut
from unassuming._typing import Array
from unassuming.objectives import Design, Objective

_PENALTIES = 80


@final
@dataclass(frozen=True, eq=False)
class LinearFit:
    """Fitted values U diag(s) Uᵀ z of outputs z, and a sentence about them."""

    basis: Array
    shrinkage: Array
    about: str

    def residuals(self, outputs: Array) -> Array:
        """Return z minus the fitted values, (..., n) -> (..., n)."""
        return np.asarray(outputs - ((outputs @ self.basis) * self.shrinkage) @ self.basis.T)


def least_biased_fit(objective: Objective) -> LinearFit | None:
    """Return the fit; None without a design, or if it models something other than the outputs."""
    design = objective.design
    if design is None or objective.spanned:
        return None
    u, s, _ = svd(design.matrix, full_matrices=False)
    u = u[:, s > rank_cut(design.matrix.shape) * s[0]]
    n, rank = u.shape
    few = n // 2 if design.dual else n - 1
    if rank <= few and not design.spans_everything:
        return LinearFit(
            u,
            np.ones(rank),
            f"The tests use the residuals of least squares on the {rank} independent features: "
            "unlike those of the estimate, they have no bias if the truth is in their span.",
        )
    return _smoothed(design, objective.y)


def _smoothed(design: Design, y: Array) -> LinearFit:
    """Ridge in the kernel, or the features, with the penalty of generalised cross-validation."""
    n, K = len(y), design.gram()
    ones = np.ones((n, 1)) / np.sqrt(n)
    if design.intercept:  # it takes part without a penalty
        K = K - ones @ (ones.T @ K)
        K = K - (K @ ones) @ ones.T
    values, u = eigh((K + K.T) / 2)
    values = np.clip(values, 0.0, None)
    z = u.T @ (y - y.mean() if design.intercept else y)
    best, shrinkage = np.inf, np.zeros(n)
    for penalty in np.geomspace(1e3, 1e-12, _PENALTIES) * max(float(values[-1]), 1e-300):
        s = values / (values + penalty)
        freedom = float(s.sum()) + design.intercept
        if freedom > n / 2:  # close to interpolation: the residuals would not resemble the noise
            break
        score = float(np.sum(((1 - s) * z) ** 2)) / (n - freedom) ** 2
        if score < best:
            best, shrinkage = score, s
    if design.intercept:
        u, shrinkage = np.column_stack([ones, u]), np.concatenate([[1.0], shrinkage])
    return LinearFit(
        u,
        shrinkage,
        "The tests use the residuals of a smooth fit, whose penalty was chosen by generalised "
        "cross-validation. If it is biased where the truth bends, p-values are small even if "
        "nothing is wrong with the noise. Dependence between neighbours may pass for a truth that "
        "bends, and then p-values are not small.",
    )
