"""A system as a chain of first-order systems, for many candidates at once (docs/theory.md 15).

Lags of an unstable output are nearly parallel: the largest root dominates all of them, and what
distinguishes them is lost in rounding. A chain has the same span. With the roots ρ_1, ρ_2, ... of a
candidate, in the order of their absolute values, w⁰ = y and w^j_t = w^{j-1}_t - ρ_j w^{j-1}_{t-1}:
each link is free of one more root. The last link is what enters the system, so the chain is
simulated from its end, and nothing is ever subtracted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array

LARGE = 2.0**400
"""Links beyond this are scaled down, with everything that led to them."""

_ROOM = 500  # binary digits between LARGE and the end of doubles, less a margin


def regressor_chain(a: Array, v: Array, initial: Array) -> list[Array]:
    """Return columns that span the lags of simulated outputs, each up to a power of two.

    The outputs are y_t = Σ a_k y_{t-k} + v_t. Unstable candidates exceed every double. The whole
    history of such a link, and all that enters it later, is multiplied by a power of two: its
    direction, which is all that is needed, remains.

    Parameters
    ----------
    a : array of shape (N, na)
    v : array of shape (n, N, K)
        What enters at each time.
    initial : array of shape (na,)
        The outputs before, in the order of time.

    Returns
    -------
    list of na arrays of shape (n, N, K)
        At time t they hold w^{na-1}_{t-1}, w^{na-2}_{t-2}, ..., y_{t-na}.

    Examples
    --------
    >>> [y] = regressor_chain(np.array([[2.0]]), np.ones((3, 1, 1)), np.array([1.0]))
    >>> y.ravel()
    array([1., 3., 7.])
    >>> [y] = regressor_chain(np.array([[1e9]]), np.zeros((99, 1, 1)), np.array([1.0]))
    >>> bool(np.isfinite(y).all()), round(y[-1, 0, 0] / y[-2, 0, 0])
    (True, 1000000000)
    """
    (n, N, K), na = v.shape, a.shape[1]
    if na == 0:
        return []
    roots = roots_of(a)
    links = [np.empty((na - j + n, N, K)) for j in range(na)]  # link j begins at time j - na
    last = []
    for j, start in enumerate(_starts(roots, initial)):
        links[j][: na - j] = start.real.T[:, :, None]
        last.append(np.repeat(start[:, -1, None], K, axis=1))
    factors = [np.repeat(root[:, None], K, axis=1) for root in roots.T]
    shrink: list[Any] = [1.0] * na
    every, since = steps_until_overflow(a, _ROOM), 0
    for t in range(n - 1):
        enters, scale = v[t], 1.0
        for j in reversed(range(na)):
            last[j] = factors[j] * last[j] + enters * (shrink[j] / scale)
            links[j][na - j + t] = last[j].real
            enters, scale = last[j], shrink[j]
        if t - since + 1 >= every or t == n - 2:
            for j in range(na):
                window = np.abs(links[j][na - j + since : na - j + t + 1]).max(axis=0)
                factor = np.where(window > LARGE, np.ldexp(1.0, -np.frexp(window)[1]), 1.0)
                if (factor < 1).any():
                    links[j][: na - j + t + 1] *= factor
                    last[j] = last[j] * factor
                    shrink[j] = np.maximum(shrink[j] * factor, _SMALLEST)
            since = t + 1
    return [links[j][:n] for j in reversed(range(na))]


_SMALLEST = 2.0**-1000  # what is multiplied by less than this has no effect


def roots_of(a: Array) -> Array:
    """Return the roots of z^na - Σ a_k z^{na-k}, the largest first, (N, na).

    Complex ones are in pairs; the array is real if all of them are.

    Examples
    --------
    >>> roots_of(np.array([[0.5, 0.0], [0.0, 4.0]]))
    array([[ 0.5,  0. ],
           [ 2. , -2. ]])
    """
    N, na = a.shape
    if na == 1:
        return a
    companion = np.zeros((N, na, na))
    companion[:, 0, :] = a
    companion[:, np.arange(1, na), np.arange(na - 1)] = 1.0
    roots: Any = np.linalg.eigvals(companion)
    # A stable order: the members of a pair, which have the same keys, still follow each other.
    order = np.lexsort((-roots.real, -np.abs(roots)), axis=-1)
    roots = np.take_along_axis(roots, order, axis=-1)
    found: Array = roots if roots.imag.any() else np.ascontiguousarray(roots.real)
    return found


def _starts(roots: Array, initial: Array) -> list[Any]:
    """Return the values of each link that the initial outputs determine, (N, na - j) for link j."""
    found = [np.broadcast_to(initial.astype(roots.dtype), (len(roots), len(initial)))]
    for j in range(roots.shape[1] - 1):
        before = found[-1]
        found.append(before[:, 1:] - roots[:, j, None] * before[:, :-1])
    return found


def steps_until_overflow(a: Array, digits: int) -> int:
    """Return in how many steps outputs of candidates a (N, na) grow by at most 2^digits."""
    growth = np.log2(1.0 + np.abs(a).sum(axis=1).max(initial=0.0))
    return int(min(1e6, max(1.0, digits / max(growth, EPS))))
