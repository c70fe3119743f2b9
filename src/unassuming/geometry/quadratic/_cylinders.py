"""Sets that never end in some direction, rounded outward along the others.

A and b are zero along free directions, so the set is the same through all points that differ by
such directions alone. A functional that does not depend on them has its maximum in any subspace
that meets each of these families of points once: in the basis V of one the set is that of VᵀAV and
Vᵀb.

The sums of a stream have errors, so eigenvalues do not show that a direction is exactly free. The
stream knows of some coefficients that they are (`Rounded`), without rounding. If what is left is
bounded beyond doubt, no other direction is free; otherwise nothing is known about the set. Rows in
another basis have errors as well, and nothing is known without rounding: there every direction
counts as free whose eigenvalue is within the errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unassuming._rounding import EPS, gamma
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._coordinates import Coordinates, coordinates
from unassuming.geometry.quadratic._forms import FormMaker, Forms
from unassuming.geometry.quadratic._free_directions import Along, FreeDirections
from unassuming.geometry.quadratic._sets import SURE, Ellipsoids, FormErrors
from unassuming.noise import Rounded
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
        errors.whole_A,
        errors.whole_b,
    )
    found, omega = Ellipsoids.outward((V.T @ A @ V)[None], (b @ V)[None], forms.c[i : i + 1], own)
    return KnownCylinder(found, V, free) if omega[0] <= limit else None


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


class Cylinder(NamedTuple):
    """{x : Vᵀx lies in an ellipsoid}, and the directions that never end."""

    section: Ellipsoids  # one of r coordinates
    kept: Array  # (k, r): V
    free: Array  # (k, k - r)
    turned: float  # the angle up to which the free directions are known

    def extents(self, g: Array) -> tuple[Array, Array]:
        """Return the largest gᵀx and the largest -gᵀx, (N, k) -> (N,) each."""
        up, down = self.section.extents(g @ self.kept)
        size = np.linalg.norm(g, axis=1)
        seen = np.linalg.norm(g @ self.free, axis=1) > self.turned * size
        # A rounded functional, in the directions that are kept.
        more = gamma(len(self.kept) + 2) * size * self.section.longest[0]
        ends = (up[:, 0] + more, down[:, 0] + more)
        return np.where(seen, np.inf, ends[0]), np.where(seen, np.inf, ends[1])


def cylinder(forms: Forms, i: int, limit: float) -> Cylinder | None:
    """Return the i-th set as a cylinder; None if its other directions are in doubt as well."""
    assert forms.errors is not None
    if forms.empty[i] or not forms.errors.finite[i]:
        return None
    A, b, errors = forms.A[i], forms.b[i], forms.errors.take(slice(i, i + 1))
    k, e = len(A), errors.A[0]
    w, V = np.linalg.eigh(A)
    # Eigenvectors of a rounded matrix: its errors, and those of their computation.
    own = 8 * gamma(k + 2) * float(np.abs(w).max(initial=0.0))
    cut = float(e @ e) + own
    free = w <= cut
    if not free.any() or free.all():
        return None
    kept = V[:, ~free]
    size = np.abs(kept)
    turned = FormErrors(
        (e @ size + np.sqrt(own))[None],
        (errors.b[0] @ size + own * float(np.linalg.norm(b)))[None],
        errors.c,
        np.zeros((1, kept.shape[1]), dtype=np.bool_),
    )
    form = np.diag(w[~free])[None], (b @ kept)[None], forms.c[i : i + 1]
    found, omega = Ellipsoids.outward(*form, turned)
    if not omega[0] <= limit:
        return None
    angle = cut / float(w[~free].min()) + 64 * k * EPS
    return Cylinder(found, kept, V[:, free], angle)
