"""Hyper-parameters of estimators and weights of rows, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._typing import Array

Weights = Array | None


def number(
    estimator: Any,
    name: str,
    *,
    above: float = 0.0,
    zero: bool = False,
    largest: float = np.inf,
    infinite: bool = False,
) -> float:
    """Return a hyper-parameter: one number above a limit, or zero if that is allowed."""
    expected = "one finite number >= 0" if zero else f"one finite number > {above:g}"
    expected += "" if largest == np.inf else f" and <= {largest:g}"
    given = numbers(getattr(estimator, name))
    inside = given.size == 1 and (np.isfinite(given).all() or infinite) and given <= largest
    if not inside or not (given > above or (zero and given == 0)):
        raise out_of_range(estimator, name, expected + ", or infinity" * infinite)
    return float(given.reshape(()))


def numbers(given: Any) -> Array:
    """Return numbers as an array, and anything else as NaN."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return np.full((), np.nan)


def out_of_range(estimator: Any, name: str, expected: str) -> ValueError:
    """Return the refusal of a hyper-parameter."""
    return ValueError(
        f"{type(estimator).__name__}'s {name} is out of range: expected {expected}, given "
        f"{getattr(estimator, name)!r}. Set the hyper-parameter before building the region."
    )


def common_weight(w: Weights, estimator: Any) -> float:
    """Return the weight that all rows have in common; refuse weights that differ."""
    if w is None:
        return 1.0
    if (w != w[0]).any():
        raise ValueError(
            f"sample_weight varies, which the region of {type(estimator).__name__} does not "
            "support: expected the same weight for every row (or zero, to drop a row), given "
            f"weights from {w.min():g} to {w.max():g}. Use Ridge, KernelRidge or ua.KernelHuber "
            "for a weighted model."
        )
    return float(w[0])


def check_kernel_parameters(estimator: Any, kernel: str, *, default_gamma: bool) -> None:
    """Refuse parameters with which a kernel cannot be computed."""
    gamma = estimator.gamma
    default = gamma is None if default_gamma else str(gamma) in ("scale", "auto")
    limits = {} if default else {"gamma": 0.0}
    if kernel in ("poly", "polynomial"):
        limits["degree"] = 0.0
    if kernel in ("poly", "polynomial", "sigmoid"):
        limits["coef0"] = -np.inf
    for name, least in limits.items():
        given = numbers(getattr(estimator, name))
        if given.ndim or not np.isfinite(given) or given < least:
            more = f" >= {least:g}" if np.isfinite(least) else ""
            raise out_of_range(estimator, name, f"one finite number{more}, or the default")
