"""Objectives of the library: a design, a loss of weighted residuals and a penalty."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from unassuming._numerics import CUT, EPS, Factor, blur
from unassuming._typing import Array
from unassuming.objectives.base import Design, Objective, Weighting, as_matrix, named
from unassuming.objectives.kernel import bordered
from unassuming.objectives.losses import Loss
from unassuming.objectives.penalties import Kinks, Penalty
from unassuming.objectives.score import Gradient, Score, State
from unassuming.objectives.whitening import AtInputs, Coordinates, Whitened


class DesignedObjective(Objective):
    """Σ w_j loss(r_j) + ½ aᵀPa + Σ l1_j ``|a_j|``, times ``scale``.

    Minus the gradient is Lρ(r) - Pa - ∂l1, where L is ΦᵀW unless ``dual`` makes it the identity,
    as in the dual of SVR.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
    y, w : arrays of shape (n,)
        Outputs and weights; None for equal weights.
    loss : Loss
    penalty : Penalty
    weighting : str
        The default of Ψ.
    solve : callable, optional
        Returns the minimiser of the objective, where there is no closed form.
    title : str
        What it is called in sentences.

    Examples
    --------
    >>> objective = region.objective
    >>> print(objective, objective.residuals(region.estimate).shape, objective.design.matrix.shape)
    the quadratic objective (50,) (50, 3)
    """

    design: Design
    loss: Loss
    penalty: Penalty

    def __init__(
        self,
        design: Design,
        y: Array,
        w: Array | None,
        loss: Loss,
        penalty: Penalty,
        *,
        weighting: str = "hessian",
        solve: Callable[[Any], Array] | None = None,
        scale: float = 1.0,
        dual: bool = False,
        title: str = "the quadratic objective",
    ) -> None:
        super().__init__(y, design.matrix.shape[1], design.names)
        self.design, self.loss, self.penalty = design, loss, penalty
        self.w = np.ones(self.n) if w is None else w
        self.default_weighting, self.solve, self.scale = weighting, solve, scale
        self.dual, self.title = dual, title
        self.quadratic = loss.polynomial and not (penalty.kinked or loss.knots or dual)
        self.sign_blind = penalty.none and not dual
        self.labels_only, self.quantile = loss.labels, loss.quantile

    def residuals(self, coefficients: Array) -> Array:
        """Return y - Φa, or y minus the mean of a label."""
        return self.y - self.fitted(coefficients)

    def fitted(self, coefficients: Array) -> Array:
        """Return Φa, or the mean of a label with these log-odds."""
        return self.loss.mean(np.asarray(coefficients @ self.design.matrix.T))

    def gradient(self, coefficients: Array, residuals: Array) -> Array:
        """Return the (sub)gradient of least norm (docs/theory.md 6)."""
        a, between = coefficients, (1,) * (residuals.ndim - 2)
        rho = self.loss.rho(residuals)
        u = rho if self.dual else rho @ self.pull.T
        if not self.penalty.none:
            u = u - self.penalty.smooth(a).reshape(len(a), *between, -1)
        if self.penalty.kinked:
            box = self.penalty.subgradients(a)
            u = u - np.clip(u, *(side.reshape(len(a), *between, -1) for side in box))
        return -self.scale * u

    def state(self, coefficients: Array) -> State:
        """Return residuals, fitted values and their rounding; what is at a kink is there."""
        a, box = coefficients, self.penalty.box
        if np.isfinite(box):
            near = np.abs(np.abs(a) - box) <= 8 * EPS * box
            near[:, : self.d - len(self.penalty.l1)] = False
            a = np.where(near, np.copysign(box, a), a)
        e = blur(self.y, np.abs(a) @ self._sizes)
        if self.basis is not None:
            e = e * np.sqrt(self.n)  # sums of n rows
        return self.at_values(self.fitted(a), a, e)

    @cached_property
    def _sizes(self) -> Array:
        """``|Φ|``, transposed."""
        return np.ascontiguousarray(np.abs(self.design.matrix).T)

    def coefficients(self, values: Array) -> Array:
        """Return the shortest coefficients, from values and inputs alone."""
        return self.design.coefficients(self.loss.linear(values))

    def kinks(self) -> Kinks | None:
        """Return the knots of ρ and the kinks of the penalty; None if ρ is not affine between."""
        return self.penalty.kinks(self.loss.knots) if self.loss.polynomial else None

    @cached_property
    def factor(self) -> Factor:
        """Coordinates in which H = curvature · ΦᵀWΦ + P is the identity."""
        return self.design.factor(self.w * self.loss.curvature, self.penalty)

    @cached_property
    def whitened(self) -> Whitened:
        """Coordinates v = H^½(a - â)."""
        return Whitened(self.factor, np.sqrt(self.w)[:, None] * self.design.matrix)

    @cached_property
    def coordinates(self) -> Coordinates:
        """Coordinates for sets, supports and lines: v, unless K is strictly positive definite."""
        return AtInputs(self.design, np.sqrt(self.w)) if self.design.strict else self.whitened

    @cached_property
    def pull(self) -> Array:
        """ΦᵀW, or the identity for the dual of SVR."""
        return np.eye(self.n) if self.dual else self.design.matrix.T * self.w

    def score(self, weighting: Weighting) -> Score:
        """Return the statistics of the weighted gradient."""
        name = named(weighting)
        if name == "hessian" and not self.dual:
            f, kinked = self.factor, self.penalty.kinked
            A = f.Q.T * np.sqrt(self.w / self.loss.curvature)
            Psi, L = (f.back.T, self.pull) if kinked else (None, None)
            pushed = f.null.T @ self.penalty.P
            lam, V = np.linalg.eigh(pushed @ f.null)
            keep = lam > CUT * lam.max(initial=0.0)
            unseen = (V[:, keep] / np.sqrt(lam[keep])).T @ pushed
            return Gradient(self.loss, self.penalty, A, f.push, Psi, L, self.scale, unseen)
        k = len(self.pull)
        Psi = self._named(name) if name else as_matrix(weighting, k)
        P = np.zeros((k, self.d)) if self.penalty.none else self.penalty.P[self.d - k :]
        A, push = (self.pull, P) if Psi is None else (Psi @ self.pull, Psi @ P)
        L = None if self.dual else self.pull
        return Gradient(self.loss, self.penalty, A, push, Psi, L, self.scale**2)

    def _named(self, weighting: str) -> Array | None:
        """Return the identity as None, or ``|K|^½``, with one for the intercept."""
        if weighting == "identity":
            return None
        root = self.design.root
        if weighting == "gram" and root is not None:
            return bordered(root) if len(self.pull) > self.n else root
        expected = "" if self.dual else "'hessian', "
        expected += "" if root is None else "'gram', "
        raise self.refused(weighting, f"{expected}'identity' or a matrix")

    def estimate(self) -> Array:
        """Return the minimiser."""
        if self.solve is not None:
            return self.solve(self)
        f, root = self.factor, np.sqrt(self.w)
        a = f.back @ (f.Q.T @ (root * self.y))
        # Once more from the residuals: Z_0 is zero to rounding.
        return a + f.back @ (f.Q.T @ (root * (self.y - self.design.matrix @ a)) - f.push @ a)

    def in_basis(self, Q: Array) -> DesignedObjective | None:
        """Rotate the rows, which leaves a sum of squares as it is if all weights are equal."""
        squares, design = self.loss.polynomial and not self.loss.knots, self.design.in_basis(Q)
        if design is None or not squares or np.ptp(self.w) > 0:
            return None
        options: dict[str, Any] = {"solve": self.solve, "scale": self.scale, "title": self.title}
        y = Q.T @ self.y
        found = DesignedObjective(design, y, self.w, self.loss, self.penalty, **options)
        found.basis = Q
        return found

    def __str__(self) -> str:
        return self.title
