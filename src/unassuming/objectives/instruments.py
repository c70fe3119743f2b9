"""The moments of instruments, which two-stage least squares makes as small as possible."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from unassuming._typing import Array
from unassuming.inputs import Roles
from unassuming.models import Equation
from unassuming.objectives.base import Weighting, named
from unassuming.objectives.designed import DesignedObjective
from unassuming.objectives.features import FeatureDesign
from unassuming.objectives.losses import SQUARES
from unassuming.objectives.score import Gradient, Score


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
    y, w : arrays of shape (n,)
        Outputs and weights.
    roles : Roles
        Which columns are endogenous, instruments and controls.
    intercept : bool
        Whether there is a column of ones.

    Examples
    --------
    >>> X, y, coefficients = ua.datasets.instrumented(n=50, random_state=0)
    >>> model = ua.InstrumentalRegression(endogenous=0, instruments=2)
    >>> objective = ua.objectives.from_instrumental_regression(model, X, y, None)
    >>> objective.names, objective.exogenous.names
    (['intercept', 'x1', 'x0'], ['intercept', 'x1', 'x2'])
    """

    def __init__(
        self, X: Array, y: Array, w: Array | None, roles: Roles, *, intercept: bool
    ) -> None:
        own, others = ([*roles.controls, *x] for x in (roles.endogenous, roles.instruments))
        design = FeatureDesign(X, intercept=intercept, columns=own)
        none, title = design.penalty(), "the moments of the instruments"
        super().__init__(
            design, y, w, SQUARES, none, weighting="instruments", scale=1 / len(y), title=title
        )
        self._exogenous = FeatureDesign(X, intercept=intercept, columns=others)
        self.roles, self.quadratic = roles, False
        self.endogenous = range(self.d - len(roles.endogenous), self.d)
        self._equation = Equation.of(X, roles, self.w, None, intercept=intercept)

    @property
    def exogenous(self) -> FeatureDesign:
        """W."""
        return self._exogenous

    @cached_property
    def pull(self) -> Array:
        """Wᵀ diag(w)."""
        return self._exogenous.matrix.T * self.w

    def score(self, weighting: Weighting) -> Score:
        """Return the moments with orthonormal exogenous columns, or Ψ times the moments."""
        if named(weighting) != "instruments":
            return super().score(weighting)
        A = self._exogenous.factor(self.w, self._exogenous.penalty()).Q.T * np.sqrt(self.w)
        push = np.zeros((len(A), self.d))
        return Gradient(self.loss, self.penalty, A, push, None, None, self.scale)

    def estimate(self) -> Array:
        """Return the estimate of two-stage least squares."""
        return self._equation.solve(self.y)

    def in_basis(self, Q: Array) -> None:
        """Keep the rows: the instruments are not rotated with the features."""

    def rename(self, names: Sequence[Any]) -> None:
        """Take the names of all columns of the inputs."""
        super().rename(names)
        self._exogenous.rename(names)
