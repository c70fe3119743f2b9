"""Outer bounds of linear functionals over a quadratic region (docs/theory.md 4.3, 4.4)."""

from __future__ import annotations

import numpy as np

from unassuming._progress import progress
from unassuming._typing import Array
from unassuming.geometry.quadratic._coordinates import Coordinates
from unassuming.geometry.quadratic._forms import FormMaker
from unassuming.geometry.quadratic._norm_ball import SetsAndBall
from unassuming.objectives import BallCoordinates

_NUMBERS = 2**18
"""Numbers in one matrix of each of the sets that meet the ball together."""


def supports(maker: FormMaker, where: Coordinates) -> tuple[Array, Array]:
    """Return max gᵀx and max -gᵀx over every set, (N, m - 1) each."""
    shape = len(where.functionals), maker.perturbations.m - 1
    up, down = np.empty(shape), np.empty(shape)
    for which, forms in progress(maker.batches(where.F), shape[1], "sets"):
        up[:, which], down[:, which] = forms.extents(where.functionals)
    # A functional with a hidden component is unbounded over every set that has a point.
    for bound in (up, down):
        bound[where.hidden] = np.where(np.isneginf(bound[where.hidden]), -np.inf, np.inf)
    return up, down


def ball_supports(maker: FormMaker, ball: BallCoordinates) -> tuple[Array, Array]:
    """Return max gᵀx and max -gᵀx over the intersection of every set with the ball."""
    shape = len(ball.functionals), maker.perturbations.m - 1
    up, down = np.empty(shape), np.empty(shape)
    visible, k = ~ball.hidden, ball.F.shape[1]
    # The functional zero shows for every set whether it meets the ball at all.
    g = np.vstack([ball.functionals[visible], np.zeros(k)])
    p = np.append(ball.beyond[visible], 0.0)
    step = max(1, _NUMBERS // k**2)
    for which, forms in progress(maker.batches(ball.F), shape[1], "sets"):
        for start in range(0, len(forms.c), step):
            some = slice(start, start + step)
            both = SetsAndBall.build(forms.A[some], forms.b[some], forms.c[some], ball)
            found = [both.supports(sign * g, p) for sign in (1.0, -1.0)]
            apart = forms.empty[some] | np.isneginf(found).any(axis=(0, 1))
            place = slice(which.start + start, which.start + start + len(apart))
            for bound, values in zip((up, down), found, strict=True):
                bound[:, place] = np.inf
                bound[visible, place] = values[:-1]
                bound[:, place] = np.where(apart, -np.inf, bound[:, place])
    return up, down
