"""Columns that repeat others up to very little, and what depends on that."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from unassuming._rounding import EPS, column_units
from unassuming._typing import Array, BoolArray
from unassuming.objectives import Quadratic

REPEATED = 1e-5
"""Columns that differ by a smaller share of their spread are worth a word."""

_LISTED = 4
"""Copies that are named at most."""

_ROUNDED = 16
"""Columns without their means may be off by so many units of rounding."""


@final
class Copy(NamedTuple):
    """A column that is nearly a multiple of an earlier one, plus a constant.

    Attributes
    ----------
    one, other : int
        The earlier column, and the later one.
    left : float
        The share of its spread by which the later one differs; zero if that may be rounding.
    direction : array of shape (d,)
        Coefficients along which fitted values hardly change.
    """

    one: int
    other: int
    left: float
    direction: Array

    @property
    def share(self) -> str:
        """By how much the columns differ, in words."""
        return f"{self.left:.0e} of its spread" if self.left else "rounding"

    def seen(self, g: Array) -> BoolArray:
        """Return which functionals (N, d) depend on the direction."""
        size = np.abs(g) @ np.abs(self.direction)
        return np.asarray(np.abs(g @ self.direction) > REPEATED * size)

    def moves_along(self, v: Array) -> bool:
        """Whether a direction (d,) changes both coefficients, as this one does."""
        one, other = (
            v[self.one] / self.direction[self.one],
            v[self.other] / self.direction[self.other],
        )
        return bool(abs(one - other) <= REPEATED * max(abs(one), abs(other)) and one != 0)


def near_copies(
    T: Array, unit: float, *, intercept: bool, apart: BoolArray | None = None
) -> list[Copy]:
    """Return the columns (n, d) that repeat an earlier one, each once.

    Rounding errors of columns are about ``unit`` of their lengths. The first column is that of an
    ``intercept``, if there is one. Columns that are ``apart`` (d,) repeat none.
    """
    constant, whole = np.zeros(T.shape[1]), np.linalg.norm(T, axis=0)
    if intercept and len(T):
        ones = float(np.linalg.norm(T[:, 0]))
        along = T[:, :1] / ones
        constant = (along.T @ T)[0] / ones
        T = T - along * (along.T @ T)
    length = np.linalg.norm(T, axis=0)
    varies = length > _ROUNDED * unit * whole
    size = np.where(varies, length, 1.0)
    ways = T / size
    ways[:, ~varies if apart is None else ~varies | apart] = 0.0
    cosines = ways.T @ ways
    near = np.triu(np.abs(cosines) > 1 - REPEATED**2 / 2, 1)
    found = []
    for other in np.flatnonzero(near.any(axis=0))[:_LISTED].tolist():
        one = int(near[:, other].argmax())
        left = float(np.linalg.norm(ways[:, other] - ways[:, one] * cosines[one, other]))
        left = left if left > _ROUNDED * unit else 0.0
        v = np.zeros(T.shape[1])
        v[other], v[one] = 1 / size[other], -np.sign(cosines[one, other]) / size[one]
        if intercept:
            v[0] = -constant @ v
        found.append(Copy(one, other, left, v))
    return found


def of_one_row(Phi: Array) -> BoolArray:
    """Return which columns have most of their length in one row: that makes unlike ones alike."""
    share = (Phi / column_units(Phi)) ** 2
    return np.asarray(share.max(axis=0, initial=0.0) > 0.5 * share.sum(axis=0))


def copies_in(o: Quadratic, *, rows: bool) -> list[Copy]:
    """Return the copies among the features of an objective.

    ``rows`` says that the rows of the design are those of the data. A penalty changes nothing: it
    says as little of the difference of two copies as the data do.
    """
    if o.design.dual:
        return []
    Phi = np.sqrt(o.w)[:, None] * o.design.matrix
    unit = column_units(Phi)
    apart = of_one_row(o.design.matrix) if rows else None
    rounding = max(EPS, o.design.rounding)
    found = near_copies(Phi / unit, rounding, intercept=o.design.intercept, apart=apart)
    return [one._replace(direction=one.direction / unit) for one in found]
