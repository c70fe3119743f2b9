"""What the library says when something is wrong: one exception and one sentence."""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = str(Path(__file__).parent)

__all__ = ["NotAvailable", "complaint"]


class NotAvailable(RuntimeError):
    """An operation that this objective, noise or level cannot offer.

    Nothing is wrong with the arguments: the mathematics behind the operation needs an assumption
    that does not hold here. The message says which assumption is missing and what to use instead.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> X, y, f = ua.datasets.sine(n=20, random_state=0)
    >>> region = ua.confidence_region(KernelRidge(kernel="rbf"), X, y, random_state=0)
    >>> region.sample(5, level=0.9)
    Traceback (most recent call last):
        ...
    unassuming._errors.NotAvailable: sampling needs a bounded region. ...
    """


def levels_to_user() -> int:
    """Return the ``stacklevel`` with which a warning names the line that called the library."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    return level


def complaint(name: str, wrong: str, expected: str, given: object, remedy: str) -> str:
    """Build the one error sentence used throughout: wrong, expected, given, what to do.

    Parameters
    ----------
    name : str
        The argument, by the name the user knows it by.
    wrong : str
        What is wrong with it, as the rest of a sentence that starts with `name`.
    expected : str
        What would have been accepted.
    given : object
        What was received, printed by ``str``. Pass ``repr(text)`` where quotes help the reader.
    remedy : str
        What to do now: a whole sentence, or several.

    Returns
    -------
    str
        The message for the exception; the caller chooses its class.

    Examples
    --------
    >>> print(complaint("n", "is not positive", "an integer >= 1", 0, "Ask for one point or more."))
    n is not positive: expected an integer >= 1, given 0. Ask for one point or more.
    """
    return f"{name} {wrong}: expected {expected}, given {given}. {remedy}"
