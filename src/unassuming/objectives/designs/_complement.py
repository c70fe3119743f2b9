"""I - S, the complement of the smoother, with what rounding may have done to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array


@final
@dataclass(frozen=True, eq=False)
class Complement:
    """D = I - S, in units of the square roots of the weights.

    Attributes
    ----------
    q : array of shape (n, k)
        S = qqᵀ.
    dense : array of shape (n, n), or None
        D itself, where it would be lost in I - qqᵀ: with a small penalty S is nearly I.
    size : float
        A bound of ‖D‖.
    relative : float
        κ: zᵀDz <= zᵀD*z <= (1 + κ) zᵀDz with the exact D*, but for errors below ``absolute``.
    error : float
        A bound of ‖D - D*‖ beyond that, plus twice the relative error of the columns of Φ.
    """

    q: Array
    dense: Array | None = None
    size: float = 1.0
    relative: float = 0.0
    error: float = 0.0

    @property
    def absolute(self) -> float:
        """A bound η of the errors of products with D, relative to those of the vectors.

        One half bounds rounding, the other an error of D of usual size. Of ``error`` three fifths
        are enough wherever η is used: it is taken at least five times for every three errors.
        """
        half = 4 * EPS * (sum(self.q.shape) + 4) * self.size
        return half + max(half, 0.6 * self.error)

    def __call__(self, z: Array) -> Array:
        """Return D z for vectors z (..., n)."""
        if self.dense is not None:
            return np.asarray(z @ self.dense)
        return np.asarray(z - (z @ self.q) @ self.q.T)

    @classmethod
    def of_kernel(
        cls, values: Array, u: Array, penalty: float, error: float, one: Array | None
    ) -> Complement:
        """Return nλ(K + nλ)⁻¹ from Λ and U of W^{1/2}KW^{1/2}, where ``penalty`` is nλ > 0.

        K is known to within ``error``. Replacing Λ by Λ + error can only lessen D. With an
        intercept, W^{1/2}1 is projected out.
        """
        share = penalty / (values + error + penalty)  # of the penalty: the eigenvalues of D
        if len(values) == len(u):
            dense, size = (u * share) @ u.T, float(share.max())
        else:  # what is outside U has eigenvalues of K below the error
            dense, size = np.eye(len(u)) - (u * (1 - share)) @ u.T, 1.0
        if one is not None:
            along = dense @ one
            dense = dense - np.outer(along, along / (one @ along))
        return cls(u * np.sqrt(1 - share), (dense + dense.T) / 2, size, 2 * error / penalty)
