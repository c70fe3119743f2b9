"""Time series: the orders of a dynamical model, its input and its output, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unassuming._typing import Array
from unassuming.inputs._alignment import check_alignment
from unassuming.inputs._arrays import as_finite
from unassuming.inputs._data import Data


@final
@dataclass(frozen=True)
class Orders:
    """How far a model looks back: na outputs, and nb inputs that begin ``delay`` steps ago."""

    na: int
    nb: int
    delay: int
    intercept: bool

    @property
    def initial(self) -> int:
        """The number of first outputs that are initial values."""
        return max(self.na, self.nb + self.delay - 1 if self.nb else 0)

    @property
    def count(self) -> int:
        """The number of coefficients."""
        return int(self.intercept) + self.na + self.nb

    @property
    def names(self) -> list[str]:
        """The names of the coefficients, in their order."""
        own = [f"a{k}" for k in range(1, self.na + 1)] + [f"b{k}" for k in range(1, self.nb + 1)]
        return ["intercept", *own] if self.intercept else own


def as_orders(model: Any) -> Orders:
    """Return the orders of a model; refuse all but integers in their ranges."""
    for name, least in (("na", 0), ("nb", 0), ("delay", 1)):
        value = getattr(model, name)
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or value < least:
            raise ValueError(
                f"{name} of ARX is out of range: expected an integer >= {least}, given {value!r}. "
                f"{_MEANING[name]}"
            )
    orders = Orders(int(model.na), int(model.nb), int(model.delay), bool(model.fit_intercept))
    if not orders.count:
        raise ValueError(
            "the orders of ARX leave nothing to estimate: expected na >= 1 or nb >= 1, given "
            "na=0 and nb=0. Pass e.g. ua.ARX(na=1, nb=1)."
        )
    return orders


_MEANING = {
    "na": "It is the number of past outputs in the model.",
    "nb": "It is the number of past inputs in the model.",
    "delay": "An input acts on the output after one step or later: delay=1 is the usual choice.",
}


def as_series(u: Any, y: Any, orders: Orders, *, fit: bool = True) -> tuple[Array, Array]:
    """Return input and output of the same length, (n,) each; without inputs the first is zero.

    With ``fit`` there have to be more outputs than initial values and coefficients.
    """
    outputs = _vector(y, "y")
    nothing = not orders.nb and (u is None or np.shape(u)[1:] == (0,))
    inputs = np.zeros(len(outputs)) if nothing else as_input(u)
    if len(inputs) != len(outputs):
        raise ValueError(
            f"u and y differ in length: expected one input for each of the {len(outputs)} outputs, "
            f"given {len(inputs)}. Pass the same times of both series."
        )
    least = orders.initial + (orders.count + 1 if fit else 1)
    if len(outputs) < least:
        more = f"more than the {orders.count} coefficients" if fit else "one more"
        raise ValueError(
            f"the series is too short: expected at least {least} outputs, {orders.initial} initial "
            f"values and {more}, given {len(outputs)}. Pass a longer series, or lower na, nb or "
            "delay."
        )
    return inputs, outputs


def as_input(u: Any) -> Array:
    """Return the input of a dynamical model as a vector."""
    if u is None:
        raise ValueError(
            "u is missing: expected one input for each output, given None. Pass the input series, "
            "or nb=0 for a model without inputs."
        )
    return _vector(u, "u")


def _vector(series: Any, name: str) -> Array:
    values = as_finite(series, name, "Series have no gaps: interpolate, or take a part without.")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"{name} is not one series: expected one number for each time, given shape "
            f"{values.shape}. Pass a vector."
        )
    return values


def lagged(series: Array, lags: range, first: int) -> Array:
    """Return the columns series[t - lag] for t >= first, (n - first, number of lags)."""
    stop = len(series)
    columns = [series[first - lag : stop - lag] for lag in lags]
    return np.column_stack(columns) if columns else np.empty((stop - first, 0))


def regressors(u: Array, y: Array, orders: Orders) -> Array:
    """Return the columns [1, y_{t-1}, ..., u_{t-delay}, ...] of all t after the initial values."""
    first = orders.initial
    one = np.ones((len(y) - first, int(orders.intercept)))
    outputs = lagged(y, range(1, orders.na + 1), first)
    inputs = lagged(u, range(orders.delay, orders.delay + orders.nb), first)
    return np.concatenate([one, outputs, inputs], axis=1)


def is_series_model(model: Any) -> bool:
    """Whether the rows of a model are times, in their order."""
    return bool(getattr(model, "time_series", False))


def check_series(model: Any, u: Any, y: Any, sample_weight: Any) -> tuple[Data, Array, Array]:
    """Return the rows of a time series after its initial values, and all of u and y."""
    if sample_weight is not None:
        raise ValueError(
            f"sample_weight does not apply to {type(model).__name__}: expected None, given "
            "weights. Leaving out a time would break the series. Leave the weights out."
        )
    check_alignment(u=u, y=y)
    orders = as_orders(model)
    inputs, outputs = as_series(u, y, orders)
    rows = np.arange(len(outputs)) >= orders.initial
    X = np.empty((len(outputs), 0)) if u is None else u
    return Data(X, rows, outputs[rows], None, None, outputs[~rows]), inputs, outputs
