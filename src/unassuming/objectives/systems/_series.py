"""The data of a dynamical system, as arrays of the rows after the initial values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy.linalg import svd

from unassuming._rounding import length, powers_of_two, rank_cut
from unassuming._typing import Array
from unassuming.inputs import Orders, regressors


@final
@dataclass(frozen=True, eq=False)
class Series:
    """Observed input and output of a system.

    Attributes
    ----------
    orders : Orders
    u, y : arrays of shape (T,)

    Examples
    --------
    >>> from unassuming.inputs import Orders
    >>> series = Series(Orders(1, 1, 1, False), np.arange(5.0), np.arange(5.0) ** 2)
    >>> series.outputs, series.matrix.T, series.initial
    (array([ 1.,  4.,  9., 16.]), array([[0., 1., 4., 9.],
           [0., 1., 2., 3.]]), array([0.]))
    """

    orders: Orders
    u: Array
    y: Array

    @property
    def outputs(self) -> Array:
        """The outputs after the initial values, (n,)."""
        return self.y[self.orders.initial :]

    @property
    def initial(self) -> Array:
        """The na outputs before them."""
        return self.y[self.orders.initial - self.orders.na : self.orders.initial]

    @cached_property
    def matrix(self) -> Array:
        """Φ, the observed regressors in the order of the coefficients, (n, d)."""
        return regressors(self.u, self.y, self.orders)

    def split(self, coefficients: Array) -> tuple[Array, Array]:
        """Return the coefficients of past outputs (N, na), and those of the fixed columns."""
        first, na = int(self.orders.intercept), self.orders.na
        own = coefficients[:, first : first + na]
        return own, np.delete(coefficients, np.s_[first : first + na], axis=1)

    @cached_property
    def fixed(self) -> Array:
        """The columns that do not depend on the outputs: the intercept and past inputs."""
        return self.split(self.matrix)[1]

    @cached_property
    def fixed_basis(self) -> Array:
        """An orthonormal basis of the fixed columns."""
        return _basis(self.fixed)[0]

    @cached_property
    def basis(self) -> Array:
        """An orthonormal basis of all observed regressors."""
        return _basis(self.matrix)[0]

    @cached_property
    def kept(self) -> float:
        """The smallest singular value of the regressors, as columns of length one."""
        return _basis(self.matrix)[1]

    @cached_property
    def unit(self) -> float:
        """A power of two near the largest output: divided by it, no square over- or underflows."""
        return float(powers_of_two(np.abs(self.y).max(initial=0.0)))

    def rebuilt(self, coefficients: Array, e: Array) -> Array:
        """Return the regressors of candidates (N, d) driven by noise (n, N, K), (n, N, K, d)."""
        n, na, first = len(e), self.orders.na, int(self.orders.intercept)
        own, other = self.split(coefficients)
        y = np.empty((na + n, *e.shape[1:]))
        y[:na] = self.initial[:, None, None]
        y[na:] = e + (self.fixed @ other.T)[:, :, None]
        for t in range(na, na + n):
            for k in range(1, na + 1):
                y[t] += own[:, k - 1, None] * y[t - k]
        fixed = np.broadcast_to(self.fixed[:, None, None, :], (*e.shape, self.fixed.shape[1]))
        lags = [y[na - k : na - k + n, :, :, None] for k in range(1, na + 1)]
        return np.concatenate([fixed[..., :first], *lags, fixed[..., first:]], axis=-1)


def _basis(columns: Array) -> tuple[Array, float]:
    """Return an orthonormal basis, and the smallest singular value that counts (one if none)."""
    if not columns.shape[1]:
        return columns, 1.0
    sizes = length(columns.T)
    u, s, _ = svd(columns / np.where(sizes > 0, sizes, 1.0), full_matrices=False)
    kept = s > rank_cut(columns.shape) * s.max(initial=0.0)
    return np.asarray(u[:, kept]), float(min(1.0, s[kept].min(initial=1.0)))
