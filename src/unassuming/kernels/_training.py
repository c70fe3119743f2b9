"""A kernel with its training inputs, from which a dual model predicts at new inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unassuming._typing import Array
from unassuming.kernels._inner_product import InnerProductKernel
from unassuming.kernels._slopes import SlopeOf

_CHUNK = 256


@dataclass(frozen=True, eq=False)
class TrainingKernel:
    """k(·, x_j) for the training inputs x_1, ..., x_n.

    Attributes
    ----------
    evaluate : callable
        ``evaluate(Z, X)`` returns the matrix of kernel values; ``evaluate(Z, None)`` that of Z with
        itself. A `functools.partial` of a function of this package, so that it can be pickled.
    X : array of shape (n, p)
        The training inputs; the kernel values if precomputed.
    precomputed : bool
        Whether rows of kernel values take the place of inputs.
    strict : bool
        Whether the kernel is known to be strictly positive definite. Then its matrix has full rank
        at distinct inputs, whatever its rank in floating point.
    polynomial : InnerProductKernel, optional
        The kernel as a polynomial in the inner product, with finitely many features; None if it is
        not known to be one.
    gaussian : float, optional
        gamma, if the kernel is exp(-gamma ‖x - z‖²).
    slope : callable, optional
        The derivatives of the kernel; None if they do not exist or are not known.

    Examples
    --------
    >>> from functools import partial
    >>> evaluate = partial(ua.kernels.gram, "linear")
    >>> inputs = np.array([[0.0], [1.0]])
    >>> kernel = TrainingKernel(evaluate, inputs, precomputed=False, strict=False)
    >>> kernel.rows(np.array([[2.0]]))
    array([[0., 2.]])
    >>> kernel.diagonal(np.array([[2.0]]))
    array([4.])
    """

    evaluate: Callable[[Array, Array | None], Array]
    X: Array
    precomputed: bool
    strict: bool
    polynomial: InnerProductKernel | None = None
    gaussian: float | None = None
    slope: SlopeOf | None = None

    def rows(self, Z: Array) -> Array:
        """Return k(z, x_j), shape (N, n)."""
        return Z if self.precomputed else self.evaluate(Z, self.X)

    def diagonal(self, Z: Array) -> Array | None:
        """Return k(z, z), shape (N,), or None if the kernel is precomputed."""
        if self.precomputed:
            return None
        parts = [Z[start : start + _CHUNK] for start in range(0, len(Z), _CHUNK)]
        return np.concatenate([np.diagonal(self.evaluate(part, None)) for part in parts])

    def squared_norms(self, Z: Array, C: Array) -> Array | None:
        """Return ‖Σ_j c_j k(z_j, ·)‖² for rows c of C (N, M); None if precomputed."""
        if self.precomputed:
            return None
        total = np.zeros(len(C))
        for start in range(0, len(Z), _CHUNK):
            part = slice(start, start + _CHUNK)
            total += np.einsum("nm,nm->n", C[:, part] @ self.evaluate(Z[part], Z), C)
        return np.maximum(total, 0.0)

    def slopes(self, Z: Array, along: Array) -> tuple[Array, Array] | None:
        """Return the derivatives of k(z, x_j) along directions (N, p), and their squared norms.

        The shapes are (N, n) and (N,). None if the derivatives are not known.
        """
        if self.precomputed or self.slope is None:
            return None
        rows = [self.slope(z, self.X, u)[1] for z, u in zip(Z, along, strict=True)]
        return np.stack(rows), self.slope(Z, Z, along)[3]
