"""Columns that repeat others up to very little, and what depends on that."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from unassuming._rounding import column_units
from unassuming._typing import Array, BoolArray
from unassuming.objectives import Quadratic

REPEATED = 1e-5
"""Columns that differ by a smaller share of their spread are worth a word."""

_LISTED = 4
"""Copies that are named at most."""


@final
class Copy(NamedTuple):
    """A column that is nearly a multiple of an earlier one, plus a constant.

    Attributes
    ----------
    one, other : int
        The earlier column, and the later one.
    left : float
        The share of its spread by which the later one differs.
    direction : array of shape (d,)
        Coefficients along which fitted values hardly change.
    """

    one: int
    other: int
    left: float
    direction: Array

    def share(self, unit: float) -> str:
        """Return by how much the columns differ, in words; ``unit`` is the size of rounding."""
        return "rounding" if self.left <= unit else f"{self.left:.0e} of its spread"

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


def near_copies(T: Array, *, intercept: bool, apart: BoolArray | None = None) -> list[Copy]:
    """Return the columns (n, d) that repeat an earlier one, each once.

    The first column is that of an ``intercept``, if there is one. Columns that are ``apart`` (d,)
    repeat none.
    """
    constant = np.zeros(T.shape[1])
    if intercept and len(T):
        ones = float(np.linalg.norm(T[:, 0]))
        along = T[:, :1] / ones
        constant = (along.T @ T)[0] / ones
        T = T - along * (along.T @ T)
    length = np.linalg.norm(T, axis=0)
    size = np.where(length > 0, length, 1.0)
    unit = T / size
    if apart is not None:
        unit[:, apart] = 0.0
    cosines = unit.T @ unit
    near = np.triu(np.abs(cosines) > 1 - REPEATED**2 / 2, 1)
    found = []
    for other in np.flatnonzero(near.any(axis=0))[:_LISTED].tolist():
        one = int(near[:, other].argmax())
        left = float(np.linalg.norm(unit[:, other] - unit[:, one] * cosines[one, other]))
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
    found = near_copies(Phi / unit, intercept=o.design.intercept, apart=apart)
    return [one._replace(direction=one.direction / unit) for one in found]
