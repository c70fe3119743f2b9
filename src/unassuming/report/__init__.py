"""A report on a region: one HTML file that needs no network.

`collect` gathers what is said as values, `render` turns it into a page. `Region.report` and the
command line do both.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unassuming.regions import Region, View, register_view
from unassuming.report._collect import collect
from unassuming.report._content import Report
from unassuming.report._nested import nested as nested
from unassuming.report._page import render
from unassuming.report._warnings import warnings_of as warnings_of

__all__ = ["Report", "collect", "render"]


def write(
    region: Region,
    path: str | os.PathLike[str],
    *,
    target: str = "y",
    title: str | None = None,
    levels: Sequence[float] | None = None,
    norm_bound: float | None = None,
    **more: Any,
) -> Path:
    """Write the report on a region; `Region.report` describes the arguments."""
    asked: dict[str, Any] = {"levels": levels, "norm_bound": norm_bound, **more}
    page = render(collect(region, target=target, title=title, **asked))
    out = Path(path)
    out.write_text(page, encoding="utf-8", newline="\n")
    return out


register_view(View.REPORT, write)
