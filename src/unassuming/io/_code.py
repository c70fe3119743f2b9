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
    if isinstance(value, partial):
        inside = {"args": list(value.args), "keywords": value.keywords, "func": value.func}
        return {"class": "partial", "parameters": _all_of(inside, depth)}
    if hasattr(value, "get_params"):
        inside = value.get_params(deep=False)
    elif hasattr(value, "__name__"):
        return {"function": value.__name__}
    else:
        state = getattr(value, "__dict__", {})
        inside = {name: entry for name, entry in state.items() if not name.startswith("_")}
    return {"class": type(value).__name__, "parameters": _all_of(inside, depth)}


def _label(j: int, item: Any) -> str:
    """Return the name of a step, (name, ...), or the position of any other item."""
    named = isinstance(item, (list, tuple)) and item and isinstance(item[0], str)
    return f"{j}:{item[0]}" if named else str(j)


def _all_of(inside: dict[str, Any], depth: int) -> dict[str, Any]:
    return {
        name: described(entry, depth + 1)
        for name, entry in sorted(inside.items())
        if name not in _WITHOUT_EFFECT
    }


def difference(saved: Any, found: Any, path: str = "") -> tuple[str, str, str] | None:
    """Return the first place where two descriptions differ, with both values; None if none does.

    Parameters that only one of them has belong to another version, and are ignored.
    """
    if _same(saved, found):
        return None
    here = (path, _shown(saved), _shown(found))
    for kind in ("parameters", "items"):
        if not (kind in saved and kind in found and saved.get("class") == found.get("class")):
            continue
        ours, theirs = saved[kind], found[kind]
        if kind == "items" and set(ours) != set(theirs):
            return here
        for name in ours:
            if name not in theirs:
                continue
            inner = difference(ours[name], theirs[name], _below(path, name))
            if inner is not None:
                return inner
        return None
    return here


def _below(path: str, name: str) -> str:
    """Return the path of a parameter of a step; positions within a step are omitted."""
    step = name.split(":")[-1]
    return path if path and step.isdigit() else f"{path}.{step}".lstrip(".")


def _same(saved: Any, found: Any) -> bool:
    """Whether two descriptions are equal; not-a-number is equal to itself."""
    return json.dumps(saved, sort_keys=True) == json.dumps(found, sort_keys=True)


def _shown(entry: dict[str, Any]) -> str:
    if "value" in entry:
        text = repr(entry["value"])
        return text if len(text) <= 60 else f"{text[:57]}..."
    if "items" in entry:
        return f"[{', '.join(name.split(':')[-1] for name in entry['items'])}]"
    return str(entry.get("class") or entry.get("function"))
