"""Maxima of linear functionals over every set of a quadratic region (docs/theory.md 4.3)."""

from __future__ import annotations

import numpy as np

from unassuming._progress import progress
from unassuming._typing import Array
from unassuming.geometry.quadratic._coordinates import Coordinates
from unassuming.geometry.quadratic._forms import FormMaker


def supports(maker: FormMaker, where: Coordinates) -> tuple[Array, Array]:
    """Return max gᵀx and max -gᵀx over every set, (N, m - 1) each."""
    sets = maker.perturbations.m - 1
    up, down = np.empty((2, len(where.functionals), sets))
    for which, forms in progress(maker.batches(where.F), sets, "sets"):
        up[:, which], down[:, which] = forms.extents(where.functionals)
    # A functional with a hidden component is unbounded over every set that has a point.
    for bound in (up, down):
        bound[where.hidden] = np.where(np.isneginf(bound[where.hidden]), -np.inf, np.inf)
    return up, down
