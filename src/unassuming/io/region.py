"""Write a region to a file, and read it again.

Code is not saved, so the region that is built again is compared with the saved one: the fitted
values of one candidate, and the ranks of several near the estimate and far from it.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming._version import __version__
from unassuming._words import shown
from unassuming.inputs import row_count
from unassuming.io import archive, described
from unassuming.io.archive import Unreadable, as_integer, require
from unassuming.io.tables import Store, as_plain
from unassuming.noise import Noise, restricted
from unassuming.ranking import Order, check_ties
from unassuming.regions import Region, Tuning, build_region

_FILE, _LOAD = "the saved region", "ua.load"  # as sentences name them


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
    store, weighting, tuning = Store(), region.weighting, region.tuning
    data, drawn = region.problem.data("saving needs"), region.perturbations.drawn
    parts, probe = drawn if isinstance(drawn, tuple) else (drawn,), _candidates(region)
    store.arrays |= {"probe": probe, "ranks": _ranks(region, probe), "fitted": _fitted(region)}
    store.arrays |= {"y": data.y, "rows": data.rows, "tie_order": region.tie_order}
    if len(data.before):
        store.arrays["before"] = data.before
    if data.weight is not None:
        store.arrays["weight"] = data.weight
    chosen = None
    if tuning is not None:
        store.arrays |= {"tuning_rows": tuning.tuning_rows, "region_rows": tuning.region_rows}
        best = {name: (*as_plain(value), value) for name, value in tuning.best_params.items()}
        words = {name: plain if ok else shown(value) for name, (plain, ok, value) in best.items()}
        chosen = {"best_params": words, "best_score": tuning.best_score, "seed": tuning.seed}
    header = {
        "kind": "region",
        "format": archive.FORMAT,
        "version": __version__,
        "estimator": described.describe_estimator(region.estimator),
        "noise": described.describe_noise(region.noise, store),
        "X": store.put_table("X", data.X),
        "classes": None if data.classes is None else store.put("classes", data.classes),
        "drawn": [store.put_transformations(f"drawn{i}", part) for i, part in enumerate(parts)],
        "several": isinstance(drawn, tuple),
        "n": region.n,
        "m": region.m,
        "enumerated": region.enumerated,
        "weighting": weighting if isinstance(weighting, str) else store.put("psi", weighting),
        "ties": region.ties,
        "seed": region.seed,
        "tuning": chosen,
    }
    archive.write(path, header, store.arrays)


def load(path: str | os.PathLike[str], estimator: Any = None, noise: Noise | None = None) -> Region:
    """Read a region that `save` has written; it has the same ranks as before.

    Parameters
    ----------
    path : str or path
        The file. A damaged file is refused. A file from somebody else can hold wrong data, but it
        runs no code.
    estimator : scikit-learn estimator, optional
        Needed if the estimator is a pipeline, has a function as its kernel, or is of a user-defined
        class. It must be the same as before: classes, parameters and names of functions are
        compared, and the features at the inputs of the data. A function that differs only at other
        inputs goes unnoticed.
    noise : Noise, optional
        Needed if the class of the noise is user-defined; compared in the same way.

    Returns
    -------
    Region

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/spline.region"
    >>> model = make_pipeline(SplineTransformer(6), Ridge(0.1))
    >>> ua.save(ua.confidence_region(model, X, y, random_state=0), path)
    >>> ua.load(path, estimator=model).n
    50
    """
    try:
        header, arrays = archive.read(path)
        if header.get("kind") == "stream":
            raise Unreadable("it holds a stream: ua.StreamingRegion.load reads it")
        archive.check_format(header)
        with archive.decoding():
            store, entry = Store(arrays), header["estimator"]
            drawn, tie_order = _drawn(header, store)
            options, tuning = _options(header, store)
            known = described.known_estimator(entry)
            assumption = described.known_noise(header["noise"], store)
    except Unreadable as error:
        raise _refused(path, error) from error
    if estimator is not None or known is None:
        described.check_estimator(entry, estimator, _FILE, _LOAD)
        known = estimator
    if noise is not None or assumption is None:
        rows = arrays["rows"]
        assumption = noise if noise is None or rows.all() else restricted(noise, rows)
        described.check_noise(header["noise"], assumption, _FILE, _LOAD)
    try:
        made = drawn, Order(tie_order)
        region = build_region(known, **options, noise=assumption, drawn=made)
        fitted, saved = _fitted(region), arrays["fitted"]
        near = 1e-7 * float(np.abs(saved).max(initial=0.0))
        same = fitted.shape == saved.shape and np.allclose(fitted, saved, rtol=0, atol=near)
        ranked = same and np.array_equal(_ranks(region, arrays["probe"]), arrays["ranks"])
    except Exception as error:
        if estimator is None:
            raise _refused(path, f"no region can be built from it, {error}") from error
        now = f"{shown(estimator)}, which fails: {error}"
        raise described.other_estimator(entry["shown"], now, _FILE) from error
    if not same:
        features = f"{shown(known)}, with other features at the inputs"
        raise described.other_estimator(entry["shown"], features, _FILE)
    if not ranked:
        raise _refused(path, "its candidates no longer have the ranks that it lists")
    region.tuning = tuning
    return region


def _refused(path: str | os.PathLike[str], why: object) -> ValueError:
    return ValueError(
        "the file is not a saved region: expected a file that ua.save has written, whole and "
        f"unchanged, given {os.fspath(path)}: {' '.join(str(why).split())}. Save the region again."
    )


def _drawn(header: dict[str, Any], store: Store) -> tuple[Any, Any]:
    """Return the transformations and the order of ties, for as many statistics and rows."""
    n, m = as_integer(header["n"], "rows", least=2), as_integer(header["m"], "ties", least=2)
    tie_order = archive.as_tie_order(store.arrays["tie_order"], m)
    parts = tuple(store.get_transformations(entry) for entry in header["drawn"])
    fit = all(part.shape[:1] == (m - 1,) and set(part.shape[1:]) == {n} for part in parts)
    random = check_ties(header["ties"]) == "random"
    require(fit or not header["noise"]["known"], "transformations")
    require(random or np.array_equal(tie_order, np.arange(m)), "ties")
    return (parts if header["several"] else parts[0]), tie_order


def _options(header: dict[str, Any], store: Store) -> tuple[dict[str, Any], Tuning | None]:
    """Return arguments of `build_region`, and how the hyper-parameters were tuned."""
    rows, X = store.arrays["rows"], store.get_table(header["X"])
    require(rows.dtype == np.bool_ and rows.shape == (row_count(X),), "rows")
    require(rows.sum() == header["n"], "rows")
    y, classes = _vector(store, "y", rows), header["classes"]
    if "before" in store.arrays:  # the initial values of a time series
        y[~rows] = _vector(store, "before", ~rows)[~rows]
    if classes is not None:  # the second label is +1
        classes = np.asarray(store.get(classes))
        require(classes.shape == (2,), "classes")
    weighting, tuning = header["weighting"], header["tuning"]
    options = {
        "X": X,
        "y": y if classes is None else classes[(y > 0).astype(np.intp)],
        "m": "all" if header["enumerated"] else header["m"],
        "sample_weight": _vector(store, "weight", rows) if "weight" in store.arrays else None,
        "weighting": weighting if isinstance(weighting, str) else store.get(weighting),
        "ties": header["ties"],
        "classes": classes,
        "seed": as_integer(header["seed"], "numbers", most=2**128),
    }
    if tuning is not None:
        parts = store.arrays["tuning_rows"], store.arrays["region_rows"]
        tuning = Tuning(*parts, tuning["best_params"], tuning["best_score"], tuning["seed"])
    return options, tuning


def _vector(store: Store, name: str, rows: BoolArray) -> Array:
    """Return the numbers of some rows, zero in all others."""
    vector = store.arrays[name]
    require(vector.dtype == np.float64 and vector.shape == (rows.sum(),), name)
    full = np.zeros(len(rows))
    full[rows] = vector
    return full


# --- comparison -------------------------------------------------------------------------------


def _candidates(region: Region) -> Array:
    """Return candidates near the estimate and far from it, (N, d)."""
    try:
        centre = np.array(region.estimate)
    except (NotAvailable, ValueError):  # no minimum is known
        centre = np.zeros(region.objective.d)
    size = max(float(np.abs(centre).max()), 1e-3) * np.geomspace(0.01, 10.0, 16)
    steps = np.random.default_rng(0).standard_normal((16, len(centre)))
    return np.vstack([centre, centre + size[:, None] * steps])


def _ranks(region: Region, probe: Array) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(region.rank(probe))


def _fitted(region: Region) -> Array:
    """Return the fitted values of one candidate, which identify the features."""
    d = region.objective.d
    a = np.random.default_rng(1).uniform(0.5, 1.5, size=(1, d)) / d
    return np.asarray(region.objective.fitted(a)[0])
