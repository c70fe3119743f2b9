"""Noise that satisfies an assumption in the coordinates of another basis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.noise.base import Noise
from unassuming.noise.perturbations import as_noise


class InBasis(Noise):
    """Noise e whose coordinates Qᵀe satisfy an assumption, for a known orthogonal matrix Q.

    For example correlated noise with independent symmetric coordinates in a cosine basis, or in the
    eigenvectors of a known covariance. The transformations are QGQᵀ with G of the inner assumption
    (docs/theory.md 16); weights are refused.

    Parameters
    ----------
    basis : array of shape (n, n)
        Q, orthonormal columns that do not depend on y, one row for each row that counts.
    inner : str or Noise, default "symmetric"
        What is assumed of Qᵀe; its transformations have to be orthogonal maps.

    Examples
    --------
    >>> from scipy.fft import dct
    >>> noise = ua.noise.InBasis(dct(np.eye(4), norm="ortho"), "symmetric")  # Qᵀe = dct(e)
    >>> noise
    InBasis(4 x 4 matrix, Symmetric())
    >>> flipped = noise.apply(noise.draw(4, 3, np.random.default_rng(0)), np.ones(4), None)
    >>> np.abs(flipped @ noise.basis).round(6)[0]  # only signs of coordinates change
    array([2., 0., 0., 0.])
    """

    orthogonal = True

    def __init__(self, basis: ArrayLike, inner: str | Noise = "symmetric") -> None:
        # Private, so that a description of the assumption does not list its entries.
        self._basis = _as_orthogonal(basis)
        self.inner = as_noise(inner)
        if not self.inner.orthogonal or self.inner.rotated() is not None:
            raise ValueError(
                "inner does not act by orthogonal maps on coordinates: expected 'symmetric', "
                "'exchangeable', 'symmetric-exchangeable', 'spherical' or an instance such as "
                f"ua.noise.BlockSymmetric(blocks), given {self.inner!r}. Choose one of these; "
                "multiply two matrices, and pass one basis."
            )
        self.assumption = (
            f"in the coordinates of the given basis, {self.inner.assumption}; the basis does not "
            "depend on the noise"
        )

    @property
    def basis(self) -> Array:
        """Q, shape (n, n)."""
        return self._basis

    def rotated(self) -> tuple[Array, Noise]:
        """Return Q and the inner assumption."""
        return self._basis, self.inner

    def draw(self, n: int, size: int, rng: np.random.Generator) -> Any:
        """Draw transformations of the coordinates."""
        self.check_length(n)
        return self.inner.draw(n, size, rng)

    def apply(self, drawn: Any, residuals: Array, fitted: Array | None) -> Array:
        """Transform the coordinates of residuals (..., n); returns (..., size, n)."""
        turned = self.inner.apply(drawn, residuals @ self._basis, None)
        return np.asarray(turned @ self._basis.T)

    def group(self, n: int, *, modulo_sign: bool) -> tuple[Any, int]:
        """Enumerate the transformations of the coordinates."""
        self.check_length(n)
        return self.inner.group(n, modulo_sign=modulo_sign)

    def check_length(self, n: int) -> None:
        """Raise unless Q is a basis of n-vectors."""
        if len(self._basis) != n:
            raise ValueError(
                f"basis has the wrong size: expected a matrix of shape ({n}, {n}), one row for "
                f"each row of the data, given shape {self._basis.shape}. Pass a basis of vectors "
                "as long as y."
            )

    def restrict(self, rows: BoolArray) -> Self:
        """Return itself if it is a basis of these rows; refuse to leave others out of it."""
        count = int(np.count_nonzero(rows))
        if len(self._basis) == count:
            return self
        raise NotAvailable(
            "rows cannot be left out of noise in another basis, since every coordinate depends on "
            f"all rows, given {self!r}. Pass a basis of the {count} rows that count: those of "
            "positive weight, after the initial values of a time series."
        )

    def __repr__(self) -> str:
        n = len(self._basis)
        return f"InBasis({n} x {n} matrix, {self.inner!r})"


def _as_orthogonal(basis: ArrayLike) -> Array:
    """Return Q in double precision, or raise unless its columns are orthonormal to rounding."""
    try:
        Q = np.array(basis, dtype=np.float64)
    except (TypeError, ValueError):
        Q = np.zeros(0)
    most = 16 * len(Q) * float(np.finfo(np.float64).eps) if Q.ndim else 0.0
    square = Q.ndim == 2 and Q.shape[0] == Q.shape[1] >= 2 and bool(np.isfinite(Q).all())
    off = float(np.abs(Q.T @ Q - np.eye(len(Q))).max()) if square else np.inf
    if off > most:
        raise ValueError(
            "basis is not an orthogonal matrix: expected shape (n, n) for n rows and orthonormal "
            f"columns up to {most:.2g}, given shape {Q.shape} and inner products that are off by "
            f"{off:.2g}. Pass np.linalg.qr(basis)[0] if that is what is meant."
        )
    Q.setflags(write=False)
    return Q
