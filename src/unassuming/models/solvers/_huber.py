"""Huber regression with its scale estimated alongside, as scikit-learn's HuberRegressor has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq, qr, solve_triangular

from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.models.solvers._huber_scale import huber_scale


def concomitant_huber(
    design: Array, y: Array, weights: Array, epsilon: float, penalty: Array
) -> tuple[Array, float]:
    r"""Minimise :math:`\sum_j w_j(\sigma + \sigma H_\varepsilon(r_j/\sigma)) + \sum_k p_k a_k^2`.

    The residuals are :math:`r = y - \Phi a`, and :math:`H_\varepsilon(z) = z^2` for
    :math:`|z| < \varepsilon`, :math:`2\varepsilon|z| - \varepsilon^2` beyond. The minimum is over
    both the coefficients a and the scale σ.

    Parameters
    ----------
    design : ndarray of shape (n, d)
        The matrix Φ, with a leading column of ones if there is an intercept.
    y : ndarray of shape (n,)
        Targets.
    weights : ndarray of shape (n,)
        The weights w ≥ 0.
    epsilon : float
        The threshold in units of σ, greater than 1.
    penalty : ndarray of shape (d,)
        The weights p ≥ 0 of the squared coefficients, zero for an intercept.

    Returns
    -------
    a : ndarray of shape (d,)
        Coefficients with :math:`-\Phi^T(w \odot \mathrm{clip}(r/\sigma, \pm\varepsilon))
        + p \odot a = 0` up to rounding.
    sigma : float
        The scale, which is ``huber_scale(y - design @ a, weights, epsilon)``.

    Raises
    ------
    ValueError
        If the scale of the residuals shrinks to zero, because too many of them do.

    Notes
    -----
    For given coefficients the best scale is known in closed form, which leaves a convex function
    of the coefficients with a piecewise smooth gradient. Newton's method with a line search
    minimises it; the matrix is regularised in proportion to the gradient, which changes the path
    but not the solution.

    Examples
    --------
    >>> import numpy as np
    >>> from unassuming.models.solvers import concomitant_huber
    >>> y = np.array([-1.0, 1.0, -1.0, 1.0, 100.0])
    >>> a, sigma = concomitant_huber(np.ones((5, 1)), y, np.ones(5), 1.35, np.zeros(1))
    >>> round(float(a[0]), 6), round(sigma, 6)
    (0.409138, 1.21226)
    """
    # Powers of two bring the columns to a common size without rounding.
    norms = np.sqrt(np.sum(weights[:, None] * design**2, axis=0))
    columns = np.ldexp(1.0, np.frexp(norms)[1])
    problem = _Profile(design / columns, y, weights, epsilon, penalty / columns**2)
    current = best = problem.at(problem.least_squares())
    for _ in range(500):
        if current.error <= 1.0:
            break
        trial = problem.step(current)
        if trial is None:
            break
        current = trial
        best = min(best, current, key=lambda point: point.error)
    if best.sigma <= 1e4 * EPS * problem.spread_inside(best):
        # The infimum lies at scale zero, where the fit passes through too many points.
        raise problem.collapsed(best.r)
    return best.a / columns, best.sigma


@dataclass(frozen=True)
class _Point:
    """Coefficients, and what the objective is there."""

    a: Array
    r: Array
    sigma: float
    value: float
    blur: float  # the rounding error of the value
    gradient: Array  # half of it
    error: float  # the largest entry of the gradient in units of its rounding error


class _Profile:
    """The objective as a function of the coefficients, with the best scale for each."""

    def __init__(
        self, design: Array, y: Array, weights: Array, epsilon: float, penalty: Array
    ) -> None:
        self.design, self.y, self.weights = design, y, weights
        self.epsilon, self.penalty = epsilon, penalty
        self.size_of_design = np.abs(design)

    def least_squares(self) -> Array:
        """The ridge solution, where the search starts."""
        root = np.sqrt(self.weights)
        stacked = np.vstack([root[:, None] * self.design, np.diag(np.sqrt(self.penalty))])
        rhs = np.concatenate([root * self.y, np.zeros(self.penalty.size)])
        a: Array = lstsq(stacked, rhs)[0]
        return a

    def at(self, a: Array) -> _Point:
        r = self.y - self.design @ a
        spread = np.abs(self.y) + self.size_of_design @ np.abs(a)
        r[np.abs(r) <= 8.0 * EPS * (np.abs(self.y) + np.abs(self.y - r))] = 0.0  # rounding
        sigma = float(huber_scale(r, self.weights, self.epsilon))
        if not np.isfinite(sigma):
            raise self.collapsed(r)
        z = r / sigma
        clipped = np.clip(z, -self.epsilon, self.epsilon)
        # With z inside ±ε: 1 + z²; outside: 1 + 2ε|z| − ε².
        loss = 1.0 + clipped * (2.0 * z - clipped)
        value = float(sigma * (self.weights @ loss) + self.penalty @ a**2)
        gradient = -self.design.T @ (self.weights * clipped) + self.penalty * a
        # Rounding errors: of a residual, of the value, and of the gradient.
        blur = 8.0 * EPS * (value + 2.0 * float((self.weights * np.abs(clipped)) @ spread))
        noise = np.abs(clipped) + np.where(np.abs(z) < self.epsilon, spread / sigma, 0.0)
        rounding = self.size_of_design.T @ (self.weights * noise) + self.penalty * np.abs(a)
        rounding = 4.0 * EPS * rounding
        positive = rounding > 0.0
        error = float(np.max(np.abs(gradient[positive]) / rounding[positive], initial=0.0))
        return _Point(a, r, sigma, value, blur, gradient, error)

    def spread_inside(self, point: _Point) -> float:
        """The size of what residuals below the threshold are differences of."""
        spread = np.abs(self.y) + np.abs(self.y - point.r)
        return float(spread[np.abs(point.r) < self.epsilon * point.sigma].max(initial=0.0))

    def collapsed(self, r: Array) -> ValueError:
        """What to say where no positive scale minimises the objective."""
        share = float(self.weights @ (r != 0.0) / self.weights.sum())
        return ValueError(
            "y leaves too few nonzero residuals to estimate their scale: expected residuals such "
            f"that epsilon² times their share exceeds 1, given epsilon = {self.epsilon:g} and a "
            f"share of {share:g}. Raise epsilon, use fewer features, or use least squares."
        )

    def step(self, point: _Point) -> _Point | None:
        """One Newton step with backtracking, or None where rounding leaves nothing to gain."""
        direction = self._direction(point)
        slope = 2.0 * float(point.gradient @ direction)
        length = 1.0
        for _ in range(60):
            trial = self.at(point.a + length * direction)
            fall = point.value - trial.value
            if fall > 1e-4 * length * -slope:
                return trial
            # Close to the minimum the values differ by rounding only; the gradients do not.
            if abs(fall) <= point.blur and trial.error < 0.9 * point.error:
                return trial
            length /= 2.0
        return None

    def _direction(self, point: _Point) -> Array:
        inside = np.abs(point.r) < self.epsilon * point.sigma
        root = np.sqrt(self.weights[inside] / point.sigma)
        rows, unit = root[:, None] * self.design[inside], root * point.r[inside]
        length = np.linalg.norm(unit)
        if length > 0.0:  # the scale follows the coefficients: its Schur complement
            unit /= length
            rows -= np.outer(unit, unit @ rows)
        steepness = self.epsilon * (self.size_of_design.T @ self.weights)
        relative = np.max(np.abs(point.gradient) / (steepness + (steepness == 0.0)), initial=0.0)
        ridge = np.full(self.penalty.size, max(1e-3 * float(relative), EPS) / point.sigma)
        R = qr(np.vstack([rows, np.diag(np.sqrt(self.penalty + ridge))]), mode="r")[0]
        R = R[: self.penalty.size]
        direction: Array = -solve_triangular(R, solve_triangular(R, point.gradient, trans=1))
        return direction
