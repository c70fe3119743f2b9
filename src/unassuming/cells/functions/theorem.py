"""Intervals, p-values and bands of values of a function, with their bias (docs/theory.md 11.5).

The estimate in cell b is u_b = τ* + bias_b + (a linear function of the noise of the cell), and the
theorem of the cells allows for the largest bias δ_F of each part of them. A band of K = 2^k
balanced cells allows for the bias likewise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.balanced import BalancedBand, balanced_band
from unassuming.cells.codes import hadamard_words
from unassuming.cells.functions.errors import Assumed, Errors
from unassuming.cells.theorem import Intervals, intervals

_BIASES = 2.0
"""What the root mean square of the biases counts in σ(z): the largest of them matter."""


def biased_intervals(
    u: Array, errors: Errors, assumed: Assumed, level: float, tau: Array | float = 0.0
) -> Intervals:
    """Return the intervals of N functionals from estimates (N, K), and p-values of ``tau``."""
    # They are cut where the norm bound alone ends. Where the lower end exceeds the upper one, no
    # function within the norm bound agrees.
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
    """What a band of N functionals is measured in, from the design alone."""

    # `scale` (N,) is σ(z), the size of the noise plus twice that of the biases; `bias` (N, K) has
    # b_s(z), that of the identity first.

    scale: Array
    bias: Array

    @classmethod
    def of(cls, errors: Errors, assumed: Assumed) -> BandSizes:
        """Collect them from the errors in K = 2^k cells."""
        K = errors.H.shape[1]
        bias = errors.bias(assumed, np.full((len(errors.H), K), 1 / K), hadamard_words(K))
        scale = assumed.noise_scale * np.sqrt(errors.noise.sum(axis=1)) / K
        scale = scale + _BIASES * np.sqrt(np.square(bias[:, 1:]).mean(axis=1))
        return cls(np.where(scale > 0, scale, 1.0), bias)


def function_band(u: Array, sizes: BandSizes, level: float) -> BalancedBand:
    """Return the simultaneous band of N functionals from estimates in K = 2^k cells (N, K)."""
    return balanced_band(u, sizes.scale, level, bias=sizes.bias)
