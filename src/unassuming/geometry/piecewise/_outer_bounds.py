"""Outer bounds of linear functionals over a piecewise quadratic region (docs/theory.md 7.2).

Each set {Z_0 <= Z_i} satisfies a quadratic inequality (the relaxation), and the functional is
bounded over all points that satisfy it and lie in the ball of a norm bound.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unassuming._rounding import rank_cut
from unassuming._typing import Array
from unassuming.geometry.piecewise._model import LineModel
from unassuming.geometry.piecewise._relaxation import Relaxation, relaxed_bounds
from unassuming.objectives import BallCoordinates, Objective

LARGEST_TRIAL = 2**26
"""A model is only tried if its sets have at most so many numbers."""


def outer_bounds(
    model: LineModel | None, objective: Objective, g: Array, ball: BallCoordinates | None, sets: int
) -> tuple[Array, Array]:
    """Return upper bounds of gᵀa and of -gᵀa over each set and the ball, (N, sets).

    Without a model the ball alone decides. The bounds are infinite without either, and for kernels
    without a ball.
    """
    if ball is None:
        if model is None or objective.design is None or objective.design.dual:
            return np.full((len(g), sets), np.inf), np.full((len(g), sets), np.inf)
        ball = _no_ball(model, g)
    return relaxed_bounds(None if model is None else Relaxation.of(model, ball), ball, sets)


def _no_ball(model: LineModel, g: Array) -> BallCoordinates:
    """Return coordinates x = a whose norm bounds nothing."""
    N, d = g.shape
    return BallCoordinates(
        F=model.phi,
        N=np.zeros((d, d)),
        origin=np.zeros(d),
        functionals=g,
        beyond=np.zeros(N),
        hidden=np.zeros(N, dtype=np.bool_),
        back=np.eye(d),
        bound=0.0,
    )


def ball_alone(ball: BallCoordinates) -> Array:
    """Return the bound of gᵀa, and of -gᵀa, that the ball alone gives, (N,)."""
    return np.asarray(relaxed_bounds(None, ball, sets=1)[0][:, 0])


def highest_level(up: Array, down: Array) -> float:
    """Return the highest level at which all bounds over the sets (N, m - 1) are finite."""
    infinite = max(int(np.isposinf(part).sum(axis=1).max(initial=0)) for part in (up, down))
    sets = int(up.shape[1])
    return (sets - infinite) / (sets + 1)


def open_directions(model: LineModel, count: int = 4) -> Iterator[Array]:
    """Yield directions (d,) along which the sets are most likely unbounded.

    Along v the gradients grow like ΨLG_iΦv, and a set is unbounded where G_i makes that longer. So
    these are the directions in which the mean of its square is largest, relative to G_0 = I.
    """
    phi, sets = model.phi, model.perturbations.m - 1
    d = phi.shape[1]
    if sets * d * phi.size > LARGEST_TRIAL:
        return
    J = model.weigh(model.pull(phi.T)).T  # (K, d)
    _, s, vt = np.linalg.svd(J, full_matrices=False)
    keep = s > rank_cut(J.shape) * s[0]
    back = vt[keep].T / s[keep]  # J back has orthonormal columns
    moved = model.weigh(model.pull(model.perturbations.apply((phi @ back).T)))  # (k, m - 1, K)
    flat = moved.reshape(len(moved), -1)
    _, vectors = np.linalg.eigh(flat @ flat.T)
    for x in vectors.T[::-1][:count]:
        yield _rounded(back @ x)


def _rounded(v: Array) -> Array:
    """Round to three digits, so that the printed direction is the direction itself."""
    v = v / np.abs(v).max()
    with np.errstate(divide="ignore"):
        places = np.where(v != 0, np.floor(np.log10(np.abs(v))), 0.0)
    return np.array([float(f"{x:.2e}") for x in np.where(places > -9, v, 0.0)])
