"""Objectives with a quadratic penalty: squares and Huber's loss, features and kernels."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import final

import numpy as np

from unassuming._typing import Array
from unassuming.objectives._base import Weighting
from unassuming.objectives._designed import DesignedObjective
from unassuming.objectives._kinks import Kinks
from unassuming.objectives._score import LeastNormScore, Score
from unassuming.objectives.designs import Complement, Design, Whitening


class SmoothObjective(DesignedObjective):
    """A loss of weighted residuals plus λ aᵀPa; minus the gradient is ΦᵀW ρ(r)/n - λPa.

    The default weighting is H^{-1/2} with H = ΦᵀWΦ/n + λP. It is computed without dividing by
    eigenvalues of a kernel matrix.
    """

    default_weighting: str = "hessian"

    def __init__(self, design: Design, y: Array, w: Array, lam: float) -> None:
        super().__init__(design, y)
        self.w, self.lam = w, lam

    def pullback(self) -> Array:
        """Return ΦᵀW/n."""
        return self.design.matrix.T * (self.w / self.n)

    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return λPa for both ends: the penalty is smooth."""
        point = self.lam * (a @ self.design.penalty_matrix())
        return point, point

    @property
    def sign_blind(self) -> bool:
        """True without a penalty: ρ is odd, so Z(a, -r) = Z(a, r)."""
        return self.lam == 0

    def score(self, weighting: Weighting) -> Score:
        """Return the whitened gradient, or Ψ times the gradient."""
        if isinstance(weighting, str) and weighting == "hessian":
            pull = self.whitening.pull(self.w)
            penalty, terms = self.whitened_subdifferential, self.whitened_penalty_terms
            return LeastNormScore(pull, self.influence, penalty, None, terms, self.w / self.n)
        return super().score(weighting)

    def penalty_terms(self, a: Array) -> Array:
        """Return λ ``|P| |a|``, the terms that λPa sums."""
        return self.lam * (np.abs(a) @ np.abs(self.design.penalty_matrix()))

    def whitened_penalty_terms(self, a: Array) -> Array:
        """Return the terms that H^{-1/2} λPa sums."""
        return np.asarray(np.abs(a) @ np.abs(self.whitening.push).T)

    def whitened_subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return H^{-1/2} λPa for both ends."""
        point = a @ self.whitening.push.T
        return point, point

    @cached_property
    def whitening(self) -> Whitening:
        """Coordinates in which H is the identity."""
        return self.design.whiten(self.w, self.lam)

    @cached_property
    def seen(self) -> Array:
        """The whitened directions that change fitted values, shape (k, r)."""
        return self.whitening.seen()

    @cached_property
    def back(self) -> Array:
        """From these directions to coefficients: a - â = back v, shape (d, r)."""
        return self.whitening.back @ self.seen

    @cached_property
    def forward(self) -> Array:
        """From coefficients to these directions, shape (r, d)."""
        white = self.whitening
        return self.seen.T @ (white.push + white.pull(self.w) @ self.design.matrix)

    @abstractmethod
    def estimate(self) -> Array:
        """Return the minimiser."""

    def named_weighting(self, weighting: str) -> Array | None:
        """Return the identity or the root of the Gram matrix."""
        if weighting == "identity":
            return None
        if weighting == "gram":
            return self.design.gram_root()
        gram = "'gram', " if self.design.dual else ""
        raise self._refused_weighting(weighting, f"'hessian', 'identity', {gram}or a matrix")


@final
class Quadratic(SmoothObjective):
    """(1/n) (y - Φa)ᵀ W (y - Φa) + λ aᵀPa: least squares, ridge, kernel ridge and LS-SVC.

    λ = alpha / n, with scikit-learn's ``alpha``. LS-SVC with ½‖w‖² + C Σ ξ² has alpha = 1/(2C): the
    slack of a label ±1 is its residual up to sign, so LS-SVC is ridge regression on the labels
    (docs/theory.md 4).

    Parameters
    ----------
    design : Design
    y : array of shape (n,)
    w : array of shape (n,)
        The diagonal of W.
    lam : float
        λ.

    Examples
    --------
    >>> design = ua.objectives.FeatureDesign(np.array([[0.0], [1.0]]), intercept=True)
    >>> objective = Quadratic(design, np.array([1.0, 3.0]), np.ones(2), 0.0)
    >>> objective.estimate().round(6)
    array([1., 2.])
    >>> objective.gradient(np.ones((1, 2)), np.array([[0.0, 1.0]]))
    array([[-0.5, -0.5]])
    """

    @cached_property
    def complement(self) -> Complement:
        """I - S, in units of the square roots of the weights."""
        return self.design.complement(self.w, self.lam, self.whitening)

    @cached_property
    def primal(self) -> Quadratic | None:
        """The same objective on the features of a kernel, if it is known to have few.

        Fitted values, norm and tests are the same. The condition of the features is the root of
        that of the kernel matrix, so bounds are computed there.
        """
        design = self.design.primal()
        return None if design is None else Quadratic(design, self.y, self.w, self.lam)

    @cached_property
    def primal_estimate(self) -> Array:
        """The minimiser in terms of these features."""
        assert self.primal is not None
        return self.primal.estimate()

    def in_basis(self, Q: Array) -> Quadratic | None:
        """Rotate the rows, which leaves the sum of squares as it is if all weights are equal."""
        return self.rotated(Q, lambda design, y: Quadratic(design, y, self.w, self.lam))

    def kinks(self) -> Kinks:
        """Return no kinks: the objective is one quadratic."""
        return Kinks()

    def estimate(self) -> Array:
        """Return the least squares solution."""
        return self.design.least_squares(self.y, self.w, self.lam)

    def __str__(self) -> str:
        return "the quadratic objective"
