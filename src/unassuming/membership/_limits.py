"""What double precision cannot rank: numbers that are too large, or that rounding hides."""

from __future__ import annotations

import numpy as np

from unassuming._rounding import length
from unassuming._typing import Array, BoolArray
from unassuming.noise import Perturbations
from unassuming.ranking import Contrast

HALF = 2.0**-26
"""Half of the digits of a double are left if the error is relatively as large as this."""


def blurred(y: Array, r: Array, error: Array) -> BoolArray:
    """Which candidates lose more than half of the digits of y and r, shape (N,).

    Their fitted values are sums whose terms cancel. Where the rounding of the data is that
    large, a tie within it does not show equal numbers, and such a candidate is taken
    literally. Only if all residuals vanish, and y has digits left, is it noise-free data.
    """
    most, largest = np.abs(y).max(), error.max(axis=-1, initial=0.0)
    scale = np.maximum(np.abs(r).max(axis=-1, initial=0.0), most)
    vanish = (np.abs(r) <= error).all(axis=-1) & (largest <= np.sqrt(HALF) * most)
    return np.asarray((largest > HALF * scale) & ~vanish)


def carried(perturbations: Perturbations, error: Array) -> Array:
    """Bound the errors of perturbed residuals, (N, n) -> (N, m - 1, n)."""
    if perturbations.noise.exact_arithmetic:
        return np.abs(perturbations.apply(error, error))
    return length(error)[:, None, None]


def drowned(r: Array, error: Array) -> BoolArray:
    """Which candidates have residuals no larger than errors of kernel values, shape (N,).

    Otherwise the computed values count as given: they are the numbers of the model.
    """
    largest = np.abs(r).max(axis=-1, initial=0.0)
    return np.asarray(error.max(axis=-1, initial=0.0) >= largest)


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
        "the statistics of the candidate are too large to be ranked in double precision: expected "
        f"numbers below 1e300, given coefficients up to {np.abs(a).max():.3g} and the data as they "
        "are. Rescale the data or the candidate."
    )


def faint_penalty(alpha: float, least: float, weight: float) -> ArithmeticError:
    """Return the refusal of a rank that rounding of a kernel matrix hides.

    ``least`` is a penalty that it does not hide, for weights up to ``weight``.
    """
    weights = "" if weight == 1 else f" with sample weights up to {weight:.3g}"
    return ArithmeticError(
        "the rank of the candidate cannot be decided in double precision: expected a penalty alpha "
        f"above {least:.1e}{weights}, which rounding of the kernel matrix does not hide, given "
        f"{alpha:.3g}. Use a larger alpha, or a smaller C of ua.LSSVC, where alpha = 1 / (2C)."
    )
