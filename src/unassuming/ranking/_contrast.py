"""Two statistics compared through their difference, not as two large numbers (docs/theory.md 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unassuming._typing import Array


@dataclass(frozen=True, eq=False)
class Contrast:
    """Weighted gradients of N candidates: the unperturbed one, and how the others differ from it.

    With z_i = Ψ ḡ(a, G_i r) the statistics are Z_i = ‖z_i‖². The penalty is the same in all z_i,
    so far from the estimate Z_i - Z_0 can be 1e-12 of Z_0 and still decide the rank. The difference
    is therefore computed as ⟨d_i, d_i + 2 z_0⟩, with d_i = z_i - z_0 from (G_i - I) r alone.

    Attributes
    ----------
    reference : array of shape (N, k)
        z_0.
    difference : array of shape (N, m - 1, k)
        d_i = z_i - z_0.
    reference_error, difference_error : arrays that broadcast to the two above
        Bounds on their rounding errors.
    total, total_error : arrays that broadcast to ``difference``, or None
        z_i + z_0 and its error, where they are known better than d_i + 2 z_0.
    gap_error : array of shape (N, m - 1), or 0
        A bound on errors of Z_i - Z_0 that the other bounds leave out.
    gap_factors : two arrays of shape (N, m - 1), or None
        The same as a product, which may under- or overflow before it is normalised.

    Examples
    --------
    >>> zero = np.zeros((1, 1))
    >>> contrast = Contrast(np.array([[3.0]]), np.array([[[1.0], [-2.0]]]), zero, zero[None])
    >>> contrast.statistics()
    array([[ 9., 16.,  1.]])
    >>> contrast.gaps()[0]
    array([[ 7., -8.]])
    """

    reference: Array
    difference: Array
    reference_error: Array
    difference_error: Array
    total: Array | None = None
    total_error: Array | None = None
    gap_error: Array | float = 0.0
    gap_factors: tuple[Array, Array] | None = None

    @property
    def _largest(self) -> Array:
        """The largest entry of z_0, the differences and the totals, shape (N,)."""
        reference = np.abs(self.reference).max(axis=-1, initial=0.0)
        difference = np.abs(self.difference).max(axis=(-2, -1), initial=0.0)
        largest = np.maximum(reference, difference)
        if self.total is not None:
            largest = np.maximum(largest, np.abs(self.total).max(axis=(-2, -1), initial=0.0))
        return np.asarray(largest)

    def representable(self) -> bool:
        """Whether entries and errors are finite, and the entries can be squared."""
        bounds = (self.reference_error, self.difference_error, self.total_error)
        finite = all(part is None or bool(np.isfinite(part).all()) for part in bounds)
        return finite and bool((self._largest < 1e150).all())  # False for NaN

    def normalised(self) -> Contrast:
        """Divide each candidate by a power of two: no square underflows, and no rank changes."""
        # The power is limited to the numbers that a double can hold.
        shrink = np.ldexp(1.0, np.minimum(-np.frexp(self._largest)[1], 1000))
        row, table, factors = shrink[:, None], shrink[:, None, None], self.gap_factors
        return Contrast(
            self.reference * row,
            self.difference * table,
            self.reference_error * row,
            self.difference_error * table,
            None if self.total is None else self.total * table,
            None if self.total_error is None else self.total_error * table,
            self.gap_error * row * row,
            None if factors is None else (factors[0] * row, factors[1] * row),
        )

    def widened(self, factors: tuple[Array, Array]) -> Contrast:
        """Add errors of Z_i - Z_0 to the bounds of the gaps, as products of two (N, m - 1)."""
        return replace(self, gap_factors=factors)

    def statistics(self) -> Array:
        """Return Z_0, ..., Z_{m-1}, shape (N, m)."""
        z0 = self.reference[:, None, :]
        z = np.concatenate([z0, self.difference + z0], axis=1)
        return np.asarray(np.einsum("nik,nik->ni", z, z))

    def gaps(self) -> tuple[Array, Array]:
        """Return Z_i - Z_0 and a bound on its rounding error, each of shape (N, m - 1)."""
        d, e = self.difference, self.difference_error
        if self.total is None or self.total_error is None:
            s = d + 2 * self.reference[:, None, :]  # z_i + z_0
            s_error = e + 2 * self.reference_error[:, None, :]
        else:
            s, s_error = self.total, self.total_error
        gap = np.einsum("nik,nik->ni", d, s)
        tolerance = (np.abs(s) * e).sum(axis=-1) + (np.abs(d) * s_error).sum(axis=-1)
        tolerance = tolerance + self.gap_error
        if self.gap_factors is not None:
            one, two = self.gap_factors
            with np.errstate(over="ignore", invalid="ignore"):
                tolerance = tolerance + np.where((one > 0) & (two > 0), one * two, 0.0)
        return gap, tolerance
