"""Estimators and noise as entries of a file: rebuilt from plain parameters, or only compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from unassuming._errors import complaint
from unassuming._words import shown
from unassuming.inputs import split_pipeline
from unassuming.io.tables import Store, as_plain
from unassuming.noise import NAMED, BlockSymmetric, ExchangeableWithin, InBasis, Noise, Quantile
from unassuming.objectives import registered_classes

# These parameters change how something is computed, but not the result.
_WITHOUT_EFFECT = {"n_jobs", "verbose", "memory", "cache_size"}
_PLAIN: dict[str, type[Noise]] = {cls.__name__: cls for cls in NAMED.values()}


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


def _check_same(saved: Mapping[str, str], found: Mapping[str, str], refused: Any) -> None:
    """Refuse the first parameter that differs; one that only one has is of another version."""
    differ = [key for key in saved if key in found and saved[key] != found[key]]
    if differ:
        raise refused(*(f"{differ[0]} = {part[differ[0]]:.60}" for part in (saved, found)))


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
        wrong, expected = f"is needed to load {file}, since code is not saved", saved["shown"]
        remedy = f"Pass {load}(path, estimator=...)."
        raise ValueError(complaint("estimator", wrong, expected, None, remedy))
    now = shown(given)

    def refused(before: str, after: str) -> ValueError:
        return other_estimator(f"{saved['shown']}, with {before}", f"{now}, with {after}", file)

    _check_same(saved["described"], _described(given), refused)


def other_estimator(expected: str, given: str, file: str) -> ValueError:
    """Return the error for an estimator that differs from the one of the file."""
    remedy = "Pass the same estimator as before."
    return ValueError(complaint("estimator", f"is not the one of {file}", expected, given, remedy))


# --- noise ------------------------------------------------------------------------------------


def describe_noise(noise: Noise, store: Store) -> dict[str, Any]:
    """Return a description to compare later, and the parameters of a class of the library."""
    name = type(noise).__name__
    entry = {"class": name, "known": True, "described": _described(noise)}
    if type(noise) is BlockSymmetric:
        return {**entry, "blocks": store.put("blocks", noise.blocks)}
    if type(noise) is ExchangeableWithin:
        return {**entry, "block_rows": noise.block_rows}
    if type(noise) is Quantile:
        return {**entry, "tau": noise.tau}
    if type(noise) is InBasis:
        inner = describe_noise(noise.inner, store)
        basis = store.put("basis", noise.basis)
        return {**entry, "known": inner["known"], "inner": inner, "basis": basis}
    return {**entry, "known": _PLAIN.get(name) is type(noise)}


def known_noise(saved: dict[str, Any], store: Store) -> Noise | None:
    """Return the assumption of a file; None if its class is defined by the user."""
    name = saved["class"]
    if not saved["known"]:
        return None
    if name == BlockSymmetric.__name__:
        return BlockSymmetric(store.get(saved["blocks"]))
    if name == ExchangeableWithin.__name__:
        return ExchangeableWithin(saved["block_rows"])
    if name == Quantile.__name__:
        return Quantile(saved["tau"])
    if name == InBasis.__name__:
        inner = known_noise(saved["inner"], store)
        return None if inner is None else InBasis(store.get(saved["basis"]), inner)
    return _PLAIN[name]()


def check_noise_class(saved: dict[str, Any], given: Any, file: str, load: str) -> None:
    """Refuse an assumption that is missing, or of another class than that of the file."""
    if not isinstance(given, Noise) or type(given).__name__ != saved["class"]:
        wrong, expected = "is needed to load", f"an instance of {saved['class']}"
        wrong = f"{wrong} {file}, since code is not saved"
        remedy = f"Pass {load}(path, noise=...)."
        raise ValueError(complaint("noise", wrong, expected, repr(given), remedy))


def check_noise(saved: dict[str, Any], given: Noise, file: str) -> None:
    """Refuse an assumption whose parameters differ from those of the file."""

    def refused(before: str, after: str) -> ValueError:
        remedy = "Pass the same assumption as before."
        return ValueError(complaint("noise", f"is not the one of {file}", before, after, remedy))

    _check_same(saved["described"], _described(given), refused)
