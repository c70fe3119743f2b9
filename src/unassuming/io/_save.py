"""Write a region to a file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from unassuming._archive import write
from unassuming._tables import Store, as_plain
from unassuming._version import __version__
from unassuming._words import shown
from unassuming.inputs import split_pipeline
from unassuming.io._code import described
from unassuming.io._noise import describe_noise
from unassuming.io._probes import fingerprint, probe_candidates
from unassuming.objectives import registered_classes
from unassuming.regions import Region, Tuning

FORMAT = 2


def save(region: Region, path: str | os.PathLike[str]) -> None:
    """Write a region to a file: data, parameters and the drawn transformations, no code.

    The file appears whole or not at all; one that is there already is replaced at the end. Its
    size is that of the data and of the transformations, which take one bit or so for each sign, and
    n² numbers for each rotation.

    Parameters
    ----------
    region : Region
        Of a model in scikit-learn or in this library. A pipeline, a kernel that is a function, and
        a class or a noise assumption of your own are code: they are not saved, and have to be
        passed to `load` again. Of a DataFrame the columns are kept, the index is not.
    path : str or path
        Where to write. No suffix is added.

    Examples
    --------
    >>> import os, tempfile
    >>> import unassuming as ua
    >>> from sklearn.linear_model import Ridge
    >>> X, y, coefficients = ua.datasets.linear(n=40, random_state=0)
    >>> region = ua.confidence_region(Ridge(alpha=0.1), X, y, random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "ridge.region")
    >>> ua.save(region, path)
    >>> ua.load(path).rank(coefficients) == region.rank(coefficients)
    True
    """
    if not isinstance(region, Region):
        raise TypeError(
            "region cannot be saved: expected a Region, as ua.confidence_region returns it, given "
            f"{type(region).__name__}. For a ConfidenceRegressor pass model.region_; use a "
            "StreamingRegion's own save."
        )
    store = Store()
    header = _header(region, store)
    write(path, header, store.arrays)


def _header(region: Region, store: Store) -> dict[str, Any]:
    """Put the arrays of a region into the store; return the rest, as JSON."""
    data, drawn = region.problem.data("saving needs"), region.perturbations.drawn
    several = isinstance(drawn, tuple)
    weighting = region.weighting
    store.arrays["probe"] = probe = probe_candidates(region)
    store.arrays["ranks"] = np.asarray(region.rank(probe))
    store.arrays["fingerprint"] = fingerprint(region)[0]
    store.arrays["y"] = data.y
    store.arrays["rows"] = data.rows
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


def describe_estimator(estimator: Any) -> dict[str, Any]:
    """Return what there is to compare, and the parameters if they are all there is."""
    _, model = split_pipeline(estimator)
    whole = not isinstance(estimator, Pipeline) and known_class(type(model).__name__) is type(model)
    parameters = {}
    for name, value in sorted(model.get_params(deep=False).items()):
        parameters[name], possible = as_plain(value)
        whole = whole and possible
    return {
        "class": type(model).__name__,
        "parameters": parameters if whole else None,
        "whole": whole,
        "described": described(estimator),
        "shown": shown(estimator),
    }


def known_class(name: str) -> type | None:
    """Return a class of scikit-learn or of this library that has a region."""
    for cls in registered_classes():
        if cls.__name__ == name and cls.__module__.split(".")[0] in ("sklearn", "unassuming"):
            return cls
    return None


def _describe_tuning(tuning: Tuning, store: Store) -> dict[str, Any]:
    store.arrays["tuning_rows"] = tuning.tuning_rows
    store.arrays["region_rows"] = tuning.region_rows
    chosen = {name: as_plain(value) for name, value in tuning.best_params.items()}
    return {
        "best_params": {
            name: plain if possible else shown(tuning.best_params[name])
            for name, (plain, possible) in chosen.items()
        },
        "best_score": tuning.best_score,
        "seed": tuning.seed,
    }
