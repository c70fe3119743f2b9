"""Sets of a stream that never end in some direction, rounded outward along the others.

The sums of a stream have errors, so they cannot show that a direction is exactly free. A stream
counts every direction as free whose eigenvalue is within the errors. Then A and b are zero there,
and a functional that is zero there too has its maximum among the points without such a component:
in a basis V of the other directions the set is that of VᵀAV and Vᵀb, whatever the free part is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unassuming._rounding import EPS, gamma
from unassuming._typing import Array
from unassuming.geometry.quadratic._forms import Forms
from unassuming.geometry.quadratic._sets import Ellipsoids, FormErrors


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
