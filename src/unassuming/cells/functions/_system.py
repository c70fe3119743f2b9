"""Functions of bounded norm, as plain arrays: the rows of the data, and what is wanted.

f* = f + (a combination of features that are not penalised), ‖f‖ <= B. A row of the data sees f
through its representer k(x_j, ·), and a functional L of f through its own: for the value at z that
is k(z, ·), for a difference of two values the difference of the two. So a functional is known by
its inner products with the representers of the rows, by its own norm, and by its values on the
features that are not penalised (docs/theory.md 9.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, IntArray


@final
@dataclass(frozen=True, eq=False)
class System:
    """The rows y_j = f*(x_j) + e_j.

    Attributes
    ----------
    trend : array of shape (n, p)
        Features that are not penalised; p may be 0.
    weight : array of shape (n,)
        Sample weights.
    gram : array of shape (n, n), or None
        Inner products of the representers of the rows.
    features : array of shape (n, d), or None
        The representers in coordinates, if they are known; then ``gram`` is not used.
    """

    trend: Array
    weight: Array
    gram: Array | None = None
    features: Array | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.weight)

    @property
    def norms(self) -> Array:
        """Squared norms of the representers, shape (n,)."""
        if self.features is not None:
            return np.asarray(np.einsum("nd,nd->n", self.features, self.features))
        assert self.gram is not None
        return np.asarray(np.diagonal(self.gram))


@final
@dataclass(frozen=True, eq=False)
class Wanted:
    """N functionals of f*.

    Attributes
    ----------
    trend : array of shape (N, p)
        Their values on the features that are not penalised.
    norms : array of shape (N,)
        Their squared norms; k(z, z) for the value at z.
    at_rows : array of shape (N, n), or None
        Inner products with the representers of the rows; k(z, x_j) for the value at z.
    features : array of shape (N, d), or None
        Their representers in coordinates, if those of the rows have them.
    doubt : array of shape (N,), or None
        Bounds on the rounding errors of ``norms``, where these cancel.
    """

    trend: Array
    norms: Array
    at_rows: Array | None = None
    features: Array | None = None
    doubt: Array | None = None

    def __len__(self) -> int:
        return len(self.norms)

    @property
    def norm(self) -> Array:
        """Their norms, rounded up; infinite if features that are not penalised count, (N,)."""
        terms = 0 if self.features is None else self.features.shape[1]
        square = self.norms * (1 + 4 * (terms + 16) * EPS)
        if self.doubt is not None:
            square = square + self.doubt
        return np.where(self.trend.any(axis=1), np.inf, np.sqrt(square))

    @property
    def off(self) -> Array:
        """What the doubt about their squared norms means for their representers, (N,)."""
        if self.doubt is None:
            return np.zeros(len(self))
        lengths = np.sqrt(self.norms) + np.sqrt(self.norms + self.doubt)
        return np.where(lengths > 0, self.doubt / np.where(lengths > 0, lengths, 1.0), 0.0)

    def part(self, where: slice | IntArray) -> Wanted:
        """Return some of the functionals."""
        return Wanted(
            self.trend[where],
            self.norms[where],
            None if self.at_rows is None else self.at_rows[where],
            None if self.features is None else self.features[where],
            None if self.doubt is None else self.doubt[where],
        )


@final
@dataclass(frozen=True)
class Assumed:
    """What is assumed of the function, and a working scale of the noise.

    Attributes
    ----------
    norm_bound : float
        B with ‖f‖ <= B; 0 if every feature is free.
    model_error : float
        Δ: the function misses the model by at most Δ at each input.
    noise_scale : float
        It enters the choice of the cells and weights only, never the level. It must not come from
        y.
    """

    norm_bound: float
    model_error: float = 0.0
    noise_scale: float = 1.0

    def limit(self, norm: Array) -> Array:
        """Return what the norm bound alone allows: |L f| is at most B‖L‖, (N,).

        Examples
        --------
        >>> Assumed(30.0).limit(np.array([1.0, np.inf])), Assumed(0.0).limit(np.ones(1))
        (array([30., inf]), array([inf]))
        """
        if not self.norm_bound:
            return np.full(len(norm), np.inf)
        return np.asarray(self.norm_bound * norm)
