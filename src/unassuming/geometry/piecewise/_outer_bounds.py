"""Outer bounds of a piecewise region, and those that another weighting would have (theory 7.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.geometry import order_statistic
from unassuming.geometry.piecewise._model import LineModel
from unassuming.geometry.piecewise._relaxation import Relaxation, relaxed_bounds
from unassuming.geometry.quadratic._coordinates import BallChart
from unassuming.noise import Noise, Perturbations
from unassuming.objectives import (
    Design,
    DesignedObjective,
    FeatureDesign,
    LassoObjective,
    LeastNormScore,
)

_LARGEST_TRIAL = 2**26
"""Numbers in the sets of a model that is only tried."""


def outer_bounds(
    model: LineModel | None,
    design: Design | None,
    g: Array,
    ball: BallChart | None,
    norm_bound: float | None,
    sets: int,
) -> tuple[Array, Array]:
    """Return upper bounds of gᵀa and of -gᵀa over each set and the ball, (N, sets).

    Without a model the ball alone decides, and without either nothing is known. Nothing is known
    either for kernels without a ball.
    """
    if ball is not None:
        bound, N = norm_bound or 0.0, np.diagonal(ball.N)
        relaxation = None if model is None else Relaxation.of(model, ball.F, ball.back, N, bound)
        up, down = relaxed_bounds(relaxation, N, ball.functionals, ball.beyond, bound, sets)
        up[ball.hidden] = down[ball.hidden] = np.inf
        return up, down
    if model is None or not isinstance(design, FeatureDesign):
        return np.full((len(g), sets), np.inf), np.full((len(g), sets), np.inf)
    d = g.shape[1]
    relaxation = Relaxation.of(model, model.phi, np.eye(d), np.zeros(d), 0.0)
    return relaxed_bounds(relaxation, np.zeros(d), g, np.zeros(len(g)), 0.0, sets)


def ball_alone(ball: BallChart, norm_bound: float) -> Array:
    """Return the bound of gᵀa, and of -gᵀa, that the ball alone gives, (N,)."""
    up, _ = relaxed_bounds(
        None, np.diagonal(ball.N), ball.functionals, ball.beyond, norm_bound, sets=1
    )
    return np.asarray(np.where(ball.hidden, np.inf, up[:, 0]))


def highest_level(up: Array, down: Array) -> float:
    """Return the highest level at which all bounds over the sets (N, m - 1) make finite ones."""
    infinite = max(int(np.isposinf(part).sum(axis=1).max(initial=0)) for part in (up, down))
    sets = int(up.shape[1])
    return (sets - infinite) / (sets + 1)


class Trials:
    """Whether the functionals g (N, d) of a model of features would have bounds, were it another.

    Finite or not is a matter of the inputs and of the transformations, never of y: what is chosen
    by it keeps the guarantee.
    """

    def __init__(self, model: LineModel, objective: DesignedObjective, g: Array, q: int) -> None:
        self.model = model
        self.objective = objective
        self.g = g
        self.q = q

    def weighted(self) -> bool:
        """With weighting='hessian'."""
        return self._finite(self._scored(self.objective, "hessian"), self.g)

    def scaled(self) -> bool:
        """With columns of mean zero and length one, as StandardScaler makes them."""
        o, design = self.objective, self.objective.design
        if not isinstance(o, LassoObjective) or not isinstance(design, FeatureDesign):
            return False
        spread = design.X.std(axis=0)
        if not design.intercept or (spread <= 1e-12 * np.abs(design.X).max(axis=0)).any():
            return False
        scaled = FeatureDesign((design.X - design.X.mean(axis=0)) / spread, intercept=True)
        other = LassoObjective(scaled, o.y, o.c, o.penalty)
        # Every coefficient: then every functional of the functions is bounded too.
        return self._finite(self._scored(other, "identity"), np.eye(o.d))

    def with_noise(self, noise: Noise) -> bool:
        """With transformations of another kind."""
        rng = np.random.default_rng(0)
        m = self.model.perturbations.m
        drawn = Perturbations.sample(noise, len(self.model.y), m, rng)
        return self._finite(replace(self.model, perturbations=drawn), self.g)

    def _scored(self, objective: DesignedObjective, weighting: str) -> LineModel | None:
        try:
            score = objective.score(weighting)
        except ValueError:  # no such weighting
            return None
        assert isinstance(score, LeastNormScore)
        return replace(self.model, phi=objective.design.matrix, score=score)

    def _finite(self, model: LineModel | None, g: Array) -> bool:
        sets = self.model.perturbations.m - 1
        if model is None or sets * g.shape[1] * model.phi.size > _LARGEST_TRIAL:
            return False
        bounds = outer_bounds(model, self.objective.design, g, None, None, sets)
        return all(np.isfinite(order_statistic(part, self.q)).all() for part in bounds)


def open_directions(model: LineModel, count: int = 4) -> Iterator[Array]:
    """Yield directions that the sets are most likely never to end along, (d,) each.

    Along v the gradients grow like ΨLG_iΦv, and a set has no end where G_i makes that longer: the
    directions in which the mean of their squares is largest, relative to that of G_0 = I.
    """
    phi, sets = model.phi, model.perturbations.m - 1
    d = phi.shape[1]
    if sets * d * phi.size > _LARGEST_TRIAL:
        return
    J = model.weigh(model.pull(phi.T)).T  # (K, d)
    _, s, vt = np.linalg.svd(J, full_matrices=False)
    keep = s > max(J.shape) * EPS * s[0]
    back = vt[keep].T / s[keep]  # J back has orthonormal columns
    moved = model.weigh(model.pull(model.perturbations.apply((phi @ back).T)))  # (k, m - 1, K)
    flat = moved.reshape(len(moved), -1)
    _, vectors = np.linalg.eigh(flat @ flat.T)
    for x in vectors.T[::-1][:count]:
        yield _rounded(back @ x)


def _rounded(v: Array) -> Array:
    """Round to three digits, so that what is printed is the direction itself."""
    v = v / np.abs(v).max()
    with np.errstate(divide="ignore"):
        places = np.where(v != 0, np.floor(np.log10(np.abs(v))), 0.0)
    return np.array([float(f"{x:.2e}") for x in np.where(places > -9, v, 0.0)])
