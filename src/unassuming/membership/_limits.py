"""What double precision cannot rank: numbers that are too large, or that rounding hides."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.ranking import Contrast


def representable(contrast: Contrast, a: Array) -> Contrast:
    """Return a contrast, or refuse coefficients whose statistics overflow."""
    if not contrast.representable():
        raise too_large(a)
    return contrast


def undecided(a: Array) -> ArithmeticError:
    """Return the refusal of a rank that rounding hides."""
    return ArithmeticError(
        "the rank of the candidate cannot be decided in double precision: expected coefficients "
        "whose terms do not cancel in the fitted values or in the penalty, given coefficients up "
        f"to {np.abs(a).max():.3g}. Pass the candidate as a function of X, or one closer to the "
        "estimate."
    )


def too_large(a: Array) -> ValueError:
    """Return the refusal of coefficients that overflow."""
    return ValueError(
        "the candidate is too large to be ranked in double precision: expected statistics below "
        f"1e300, given coefficients up to {np.abs(a).max():.3g}. Rescale the data or the candidate."
    )
