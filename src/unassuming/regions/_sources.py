"""Data that this machine does not hold: who builds a region from them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from unassuming.regions._region import Region

Builder = Callable[..., Region]

_SOURCES = {"__dask_graph__": ("unassuming.streaming", "build_from_dask")}
"""What such data have as an attribute, and where the function is that builds a region.

It is imported when it is needed: a package that registers itself has to be imported before, and
nothing else does that.
"""


def builder_for(*data: Any) -> Builder | None:
    """Return what builds a region from such inputs, outputs or weights, if they are special."""
    for attribute, (package, name) in _SOURCES.items():
        if any(hasattr(part, attribute) for part in data):
            builder: Builder = getattr(import_module(package), name)
            return builder
    return None
