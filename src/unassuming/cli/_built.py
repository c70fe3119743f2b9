"""A region with what a report needs of its rows: all of them, or some."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from unassuming._typing import Array
from unassuming.regions import Region

_GRID = 200


@dataclass(frozen=True, eq=False)
class Built:
    """A region and its rows.

    Attributes
    ----------
    region : Region
    X, y : DataFrame and array
        The rows to draw: all of them, or a sample if they were streamed.
    low, high : arrays
        The range of each feature over all rows.
    dropped : int
        Rows with missing values that were left out.
    remarks : list of str
        What to say about how the rows were read.
    """

    region: Region
    X: pd.DataFrame
    y: Any
    low: Array
    high: Array
    dropped: int
    remarks: list[str] = field(default_factory=list)

    def grid(self) -> pd.DataFrame:
        """Return 200 equidistant values of the one feature."""
        (name,) = self.X.columns
        return pd.DataFrame({name: np.linspace(self.low[0], self.high[0], _GRID)})

    def inputs(self) -> pd.DataFrame:
        """Return where to ask for the band if nothing was said: a grid, or the rows."""
        return self.grid() if self.X.shape[1] == 1 else self.X
