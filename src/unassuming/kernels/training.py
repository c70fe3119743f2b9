"""A kernel with its training inputs, from which a dual model predicts; white noise split off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.gaussian_process.kernels import Exponentiation, Product, Sum, WhiteKernel

from unassuming._batches import slices
from unassuming._typing import Array
from unassuming.kernels.features import InnerProductKernel
from unassuming.kernels.slopes import SlopeOf

_CHUNK = 256


@final
@dataclass(frozen=True, eq=False)
class TrainingKernel:
    """k(·, x_j) for the training inputs x_1, ..., x_n.

    Attributes
    ----------
    evaluate : callable
        ``evaluate(Z, X)`` returns the matrix of kernel values; ``evaluate(Z, None)`` that of Z with
        itself.
    X : array of shape (n, p)
        The training inputs; the kernel values if precomputed.
    precomputed : bool
        Whether rows of kernel values take the place of inputs.
    strict : bool
        Whether the kernel is known to be strictly positive definite.
    polynomial : InnerProductKernel, optional
        The kernel as a polynomial in the inner product, if it is known to be one.
    slope : callable, optional
        The derivatives of the kernel, if they exist and are known.

    Examples
    --------
    >>> from functools import partial
    >>> evaluate = partial(ua.kernels.gram, "linear")
    >>> inputs = np.array([[0.0], [1.0]])
    >>> kernel = TrainingKernel(evaluate, inputs, precomputed=False, strict=False)
    >>> kernel.rows(np.array([[2.0]])), kernel.diagonal(np.array([[2.0]]))
    (array([[0., 2.]]), array([4.]))
    """

    evaluate: Callable[[Array, Array | None], Array]
    X: Array
    precomputed: bool
    strict: bool
    polynomial: InnerProductKernel | None = None
    slope: SlopeOf | None = None

    def rows(self, Z: Array) -> Array:
        """Return k(z, x_j), shape (N, n)."""
        return Z if self.precomputed else self.evaluate(Z, self.X)

    def diagonal(self, Z: Array) -> Array | None:
        """Return k(z, z), shape (N,), or None if the kernel is precomputed."""
        if self.precomputed:
            return None
        parts = [np.diagonal(self.evaluate(Z[some], None)) for some in slices(len(Z), _CHUNK)]
        return np.concatenate([np.zeros(0), *parts])

    def squared_norms(self, Z: Array, C: Array) -> Array | None:
        """Return ‖Σ_j c_j k(z_j, ·)‖² for rows c of C (N, M); None if precomputed."""
        if self.precomputed:
            return None
        total = np.zeros(len(C))
        for some in slices(len(Z), _CHUNK):
            total += ((C[:, some] @ self.evaluate(Z[some], Z)) * C).sum(axis=1)
        return np.maximum(total, 0.0)

    def slopes(self, Z: Array, along: Array) -> tuple[Array, Array] | None:
        """Return the derivatives of k(z, x_j) along directions (N, p), and their squared norms.

        The shapes are (N, n) and (N,). None if the derivatives are not known.
        """
        if self.precomputed or self.slope is None:
            return None
        rows = [self.slope(z, self.X, u)[1] for z, u in zip(Z, along, strict=True)]
        return np.stack(rows), self.slope(Z, Z, along)[3]


def without_white_noise(kernel: Any) -> Any:
    """Return the kernel of the function alone, or None if the kernel is noise alone.

    A `WhiteKernel` adds to the diagonal of ``kernel(X)`` and to nothing else: it describes noise.
    """
    kind = type(kernel)
    if kind is WhiteKernel:
        return None
    if kind is Exponentiation:
        base = without_white_noise(kernel.kernel)
        return base and Exponentiation(base, kernel.exponent)
    if kind not in (Sum, Product):
        return kernel
    one, two = without_white_noise(kernel.k1), without_white_noise(kernel.k2)
    if one is None or two is None:
        return (one or two) if kind is Sum else None
    return kind(one, two)


def white_noise(kernel: Any, X: Array) -> Array:
    """Return what the noise adds to the diagonal of the kernel matrix, without cancellation."""
    return _diagonals(kernel, X)[1]


def _diagonals(kernel: Any, X: Array) -> tuple[Array, Array]:
    """Return the diagonals of the function and of the noise."""
    kind = type(kernel)
    if kind is WhiteKernel:
        return np.zeros(len(X)), np.full(len(X), float(kernel.noise_level))
    if kind is Exponentiation:
        own, noise = _diagonals(kernel.kernel, X)
        power = own**kernel.exponent
        return power, np.where(noise > 0, (own + noise) ** kernel.exponent - power, 0.0)
    if kind not in (Sum, Product):
        return np.asarray(kernel.diag(X), dtype=np.float64), np.zeros(len(X))
    (one, noise1), (two, noise2) = _diagonals(kernel.k1, X), _diagonals(kernel.k2, X)
    if kind is Sum:
        return one + two, noise1 + noise2
    return one * two, one * noise2 + noise1 * two + noise1 * noise2
