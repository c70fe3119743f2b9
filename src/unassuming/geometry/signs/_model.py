"""What lines and boxes need to know of a region of regression quantiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._typing import Array
from unassuming.objectives import FreshSigns, SignScore


@final
@dataclass(frozen=True, eq=False)
class SignModel:
    """Fitted values Φa, a score that depends on signs, and the statistics of fresh signs."""

    phi: Array  # (n, d): Φ
    y: Array  # (n,)
    fresh: FreshSigns
    residual_error: Callable[[Array, Array], Array]  # of coefficients (N, d), residuals (N, n)

    @property
    def score(self) -> SignScore:
        """The weighted gradient."""
        return self.fresh.score

    @property
    def m(self) -> int:
        """Number of statistics."""
        return len(self.fresh.tie_order)


def least_squares_below(z: Array, spread: Array, support: Array) -> Array:
    """Bound ‖z + x‖² from below over a set of x, (N, k) -> (N,).

    In every coordinate |x| is at most ``spread`` (N, k), and in the direction of z at most
    ``support`` (N,).
    """
    each = np.maximum(np.abs(z) - spread, 0.0)
    along = np.maximum(np.linalg.norm(z, axis=-1) - support, 0.0)
    return np.asarray(np.maximum((each**2).sum(axis=-1), along**2))
