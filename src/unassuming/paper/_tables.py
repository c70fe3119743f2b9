"""The table of a figure."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from unassuming.paper._coverage import Count
from unassuming.paper._errata import REVERSED
from unassuming.paper._figures import LEVELS, M
from unassuming.paper._reproduce import Panel, Reproduction
from unassuming.paper._sizes import COLUMNS as SIZE_COLUMNS
from unassuming.paper._sizes import size_rows

COLUMNS = (
    "panel",
    "method",
    "n",
    "noise",
    "m",
    "members",
    "truth",
    "level",
    "members_up_to_level",
    "bounded",
    "bounded_up_to",
    "unbounded_from",
    "covered",
    "repetitions",
    "coverage",
    "low",
    "high",
    "promise",
    "note",
)
"""Columns of the table; a cell is empty where the entry does not exist.

``bounded`` concerns the region of this level for the sample of the picture. ``coverage`` is the
share of ``repetitions`` fresh samples whose region contained the truth, and ``low`` to ``high`` its
exact 99 % interval.
"""


def rows(found: Reproduction) -> list[dict[str, Any]]:
    """Return the table of a figure, one row for each region and level."""
    every = [
        _region_row(panel, level, found.figure.notes) for panel in found.panels for level in LEVELS
    ]
    if found.process_coverage is not None:
        every += [row for level in LEVELS for row in _process_rows(found, level)]
    return every


def _region_row(panel: Panel, level: float, notes: tuple[str, ...]) -> dict[str, Any]:
    setting, members, ends = panel.setting, panel.members, panel.ends
    rank = panel.region.level(level).largest_rank
    row = {
        "panel": setting.panel,
        "method": setting.name,
        "n": setting.n,
        "noise": setting.law,
        "m": M,
        "truth": setting.truth,
        "level": level,
        **_counted(panel.coverage(level)),
        "promise": setting.promise,
        "note": " ".join(note for note in (setting.note, *notes, REVERSED) if note),
    }
    if members is not None:
        row |= {"members": members.total, "members_up_to_level": members.up_to(rank)}
    if ends is not None:
        row["bounded"] = ends.at(rank)
        if ends.bounded or ends.unbounded == 1:
            row["bounded_up_to"] = f"{ends.bounded / M:g}"
        if ends.unbounded < M:
            row["unbounded_from"] = f"{ends.unbounded / M:g}"
    return row


def _counted(count: Count) -> dict[str, Any]:
    low, high = count.interval
    return {
        "covered": count.covered,
        "repetitions": count.runs,
        "coverage": f"{count.rate:.6f}",
        "low": f"{low:.6f}",
        "high": f"{high:.6f}",
    }


def _process_rows(found: Reproduction, level: float) -> list[dict[str, Any]]:
    setting, measured = found.figure.settings[0], found.process_coverage
    assert measured is not None
    count = measured.everywhere(level)
    shared = {
        "panel": "3b",
        "n": setting.n,
        "noise": setting.law,
        "truth": setting.truth,
        "level": level,
        "bounded": "yes",
        "repetitions": count.runs,
    }
    everywhere = {
        "method": "Gaussian process, all inputs at once",
        **_counted(count),
        "promise": "none",
        "note": "Its band is pointwise: unlike the regions, it does not claim to cover all inputs "
        "at once.",
    }
    each = {
        "method": "Gaussian process, each input",
        "coverage": f"{measured.each(level):.6f}",
        "promise": "approximate",
        "note": "Would be exact if the kernel were known, the function drawn from it and the noise "
        "Gaussian; here the kernel is estimated.",
    }
    return [shared | everywhere, shared | each]


def write_table(found: Reproduction, path: Path) -> None:
    """Write the table as CSV, the same bytes for the same seed."""
    _write(path, COLUMNS, rows(found))


def write_sizes(found: Reproduction, path: Path) -> None:
    """Write the table of sizes as CSV."""
    _write(path, SIZE_COLUMNS, size_rows(found.sizes))


def _write(path: Path, columns: tuple[str, ...], table: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
