"""The largest distance of each set from the estimate (docs/theory.md 4.2).

It is a maximum of ‖x‖² under one quadratic constraint. Its dual function has one variable, and
Newton's method finds the minimum as the root of a secular equation.
"""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.geometry.quadratic._careful import FINE, CarefulSets
from unassuming.geometry.quadratic._coordinates import Coordinates
from unassuming.geometry.quadratic._forms import FormMaker
from unassuming.geometry.quadratic._sets import SURE, Ellipsoids, Sets

_STEPS = 60
_MARGIN = 1e-13
"""Relative rounding error of a radius, with a margin."""
_LARGEST = 1e150
"""Squares of larger numbers may overflow."""
_NEAR = 1e-9
"""Relative excess of φ^{1/2} over ρ^{1/2} before the last step, which squares it."""


def outer_radii(maker: FormMaker, where: Coordinates, careful: CarefulSets | None) -> Array:
    """Return γ = max ‖x‖² over every set, rounded outward, (m - 1,); infinity if undecided.

    It is nan where a double does not hold it, although the set is bounded.
    """
    gamma = np.full(maker.perturbations.m - 1, np.inf)
    limit = SURE if careful is None else FINE
    for which, forms in maker.batches_in(where):
        found, sure = forms.outward(limit)
        assert forms.errors is not None
        part = np.full(len(sure), np.inf)
        part[forms.empty] = -np.inf
        rest = ~sure & ~forms.empty
        sure = sure & ~forms.errors.flat.any(axis=1)
        if sure.any():
            part[sure] = _farthest(found.take(sure))
        if careful is not None:
            for i in np.flatnonzero(rest):
                one = careful.one(int(i) + which.start)
                if one.bounded:
                    part[i] = _farthest(one.whitened(careful))[0]
        gamma[which] = part
    return gamma * (1 + _MARGIN)


def _farthest(some: Ellipsoids) -> Array:
    """Return γ of ellipsoids, nan where it is too large."""
    sizes = np.abs(some.root).max(axis=(1, 2), initial=0.0)
    fits = np.maximum(sizes, np.abs(some.centre).max(axis=1, initial=0.0)) < _LARGEST
    found = np.full(len(fits), np.nan)
    if fits.any():
        found[fits] = farthest(Sets.of_ellipsoids(some.take(fits)))
    return found


def farthest(sets: Sets) -> Array:
    """Return γ = max ‖x‖² over each set, shape (s,): infinity for cylinders.

    For every multiplier μ > 1/min w the dual function

        μρ + Σ c_k² μw_k / (μw_k - 1),        c_k = b_k / w_k,

    bounds ‖x‖² from above, and its least value is attained (one constraint: no duality gap). The
    minimiser is the root of φ(μ) = Σ w_k c_k² / (μw_k - 1)² = ρ, or the end point μ = 1/min w in
    the hard case, where the equation has no root.

    In s = μ min w - 1 the function φ^{-1/2} is increasing and concave, so Newton's method climbs to
    the root from every start below it, and the result is a bound wherever it stops. It starts at
    the largest s at which one term alone makes up ρ. There φ is at most kρ; s = 0 is the hard case
    if φ <= ρ.
    """
    w = np.where(sets.bounded[:, None] & (sets.w > 0), sets.w, 1.0)
    rho = np.maximum(sets.radius, 0.0)
    target = np.where(rho > 0, rho, 1.0)
    least = w.min(axis=1)
    ratio = w / least[:, None]  # >= 1
    beyond = ratio - 1
    centre2 = (sets.b / w) ** 2
    weight = w * centre2
    # In the hard case the other terms have a gap of zero. Omitting them changes γ by 1e-100 of it.
    present = weight > 1e-200 * target[:, None]
    alone = (np.sqrt(weight) / np.sqrt(target)[:, None] - beyond) / ratio
    s = np.maximum(alone.max(axis=1), 0.0)
    for _ in range(_STEPS):
        gap = np.where(present, ratio * s[:, None] + beyond, 1.0)  # μw - 1
        term = weight / gap**2
        phi, fall = term.sum(axis=1), (term * ratio / gap).sum(axis=1)  # fall = -φ'/2
        excess = np.maximum(np.sqrt(phi / target) - 1, 0.0)
        s = s + phi * excess / np.where(fall > 0, fall, 1.0)
        if excess.max() <= _NEAR:
            break
    gap = np.where(present, ratio * s[:, None] + beyond, 1.0)
    gamma = (1 + s) / least * rho + (centre2 * (gap + 1) / gap).sum(axis=1)
    gamma = np.where(rho > 0, gamma, centre2.sum(axis=1))  # a single point
    return np.where(sets.empty, -np.inf, np.where(sets.bounded, gamma, np.inf))
