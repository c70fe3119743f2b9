"""Support vector regression, polished to the exact solution by an active-set method."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpocon
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR

from unassuming._rounding import EPS
from unassuming._typing import Array, IntArray
from unassuming.models.solvers._linear import SumZero


def epsilon_svr(
    K: Array,
    y: Array,
    C: float | Array,
    epsilon: float,
    *,
    fit_intercept: bool = True,
    start: Array | None = None,
) -> tuple[float, Array]:
    r"""Maximise :math:`y^T a - \tfrac12 a^T K a - \varepsilon\|a\|_1` over :math:`|a_j| \le C_j`.

    With an intercept also :math:`\mathbf 1^T a = 0`, and the intercept b is its multiplier.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric Gram matrix. If it is indefinite there may be several stationary points; which one
        is returned depends on the start.
    y : ndarray of shape (n,)
    C : float or ndarray of shape (n,)
        The box, positive.
    epsilon : float
        Half the width of the tube, ≥ 0.
    fit_intercept : bool
        Whether there is an intercept; otherwise it is zero.
    start : ndarray of shape (n,), optional
        Feasible coefficients to polish. The default is the result of scikit-learn's solver with an
        intercept, and zero without.

    Returns
    -------
    b : float
        The intercept. If no coefficient lies strictly between its bounds, b is determined only up
        to an interval, and the midpoint is taken.
    a : ndarray of shape (n,)
        The coefficients. With r = y − Ka − b: where a is exactly zero, |r| ≤ ε; where it is exactly
        ±C, ±r ≥ ε; elsewhere r = ε sign(a), all up to rounding.

    Examples
    --------
    >>> epsilon_svr(np.eye(3), np.array([0.0, 1.0, 5.0]), C=1.0, epsilon=0.5)
    (1.5, array([-1.,  0.,  1.]))
    """
    box = np.array(np.broadcast_to(np.asarray(C, dtype=np.float64), y.shape))
    if start is None:
        start = _libsvm(K, y, box, epsilon) if fit_intercept else np.zeros_like(y)
    face = _Face(K, y, box, epsilon, fit_intercept, np.clip(start, -box, box))
    best, smallest = (0.0, face.a.copy()), np.inf
    visited: set[bytes] = set()
    refused: set[int] = set()
    entering: list[int] = []
    for _ in range(100 + 20 * y.size):
        face.ascend()
        # A face is met again through rounding only, as in l1_least_squares.
        if face.signature() in visited:
            refused.update(entering)
        else:
            visited.add(face.signature())
            refused.clear()
        violation = face.violation()
        if violation.max() < smallest:
            best, smallest = (face.b, face.a.copy()), float(violation.max())
        violation[list(refused)] = 0.0
        entering = face.entering(violation)
        if not entering:
            break
        face.enter(entering)
    return best


def _libsvm(K: Array, y: Array, box: Array, epsilon: float) -> Array:
    """Return the coefficients of scikit-learn, to a tolerance.

    LIBSVM keeps the kernel in single precision, so a tighter tolerance would not help.
    """
    scale = float(np.max(np.abs(y - np.mean(y)))) or 1.0
    solver = SVR(
        kernel="precomputed",
        C=1.0,
        epsilon=epsilon,
        tol=1e-8 * scale,
        max_iter=100_000 + 100 * y.size,
    )
    with warnings.catch_warnings():
        # The active-set method takes over wherever this one stops.
        warnings.simplefilter("ignore", ConvergenceWarning)
        solver.fit(K, y, sample_weight=box)
    a = np.zeros_like(y)
    a[solver.support_] = solver.dual_coef_[0]
    return a


class _Face:
    """Coefficients, and the set of those that may move between two of their kinks 0 and ±C."""

    def __init__(
        self, K: Array, y: Array, box: Array, epsilon: float, fit_intercept: bool, a: Array
    ) -> None:
        self.K, self.y, self.box, self.epsilon = K, y, box, epsilon
        self.size_of_K = np.abs(K)
        self.fit_intercept = fit_intercept
        self.a, self.b = a.copy(), 0.0
        self.free = np.abs(a) != box
        self.sign = np.zeros_like(a)
        if epsilon > 0.0:  # otherwise zero is not a kink
            self.free &= a != 0.0
            self.sign = np.sign(a)
        if fit_intercept and self.free.any():
            index = np.flatnonzero(self.free)
            self.a[index] = np.clip(self.a[index] - self.a.sum() / index.size, *self._ends(index))

    def signature(self) -> bytes:
        """Return an identifier of the face: the free coefficients and the kinks of the others."""
        return np.where(self.free, self.sign, 3.0 + np.sign(self.a)).astype(np.int8).tobytes()

    def _ends(self, index: IntArray) -> tuple[Array, Array]:
        """Return the kinks between which these free coefficients may move."""
        lowest = np.where(self.sign > 0.0, 0.0, -self.box)[index]
        highest = np.where(self.sign < 0.0, 0.0, self.box)[index]
        return lowest, highest

    def _update(self) -> None:
        """Recompute y − Ka, its rounding error, and b."""
        self.u = self.y - self.K @ self.a
        size = np.abs(self.y) + self.size_of_K @ np.abs(self.a) + self.epsilon
        if not self.fit_intercept:
            self.rounding = 4.0 * EPS * size
            return
        self.rounding = 4.0 * EPS * (size + size.max())
        if self.free.any():
            self.b = float(np.mean((self.u - self.epsilon * self.sign)[self.free]))
        else:
            low, high = self._interval()
            self.b = float(low.max() + high.min()) / 2.0

    def _interval(self) -> tuple[Array, Array]:
        """Return the bounds on b that the coefficients impose when all of them are at kinks."""
        low = np.where(self.a < 0.0, self.u + self.epsilon, self.u - self.epsilon)
        high = np.where(self.a > 0.0, self.u - self.epsilon, self.u + self.epsilon)
        return np.where(self.a > 0.0, -np.inf, low), np.where(self.a < 0.0, np.inf, high)

    def violation(self) -> Array:
        """Return by how much each coefficient at a kink violates its optimality condition."""
        r = self.u - self.b
        excess = np.where(self.a == 0.0, np.abs(r), -np.sign(self.a) * r + 2.0 * self.epsilon)
        violation: Array = np.maximum(excess - self.epsilon - self.rounding, 0.0)
        violation[self.free] = 0.0
        return violation

    def entering(self, violation: Array) -> list[int]:
        """Return the coefficients to set free: the worst, or a pair if none is free to fix b."""
        if not violation.any():
            return []
        if self.fit_intercept and not self.free.any():
            low, high = self._interval()
            low[violation == 0.0], high[violation == 0.0] = -np.inf, np.inf
            pair = [int(np.argmax(low)), int(np.argmin(high))]
            return pair if low[pair[0]] > high[pair[1]] else []
        return [int(np.argmax(violation))]

    def enter(self, entering: list[int]) -> None:
        for j in entering:
            if self.epsilon > 0.0:
                self.sign[j] = np.sign(self.a[j] if self.a[j] != 0.0 else self.u[j] - self.b)
            self.free[j] = True

    def ascend(self) -> None:
        """Go to the stationary point of the face, leaving it wherever a kink is reached."""
        full_steps = 0
        while True:
            self._update()
            index = np.flatnonzero(self.free)
            slope = (self.u - self.epsilon * self.sign - self.b)[index]
            # Three full Newton steps are one step and its refinement.
            if np.all(np.abs(slope) <= self.rounding[index]) or full_steps == 3:
                return
            direction, length = self._direction(index, slope)
            lowest, highest = self._ends(index)
            end = np.where(direction > 0.0, highest, lowest)
            steps = np.full(index.size, np.inf)
            moving = direction != 0.0
            steps[moving] = (end - self.a[index])[moving] / direction[moving]
            first = int(np.argmin(steps))
            step = min(length, float(steps[first]))
            if not np.isfinite(step):
                return
            self.a[index] = np.clip(self.a[index] + step * direction, lowest, highest)
            full_steps += 1
            if steps[first] <= length:
                full_steps = 0
                self.a[index[first]] = end[first]
                self.free[index[first]] = False

    def _direction(self, index: IntArray, slope: Array) -> tuple[Array, float]:
        """Return a direction of ascent within the face, and the step to the maximum along it."""
        K, scale = self.K[np.ix_(index, index)], float(np.abs(self.y).max())
        if not self.fit_intercept:
            return _newton(K, slope, self.rounding, scale)
        space = SumZero(index.size)
        reduced, length = _newton(space.form(K), space.coordinates(slope), self.rounding, scale)
        return space.vector(reduced), length


def _newton(K: Array, slope: Array, rounding: Array, scale: float) -> tuple[Array, float]:
    """Return a direction of ascent of slopeᵀd − ½dᵀKd, and the step to the maximum along it."""
    try:
        factor, _ = cho_factor(K, lower=True)
        norm = float(np.linalg.norm(K, 1))
        if dpocon(factor, norm, uplo="L")[0] > 1e4 * K.shape[0] * EPS:
            newton: Array = cho_solve((factor, True), slope)
            return newton, 1.0
    except np.linalg.LinAlgError:
        pass
    curvature, basis = np.linalg.eigh(K)
    slope = basis.T @ slope
    null = np.abs(curvature) <= 10.0 * K.shape[0] * EPS * np.abs(curvature).max()
    if np.linalg.norm(slope[null]) > np.linalg.norm(rounding):
        return basis[:, null] @ slope[null], np.inf
    curvature, basis, slope = curvature[~null], basis[:, ~null], slope[~null]
    if np.linalg.norm(slope) <= 1e-4 * scale:
        # Close to a stationary point: go there, whatever the signs of the curvature.
        return basis @ (slope / curvature), 1.0
    rise, bend = np.sum(slope**2 / np.abs(curvature)), np.sum(slope**2 / curvature)
    return basis @ (slope / np.abs(curvature)), float(rise / bend) if bend > 0.0 else np.inf
