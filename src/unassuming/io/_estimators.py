"""Estimators as entries of a file."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from unassuming._tables import as_plain
from unassuming._words import shown
from unassuming.inputs import split_pipeline
from unassuming.io._code import described, difference
from unassuming.objectives import registered_classes


def describe_estimator(estimator: Any) -> dict[str, Any]:
    """Return a description to compare later, and the parameters if they determine the estimator."""
    _, model = split_pipeline(estimator)
    name = type(model).__name__
    whole = not isinstance(estimator, Pipeline) and _known_class(name) is type(model)
    parameters = {}
    for key, value in sorted(model.get_params(deep=False).items()):
        parameters[key], possible = as_plain(value)
        whole = whole and possible
    return {
        "class": name,
        "parameters": parameters if whole else None,
        "whole": whole,
        "described": described(estimator),
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
            f"estimator is needed to load {file}, since code is not saved: expected the same as "
            f"before, {saved['shown']}, given None. Pass {load}(path, estimator=...)."
        )
    found = describe_estimator(given)
    apart = difference(saved["described"], found["described"])
    if apart is not None:
        where, before, now = apart
        at = (f", with {where} = {before}", f", with {where} = {now}") if where else ("", "")
        raise other_estimator(saved["shown"] + at[0], found["shown"] + at[1], file)


def other_estimator(expected: str, given: str, file: str) -> ValueError:
    """Return the error for an estimator that differs from the one of the file."""
    return ValueError(
        f"estimator is not the one of {file}: expected {expected}, given {given}. Pass the same "
        "estimator as before."
    )
