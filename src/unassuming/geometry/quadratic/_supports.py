"""Outer bounds of linear functionals over a quadratic region (docs/theory.md 4.3, 4.4)."""

from __future__ import annotations

import numpy as np

from unassuming._progress import progress
from unassuming._typing import Array
from unassuming.geometry.quadratic._coordinates import BallChart, Chart
from unassuming.geometry.quadratic._forms import FormMaker
from unassuming.geometry.quadratic._norm_ball import SetsAndBall

_NUMBERS = 2**18
"""Numbers in one matrix of each of the sets that meet the ball together."""


def supports(maker: FormMaker, chart: Chart) -> tuple[Array, Array]:
    """Return max gᵀx and max -gᵀx over every set, (N, m - 1) each."""
    shape = len(chart.functionals), maker.perturbations.m - 1
    up, down = np.empty(shape), np.empty(shape)
    for which, forms in progress(maker.batches(chart.F), shape[1], "sets"):
        up[:, which], down[:, which] = forms.extents(chart.functionals)
    # A functional with a hidden component is unbounded over every set that has a point.
    for bound in (up, down):
        bound[chart.hidden] = np.where(np.isneginf(bound[chart.hidden]), -np.inf, np.inf)
    return up, down


def ball_supports(maker: FormMaker, chart: BallChart, norm_bound: float) -> tuple[Array, Array]:
    """Return the same over the intersection of every set with the ball."""
    shape = len(chart.functionals), maker.perturbations.m - 1
    up, down = np.empty(shape), np.empty(shape)
    visible, scale = ~chart.hidden, (chart.F**2).sum(axis=0)
    # The functional zero tells of every set whether it meets the ball at all.
    g = np.vstack([chart.functionals[visible], np.zeros(chart.F.shape[1])])
    p = np.append(chart.beyond[visible], 0.0)
    for which, forms in progress(maker.batches(chart.F), shape[1], "sets"):
        step = max(1, _NUMBERS // chart.F.shape[1] ** 2)
        for start in range(0, len(forms.c), step):
            some = slice(start, start + step)
            A, b, c = forms.A[some], forms.b[some], forms.c[some]
            both = SetsAndBall.build(A, b, c, chart.N, chart.origin, norm_bound, scale)
            found = [both.supports(sign * g, p) for sign in (1.0, -1.0)]
            apart = forms.empty[some] | np.isneginf(found).any(axis=(0, 1))
            place = slice(which.start + start, which.start + start + len(apart))
            for bound, values in zip((up, down), found, strict=True):
                bound[:, place] = np.inf
                bound[visible, place] = values[:-1]
                bound[:, place] = np.where(apart, -np.inf, bound[:, place])
    return up, down
