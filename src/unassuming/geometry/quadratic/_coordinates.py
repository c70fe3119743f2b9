"""Coordinates in which the sets of a quadratic region are bounded, and functionals in them.

Whitened coordinates serve in general. The fitted values themselves serve for kernels of full rank:
however nearly singular the kernel matrix is, the sets are well conditioned in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import lstsq

from unassuming._rounding import EPS, SEEN, exceeds, powers_of_two
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.quadratic._moved_columns import flips_signs
from unassuming.noise import Noise
from unassuming.objectives import FeatureWhitening, Quadratic, weight_errors


@final
@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates x: fitted values move by F x (in units of the square roots of the weights)."""

    F: Array  # (n, k)
    functionals: Array  # (N, k): the functionals gᵀ(a - â) as gᵀx
    hidden: BoolArray  # (N,): whether they depend on a direction outside, which no set bounds
    sizes: Array | None = None  # (n, k): errors of F are at most EPS times these, |F| by default
    basis: Array | None = None  # (l, k): x in the whitened coordinates of the objective, if it is
    tolerance: float = SEEN  # a functional ignores components up to this share of its length
    off: Array | None = None  # (N,): lengths of the errors of the functionals, zero by default


def coordinates(
    objective: Quadratic, g: Array, noise: Noise, at: IntArray | None = None
) -> Coordinates:
    """Choose the coordinates, and express the functionals g (N, d) in them.

    ``at`` (N,) is the row of the data at which a functional is the fitted value, or -1.
    """
    if objective.design.full_rank:
        return _values(objective, g, at)
    white = objective.whitening
    if not isinstance(white, FeatureWhitening):
        return whitened(objective, g)
    basis = _with_shift_first(objective, noise)
    F = white.q @ basis
    if not flips_signs(noise) and objective.design.intercept:
        shift = np.sqrt(objective.w) * objective.design.one
        F[:, 0] = shift * (np.sign(F[:, 0] @ shift) / np.linalg.norm(shift))
    turned = white.turn(g) @ basis / np.sqrt(objective.n)
    if not flips_signs(noise) and objective.design.intercept:  # a shift moves the intercept alone
        turned[:, 0] = np.where(g[:, 0] == 0, 0.0, turned[:, 0])
    hidden = ~white.plain.blind(g)
    sizes = white.sizes @ np.abs(basis)
    return Coordinates(F, turned, hidden, sizes, basis, 64 * F.shape[1] * EPS)


def _with_shift_first(objective: Quadratic, noise: Noise) -> Array:
    """Return the directions that change fitted values, (k, r); a constant shift is the first.

    A permutation does not move it at all. Signs do, and need no such order.
    """
    seen = objective.seen
    if flips_signs(noise) or not objective.design.intercept:
        return seen
    one = seen.T @ (objective.whitening.q.T @ (np.sqrt(objective.w) * objective.design.one))
    one = one / np.linalg.norm(one)
    mirror = one.copy()
    mirror[0] += np.copysign(1.0, one[0])
    turn = np.eye(len(one)) - np.outer(mirror, mirror) * (2 / (mirror @ mirror))
    return np.asarray(seen @ turn)


def coordinate_matrix(objective: Quadratic) -> Array:
    """Return F of the coordinates of a kernel."""
    if objective.design.full_rank:
        return _values_and_lengths(objective)[0]
    return whitened_matrix(objective)


def whitened(objective: Quadratic, g: Array) -> Coordinates:
    """Use x = √n v with v = H^{1/2}(a - â), in the directions that change fitted values."""
    back = objective.back / np.sqrt(objective.n)
    turned = g @ back
    rest = g - turned @ (objective.forward * np.sqrt(objective.n))
    # In units in which the columns of the stacked design have length one.
    Phi, P = objective.design.matrix, objective.design.penalty_matrix()
    size = powers_of_two(np.abs(Phi).max(axis=0))
    squares = objective.w @ (Phi / size) ** 2 / objective.n
    unit = size * np.sqrt(squares + objective.lam * np.diag(P) / size / size)
    unit = np.where(unit > objective.design.rounding * unit.max(), unit, unit.max())
    return Coordinates(whitened_matrix(objective), turned, exceeds(rest / unit, g / unit))


def whitened_matrix(objective: Quadratic) -> Array:
    """Return F of the whitened coordinates."""
    return objective.whitening.q @ objective.seen


def _values(objective: Quadratic, g: Array, at: IntArray | None) -> Coordinates:
    """Use the fitted values at the distinct inputs.

    The value at an input is exactly that coordinate. Any other functional is known up to rounding,
    and rounding moves it along every coordinate, those without end included.
    """
    first, which = objective.design.distinct
    rows = objective.design.matrix[first]
    turned = np.ascontiguousarray(lstsq(rows.T, g.T, cond=len(rows) * EPS)[0].T)
    rest = g - turned @ rows
    off = weight_errors(objective.design, turned, rest)
    same = np.full(len(g), -1) if at is None else np.where(at >= 0, which[at], -1)
    for j, row in enumerate(rows):
        same[(g == row).all(axis=1)] = j
    there = same >= 0
    turned[there], rest[there], off[there] = np.eye(len(rows))[same[there]], 0.0, 0.0
    F, length = _values_and_lengths(objective)
    off = np.where(g.any(axis=1), off, 0.0) / length.min()
    return Coordinates(F, turned / length, exceeds(rest, g), off=off)


def _values_and_lengths(objective: Quadratic) -> tuple[Array, Array]:
    """Return F with columns scaled to length one, and their lengths before."""
    first, which = objective.design.distinct
    F = np.sqrt(objective.w)[:, None] * (which[:, None] == np.arange(len(first)))
    length = np.linalg.norm(F, axis=0)
    return F / length, length
