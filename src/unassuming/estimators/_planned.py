"""The penalty planned for the rows of a region, after a search on other rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_predict

from unassuming.noise import Noise
from unassuming.planning import Plan, plan

_NORMAL = 1.4826
"""The standard deviation of Gaussian noise over the median of its absolute values."""


def planned(
    estimator: Any,
    X: Any,
    options: Mapping[str, Any],
    noise: Noise,
    tuning: tuple[Any, Any],
    sample_weight: Any = None,
) -> Plan:
    """Return the plan for the inputs of a region.

    Parameters
    ----------
    estimator : scikit-learn estimator
        The best of a search.
    X : array or DataFrame
        The inputs of the region.
    options : dict
        Arguments of `unassuming.plan`.
    noise : Noise
    tuning : pair
        Inputs and outputs of the rows of the search. Without ``noise_scale`` their residuals give
        it, each predicted by a model of other rows.
    sample_weight : array, optional
        The weights of the rows of the region.
    """
    known = {"norm_bound", "noise_scale", "level", "alphas", "inputs"}
    if not isinstance(options, Mapping) or "norm_bound" not in options or set(options) - known:
        raise ValueError(
            "plan does not fit: expected a dictionary with norm_bound, and possibly noise_scale, "
            f"level, alphas and inputs, given {options!r}. Pass e.g. plan={{'norm_bound': 30}}."
        )
    if options.get("noise_scale") is None:
        options = {**options, "noise_scale": noise_scale(estimator, *tuning)}
    return plan(estimator, X, noise=noise, sample_weight=sample_weight, **options)


def noise_scale(estimator: Any, X: Any, y: Any) -> float:
    """Return a robust scale of the noise, from predictions of rows that were left out."""
    residuals = np.asarray(y, dtype=np.float64) - cross_val_predict(estimator, X, y)
    scale = _NORMAL * float(np.median(np.abs(residuals)))
    if not scale > 0:
        raise ValueError(
            "the noise has no scale: expected residuals on the rows of the search, given zeros. "
            "Pass noise_scale in plan."
        )
    return scale
