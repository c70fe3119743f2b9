"""Balls for tests of geometry: the norm as any quadratic form, with rounding of a given scale."""

import numpy as np

from unassuming.objectives import BallCoordinates


def ball_coordinates(N, origin, bound, scale):
    k = len(origin)
    nothing = np.empty(0)
    return BallCoordinates(
        F=np.diag(np.sqrt(scale)),
        N=N,
        origin=origin,
        functionals=np.empty((0, k)),
        beyond=nothing,
        hidden=nothing > 0,
        back=np.eye(k),
        bound=bound,
    )
