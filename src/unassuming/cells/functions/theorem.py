"""Intervals, p-values and bands of values of a function, with their bias (docs/theory.md 11.5).

The estimate in cell b is u_b = τ* + bias_b + (a linear function of the noise of the cell), and the
theorem of the cells allows for the largest bias δ_F of each part of them. A band of K = 2^k
balanced cells allows for the bias likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.codes import hadamard_words, largest_q
from unassuming.cells.functions.errors import Assumed, Errors
from unassuming.cells.theorem import Intervals, intervals

_BIASES = 2.0
"""What the root mean square of the biases counts in σ(z): the largest of them matter."""


def biased_intervals(
    u: Array, errors: Errors, assumed: Assumed, level: float, tau: Array | float = 0.0
) -> Intervals:
    """Return the intervals of N functionals from their estimates (N, K), and p-values of ``tau``.

    They are cut where the norm bound alone ends. Where the lower end exceeds the upper one, no
    function within the norm bound agrees.
    """
    w, limit = errors.weights(assumed), assumed.limit(errors.norm)

    def biases(rows: IntArray, keep: BoolArray, part: Array) -> Array:
        own = w[rows][:, keep]
        return errors.part(rows, keep).bias(assumed, own, part) / (own @ part.T)

    found = intervals(u, w, level, tau, biases=biases)
    lower, upper = np.maximum(found.lower, -limit), np.minimum(found.upper, limit)
    return replace(
        found, lower=lower, upper=upper, count=np.where(np.abs(tau) <= limit, found.count, 0)
    )


@final
@dataclass(frozen=True, eq=False)
class BandSizes:
    """What a band of N functionals is measured in, from the design alone.

    ``scale`` (N,) is σ(z), the size of the noise plus twice that of the biases; ``bias`` (N, K) has
    b_s(z), that of the identity first; ``limit`` (N,) is what the norm bound alone allows.
    """

    scale: Array
    bias: Array
    limit: Array

    @classmethod
    def of(cls, errors: Errors, assumed: Assumed) -> BandSizes:
        """Collect them from the errors in K = 2^k cells."""
        K = errors.H.shape[1]
        bias = errors.bias(assumed, np.full((len(errors.H), K), 1 / K), hadamard_words(K))
        scale = assumed.noise_scale * np.sqrt(errors.noise.sum(axis=1)) / K
        scale = scale + _BIASES * np.sqrt(np.square(bias[:, 1:]).mean(axis=1))
        return cls(np.where(scale > 0, scale, 1.0), bias, assumed.limit(errors.norm))

    @classmethod
    def joined(cls, parts: Sequence[BandSizes]) -> BandSizes:
        """Return those of several batches of functionals."""
        scale, bias, limit = zip(*((one.scale, one.bias, one.limit) for one in parts), strict=True)
        return cls(np.concatenate(scale), np.concatenate(bias), np.concatenate(limit))


@final
@dataclass(frozen=True, eq=False)
class FunctionBand:
    """The simultaneous band, cut at the limits, and R_s for every sign vector but the identity.

    If the ends contradict each other anywhere, no function within the norm bound agrees.
    """

    estimate: Array
    half_width: Array
    lower: Array
    upper: Array
    statistics: Array
    q: int
    m: int


def function_band(u: Array, sizes: BandSizes, level: float) -> FunctionBand:
    """Return the simultaneous band of N functionals from their estimates in K = 2^k cells (N, K).

    R_s = max_z (|mean_b s_b u_b(z)| + b_s(z)) / σ(z), and the band is mean_b u_b(z) ± (σ(z) times
    the q-th largest R_s + b_0(z)).
    """
    K = u.shape[1]
    centre = u.mean(axis=1)
    moved = np.abs((u - centre[:, None]) @ hadamard_words(K)[1:].T / K) + sizes.bias[:, 1:]
    R = (moved / sizes.scale[:, None]).max(axis=0)
    q, half = largest_q(level, K), np.full(len(u), np.inf)
    if q:
        half = sizes.scale * np.sort(R)[K - 1 - q] * (1 + 1e-9) + sizes.bias[:, 0]
    lower, upper = np.maximum(centre - half, -sizes.limit), np.minimum(centre + half, sizes.limit)
    return FunctionBand(centre, half, lower, upper, R, q, K)
