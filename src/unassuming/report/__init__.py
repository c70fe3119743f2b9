"""A report on a region: one HTML file that needs no network.

`collect` gathers what is said as values, `render` turns it into a page. `Region.report` and the
command line do both. The pictures are those of ``unassuming.plots``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from unassuming.plots.canvas import require_matplotlib
from unassuming.regions import Region, View, register_view
from unassuming.report.collect import Report, collect
from unassuming.report.page import render

__all__ = ["Report", "collect", "render"]


def write(region: Region, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the report on a region; `Region.report` describes the arguments."""
    require_matplotlib()
    page = render(collect(region, **options))
    out = Path(path)
    out.write_text(page, encoding="utf-8", newline="\n")
    return out


register_view(View.REPORT, write)
