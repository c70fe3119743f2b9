"""Estimators, parameters and labels as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

import numpy as np


def with_plain_numbers(estimator: Any) -> Any:
    """Return a copy in which Python's numbers replace NumPy's scalars, as in a file."""
    copy = deepcopy(estimator)
    parameters = copy.get_params() if hasattr(copy, "get_params") else {}
    scalars = {n: v for n, v in parameters.items() if isinstance(v, np.generic)}
    return copy.set_params(**{n: v.item() for n, v in scalars.items()}) if scalars else copy


def joined(words: Iterable[str]) -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> joined([]), joined(["a"]), joined("ab"), joined("abc")
    ('', 'a', 'a and b', 'a, b and c')
    """
    some = list(words)
    return " and ".join(filter(None, [", ".join(some[:-1]), *some[-1:]]))


def shown(estimator: Any) -> str:
    """Return an estimator, or a parameter, in one line; functions by name, without addresses."""
    if isinstance(estimator, np.generic):
        estimator = estimator.item()
    text = " ".join(repr(estimator).split())
    text = re.sub(r"<(?:function|built-in function) (\S+)(?: at 0x[0-9a-fA-F]+)?>", r"\1", text)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def spoken(label: Any) -> str:
    """Return a label as the user wrote it: text in quotes, numbers without."""
    plain = label.item() if isinstance(label, np.generic) else label
    return f"{plain:g}" if isinstance(plain, float) else repr(plain)
