"""Primal: a model that is linear in features (docs/theory.md 1, 4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from scipy.linalg import lstsq, svd

from unassuming._rounding import powers_of_two, rank_cut
from unassuming._typing import Array, IntArray
from unassuming.objectives.designs._design import Design
from unassuming.objectives.designs._norm_ball import BallCoordinates
from unassuming.objectives.designs._whitening import FeatureWhitening, Whitening


@final
class FeatureDesign(Design):
    """Primal: Φ = [1, X], P = diag(0, 1, ..., 1).

    Parameters
    ----------
    X : array of shape (n, p)
    intercept : bool
        Whether there is a column of ones.
    names : list of str, optional
        Names of the features.

    Examples
    --------
    >>> design = FeatureDesign(np.array([[2.0], [5.0]]), intercept=True)
    >>> design.rows(np.array([[7.0]]))
    array([[1., 7.]])
    """

    dual: ClassVar[bool] = False

    def __init__(self, X: Array, *, intercept: bool, names: list[str] | None = None) -> None:
        n, p = X.shape
        self.X, self.one, self.intercept = X, np.ones(n), intercept
        self.matrix = self._with_ones(X)
        if not self.matrix.any():
            raise ValueError(
                "X is zero throughout: expected a feature other than zero, or an intercept, given "
                f"{p} columns of zeros. Use fit_intercept=True, or other features."
            )
        self.rename([f"x{j}" for j in range(p)] if names is None else names)

    @classmethod
    def of_columns(
        cls, matrix: Array, *, intercept: bool, names: list[str], rounding: float
    ) -> Self:
        """Return the design with this Φ, whose first column is that of an intercept."""
        design = cls.__new__(cls)
        design.matrix, design.X = matrix, matrix[:, int(intercept) :]
        design.one = matrix[:, 0] if intercept else np.zeros(len(matrix))
        design.intercept, design.names, design.rounding = intercept, names, rounding
        return design

    def rows(self, X: Array) -> Array:
        """Return [1, X]."""
        if X.shape[1] != self.X.shape[1]:
            raise ValueError(
                f"X has the wrong number of features: expected {self.X.shape[1]}, as in the data, "
                f"given {X.shape[1]}. Pass the same columns."
            )
        return self._with_ones(X)

    @cached_property
    def spans_everything(self) -> bool:
        """Whether the features can take any values at the inputs."""
        return bool(np.linalg.matrix_rank(self.matrix) == self.n)

    @property
    def penalised(self) -> Array:
        """One for each penalised coefficient, zero for the intercept."""
        return np.repeat([0.0, 1.0], [int(self.intercept), self.X.shape[1]])

    def penalty_matrix(self) -> Array:
        """Return diag(0, 1, ..., 1)."""
        return np.diag(self.penalised)

    def whiten(self, w: Array, lam: float) -> Whitening:
        """Take Q from an SVD of the stacked design, its columns first scaled to length one."""
        n, root = self.n, np.sqrt(w / self.n)
        # With an intercept the columns may be centred: functions and penalty stay the same, the
        # intercept is shifted. Not centred, a column loses as many digits as its mean is large.
        centred, centre = self._centred(w)
        matrix = np.column_stack([self.one, centred]) if self.intercept else centred
        stacked = np.vstack([root[:, None] * matrix, np.sqrt(lam) * self.penalty_matrix()])
        length = _column_lengths(stacked)
        u, s, vt = svd(stacked / length, full_matrices=False)
        keep = s > rank_cut(stacked.shape) * s[0]
        top, low = u[:n, keep], u[n:, keep]
        back = vt[keep].T / s[keep] / length[:, None]
        if self.intercept:
            back[0] -= centre @ back[1:]
        return FeatureWhitening(top, low.T * (np.sqrt(lam) * self.penalised), back)

    def _centred(self, w: Array) -> tuple[Array, Array]:
        """Return X minus its means, and the means; columns that are constant to rounding are 0."""
        if not self.intercept:
            return self.X, np.zeros(self.X.shape[1])
        centre = self._means(w) @ self.X
        centred = self.X - np.outer(self.one, centre)
        size = np.abs(self.one).max() * np.abs(centre)
        constant = np.abs(centred).max(axis=0) <= 4 * rank_cut(self.X.shape) * size
        return np.where(constant, 0.0, centred), centre

    def _means(self, w: Array) -> Array:
        """Return the functional that takes the weighted mean of a column."""
        weighted = w * self.one
        return np.asarray(weighted / (weighted @ self.one))

    def least_squares(self, y: Array, w: Array, lam: float) -> Array:
        """Centre, then solve the stacked least squares problem, with least norm."""
        centred, _ = self._centred(w)
        level = float(self._means(w) @ y) if self.intercept else 0.0
        root, p = np.sqrt(w / self.n), self.X.shape[1]
        stacked = np.vstack([root[:, None] * centred, np.sqrt(lam) * np.eye(p)])
        target = np.concatenate([root * (y - level * self.one), np.zeros(p)])
        slopes = _solve(stacked, target)
        # One step of refinement makes the gradient zero to rounding.
        slopes = slopes + _solve(stacked, target - stacked @ slopes)
        if not self.intercept:
            return slopes
        return np.concatenate([[float(self._means(w) @ (y - self.X @ slopes))], slopes])

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients of least norm, by least squares."""
        return np.ascontiguousarray(_solve(self.matrix, values.T).T)

    def gram(self) -> Array:
        """Return the inner products of the features at the inputs."""
        return np.asarray(self.X @ self.X.T)

    def ball_coordinates(
        self,
        root_weights: Array,
        estimate: Array,
        g: Array,
        bound: float,
        self_similarity: Array | None = None,
        *,
        function: bool = False,
        at: IntArray | None = None,
    ) -> BallCoordinates:
        """Bound the penalised coefficients, ‖coef‖ <= B; the intercept stays free."""
        F, N, zero = root_weights[:, None] * self.matrix, self.penalty_matrix(), np.zeros(len(g))
        return BallCoordinates(F, N, estimate, g, zero, zero > 0, np.eye(len(estimate)), bound)

    def rename(self, names: Sequence[Any]) -> bool:
        """Name the slopes."""
        self.names = ["intercept"] * self.intercept + [str(name) for name in names]
        return True

    def standardised(self) -> FeatureDesign | None:
        """Return features of mean zero and variance one; None if a column is constant."""
        spread = self.X.std(axis=0)
        if not self.intercept or (spread <= 1e-12 * np.abs(self.X).max(axis=0)).any():
            return None
        return FeatureDesign((self.X - self.X.mean(axis=0)) / spread, intercept=True)


def _column_lengths(matrix: Array) -> Array:
    return powers_of_two(np.linalg.norm(matrix, axis=0))


def _solve(A: Array, b: Array) -> Array:
    """Return the least squares solution of least norm.

    Columns of very different size look like a loss of rank. If scaling them finds more rank, the
    scaled problem is solved.
    """
    cut = rank_cut(A.shape)
    plain, _, plain_rank, _ = lstsq(A, b, cond=cut)
    length = _column_lengths(A)
    scaled, _, scaled_rank, _ = lstsq(A / length, b, cond=cut)
    if scaled_rank <= plain_rank:
        return np.asarray(plain)
    return np.asarray(scaled / (length if b.ndim == 1 else length[:, None]))
