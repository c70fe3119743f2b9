"""Hyper-parameters of estimators and weights of rows, checked."""

from __future__ import annotations

from numbers import Real
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
    try:
        given = np.asarray(getattr(estimator, name), dtype=np.float64)
    except (TypeError, ValueError):
        given = np.full((), np.nan)
    expected = "one finite number >= 0" if zero else f"one finite number > {above:g}"
    expected += "" if largest == np.inf else f" and <= {largest:g}"
    inside = given.size == 1 and (np.isfinite(given).all() or infinite) and given <= largest
    if not inside or not (given > above or (zero and given == 0)):
        raise out_of_range(estimator, name, expected + ", or infinity" * infinite)
    return float(given.reshape(()))


def out_of_range(estimator: Any, name: str, expected: str) -> ValueError:
    """Return the refusal of a hyper-parameter."""
    return ValueError(
        f"{type(estimator).__name__}'s {name} is out of range: expected {expected}, given "
        f"{getattr(estimator, name)!r}. Set the hyper-parameter before building the region."
    )


def row_weights(w: Weights, y: Array) -> Array:
    """Return the weight of each row, one by default."""
    return np.ones(len(y)) if w is None else w


def common_weight(w: Weights, name: str) -> float:
    """Return the weight that all rows have in common; raise if they differ."""
    if w is None:
        return 1.0
    if (w != w[0]).any():
        raise ValueError(
            f"sample_weight varies, which the region of {name} does not support: expected the same "
            "weight for every row (or zero, to drop a row), given weights from "
            f"{w.min():g} to {w.max():g}. Use Ridge, KernelRidge or ua.KernelHuber for a weighted "
            "model."
        )
    return float(w[0])


def refuse_class_weight(estimator: Any) -> None:
    """Refuse weights that depend on the labels."""
    if estimator.class_weight is not None:
        raise ValueError(
            "class_weight depends on the labels, which voids the guarantee: expected "
            f"class_weight=None, given {estimator.class_weight!r}. Weight rows by something other "
            "than y, with sample_weight."
        )


def check_kernel_parameters(estimator: Any, kernel: str, *, default_gamma: bool) -> None:
    """Refuse parameters with which a kernel cannot be computed."""
    gamma = estimator.gamma
    named = isinstance(gamma, str) and gamma in ("scale", "auto")
    limits = {} if (gamma is None if default_gamma else named) else {"gamma": 0.0}
    if kernel in ("poly", "polynomial"):
        limits["degree"] = 0.0
    if kernel in ("poly", "polynomial", "sigmoid"):
        limits["coef0"] = -np.inf
    for name, least in limits.items():
        given = getattr(estimator, name)
        given = given.item() if isinstance(given, np.ndarray) and given.ndim == 0 else given
        if not isinstance(given, Real) or not np.isfinite(float(given)) or given < least:
            more = f" >= {least:g}" if np.isfinite(least) else ""
            raise out_of_range(estimator, name, f"one finite number{more}, or the default")
