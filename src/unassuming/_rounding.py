"""The unit of rounding, and scaling that rounds nothing."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array

EPS = float(np.finfo(np.float64).eps)
"""The distance from 1 to the next double."""


def rank_cut(shape: tuple[int, ...]) -> float:
    """Return the relative size below which a singular value is nothing but rounding."""
    return max(shape) * EPS


def powers_of_two(lengths: Array) -> Array:
    """Return powers of two near some lengths, one for those that are zero.

    Dividing by them rounds nothing.
    """
    return np.asarray(np.ldexp(1.0, np.frexp(lengths)[1]))
