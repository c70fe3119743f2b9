"""A fit with as little bias as can be: residuals to test the noise by.

The estimate of a model is pulled towards zero by its penalty, and its residuals keep what the
penalty took: they have a sign, a size and an order that the noise has not. What the guarantee rests
on leaves room for better ones. If the truth lies in the span of fewer features than rows, least
squares on them leaves nothing of it: r = (I - H)(f* + e) = (I - H) e, whatever the penalty. A
kernel, or as many features as rows, can only be smoothed: with the penalty that generalised
cross-validation takes, which balances the bias with the variance, and some bias is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

from unassuming._rounding import rank_cut
from unassuming._typing import Array
from unassuming.objectives import Design, FeatureDesign, KernelDesign, Objective

_PENALTIES = 80


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Fitted values U diag(s) Uᵀ z of outputs z, and a sentence about what they are."""

    basis: Array
    shrinkage: Array
    about: str

    def residuals(self, outputs: Array) -> Array:
        """Return z minus the fitted values, (..., n) -> (..., n)."""
        return np.asarray(outputs - ((outputs @ self.basis) * self.shrinkage) @ self.basis.T)


def least_biased_fit(objective: Objective) -> LinearFit | None:
    """Return the fit; None for a model that is not linear in its coefficients, or not known."""
    design = getattr(objective, "design", None)
    if not isinstance(design, Design) or objective.spanned:
        return None
    u, s, _ = svd(design.matrix, full_matrices=False)
    u = u[:, s > rank_cut(design.matrix.shape) * s[0]]
    n, rank = u.shape
    few = n - 1 if isinstance(design, FeatureDesign) else n // 2
    if rank <= few and not design.spans_everything:
        return LinearFit(
            u,
            np.ones(rank),
            f"The tests look at the residuals of least squares on the {rank} independent "
            "features: unlike those of the estimate they have no bias if the truth is in their "
            "span.",
        )
    return _smoothed(design, objective.y)


def _smoothed(design: Design, y: Array) -> LinearFit:
    """Ridge in the kernel, or the features, with the penalty of generalised cross-validation."""
    n, K = len(y), _kernel_of(design)
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
        if freedom > n / 2:  # what is left would be no noise any more, but interpolation
            break
        score = float(np.sum(((1 - s) * z) ** 2)) / (n - freedom) ** 2
        if score < best:
            best, shrinkage = score, s
    if design.intercept:
        u, shrinkage = np.column_stack([ones, u]), np.concatenate([[1.0], shrinkage])
    return LinearFit(
        u,
        shrinkage,
        "The tests look at the residuals of a smooth fit, whose penalty generalised "
        "cross-validation has chosen. It may be biased where the truth bends, and then p-values "
        "are small though nothing is wrong with the noise; and dependence between neighbours may "
        "pass for a truth that bends, and then they are not.",
    )


def _kernel_of(design: Design) -> Array:
    if isinstance(design, KernelDesign):
        return design.K
    features = design.matrix[:, int(design.intercept) :]
    return np.asarray(features @ features.T)
