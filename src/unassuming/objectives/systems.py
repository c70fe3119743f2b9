"""Least squares for a system with past outputs and inputs (docs/theory.md 15)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unassuming._errors import NotAvailable
from unassuming._numerics import CUT, EPS, blur, factor
from unassuming._typing import Array
from unassuming.inputs import Orders, as_orders, is_series_model, regressors
from unassuming.objectives.base import Objective, Weighting, named
from unassuming.objectives.score import Score, State

LARGE = 2.0**400
"""Simulated outputs beyond this are scaled down, with all that led to them."""


@final
class ArxObjective(Objective):
    """Σ r_t² with residuals r_t = y_t - Σ a_k y_{t-k} - Σ b_k u_{t-delay-k+1}.

    The regressors contain past outputs, and these contain past noise. So the gradient for other
    residuals is that of the outputs which a candidate produces with them, from the same inputs and
    initial values.

    Parameters
    ----------
    orders : Orders
        How far the model looks back.
    u, y : arrays of shape (n,)
        Input and output, from the initial values on.

    Examples
    --------
    >>> u, y, coefficients = ua.datasets.arx(n=50, random_state=0)
    >>> objective = ua.confidence_region(ua.ARX(1, 1), u, y).objective
    >>> objective.names, objective.n
    (['a1', 'b1'], 49)
    """

    default_weighting = "hessian"

    def __init__(self, orders: Orders, u: Array, y: Array) -> None:
        super().__init__(y[orders.initial :], orders.count, orders.names)
        self.orders, self.initial, self.sign_blind = orders, orders.initial, orders.na == 0
        self.before = y[orders.initial - orders.na : orders.initial]
        self.past = slice(int(orders.intercept), int(orders.intercept) + orders.na)
        self.matrix = regressors(u, y, orders)  # Φ, (n, d)
        self.fixed = np.delete(self.matrix, self.past, axis=1)  # the columns without outputs

    def lags(self, a: Array, e: Array) -> list[Array]:
        """Return the lags 1..na of the outputs that candidates ``a`` make of noise e (n, N, S)."""
        # Unstable candidates exceed every double: the whole history of such an output, and all that
        # enters it later, is multiplied by a power of two, which changes no direction.
        n, na = len(e), self.orders.na
        with np.errstate(over="ignore", invalid="ignore"):
            y = self._outputs(a, e, scaled=False)
        far = ~(np.abs(y) <= LARGE).all(axis=(0, 2))
        if far.any():
            y[:, far] = self._outputs(a[far], e[:, far], scaled=True)
        return [y[na - k : na - k + n] for k in range(1, na + 1)]

    def _outputs(self, a: Array, e: Array, *, scaled: bool) -> Array:
        """Return the initial values and the outputs, (na + n, N, S), scaled down if so wished."""
        (n, N, S), na = e.shape, self.orders.na
        own, drive = a[:, self.past], self.fixed @ np.delete(a, self.past, axis=1).T
        y, scale = np.empty((na + n, N, S)), np.ones((N, S))
        y[:na] = self.before[:, None, None]
        for t in range(n):
            new = np.add(drive[t][:, None], e[t], out=y[na + t])
            if scaled:
                new *= scale
            for k in range(1, na + 1):
                new += own[:, k - 1, None] * y[na + t - k]
            if scaled and (large := np.abs(new) > LARGE).any():
                down = np.where(large, 1 / LARGE, 1.0)
                scale, y[: na + t + 1] = scale * down, y[: na + t + 1] * down
        return y

    def residuals(self, coefficients: Array) -> Array:
        """Return y_t - φ_tᵀθ with the observed regressors."""
        return np.asarray(self.y - coefficients @ self.matrix.T)

    def gradient(self, coefficients: Array, residuals: Array) -> Array:
        """Return -Φᵀr, where Φ is rebuilt from the outputs that belong to the residuals."""
        r = np.moveaxis(residuals.reshape(len(coefficients), -1, self.n), -1, 0)
        z = np.empty((*r.shape[1:], self.d))
        for k, lag in enumerate(self.lags(coefficients, r), start=self.past.start):
            z[..., k] = (lag * r).sum(axis=0)
        z[..., np.delete(np.arange(self.d), self.past)] = np.tensordot(r, self.fixed, (0, 0))
        return -z.reshape(*residuals.shape[:-1], self.d)

    def state(self, coefficients: Array) -> State:
        """Return residuals, predictions and their rounding."""
        f = coefficients @ self.matrix.T
        return self.at_values(
            f, coefficients, blur(self.y, np.abs(coefficients) @ np.abs(self.matrix).T)
        )

    def coefficients(self, values: Array) -> Array:
        """Refuse: fitted values do not determine how the system goes on from other outputs."""
        raise NotAvailable(
            f"a candidate of {self} cannot be a function: its outputs are simulated from its "
            f"coefficients. Pass {self.d} coefficients [{', '.join(self.names)}]."
        )

    def coefficients_of(self, estimator: Any) -> Array:
        """Return the coefficients of a fitted ARX with the same orders; refuse other models."""
        o = self.orders
        if not is_series_model(estimator) or as_orders(estimator) != o:
            own = f"{self} with{'' if o.intercept else 'out'} an intercept and delay={o.delay}"
            raise ValueError(
                f"the candidate is a model of other orders: expected {own}, given {estimator!r}. "
                "Fit a model with the orders of the region, or pass coefficients."
            )
        check_is_fitted(estimator)
        return np.asarray(estimator.coefficients_)

    def estimate(self) -> Array:
        """Return the least-squares estimate."""
        f = factor(self.matrix, np.ones(self.n), intercept=self.orders.intercept)
        a = f.back @ (f.Q.T @ self.y)
        return a + f.back @ (f.Q.T @ self.residuals(a))

    def score(self, weighting: Weighting) -> Score:
        """Return the statistics, whose weighting is that of the regressors of each series."""
        if named(weighting) != "hessian":
            raise self.refused(weighting, "'hessian'")
        return Simulated(self)

    def __str__(self) -> str:
        return f"ARX({self.orders.na}, {self.orders.nb})"


@final
@dataclass(frozen=True, eq=False)
class Simulated(Score):
    """Z_i = ‖(Φ_iᵀΦ_i)^(-1/2) Φ_iᵀe_i‖² of transformed residuals e_i and the Φ_i they produce."""

    system: ArxObjective

    def gaps(self, at: State, moved: Array) -> list[Array]:
        """Compare the lengths of projections, which are the roots of the statistics."""
        z0, z = self._lengths(at, moved)
        still = (np.abs(moved - at.r[:, None]) <= 2 * at.e[:, None, None]).all(axis=-1)
        n, size = at.r.shape[1], np.linalg.norm(at.r, axis=-1)
        tolerance = 64 * EPS * n * size + 4 * np.sqrt(n) * at.e
        gap = np.where(still, 0.0, z - z0[:, None])
        return [gap, np.broadcast_to(tolerance[:, None], gap.shape)]

    def statistics(self, at: State, moved: Array) -> Array:
        """Return the squares of these lengths."""
        z0, z = self._lengths(at, moved)
        return np.column_stack([z0, z]) ** 2

    def _lengths(self, at: State, moved: Array) -> tuple[Array, Array]:
        e = np.ascontiguousarray(np.moveaxis(moved, -1, 0))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            z = _projected(self.system.lags(at.a, e), e, self._fixed)
        z0 = np.linalg.norm(at.r @ self._observed, axis=-1)
        return z0, np.where(np.isfinite(z), z, 0.0)  # the smallest, if it is not finite

    @cached_property
    def _fixed(self) -> Array:
        return _basis(self.system.fixed)

    @cached_property
    def _observed(self) -> Array:
        return _basis(self.system.matrix)


def _basis(columns: Array) -> Array:
    """Return an orthonormal basis of columns that do not change."""
    return factor(columns, np.ones(len(columns))).Q if columns.any() else columns[:, :0]


def _projected(columns: list[Array], e: Array, basis: Array) -> Array:
    """Return the length of the projection of e (n, N, S) on a basis and on further columns."""
    # This is Gram-Schmidt with e as the last column, as accurate as Householder's factorisation.
    inside = np.tensordot(basis, e, (0, 0))
    rest, square = e - np.tensordot(basis, inside, 1), _dots(inside, inside)
    done: list[Array] = []
    for column in columns:
        size = np.maximum(column.max(axis=0), -column.min(axis=0))
        unit = column / np.where(size > 0, size, 1.0)
        whole = np.sqrt(_dots(unit, unit))
        unit -= np.tensordot(basis, np.tensordot(basis, unit, (0, 0)), 1)
        for other in done:
            unit -= other * _dots(other, unit)
        left = np.sqrt(_dots(unit, unit))
        used = left > CUT * whole
        unit *= used / np.where(used, left, 1.0)
        part = _dots(unit, rest)
        rest -= unit * part
        square += part**2
        done.append(unit)
    return np.asarray(np.sqrt(square))


def _dots(x: Array, y: Array) -> Array:
    """Return the inner products along the first axis."""
    return np.asarray(np.einsum("n...,n...->...", x, y))
