"""Ctrl-C that waits until the current chunk is finished."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(Exception):
    """Work was stopped on request; the message says how to continue."""


class Request:
    """Whether an interrupt was requested."""

    asked = False

    def take(self, number: int, frame: FrameType | None) -> None:
        """Record the first interrupt; stop at once on the second."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def interrupts() -> Iterator[Request]:
    """Record the first interrupt instead of stopping."""
    request = Request()
    if threading.current_thread() is not threading.main_thread():
        yield request  # signals reach the main thread only
        return
    before = signal.signal(signal.SIGINT, request.take)
    try:
        yield request
    finally:
        signal.signal(signal.SIGINT, before)
