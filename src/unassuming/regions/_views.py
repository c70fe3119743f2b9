"""Pictures and reports of results: packages above this one draw them, and register here how.

A result has a method for its picture, and must not import what draws it. `unassuming` imports all
packages, so that every view is registered before a region exists.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any


class View(Enum):
    """What can be made of a result elsewhere."""

    DIAGNOSIS = "the picture of a diagnosis"
    REPORT = "the report on a region"


_MAKERS: dict[View, Callable[..., Any]] = {}


def register_view(view: View, make: Callable[..., Any]) -> None:
    """Let a view be made by this function."""
    _MAKERS[view] = make


def make_view(view: View, *args: Any, **options: Any) -> Any:
    """Make a view of a result."""
    return _MAKERS[view](*args, **options)
