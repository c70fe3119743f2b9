"""Sets of a stream that never end in some direction, rounded outward along the others.

The sums of a stream have errors, so eigenvalues do not show that a direction is exactly free. The
stream knows for some coefficients that they are (`Rounded`). If these account for every eigenvalue
within the errors, A and b are zero there, and a functional that is zero there too has its maximum
among the points without such a component: in a basis V of the other directions the set is that of
VᵀAV and Vᵀb, whatever the free part is. Otherwise nothing is known about the set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unassuming._rounding import EPS, gamma
from unassuming._typing import Array
from unassuming.geometry.quadratic._coordinates import coordinates
from unassuming.geometry.quadratic._forms import FormMaker, Forms
from unassuming.geometry.quadratic._free_directions import Along, FreeDirections
from unassuming.geometry.quadratic._sets import SURE, Ellipsoids, FormErrors
from unassuming.noise import Rounded
from unassuming.objectives import Quadratic


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


def cylinder(forms: Forms, i: int, limit: float, number: int) -> Cylinder | None:
    """Return the i-th set as a cylinder with that many free directions; None if it is in doubt."""
    assert forms.errors is not None
    if forms.empty[i] or not forms.errors.finite[i]:
        return None
    A, b, errors = forms.A[i], forms.b[i], forms.errors.take(slice(i, i + 1))
    k, e = len(A), errors.A[0]
    w, V = np.linalg.eigh(A)
    # Eigenvectors of a rounded matrix: its errors, and those of their computation.
    own = 8 * gamma(k + 2) * float(np.abs(w).max(initial=0.0))
    cut = float(e @ e) + own + errors.whole_A
    free = w <= cut
    if not free.any() or free.sum() != number:
        return None
    if free.all():
        nothing = Ellipsoids(np.zeros((1, 1)), np.zeros((1, 1, 1)))
        return Cylinder(nothing, np.zeros((k, 1)), V, 64 * k * EPS)
    kept = V[:, ~free]
    size = np.abs(kept)
    turned = FormErrors(
        (e @ size + np.sqrt(own))[None],
        (errors.b[0] @ size + own * float(np.linalg.norm(b)))[None],
        errors.c,
        np.zeros((1, kept.shape[1]), dtype=np.bool_),
        errors.whole_A,
        errors.whole_b,
    )
    form = np.diag(w[~free])[None], (b @ kept)[None], forms.c[i : i + 1]
    found, omega = Ellipsoids.outward(*form, turned)
    if not omega[0] <= limit:
        return None
    angle = cut / float(w[~free].min()) + 64 * k * EPS
    return Cylinder(found, kept, V[:, free], angle)


def free_in_sums(objective: Quadratic, maker: FormMaker, known: Rounded) -> FreeDirections:
    """Return the free directions of the sets of a stream: those that it knows beyond doubt.

    They are coefficients, so a direction that most sets share is a single one of them. Sets in
    doubt count as unbounded, and may share any direction.
    """
    none = np.zeros((0, objective.d))
    open_, undecided = np.zeros((2, len(known.number)), dtype=np.bool_)
    for which, forms in maker.batches_in(coordinates(objective, none, maker.perturbations.noise)):
        _, sure = forms.outward(SURE)
        assert forms.errors is not None
        open_[which] = ~forms.empty & (~sure | forms.errors.flat.any(axis=1))
        for i in np.flatnonzero(~sure & ~forms.empty):
            k = int(i) + which.start
            undecided[k] = cylinder(forms, int(i), SURE, int(known.number[k])) is None
    possible = known.free & (open_ & ~undecided)[:, None]
    counts = (possible & maker.certainly_not_empty[:, None]).sum(axis=0)
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
