"""Tests of the noise that unknown coefficients cannot disturb, by comparisons in pairs.

With y = Φθ* + e and a transformation G that leaves the law of the noise e unchanged, let M project
on the complement of the columns of Φ and GΦ. Then M y = M e and M G y = M G e, whatever θ* is, and
exchanging e for G e exchanges the two. A statistic T meets T(M y) with T(M G y) for each of m - 1
drawn G. The identity and the drawn transformations are m players of a tournament, and each was as
likely as any other to be the one that was observed. At most 2q - 1 of m players can lose or tie
fewer than q games, so

    p = (2 · #{G : T(M G y) >= T(M y)} + 1) / m

is a p-value for every n: P(p <= a) <= a (docs/theory.md 11.4, where the statistic is an estimate).
This bound is for the worst case. Where Φ is an approximation, (#{...} + 1)/m is used instead, which
was never far above its level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._numerics import EPS
from unassuming._typing import Array
from unassuming.noise import Noise

Statistic = Callable[[Array], Array]
"""From residuals (..., n) to numbers (...)."""

_BATCH = 2**21  # numbers in one batch of transformed designs
_WORK = 4e9  # multiplications, beyond which fewer transformations are drawn
_FEWEST = 99


@final
@dataclass(frozen=True, eq=False)
class Games:
    """Residuals of both players of some games, without what the coefficients explain.

    Attributes
    ----------
    observed, transformed : arrays of shape (N, n)
        M r and M G r.
    lag : array of shape (N,)
        The lag-one autocorrelation to expect of M e if e is white noise.
    """

    observed: Array
    transformed: Array
    lag: Array


def rounds(n: int, rank: int, most: int) -> int:
    """Return how many transformations are drawn: ``most``, or fewer if they cost too much.

    Examples
    --------
    >>> rounds(100, 3, 999), rounds(100_000, 50, 999)
    (999, 99)
    """
    return max(min(most, _FEWEST), min(most, int(_WORK / (2 * n * (rank + 2) ** 2))))


def play(
    basis: Array, r: Array, noise: Noise, size: int, rng: np.random.Generator
) -> Iterator[Games]:
    """Yield ``size`` games, in batches.

    Parameters
    ----------
    basis : array of shape (n, k)
        Orthonormal columns that span the design.
    r : array of shape (n,)
        Residuals of least squares.
    noise : Noise
        Its transformations are linear.
    size : int
        Number of transformations.
    rng : Generator

    Examples
    --------
    >>> from unassuming.noise import Symmetric
    >>> r = np.array([-1.0, 0.0, 1.0, 0.0])
    >>> games = next(play(np.full((4, 1), 0.5), r, Symmetric(), 5, np.random.default_rng(0)))
    >>> games.observed.shape, bool(np.allclose(games.observed.sum(axis=1), 0))
    ((5, 4), True)
    """
    n, k = basis.shape
    step = max(1, _BATCH // (n * (k + 2)))
    for done in range(0, size, step):
        yield _play(basis, r, noise, min(step, size - done), rng)


def _play(Q: Array, r: Array, noise: Noise, size: int, rng: np.random.Generator) -> Games:
    n, k = Q.shape
    drawn = noise.draw(n, size, rng)
    both = np.asarray(noise.apply(drawn, np.vstack([Q.T, r]), None))  # (k + 1, size, n)
    B, Gr = np.swapaxes(both[:-1], 0, 1), both[-1]  # B holds the columns of GQ
    C = B @ Q  # (size, k, k)
    rest = B - C @ Q.T  # GQ without the span of Q; its Gram matrix is I - CCᵀ
    values, V = np.linalg.eigh(np.eye(k) - C @ np.swapaxes(C, 1, 2))
    new = values > 64 * n * EPS  # a column of GQ in the span of Q, such as an intercept, adds none
    scale = np.where(new, 1 / np.sqrt(np.where(new, values, 1.0)), 0.0)
    W = (scale[:, :, None] * np.swapaxes(V, 1, 2)) @ rest  # [Q, Wᵀ] spans Q and GQ

    def free(v: Array) -> Array:
        v = v - (v @ Q) @ Q.T
        left = v - ((W @ v[:, :, None]) * W).sum(axis=1)
        size_of = np.abs(left).max(axis=1, keepdims=True, initial=0.0)
        return np.where(size_of > 1e-11 * np.abs(r).max(initial=0.0), left, 0.0)

    removed = (Q[1:] * Q[:-1]).sum() + (W[:, :, 1:] * W[:, :, :-1]).sum(axis=(1, 2))
    degrees = np.maximum(n - k - new.sum(axis=1), 1)
    return Games(free(np.broadcast_to(r, Gr.shape)), free(Gr), -removed / degrees)


def pvalues(
    games: Iterable[Games], statistics: Sequence[Statistic], centred: Sequence[bool], *, exact: bool
) -> list[float]:
    """Return the p-values of statistics that are near zero if the assumption on the noise holds.

    Parameters
    ----------
    games : iterable of Games
    statistics : sequence of callables
    centred : sequence of bool
        Whether each statistic is an autocorrelation, compared with the one to expect.
    exact : bool
        Whether the p-values have to hold for every n.

    Examples
    --------
    >>> one = Games(np.array([[3.0, 1.0]]), np.array([[1.0, 1.0]]), np.zeros(1))
    >>> pvalues([one], [lambda r: r.sum(axis=-1)], [False], exact=True)
    [0.5]
    """
    lost, played = np.zeros(len(statistics), dtype=np.intp), 0
    for game in games:
        played += len(game.lag)
        for j, statistic in enumerate(statistics):
            centre = game.lag if centred[j] else 0.0
            mine = np.abs(statistic(game.observed) - centre)
            other = np.abs(statistic(game.transformed) - centre)
            lost[j] += np.count_nonzero(other >= mine - 1e-9 * np.maximum(1.0, mine))
    factor = 2 if exact else 1
    return [min(1.0, (factor * count + 1) / (played + 1)) for count in lost.tolist()]
