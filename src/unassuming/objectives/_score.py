"""The weighted gradient Ψ ḡ(a, r), unperturbed and perturbed, with its rounding errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from unassuming._rounding import EPS, TINY, length
from unassuming._typing import Array, BoolArray
from unassuming.objectives._images import Images
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

    slow: ClassVar[bool] = False
    """Whether a screen is worth it for a single candidate already."""

    @abstractmethod
    def contrast(
        self, a: Array, r: Array, perturbed: Array, *, exact: bool, error: Array | float = 0.0
    ) -> Contrast:
        """Return z_0 and z_i - z_0 for a (N, d), r (N, n) and perturbed residuals (N, m-1, n).

        ``exact`` says that the perturbed residuals carry no rounding error of their own, and
        ``error`` bounds the errors of the residuals. The bounds of the result use lengths of
        vectors: they are quick and may be wide.
        """

    def refined(self, a: Array, images: Images) -> Contrast:
        """Return the contrast with bounds for every entry, which are as narrow as they can be."""
        r, perturbed = images.residuals, images.perturbed
        return self.contrast(a, r, perturbed, exact=images.exact, error=images.error)

    @property
    def along_lines(self) -> LeastNormScore | None:
        """The score by which statistics are followed along lines; None if that is impossible."""
        return None

    def by_values(self, images: Images, fitted: Array) -> Contrast | None:
        """Return a contrast with the same gaps that needs no coefficients; None if there is none.

        ``fitted`` (N, n) are the fitted values. Only `Contrast.gaps` is meaningful.
        """
        del images, fitted
        return None


@final
@dataclass(frozen=True, eq=False)
class GradientScore(Score):
    """The gradient of an objective that declares nothing else."""

    gradient: Callable[[Array, Array], Array]
    weighting: Array | None

    def contrast(
        self, a: Array, r: Array, perturbed: Array, *, exact: bool, error: Array | float = 0.0
    ) -> Contrast:
        """Subtract the two gradients."""
        del exact
        z0 = np.asarray(self.gradient(a, r), dtype=np.float64)
        z = np.asarray(self.gradient(a, perturbed), dtype=np.float64)
        if self.weighting is not None:
            z0, z = z0 @ self.weighting.T, z @ self.weighting.T
        # How z is summed is unknown, so errors are relative to its largest value anywhere.
        scale = np.maximum(np.abs(z).max(axis=1, initial=0.0), np.abs(z0))
        off = length(np.broadcast_to(error, r.shape)) / np.maximum(length(r), TINY)
        unit = _unit(r.shape[-1], z0.shape[-1]) + np.minimum(off, 1.0)[:, None]
        bound = unit * scale
        moved = (perturbed != r[:, None, :]).any(axis=-1)[:, :, None]
        difference = np.where(moved, z - z0[:, None, :], 0.0)
        return Contrast(z0, difference, bound, np.where(moved, bound[:, None, :], 0.0))


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
    penalty_terms : callable or None
        a (N, d) -> (N, k), the sizes of the terms summed to a finite subgradient; None if each has
        a single term.
    row_weights : array of shape (n,), or None
        The diagonal of W/n, if L = H^{-1/2} ΦᵀW/n and the penalty's gradient is H^{-1/2} λPa.

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
    penalty_terms: Callable[[Array], Array] | None = None
    row_weights: Array | None = None

    @property
    def along_lines(self) -> LeastNormScore:
        """The score itself."""
        return self

    def contrast(
        self, a: Array, r: Array, perturbed: Array, *, exact: bool, error: Array | float = 0.0
    ) -> Contrast:
        """Form z_i - z_0 from ρ(G_i r) - ρ(r) alone."""
        rho = r if self.influence is None else self.influence(r)
        moved = perturbed if self.influence is None else self.influence(perturbed)
        delta = moved - rho[:, None, :]  # (G_i - I) r, through ρ
        lo, hi = self.subdifferential(a)
        u, v = self._pull(rho), self._pull(delta)
        z0 = u - np.clip(u, lo, hi)

        unit = _unit(r.shape[-1], u.shape[-1])
        off = self._reach(self._influenced(r, rho, np.broadcast_to(error, r.shape)))
        size = self._reach(rho)
        e0 = unit * (size + self._terms(a, lo)) + off
        e = unit * (self._reach(delta) if exact else self._reach(delta) + size[:, None])
        e = e + 2 * off[:, None] * delta.any(axis=-1, keepdims=True)

        box = lo < hi
        if box.any():
            # Where the subdifferential is not a single point, the clipped parts differ as well.
            lo_, hi_, u_ = lo[:, None, :], hi[:, None, :], u[:, None, :]
            v = v - (np.clip(u_ + v, lo_, hi_) - np.clip(u_, lo_, hi_))
            e = e + np.where(box, e0, 0.0)[:, None, :]
        return self._weighted(z0, v, e0, e)

    def refined(self, a: Array, images: Images) -> Contrast:
        """Form z_i - z_0 from (G_i - I) r and z_i + z_0 from (G_i + I) r, both through ρ."""
        lo, hi = self.subdifferential(a)
        box = lo < hi
        # Each candidate for itself: its bounds must not depend on the others.
        smooth = np.asarray(~box.any(axis=-1) & (images.moves is not None))
        rho, error, delta, delta_error, sigma, sigma_error = self._moved(images, smooth)
        delta_error[smooth], sigma_error[smooth] = 0.0, 0.0  # see _slack
        u, v, t = self._pull(rho), self._pull(delta), self._pull(sigma)
        z0 = u - np.clip(u, lo, hi)

        unit = _unit(rho.shape[-1], u.shape[-1])
        terms = unit * self._terms(a, lo)
        e0 = self._size(unit * np.abs(rho) + error) + terms
        e = self._size(unit * np.abs(delta) + delta_error)
        f = self._size(unit * np.abs(sigma) + sigma_error)
        lo_, hi_, u_ = lo[:, None, :], hi[:, None, :], u[:, None, :]
        before, after = np.clip(u_, lo_, hi_), np.clip(u_ + v, lo_, hi_)
        if box.any():
            v = v - (after - before)
            e = e + np.where(box, e0, 0.0)[:, None, :]
            f = f + np.where(box, 2 * e0, 0.0)[:, None, :]
        s, f = t - (after + before), f + 2 * terms[:, None, :]
        found = self._weighted(z0, v, e0, e, s, f)
        if not smooth.any():
            return found
        slack = np.where(smooth[:, None], self._slack(found, images, error), 0.0)
        return replace(found, gap_error=slack)

    def _slack(self, found: Contrast, images: Images, error: Array) -> Array:
        """Carry errors of ρ(r) to the gaps, through the gradient 2 (G_iᵀLᵀΨᵀz_i - LᵀΨᵀz_0).

        The two parts nearly cancel where a residual hardly matters for the gap.
        """
        assert images.moves is not None
        z0, z = found.reference, found.difference + found.reference[:, None, :]
        slope = 2 * np.abs(images.moves.back(self._return(z)) - self._return(z0)[:, None, :])
        carried = (images.carry(error) + error[:, None, :]) * self._columns
        rounding = _unit(*z.shape[2:], error.shape[-1]) * (length(z) + length(z0)[:, None])
        # The last factor: rounding of the gradient, and the second-order term.
        rest = carried.sum(axis=-1) * (rounding + carried.sum(axis=-1))
        return np.asarray((slope * error[:, None, :]).sum(axis=-1) + rest)

    def by_values(self, images: Images, fitted: Array) -> Contrast | None:
        """Replace the penalty, a sum of coefficients that may cancel, by fitted values f.

        With δ = ρ(G_i r) - ρ(r) and the penalty's gradient p, ⟨Lδ, p⟩ = ⟨δ, Wf⟩/n - ⟨Lδ, Lf⟩, since
        λPa = Ha - ΦᵀWf/n. So the gap is an inner product of k + n coordinates.
        """
        if self.row_weights is None:
            return None
        every = np.full(len(fitted), images.moves is not None)
        rho, error, delta, delta_error, sigma, sigma_error = self._moved(images, every)
        unit = _unit(rho.shape[-1], len(self._absolute))
        off = error + 2 * EPS * np.abs(fitted)
        d = np.concatenate([self._pull(delta), delta], axis=-1)
        pulled = self._size(unit * np.abs(delta) + delta_error)
        e = np.concatenate([pulled, delta_error], axis=-1)
        whole = self._pull(sigma) + 2 * self._pull(fitted)[:, None, :]
        size = self._size(unit * np.abs(sigma) + sigma_error)
        size = size + 2 * self._size(unit * np.abs(fitted) + off)[:, None, :]
        rows = -2 * (self.row_weights * fitted)[:, None, :] + np.zeros_like(delta)
        rows_error = 2 * (self.row_weights * (unit * np.abs(fitted) + off))[:, None, :]
        s = np.concatenate([whole, rows], axis=-1)
        f = np.concatenate([size, rows_error + np.zeros_like(delta)], axis=-1)
        zero = np.zeros_like(d[:, 0])
        return Contrast(zero, d, zero, e, s, f)

    def _moved(
        self, images: Images, plain: BoolArray
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Return ρ(r), ρ(G_i r) - ρ(r) and ρ(G_i r) + ρ(r), each with its errors.

        For the ``plain`` candidates G_i r is what it is, also where it may be equal to r.
        """
        r, perturbed = images.residuals, images.perturbed
        if images.moves is not None and plain.any():
            perturbed = perturbed.copy()
            perturbed[plain] = images.moves.apply(r[plain])
        rho = r if self.influence is None else self.influence(r)
        moved = perturbed if self.influence is None else self.influence(perturbed)
        error = self._influenced(r, rho, images.error)
        off = images.carry(error) + error[:, None, :]
        if not images.exact:
            off = off + _unit(r.shape[-1]) * length(rho)[:, None, None]
        delta, sigma = moved - rho[:, None, :], moved + rho[:, None, :]
        # Terms that are exactly equal or opposite are the same number, whatever its error.
        delta_error, sigma_error = (np.where(part == 0, 0.0, off) for part in (delta, sigma))
        return rho, error, delta, delta_error, sigma, sigma_error

    def _weighted(
        self,
        z0: Array,
        d: Array,
        z0_error: Array,
        d_error: Array,
        s: Array | None = None,
        s_error: Array | None = None,
    ) -> Contrast:
        """Multiply by Ψ, and bounds of errors by ``|Ψ|``."""
        if self.weighting is None:
            return Contrast(z0, d, z0_error, d_error, s, s_error)
        psi, size = self.weighting.T, np.abs(self.weighting).T
        return Contrast(
            z0 @ psi,
            d @ psi,
            z0_error @ size,
            d_error @ size,
            None if s is None else s @ psi,
            None if s_error is None else s_error @ size,
        )

    def _pull(self, rho: Array) -> Array:
        return rho if self.pullback is None else rho @ self.pullback.T

    def _size(self, rho: Array) -> Array:
        """Return ``|L| |ρ|``, the scale of the rounding error of L ρ."""
        return rho if self.pullback is None else rho @ self._absolute.T

    def _reach(self, rho: Array) -> Array:
        """Bound ``|L| |ρ|`` by the lengths of ρ and of the rows of L."""
        if self.pullback is None:
            return np.abs(rho)
        return np.asarray(length(rho)[..., None] * self._rows)

    @cached_property
    def _absolute(self) -> Array:
        """``|L|``; a computed L has errors relative to the smaller of its row and its column."""
        L = np.zeros((0, 0)) if self.pullback is None else self.pullback
        if self.row_weights is None:
            return np.abs(L)
        return np.minimum(length(L)[:, None], length(L.T))

    @cached_property
    def _rows(self) -> Array:
        return length(self._absolute)

    def _return(self, z: Array) -> Array:
        """Return LᵀΨᵀz."""
        z = z if self.weighting is None else z @ self.weighting
        return z if self.pullback is None else z @ self.pullback

    @cached_property
    def _columns(self) -> Array:
        """Bound the lengths of the columns of ΨL."""
        if self.pullback is None:
            return np.ones(1) if self.weighting is None else length(self.weighting.T)
        weight = 1.0 if self.weighting is None else float(length(self.weighting.ravel()))
        return weight * length(self.pullback.T)

    def _terms(self, a: Array, lo: Array) -> Array:
        """Return the sizes of the terms that the gradient of the penalty sums."""
        if self.penalty_terms is not None:
            return self.penalty_terms(a)
        return np.where(np.isfinite(lo), np.abs(lo), 0.0)

    def _influenced(self, r: Array, rho: Array, error: Array) -> Array:
        """Carry the errors of the residuals over to ρ."""
        if self.influence is None or not error.any():
            return error
        change = np.abs(self.influence(r + error) - self.influence(r - error))
        # A scale that is computed from the residuals has a relative error of its own.
        off = length(error) / np.maximum(length(r), TINY)
        return np.asarray(change + np.minimum(off, 1.0)[:, None] * np.abs(rho))
