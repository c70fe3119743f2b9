"""A line of progress on a terminal, for work that takes more than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of items done and shows it beside the total."""
    started, shown = time.monotonic(), False

    def done(count: int) -> None:
        nonlocal shown
        if sys.stderr.isatty() and time.monotonic() - started > 1:
            shown = True
            _say(f"\r{count} of {total} {what}")

    try:
        yield done
    finally:
        if shown:
            _say("\r\033[K")


def progress(work: Iterable[tuple[slice, T]], total: int, what: str) -> Iterator[tuple[slice, T]]:
    """Yield the batches of ``work``, each with the slice it covers, and show how many are done."""
    with counting(total, what) as done:
        for which, item in work:
            yield which, item
            done(which.stop)


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
