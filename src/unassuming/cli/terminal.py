"""Tables on stdout; notes, errors and progress on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import typer

T = TypeVar("T")

_PAUSE = 0.1
"""Seconds between two lines of progress."""


class Interrupted(Exception):
    """Work was stopped on request; the message says how to continue."""


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: int) -> None:
    """Print a table; the columns from number ``right`` on are aligned to the right."""
    cells = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = [
            text.rjust(width) if j >= right else text.ljust(width)
            for j, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(padded).rstrip())


def say(kind: str, message: str) -> None:
    """Write one line on stderr."""
    typer.echo(f"{kind}: {' '.join(message.split())}", err=True)


@contextmanager
def progress(what: str) -> Iterator[Callable[[float, str], None]]:
    """Show what is being done, if stderr is a terminal.

    Yields a function that shows the share that is done, from 0 to 1, and a remark.
    """
    shown, terminal = 0.0, sys.stderr.isatty()

    def update(share: float, remark: str = "") -> None:
        nonlocal shown
        if terminal and time.monotonic() - shown > _PAUSE:
            shown = time.monotonic()
            sys.stderr.write(f"\r\x1b[K{what} {share:4.0%} {remark}")
            sys.stderr.flush()

    if terminal:
        sys.stderr.write(what)
        sys.stderr.flush()
    try:
        yield update
    finally:
        if terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def followed(work: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Yield the items and show their number."""
    with progress(what) as update:
        for done, one in enumerate(work):
            update(done / total, f"{done} of {total}")
            yield one
