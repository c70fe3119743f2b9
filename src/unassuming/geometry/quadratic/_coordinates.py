"""Coordinates in which the sets of a quadratic region are bounded, and functionals in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._sets import SEEN
from unassuming.objectives import Design, KernelDesign, Quadratic


@dataclass(frozen=True, eq=False)
class Chart:
    """Coordinates x: fitted values move by F x (in units of the square roots of the weights).

    Attributes
    ----------
    F : array of shape (n, k)
    functionals : array of shape (N, k)
        The functionals gᵀ(a - â) as gᵀx.
    hidden : boolean array of shape (N,)
        Functionals that see a direction outside the chart, which no set bounds.
    """

    F: Array
    functionals: Array
    hidden: BoolArray


def whitened_chart(objective: Quadratic, g: Array) -> Chart:
    """Use x = √n v with v = H^{1/2}(a - â), in the directions that change fitted values."""
    back = objective.back / np.sqrt(objective.n)
    turned = g @ back
    rest = g - turned @ (objective.forward * np.sqrt(objective.n))
    # In units in which the columns of the stacked design have length one.
    Phi, P = objective.design.matrix, objective.design.penalty_matrix()
    unit = np.sqrt(objective.w @ Phi**2 / objective.n + objective.lam * np.diag(P))
    unit = np.where(unit > objective.design.rounding * unit.max(), unit, unit.max())
    return Chart(whitened_matrix(objective), turned, _exceeds(rest / unit, g / unit))


def whitened_matrix(objective: Quadratic) -> Array:
    """Return F of the whitened chart."""
    return objective.whitening.q @ objective.seen


def value_chart(objective: Quadratic, design: KernelDesign, g: Array) -> Chart:
    """Use the fitted values at the distinct inputs themselves: for kernels of full rank.

    However nearly singular K is, the sets are well conditioned in these coordinates.
    """
    rows = design.matrix[design.distinct[0]]
    turned = np.ascontiguousarray(lstsq(rows.T, g.T, cond=len(rows) * EPS)[0].T)
    rest = g - turned @ rows
    # The value at an input is that coordinate and nothing else.
    for j, row in enumerate(rows):
        same = np.abs(g - row).max(axis=1) <= 1e-12 * np.abs(row).max()
        turned[same], rest[same] = np.arange(len(rows)) == j, 0.0
    F, length = _values_and_lengths(objective, design)
    return Chart(F, turned / length, _exceeds(rest, g))


def value_matrix(objective: Quadratic, design: KernelDesign) -> Array:
    """Return F of the chart of values at the distinct inputs."""
    return _values_and_lengths(objective, design)[0]


def _values_and_lengths(objective: Quadratic, design: KernelDesign) -> tuple[Array, Array]:
    """Columns of length one, whatever the scale of the weights, and what they were divided by."""
    first, which = design.distinct
    F = np.sqrt(objective.w)[:, None] * (which[:, None] == np.arange(len(first)))
    length = np.linalg.norm(F, axis=0)
    return F / length, length


def chart_for(objective: Quadratic, g: Array) -> Chart:
    """Choose the chart in which the answer can be computed."""
    design = objective.design
    if isinstance(design, KernelDesign) and design.full_rank:
        return value_chart(objective, design, g)
    return whitened_chart(objective, g)


def chart_matrix(objective: Quadratic) -> Array:
    """Return F of that chart alone."""
    design = objective.design
    if isinstance(design, KernelDesign) and design.full_rank:
        return value_matrix(objective, design)
    return whitened_matrix(objective)


def _exceeds(rest: Array, g: Array) -> BoolArray:
    return np.asarray(np.linalg.norm(rest, axis=1) > SEEN * np.linalg.norm(g, axis=1))


@dataclass(frozen=True, eq=False)
class BallChart:
    """A chart in which the norm is a quadratic form: (x + origin)ᵀN(x + origin).

    Attributes
    ----------
    F : array of shape (n, k)
    N : array of shape (k, k)
    origin : array of shape (k,)
        The estimate.
    functionals : array of shape (N, k)
    beyond : array of shape (N,)
        p: what the functional sees of a unit of norm outside the chart.
    hidden : boolean array of shape (N,)
    back : array of shape (d, k)
        a - â = back x.
    """

    F: Array
    N: Array
    origin: Array
    functionals: Array
    beyond: Array
    hidden: BoolArray
    back: Array


def ball_chart(
    design: Design,
    root: Array,
    estimate: Array,
    g: Array,
    self_similarity: Array | None,
    *,
    function: bool,
) -> BallChart:
    """Return the chart in which the norm is a quadratic form; ``root`` is W^{1/2}."""
    if isinstance(design, KernelDesign):
        return _function_ball(design, root, estimate, g, self_similarity, function=function)
    # The penalised coefficients, ‖coef‖ <= B; the intercept stays free.
    F, nothing = root[:, None] * design.matrix, np.zeros(len(g))
    return BallChart(
        F, design.penalty_matrix(), estimate, g, nothing, nothing > 0, np.eye(len(estimate))
    )


def _function_ball(
    design: KernelDesign,
    root_weights: Array,
    estimate: Array,
    g: Array,
    self_similarity: Array | None,
    *,
    function: bool,
) -> BallChart:
    """Bound the norm of the function, ‖f‖ <= B, in coordinates Λ^{1/2}Uᵀa.

    ``self_similarity`` holds k(z, z) if the functionals are values at inputs z. With ``function``
    they are values of the function itself, whose part outside the span of the k(·, x_j) is seen
    through the power function p(z)² = k(z, z) - k(z, x) K⁺ k(x, z) (docs/theory.md 4.4). Without,
    they are values of the ideal representation: p = 0, unless eigenvalues of a full-rank K are lost
    in rounding; then the part of the representation that is lost with them is bounded like that.
    """
    values, u = design.spectrum
    keep = values > EPS * values[-1]
    root, basis = np.sqrt(values[keep]), u[:, keep]
    offset = int(design.intercept)
    F = basis * root
    turned = (g[:, offset:] @ basis) / root
    N, origin = np.eye(len(root)), root * (basis.T @ estimate[offset:])
    back = basis / root
    beyond, hidden = np.zeros(len(g)), np.zeros(len(g), dtype=np.bool_)
    lost = len(root) < len(design.distinct[0]) and design.full_rank
    if self_similarity is not None and (function or lost):
        beyond = np.sqrt(np.maximum(self_similarity - (turned**2).sum(axis=1), 0.0))
    elif lost:
        hidden[:] = True  # without k(z, z) nothing bounds the part that rounding has swallowed
    else:
        hidden = _exceeds(g[:, offset:] - (turned * root) @ basis.T, g[:, offset:])
    if offset:
        F = np.column_stack([np.ones(len(F)), F])
        turned = np.column_stack([g[:, 0], turned])
        N = np.diag(np.concatenate([[0.0], np.ones(len(root))]))
        origin = np.concatenate([estimate[:1], origin])
        back = np.block(
            [[np.ones((1, 1)), np.zeros((1, len(root)))], [np.zeros((len(back), 1)), back]]
        )
    F = root_weights[:, None] * F
    return BallChart(F, N, origin, turned, beyond, hidden, back)
