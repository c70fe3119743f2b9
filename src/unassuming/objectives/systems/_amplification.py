"""How much errors are enlarged on their way through a system."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.objectives.systems._cascade import roots_of


def amplification(a: Array, n: int) -> tuple[Array, Array]:
    """Bound how much errors of what enters, and rounding errors, are enlarged in n steps, (N,).

    Outputs of size ρ^t, where ρ >= 1 is the largest absolute value of a root of the system, carry
    errors Σ ``|h_{t-s}|`` times those of step s, where h is the impulse response. Relative to ρ^t
    it is h_t ρ^{-t}, the response of a_k ρ^{-k}.

    Examples
    --------
    >>> both = amplification(np.array([[0.5], [1.0], [4.0]]), 50)
    >>> both[0].round(6), both[1].round(6)
    (array([ 2., 50., 50.]), array([  3., 100., 100.]))
    """
    N, na = a.shape
    if na == 0:
        return np.ones(N), np.ones(N)
    if na == 1:
        size = np.minimum(np.abs(a[:, 0]), 1.0)  # a geometric series
        response = np.where(size < 1, (1 - size**n) / np.where(size < 1, 1 - size, 1.0), n)
        return response, response * (1 + size)
    from scipy.signal import lfilter  # takes long to load, and few models need it

    radius = np.maximum(np.abs(roots_of(a)[:, 0]), 1.0)
    scaled = a / radius[:, None] ** np.arange(1, na + 1)
    impulse = np.zeros(n)
    impulse[0] = 1.0
    filters = np.concatenate([np.ones((N, 1)), -scaled], axis=1)
    response = np.array([np.abs(lfilter([1.0], one, impulse)).sum() for one in filters])
    return response, response * (1 + np.abs(scaled).sum(axis=1))
