"""Two statistics compared through their difference, not as two large numbers (docs/theory.md 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unassuming._typing import Array


@dataclass(frozen=True, eq=False)
class Contrast:
    """Weighted gradients of N candidates: the unperturbed one, and how the others differ from it.

    With z_i = Ψ ḡ(a, G_i r) the statistics are Z_i = ‖z_i‖². The penalty is common to all z_i,
    so far away Z_i - Z_0 can be 1e-12 of Z_0 and still decide the rank. It is therefore formed
    as ⟨d_i, d_i + 2 z_0⟩ with d_i = z_i - z_0 coming from (G_i - I) r alone.

    Attributes
    ----------
    reference : array of shape (N, k)
        z_0.
    difference : array of shape (N, m - 1, k)
        d_i = z_i - z_0.
    reference_error, difference_error : arrays that broadcast to the two above
        Bounds on their rounding errors.
    """

    reference: Array
    difference: Array
    reference_error: Array
    difference_error: Array

    def is_finite(self) -> bool:
        """Whether nothing has overflowed, the errors included."""
        parts = (self.reference, self.difference, self.reference_error, self.difference_error)
        return all(bool(np.isfinite(part).all()) for part in parts)

    def statistics(self) -> Array:
        """Return Z_0, ..., Z_{m-1}, shape (N, m)."""
        z0 = self.reference[:, None, :]
        z = np.concatenate([z0, self.difference + z0], axis=1)
        return np.asarray(np.einsum("nik,nik->ni", z, z))

    def gaps(self) -> tuple[Array, Array]:
        """Return Z_i - Z_0 and a bound on its rounding error, each of shape (N, m - 1).

        Both in units of a power of four for each candidate: only their ratio and sign matter.
        """
        # One power of two for each candidate keeps the squares from over- and underflowing.
        largest = np.maximum(
            np.abs(self.reference).max(axis=-1, initial=0.0),
            np.abs(self.difference).max(axis=(-2, -1), initial=0.0),
        )
        shrink = np.ldexp(1.0, -np.frexp(largest)[1])[:, None, None]
        d, e = self.difference * shrink, self.difference_error * shrink
        z0, e0 = self.reference[:, None, :] * shrink, self.reference_error[:, None, :] * shrink
        s = d + 2 * z0  # z_i + z_0
        gap = np.einsum("nik,nik->ni", d, s)
        tolerance = (np.abs(s) * e).sum(axis=-1) + (np.abs(d) * (e + 2 * e0)).sum(axis=-1)
        return gap, tolerance
