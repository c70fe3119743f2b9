"""Outcomes with two values, for which the assumptions of a regression fail."""

from __future__ import annotations

import warnings

import numpy as np

from unassuming._errors import levels_to_user
from unassuming._typing import Array
from unassuming._words import spoken
from unassuming.noise import Noise, SignFlips, SymmetricExchangeable

_LABELS = 8
"""Rows from which an outcome with two values looks like labels."""

_TWO_VALUES = (
    "y has only two values, {} and {}: the residuals of such an outcome are not {}, so the "
    "coverage is not exact. Regions of labels are exact: use RidgeClassifier, LogisticRegression "
    "or ua.LSSVC (--model logistic or ls-svc on the command line)."
)


def warn_of_two_values(y: Array, n: int, noise: Noise) -> None:
    """Warn if the outcomes of n rows, in a regression, have two values: they are labels.

    With probability p of the larger value, a residual is 1 - p or -p. Given the inputs this is
    symmetric only where p = 1/2.
    """
    values = np.unique(y)
    if len(values) != 2 or n < _LABELS:
        return
    by_signs = isinstance(noise, (SignFlips, SymmetricExchangeable))
    assumed = "symmetric about zero" if by_signs else "distributed as assumed"
    warnings.warn(
        _TWO_VALUES.format(*map(spoken, values), assumed),
        UserWarning,
        stacklevel=levels_to_user(),
    )
