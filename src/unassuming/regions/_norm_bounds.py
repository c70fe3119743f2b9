"""What a norm bound changes: the band for several bounds, and which of them the data refute."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any, final

import numpy as np

from unassuming._frames import as_frame
from unassuming._typing import Array, BoolArray
from unassuming.regions._results import Band


@final
@dataclass(frozen=True, eq=False)
class NormBounds:
    """The band at one level for several norm bounds, of `Region.norm_bounds_table`.

    Attributes
    ----------
    level : float
    norm_bound : array of shape (K,)
        The bounds, in increasing order.
    median_half_width, largest_half_width : arrays of shape (K,)
        Over the inputs; NaN if the region has no member of that norm.
    refuted : boolean array of shape (K,)
        Whether the bound is below `norm_lower_bound`.
    norm_lower_bound : float
        Every member of the region has at least this norm.
    bands : tuple of Band
        One for each norm bound.

    Examples
    --------
    >>> X, y, f = ua.datasets.sine(n=30, random_state=0)
    >>> kernel = ua.confidence_region(KernelRidge(kernel="rbf", gamma=0.5), X, y, random_state=0)
    >>> found = kernel.norm_bounds_table(X[:5], [1, 20, 40])
    >>> found.refuted.tolist(), bool((np.diff(found.median_half_width[1:]) > 0).all())
    ([True, False, False], True)
    """

    level: float
    norm_bound: Array
    median_half_width: Array
    largest_half_width: Array
    refuted: BoolArray
    norm_lower_bound: float
    bands: tuple[Band, ...]

    @classmethod
    def of(cls, bands: list[Band], norm_bounds: list[float], lowest: float) -> NormBounds:
        """Collect the widths of bands."""
        half = [(band.upper - band.lower) / 2 for band in bands]
        return cls(
            level=float(bands[0].level),
            norm_bound=np.array(norm_bounds),
            median_half_width=np.array([float(np.median(one)) for one in half]),
            largest_half_width=np.array([float(np.max(one)) for one in half]),
            refuted=np.array(norm_bounds) < lowest,
            norm_lower_bound=lowest,
            bands=tuple(bands),
        )

    def to_frame(self) -> Any:
        """Return a DataFrame indexed by the norm bound.

        Examples
        --------
        >>> X, y, f = ua.datasets.sine(n=20, random_state=0)
        >>> kernel = ua.confidence_region(KernelRidge(kernel="rbf"), X, y, random_state=0)
        >>> kernel.norm_bounds_table(X[:3], [20, 40]).to_frame().columns.tolist()
        ['median_half_width', 'largest_half_width', 'refuted']
        """
        columns = {
            "median_half_width": self.median_half_width,
            "largest_half_width": self.largest_half_width,
            "refuted": self.refuted,
        }
        frame = as_frame(columns, index=self.norm_bound)
        frame.index.name = "norm_bound"
        return frame

    def __str__(self) -> str:
        lines = [f"{'norm bound':>12}{'median half-width':>20}{'largest':>12}"]
        rows = zip(
            self.norm_bound,
            self.median_half_width,
            self.largest_half_width,
            self.refuted,
            strict=True,
        )
        for bound, median, largest, refuted in rows:
            note = "   refuted" if refuted else ""
            lines.append(f"{bound:>12.5g}{median:>20.4g}{largest:>12.4g}{note}")
        note = (
            f"At level {self.level:.12g} the data refute every norm bound below "
            f"{self.norm_lower_bound:.5g}. They cannot confirm one. Choose it before looking at "
            "the data, and report it with the band."
        )
        return "\n".join([*lines, fill(note, 100)])
