"""Logistic regression with squared and absolute penalties, solved up to rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd
from scipy.optimize import linprog
from scipy.special import expit

from unassuming._rounding import EPS, powers_of_two, rank_cut
from unassuming._typing import Array
from unassuming.models.solvers._l1 import l1_least_squares, l1_subdifferential
from unassuming.models.solvers._newton import Point, backtrack, descend, largest_error

_MODERATE = 15.0  # log-odds at which every row still contributes to the gradient


def logistic(design: Array, y: Array, weights: Array, ridge: Array, penalty: Array) -> Array:
    r"""Minimise :math:`\sum_k c_k\log(1+e^{-y_kg_k}) + \tfrac12\sum_j q_ja_j^2 + \sum_j p_j|a_j|`.

    Here :math:`g = \Phi a` are the log-odds of the label +1. The labels are ±1, and both
    occur if a column of ones is not penalised. The weights c are positive, and ``ridge`` q and
    ``penalty`` p are nonnegative.

    Returns
    -------
    ndarray of shape (d,)
        A minimiser, whose gradient (with p, the subgradient nearest to zero) is zero up to
        rounding. With p, the coefficients that vanish are exactly zero.

    Raises
    ------
    ValueError
        If nothing is penalised and the labels can be separated: then there is no minimum.

    Notes
    -----
    Newton's method. The quadratic model of the loss plus the penalty is a least squares problem,
    with absolute values if there are any, and is solved exactly in each step.

    Examples
    --------
    >>> y = np.array([1.0, 1.0, 1.0, -1.0])
    >>> a = logistic(np.ones((4, 1)), y, np.ones(4), np.zeros(1), np.zeros(1))
    >>> bool(np.isclose(a[0], np.log(3)))
    True
    """
    # Powers of two bring the columns to a common size without rounding.
    columns = powers_of_two(np.linalg.norm(design, axis=0))
    problem = _Logistic(design / columns, y, weights, ridge / columns**2, penalty / columns)
    best = descend(problem.at(np.zeros(design.shape[1])), problem.step, 30)
    # A gradient of zero at moderate log-odds is a minimum. Otherwise there may be none.
    settled = best.error <= 1.0 and np.abs(best.g).max() <= _MODERATE
    if not (ridge.any() or penalty.any() or settled):
        problem.require_overlap()
    a: Array = descend(best, problem.step, 200).a / columns
    return a


@dataclass(frozen=True)
class _Point(Point):
    g: Array
    descent: Array  # minus the gradient of the smooth part


class _Logistic:
    """The objective: its value and gradient, and the minimum of its quadratic model."""

    def __init__(self, design: Array, y: Array, c: Array, q: Array, p: Array) -> None:
        self.design, self.y, self.c, self.q, self.p = design, y, c, q, p
        self.size_of_design = np.abs(design)

    def require_overlap(self) -> None:
        """Raise if y_k φ_kᵀu ≥ 0 for all k, and not always 0, for some u."""
        rows = self.y[:, None] * self.design
        length = np.abs(rows).max(axis=1, keepdims=True)
        rows = rows / np.where(length > 0.0, length, 1.0)
        ones, zeros = np.ones(len(rows)), np.zeros(len(rows))
        found = linprog(
            -rows.sum(axis=0),
            A_ub=np.vstack([rows, -rows]),
            b_ub=np.concatenate([ones, zeros]),
            bounds=(None, None),
        )
        # A direction that separates can be scaled until some margin is 1; otherwise all are 0.
        if found.status != 0 or -found.fun > 0.5:
            raise ValueError(
                "y can be separated by the features, so the likelihood has no maximum: expected "
                "labels that overlap, or a penalty, given separable labels and no penalty. Set a "
                "finite C; ranks and tests need no estimate."
            )

    def at(self, a: Array) -> _Point:
        g = self.design @ a
        margin = self.y * g
        loss = np.logaddexp(0.0, -margin)
        value = float(self.c @ loss + 0.5 * (self.q @ a**2) + self.p @ np.abs(a))
        slope = self.c * expit(-margin)  # |y - tanh(g/2)| / 2
        descent = self.design.T @ (self.y * slope) - self.q * a
        # Rounding errors: of the value and of the gradient.
        spread = self.size_of_design @ np.abs(a)
        blur = 8.0 * EPS * (value + float(slope @ spread))
        noise = slope * (1.0 + expit(margin) * spread)
        rounding = self.size_of_design.T @ noise + self.q * np.abs(a) + self.p
        # Minus the subgradient nearest to zero.
        lack = descent - np.clip(descent, *l1_subdifferential(a, self.p))
        error = largest_error(lack, 4.0 * EPS * rounding)
        return _Point(a, value, blur, error, g, descent)

    def step(self, point: _Point) -> _Point | None:
        """Take one Newton step with backtracking."""
        target = self._model_minimum(point)
        direction = target - point.a
        bend = self.p @ (np.abs(target) - np.abs(point.a))
        slope = float(bend - point.descent @ direction)

        def trial_at(length: float) -> _Point:
            # The target itself, since its zeros are exact.
            return self.at(target if length == 1.0 else point.a + length * direction)

        return backtrack(point, trial_at, slope)

    def _model_minimum(self, point: _Point) -> Array:
        """Minimise the quadratic model of the loss at a point, plus the penalty."""
        root = np.sqrt(self.c * expit(point.g) * expit(-point.g))
        stacked = np.vstack([root[:, None] * self.design, np.diag(np.sqrt(self.q))])
        if self.p.any():
            # Minus the first derivatives of the loss, over the roots of the second ones.
            pull = np.sqrt(self.c) * self.y * np.exp(-self.y * point.g / 2.0)
            rhs = np.concatenate([root * point.g + pull, np.zeros(self.q.size)])
            return l1_least_squares(stacked, rhs, self.p)
        _, s, vt = svd(stacked, full_matrices=False)
        keep = s > rank_cut(stacked.shape) * s[0]
        # From the gradient: it vanishes at the minimum, and with it the rounding of the step.
        return np.asarray(point.a + (vt[keep] @ point.descent) / s[keep] ** 2 @ vt[keep])
