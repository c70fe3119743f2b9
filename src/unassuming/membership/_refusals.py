"""Why a candidate has no rank, in one sentence."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array


def undecided(a: Array) -> ArithmeticError:
    """Return the refusal of a candidate whose terms cancel."""
    return ArithmeticError(
        "the rank of the candidate cannot be decided in double precision: expected coefficients "
        "whose terms do not cancel in the fitted values or in the penalty, given coefficients up "
        f"to {np.abs(a).max():.3g}. Pass the candidate as a function of X, or one closer to the "
        "estimate."
    )


def too_large(a: Array) -> ValueError:
    """Return the refusal of a candidate whose statistics overflow."""
    return ValueError(
        "the candidate is too large to be ranked in double precision: expected statistics below "
        f"1e300, given coefficients up to {np.abs(a).max():.3g}. Rescale the data or the candidate."
    )
