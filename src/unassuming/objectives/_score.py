"""The weighted gradient Ψ ḡ(a, r), unperturbed and perturbed, with its rounding errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.ranking import Contrast

Influence = Callable[[Array], Array]
Subdifferential = Callable[[Array], tuple[Array, Array]]


def _unit(*lengths: int) -> float:
    """Return the relative rounding error of inner products of these lengths, with a margin."""
    return 8 * EPS * sum(lengths)


class Score(ABC):
    """z = Ψ ḡ(a, r) as a function of the coefficients and the residuals.

    Examples
    --------
    >>> score: Score = GradientScore(lambda a, r: a * r.sum(axis=-1, keepdims=True), None)
    >>> r, flipped = np.array([[1.0, 2.0]]), np.array([[[-1.0, 2.0]]])
    >>> score.contrast(np.ones((1, 1)), r, flipped, exact=True).statistics()
    array([[9., 1.]])
    """

    @abstractmethod
    def contrast(self, a: Array, r: Array, perturbed: Array, *, exact: bool) -> Contrast:
        """Return z_0 and z_i - z_0 for a (N, d), r (N, n) and perturbed residuals (N, m-1, n).

        ``exact`` says that the perturbed residuals carry no rounding error of their own.
        """


@final
@dataclass(frozen=True, eq=False)
class GradientScore(Score):
    """The gradient of an objective that declares nothing else."""

    gradient: Callable[[Array, Array], Array]
    weighting: Array | None

    def contrast(self, a: Array, r: Array, perturbed: Array, *, exact: bool) -> Contrast:
        """Subtract the two gradients."""
        del exact
        z0 = np.asarray(self.gradient(a, r), dtype=np.float64)
        z = np.asarray(self.gradient(a, perturbed), dtype=np.float64)
        if self.weighting is not None:
            z0, z = z0 @ self.weighting.T, z @ self.weighting.T
        # How z is summed is unknown, so errors are relative to its largest value anywhere.
        scale = np.maximum(np.abs(z).max(axis=1, initial=0.0), np.abs(z0))
        error = _unit(r.shape[-1], z0.shape[-1]) * scale
        moved = (perturbed != r[:, None, :]).any(axis=-1)[:, :, None]
        difference = np.where(moved, z - z0[:, None, :], 0.0)
        return Contrast(z0, difference, error, np.where(moved, error[:, None, :], 0.0))


@final
@dataclass(frozen=True, eq=False)
class LeastNormScore(Score):
    """The least-norm element of L ρ(r) - ∂penalty(a), weighted.

    The subdifferential of a separable penalty at `a` is a box [lo, hi], and a point where the
    penalty is smooth. The element of least absolute value in each coordinate is u - clip(u, lo, hi)
    with u = L ρ(r): the gradient at smooth points, the soft threshold at a_j = 0
    (docs/theory.md 6).

    Attributes
    ----------
    pullback : array of shape (k, n), or None
        L; None is the identity.
    influence : callable or None
        ρ, the derivative of the loss; None is the identity.
    subdifferential : callable
        a (N, d) -> lo, hi, each (N, k).
    weighting : array or None
        Ψ; None is the identity, or a weighting that L and the penalty already include.

    Examples
    --------
    >>> def penalty(a):
    ...     return 0.5 * np.sign(a), 0.5 * np.sign(a)
    >>> score = LeastNormScore(np.ones((1, 2)), None, penalty, None)
    >>> r, flipped = np.array([[1.0, 2.0]]), np.array([[[-1.0, 2.0]]])
    >>> score.contrast(np.ones((1, 1)), r, flipped, exact=True).statistics()
    array([[6.25, 0.25]])
    """

    pullback: Array | None
    influence: Influence | None
    subdifferential: Subdifferential
    weighting: Array | None

    def contrast(self, a: Array, r: Array, perturbed: Array, *, exact: bool) -> Contrast:
        """Form z_i - z_0 from ρ(G_i r) - ρ(r) alone."""
        rho = r if self.influence is None else self.influence(r)
        moved = perturbed if self.influence is None else self.influence(perturbed)
        delta = moved - rho[:, None, :]  # (G_i - I) r, through ρ
        lo, hi = self.subdifferential(a)
        u, v = self._pull(rho), self._pull(delta)
        z0 = u - np.clip(u, lo, hi)

        unit = _unit(r.shape[-1], u.shape[-1])
        finite = np.where(np.isfinite(lo), np.abs(lo), 0.0)
        e0 = unit * (self._size(rho) + finite)
        e = unit * (self._size(delta) if exact else self._size(delta) + self._size(rho)[:, None])

        box = lo < hi
        if box.any():
            # Where the subdifferential is not a single point, the clipped parts differ as well.
            lo_, hi_, u_ = lo[:, None, :], hi[:, None, :], u[:, None, :]
            v = v - (np.clip(u_ + v, lo_, hi_) - np.clip(u_, lo_, hi_))
            e = e + np.where(box, e0, 0.0)[:, None, :]
        if self.weighting is not None:
            psi, size = self.weighting, np.abs(self.weighting)
            z0, v = z0 @ psi.T, v @ psi.T
            e0, e = e0 @ size.T, e @ size.T
        return Contrast(z0, v, e0, e)

    def _pull(self, rho: Array) -> Array:
        return rho if self.pullback is None else rho @ self.pullback.T

    def _size(self, rho: Array) -> Array:
        """Bound |L| |ρ| in each coordinate, the scale of the rounding error of L ρ."""
        if self.pullback is None:
            return np.abs(rho)
        rows = np.linalg.norm(self.pullback, axis=1)
        return np.asarray(np.linalg.norm(rho, axis=-1)[..., None] * rows)
