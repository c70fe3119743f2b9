"""Directions in which sets do not end, and how many sets share one (docs/theory.md 4.4).

The region at q is unbounded iff some direction is free in at least q sets: each intersection of q
sets is closed and convex, and the region is a finite union of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unassuming._numerics import CUT
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.quadratic.sets import QuadraticSets

_STARTS, _LARGE = 8, 32
"""How many sets a search begins with, and how many free directions they may have."""


class FreeDirections(NamedTuple):
    """How many sets share a free direction."""

    found: int  # share the direction: the region at q is unbounded for q <= found
    most: int  # no more share any: bounded for q > most
    direction: Array  # (d,)

    def bounded(self, q: int) -> bool | None:
        """Whether the region at q is bounded; None if that is not known."""
        if q > self.most:
            return True
        return False if q <= self.found else None


def free_directions(sets: QuadraticSets, *, hidden: bool = True) -> FreeDirections:
    """Count the sets that share free directions, those that no fitted value sees among them."""
    o, count = sets.objective, sets.form.count
    null = sets.objective.factor.null
    if hidden and null.shape[1]:
        return FreeDirections(count, count, null[:, 0])
    whole = sets.still & ~sets.engine.order.first
    empty = sets.still & sets.engine.order.first
    if o.design.strict and sets.engine.noise.rowwise:
        return _counted(sets, whole, empty)
    parts = [forms.spectra for _, forms in sets.forms()]
    bases = [Y[:, free] for part in parts for Y, free in zip(part.Y, part.free, strict=True)]
    size = np.array([basis.shape[1] for basis in bases])
    endless = (size > 0) & ~sets.still
    small = np.flatnonzero(endless & (size <= _LARGE))
    meeting = [_overlap(sets, bases[i])[0] for i in small]
    most = int(endless.sum())
    if len(small) == most:  # a direction of a set is shared by those alone that meet it
        most = max((int(((left > 0) & endless).sum()) for left in meeting), default=0)
    order = sorted(range(len(small)), key=lambda k: -int(((meeting[k] > 0) & endless).sum()))
    tried = [_shared(sets, bases[small[k]]).T for k in order[:_STARTS]]
    x = np.concatenate([sets.simple, *tried])
    x = x[np.linalg.norm(x, axis=1) > 0]
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    sharing = (_endless(sets, x) & endless).sum(axis=1)
    best = int(np.argmax(sharing))
    always = int(whole.sum())
    return FreeDirections(int(sharing[best]) + always, most + always, sets.coefficients(x[best]))


def _counted(sets: QuadraticSets, whole: BoolArray, empty: BoolArray) -> FreeDirections:
    """For a kernel of full rank, moving one fitted value is unseen where all its rows have +."""
    seen = np.abs(sets.form.C) > 0
    minus = (np.asarray(sets.form.drawn) < 0) @ seen.astype(np.float64)  # (S, p)
    free = ((minus == 0) | whole[:, None]) & ~empty[:, None]
    best = int(np.argmax(free.sum(axis=0)))
    most = int(free[:, best].sum())
    return FreeDirections(most, most, sets.coefficients(np.eye(free.shape[1])[best]))


def _overlap(sets: QuadraticSets, basis: Array) -> tuple[IntArray, Array]:
    """Return how many directions of a basis (p, f) each set leaves free, and its eigenvectors."""
    parts = [np.linalg.eigh(basis.T @ forms.A @ basis) for _, forms in sets.forms()]
    values, vectors = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    return (values <= CUT).sum(axis=1), vectors


def _shared(sets: QuadraticSets, basis: Array) -> Array:
    """Return the directions that remain while sets are intersected, the largest overlap first."""
    while basis.shape[1] > 1:
        left, vectors = _overlap(sets, basis)
        proper = np.where(left < basis.shape[1], left, 0)
        if not proper.any():
            break
        best = int(np.argmax(proper))
        basis = basis @ vectors[best][:, : left[best]]
    return basis


def _endless(sets: QuadraticSets, x: Array) -> BoolArray:
    """Return in which sets the unit directions x (N, p) are free, (N, S)."""
    found = np.empty((len(x), sets.form.count), dtype=np.bool_)
    for which, forms in sets.forms():
        square = np.einsum("nk,skl,nl->ns", x, forms.A, x, optimize=True)
        found[:, which] = square <= CUT
    return found
