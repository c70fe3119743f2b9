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
    random_state: Any = None,
    **region_options: Any,
) -> Region:
    """Choose hyper-parameters on one part of the rows and build the region on the other.

    The region never sees the noise that chose its hyper-parameters, so its guarantee holds as it
    stands. The split is drawn at random, without looking at y, and reported: see ``region.tuning``.

    Parameters
    ----------
    search : GridSearchCV, RandomizedSearchCV or another search of that kind
        Of an estimator that `unassuming.confidence_region` supports. It is copied, not changed.
    X, y : arrays or DataFrames
        The data.
    tune_size : float or int, default 0.5
        The part of the rows that the search gets: a share between 0 and 1, or a number of rows.
        Blocks of an assumption such as ``ua.noise.BlockSymmetric(blocks)`` stay together, since
        their rows depend on each other; the share is then one of blocks. An assumption of your own
        has to say that rows may be set aside: `noise.Noise.units`.
    fit_params : dict, optional
        What else ``search.fit`` takes, such as ``{"groups": groups}`` or
        ``{"ridge__sample_weight": weights}``; entries with one item for each row are cut to the
        rows of the search.
    random_state : int, Generator, RandomState or None
        Source of the split, of what is random in the search and has no seed, and of the region's
        transformations, all independent of each other.
    **region_options
        Passed to `unassuming.confidence_region`: noise, m, sample_weight, weighting, ties. Weights
        are cut to the rows of the region. The search is not weighted by them, except that it
        does not see rows of weight zero; `fit_params` can.

    Returns
    -------
    Region
        Of the rows that were not used for tuning, with ``region.tuning`` a `Tuning`.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV
    >>> X, y, coefficients = ua.datasets.linear(n=80, random_state=0)
    >>> search = GridSearchCV(Ridge(), {"alpha": [0.01, 1.0, 100.0]})
    >>> region = ua.tuned_region(search, X, y, random_state=0)
    >>> region.n
    40
    >>> print(region.tuning)
    alpha=1.0, chosen on 40 other rows
    >>> region.estimator
    Ridge()
    """
    check_search(search)
    seed = as_seed(random_state)
    split, drawn, own = np.random.SeedSequence([seed, 0]).spawn(3)
    model, noise, weight = check_before(search, X, y, region_options)
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
            f"metric, or with refit= the name of one, given {search!r}. Set refit to the metric "
            "that decides."
        )
    best = clone(search.estimator).set_params(**clone(tuner.best_params_, safe=False))
    given = region_options.pop("sample_weight", None) is not None
    region = confidence_region(
        best,
        *_safe_split(tuner, X, y, region_rows),
        **region_options
        | {
            "noise": noise,
            "sample_weight": weight[region_rows] if given else None,
            "random_state": int(own.generate_state(1)[0]),
        },
    )
    region.tuning = Tuning(
        tuning_rows=used,
        region_rows=region_rows,
        best_params=dict(tuner.best_params_),
        best_score=float(getattr(tuner, "best_score_", np.nan)),
        seed=seed,
        search=tuner,
    )
    return region


def _split(
    units: IntArray, tune_size: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return the rows of the two parts, each sorted; rows of one unit go to the same part."""
    total = int(units.max()) + 1
    count = _how_many(tune_size, total)
    if not 0 < count < total:
        raise ValueError(
            f"tune_size leaves one part empty: expected at least one of {total} "
            f"{'rows' if total == len(units) else 'blocks'} in each part, given {tune_size!r}. "
            "Pass a share such as 0.5."
        )
    chosen = np.zeros(total, dtype=np.bool_)
    chosen[rng.permutation(total)[:count]] = True
    return np.flatnonzero(chosen[units]), np.flatnonzero(~chosen[units])


def _how_many(tune_size: Any, units: int) -> int:
    if isinstance(tune_size, Integral) and not isinstance(tune_size, bool):
        return int(tune_size)
    if isinstance(tune_size, Real) and 0 < float(tune_size) < 1:
        return round(float(tune_size) * units)
    raise ValueError(
        "tune_size is out of range: expected a share strictly between 0 and 1, or a number of "
        f"rows, given {tune_size!r}. Pass e.g. tune_size=0.5."
    )
