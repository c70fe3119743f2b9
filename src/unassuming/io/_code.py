"""Descriptions of code: estimators and functions are not saved, but can be compared later."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np

from unassuming._tables import as_plain

_DEEPEST = 12
# These parameters change how something is computed, but not the result.
_WITHOUT_EFFECT = {"n_jobs", "verbose", "memory", "cache_size"}


def described(value: Any, depth: int = 0) -> dict[str, Any]:
    """Return classes, parameters and names of functions, at every depth, in JSON's types."""
    plain, possible = as_plain(value)
    if possible:
        return {"value": plain}
    if depth > _DEEPEST:
        return {"class": type(value).__name__}
    if isinstance(value, type):
        return {"function": value.__name__}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        items = enumerate(value)
        return {"items": {_label(j, item): described(item, depth + 1) for j, item in items}}
    if isinstance(value, dict):
        return {"items": {str(key): described(item, depth + 1) for key, item in value.items()}}
    name = type(value).__name__
    if isinstance(value, partial):
        name = "partial"
        inside = {"args": list(value.args), "keywords": value.keywords, "func": value.func}
    elif hasattr(value, "get_params"):
        inside = value.get_params(deep=False)
    elif hasattr(value, "__name__"):
        return {"function": value.__name__}
    else:
        state = getattr(value, "__dict__", {})
        inside = {key: entry for key, entry in state.items() if not key.startswith("_")}
    used = {key: inside[key] for key in sorted(inside) if key not in _WITHOUT_EFFECT}
    return {"class": name, "parameters": {k: described(v, depth + 1) for k, v in used.items()}}


def _label(j: int, item: Any) -> str:
    """Return the name of a step, (name, ...), or the position of any other item."""
    named = isinstance(item, (list, tuple)) and item and isinstance(item[0], str)
    return f"{j}:{item[0]}" if named else str(j)


def difference(saved: Any, found: Any, path: str = "") -> tuple[str, str, str] | None:
    """Return the first place where two descriptions differ, with both values; None if none does.

    Parameters that only one of them has belong to another version, and are ignored.
    """
    if json.dumps(saved, sort_keys=True) == json.dumps(found, sort_keys=True):  # NaN equals NaN
        return None
    here = (path, _shown(saved), _shown(found))
    for kind in ("parameters", "items"):
        if kind in saved and kind in found and saved.get("class") == found.get("class"):
            ours, theirs = saved[kind], found[kind]
            if kind == "items" and set(ours) != set(theirs):
                return here
            both = (name for name in ours if name in theirs)
            inner = (difference(ours[name], theirs[name], _below(path, name)) for name in both)
            return next((place for place in inner if place is not None), None)
    return here


def _below(path: str, name: str) -> str:
    """Return the path of a parameter of a step; positions within a step are omitted."""
    step = name.split(":")[-1]
    return path if path and step.isdigit() else f"{path}.{step}".lstrip(".")


def _shown(entry: dict[str, Any]) -> str:
    if "value" in entry:
        text = repr(entry["value"])
        return text if len(text) <= 60 else f"{text[:57]}..."
    if "items" in entry:
        return f"[{', '.join(name.split(':')[-1] for name in entry['items'])}]"
    return str(entry.get("class") or entry.get("function"))
