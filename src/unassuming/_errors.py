"""The exception of the library, the template of its messages, and where a warning points."""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = str(Path(__file__).parent)

__all__ = ["NotAvailable", "complaint"]


class NotAvailable(RuntimeError):
    """An operation that this objective, noise or level cannot offer.

    Nothing is wrong with the arguments: the mathematics behind the operation needs an assumption
    that does not hold here. The message names the missing assumption and an alternative.

    Parameters
    ----------
    message : str
        What is missing, and what to call instead.
    command_line : str, optional
        The same for a reader of the command line, if the message names Python options.

    Examples
    --------
    >>> region = ua.confidence_region(KernelRidge(kernel="rbf"), X, y, m=20, random_state=0)
    >>> region.sample(5, level=0.9)
    Traceback (most recent call last):
        ...
    unassuming._errors.NotAvailable: sampling needs a bounded region. ...
    """

    def __init__(self, message: str = "", command_line: str | None = None) -> None:
        super().__init__(message)
        self.command_line = message if command_line is None else command_line


def levels_to_user() -> int:
    """Return the ``stacklevel`` with which a warning points to the line that called the library."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    return level


def complaint(name: str, wrong: str, expected: str, given: object, remedy: str) -> str:
    """Return the message about an argument, built from its parts.

    Examples
    --------
    >>> complaint("n", "is not positive", "an integer >= 1", 0, "Ask for one point or more.")
    'n is not positive: expected an integer >= 1, given 0. Ask for one point or more.'
    """
    return f"{name} {wrong}: expected {expected}, given {given}. {remedy}"
