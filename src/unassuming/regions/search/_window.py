"""A window around the start of a search, for regions whose end is not known."""

from __future__ import annotations

from typing import final

import numpy as np

from unassuming._typing import Array
from unassuming.regions.search._hit_and_run import Members

_FAR = 10.0
"""How far fitted values may move, as a multiple of the range of the outputs.

Far out a weak penalty outweighs bounded residuals, and members can lie at 10^10 and beyond that
say nothing of the data."""


@final
class Window:
    """Members on lines whose fitted values are not far from those at the start.

    Parameters
    ----------
    members : Members
    start : array of shape (d,)
    phi : array of shape (n, d)
        From coefficients to fitted values.
    spread : float
        The range of the outputs.

    Attributes
    ----------
    size : float
        How far a fitted value may move.
    reached : bool
        Whether members were met at the edge of the window.
    """

    def __init__(self, members: Members, start: Array, phi: Array, spread: float) -> None:
        self._members, self._start, self._phi = members, start, phi
        self.size = _FAR * spread if spread > 0 else _FAR
        self.reached = False

    def __call__(self, origins: Array, directions: Array) -> list[Array]:
        """Return the intervals within the window; the origins lie inside."""
        out = []
        moved, steps = (origins - self._start) @ self._phi.T, directions @ self._phi.T
        for spans, x, d in zip(self._members(origins, directions), moved, steps, strict=True):
            x, d = x[d != 0], d[d != 0]
            edge = np.copysign(self.size, d)
            low = ((-edge - x) / d).max(initial=-np.inf)
            high = ((edge - x) / d).min(initial=np.inf)
            inside = spans[(spans[:, 0] <= high) & (spans[:, 1] >= low)]
            self.reached |= bool(((inside[:, 0] < low) | (inside[:, 1] > high)).any())
            out.append(inside.clip(low, high))
        return out
