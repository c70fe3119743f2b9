"""A linear dynamical system: the output depends on its own past and on past inputs."""

from __future__ import annotations

from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from unassuming._typing import Array
from unassuming.inputs import as_finite, as_input, as_orders, as_series, lagged, regressors
from unassuming.models.solvers import least_squares


@final
class ARX(BaseEstimator):
    r"""Autoregression with an exogenous input, fitted by least squares.

    .. math:: y_t = \sum_{k=1}^{n_a} a_k y_{t-k} + \sum_{k=1}^{n_b} b_k u_{t-d-k+1} + e_t

    with the delay d. The first max(na, nb + delay - 1) outputs are initial values, or na if nb = 0.
    ``ua.confidence_region(ua.ARX(na, nb), u, y)`` is exact: it allows for regressors that depend on
    past noise, which a region of LinearRegression with lagged columns does not (docs/theory.md 15).

    Parameters
    ----------
    na : int, default=1
        The number of past outputs; 0 for a finite impulse response.
    nb : int, default=1
        The number of past inputs; 0 for an autoregression without input.
    delay : int, default=1
        The number of steps after which an input first acts, at least 1.
    fit_intercept : bool, default=False
        Whether to add a constant.

    Attributes
    ----------
    coef_ : ndarray of shape (na + nb,)
        The coefficients [a_1, ..., b_1, ...].
    intercept_ : float
        The constant; zero without ``fit_intercept``.
    initial_ : ndarray of shape (max(na, nb + delay - 1),)
        The first outputs of the data.

    Examples
    --------
    >>> u, y, coefficients = ua.datasets.arx(n=400, a=[0.8], b=[1.0], random_state=0)
    >>> model = ARX(na=1, nb=1).fit(u, y)
    >>> model.coef_.round(1)
    array([0.8, 1. ])
    >>> model.coefficients_.shape
    (2,)
    >>> model.predict(u, y).shape, model.simulate(u).shape
    ((399,), (400,))
    """

    time_series: ClassVar[bool] = True
    """Rows are times in their order: none can be left out, weighted or moved."""

    def __init__(
        self, na: int = 1, nb: int = 1, *, delay: int = 1, fit_intercept: bool = False
    ) -> None:
        self.na = na
        self.nb = nb
        self.delay = delay
        self.fit_intercept = fit_intercept

    def fit(self, u: Any, y: Any) -> Self:
        """Find the coefficients by least squares.

        Parameters
        ----------
        u : array of shape (n,), or None
            The input at each time; None if nb = 0.
        y : array of shape (n,)
            The output at each time.

        Returns
        -------
        self
        """
        orders = as_orders(self)
        inputs, outputs = as_series(u, y, orders)
        found = least_squares(regressors(inputs, outputs, orders), outputs[orders.initial :])
        self.intercept_ = float(found[0]) if orders.intercept else 0.0
        self.coef_ = found[int(orders.intercept) :]
        self.initial_ = outputs[: orders.initial].copy()
        return self

    def predict(self, u: Any, y: Any = None) -> Array:
        """Predict each output from the observed ones before it: one step ahead.

        Parameters
        ----------
        u : array of shape (n,), or None
            The input at each time; None if nb = 0.
        y : array of shape (n,)
            The output at each time.

        Returns
        -------
        ndarray of shape (n - max(na, nb + delay - 1),)
            Predictions of ``y[max(na, nb + delay - 1):]``.
        """
        check_is_fitted(self)
        orders = as_orders(self)
        if y is None:
            raise ValueError(
                "y is missing: expected the outputs before each prediction, given None. Pass "
                "predict(u, y), or use simulate(u), which needs the initial values only."
            )
        inputs, outputs = as_series(u, y, orders, fit=False)
        return np.asarray(regressors(inputs, outputs, orders) @ self.coefficients_)

    def simulate(self, u: Any, initial: Any = None, noise: Any = None) -> Array:
        """Return the outputs of the fitted system, driven by an input and, if given, by noise.

        Parameters
        ----------
        u : array of shape (n,), or int
            The input at each time; the number of times if nb = 0.
        initial : array of shape (max(na, nb + delay - 1),), optional
            The first outputs; by default those of the data.
        noise : array of shape (n,), optional
            The noise at each time, zero by default; that of the initial values is not used.

        Returns
        -------
        ndarray of shape (n,)
            The first values are the initial ones. An unstable system may reach infinity.
        """
        check_is_fitted(self)
        orders = as_orders(self)
        if not orders.nb and u is None:
            raise ValueError(
                "u is missing: expected the number of times of a model without inputs, given None. "
                "Pass an integer."
            )
        times = not orders.nb and isinstance(u, (int, np.integer))
        inputs = np.zeros(max(int(u), 0)) if times else as_input(u)
        first, n = orders.initial, len(inputs)
        if n < first:
            raise ValueError(
                f"u is too short: expected at least {first} inputs, one for each initial value, "
                f"given {n}. Pass a longer input."
            )
        start = _numbers(self.initial_ if initial is None else initial, "initial", first)
        e = _numbers(np.zeros(n) if noise is None else noise, "noise", n)
        a, b = self.coef_[: orders.na], self.coef_[orders.na :]
        past = lagged(inputs, range(orders.delay, orders.delay + orders.nb), first)
        v = self.intercept_ + past @ b + e[first:]
        y = np.concatenate([start, np.empty(n - first)])
        with np.errstate(over="ignore", invalid="ignore"):
            for t in range(first, n):
                y[t] = v[t - first] + a @ y[t - orders.na : t][::-1]
        return y

    @property
    def coefficients_(self) -> Array:
        """The fitted coefficients in the order of a region: [intercept, a_1, ..., b_1, ...]."""
        check_is_fitted(self)
        return np.concatenate([[self.intercept_] if self.fit_intercept else [], self.coef_])


def _numbers(values: Any, name: str, count: int) -> Array:
    """Return so many finite numbers, or raise."""
    found = as_finite(values, name)
    if found.shape != (count,):
        raise ValueError(
            f"{name} has the wrong shape: expected {count} numbers, one for each of these times, "
            f"given shape {found.shape}. Leave it out for the default."
        )
    return found
