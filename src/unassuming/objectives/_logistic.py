"""Logistic regression on labels ±1 (docs/theory.md 8)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.models.solvers import l1_subdifferential, logistic
from unassuming.objectives._base import Weighting, rounding_of_difference
from unassuming.objectives._designed import DesignedObjective
from unassuming.objectives._quadratic import SmoothObjective
from unassuming.objectives._score import Score
from unassuming.objectives.designs import FeatureDesign

_LARGEST = float(np.nextafter(1.0, 0.0))


class LogisticObjective(SmoothObjective):
    """Σ w log(1 + exp(-y g)) / n + (λ/2) ‖coef‖² + penalty ‖coef‖₁ with log-odds g = Φa.

    The fitted values are the means of the labels, f = tanh(g/2) = E[y | x], so that the loss has
    the derivative -(y - f)/2 in g and minus the gradient is ΦᵀW(y - f)/(2n) - λPa. The second
    derivative (1 - f²)/4 is at most 1/4: H = ΦᵀWΦ/(4n) + λP, a function of inputs and
    hyper-parameters alone, takes the place of the Hessian. ``w`` holds a quarter of the weights.

    A function with values ±1 has infinite log-odds, which `coefficients` cuts off.

    The penalty is not perturbed: with a small C very large coefficients, up to log-odds of ±37, may
    be accepted too. Coverage stays exact, but inner bounds and samples are hardly informative
    (docs/theory.md 8).

    Parameters
    ----------
    design : FeatureDesign
    y : array of shape (n,)
        Labels ±1.
    w : array of shape (n,)
        Weights.
    lam : float
        λ.
    penalty : float
        Weight of the absolute values of all coefficients but the intercept.

    Examples
    --------
    >>> design = FeatureDesign(X, intercept=True)
    >>> objective = LogisticObjective(design, np.sign(y), np.ones(50), 0.1, penalty=0.0)
    >>> objective.fitted(np.zeros((1, 3)))[:, :2]
    array([[0., 0.]])
    """

    labels_only: ClassVar[bool] = True
    spanned: ClassVar[str] = "the log-odds of P(y = 1 | x)"

    def __init__(
        self, design: FeatureDesign, y: Array, w: Array, lam: float, penalty: float
    ) -> None:
        super().__init__(design, y, w / 4, lam)
        self.penalised = design.penalised
        self.penalty = penalty * design.penalised

    def influence(self, r: Array) -> Array:
        """Return 2r: with a quarter of the weights, half the residual."""
        return 2 * r

    def response(self, g: Array) -> Array:
        """Return tanh(g/2)."""
        return np.tanh(g / 2)

    def residual_error(self, coefficients: Array, residuals: Array) -> Array:
        """Bound the rounding error of y - tanh(g/2), whose derivative in g is (1 - f²)/2."""
        f = self.y - residuals
        slope = (1 - f**2) / 2
        return rounding_of_difference(self.y, f) + slope * self.product_error(coefficients)

    def coefficients(self, values: Array) -> Array:
        """Return the least-norm coefficients of the log-odds 2 artanh f.

        Values beyond ±(1 - 2⁻⁵³), the numbers next to ±1, are replaced by these, which limits
        log-odds to ±37.4. The rule uses the inputs only, which keeps tests exact.
        """
        return super().coefficients(2 * np.arctanh(np.clip(values, -_LARGEST, _LARGEST)))

    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return λPa + penalty · sign(a), and a box where a penalised a_j = 0."""
        ridge = super().subdifferential(a)[0]
        lo, hi = l1_subdifferential(a, self.penalty)
        return ridge + lo, ridge + hi

    def penalty_terms(self, a: Array) -> Array:
        """Return the sizes of the terms of both penalties."""
        return super().penalty_terms(a) + self.penalty

    @property
    def sign_blind(self) -> bool:
        """True without a penalty."""
        return super().sign_blind and not self.penalty.any()

    def score(self, weighting: Weighting) -> Score:
        """Return the weighted gradient; absolute values need the box in the coefficients."""
        kind = DesignedObjective if self.penalty.any() else SmoothObjective
        return kind.score(self, weighting)

    def named_weighting(self, weighting: str) -> Array | None:
        """Return H^{-1/2} on its range, up to a rotation, or a weighting of every objective."""
        if weighting == "hessian":
            return self.whitening.back.T
        return super().named_weighting(weighting)

    def estimate(self) -> Array:
        """Return the minimiser; labels of one class have none, since the intercept is free."""
        if self.design.intercept and (self.y == self.y[0]).all():
            raise NotAvailable(
                "the estimate of logistic regression needs labels of both classes: all labels are "
                "equal, so the likelihood has no maximum. Pass candidates to rank, contains and "
                "test, or an origin to crossings, or use RidgeClassifier or ua.LSSVC, which have "
                "an estimate."
            )
        ridge = self.lam * self.penalised
        return logistic(self.design.matrix, self.y, 4 * self.w / self.n, ridge, self.penalty)

    def __str__(self) -> str:
        return "logistic regression"
