"""The moments of instruments, which two-stage least squares makes as small as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from unassuming._typing import Array
from unassuming.inputs import Roles
from unassuming.models import Equation, InstrumentalRegression, roles_of
from unassuming.objectives._base import Weighting
from unassuming.objectives._designed import DesignedObjective
from unassuming.objectives._hyperparameters import row_weights
from unassuming.objectives._kinks import Kinks
from unassuming.objectives._registry import register_objective
from unassuming.objectives._score import LeastNormScore, Score
from unassuming.objectives.designs import FeatureDesign


@final
@dataclass(frozen=True)
class NoPenalty:
    """The subdifferential of a penalty that is zero: a (N, d) -> zeros (N, k), twice."""

    size: int

    def __call__(self, a: Array) -> tuple[Array, Array]:
        """Return zeros."""
        none = np.zeros((len(a), self.size))
        return none, none


@final
class InstrumentObjective(DesignedObjective):
    """‖(WᵀW)^(-1/2) Wᵀ(y - Φa)‖² for exogenous columns W and Φ = [1, controls, endogenous].

    The moments Wᵀr take the place of the gradient. W = [1, controls, instruments] does not depend
    on the noise, so they may be perturbed although columns of Φ do depend on it
    (docs/theory.md 14). With as many instruments as endogenous columns the moments vanish at the
    estimate; with more of them they do not, and the region may be empty.

    Parameters
    ----------
    X : array of shape (n, p)
        All columns.
    y : array of shape (n,)
    w : array of shape (n,)
        Weights of the rows.
    roles : Roles
        Which columns are endogenous, instruments and controls.
    intercept : bool

    Attributes
    ----------
    exogenous : FeatureDesign
        W.
    roles : Roles

    Examples
    --------
    >>> X, y, coefficients = ua.datasets.instrumented(n=50, random_state=0)
    >>> model = ua.InstrumentalRegression(endogenous=0, instruments=2)
    >>> objective = ua.objectives.from_instrumental_regression(model, X, y, None)
    >>> objective.names, objective.exogenous.names
    (['intercept', 'x1', 'x0'], ['intercept', 'x1', 'x2'])
    >>> a = objective.estimate()[None, :]
    >>> bool((np.abs(objective.gradient(a, objective.residuals(a))) < 1e-12).all())
    True
    """

    default_weighting: str = "instruments"
    independent: ClassVar[str] = "instruments, controls, weights, hyper-parameters and seed"
    equation: ClassVar[str] = (
        "y minus the noise is a linear function of the controls and the endogenous columns: the "
        "instruments act on y through these alone"
    )
    ideal: ClassVar[str] = (
        "the coefficients of the equation, those for which y minus its right-hand side is the noise"
    )

    design: FeatureDesign

    def __init__(self, X: Array, y: Array, w: Array, roles: Roles, *, intercept: bool) -> None:
        columns = [*roles.controls, *roles.endogenous]
        super().__init__(FeatureDesign(X, intercept=intercept, columns=columns), y)
        self.roles, self.w = roles, w
        self.exogenous = FeatureDesign(
            X, intercept=intercept, columns=[*roles.controls, *roles.instruments]
        )
        self._equation = Equation.of(X, roles, w, None, intercept=intercept)

    @property
    def endogenous(self) -> list[int]:
        """The positions of the endogenous columns among the coefficients."""
        return list(range(self.d - len(self.roles.endogenous), self.d))

    @property
    def excluded(self) -> list[str]:
        """The instruments."""
        return self.exogenous.names[-len(self.roles.instruments) :]

    def rename(self, names: Sequence[Any]) -> None:
        """Take the names of all columns of the inputs."""
        super().rename(names)
        self.exogenous.rename(names)

    def pullback(self) -> Array:
        """Return Wᵀ diag(w) / n."""
        return self.exogenous.matrix.T * (self.w / self.n)

    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return zero: there is no penalty."""
        return NoPenalty(self.exogenous.matrix.shape[1])(a)

    @property
    def sign_blind(self) -> bool:
        """True: the moments of -r are minus those of r."""
        return True

    def kinks(self) -> Kinks:
        """Return no kinks: the moments are linear in the coefficients."""
        return Kinks()

    def score(self, weighting: Weighting) -> Score:
        """Return the moments with orthonormal exogenous columns, or Ψ times the moments."""
        if isinstance(weighting, str) and weighting == "instruments":
            basis = self._equation.basis
            pull = basis.T * (self._equation.root / np.sqrt(self.n))
            return LeastNormScore(pull, None, NoPenalty(basis.shape[1]), None)
        return super().score(weighting)

    def named_weighting(self, weighting: str) -> Array | None:
        """Return the identity; the score makes (WᵀW)^(-1/2) itself."""
        if weighting == "identity":
            return None
        raise self._refused_weighting(weighting, "'instruments', 'identity' or a matrix")

    def estimate(self) -> Array:
        """Return the estimate of two-stage least squares."""
        return self._equation.solve(self.y)

    def __str__(self) -> str:
        return "the moments of the instruments"


def from_instrumental_regression(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> InstrumentObjective:
    """Build ‖(WᵀW)^(-1/2) Wᵀr‖² with weighted rows.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`; the columns are given by numbers.

    Examples
    --------
    >>> X, y, _ = ua.datasets.instrumented(n=50, instruments=2, random_state=0)
    >>> model = ua.InstrumentalRegression(endogenous=0, instruments=[2, 3])
    >>> len(from_instrumental_regression(model, X, y, None).excluded)
    2
    """
    roles = roles_of(estimator, None, X.shape[1])
    w = row_weights(sample_weight, y)
    return InstrumentObjective(X, y, w, roles, intercept=bool(estimator.fit_intercept))


register_objective(InstrumentalRegression, from_instrumental_regression)
