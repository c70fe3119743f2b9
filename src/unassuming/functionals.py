"""Numbers that belong to a function: values, differences, averages and slopes.

`Region.interval` and `Region.hypothesis` take them in place of functionals of the
coefficients. A kernel model needs a norm bound for them, and ``simultaneous=False`` or
``method="cells"``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from unassuming._typing import Array

__all__ = ["Functional", "average", "difference", "slope", "value"]


@final
@dataclass(frozen=True, eq=False)
class Functional:
    """N linear functionals of a function: weighted sums of its values, or its slopes.

    Made by `value`, `difference`, `average` and `slope`.

    Attributes
    ----------
    terms : tuple of pairs (X, C)
        Inputs and weights: the functionals are the sums of C f(X), C of shape (N, rows of X).
    names : tuple of N str
    column : int or None
        The input column along which slopes are taken; None for values.

    Examples
    --------
    >>> change = ua.functionals.difference([[1.0]], [[0.0]])
    >>> len(change), change.names
    (1, ('difference 0',))
    """

    terms: tuple[tuple[Any, Array], ...] = field(repr=False)
    names: tuple[str, ...]
    column: int | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def values_at(self) -> Any:
        """The inputs at which these are the values of the function; None if they are not values."""
        (X, C), *others = self.terms
        plain = self.column is None and not others and np.array_equal(C, np.eye(len(C)))
        return X if plain else None


def value(X: Any) -> Functional:
    """Return the values f(x) at N inputs X, as the model takes them.

    Examples
    --------
    >>> region.hypothesis(ua.functionals.value([[0.0, 0.0]]), value=0.5).tested
    'value 0 = 0.5'
    """
    N = _rows(X)
    return Functional(((X, np.eye(N)),), _named("value", N))


def difference(X: Any, Z: Any) -> Functional:
    """Return the differences f(x) - f(z) at N pairs of inputs, the rows of X and of Z.

    Examples
    --------
    >>> X, y, f = ua.datasets.sine(n=80, random_state=0)
    >>> kernel = KernelRidge(kernel="rbf", gamma=0.5)
    >>> region = ua.confidence_region(kernel, X, y, random_state=0)
    >>> change = ua.functionals.difference([[8.0]], [[5.0]])
    >>> found = region.interval(change, norm_bound=30, simultaneous=False)
    >>> bool(found.lower[0] < f([[8.0]]) - f([[5.0]]) < found.upper[0])
    True
    """
    N = _rows(X)
    if _rows(Z) != N:
        raise ValueError(
            f"Z does not fit X: expected {N} rows, one for each row of X, given {_rows(Z)}. Pass "
            "pairs of inputs."
        )
    return Functional(((X, np.eye(N)), (Z, -np.eye(N))), _named("difference", N))


def average(X: Any, weights: Any = None) -> Functional:
    """Return the average of the function over a set of inputs.

    Parameters
    ----------
    X : array or DataFrame
        The set of inputs.
    weights : array of shape (number of inputs,), optional
        By default equal ones that add up to one. Others are used as they are: a sum of zero gives a
        contrast.

    Examples
    --------
    >>> found = region.interval(ua.functionals.average(X), simultaneous=False)
    >>> bool(found.lower[0] < (coefficients[0] + X @ coefficients[1:]).mean() < found.upper[0])
    True
    """
    N = _rows(X)
    given = np.full(N, 1 / N) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.shape != (N,) or not np.isfinite(given).all() or not given.any():
        raise ValueError(
            f"weights does not fit X: expected {N} finite numbers, one for each row and not all "
            f"zero, given shape {given.shape}. Leave it out for equal weights."
        )
    return Functional(((X, given[None]),), ("average",))


def slope(X: Any, column: int = 0) -> Functional:
    """Return the slopes of the function along one input column, at N inputs.

    The derivative has to be known in closed form. Kernels: rbf, linear, poly and the objects RBF,
    Matern (nu 1.5, 2.5 or infinite), RationalQuadratic, DotProduct, and sums, products and powers
    of them. Transformers, before which slopes are taken: StandardScaler, MinMaxScaler,
    MaxAbsScaler, RobustScaler, PolynomialFeatures, SplineTransformer (degree 2 or more), Nystroem.

    Parameters
    ----------
    X : array or DataFrame
    column : int, default 0
        The number of the input column.

    Examples
    --------
    >>> ua.functionals.slope([[1.0], [2.0]]).names
    ('slope 0', 'slope 1')
    >>> slope = ua.functionals.slope([[0.0, 0.0]], column=1)  # a coefficient of a linear model
    >>> found = region.interval(slope, simultaneous=False)
    >>> bool(found.lower[0] < coefficients[2] < found.upper[0])
    True
    """
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)) or column < 0:
        raise ValueError(
            f"column is not the number of a column: expected an integer >= 0, given {column!r}. "
            "Count the columns from 0."
        )
    N = _rows(X)
    return Functional(((X, np.eye(N)),), _named("slope", N), int(column))


def _rows(X: Any) -> int:
    shape = np.shape(X)
    if len(shape) != 2 or not shape[0]:
        raise ValueError(
            f"X is not a table: expected two dimensions and at least one row, given shape {shape}. "
            "Pass one row as [[...]]."
        )
    return int(shape[0])


def _named(what: str, N: int) -> tuple[str, ...]:
    return tuple(f"{what} {j}" for j in range(N))
