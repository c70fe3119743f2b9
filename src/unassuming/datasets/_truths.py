"""The true functions behind the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unassuming._typing import Array


def x_sin_x(X: Any) -> Array:
    """Return f(x) = x sin x, shape (N,).

    Parameters
    ----------
    X : array-like of shape (N, 1)

    Examples
    --------
    >>> x_sin_x([[0.0]])
    array([0.])
    """
    x = _table(X, 1)[:, 0]
    return x * np.sin(x)


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """A function in an RKHS: f(x) = Σ_j c_j exp(-gamma (x - t_j)²), callable on an (N, 1) array.

    Attributes
    ----------
    centres : ndarray of shape (k,)
        The points t_j.
    coefficients : ndarray of shape (k,)
        The weights c_j.
    gamma : float
        As in scikit-learn's ``rbf`` kernel.

    Examples
    --------
    >>> f = KernelExpansion(centres=np.array([0.0]), coefficients=np.array([2.0]), gamma=1.0)
    >>> f([[0.0], [1.0]]).round(3)
    array([2.   , 0.736])
    >>> f.norm
    2.0
    """

    centres: Array
    coefficients: Array
    gamma: float

    def __call__(self, X: Any) -> Array:
        """Return the values of f at the rows of X."""
        return self._gram(_table(X, 1)[:, 0]) @ self.coefficients

    @property
    def norm(self) -> float:
        """Norm of f in the RKHS, sqrt(Σ_ij c_i c_j k(t_i, t_j))."""
        c = self.coefficients
        return float(np.sqrt(np.maximum(c @ self._gram(self.centres) @ c, 0)))

    def _gram(self, x: Array) -> Array:
        gram: Array = np.exp(-self.gamma * (x[:, None] - self.centres) ** 2)
        return gram


@dataclass(frozen=True, eq=False)
class LabelMean:
    """The mean of a ±1 label: f(x) = E[y | x] = tanh(g(x)/2) with g(x) = b + xᵀw.

    It is callable on an (N, d) array. P(y = 1 | x) = (1 + f(x))/2 is the logistic function of g(x).

    Attributes
    ----------
    coefficients : ndarray of shape (d + 1,)
        The numbers [b, w...].

    Examples
    --------
    >>> f = LabelMean(coefficients=np.array([0.0, 2.0]))
    >>> f([[0.0], [1.0]]).round(3)
    array([0.   , 0.762])
    """

    coefficients: Array

    def __call__(self, X: Any) -> Array:
        """Return the values of f at the rows of X."""
        b, w = self.coefficients[0], self.coefficients[1:]
        f: Array = np.tanh((b + _table(X, len(w)) @ w) / 2)
        return f


def _table(X: Any, d: int) -> Array:
    """Return the inputs of a true function as an array; raise unless they have d columns."""
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != d:
        raise ValueError(
            f"X has the wrong shape: expected (N, {d}), given {table.shape}. Pass one row per "
            f"point, for example X.reshape(-1, {d})."
        )
    return table
