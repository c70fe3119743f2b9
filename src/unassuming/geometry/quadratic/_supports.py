"""Maxima of linear functionals over every set of a quadratic region (docs/theory.md 4.3)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unassuming._progress import progress
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._careful import FINE, CarefulSets
from unassuming.geometry.quadratic._coordinates import Coordinates
from unassuming.geometry.quadratic._cylinders import free_coefficients, known_cylinder, places
from unassuming.geometry.quadratic._forms import FormMaker, Forms
from unassuming.geometry.quadratic._sets import SURE
from unassuming.objectives import Quadratic


def supports(
    maker: FormMaker,
    where: Coordinates,
    g: Array,
    careful: CarefulSets | None,
    batches: Iterator[tuple[slice, Forms]] | None = None,
    rounded: Quadratic | None = None,
) -> tuple[Array, Array, BoolArray]:
    """Return max gᵀx and max -gᵀx over every set, (N, m - 1) each, rounded outward.

    ``g`` (N, d) are the functionals in terms of the coefficients; ``batches`` are the forms, if not
    those of the maker. The third result (m - 1,) says for which sets double precision decides
    whether they are bounded. The others count as unbounded. ``rounded`` is the objective, if its
    features have errors.
    """
    sets = maker.perturbations.m - 1
    up, down = np.empty((2, len(where.functionals), sets))
    decided = np.ones(sets, dtype=np.bool_)
    limit, tolerance = SURE if careful is None else FINE, where.tolerance
    batches = maker.batches_in(where) if batches is None else batches
    place = None if rounded is None else places(rounded, where)
    for which, forms in progress(batches, sets, "sets"):
        up[:, which], down[:, which], sure = forms.extents(
            where.functionals, limit, tolerance, where.off
        )
        for i in np.flatnonzero(~sure):
            k = int(i) + which.start
            if careful is not None:
                one = careful.one(k)
                up[:, k], down[:, k] = one.extents(g)
                decided[k] = one.decided
            elif rounded is not None and place is not None:
                free = free_coefficients(rounded, maker.perturbations, k)
                known = known_cylinder(forms, int(i), limit, free, place)
                decided[k] = known is not None or forms.empty[i]
                if known is not None:
                    up[:, k], down[:, k] = known.extents(where.functionals, g)
    # A functional with a hidden component is unbounded over every set that has a point.
    for bound in (up, down):
        bound[where.hidden] = np.where(np.isneginf(bound[where.hidden]), -np.inf, np.inf)
    return up, down, decided
