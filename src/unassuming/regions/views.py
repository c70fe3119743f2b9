"""Pictures and reports of results: packages above this one draw them, and register here how.

A result has a method for its picture, and must not import what draws it when it is imported itself.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Any


class View(Enum):
    """What can be made of a result elsewhere: the package that registers how."""

    DIAGNOSIS = "unassuming.plots"
    REPORT = "unassuming.report"


_MAKERS: dict[View, Callable[..., Any]] = {}


def register_view(view: View, make: Callable[..., Any]) -> None:
    """Let a view be made by this function."""
    _MAKERS[view] = make


def make_view(view: View, *args: Any, **options: Any) -> Any:
    """Make a view of a result."""
    import_module(view.value)
    return _MAKERS[view](*args, **options)
