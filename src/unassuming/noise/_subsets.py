"""The assumption on a part of the rows, if the class of the noise defines one."""

from __future__ import annotations

import numpy as np

from unassuming._typing import BoolArray, IntArray
from unassuming.noise._base import Noise


def restricted(noise: Noise, rows: BoolArray) -> Noise:
    """Return the assumption on these rows; refuse a class that does not define it."""
    _refuse_inherited(noise, "restrict", "rows are left out")
    return noise.restrict(rows)


def units_of(noise: Noise, n: int) -> IntArray:
    """Return the unit of each row, numbered from 0; refuse a class that does not define them."""
    _refuse_inherited(noise, "units", "rows are set aside")
    labels = np.unique(np.asarray(noise.units(n)), return_inverse=True)[1]
    if labels.shape != (n,):
        raise ValueError(
            f"noise has the wrong number of rows: expected one unit for each of the {n} rows, "
            f"given {labels.size} for {noise!r}. Pass noise that was made for all rows of y."
        )
    return labels.astype(np.intp)


def _refuse_inherited(noise: Noise, method: str, when: str) -> None:
    """Raise if the declarations were inherited but ``draw`` or ``apply`` overridden since."""
    order = type(noise).__mro__
    depth = {
        name: next(i for i, cls in enumerate(order) if name in vars(cls))
        for name in (method, "separable", "draw", "apply")
    }
    if min(depth[method], depth["separable"]) > min(depth["draw"], depth["apply"]):
        raise noise._not_separable(f"{method}(...)", when)
