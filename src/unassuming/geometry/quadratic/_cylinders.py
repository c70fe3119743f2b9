"""Sets that never end in some direction, rounded outward along the others.

A and b are zero along free directions, so the set is the same through all points that differ by
such directions alone. A functional that does not depend on them has its maximum in any subspace
that meets each of these families of points once: in the basis V of one the set is that of VᵀAV and
Vᵀb.

The sums of a stream have errors, and so have rows in another basis: eigenvalues do not show that a
direction is exactly free. Of some coefficients it is known without rounding. A stream has compared
their columns entry by entry (`Rounded`); in another basis numbers that may be zero are zero. If
what is left is bounded beyond doubt, no other direction is free; otherwise nothing is known about
the set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unassuming._rounding import gamma
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._coordinates import Coordinates, coordinates
from unassuming.geometry.quadratic._forms import FormMaker, Forms
from unassuming.geometry.quadratic._free_directions import Along, FreeDirections
from unassuming.geometry.quadratic._sets import SURE, Ellipsoids, FormErrors
from unassuming.noise import Perturbations, Rounded
from unassuming.objectives import Quadratic

_APART = 1e-6
"""Free coefficients that are nearer to dependence than that do not count as further directions."""


class KnownCylinder(NamedTuple):
    """{x : x = Vz + a combination of free coefficients, z in an ellipsoid}."""

    section: Ellipsoids  # one of r coordinates
    basis: Array  # (k, r): V
    free: BoolArray  # (d,): which coefficients are free

    def extents(self, x: Array, g: Array) -> tuple[Array, Array]:
        """Return the maxima of functionals and of their negatives, (N,) each.

        They are given in the coordinates of the set (N, k), and in coefficients (N, d).
        """
        up, down = self.section.extents(x @ self.basis)
        # A rounded functional.
        more = gamma(len(self.basis) + 2) * np.linalg.norm(x, axis=1) * self.section.longest[0]
        seen = (g[:, self.free] != 0).any(axis=1)
        return np.where(seen, np.inf, up[:, 0] + more), np.where(seen, np.inf, down[:, 0] + more)


def known_cylinder(
    forms: Forms, i: int, limit: float, free: BoolArray, place: Array
) -> KnownCylinder | None:
    """Return the i-th set as a cylinder; None if its other directions are in doubt.

    ``free`` (d,) are the free coefficients, and ``place`` (k, d) the coordinates of all.
    """
    assert forms.errors is not None
    if not free.any() or forms.empty[i] or not forms.errors.finite[i]:
        return None
    u, s, _ = np.linalg.svd(place[:, free])
    V = u[:, np.count_nonzero(s > _APART) :]
    if not V.shape[1]:
        return KnownCylinder(Ellipsoids(np.zeros((1, 1)), np.zeros((1, 1, 1))), 0 * u[:, :1], free)
    A, b, errors = forms.A[i], forms.b[i], forms.errors.take(slice(i, i + 1))
    size, unit = np.abs(V), gamma(2 * len(A) + 4)
    own = FormErrors(
        (errors.A[0] @ size + np.sqrt(unit * np.linalg.norm(A)))[None],
        (errors.b[0] @ size + unit * np.linalg.norm(b))[None],
        errors.c,
        np.zeros((1, V.shape[1]), dtype=np.bool_),
        None if errors.normwise is None else errors.normwise.inside(V),
    )
    found, omega = Ellipsoids.outward((V.T @ A @ V)[None], (b @ V)[None], forms.c[i : i + 1], own)
    return KnownCylinder(found, V, free) if omega[0] <= limit else None


def free_coefficients(objective: Quadratic, perturbations: Perturbations, i: int) -> BoolArray:
    """Return which coefficients the i-th set leaves open without rounding, (d,).

    Their columns are kept, or reversed if no penalty holds the coefficient.
    """
    if perturbations.rounded is not None:
        return np.asarray(perturbations.rounded.free[i])
    columns = np.ascontiguousarray(objective.design.matrix.T)
    moved = perturbations.take(slice(i, i + 1)).apply(columns)[:, 0, :]
    kept, reversed = ((moved == sign * columns).all(axis=1) for sign in (1.0, -1.0))
    held = objective.lam * np.diagonal(objective.design.penalty_matrix()) > 0
    return np.asarray((kept | (reversed & ~held)) & columns.any(axis=1))


def places(objective: Quadratic, where: Coordinates) -> Array:
    """Return the coordinates of single coefficients, scaled to length one, (k, d)."""
    assert where.basis is not None
    white, matrix = objective.whitening, objective.design.matrix
    found = where.basis.T @ (white.push + white.pull(objective.w) @ matrix)
    length = np.linalg.norm(found, axis=0)
    return np.asarray(found / np.where(length > 0, length, 1.0))


def free_in_sums(objective: Quadratic, maker: FormMaker, known: Rounded) -> FreeDirections:
    """Return the free directions of the sets of a stream: those that it knows beyond doubt.

    They are coefficients, so a direction that most sets share is a single one of them. Sets in
    doubt count as unbounded, and may share any direction.
    """
    where = coordinates(objective, np.zeros((0, objective.d)), maker.perturbations.noise)
    place = places(objective, where)
    open_, undecided = np.zeros((2, len(known.free)), dtype=np.bool_)
    for which, forms in maker.batches_in(where):
        _, sure = forms.outward(SURE)
        assert forms.errors is not None
        open_[which] = ~forms.empty & (~sure | forms.errors.flat.any(axis=1))
        for i in np.flatnonzero(~sure & ~forms.empty):
            k = int(i) + which.start
            undecided[k] = known_cylinder(forms, int(i), SURE, known.free[k], place) is None
    counts = (known.free & (open_ & maker.certainly_not_empty)[:, None]).sum(axis=0)
    possible = known.free & (open_ & ~undecided)[:, None]
    best, cylinders = int(np.argmax(counts)), int(open_.sum())
    most = int(possible.sum(axis=0).max(initial=0) + undecided.sum())
    most = cylinders if objective.design.unseen else min(most, cylinders)
    shift = best == 0 and objective.design.intercept
    return FreeDirections(
        cylinders,
        int(counts[best]),
        most,
        np.eye(objective.d)[best] if counts[best] else None,
        Along.SHIFT if shift else Along.COEFFICIENT,
        "" if shift else objective.names[best],
        int(undecided.sum()),
        objective.design.unseen,
    )
