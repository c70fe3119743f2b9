"""Coordinates x in which the norm is a sum of squares: ‖f‖² = Σ ν x², f(x_j) = (Rx)_j (theory 4.4).

Of features x are the coefficients in units of their columns, and the intercept has ν = 0. Of a
kernel K = UΛUᵀ they are Λ^½Uᵀa, ν = 1. Functionals are tᵀx, plus a part beyond these coordinates of
at most √rest times the norm: what the span of the kernel at the inputs leaves of the function, and
eigenvalues that are lost in rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array


@final
@dataclass(frozen=True, eq=False)
class NormBall:
    """The coordinates, and how coefficients and functionals are expressed in them."""

    R: Array  # (n, k)
    nu: Array  # (k,)
    back: Array  # (d, k): a = back x
    forward: Array  # (k, d): x = forward a
    complete: bool  # no coordinate is left out

    def norm(self, a: Array) -> float:
        """Return the norm of coefficients a (d,)."""
        return float(np.sqrt((self.nu * (self.forward @ a) ** 2).sum()))

    def functionals(
        self, g: Array, similarity: Array | None = None, *, function: bool = False
    ) -> tuple[Array, Array]:
        """Return t (N, k) and rest (N,) of functionals g (N, d) of the coefficients."""
        # `similarity` is k(z, z) if they are values at inputs z; with `function` they are values of
        # the function, else of its representation by the kernel at the inputs.
        t, rest = g @ self.back, np.zeros(len(g))
        if self.complete and not function:
            return t, rest
        if similarity is None:
            raise NotAvailable(
                "a norm bound of a kernel limits values of the function at inputs z with a known "
                "k(z, z): expected these, given coefficients, or a kernel that is given by its "
                "matrix alone. Use band(X, norm_bound=B) with the kernel itself."
            )
        return t, np.maximum(similarity - (t * t)[:, self.nu > 0].sum(axis=1), 0.0)
