"""A line of progress for work that takes more than a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def progress(work: Iterable[tuple[slice, T]], total: int, what: str) -> Iterator[tuple[slice, T]]:
    """Yield the batches of ``work``, each with the slice it covers, and say how far they are."""
    started, shown = time.monotonic(), False
    for which, item in work:
        yield which, item
        if sys.stderr.isatty() and time.monotonic() - started > 1:
            shown = True
            _say(f"\r{which.stop} of {total} {what}")
    if shown:
        _say("\r\033[K")


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
