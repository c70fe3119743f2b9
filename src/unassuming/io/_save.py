"""Write a region to a file."""

from __future__ import annotations

import os
from typing import Any

from unassuming._archive import FORMAT, write
from unassuming._tables import Store, as_plain
from unassuming._version import __version__
from unassuming._words import shown
from unassuming.io._estimators import describe_estimator
from unassuming.io._noise import describe_noise
from unassuming.io._probes import fingerprint, ranked_candidates
from unassuming.regions import Region, Tuning


def save(region: Region, path: str | os.PathLike[str]) -> None:
    """Write a region to a file: data, parameters and the drawn transformations, but no code.

    The file appears as a whole or not at all; an existing file is replaced at the end. It takes the
    size of the data and of the transformations: about one bit for each sign, and n² numbers for
    each rotation.

    Parameters
    ----------
    region : Region
        A pipeline, a function as kernel, and user-defined classes of models or noise are code:
        they are not saved, and have to be passed to `load` again. The columns of a DataFrame are
        saved, its index is not.
    path : str or path
        Where to write. No suffix is added.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/linear.region"
    >>> ua.save(region, path)
    >>> ua.load(path).rank(coefficients) == region.rank(coefficients)
    True
    """
    if not isinstance(region, Region):
        raise TypeError(
            "region cannot be saved: expected a Region, as returned by ua.confidence_region, given "
            f"{type(region).__name__}. For a ConfidenceRegressor pass model.region_; a "
            "StreamingRegion has its own method save."
        )
    store = Store()
    header = _header(region, store)
    write(path, header, store.arrays)


def _header(region: Region, store: Store) -> dict[str, Any]:
    """Put the arrays of a region into the store; return everything else, for JSON."""
    data, drawn = region.problem.data("saving needs"), region.perturbations.drawn
    several = isinstance(drawn, tuple)
    weighting = region.weighting
    store.arrays["probe"], store.arrays["ranks"] = ranked_candidates(region)
    store.arrays["fingerprint"] = fingerprint(region)[0]
    store.arrays["y"] = data.y
    store.arrays["rows"] = data.rows
    if len(data.before):
        store.arrays["before"] = data.before
    if data.weight is not None:
        store.arrays["weight"] = data.weight
    store.arrays["tie_order"] = region.tie_order
    return {
        "format": FORMAT,
        "version": __version__,
        "estimator": describe_estimator(region.estimator),
        "noise": describe_noise(region.noise, store),
        "X": store.put_table("X", data.X),
        "classes": None if data.classes is None else store.put("classes", data.classes),
        "drawn": [
            store.put_transformations(f"drawn{i}", part)
            for i, part in enumerate(drawn if several else (drawn,))
        ],
        "several": several,
        "n": region.n,
        "m": region.m,
        "enumerated": region.enumerated,
        "weighting": weighting if isinstance(weighting, str) else store.put("psi", weighting),
        "ties": region.ties,
        "seed": region.seed,
        "tuning": None if region.tuning is None else _describe_tuning(region.tuning, store),
    }


def _describe_tuning(tuning: Tuning, store: Store) -> dict[str, Any]:
    store.arrays["tuning_rows"] = tuning.tuning_rows
    store.arrays["region_rows"] = tuning.region_rows
    best = {}
    for name, value in tuning.best_params.items():
        plain, possible = as_plain(value)
        best[name] = plain if possible else shown(value)
    return {"best_params": best, "best_score": tuning.best_score, "seed": tuning.seed}
