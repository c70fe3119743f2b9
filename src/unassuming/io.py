"""Save a region to one file of arrays and integers, and load it again.

The file is a zip archive in NumPy's format, with a header in JSON. It holds the data, the drawn
transformations themselves and the tie order, so that a loaded region has the same ranks whatever
generator of random numbers is in use by then. Nothing in it is code: loading runs none.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from unassuming._archive import read, unreadable, write
from unassuming._errors import NotAvailable, complaint
from unassuming._tables import Store, as_plain
from unassuming._typing import Array
from unassuming._version import __version__
from unassuming.noise import NAMED, BlockSymmetric, Noise, Perturbations
from unassuming.objectives import registered_classes
from unassuming.regions import Region, Tuning, build_region
from unassuming.regions._pipeline import split_pipeline

__all__ = ["load", "save"]

FORMAT = 1
_PROBES = 16
_NOISES: dict[str, type[Noise]] = {cls.__name__: cls for cls in NAMED.values()}


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
            complaint(
                "region",
                "cannot be saved",
                "a Region, as ua.confidence_region returns it",
                type(region).__name__,
                "For a ConfidenceRegressor pass model.region_.",
            )
        )
    store = Store()
    header = _header(region, store)
    write(path, header, store.arrays)


def load(path: str | os.PathLike[str], estimator: Any = None, noise: Noise | None = None) -> Region:
    """Read a region that `save` has written; it has the same ranks as before.

    Parameters
    ----------
    path : str or path
        The file.
    estimator : scikit-learn estimator, optional
        Needed if the region is that of a pipeline, a kernel that is a function or a class of your
        own. It must be the same as before: its features and its ranks are checked.
    noise : Noise, optional
        Needed if the assumption is of a class of your own.

    Returns
    -------
    Region

    Examples
    --------
    >>> import os, tempfile
    >>> import unassuming as ua
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import SplineTransformer
    >>> X, y, f = ua.datasets.sine(n=40, random_state=0)
    >>> model = make_pipeline(SplineTransformer(6), Ridge(0.1))
    >>> path = os.path.join(tempfile.mkdtemp(), "spline.region")
    >>> ua.save(ua.confidence_region(model, X, y, random_state=0), path)
    >>> ua.load(path, estimator=model).n
    40
    """
    header, arrays = read(path)
    try:
        if header["format"] != FORMAT:
            written = f"format {header['format']} of version {header['version']}"
            raise unreadable(path, f"it has {written}, and this version reads format {FORMAT}")
        parts = _parts(header, Store(arrays), estimator, noise)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise unreadable(path, f"what it lists is incomplete, {error}") from error
    region = build_region(**parts)
    _check(region, header, arrays, path)
    return region


# --- what is written ------------------------------------------------------------------------------


def _header(region: Region, store: Store) -> dict[str, Any]:
    """Put the arrays of a region into the store; return the rest, as JSON."""
    data, drawn = region._data, region.perturbations.drawn
    several = isinstance(drawn, tuple)
    weighting = region.weighting
    store.arrays["probe"] = probe = _probe(region)
    store.arrays["ranks"] = np.asarray(region.rank(probe))
    store.arrays["fingerprint"] = _fingerprint(region)
    store.arrays["y"] = data.y
    store.arrays["rows"] = data.rows
    if data.weight is not None:
        store.arrays["weight"] = data.weight
    store.arrays["tie_order"] = region.tie_order
    return {
        "format": FORMAT,
        "version": __version__,
        "estimator": _describe_estimator(region.estimator),
        "noise": _describe_noise(region.noise, store),
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


def _describe_estimator(estimator: Any) -> dict[str, Any]:
    """Return the class and the plain parameters of a model, and whether that is all there is."""
    _, model = split_pipeline(estimator)
    whole = not isinstance(estimator, Pipeline) and _known(type(model).__name__) is type(model)
    parameters = {}
    for name, value in sorted(model.get_params(deep=False).items()):
        plain, possible = as_plain(value)
        whole = whole and possible
        if possible:
            parameters[name] = plain
    return {
        "class": type(model).__name__,
        "parameters": parameters,
        "whole": whole,
        "shown": " ".join(repr(estimator).split()),
    }


def _known(name: str) -> type | None:
    """Return a class of scikit-learn or of this library that has a region."""
    for cls in registered_classes():
        if cls.__name__ == name and cls.__module__.split(".")[0] in ("sklearn", "unassuming"):
            return cls
    return None


def _describe_noise(noise: Noise, store: Store) -> dict[str, Any]:
    name, known = type(noise).__name__, False
    blocks = None
    if type(noise) is BlockSymmetric:
        known, blocks = True, store.put("blocks", noise.blocks)
    elif _NOISES.get(name) is type(noise):
        known = True
    return {"class": name, "known": known, "blocks": blocks}


def _describe_tuning(tuning: Tuning, store: Store) -> dict[str, Any]:
    store.arrays["tuning_rows"] = tuning.tuning_rows
    store.arrays["region_rows"] = tuning.region_rows
    chosen = {name: as_plain(value) for name, value in tuning.best_params.items()}
    return {
        "best_params": {
            name: plain if possible else repr(tuning.best_params[name])
            for name, (plain, possible) in chosen.items()
        },
        "best_score": tuning.best_score,
        "seed": tuning.seed,
    }


def _probe(region: Region) -> Array:
    """Return candidates near and far, whose ranks must be found again."""
    try:
        centre = np.array(region.estimate)
    except (NotAvailable, ValueError):  # no minimum is known
        centre = np.zeros(region.objective.d)
    rng = np.random.default_rng(0)
    size = max(float(np.abs(centre).max()), 1e-3)
    steps = rng.standard_normal((_PROBES, len(centre))) * size
    return np.vstack([centre, centre + np.geomspace(0.01, 10.0, _PROBES)[:, None] * steps])


def _fingerprint(region: Region) -> Array:
    """Return fitted values of fixed coefficients: they tell one design from another."""
    d = region.objective.d
    coefficients = np.random.default_rng(1).uniform(0.5, 1.5, size=(2, d)) / d
    return np.asarray(region.objective.fitted(coefficients))


# --- what is read ---------------------------------------------------------------------------------


def _parts(header: dict[str, Any], store: Store, estimator: Any, noise: Any) -> dict[str, Any]:
    """Return the arguments that build the region again."""
    for name in ("probe", "ranks", "fingerprint"):  # for the check afterwards
        store.arrays[name]
    rows = store.arrays["rows"]
    y = np.zeros(len(rows))
    y[rows] = store.arrays["y"]
    outputs: Any = y
    if header["classes"] is not None:
        outputs = np.asarray(store.get(header["classes"]))[(y > 0).astype(np.intp)]
    weight = None
    if "weight" in store.arrays:
        weight = np.zeros(len(rows))
        weight[rows] = store.arrays["weight"]
    drawn = tuple(store.get_transformations(entry) for entry in header["drawn"])
    assumption = _noise(header["noise"], store, noise)
    if noise is not None and not rows.all():
        assumption = assumption.restrict(rows)
    perturbations = Perturbations(
        assumption, drawn if header["several"] else drawn[0], int(header["n"]), int(header["m"])
    )
    tie_order = store.arrays["tie_order"].astype(np.intp)
    tie_order.setflags(write=False)
    weighting = header["weighting"]
    return {
        "estimator": _estimator(header["estimator"], estimator),
        "X": store.get_table(header["X"]),
        "y": outputs,
        "noise": assumption,
        "m": "group" if header["enumerated"] else int(header["m"]),
        "sample_weight": weight,
        "weighting": weighting if isinstance(weighting, str) else store.get(weighting),
        "ties": header["ties"],
        "seed": int(header["seed"]),
        "drawn": (perturbations, tie_order),
    }


def _estimator(saved: dict[str, Any], given: Any) -> Any:
    if given is None:
        cls = _known(saved["class"]) if saved["whole"] else None
        if cls is None:
            raise ValueError(
                complaint(
                    "estimator",
                    "is needed to load this region, since code is not saved",
                    f"the same as before, {saved['shown']}",
                    "None",
                    "Pass ua.load(path, estimator=...).",
                )
            )
        return cls(**saved["parameters"])
    found = _describe_estimator(given)
    differing = [
        name
        for name, value in saved["parameters"].items()
        if name in found["parameters"] and found["parameters"][name] != value
    ]
    if found["class"] != saved["class"] or differing:
        raise _other_estimator(saved["shown"], found["shown"])
    return given


def _other_estimator(saved: str, given: str) -> ValueError:
    return ValueError(
        complaint(
            "estimator",
            "is not the one of the saved region",
            saved,
            given,
            "Pass the same estimator as before.",
        )
    )


def _noise(saved: dict[str, Any], store: Store, given: Noise | None) -> Noise:
    if given is not None and type(given).__name__ == saved["class"]:
        return given
    if given is not None or not saved["known"]:
        raise ValueError(
            complaint(
                "noise",
                "is needed to load this region, since code is not saved",
                f"an instance of {saved['class']}",
                repr(given),
                "Pass ua.load(path, noise=...).",
            )
        )
    if saved["blocks"] is not None:
        return BlockSymmetric(store.get(saved["blocks"]))
    return _NOISES[saved["class"]]()


def _check(
    region: Region, header: dict[str, Any], arrays: dict[str, Any], path: str | os.PathLike[str]
) -> None:
    """Refuse a region that is not the one that was saved."""
    fingerprint, found = arrays["fingerprint"], None
    if region.objective.d == arrays["probe"].shape[1] and region.n == header["n"]:
        found = _fingerprint(region)
    scale = max(float(np.abs(fingerprint).max(initial=0.0)), 1e-300)
    if found is None or np.abs(found - fingerprint).max() > 1e-7 * scale:
        raise _other_estimator(
            header["estimator"]["shown"],
            f"{' '.join(repr(region.estimator).split())}, with other features",
        )
    if not np.array_equal(region.rank(arrays["probe"]), arrays["ranks"]):
        raise unreadable(path, "the ranks of the candidates in it are not found again")
    tuning = header["tuning"]
    if tuning is not None:
        region._set_tuning(
            Tuning(
                tuning_rows=arrays["tuning_rows"],
                region_rows=arrays["region_rows"],
                best_params=tuning["best_params"],
                best_score=tuning["best_score"],
                seed=tuning["seed"],
            )
        )
