"""Results as pandas tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def as_frame(table: Any, index: Any = None) -> Any:
    """Return a pandas DataFrame of named columns or of rows; raise if pandas is not installed."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "to_frame needs pandas: install it with  pip install pandas"
        ) from error
    return pd.DataFrame(table, index=index)


def apart(inputs: Mapping[Any, Any], taken: Iterable[Any]) -> dict[Any, Any]:
    """Return input columns renamed where a result has the same name: "input row" for "row"."""
    results, columns = set(taken), {}
    for name, column in inputs.items():
        free = name
        while free in results or (free != name and free in inputs):
            free = f"input {free}"
        columns[free] = column
    return columns
