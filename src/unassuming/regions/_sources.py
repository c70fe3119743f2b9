"""Data that this machine does not hold: who builds a region from them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from unassuming.regions._region import Region

Builder = Callable[..., Region]


def is_dask(values: Any) -> bool:
    """Whether this is a dask collection; dask is not imported."""
    return hasattr(values, "__dask_graph__")


def builder_for(*data: Any) -> Builder | None:
    """Return what builds a region from such inputs, outputs or weights, if they are special.

    The package that does so is imported here. If it registered itself, it would have to be imported
    before, and nothing else does that.
    """
    if not any(map(is_dask, data)):
        return None
    builder: Builder = import_module("unassuming.streaming").build_from_dask
    return builder
