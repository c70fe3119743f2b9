"""The assumption on a part of the rows, if the class of the noise defines one."""

from __future__ import annotations

import numpy as np

from unassuming._typing import BoolArray, IntArray
from unassuming.noise._base import Noise
from unassuming.noise._signs import BlockSymmetric, Symmetric


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


def sign_units_of(noise: Noise, n: int) -> IntArray | None:
    """Return the unit of each row that may change its sign, from 0; None if none are declared."""
    return _declared(noise, "sign_units", n)


def sign_units_between(noise: Noise, first: int, count: int) -> IntArray | None:
    """Return the units of rows first, ..., first + count - 1 by row number alone, or None.

    None if the class does not declare them, or if they depend on the number of rows.
    """
    declared = getattr(type(noise), "sign_units", None)
    if _overridden(noise, "sign_units"):
        return None
    if declared is Symmetric.sign_units:
        return np.arange(first, first + count)
    if declared is BlockSymmetric.sign_units and isinstance(noise, BlockSymmetric):
        return noise.units(len(noise.blocks))[first : first + count]
    return None


def swap_blocks_of(noise: Noise, n: int) -> IntArray | None:
    """Return the block of each row within which rows may be swapped, from 0; None if undeclared."""
    return _declared(noise, "swap_blocks", n)


def is_spherical(noise: Noise) -> bool:
    """Whether rotations are declared to leave the law of the noise unchanged."""
    return noise.spherical and _depth(noise, "spherical") <= _depth(noise, "draw", "apply")


def _declared(noise: Noise, method: str, n: int) -> IntArray | None:
    """Return what a method declares for each row; None if ``draw`` was overridden since."""
    if _overridden(noise, method):
        return None
    numbers = getattr(noise, method)(n)
    if numbers is None:
        return None
    if np.shape(numbers) != (n,):
        raise ValueError(
            f"noise has the wrong number of rows: expected one number for each of the {n} rows, "
            f"given {np.size(numbers)} by {method} of {noise!r}. Pass noise that was made for all "
            "rows of y."
        )
    return np.unique(np.asarray(numbers), return_inverse=True)[1].astype(np.intp)


def _overridden(noise: Noise, method: str) -> bool:
    """Whether a declaration was inherited but the transformations overridden since."""
    return _depth(noise, method) > _depth(noise, "draw", "draw_rows", "apply")


def _refuse_inherited(noise: Noise, method: str, when: str) -> None:
    """Raise if the declarations were inherited but ``draw`` or ``apply`` overridden since."""
    if _depth(noise, method, "separable") > _depth(noise, "draw", "apply"):
        raise noise._not_separable(f"{method}(...)", when)


def _depth(noise: Noise, *names: str) -> int:
    """Return how far up the classes one of these names is defined; 0 for the class itself."""
    order = type(noise).__mro__
    return min(
        next((i for i, cls in enumerate(order) if name in vars(cls)), len(order)) for name in names
    )
