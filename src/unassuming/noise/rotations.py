"""Noise without a preferred direction: random rotations."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.noise.base import Noise, each_row, one_block


class Spherical(Noise):
    """Noise whose joint law is unchanged by rotations, such as iid Gaussian noise of any variance.

    The transformations are uniform (Haar) random orthogonal matrices; for even n, those of
    determinant one. Both sets are groups, so the regions are exact in either case. For even n those
    of determinant -1 always leave a direction fixed; without them full-rank regions are bounded
    (docs/theory.md 3). Each transformation is a matrix: (m - 1) n^2 numbers are stored.

    Examples
    --------
    >>> noise = ua.noise.Spherical()
    >>> turned = noise.apply(noise.draw(4, 3, np.random.default_rng(0)), np.ones(4), None)
    >>> np.linalg.norm(turned, axis=-1)
    array([2., 2., 2.])
    """

    assumption = (
        "the law of the noise vector is unchanged by rotations "
        "(iid Gaussian with unknown variance is enough)"
    )
    orthogonal = True
    separable = True
    spherical = True
    sign_units, swap_blocks = each_row, one_block

    def draw(self, n: int, size: int, rng: np.random.Generator) -> Array:
        """Draw orthogonal matrices, shape (size, n, n)."""
        q, r = np.linalg.qr(rng.standard_normal((size, n, n)))
        # Without the signs of diag(R) the matrices q are not uniformly distributed.
        q *= np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
        if n % 2 == 0:
            q[:, :, 0] *= np.linalg.slogdet(q)[0][:, None]
        return q

    def apply(self, drawn: Array, residuals: Array, fitted: Array | None) -> Array:
        """Rotate residuals (..., n); returns (..., size, n)."""
        size, n, _ = drawn.shape
        turned = residuals.reshape(-1, n) @ drawn.reshape(-1, n).T
        return turned.reshape(*residuals.shape[:-1], size, n)
