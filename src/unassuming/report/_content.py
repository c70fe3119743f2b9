"""What a report says, as values: collected first, drawn last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from unassuming._typing import Array, IntArray
from unassuming.regions import Diagnosis, LackOfFit, Summary


@final
@dataclass(frozen=True, eq=False)
class Column:
    """A column of the data at a glance.

    Attributes
    ----------
    name : str
    distinct : int
        Number of different values.
    quantiles : tuple of five floats, or None
        Smallest, quartiles and largest; None if the column does not hold numbers.
    counts : integer array or None
        Rows in equal intervals between the smallest and the largest number.
    common : tuple of str
        The most frequent values of a column without numbers.
    """

    name: str
    distinct: int
    quantiles: tuple[float, ...] | None
    counts: IntArray | None
    common: tuple[str, ...] = ()


@final
@dataclass(frozen=True, eq=False)
class BandAt:
    """The bounds of one level over one panel."""

    level: float
    lower: Array
    upper: Array


@final
@dataclass(frozen=True, eq=False)
class Panel:
    """The function over one column.

    Attributes
    ----------
    name : str
        The column along the horizontal axis.
    x, estimate : arrays of shape (N,)
    bands : tuple of BandAt
        From the highest level on; a level without any finite bound is left out.
    points_x, points_y : arrays
        The data, if the panel shows them.
    """

    name: str
    x: Array
    estimate: Array
    bands: tuple[BandAt, ...]
    points_x: Array
    points_y: Array


@final
@dataclass(frozen=True, eq=False)
class Bands:
    """The bands of a model.

    Attributes
    ----------
    panels : tuple of Panel
        Empty if no bound is finite.
    sentences : tuple of str
        What they cover and where they come from, or why there are none.
    vertical : pair of floats
        The vertical range of the pictures.
    """

    panels: tuple[Panel, ...]
    sentences: tuple[str, ...]
    vertical: tuple[float, float] = (0.0, 1.0)


@final
@dataclass(frozen=True, eq=False)
class Reproduction:
    """How to make the same report again."""

    code: str
    versions: tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True, eq=False)
class Report:
    """Everything a report says.

    Attributes
    ----------
    title, target, model : str
    classifier : bool
        Whether the outputs are labels.
    facts : tuple of pairs
        Rows, coefficients, noise, seed, as a heading and a value.
    warnings : tuple of str
        What a reader must not miss.
    columns : tuple of Column
        The target first.
    assumptions : tuple of str
    covers : str
        The guarantee under these assumptions.
    summary : Summary or None
    notes : tuple of str
        Sentences about the summary, or why there is none.
    bands : Bands
    diagnosis : Diagnosis or None
    lack_of_fit : LackOfFit or None
    unavailable : tuple of str
        Why a check could not be made.
    guaranteed, not_guaranteed : tuples of str
    reproduction : Reproduction

    Examples
    --------
    >>> report: ua.report.Report = ua.report.collect(region, title="Two columns")
    >>> report.title, report.warnings, [panel.name for panel in report.bands.panels]
    ('Two columns', (), ['x0', 'x1'])
    """

    title: str
    target: str
    model: str
    classifier: bool
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    columns: tuple[Column, ...]
    assumptions: tuple[str, ...]
    covers: str
    summary: Summary | None
    notes: tuple[str, ...]
    bands: Bands
    diagnosis: Diagnosis | None
    lack_of_fit: LackOfFit | None
    unavailable: tuple[str, ...]
    guaranteed: tuple[str, ...]
    not_guaranteed: tuple[str, ...]
    reproduction: Reproduction
