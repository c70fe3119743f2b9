"""Options of a region, checked by themselves: before the data are touched, or hours are spent."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, is_classifier

from unassuming.noise import Noise, as_noise
from unassuming.ranking import check_m, check_ties

_WEIGHTINGS = ("identity", "gram", "hessian")


def is_label_model(model: Any) -> bool:
    """Whether the model is a classifier."""
    return isinstance(model, BaseEstimator) and bool(is_classifier(model))


def check_options(
    model: Any,
    *,
    noise: str | Noise | None = None,
    m: int | str = 100,
    weighting: Any = None,
    ties: str = "random",
) -> Noise:
    """Raise what can be told of the options alone; return the assumption on the noise."""
    if not (isinstance(m, str) and m == "group"):
        check_m(m)
    check_ties(ties)
    if isinstance(weighting, str) and weighting not in _WEIGHTINGS:
        raise ValueError(
            f"weighting is unknown: expected {', '.join(map(repr, _WEIGHTINGS))} or a matrix, "
            f"given {weighting!r}. Leave it out for the default."
        )
    return as_noise(
        noise if noise is not None else ("labels" if is_label_model(model) else "symmetric")
    )
