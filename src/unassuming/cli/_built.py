"""A region with the rows that a report shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from unassuming.cli._sources import Ranges
from unassuming.regions import Region

_GRID = 200


@dataclass(frozen=True, eq=False)
class Built:
    """A region and its rows.

    Attributes
    ----------
    X, y : DataFrame and array
        The rows to draw: all rows, or a sample of them if they were streamed.
    ranges : Ranges
        Of all rows.
    dropped : int
        Rows with missing values that were left out.
    remarks : list of str
        Sentences about how the rows were read.
    """

    region: Region
    X: pd.DataFrame
    y: Any
    ranges: Ranges
    dropped: int
    remarks: list[str] = field(default_factory=list)

    def grid(self) -> pd.DataFrame:
        """Return 200 equidistant values of the only feature."""
        (name,) = self.X.columns
        return pd.DataFrame({name: np.linspace(self.ranges.low[0], self.ranges.high[0], _GRID)})

    def inputs(self) -> pd.DataFrame:
        """Return the default inputs of the band: a grid for one feature, else the rows."""
        return self.grid() if self.X.shape[1] == 1 else self.X
