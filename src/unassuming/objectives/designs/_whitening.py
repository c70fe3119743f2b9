"""Coordinates in which the Hessian of the objective is the identity (docs/theory.md 4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import final

import numpy as np
from scipy.linalg import svd

from unassuming._factors import Factor
from unassuming._rounding import EPS, rank_cut
from unassuming._typing import Array


class Whitening(ABC):
    """Coordinates v = H^{1/2}(a - â), up to one rotation, on the range of H.

    They come from an orthonormal basis Q of the range of the stacked design
    [W^{1/2}Φ/√n; √λ P^{1/2}], so that H is never formed, let alone inverted.

    Attributes
    ----------
    q : array of shape (n, k)
        The upper rows of Q. The smoother, from W^{1/2}y to W^{1/2}ŷ, is q qᵀ.
    """

    q: Array

    @property
    def sizes(self) -> Array:
        """Rounding errors of q are at most EPS times these numbers, shape (n, k)."""
        return np.abs(self.q)

    @property
    def defect(self) -> float:
        """Bound on the distance of the inner products of the columns of Q from the identity."""
        return float(4 * EPS * sum(self.q.shape))

    def turn(self, g: Array) -> Array:
        """Return functionals of the coefficients in these coordinates, (N, d) -> (N, k)."""
        return g @ self.back

    @property
    @abstractmethod
    def push(self) -> Array:
        """The penalty in these coordinates, H^{-1/2} λP, shape (k, d)."""

    @property
    @abstractmethod
    def back(self) -> Array:
        """From these coordinates to coefficients: a - â = back v, shape (d, k)."""

    def pull(self, w: Array) -> Array:
        """Return H^{-1/2} ΦᵀW/n, shape (k, n)."""
        return self.q.T * np.sqrt(w / len(w))

    def seen(self) -> Array:
        """Return an orthonormal basis (k, r) of the directions that change fitted values.

        The range of H can contain directions that Φ maps to zero but the penalty does not. They
        change no fitted value, and so no test depends on them.
        """
        _, s, vt = svd(self.q, full_matrices=False)
        keep = s > rank_cut(self.q.shape) * s[0]
        return np.eye(len(vt)) if keep.all() and len(vt) == self.q.shape[1] else vt[keep].T


@final
class FeatureWhitening(Whitening):
    """Whitening by a factor of the stacked design.

    ``plain`` is the factor without the penalty: its null vectors (d, f) change no fitted value.
    ``penalty`` (d,) is √λ times the root of the diagonal of P.
    """

    def __init__(self, factor: Factor, penalty: Array, plain: Factor) -> None:
        n = len(factor.columns) - len(penalty)
        self.factor, self.plain, self.q = factor, plain, factor.columns[:n]
        self._push = factor.columns[n:].T * penalty
        self._back = factor.basis

    @property
    def sizes(self) -> Array:
        """Rounding errors of q, in units of EPS."""
        return self.factor.sizes[: len(self.q)]

    @property
    def null(self) -> Array:
        """Vectors of coefficients that change no fitted value, (d, f)."""
        return self.plain.null

    @property
    def defect(self) -> float:
        """Bound on the distance from orthonormal columns; infinite if they are not determined."""
        hidden = self.null.shape[1] - self.factor.null.shape[1]
        return self.factor.error if self.plain.certain or not hidden else np.inf

    def turn(self, g: Array) -> Array:
        """Return functionals in these coordinates."""
        return self.factor.turn(g)

    @property
    def push(self) -> Array:
        """H^{-1/2} λP."""
        return self._push

    @property
    def back(self) -> Array:
        """From whitened coordinates to coefficients."""
        return self._back

    def seen(self) -> Array:
        """Return a basis of the directions that change fitted values."""
        k = self.q.shape[1]
        # Vectors that the stacked design maps to zero have no coordinates at all.
        hidden = self.null.shape[1] - self.factor.null.shape[1]
        if not hidden:
            return np.eye(k)
        low = self._low_coordinates(self.null)
        return np.asarray(svd(low)[0][:, hidden:])

    def _low_coordinates(self, v: Array) -> Array:
        """Return whitened coordinates of vectors (d, f) that only the penalty sees, (k, f)."""
        return self._push @ v


@final
class KernelWhitening(Whitening):
    """Q in terms of eigenvectors; only the map back to coefficients divides by eigenvalues of K.

    ``values`` (k,) and ``u`` (n, k) are Λ > 0 and U of W^{1/2} K W^{1/2}; ``root`` is W^{1/2}. With
    an intercept the stacked design has one more column, W^{1/2} 1 over zeros: the first coordinate.
    The matrices of a large kernel are large, so each is computed when it is first used.
    """

    def __init__(
        self, values: Array, u: Array, root: Array, lam: float, *, intercept: bool
    ) -> None:
        self.values, self.u, self.root, self.lam = values, u, root, lam
        self.intercept = intercept
        whole = values + len(u) * lam
        self._shares = np.sqrt(values / whole)
        self._low = np.sqrt(len(u) * lam / whole)  # the rows of the penalty, in the basis U
        self.q = u * self._shares
        if intercept:
            # Orthogonalise it twice, for rounding.
            one, low, along = root.copy(), np.zeros(len(values)), np.zeros(len(values))
            for _ in range(2):
                c = self.q.T @ one + self._low * low
                one, low, along = one - self.q @ c, low - self._low * c, along + c
            self._length = float(np.sqrt(one @ one + low @ low))
            self._one_low, self._along = low, along
            self.q = np.column_stack([one / self._length, self.q])

    @cached_property
    def push(self) -> Array:
        """H^{-1/2} λP."""
        # √λ P^{1/2} a in the basis U, where the weighted problem has coefficients W^{-1/2} a.
        scale = np.sqrt(self.values) * float(np.sqrt(self.lam))
        push = (self._low * scale)[:, None] * (self.u.T / self.root)
        if not self.intercept:
            return push
        first = (self._one_low / self._length * scale) @ self.u.T / self.root
        return np.column_stack([np.zeros(len(push) + 1), np.vstack([first, push])])

    @cached_property
    def back(self) -> Array:
        """From whitened coordinates to coefficients."""
        n = len(self.u)
        back = np.asarray(self.u / np.sqrt(self.values))
        back /= np.sqrt((self.values + n * self.lam) / n)
        back *= self.root[:, None]
        if not self.intercept:
            return back
        corner = np.full((1, 1), np.sqrt(n) / self._length)
        shift = -(back @ self._along)[:, None] / self._length
        return np.block([[corner, np.zeros((1, len(self.values)))], [shift, back]])

    def seen(self) -> Array:
        """Return a basis of the directions that change fitted values; all if no intercept."""
        return super().seen() if self.intercept else np.eye(len(self.values))
