"""Outputs of a system that is driven by inputs and noise, for many candidates at once.

Time comes first: one pass over it serves all candidates and all transformations (docs/theory.md
12).
"""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from unassuming._rounding import EPS
from unassuming._typing import Array

LARGE = 2.0**400
"""Outputs beyond this are scaled down, with everything that led to them."""

_ROOM = 500  # binary digits between LARGE and the end of doubles, less a margin


def simulate(a: Array, v: Array, initial: Array) -> Array:
    """Return outputs y_t = Σ a_k y_{t-k} + v_t, each series up to a power of two.

    Unstable candidates exceed every double. The whole history of such a series, and all that
    enters later, is multiplied by a power of two: the direction of the series, which is all that
    is needed, remains.

    Parameters
    ----------
    a : array of shape (N, na)
    v : array of shape (n, N, K)
        What enters at each time.
    initial : array of shape (na,)
        The outputs before, in the order of time.

    Returns
    -------
    array of shape (na + n, N, K)
        The initial values and the outputs.

    Examples
    --------
    >>> simulate(np.array([[2.0]]), np.ones((3, 1, 1)), np.array([1.0])).ravel()
    array([ 1.,  3.,  7., 15.])
    >>> huge = simulate(np.array([[1e9]]), np.zeros((99, 1, 1)), np.array([1.0])).ravel()
    >>> bool(np.isfinite(huge).all()), round(huge[-1] / huge[-2])
    (True, 1000000000)
    """
    (n, N, K), na = v.shape, len(initial)
    y = np.empty((na + n, N, K))
    y[:na] = initial[:, None, None]
    factors = [np.ascontiguousarray(np.broadcast_to(a[:, k, None], (N, K))) for k in range(na)]
    shrink: Array | None = None
    part, every, since = np.empty((N, K)), steps_until_overflow(a, _ROOM), 0
    for t in range(n):
        now = y[na + t]
        if shrink is None:
            now[...] = v[t]
        else:
            np.multiply(v[t], shrink, out=now)
        for k, factor in enumerate(factors, start=1):
            np.multiply(factor, y[na + t - k], out=part)
            now += part
        if t - since + 1 >= every or t == n - 1:
            window = np.abs(y[na + since : na + t + 1]).max(axis=0)
            shrink = _scaled(y[: na + t + 1], window, shrink)
            since = t + 1
    return y


def _scaled(y: Array, window: Array, shrink: Array | None) -> Array | None:
    """Scale the series whose last outputs are large, in place; return all factors so far."""
    large = window > LARGE
    if not large.any():
        return shrink
    factor = np.ldexp(1.0, -np.frexp(window[large])[1])
    y[:, large] *= factor
    shrink = np.ones(window.shape) if shrink is None else shrink
    shrink[large] *= factor
    return shrink


def steps_until_overflow(a: Array, digits: int) -> int:
    """Return in how many steps outputs of candidates a (N, na) grow by at most 2^digits."""
    growth = np.log2(1.0 + np.abs(a).sum(axis=1).max(initial=0.0))
    return int(min(1e6, max(1.0, digits / max(growth, EPS))))


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
    companion = np.zeros((N, na, na))
    companion[:, 0, :] = a
    companion[:, np.arange(1, na), np.arange(na - 1)] = 1.0
    radius = np.abs(np.linalg.eigvals(companion)).max(axis=1)
    scaled = a / np.maximum(radius, 1.0)[:, None] ** np.arange(1, na + 1)
    impulse = np.zeros(n)
    impulse[0] = 1.0
    filters = np.concatenate([np.ones((N, 1)), -scaled], axis=1)
    response = np.array([np.abs(lfilter([1.0], one, impulse)).sum() for one in filters])
    return response, response * (1 + np.abs(scaled).sum(axis=1))
