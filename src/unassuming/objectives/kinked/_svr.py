"""The dual of ε-insensitive support vector regression (docs/theory.md 5)."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.models.solvers import epsilon_svr, l1_subdifferential
from unassuming.objectives._designed import DesignedObjective
from unassuming.objectives._kinks import Kinks
from unassuming.objectives.designs import KernelDesign


class SVRObjective(DesignedObjective):
    """Minus the dual, ½ aᵀKa - yᵀa + ε̄‖a‖₁ with ``|a_j| <= C``; residuals r = y - Ka - b.

    The gradient in the dual coefficients is -r plus the subgradient of ε̄‖a‖₁, and at a_j = ±C plus
    the normal cone of the box. Beyond the box the formula without the cone is used, since ideal
    coefficients do not depend on C. The paper's c is n C; its formula covers neither the box nor
    zero coordinates nor a bias.

    Parameters
    ----------
    design : KernelDesign
    y : array of shape (n,)
    C : float
    epsilon : float
        ε̄.

    Examples
    --------
    >>> objective = SVRObjective(KernelDesign(np.eye(2)), np.array([3.0, -1.0]), C=2.0, epsilon=0.1)
    >>> low, high = objective.subdifferential(np.array([[2.0, 0.0]]))
    >>> low, high
    (array([[ 0.1, -0.1]]), array([[inf, 0.1]]))
    """

    default_weighting: str = "gram"

    def __init__(self, design: KernelDesign, y: Array, C: float, epsilon: float) -> None:
        super().__init__(design, y)
        self.kernel = design
        self.C = C
        self.epsilon = epsilon

    def pullback(self) -> None:
        """Return None, the identity: the dual gradient is the residual itself."""

    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return ε̄ sign(a), a box at a_j = 0 and a half-line at a_j = ±C."""
        dual = a[:, int(self.design.intercept) :]
        lo, hi = l1_subdifferential(dual, self.epsilon)
        return np.where(dual == -self.C, -np.inf, lo), np.where(dual == self.C, np.inf, hi)

    def kinks(self) -> Kinks:
        """Return the zeros of the dual coefficients and the sides of the box."""
        values = [-self.C, 0.0, self.C] if np.isfinite(self.C) else [0.0]
        dual = np.arange(int(self.design.intercept), self.d)
        return Kinks(coefficient=dual, values=np.tile(values, (len(dual), 1)))

    def named_weighting(self, weighting: str) -> Array | None:
        """Return the identity or ``|K|^{1/2}``."""
        if weighting == "identity":
            return None
        if weighting == "gram":
            return self.kernel.kernel_root()
        why = ""
        if weighting == "hessian":
            why = ", whose Hessian is the kernel matrix and may have no inverse"
        raise self._refused_weighting(weighting, "'gram', 'identity' or a matrix", why)

    def estimate(self) -> Array:
        """Return [b, a]."""
        fit_intercept = self.design.intercept
        b, a = epsilon_svr(self.kernel.K, self.y, self.C, self.epsilon, fit_intercept=fit_intercept)
        return np.concatenate([[b], a]) if fit_intercept else a

    def __str__(self) -> str:
        return "ε-SVR"
