"""Huber regression with concomitant scale, the objective of scikit-learn's HuberRegressor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq, qr, solve_triangular

from unassuming._rounding import EPS, powers_of_two
from unassuming._typing import Array
from unassuming.models.solvers._huber_scale import huber_scale
from unassuming.models.solvers._newton import Point, backtrack, descend, largest_error


def concomitant_huber(
    design: Array, y: Array, weights: Array, epsilon: float, penalty: Array
) -> tuple[Array, float]:
    r"""Minimise :math:`\sum_j w_j(\sigma + \sigma H_\varepsilon(r_j/\sigma)) + \sum_k p_k a_k^2`.

    The residuals are :math:`r = y - \Phi a`, and :math:`H_\varepsilon(z) = z^2` for
    :math:`|z| < \varepsilon`, :math:`2\varepsilon|z| - \varepsilon^2` beyond. The minimum is over
    both the coefficients a and the scale σ. Here ε > 1, and the weights w and p are nonnegative.

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
        If too many residuals vanish, so that the scale does too.

    Notes
    -----
    The best scale for given coefficients is known in closed form. This leaves a convex function of
    the coefficients with a piecewise smooth gradient, minimised by Newton's method. Its matrix is
    regularised in proportion to the gradient, which changes the path but not the solution.

    Examples
    --------
    >>> y = np.array([-1.0, 1.0, -1.0, 1.0, 100.0])
    >>> a, sigma = concomitant_huber(np.ones((5, 1)), y, np.ones(5), 1.35, np.zeros(1))
    >>> round(float(a[0]), 6), round(sigma, 6)
    (0.409138, 1.21226)
    """
    # Powers of two bring the columns to a common size without rounding.
    columns = powers_of_two(np.sqrt(np.sum(weights[:, None] * design**2, axis=0)))
    problem = _Profile(design / columns, y, weights, epsilon, penalty / columns**2)
    best = descend(problem.at(problem.least_squares()), problem.step, 500)
    if best.sigma <= 1e4 * EPS * problem.spread_inside(best):
        # The infimum lies at scale zero, where the fit passes through too many points.
        raise problem.collapsed(best.r)
    return best.a / columns, best.sigma


@dataclass(frozen=True)
class _Point(Point):
    r: Array
    sigma: float
    gradient: Array  # half of it


class _Profile:
    """The objective as a function of the coefficients, with the best scale for each."""

    def __init__(
        self, design: Array, y: Array, weights: Array, epsilon: float, penalty: Array
    ) -> None:
        self.design, self.y, self.weights = design, y, weights
        self.epsilon, self.penalty = epsilon, penalty
        self.size_of_design = np.abs(design)

    def least_squares(self) -> Array:
        """Return the ridge solution, where the search starts."""
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
        # Rounding errors: of the value, of a residual, and of the gradient.
        blur = 8.0 * EPS * (value + 2.0 * float((self.weights * np.abs(clipped)) @ spread))
        noise = np.abs(clipped) + np.where(np.abs(z) < self.epsilon, spread / sigma, 0.0)
        rounding = self.size_of_design.T @ (self.weights * noise) + self.penalty * np.abs(a)
        error = largest_error(gradient, 4.0 * EPS * rounding)
        return _Point(a, value, blur, error, r, sigma, gradient)

    def spread_inside(self, point: _Point) -> float:
        """Return the size of y and of the fit where the residuals are below the threshold."""
        spread = np.abs(self.y) + np.abs(self.y - point.r)
        return float(spread[np.abs(point.r) < self.epsilon * point.sigma].max(initial=0.0))

    def collapsed(self, r: Array) -> ValueError:
        """Return the error for an objective that no positive scale minimises."""
        share = float(self.weights @ (r != 0.0) / self.weights.sum())
        return ValueError(
            "y leaves too few nonzero residuals to estimate their scale: expected residuals such "
            f"that epsilon² times their share exceeds 1, given epsilon = {self.epsilon:g} and a "
            f"share of {share:g}. Raise epsilon, use fewer features, or use least squares."
        )

    def step(self, point: _Point) -> _Point | None:
        """Take one Newton step with backtracking."""
        direction = self._direction(point)
        slope = 2.0 * float(point.gradient @ direction)
        return backtrack(point, lambda length: self.at(point.a + length * direction), slope)

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
