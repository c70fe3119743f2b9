"""Where lines meet the sets of a quadratic objective (docs/theory.md 4.1)."""

from __future__ import annotations

import numpy as np

from unassuming._numerics import CUT, EPS
from unassuming._typing import Array
from unassuming.geometry.quadratic.sets import QuadraticSets


def rays(sets: QuadraticSets, directions: Array) -> Array:
    """Return the largest t with â + t u in each set, for directions u (N, d): (N, S)."""
    u = sets.coordinates.forward(directions)
    size = (u * u).sum(axis=1)[:, None]
    found = np.empty((len(u), sets.form.count))
    for which, forms in sets.forms():
        square = np.einsum("nk,skl,nl->ns", u, forms.A, u, optimize=True)
        middle = u @ forms.b.T  # t² square + 2 t middle <= c
        root = np.sqrt(middle**2 + np.maximum(square, 0.0) * forms.c)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(middle >= 0, forms.c / (middle + root), (root - middle) / square)
        t = np.where(forms.c == 0, 0.0, t)
        found[:, which] = np.where(square <= CUT * size, np.inf, t)
    return sets.settled(found, sets.still, 0.0)


def spans(sets: QuadraticSets, origins: Array, directions: Array) -> Array:
    """Return the t in [low, high] with origin + t u in each set, (N, S, 2); NaN where none is.

    Origins and directions are coefficients (N, d).
    """
    start = origins - sets.engine.objective.estimate()
    x, u = sets.coordinates.forward(start), sets.coordinates.forward(directions)
    size, far = (u * u).sum(axis=1)[:, None], (x * x).sum(axis=1)[:, None]
    found = np.empty((len(u), sets.form.count, 2))
    for which, forms in sets.forms():
        Ax, Au = (np.einsum("nk,skl->nsl", part, forms.A, optimize=True) for part in (x, u))
        # t² A + 2 t B <= C
        A = np.einsum("nsk,nk->ns", Au, u)
        B = np.einsum("nsk,nk->ns", Ax, u) + u @ forms.b.T
        C = forms.c - np.einsum("nsk,nk->ns", Ax, x) - 2 * x @ forms.b.T
        endless = size * CUT >= A
        disc = B**2 + A * C
        # A line that touches a set in one point does so but for rounding.
        near = 64 * EPS * x.shape[1] * (B**2 + A * (forms.c + far))
        disc = np.where(np.abs(disc) <= near, 0.0, disc)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(disc)
            s = -(B + np.where(B < 0, -1.0, 1.0) * root)
            ends = np.sort(np.stack([s / A, np.where(s == 0, 0.0, -C / s)], axis=-1), axis=-1)
        whole = np.where((-near <= C)[..., None], [-np.inf, np.inf], np.nan)
        found[:, which] = np.where(endless[..., None], whole, ends)
    first, still = sets.engine.order.first, sets.still
    found[:, still & ~first] = [-np.inf, np.inf]
    found[:, still & first] = np.nan
    return found
