"""Least squares with weighted absolute values, solved exactly by an active-set method."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, qr_delete, solve_triangular

from unassuming._rounding import EPS, rank_cut
from unassuming._typing import Array

_NEARLY_DEPENDENT = 1e-9  # relative distance of a column from the span of the active ones


def l1_least_squares(design: Array, y: Array, penalty: Array) -> Array:
    r"""Minimise :math:`\tfrac12\|y - Da\|^2 + \sum_j p_j |a_j|`, exactly up to rounding.

    The columns of D may be dependent or nearly so; p_j = 0 leaves a coefficient unpenalised.
    Returns a minimiser whose active columns are independent; inactive coefficients are exactly
    zero.

    Notes
    -----
    The method of Lawson and Hanson for nonnegative least squares, with signs. Among the inactive
    columns, the one whose correlation with the residual exceeds its penalty most joins the active
    set. The coefficients then move towards the minimiser on the active set, and one that reaches
    zero on the way leaves. A column that (nearly) depends on the active ones joins by an exchange
    along the null direction, so that the QR factorisation of the active columns keeps full rank.

    Examples
    --------
    >>> l1_least_squares(np.eye(3), np.array([3.0, -0.5, -2.0]), np.ones(3))
    array([ 2.,  0., -1.])
    """
    face = _Face(design, y, penalty)
    face.start()
    best, smallest = face.a.copy(), np.inf
    visited: set[frozenset[tuple[int, float]]] = set()
    refused: set[int] = set()
    entering = -1
    for _ in range(100 * (face.a.size + 10)):
        face.descend()
        # In exact arithmetic every face is met once, since the objective falls. A face is met again
        # through rounding only; the column that led there is refused until the next new face.
        if face.signature() in visited:
            refused.add(entering)
        else:
            visited.add(face.signature())
            refused.clear()
        excess = face.excess()
        if excess.max(initial=0.0) < smallest:
            best, smallest = face.a.copy(), float(excess.max(initial=0.0))
        excess[list(refused)] = 0.0
        if not np.any(excess > 0.0):
            break
        entering = int(np.argmax(excess))
        face.enter(entering)
    face.restart(best)
    face.descend(refinements=2)
    return face.a


def l1_subdifferential(a: Array, penalty: Array | float) -> tuple[Array, Array]:
    """Return the box [lo, hi] of the subgradients of Σ_j p_j |a_j|: a point unless a_j = 0."""
    point = penalty * np.sign(a)
    slack = np.where(a == 0.0, penalty, 0.0)
    return point - slack, point + slack


class _Face:
    """The active columns, the signs of their coefficients, and their QR factorisation."""

    def __init__(self, design: Array, y: Array, penalty: Array) -> None:
        self.design = np.asfortranarray(design)  # it is read by columns
        self.y, self.penalty = y, penalty
        self.norms = np.linalg.norm(design, axis=0)
        self.a = np.zeros(design.shape[1])
        self.signs = np.zeros(design.shape[1])
        self.active: list[int] = []

    def start(self) -> None:
        """Begin with an independent set of the unpenalised columns."""
        free = np.flatnonzero(self.penalty == 0.0)
        if free.size:
            R, pivots = qr(self.design[:, free], mode="r", pivoting=True)
            size = np.abs(np.diagonal(R))
            rank = int(np.sum(size > rank_cut(self.design.shape) * size[0]))
            free = free[np.sort(pivots[:rank])]
        self._factorise([int(j) for j in free])

    def restart(self, a: Array) -> None:
        """Return to the coefficients `a`, with a fresh factorisation of their columns."""
        self.a, self.signs = a.copy(), np.sign(a) * (self.penalty > 0.0)
        unpenalised = [j for j in self.active if self.penalty[j] == 0.0]
        self._factorise(unpenalised + [int(j) for j in np.flatnonzero(self.signs)])

    def _factorise(self, active: list[int]) -> None:
        self.active = active
        self.Q, self.R = qr(self.design[:, active], mode="economic")

    def signature(self) -> frozenset[tuple[int, float]]:
        return frozenset((j, float(self.signs[j])) for j in self.active)

    def _correlations(self) -> Array:
        """Return Dᵀ(y − Da)."""
        residual = self.y - self.design[:, self.active] @ self.a[self.active]
        correlations: Array = self.design.T @ residual
        return correlations

    def excess(self) -> Array:
        """Return by how much each inactive correlation exceeds its penalty, beyond rounding."""
        columns, a = self.design[:, self.active], self.a[self.active]
        size = np.linalg.norm(np.abs(self.y) + np.abs(columns) @ np.abs(a))
        rounding = 4.0 * EPS * (self.norms * size + self.penalty)
        excess: Array = np.maximum(np.abs(self._correlations()) - self.penalty - rounding, 0.0)
        excess[self.active] = 0.0
        return excess

    def _minimiser(self, refinements: int) -> Array:
        """Return the minimiser b on the face: D_Aᵀ(y − D_A b) = p_A s_A."""
        slope = (self.penalty * self.signs)[self.active]
        lead = solve_triangular(self.R, slope, trans=1)
        b: Array = solve_triangular(self.R, self.Q.T @ self.y - lead)
        for _ in range(refinements):
            columns = self.design[:, self.active]
            lack = columns.T @ (self.y - columns @ b) - slope
            b += solve_triangular(self.R, solve_triangular(self.R, lack, trans=1))
        return b

    def descend(self, refinements: int = 0) -> None:
        """Go to the minimiser of the face, leaving it wherever a coefficient reaches zero."""
        while self.active:
            index = np.array(self.active)
            a, b, signs = self.a[index], self._minimiser(refinements), self.signs[index]
            crossing = (signs != 0.0) & (b * signs <= 0.0)
            if not crossing.any():
                self.a[index] = b
                return
            steps = np.full(index.size, np.inf)
            steps[crossing] = a[crossing] / (a[crossing] - b[crossing])
            self._leave(index, a + float(steps.min()) * (b - a), int(np.argmin(steps)))

    def enter(self, j: int) -> None:
        """Add column j to the active set, by an exchange if it depends on the active columns."""
        column = self.design[:, j]
        self.signs[j] = np.sign(self._correlations()[j])
        coordinates = self.Q.T @ column
        rest = column - self.Q @ coordinates
        again = self.Q.T @ rest  # a second pass makes the new direction orthogonal to rounding
        coordinates, rest = coordinates + again, rest - self.Q @ again
        distance = float(np.linalg.norm(rest))
        if distance <= _NEARLY_DEPENDENT * self.norms[j] and self._exchange(
            j, coordinates, distance
        ):
            return
        if distance <= EPS * self.norms[j]:
            self.signs[j] = 0.0
            return
        size = len(self.active)
        R = np.zeros((size + 1, size + 1))
        R[:size, :size], R[:size, size], R[size, size] = self.R, coordinates, distance
        self.Q, self.R = np.column_stack([self.Q, rest / distance]), R
        self.active.append(j)

    def _exchange(self, j: int, coordinates: Array, distance: float) -> bool:
        """Move along the (nearly) null direction of the columns A and j until one leaves A.

        The residual (nearly) stays the same while the penalty falls.
        """
        index = np.array(self.active)
        direction = -self.signs[j] * solve_triangular(self.R, coordinates)
        shrinking = self.a[index] * direction * np.abs(self.signs[index]) < 0.0
        if not shrinking.any():
            return False
        steps = np.full(index.size, np.inf)
        steps[shrinking] = -self.a[index][shrinking] / direction[shrinking]
        step, position = float(steps.min()), int(np.argmin(steps))
        slope = abs(self._correlations()[j]) - self.penalty[j]
        if step * distance**2 > slope:  # the minimiser on the larger face comes first
            return False
        self._leave(index, self.a[index] + step * direction, position)
        self.a[j] = step * self.signs[j]
        self._factorise([*self.active, j])
        return True

    def _leave(self, index: Array, values: Array, position: int) -> None:
        """Set the active coefficients to `values`; the one at `position` is zero and leaves."""
        self.a[index] = values
        self.a[index[position]] = self.signs[index[position]] = 0.0
        del self.active[position]
        size = len(self.active)
        Q, R = qr_delete(self.Q, self.R, position, which="col")
        self.Q, self.R = Q[:, :size], R[:size]  # a square Q comes back square
