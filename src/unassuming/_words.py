"""Estimators, parameters and labels as a reader knows them."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import numpy as np


def with_plain_numbers(estimator: Any) -> Any:
    """Return a copy whose parameters are Python's numbers, as in a file, instead of NumPy's."""
    copy = deepcopy(estimator)
    parameters = copy.get_params() if hasattr(copy, "get_params") else {}
    scalars = {n: v for n, v in parameters.items() if isinstance(v, np.generic)}
    return copy.set_params(**{n: v.item() for n, v in scalars.items()}) if scalars else copy


def shown(estimator: Any) -> str:
    """Return an estimator in one line; functions by their names, without addresses in memory."""
    if isinstance(estimator, np.generic):  # or a parameter of one
        estimator = estimator.item()
    text = " ".join(repr(estimator).split())
    text = re.sub(r"<(?:function|built-in function) (\S+)(?: at 0x[0-9a-fA-F]+)?>", r"\1", text)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def spoken(label: Any) -> str:
    """Name a class as the user wrote it: text in quotes, numbers plainly."""
    plain = label.item() if isinstance(label, np.generic) else label
    return f"{plain:g}" if isinstance(plain, float) else repr(plain)
