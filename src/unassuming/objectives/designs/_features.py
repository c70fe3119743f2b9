"""Primal: a model that is linear in features (docs/theory.md 1, 4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np

from unassuming._factors import Factor, Start, independent, refined
from unassuming._modular import Remainders, rational_basis
from unassuming._products import accurate_product
from unassuming._rounding import EPS, powers_of_two
from unassuming._typing import Array, IntArray
from unassuming.inputs import check_width
from unassuming.objectives.designs._design import Design
from unassuming.objectives.designs._lost_coefficients import best_representable, shortest
from unassuming.objectives.designs._norm_ball import BallCoordinates
from unassuming.objectives.designs._rotation import ROTATED, in_basis
from unassuming.objectives.designs._tall import solved_quickly
from unassuming.objectives.designs._whitening import FeatureWhitening, Whitening

_INDEPENDENT = 1e-10
_SHIFTED = 1e-6
"""Rows in which the column of the intercept is smaller, relative to its largest entry, say nothing
about a shift. (In another basis most of its entries can be rounding errors.)"""


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
    columns : sequence of int, optional
        The columns of the inputs that are features, in their order; by default all of them.

    Examples
    --------
    >>> design = FeatureDesign(np.array([[2.0], [5.0]]), intercept=True)
    >>> design.rows(np.array([[7.0]]))
    array([[1., 7.]])
    """

    dual: ClassVar[bool] = False
    exact_null: tuple[Remainders, ...] = ()
    """Null vectors modulo primes, if they are known although Φ is rounded."""
    _last: tuple[Array, Array, Factor] | None = None
    _columns: IntArray | None = None

    def __init__(
        self,
        X: Array,
        *,
        intercept: bool,
        names: list[str] | None = None,
        columns: Sequence[int] | None = None,
    ) -> None:
        n, p = X.shape
        if columns is not None:
            self._columns, self._width = np.array(columns, dtype=np.intp), p
            X = X[:, self._columns]
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

    def in_basis(self, Q: Array) -> FeatureDesign:
        """Return QᵀΦ, rounded."""
        matrix, sizes = in_basis(Q, self.matrix)
        names, rounding = list(self.names), self.rounding + ROTATED
        found = FeatureDesign.of_columns(
            matrix, intercept=self.intercept, names=names, rounding=rounding
        )
        found.sizes = sizes
        return found

    def rows(self, X: Array) -> Array:
        """Return [1, X]."""
        if self._columns is None:
            check_width(X, self.X.shape[1])
            return self._with_ones(X)
        check_width(X, self._width)
        return self._with_ones(X[:, self._columns])

    @cached_property
    def spans_everything(self) -> bool:
        """Whether the features can take any values at the inputs."""
        enough = self.matrix.shape[1] >= self.n
        return enough and bool(self._plain_factor.columns.shape[1] == self.n)

    @property
    def penalised(self) -> Array:
        """One for each penalised coefficient, zero for the intercept."""
        return np.repeat([0.0, 1.0], [int(self.intercept), self.X.shape[1]])

    def penalty_matrix(self) -> Array:
        """Return diag(0, 1, ..., 1)."""
        return np.diag(self.penalised)

    def whiten(self, w: Array, lam: float) -> Whitening:
        """Factor the stacked design [W^{1/2}Φ/√n; √λ P^{1/2}]."""
        root, penalty = np.sqrt(w / self.n), np.sqrt(lam) * self.penalised
        stacked = self._factor_once(root, penalty)
        plain = stacked.without_columns()
        if lam > 0 and not _well_conditioned(stacked.columns[: self.n]):
            plain = self._factor(root, 0.0 * penalty).without_columns()
        return FeatureWhitening(stacked, penalty, plain)

    def _factor_once(self, root: Array, penalty: Array) -> Factor:
        """Return the factor behind the whitening and the estimate."""
        last = self._last
        if last is None or not all(map(np.array_equal, last[:2], (root, penalty))):
            self._last = last = (root, penalty, self._factor(root, penalty))
        return last[2]

    def _factor(self, root: Array, penalty: Array) -> Factor:
        """Return the factor of [diag(root) Φ; diag(penalty)].

        With an intercept a column may be shifted: functions and penalty stay the same. Not shifted,
        it loses as many digits as it has in common with a constant. Medians shift it, since means
        would spread a single large number over all rows.
        """
        held = np.diag(self.penalised)
        rows, weights = np.vstack([self.matrix, held]), np.append(root, penalty)
        # Errors of the rows decide which columns are dependent.
        sizes = np.abs(rows)
        own = sizes[: self.n] if self.sizes is None else self.sizes
        sizes[: self.n] += self.rounding / EPS * own
        given = () if self.rounding or self.computed else (rows,)
        if not self.intercept:
            start = self._with_null(independent(rows, sizes, weights, given), penalty)
            return self._with_errors(refined(rows, start, root=weights), weights)
        there = np.abs(self.one) > _SHIFTED * np.abs(self.one).max()
        shift = np.median(self.X[there] / self.one[there, None], axis=0)
        moved = rows.copy()
        moved[: self.n, 1:] -= np.outer(self.one, shift)
        sizes[: self.n, 1:] += np.outer(np.abs(self.one), np.abs(shift))
        start = independent(moved, sizes, weights, given, np.append(0.0, shift))
        start.back[0] -= shift @ start.back[1:]
        start.null[0] -= shift @ start.null[1:]
        start = self._with_null(start, penalty)
        return self._with_errors(refined(rows, start, root=weights), weights)

    def _with_null(self, start: Start, penalty: Array) -> Start:
        """Return these vectors with the null vectors that are known without rounding."""
        if penalty.any() or not self.exact_null:
            return start
        found = rational_basis(self.exact_null)
        null = start.null if found is None else found
        return start._replace(null=null, exact_null=self.exact_null)

    def _with_errors(self, found: Factor, weights: Array) -> Factor:
        """Return a factor that allows for the errors of the rows."""
        if self.errors is None:
            return found
        errors = np.zeros((len(weights), self.matrix.shape[1]))
        errors[: self.n] = self.errors
        return found.widened(weights[:, None] * errors)

    def least_squares(self, y: Array, w: Array, lam: float) -> Array:
        """Solve the stacked least squares problem, with least norm."""
        root, penalty = np.sqrt(w / self.n), np.sqrt(lam) * self.penalised
        scale = float(powers_of_two(np.abs(y).max(initial=0.0)))
        if not self.rounding:
            quick = solved_quickly(self.matrix, y / scale, root, penalty)
            if quick is not None:
                return scale * quick
        found = self._factor_once(root, penalty)
        a = _solve(found, self.matrix, y / scale, root, penalty)
        # Of all solutions, that whose slopes have the least norm.
        slopes = slice(int(self.intercept), None)
        a = shortest(a, found.null, slopes)
        return scale * best_representable(a, self.matrix, y / scale, root, penalty, slopes)

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients of least norm, by least squares."""
        ones, none = np.ones(self.n), np.zeros(self.matrix.shape[1])
        found, every = self._plain_factor, slice(None)
        solutions = (_solve(found, self.matrix, row, ones, none) for row in values)
        return np.stack([shortest(a, found.null, every) for a in solutions])

    @cached_property
    def _plain_factor(self) -> Factor:
        """The factor of Φ alone."""
        return self._factor(np.ones(self.n), np.zeros(self.matrix.shape[1]))

    @property
    def unseen(self) -> int:
        """Number of directions in the coefficients that change no fitted value."""
        return int(self._plain_factor.null.shape[1])

    def probe_directions(self) -> Array:
        """Return directions that change no fitted value."""
        null = self._plain_factor.null
        return np.asarray((null / np.linalg.norm(null, axis=0)).T)

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
        parts = (F, N, estimate, g, zero, zero > 0, np.eye(len(estimate)), bound)
        return BallCoordinates(*parts, rounding=0.0 if self.errors is None else self.rounding)

    def rename(self, names: Sequence[Any]) -> bool:
        """Name the slopes, by the names of all columns of the inputs."""
        if self._columns is not None:
            names = [names[j] for j in self._columns]
        self.names = ["intercept"] * self.intercept + [str(name) for name in names]
        return True

    def standardised(self) -> FeatureDesign | None:
        """Return features of mean zero and variance one; None if a column is constant."""
        spread = self.X.std(axis=0)
        if (
            not self.intercept
            or self.rounding
            or (spread <= 1e-12 * np.abs(self.X).max(axis=0)).any()
        ):
            return None
        return FeatureDesign((self.X - self.X.mean(axis=0)) / spread, intercept=True)


def _well_conditioned(q: Array) -> bool:
    """Whether columns are independent beyond doubt."""
    values = np.linalg.eigvalsh(q.T @ q)
    return bool(len(values) and values[0] > _INDEPENDENT * values[-1])


def _solve(found: Factor, Phi: Array, y: Array, root: Array, penalty: Array) -> Array:
    """Return a least squares solution, given the factor of the stacked design."""
    top, low = found.columns[: len(y)], found.columns[len(y) :]
    a = found.basis @ (top.T @ (root * y))
    with_y = np.column_stack([y, Phi])
    # Steps of refinement make the gradient zero to rounding.
    for _ in range(2):
        r = root * accurate_product(with_y, np.append(1.0, -a)[:, None])[:, 0]
        a = a + found.basis @ (top.T @ r - low.T @ (penalty * a))
    return a
