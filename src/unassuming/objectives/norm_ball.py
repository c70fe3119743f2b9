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
    """The coordinates, and how coefficients and functionals are expressed in them.

    Attributes
    ----------
    R : array of shape (n, k)
    nu : array of shape (k,)
    back : array of shape (d, k)
        a = back x.
    forward : array of shape (k, d)
        x = forward a.
    complete : bool
        Whether no coordinate is left out.
    """

    R: Array
    nu: Array
    back: Array
    forward: Array
    complete: bool

    def norm(self, a: Array) -> float:
        """Return the norm of coefficients a (d,)."""
        return float(np.sqrt((self.nu * (self.forward @ a) ** 2).sum()))

    def functionals(
        self, g: Array, similarity: Array | None = None, *, function: bool = False
    ) -> tuple[Array, Array]:
        """Return t (N, k) and rest (N,) of functionals g (N, d) of the coefficients.

        ``similarity`` holds k(z, z) if they are values at inputs z; with ``function`` they are
        values of the function, else of its representation by the kernel at the inputs.
        """
        t = g @ self.back
        if similarity is None:
            if function or not self.complete:
                raise NotAvailable(
                    "a norm bound of a kernel limits values of the function at inputs z with a "
                    "known k(z, z): expected these, given coefficients, or a kernel that is given "
                    "by its matrix alone. Use band(X, norm_bound=B) with the kernel itself."
                )
            return t, np.zeros(len(g))
        rest = np.maximum(similarity - (t * t)[:, self.nu > 0].sum(axis=1), 0.0)
        return t, rest if function or not self.complete else np.zeros(len(g))
