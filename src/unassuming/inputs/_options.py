"""Options, checked before anything is computed: those of a region, then those of its methods."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.linear_model import QuantileRegressor

from unassuming.inputs._seeds import as_seed
from unassuming.noise import Noise, Quantile, as_noise
from unassuming.ranking import check_m, check_ties

_WEIGHTINGS = ("identity", "gram", "hessian")

_LARGEST = 1e300
"""A larger norm bound times the number of cells is infinite."""


def is_label_model(model: Any) -> bool:
    """Whether the model is a classifier."""
    return isinstance(model, BaseEstimator) and bool(is_classifier(model))


def check_options(
    model: Any,
    *,
    noise: str | Noise | None = None,
    m: int | str = 128,
    weighting: Any = None,
    ties: str = "random",
) -> Noise:
    """Check the options that do not depend on the data; return the assumption on the noise."""
    if not (isinstance(m, str) and m == "all"):
        check_m(m)
    check_ties(ties)
    if isinstance(weighting, str) and weighting not in _WEIGHTINGS:
        raise ValueError(
            f"weighting is unknown: expected {', '.join(map(repr, _WEIGHTINGS))} or a matrix, "
            f"given {weighting!r}. Leave it out for the default."
        )
    quantiles = isinstance(model, QuantileRegressor)
    if noise is None:
        noise = "quantile" if quantiles else "labels" if is_label_model(model) else "symmetric"
    if quantiles and isinstance(noise, str) and noise == "quantile":
        return Quantile(model_quantile(model))
    return as_noise(noise)


def model_quantile(model: Any) -> float:
    """Return the quantile that a ``QuantileRegressor`` estimates."""
    tau = model.quantile
    number = isinstance(tau, Real) and not isinstance(tau, bool)
    if not number or not 0 < tau < 1:
        raise ValueError(
            f"{type(model).__name__}'s quantile is out of range: expected one number between 0 and "
            f"1, both excluded, given {tau!r}. Set the hyper-parameter before building the region."
        )
    return float(tau)


def check_norm_bound(norm_bound: Any) -> None:
    """Refuse anything but None and a positive number up to `_LARGEST`."""
    if norm_bound is None:
        return
    number = isinstance(norm_bound, Real) and not isinstance(norm_bound, bool)
    if not number or not np.isfinite(norm_bound) or norm_bound <= 0:
        raise ValueError(
            f"norm_bound is out of range: expected one finite number > 0, given {norm_bound!r}. "
            "Pass an upper bound on the norm that you are ready to assume."
        )
    _check_size("norm_bound", float(norm_bound))


def _check_size(name: str, value: float) -> None:
    """Refuse a number whose multiples are infinite in double precision."""
    if value > _LARGEST:
        raise ValueError(
            f"{name} is too large for double precision: expected at most {_LARGEST:g}, given "
            f"{value!r}. Pass a smaller number, or use other units."
        )


def check_norm_bounds(norm_bounds: Any) -> list[float]:
    """Return several norm bounds in their order; refuse anything but positive finite numbers."""
    try:
        found = np.asarray(norm_bounds, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim != 1 or not found.size or not (np.isfinite(found) & (found > 0)).all():
        given = repr(norm_bounds) if found.ndim == 1 else f"an array of shape {found.shape}"
        raise ValueError(
            "norm_bounds is not a list of bounds: expected one or more finite numbers > 0, given "
            f"{given}. Pass the inputs first, then the bounds, or leave these out for multiples "
            "of the norm of the estimate."
        )
    _check_size("norm_bounds", float(found.max()))
    return sorted(found.tolist())


def check_assumption(norm_bound: Any, model_error: Any, noise_scale: Any) -> None:
    """Refuse anything but None and finite numbers > 0; a model error may be 0."""
    check_norm_bound(norm_bound)
    for name, value, least, remedy in (
        ("model_error", model_error, 0.0, "Leave it out for the default."),
        ("noise_scale", noise_scale, None, "Pass a guess of the standard deviation of the noise."),
    ):
        if value is None:
            continue
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not np.isfinite(value) or value < 0 or (least is None and value == 0):
            range_ = "> 0" if least is None else ">= 0"
            raise ValueError(
                f"{name} is out of range: expected one finite number {range_}, given {value!r}. "
                f"{remedy}"
            )
        _check_size(name, float(value))
    if noise_scale is not None and norm_bound is None and model_error is None:
        raise ValueError(
            "noise_scale does not apply: expected norm_bound or model_error with it, given "
            f"noise_scale={noise_scale!r} alone. Leave it out."
        )


def check_inner(inner: object) -> None:
    """Refuse anything but True and False."""
    if not isinstance(inner, (bool, np.bool_)):
        raise ValueError(
            f"inner is not a boolean: expected True or False, given {inner!r}. Pass inner=True for "
            "bounds that members attain."
        )


def check_target(target: Any) -> None:
    """Refuse an unknown target of a band; None stands for the default."""
    if target not in (None, "representation", "function"):
        raise ValueError(
            f"target is unknown: expected 'representation' or 'function', given {target!r}. Leave "
            "it out for the default."
        )


def check_sampling(size: Any, thinning: Any, random_state: Any) -> None:
    """Refuse invalid arguments of ``sample``."""
    _check_count("size", size, "Pass e.g. size=1000.")
    if thinning is not None:
        _check_count("thinning", thinning, "Leave it out for the default.")
    if not isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        as_seed(random_state)  # a generator would advance


def _check_count(name: str, value: Any, remedy: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(
            f"{name} is not a count: expected an integer >= 1, given {value!r}. {remedy}"
        )
