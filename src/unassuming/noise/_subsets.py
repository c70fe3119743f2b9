"""A part of the rows: what is assumed of it, if the class of the noise says so."""

from __future__ import annotations

import numpy as np

from unassuming._typing import BoolArray, IntArray
from unassuming.noise._base import Noise


def restricted(noise: Noise, rows: BoolArray) -> Noise:
    """Return the assumption on these rows, if the class says that it can be restricted."""
    _refuse_inherited(noise, "restrict", "rows are left out")
    return noise.restrict(rows)


def units_of(noise: Noise, n: int) -> IntArray:
    """Return the units of rows that can be set aside, if the class says which."""
    _refuse_inherited(noise, "units", "rows are set aside")
    labels = np.unique(np.asarray(noise.units(n)), return_inverse=True)[1]
    if labels.shape != (n,):
        raise ValueError(
            f"noise names other rows: expected one unit for each of the {n} rows, given "
            f"{labels.size} for {noise!r}. Pass an array as long as y."
        )
    return labels.astype(np.intp)


def _refuse_inherited(noise: Noise, method: str, when: str) -> None:
    """Refuse a promise made by a class whose transformations are not those of the noise."""
    order = type(noise).__mro__
    depth = {
        name: next(i for i, cls in enumerate(order) if name in vars(cls))
        for name in (method, "separable", "draw", "apply")
    }
    if min(depth[method], depth["separable"]) > min(depth["draw"], depth["apply"]):
        raise noise._not_separable(f"{method}(...)", when)
