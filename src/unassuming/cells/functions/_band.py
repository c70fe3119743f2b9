"""Simultaneous bands of a function from balanced cells (docs/theory.md 9.7 and 9.8).

As in 9.7 the signs are balanced, so the true values cancel from mean_b s_b u_b(z) but for a bias of
at most b_s(z) = B‖mean_b s_b h_b(z)‖. Let R_s = max_z (|mean_b s_b u_b(z)| + b_s(z)) / σ(z). The
band mean_b u_b(z) ± (σ(z)·(q-th largest R_s) + b_0(z)) holds at all z at once with probability at
least 1 - q/K.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from unassuming._rounding import EPS, powers_of_two
from unassuming._typing import Array, IntArray
from unassuming.cells._balanced import BalancedBand
from unassuming.cells._signs import balanced_signs, largest_q
from unassuming.cells.functions._errors import Errors, errors
from unassuming.cells.functions._kriging import Kriging
from unassuming.cells.functions._made_up import MadeUp
from unassuming.cells.functions._predicted import Choice, smoothings
from unassuming.cells.functions._system import Assumed, System, Wanted

_DRAWS = 12
_FINER = (3.0, 1 / 3.0)
"""What the best smoothing is multiplied by, at last."""

_BIASES = 2.0
"""What the root mean square of the biases counts in σ(z): the largest of them matter."""

_MOST = 48
"""Functionals that a choice looks at."""


@final
@dataclass(frozen=True, eq=False)
class BandSizes:
    """What a band is measured in, and its biases; all from the design alone.

    Attributes
    ----------
    scale : array of shape (N,)
        σ(z), the size of the noise plus twice that of the biases b_s.
    bias : array of shape (N, K - 1)
        b_s(z) for every sign vector but the identity.
    offset : array of shape (N,)
        b_0(z).
    limit : array of shape (N,)
        What the norm bound alone allows.
    """

    scale: Array
    bias: Array
    offset: Array
    limit: Array

    @classmethod
    def of(cls, found: Errors, assumed: Assumed) -> BandSizes:
        """Collect them from the errors of K = 2^k cells."""
        K = found.H.shape[1]
        bias = found.bias(assumed, np.full((len(found.H), K), 1 / K), balanced_signs(K))
        noise = assumed.noise_scale * np.sqrt(found.noise.sum(axis=1)) / K
        unit = powers_of_two(np.abs(bias).max(initial=0.0))  # squares neither over- nor underflow
        mean = unit * np.sqrt(np.square(bias[:, 1:] / unit).mean(axis=1))
        scale = noise + _BIASES * mean
        scale = np.where(scale > 0, scale, 1.0)
        return cls(scale, bias[:, 1:], bias[:, 0], assumed.limit(found.norm))

    def cut(self, band: BalancedBand) -> tuple[Array, Array]:
        """Return the ends of a band, cut at the limits.

        If they contradict each other at one input, no function within the norm bound agrees.
        """
        lower, upper = band.estimate - band.half_width, band.estimate + band.half_width
        return np.maximum(lower, -self.limit), np.minimum(upper, self.limit)


def function_band(u: Array, rounding: Array, sizes: BandSizes, level: float) -> BalancedBand:
    """Return the simultaneous band of N functionals that all K = 2^k cells identify.

    Parameters
    ----------
    u, rounding : arrays of shape (N, K)
        Estimates in the cells, and bounds on their rounding errors.
    sizes : BandSizes
        Scale and biases.
    level : float
        The attained level is the smallest 1 - q/K that is not below it.
    """
    K = u.shape[1]
    signs = balanced_signs(K)[1:] / K
    centre = u.mean(axis=1)
    blur = rounding.mean(axis=1) + K * EPS * np.abs(u).max(axis=1)
    moved = np.abs((u - centre[:, None]) @ signs.T) + sizes.bias + blur[:, None]
    R = (moved / sizes.scale[:, None]).max(axis=0)
    q = largest_q(level, K)
    half = np.full(len(u), np.inf)
    if q:
        half = sizes.scale * float(np.sort(R)[K - 1 - q]) + sizes.offset + blur
    return BalancedBand(centre, half, R, q, K)


def choose_band(
    system: System, wanted: Wanted, divisions: Sequence[Kriging], assumed: Assumed, level: float
) -> Choice:
    """Choose one division and one smoothing for all functionals, by the predicted half-widths.

    Their median decides. Of many functionals it is taken over some.

    Parameters
    ----------
    system, wanted
        The rows and the functionals.
    divisions : sequence of Kriging
        Divisions into K = 2^k cells.
    assumed : Assumed
        The norm bound, the model error and the working noise scale.
    level : float

    Returns
    -------
    Choice
        Half-widths are those of the functionals that were looked at; infinite if no division
        serves the level.
    """
    some = wanted.part(looked_at(len(wanted)))
    N, candidates = len(some), smoothings(system, wanted, assumed)
    values = MadeUp.of(system, some, assumed, _DRAWS).at_rows
    best = Choice(np.zeros(N, dtype=np.intp), np.full(N, candidates[0]), np.full(N, np.inf))

    def better(index: int, mu: float) -> Choice:
        a, known = divisions[index].weights(some, mu)
        found = errors(system, some, divisions[index], a, known)
        width = band_half_width(system, divisions[index], a, found, assumed, level, values)
        if not np.median(width) < np.median(best.half_width):
            return best
        return Choice(np.full(N, index, dtype=np.intp), np.full(N, mu), width)

    for index in range(len(divisions)):
        for mu in candidates:
            best = better(index, mu)
    index, mu = int(best.which[0]), float(best.mu[0])
    for factor in _FINER if len(candidates) > 1 and np.isfinite(best.half_width).all() else ():
        best = better(index, max(mu * factor, candidates[0]))
    if np.isfinite(best.half_width).all():
        return replace(best, half_width=np.minimum(best.half_width, assumed.limit(some.norm)))
    return best


def looked_at(N: int) -> IntArray:
    """Return which of N functionals a choice looks at."""
    return np.unique(np.linspace(0, N - 1, _MOST).astype(np.intp))


def band_half_width(
    system: System,
    kriging: Kriging,
    a: Array,
    found: Errors,
    assumed: Assumed,
    level: float,
    values: Array,
) -> Array:
    """Return the mean half-widths of the simultaneous band of N functionals, (N,).

    Gaussian noise of the working scale is drawn, always the same.

    Parameters
    ----------
    system : System
    kriging : Kriging
        Gives the cells; their number is a power of two.
    a, found
        Weights (N, n), and the errors of the estimates with them.
    assumed : Assumed
    level : float
    values : array of shape (12, n)
        Values of made-up functions at the rows.
    """
    K = kriging.K
    q = largest_q(level, K)
    if q == 0 or not found.identified.all():
        return np.full(len(a), np.inf)
    sizes = BandSizes.of(found, assumed)
    rng = np.random.default_rng([118, system.n])
    y = values + assumed.noise_scale * rng.standard_normal(values.shape) / np.sqrt(system.weight)
    us = np.stack([y[:, rows] @ a[:, rows].T for rows in kriging.cells], axis=2)
    halves = [function_band(u, np.zeros_like(u), sizes, level).half_width for u in us]
    return np.asarray(np.mean(halves, axis=0))
