"""Outer bounds of a piecewise region by relaxation (docs/theory.md 7.2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unassuming._rounding import rank_cut
from unassuming._typing import Array
from unassuming.geometry.piecewise._model import LineModel
from unassuming.geometry.piecewise._relaxation import Relaxation, relaxed_bounds
from unassuming.objectives import BallCoordinates, Objective

LARGEST_TRIAL = 2**26
"""Numbers in the sets of a model that is only tried."""


def outer_bounds(
    model: LineModel | None, objective: Objective, g: Array, ball: BallCoordinates | None, sets: int
) -> tuple[Array, Array]:
    """Return upper bounds of gᵀa and of -gᵀa over each set and the ball, (N, sets).

    Without a model the ball alone decides, and without either nothing is known. Nothing is known
    either for kernels without a ball.
    """
    if ball is not None:
        N = np.diagonal(ball.N)
        relaxation = (
            None if model is None else Relaxation.of(model, ball.F, ball.back, N, ball.bound)
        )
        up, down = relaxed_bounds(relaxation, N, ball.functionals, ball.beyond, ball.bound, sets)
        up[ball.hidden] = down[ball.hidden] = np.inf
        return up, down
    if model is None or objective.design is None or objective.design.dual:
        return np.full((len(g), sets), np.inf), np.full((len(g), sets), np.inf)
    d = g.shape[1]
    relaxation = Relaxation.of(model, model.phi, np.eye(d), np.zeros(d), 0.0)
    return relaxed_bounds(relaxation, np.zeros(d), g, np.zeros(len(g)), 0.0, sets)


def ball_alone(ball: BallCoordinates) -> Array:
    """Return the bound of gᵀa, and of -gᵀa, that the ball alone gives, (N,)."""
    N = np.diagonal(ball.N)
    up, _ = relaxed_bounds(None, N, ball.functionals, ball.beyond, ball.bound, sets=1)
    return np.asarray(np.where(ball.hidden, np.inf, up[:, 0]))


def highest_level(up: Array, down: Array) -> float:
    """Return the highest level at which all bounds over the sets (N, m - 1) are finite."""
    infinite = max(int(np.isposinf(part).sum(axis=1).max(initial=0)) for part in (up, down))
    sets = int(up.shape[1])
    return (sets - infinite) / (sets + 1)


def open_directions(model: LineModel, count: int = 4) -> Iterator[Array]:
    """Yield directions that the sets are most likely never to end along, (d,) each.

    Along v the gradients grow like ΨLG_iΦv, and a set has no end where G_i makes that longer: the
    directions in which the mean of their squares is largest, relative to that of G_0 = I.
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
    """Round to three digits, so that what is printed is the direction itself."""
    v = v / np.abs(v).max()
    with np.errstate(divide="ignore"):
        places = np.where(v != 0, np.floor(np.log10(np.abs(v))), 0.0)
    return np.array([float(f"{x:.2e}") for x in np.where(places > -9, v, 0.0)])
