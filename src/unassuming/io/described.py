"""Estimators and noise as entries of a file: rebuilt from plain parameters, or only compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from unassuming._words import shown
from unassuming.inputs import split_pipeline
from unassuming.io.tables import Store, as_plain
from unassuming.noise import NAMED, BlockSymmetric, ExchangeableWithin, InBasis, Noise, Quantile
from unassuming.objectives import registered_classes

# These parameters change how something is computed, but not the result.
_WITHOUT_EFFECT = {"n_jobs", "verbose", "memory", "cache_size"}


def _described(thing: Any) -> dict[str, str]:
    """Return the class and the parameters at every depth as text; functions by their names."""
    if hasattr(thing, "get_params"):
        inside = thing.get_params()
    else:
        inside = {name: value for name, value in vars(thing).items() if name[0] != "_"}
    used = {k: v for k, v in inside.items() if k.split("__")[-1] not in _WITHOUT_EFFECT}
    return {"class": type(thing).__name__} | {k: _text(v) for k, v in sorted(used.items())}


def _text(value: Any) -> str:
    """Return a parameter as text; that of an estimator names its class, of steps their names."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list) and all(isinstance(step, tuple) and step for step in value):
        return f"[{', '.join(str(step[0]) for step in value)}]"
    if hasattr(value, "get_params"):
        return type(value).__name__
    return str(getattr(value, "__name__", None) or shown(value))


def _differing(saved: Mapping[str, str], found: Mapping[str, str]) -> tuple[str, ...]:
    """Return the first parameter that differs; one that only one has is of another version."""
    keys = [key for key in saved if key in found and saved[key] != found[key]]
    return tuple(f"{key} = {part[key]:.60}" for key in keys[:1] for part in (saved, found))


# --- estimators -------------------------------------------------------------------------------


def describe_estimator(estimator: Any) -> dict[str, Any]:
    """Return a description to compare later, and the parameters if they determine the estimator."""
    model = split_pipeline(estimator)[1]
    name, parameters = type(model).__name__, model.get_params(deep=False)
    plain = {key: as_plain(value) for key, value in sorted(parameters.items())}
    whole = not isinstance(estimator, Pipeline) and _known_class(name) is type(model)
    whole = whole and all(possible for _, possible in plain.values())
    return {
        "class": name,
        "parameters": {key: value for key, (value, _) in plain.items()} if whole else None,
        "whole": whole,
        "described": _described(estimator),
        "shown": shown(estimator),
    }


def known_estimator(saved: dict[str, Any]) -> Any:
    """Return the estimator of a file; None if it is code, which is not saved."""
    cls = _known_class(saved["class"]) if saved["whole"] else None
    return None if cls is None else cls(**saved["parameters"])


def _known_class(name: str) -> type | None:
    """Return a class of scikit-learn or of this library that has a region."""
    for cls in registered_classes():
        if cls.__name__ == name and cls.__module__.split(".")[0] in ("sklearn", "unassuming"):
            return cls
    return None


def check_estimator(saved: dict[str, Any], given: Any, file: str, load: str) -> None:
    """Refuse an estimator that is missing, or that differs from the one of the file."""
    if given is None:
        raise ValueError(
            f"estimator is needed to load {file}, since code is not saved: expected "
            f"{saved['shown']}, given None. Pass {load}(path, estimator=...)."
        )
    differ = _differing(saved["described"], _described(given))
    if differ:
        now = f"{shown(given)}, with {differ[1]}"
        raise other_estimator(f"{saved['shown']}, with {differ[0]}", now, file)


def other_estimator(expected: str, given: str, file: str) -> ValueError:
    """Return the error for an estimator that differs from the one of the file."""
    return ValueError(
        f"estimator is not the one of {file}: expected {expected}, given {given}. Pass the same "
        "estimator as before."
    )


# --- noise ------------------------------------------------------------------------------------

_PARAMETERS: dict[Any, str] = {ExchangeableWithin: "block_rows", Quantile: "tau"}


def describe_noise(noise: Noise, store: Store) -> dict[str, Any]:
    """Return a description to compare later, and the parameters of a class of the library."""
    kind: Any = type(noise)
    entry = {"class": kind.__name__, "known": True, "described": _described(noise)}
    if kind in _PARAMETERS:
        return {**entry, "value": getattr(noise, _PARAMETERS[kind])}
    if isinstance(noise, BlockSymmetric) and kind is BlockSymmetric:
        return {**entry, "blocks": store.put("blocks", noise.blocks)}
    if isinstance(noise, InBasis) and kind is InBasis:
        inner = describe_noise(noise.inner, store)
        basis = store.put("basis", noise.basis)
        return {**entry, "known": inner["known"], "inner": inner, "basis": basis}
    return {**entry, "known": kind in NAMED.values()}


def known_noise(saved: dict[str, Any], store: Store) -> Noise | None:
    """Return the assumption of a file; None if its class is defined by the user."""
    if not saved["known"]:
        return None
    if "inner" in saved:
        inner = known_noise(saved["inner"], store)
        return None if inner is None else InBasis(store.get(saved["basis"]), inner)
    if "blocks" in saved:
        return BlockSymmetric(store.get(saved["blocks"]))
    classes: tuple[Any, ...] = (*NAMED.values(), *_PARAMETERS)
    cls = next(known for known in classes if known.__name__ == saved["class"])
    found: Noise = cls(saved["value"]) if "value" in saved else cls()
    return found


def check_noise(saved: dict[str, Any], given: Any, file: str, load: str) -> None:
    """Refuse an assumption that is missing, or of another class or other parameters."""
    if not isinstance(given, Noise) or type(given).__name__ != saved["class"]:
        raise ValueError(
            f"noise is needed to load {file}, since code is not saved: expected an instance of "
            f"{saved['class']}, given {given!r}. Pass {load}(path, noise=...)."
        )
    differ = _differing(saved["described"], _described(given))
    if differ:
        raise ValueError(
            f"noise is not the one of {file}: expected {differ[0]}, given {differ[1]}. Pass the "
            "same assumption as before."
        )
