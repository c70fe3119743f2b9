"""Outer bounds of linear functionals over a quadratic region (docs/theory.md 4.3, 4.4)."""

from __future__ import annotations

import numpy as np

from unassuming._progress import progress
from unassuming._typing import Array
from unassuming.geometry import FormMaker, SetAndBall
from unassuming.regions._charts import BallChart, Chart


def supports(maker: FormMaker, chart: Chart) -> tuple[Array, Array]:
    """Return max gᵀx and max -gᵀx over every set, (N, m - 1) each."""
    shape = len(chart.functionals), maker.perturbations.m - 1
    up, down = np.empty(shape), np.empty(shape)
    for which, forms in progress(maker.batches(chart.F), shape[1], "sets"):
        sets = forms.sets()
        up[:, which] = sets.supports(chart.functionals)
        down[:, which] = sets.supports(-chart.functionals)
    # A functional with a hidden component is unbounded over every set that has a point.
    for bound in (up, down):
        bound[chart.hidden] = np.where(np.isneginf(bound[chart.hidden]), -np.inf, np.inf)
    return up, down


def ball_supports(maker: FormMaker, chart: BallChart, norm_bound: float) -> tuple[Array, Array]:
    """Return the same over the intersection of every set with the ball."""
    shape = len(chart.functionals), maker.perturbations.m - 1
    up, down = np.full(shape, -np.inf), np.full(shape, -np.inf)
    visible = ~chart.hidden
    g, p = chart.functionals[visible], chart.beyond[visible]
    for which, forms in progress(maker.batches(chart.F), shape[1], "sets"):
        for j, i in enumerate(range(which.start, which.stop)):
            if forms.empty[j]:
                continue
            both = SetAndBall.build(
                forms.A[j], forms.b[j], float(forms.c[j]), chart.N, chart.origin
            )
            up[visible, i] = both.supports(g, p, norm_bound)
            down[visible, i] = both.supports(-g, p, norm_bound)
            up[~visible, i] = down[~visible, i] = np.inf
    return up, down
