"""Primal: a model that is linear in features (docs/theory.md 1, 4)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, final

import numpy as np

from unassuming._numerics import Factor, factor
from unassuming._typing import Array
from unassuming.inputs import check_width
from unassuming.objectives.norm_ball import NormBall
from unassuming.objectives.penalties import Penalty


@final
class FeatureDesign:
    """Φ = [1, X], or some of the columns of X.

    Parameters
    ----------
    X : array of shape (n, p)
    intercept : bool
        Whether there is a column of ones.
    names : list of str, optional
        Names of the columns of X.
    columns : sequence of int, optional
        The columns of the inputs that are features, in their order; by default all of them.

    Examples
    --------
    >>> design = ua.objectives.FeatureDesign(np.array([[2.0], [5.0]]), intercept=True)
    >>> design.names, design.rows(np.array([[7.0]]))
    (['intercept', 'x0'], array([[1., 7.]]))
    """

    dual, strict, kernel, root = False, False, None, None

    def __init__(
        self,
        X: Array,
        *,
        intercept: bool,
        names: Sequence[str] | None = None,
        columns: Sequence[int] | None = None,
    ) -> None:
        self.width = X.shape[1]
        self.columns = list(range(self.width)) if columns is None else list(columns)
        self.intercept = intercept
        self.turn: Array | None = None
        self.plain = self.matrix = self.rows(X)
        self.rename([f"x{j}" for j in range(self.width)] if names is None else names)
        if not self.matrix.any():
            raise ValueError(
                "X is zero throughout: expected a feature other than zero, or an intercept, given "
                f"{self.width} columns of zeros. Use fit_intercept=True, or other features."
            )

    def rows(self, X: Array) -> Array:
        """Return the rows of Φ at inputs X, [1, X]."""
        check_width(X, self.width)
        own = X if len(self.columns) == self.width else X[:, self.columns]
        return np.column_stack([np.ones(len(X)), own]) if self.intercept else own

    def factor(self, w: Array, penalty: Penalty) -> Factor:
        """Factor W^½Φ above P^½."""
        size = np.diagonal(penalty.P)
        R = np.sqrt(size[size > 0])[:, None] * np.eye(len(size))[size > 0]
        found = factor(self.plain, w, R, intercept=self.intercept and size[0] == 0)
        return found if self.turn is None else replace(found, Q=self.turn @ found.Q)

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients with the shortest slopes whose fitted values come closest."""
        return np.asarray(values @ self._least_squares.Q @ self._least_squares.back.T)

    @cached_property
    def _least_squares(self) -> Factor:
        return self.factor(np.ones(len(self.matrix)), self.penalty())

    @property
    def spans_everything(self) -> bool:
        """Whether every function certainly has true coefficients at the inputs."""
        return bool(self._least_squares.Q.shape[1] == len(self.matrix))

    def in_basis(self, Q: Array) -> FeatureDesign:
        """Return QᵀΦ with the same coefficients; weights have to be equal."""
        found = copy(self)
        vars(found).pop("_least_squares", None)
        found.turn, found.matrix = Q.T, Q.T @ self.plain
        return found

    def penalty(self, ridge: float = 0.0, l1: float = 0.0) -> Penalty:
        """Return ½ ridge ‖slopes‖² + l1 ‖slopes‖₁; the intercept has no penalty."""
        slopes = np.ones(self.matrix.shape[1])
        slopes[: int(self.intercept)] = 0.0
        return Penalty(np.diag(ridge * slopes), l1 * slopes, alpha=ridge)

    def ball(self) -> NormBall:
        """Return the coefficients in units of their columns; the intercept is free."""
        size = np.linalg.norm(self.matrix, axis=0) / np.sqrt(len(self.matrix))
        size = np.where(size > 0, size, 1.0)
        nu = size**-2.0
        nu[: int(self.intercept)] = 0.0
        return NormBall(self.matrix / size, nu, np.diag(1 / size), np.diag(size), complete=True)

    def self_similarity(self, _: Array) -> None:
        """Return nothing: a norm bound on features has no kernel."""

    def rename(self, names: Sequence[Any]) -> None:
        """Take the names of the columns of the inputs."""
        self.names = ["intercept"] * self.intercept + [str(names[j]) for j in self.columns]
