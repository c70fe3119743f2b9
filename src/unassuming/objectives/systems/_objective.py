"""Least squares for a system with past outputs and inputs (docs/theory.md 15)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unassuming._errors import NotAvailable
from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.inputs import Orders, as_orders, as_series
from unassuming.models import ARX, least_squares
from unassuming.objectives._accurate import accurate_residuals
from unassuming.objectives._base import Objective, Weighting
from unassuming.objectives._registry import register_objective
from unassuming.objectives.systems._score import SimulatedScore
from unassuming.objectives.systems._series import Series


class ArxObjective(Objective):
    """Σ r_t² with residuals r_t = y_t - Σ a_k y_{t-k} - Σ b_k u_{t-delay-k+1}.

    The regressors contain past outputs, and these contain past noise. So the gradient for other
    residuals is that of the outputs which a candidate produces with them, from the same inputs and
    initial values.

    Parameters
    ----------
    series : Series

    Examples
    --------
    >>> u, y, coefficients = ua.datasets.arx(n=50, random_state=0)
    >>> objective = ua.confidence_region(ua.ARX(1, 1), u, y, random_state=0).objective
    >>> objective.names, objective.n
    (['a1', 'b1'], 49)
    >>> r = objective.residuals(objective.estimate()[None, :])
    >>> bool(np.abs(objective.gradient(objective.estimate()[None, :], r)).max() < 1e-12)
    True
    """

    default_weighting: str = "hessian"
    undesigned: ClassVar[str] = (
        "inputs that do not depend on the noise, and those of {objective} contain past outputs: "
        "use contains, test, crossings, reach, sample or ua.plots.coefficients"
    )
    ideal: ClassVar[str] = "the coefficients of the system that produced the outputs"
    independent: ClassVar[str] = "input, initial values, orders and seed"
    assumed: ClassVar[tuple[str, ...]] = (
        "the outputs follow the recursion of the model, and the noise enters it as the last term",
        "the input, if there is one, does not react to the output (no feedback)",
    )

    def __init__(self, series: Series) -> None:
        super().__init__(series.outputs, series.orders.count, series.orders.names)
        self.series = series
        self.initial = series.orders.initial

    @property
    def orders(self) -> Orders:
        """How far the model looks back."""
        return self.series.orders

    def residuals(self, coefficients: Array) -> Array:
        """Return y_t - φ_tᵀθ with the observed regressors."""
        return np.asarray(self.y - coefficients @ self.series.matrix.T)

    def residual_error(self, coefficients: Array, residuals: Array) -> Array:
        """Bound the rounding error of the residuals, relative to ``|y| + |Φ| |θ|``."""
        size = np.abs(coefficients) @ np.abs(self.series.matrix).T
        own = 4 * EPS * np.sqrt(self.d) * size
        return np.asarray(super().residual_error(coefficients, residuals) + own)

    def accurate_residuals(self, coefficients: Array) -> tuple[Array, Array] | None:
        """Sum y - Φθ in twice the precision."""
        return accurate_residuals(self.y, self.series.matrix, coefficients)

    def gradient(self, coefficients: Array, residuals: Array) -> Array:
        """Return -Φᵀr, where Φ is rebuilt from the outputs that belong to the residuals."""
        r = np.moveaxis(residuals.reshape(len(coefficients), -1, self.n), -1, 0)
        phi = self.series.rebuilt(coefficients, r)
        found = -np.einsum("tnkd,tnk->nkd", phi, r)
        return np.asarray(found.reshape(*residuals.shape[:-1], self.d))

    @property
    def regressors(self) -> Array:
        """Φ as observed."""
        return self.series.matrix

    @property
    def sign_blind(self) -> bool:
        """Whether no past outputs are regressors: the statistics then ignore a common sign."""
        return self.orders.na == 0

    def estimate(self) -> Array:
        """Return the least-squares estimate."""
        return least_squares(self.series.matrix, self.y)

    def coefficients(self, values: Array) -> Array:
        """Refuse: see `refuse_values`."""
        raise self.refuse_values()

    def refuse_values(self) -> NotAvailable:
        """Refuse: fitted values do not determine how the system goes on from other outputs."""
        return NotAvailable(
            f"a candidate of {self} cannot be a function: its outputs are simulated from its "
            f"coefficients. Pass {self.d} coefficients [{', '.join(self.names)}]."
        )

    def coefficients_of(self, estimator: Any) -> Array | None:
        """Return the coefficients of a fitted ARX with the same orders; refuse other models."""
        same = isinstance(estimator, ARX) and as_orders(estimator) == self.orders
        if not same:
            o = self.orders
            own = f"{self} with{'' if o.intercept else 'out'} an intercept and delay={o.delay}"
            raise ValueError(
                f"the candidate is a model of other orders: expected {own}, given {estimator!r}. "
                "Fit a model with the orders of the region, or pass coefficients."
            )
        check_is_fitted(estimator)
        return np.asarray(estimator.coefficients_)

    def score(self, weighting: Weighting) -> SimulatedScore:
        """Return the statistics, whose weighting is that of the regressors of each series."""
        if not isinstance(weighting, str):
            raise self._refused_weighting("a matrix", "'hessian'")
        if weighting != "hessian":
            raise self._refused_weighting(weighting, "'hessian'")
        return SimulatedScore(self.series)

    def __str__(self) -> str:
        return f"ARX({self.orders.na}, {self.orders.nb})"


def from_arx(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> ArxObjective:
    """Build Σ r² over the times after the initial values.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`; X is the input u.

    Examples
    --------
    >>> u, y, coefficients = ua.datasets.arx(n=50, random_state=0)
    >>> from_arx(ua.ARX(2, 1), u, y, None).names
    ['a1', 'a2', 'b1']
    """
    if sample_weight is not None:
        raise ValueError(
            "sample_weight does not apply to ARX: expected None, given weights. Leaving out a "
            "time would break the series, and weights do not change the assumption on the noise."
        )
    orders = as_orders(estimator)
    u, outputs = as_series(X, y, orders)
    return ArxObjective(Series(orders, u, outputs))


register_objective(ARX, from_arx)
