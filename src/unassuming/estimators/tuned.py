"""Tune on one part of the rows, build the region on the other."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid, ParameterSampler, cross_val_predict
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from unassuming._typing import BoolArray, IntArray
from unassuming.inputs import (
    as_seed,
    check_data,
    check_options,
    is_label_model,
    is_series_model,
    refuse_classes,
    seed_unset,
    split_pipeline,
)
from unassuming.noise import restricted, units_of
from unassuming.planning import plan as planned
from unassuming.regions import Region, Tuning, confidence_region

_NORMAL = 1.4826
"""The standard deviation of Gaussian noise over the median of its absolute values."""


def tuned_region(
    search: Any,
    X: Any,
    y: Any,
    *,
    tune_size: float = 0.5,
    fit_params: Mapping[str, Any] | None = None,
    plan: Mapping[str, Any] | None = None,
    random_state: Any = 0,
    **region_options: Any,
) -> Region:
    """Choose hyper-parameters on one part of the rows and build the region on the other.

    The noise that chose the hyper-parameters does not enter the region, so its guarantee holds. The
    split is drawn at random without looking at y; ``region.tuning`` reports it.

    Parameters
    ----------
    search : GridSearchCV, RandomizedSearchCV or a similar search
        Over an estimator that `unassuming.confidence_region` supports. It is copied, not changed.
    X, y : arrays or DataFrames
        The data.
    tune_size : float or int, default 0.5
        The part of the rows for the search: a share between 0 and 1, or a number of rows; of blocks
        for an assumption such as ``ua.noise.BlockSymmetric(blocks)``, which stay together. A
        user-defined assumption has to declare that rows may be set aside: `noise.Noise.units`.
    fit_params : dict, optional
        Further arguments of ``search.fit``, such as ``{"groups": groups}`` or
        ``{"ridge__sample_weight": weights}``. Entries with one item for each row are restricted to
        the rows of the search.
    plan : dict, optional
        Arguments of `unassuming.plan`, such as ``{"norm_bound": 30}``. The penalty is then planned
        for the inputs of the region, after the search has chosen the rest. Without ``noise_scale``
        the rows of the search give it.
    random_state : int, Generator, RandomState or None, default 0
        Source of the split, of the unseeded random parts of the search, and of the region's
        transformations, all independent of each other.
    **region_options
        Passed to `unassuming.confidence_region`. Weights do not weight the search (use `fit_params`
        for that), but it does not get rows of weight zero.

    Returns
    -------
    Region
        The region of the rows that were not used for tuning; ``region.tuning`` is a `Tuning`.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> search = GridSearchCV(Ridge(), {"alpha": [0.01, 1.0, 100.0]})
    >>> region = ua.tuned_region(search, X, y, random_state=0)
    >>> print(region.estimator, region.n, region.tuning)
    Ridge() 25 alpha=1.0, chosen on 25 other rows

    The kernel width is tuned and the penalty planned:

    >>> X, y, f = ua.datasets.sine(n=80, random_state=0)
    >>> search = GridSearchCV(KernelRidge(kernel="rbf", alpha=0.1), {"gamma": [0.1, 0.5]})
    >>> given = {"norm_bound": 60, "alphas": [0.01, 1.0]}
    >>> print(ua.tuned_region(search, X, y, plan=given, random_state=0).tuning)
    gamma=0.1, alpha=0.01, chosen on 40 other rows
    """
    seed, first = as_seed(random_state), _first_candidate(search)
    model = split_pipeline(first)[1]
    if is_series_model(model):
        raise TypeError(
            "search has rows that depend on earlier ones: expected a model of "
            f"independent rows, given {model!r}. Choose its orders on an earlier part, and pass "
            "the rest to ua.confidence_region."
        )
    known = {"norm_bound", "noise_scale", "level", "alphas", "inputs"}
    if plan is not None and not (
        isinstance(plan, Mapping) and {"norm_bound"} <= set(plan) <= known
    ):
        raise ValueError(
            f"plan does not fit: expected norm_bound, and possibly others of {sorted(known)}, "
            f"given {plan!r}. Correct it."
        )
    given = {name: region_options[name] for name in ("noise", "m") if name in region_options}
    noise, classify = check_options(model, **given), is_label_model(model)
    if not classify:
        refuse_classes(region_options.get("classes"), model)
    weights, classes = (region_options.get(name) for name in ("sample_weight", "classes"))
    data = check_data(X, y, weights, classify=classify, classes=classes, noise=noise)
    weight = np.zeros(len(data.rows))
    weight[data.rows] = 1.0 if data.weight is None else data.weight
    split, drawn, own = np.random.SeedSequence([seed, 0]).spawn(3)
    units = units_of(noise, len(weight))
    kept = _kept(units, weight > 0, tune_size, np.random.default_rng(split))
    rows, used = np.flatnonzero(kept), np.flatnonzero(~kept & (weight > 0))
    options = {
        **region_options,
        "noise": restricted(noise, kept),
        "sample_weight": None if weights is None else weight[rows],
        "classes": data.classes,  # of all rows: those of the region may show only one
        "random_state": int(own.generate_state(1)[0]),
    }
    with warnings.catch_warnings():  # all mistakes are found now: the search may take hours
        warnings.simplefilter("ignore")
        confidence_region(first, *_safe_split(search, X, y, rows), **options)

    tuner = clone(search)
    seed_unset(tuner, np.random.default_rng(drawn))
    inputs, outputs = _safe_split(tuner, X, y, used)
    tuner.fit(inputs, outputs, **_check_method_params(X, fit_params or {}, indices=used))
    if not hasattr(tuner, "best_params_"):
        raise ValueError(
            "search does not say which hyper-parameters are best: expected a search with one "
            f"metric, given {search!r}. Set refit to the metric that decides."
        )
    best = clone(search.estimator).set_params(**clone(tuner.best_params_, safe=False))
    chosen = dict(tuner.best_params_)
    own_inputs, own_outputs = _safe_split(tuner, X, y, rows)
    if plan is not None:
        if plan.get("noise_scale") is None:
            plan = {**plan, "noise_scale": _noise_scale(best, inputs, outputs)}
        about = {"noise": options["noise"], "sample_weight": options["sample_weight"]}
        made = planned(best, own_inputs, **about, **plan)
        best = made.estimator
        if made.setting.parameter is not None and made.alpha is not None:
            chosen[made.setting.parameter] = made.alpha
    region = confidence_region(best, own_inputs, own_outputs, **options)
    score = float(getattr(tuner, "best_score_", np.nan))
    region.tuning = Tuning(used, rows, chosen, score, seed, search=tuner)
    return region


def _first_candidate(search: Any) -> Any:
    """Return the estimator with the first hyper-parameters that the search tries."""
    name = search.__name__ if isinstance(search, type) else type(search).__name__
    if not isinstance(search, BaseEstimator) or not name.endswith("SearchCV"):
        raise TypeError(
            "search is not a search over hyper-parameters: expected an instance of GridSearchCV, "
            f"given {name}. Wrap the model in GridSearchCV, or use ua.confidence_region."
        )
    grid = getattr(search, "param_grid", None)
    drawn = getattr(search, "param_distributions", None)
    first: dict[str, Any] = ParameterGrid(grid)[0] if grid else {}
    if drawn:
        first = next(iter(ParameterSampler(drawn, 1, random_state=0)))
    return clone(search.estimator).set_params(**clone(first, safe=False))


def _noise_scale(estimator: Any, X: Any, y: Any) -> float:
    """Return a robust scale of the noise, from predictions of rows that were left out."""
    residuals = np.asarray(y, dtype=np.float64) - cross_val_predict(estimator, X, y)
    scale = _NORMAL * float(np.median(np.abs(residuals)))
    if not scale > 0:
        raise ValueError(
            "the noise has no scale on the rows of the search: expected residuals other than zero, "
            "given zeros. Pass noise_scale in plan."
        )
    return scale


def _kept(units: IntArray, used: BoolArray, tune_size: Any, rng: np.random.Generator) -> BoolArray:
    """Return which rows the region keeps; rows of one unit go to the same part."""
    total, count = int(units.max()) + 1, 0
    if isinstance(tune_size, Integral) and not isinstance(tune_size, bool):
        count = int(tune_size)
    elif isinstance(tune_size, Real) and 0 < float(tune_size) < 1:
        count = round(float(tune_size) * total)
    chosen = np.zeros(total, dtype=np.bool_)
    chosen[rng.permutation(total)[: max(count, 0)]] = True
    tuned = chosen[units]
    if min((tuned & used).sum(), (~tuned & used).sum()) < 2:
        raise ValueError(
            "tune_size leaves one part too few rows: expected a share between 0 and 1, or a number "
            f"below {total}, and two rows in each part, given {tune_size!r}. Pass tune_size=0.5."
        )
    return np.asarray(~tuned)
