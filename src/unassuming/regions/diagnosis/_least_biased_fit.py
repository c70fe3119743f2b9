"""A fit with little bias, whose residuals can be used to test the noise.

A penalty pulls the estimate of a model towards zero, and its residuals inherit bias, scale and
serial structure that the noise does not have. If the truth lies in the span of fewer features than
rows, the residuals of least squares on them have no bias: r = (I - H)(f* + e) = (I - H) e. A kernel
of full rank leaves no residuals. Its leading eigenfunctions are used as features instead, as many
as generalised cross-validation chooses. The part of the truth outside their span remains in the
residuals, and so does a trace of the choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, final

import numpy as np
from scipy.linalg import eigh

from unassuming._numerics import factor
from unassuming._typing import Array
from unassuming.objectives import KernelDesign, Objective

_ROWS_FOR_EACH = 4  # eigenfunctions: at most one for so many rows
_NEGLIGIBLE = 1e-6  # eigenvalues below this share of the largest one
_SMOOTHEST = 4  # eigenfunctions along which the spread is compared


@final
@dataclass(frozen=True, eq=False)
class LinearFit:
    """Least squares on a few features.

    Attributes
    ----------
    basis : array of shape (n, k)
        Orthonormal columns with the span of the features.
    along : array of shape (n, l)
        The columns along which the spread of the noise might change.
    exact : bool
        Whether the span contains the truth if the model does.
    about : str
        A sentence about the residuals.
    """

    basis: Array
    along: Array
    exact: bool
    about: str

    def residuals(self, outputs: Array) -> Array:
        """Return z minus the fitted values, (..., n) -> (..., n)."""
        return np.asarray(outputs - (outputs @ self.basis) @ self.basis.T)


def least_biased_fit(objective: Objective) -> LinearFit | None:
    """Return the fit; None without a design, or if it models something other than the outputs."""
    design = objective.design
    if design is None or objective.quantile is not None or objective.endogenous:
        return None
    if objective.labels_only:
        return None
    u = factor(design.matrix, np.ones(objective.n), intercept=design.intercept).Q
    n, rank = u.shape
    if design.dual and (design.spans_everything or rows_needed(rank) > n):
        return _leading(cast(KernelDesign, design), objective.y)
    return LinearFit(
        u,
        u,
        True,
        f"The tests use the residuals of least squares on the {rank} independent features: "
        "unlike those of the estimate, they have no bias if the truth is in their span.",
    )


def rows_needed(rank: int) -> int:
    """Return how many rows leave five degrees of freedom beside two designs of that rank."""
    return 2 * rank + 5


def _leading(design: KernelDesign, y: Array) -> LinearFit:
    """Least squares on the leading eigenfunctions of a kernel."""
    n, K = len(y), design.K
    ones = np.ones((n, 1)) / np.sqrt(n)
    if design.intercept:
        K = K - ones @ (ones.T @ K)
        K = K - (K @ ones) @ ones.T
    most = max(1, n // _ROWS_FOR_EACH)
    values, u = eigh((K + K.T) / 2, subset_by_index=[n - most, n - 1])
    u = u[:, ::-1][:, values[::-1] > _NEGLIGIBLE * values[-1]]
    z = y - y.mean() if design.intercept else y
    left = z @ z - np.cumsum(np.square(u.T @ z))  # with 1, 2, ... eigenfunctions
    freedom = n - design.intercept - np.arange(1, len(left) + 1)
    count = 1 + int(np.argmin(left / np.square(freedom))) if len(left) else 0
    u = u[:, :count]
    return LinearFit(
        np.column_stack([ones, u]) if design.intercept else u,
        u[:, :_SMOOTHEST],
        False,
        f"The tests use the residuals of least squares on the leading {count} eigenfunctions of "
        "the kernel, a number chosen by generalised cross-validation. If the true function varies "
        "more than they can, p-values are small even if nothing is wrong with the noise. "
        "Dependence between neighbours may be mistaken for variation of the function, and then "
        "p-values are not small.",
    )
