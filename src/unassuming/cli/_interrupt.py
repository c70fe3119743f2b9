"""Ctrl-C that waits until what is at hand is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(Exception):
    """Work was stopped on request; the message says how to go on."""


class Request:
    """Whether an interrupt was asked for."""

    asked = False

    def take(self, number: int, frame: FrameType | None) -> None:
        """Remember the first time; the second time stop at once."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def interrupts() -> Iterator[Request]:
    """Collect the first interrupt instead of being stopped by it."""
    request = Request()
    if threading.current_thread() is not threading.main_thread():
        yield request  # signals come to the main thread only
        return
    before = signal.signal(signal.SIGINT, request.take)
    try:
        yield request
    finally:
        signal.signal(signal.SIGINT, before)
