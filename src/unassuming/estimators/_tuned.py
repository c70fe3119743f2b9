"""Tune on one part of the rows, build the region on the other."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from unassuming._typing import IntArray
from unassuming.estimators._planned import planned
from unassuming.estimators._tuning_checks import (
    check_before,
    check_parts,
    check_search,
    check_transformers,
)
from unassuming.inputs import as_seed, seed_unset
from unassuming.noise import restricted, units_of
from unassuming.regions import Region, Tuning, confidence_region


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
        The part of the rows for the search: a share between 0 and 1, or a number of rows. Blocks
        of an assumption such as ``ua.noise.BlockSymmetric(blocks)`` stay together, since their rows
        depend on each other, and the share is one of blocks. A user-defined assumption has to
        declare that rows may be set aside: `noise.Noise.units`.
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
        Passed to `unassuming.confidence_region`: noise, m, sample_weight, weighting, ties,
        classes. Weights are restricted to the rows of the region. They do not weight the search
        (use `fit_params` for that), but it does not get rows of weight zero.

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
    check_search(search)
    seed = as_seed(random_state)
    split, drawn, own = np.random.SeedSequence([seed, 0]).spawn(3)
    model, noise, weight, classes = check_before(search, X, y, region_options)
    n = len(weight)
    units = units_of(noise, n)
    tuning_rows, region_rows = _split(units, tune_size, np.random.default_rng(split))
    used = tuning_rows[weight[tuning_rows] != 0]
    kept = np.zeros(n, dtype=np.bool_)
    kept[region_rows] = True
    noise = restricted(noise, kept)
    check_parts(noise, weight[kept], len(used), region_options.get("m", 100))
    if model is not None:
        check_transformers(search, *_safe_split(search, X, y, used))

    tuner = clone(search)
    seed_unset(tuner, np.random.default_rng(drawn))
    tuner.fit(
        *_safe_split(tuner, X, y, used), **_check_method_params(X, fit_params or {}, indices=used)
    )
    if not hasattr(tuner, "best_params_"):
        raise ValueError(
            "search does not say which hyper-parameters are best: expected a search with one "
            f"metric, or with the name of one as refit, given {search!r}. Set refit to the metric "
            "that decides."
        )
    best = clone(search.estimator).set_params(**clone(tuner.best_params_, safe=False))
    chosen = dict(tuner.best_params_)
    weighted = region_options.get("sample_weight") is not None
    region_weight = weight[region_rows] if weighted else None
    if plan is not None:
        tuned, (inputs, _) = _safe_split(tuner, X, y, used), _safe_split(tuner, X, y, region_rows)
        made = planned(best, inputs, plan, noise, tuned, region_weight)
        best = made.estimator
        if made.setting.parameter is not None and made.alpha is not None:
            chosen[made.setting.parameter] = made.alpha
    options = {
        **region_options,
        "noise": noise,
        "sample_weight": region_weight,
        "classes": classes,  # of all rows: those of the region may show only one
        "random_state": int(own.generate_state(1)[0]),
    }
    region = confidence_region(best, *_safe_split(tuner, X, y, region_rows), **options)
    region.tuning = Tuning(
        tuning_rows=used,
        region_rows=region_rows,
        best_params=chosen,
        best_score=float(getattr(tuner, "best_score_", np.nan)),
        seed=seed,
        search=tuner,
    )
    return region


def _split(units: IntArray, tune_size: Any, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the rows of the two parts, each sorted; rows of one unit go to the same part."""
    total = int(units.max()) + 1
    if isinstance(tune_size, Integral) and not isinstance(tune_size, bool):
        count = int(tune_size)
    elif isinstance(tune_size, Real) and 0 < float(tune_size) < 1:
        count = round(float(tune_size) * total)
    else:
        raise ValueError(
            "tune_size is out of range: expected a share strictly between 0 and 1, or a number of "
            f"rows, given {tune_size!r}. Pass e.g. tune_size=0.5."
        )
    if not 0 < count < total:
        raise ValueError(
            f"tune_size leaves one part empty: expected at least one of {total} "
            f"{'rows' if total == len(units) else 'blocks'} in each part, given {tune_size!r}. "
            "Pass a share such as 0.5."
        )
    chosen = np.zeros(total, dtype=np.bool_)
    chosen[rng.permutation(total)[:count]] = True
    return np.flatnonzero(chosen[units]), np.flatnonzero(~chosen[units])
