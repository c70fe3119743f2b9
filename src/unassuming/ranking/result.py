"""The outcome of a rank test."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_UP, Context, Decimal

from unassuming._typing import Array


def pvalue_in_print(pvalue: float, smallest: float, digits: int = 6) -> str:
    """Return a p-value as it is printed; the smallest one that a test can give, as a bound."""
    if pvalue > smallest or pvalue == 1:
        return f"{pvalue:.{digits}g}"
    above = Context(2, ROUND_UP).create_decimal(Decimal(repr(float(pvalue))))
    return f"<= {float(above):.2g}"


@dataclass(frozen=True, eq=False)
class RankTest:
    """Test of the hypothesis that a candidate is the regression function at the inputs.

    Attributes
    ----------
    rank : int
        Position of Z_0 among the m statistics, from 1 (smallest) to m.
    m : int
        Number of statistics.
    pvalue : float
        (m - rank + 1) / m; never zero. Under the hypothesis it is uniform on 1/m, ..., 1.
    smallest_level : float
        rank / m: the candidate lies in the regions of this level and above; for rank m in none.
    statistics : array of shape (m,)
        Z_0, Z_1, ..., Z_{m-1}.
    caveat : str
        Restriction on how to read the p-value; empty if there is none.
    tested : str
        The hypothesis, if it is one about single coefficients; empty if it is a whole model.

    Examples
    --------
    >>> result = region.test(coefficients)
    >>> print(result)
    Rank 56 of 128, p-value 0.5703125: inside every region of level 0.4375 or more.
    >>> result.pvalue, result.smallest_level
    (0.5703125, 0.4375)
    """

    rank: int
    m: int
    statistics: Array = field(repr=False)
    caveat: str = ""
    tested: str = ""

    @property
    def pvalue(self) -> float:
        """1 - R + 1/m."""
        return (self.m - self.rank + 1) / self.m

    @property
    def smallest_level(self) -> float:
        """R = rank / m."""
        return self.rank / self.m

    def __repr__(self) -> str:
        said = {"tested": self.tested, "caveat": self.caveat}
        more = "".join(f", {name}={text!r}" for name, text in said.items() if text)
        return (
            f"RankTest(rank={self.rank}, m={self.m}, pvalue={self.pvalue:.12g}, "
            f"smallest_level={self.smallest_level:.12g}{more})"
        )

    def __str__(self) -> str:
        pvalue = pvalue_in_print(self.pvalue, 1 / self.m, 6 if self.tested else 12)
        start = f"Rank {self.rank} of {self.m}, p-value {pvalue}: "
        if self.tested:
            said = f"Hypothesis {self.tested}: p-value {pvalue} (rank {self.rank} of {self.m})."
        elif self.rank == self.m:
            said = f"{start}outside every region, up to level {1 - 1 / self.m:.12g}."
        else:
            said = f"{start}inside every region of level {self.smallest_level:.12g} or more."
        return f"{said} {self.caveat}" if self.caveat else said
