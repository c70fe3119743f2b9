"""Why a level has no balanced cells: how many cells and rows it takes, and what there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from unassuming._errors import NotAvailable
from unassuming.cells import fewest_cells
from unassuming.regions._results import count


@final
@dataclass(frozen=True)
class Shortage:
    """What balanced cells take at a level, and what the data have.

    Attributes
    ----------
    level : float
    numbers : sequence of ints
        The numbers of cells that allow the level, in increasing order.
    each : int
        Rows that a cell needs to determine the numbers asked for.
    rows, units : int
        Rows, and rows or blocks of rows that stay together.
    chosen : int or None
        The number of cells that the user asked for.
    kept : int or None
        The number of cells of a stream.
    joint : bool
        Whether the joint region can answer instead.
    """

    level: float
    numbers: Sequence[int]
    each: int
    rows: int
    units: int
    chosen: int | None = None
    kept: int | None = None
    joint: bool = True

    def error(self) -> NotAvailable:
        """Return the refusal, for Python and for the command line."""
        why = f"balanced cells are too few for a level of {self.level:.12g}: {self._why()}."
        python = ["a lower level"]
        option = ["a lower --level"]
        if self.chosen is not None:
            python.append("the default number of cells (leave out cells)")
        if self.joint:
            python.insert(0, "method='joint'")
            option.insert(0, "--method joint")
        if min(self.units, self.rows // self.each) >= fewest_cells(self.level):
            python.append("bounds that hold one at a time (simultaneous=False)")
            option.append("bounds that hold one at a time (--pointwise)")
        return NotAvailable(f"{why} Use {_either(python)}.", f"{why} Use {_either(option)}.")

    def _why(self) -> str:
        if not self.numbers:
            return "no number of cells allows it, however many rows there are"
        fewest = self.numbers[0]
        K, asked = fewest, f"it needs {fewest} cells"
        if self.chosen is not None:
            K, asked = self.chosen, f"cells={self.chosen} asks for {self.chosen} cells"
        if fewest > K:
            return f"it needs at least {fewest} cells, given cells={K}"
        if self.kept is not None and self.kept < K:
            return f"{asked}, and the stream has {self.kept}"
        if self.units < K and self.units < self.rows:
            return f"{asked} of whole blocks of rows, and there are {self.units} blocks"
        if self.rows < K * self.each:
            return (
                f"{asked} of at least {count(self.each, 'row')} each, so at least "
                f"{K * self.each} rows, and there are {self.rows}"
            )
        return (
            f"{asked} that each determine what is asked for, and no such division of the "
            f"{self.rows} rows was found"
        )


def _either(ways: list[str]) -> str:
    *some, last = ways
    return f"{', '.join(some)}{',' if len(some) > 1 else ''} or {last}" if some else last
