"""Write a region to a file, and read it again: the file may be damaged, foreign or malicious.

Code is not saved, so the region that is built again is compared with the saved one. Candidates near
the estimate and far from it must have the same ranks; at inputs between and beyond those of the
data, transformers and kernel must give the same values.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming._version import __version__
from unassuming._words import shown
from unassuming.inputs import column_at, is_frame, row_count, rows_between
from unassuming.io import archive, described
from unassuming.io.archive import Unreadable, as_integer, require
from unassuming.io.tables import Store, as_plain, as_table
from unassuming.noise import Labels, Noise, Perturbations, restricted
from unassuming.ranking import Order, check_ties
from unassuming.regions import Region, Tuning, build_region

_FILE, _LOAD = "the saved region", "ua.load"  # as sentences name them
_CANDIDATES = 16
_ROWS = 6  # of each kind


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
    parts = drawn if isinstance(drawn, tuple) else (drawn,)
    probe = _candidates(region)
    store.arrays |= {"probe": probe, "ranks": _ranks(region, probe), "y": data.y}
    store.arrays |= {"fingerprint": _fingerprint(region)[0], "rows": data.rows}
    store.arrays["tie_order"] = region.tie_order
    if len(data.before):
        store.arrays["before"] = data.before
    if data.weight is not None:
        store.arrays["weight"] = data.weight
    chosen = None
    if tuning is not None:
        store.arrays["tuning_rows"] = tuning.tuning_rows
        store.arrays["region_rows"] = tuning.region_rows
        best = {name: (as_plain(value), value) for name, value in tuning.best_params.items()}
        words = {name: plain if ok else shown(v) for name, ((plain, ok), v) in best.items()}
        chosen = {"best_params": words, "best_score": tuning.best_score, "seed": tuning.seed}
    header = {
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
        The file. A damaged file is refused, by a hash of its content. A file from somebody else
        can hold wrong data, but it runs no code, and the sizes that it declares are compared with
        its content before memory is taken (a polars table is read by polars). A sparse X that would
        take more than 64 MB and more than 1,000 times the size of the file is refused.
    estimator : scikit-learn estimator, optional
        Needed if the estimator is a pipeline, has a function as its kernel, or is of a user-defined
        class. It must be the same as before: classes, parameters and names of functions are
        compared, and so are the features at the inputs of the data and at some inputs between and
        beyond them. A function that differs only at other inputs goes unnoticed.
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
        with archive.decoding():
            known, options, tuning = _decoded(header, Store(arrays))
    except Unreadable as error:
        raise _refused(path, error) from error
    entry = header["estimator"]
    if estimator is not None or known is None:
        described.check_estimator(entry, estimator, _FILE, _LOAD)
    if noise is not None or options["noise"] is None:
        described.check_noise_class(header["noise"], noise, _FILE, _LOAD)
        assert noise is not None
        rows = arrays["rows"]
        options["noise"] = noise if rows.all() else restricted(noise, rows)
        described.check_noise(header["noise"], options["noise"], _FILE)
    model = known if estimator is None else estimator
    drawn, tie_order = options.pop("drawn")
    features = f"{shown(model)}, with other features, at the inputs or beyond them"
    try:
        region = build_region(model, **options, drawn=(drawn, Order(tie_order)))
        probe = arrays["probe"]
        same = region.objective.d == probe.shape[1]
        same = same and _same_fingerprint(arrays["fingerprint"], region)
        ranked = same and np.array_equal(_ranks(region, probe), arrays["ranks"])
    except Exception as error:
        if estimator is None:
            raise _refused(path, f"no region can be built from it, {error}") from error
        now = f"{shown(estimator)}, which fails: {error}"
        raise described.other_estimator(entry["shown"], now, _FILE) from error
    if not same:
        raise described.other_estimator(entry["shown"], features, _FILE)
    if not ranked:
        raise _refused(path, "its candidates no longer have the ranks that it lists")
    if tuning is not None:
        region.tuning = tuning
    return region


def _refused(path: str | os.PathLike[str], why: object) -> ValueError:
    return ValueError(
        "the file is not a saved region: expected a file that ua.save has written, whole and "
        f"unchanged, given {os.fspath(path)}: {' '.join(str(why).split())}. Save the region again."
    )


# --- content ----------------------------------------------------------------------------------


def _decoded(header: dict[str, Any], store: Store) -> tuple[Any, dict[str, Any], Tuning | None]:
    """Return the estimator, the arguments of `build_region`, and the tuning.

    All are checked: types and shapes fit together. Estimator and noise are None if they are code.
    """
    if header.get("kind") == "stream":
        raise Unreadable("it holds a stream: ua.StreamingRegion.load reads it")
    archive.check_format(header)
    n, m = as_integer(header["n"], "rows", least=2), as_integer(header["m"], "ties", least=2)
    seed = as_integer(header["seed"], "numbers", most=2**128)
    require(type(header["several"]) is type(header["enumerated"]) is bool, "numbers")
    ties = check_ties(header["ties"])
    tie_order = archive.as_tie_order(store.arrays["tie_order"], m)  # before anything of length m
    require(ties == "random" or np.array_equal(tie_order, np.arange(m)), "ties")
    rows = store.arrays["rows"]
    require(rows.dtype == np.bool_ and rows.ndim == 1 and rows.sum() == n, "rows")
    X = store.get_table(header["X"])
    require(row_count(X) == len(rows), "inputs")
    parts: Any = tuple(store.get_transformations(entry) for entry in header["drawn"])
    require(bool(parts) and all(len(part) == m - 1 for part in parts), "transformations")
    drawn = parts if header["several"] else parts[0]
    noise = described.known_noise(header["noise"], store)
    if noise is not None:
        require(all(part.shape[1:] in ((n,), (n, n)) for part in parts), "transformations")
        _check_drawn(Perturbations(noise, drawn, n, m))
    estimator, weighting, probe = header["estimator"], header["weighting"], store.arrays["probe"]
    require(isinstance(estimator["shown"], str) and "described" in estimator, "estimator")
    require(probe.ndim == 2 and probe.dtype == np.float64, "candidates")
    ranks = store.arrays["ranks"]
    require(ranks.shape == (len(probe),) and ranks.dtype.kind in "iu", "candidates")
    require(store.arrays["fingerprint"].dtype == np.float64, "features")
    known = described.known_estimator(estimator)
    if known is not None and sparse.issparse(X):  # only a pipeline leaves it sparse
        store.require_room(8 * X.shape[0] * X.shape[1], "the inputs")
    y, classes = _vector(store, "y", rows), header["classes"]
    if "before" in store.arrays:  # the initial values of a time series
        y[~rows] = _vector(store, "before", ~rows)[~rows]
    if classes is not None:  # the second label is +1
        classes = np.asarray(store.get(classes))
        require(classes.shape == (2,), "classes")
    options = {
        "X": X,
        "y": y if classes is None else classes[(y > 0).astype(np.intp)],
        "noise": noise,
        "m": "all" if header["enumerated"] else m,
        "sample_weight": _vector(store, "weight", rows) if "weight" in store.arrays else None,
        "weighting": weighting if isinstance(weighting, str) else store.get(weighting),
        "ties": ties,
        "classes": classes,
        "seed": seed,
        "drawn": (drawn, tie_order),
    }
    return known, options, _tuning(header["tuning"], store)


def _vector(store: Store, name: str, rows: BoolArray) -> Array:
    """Return the numbers of some rows, zero in all others."""
    vector = store.arrays[name]
    require(vector.dtype == np.float64 and vector.shape == (rows.sum(),), name)
    full = np.zeros(len(rows))
    full[rows] = vector
    return full


def _check_drawn(drawn: Perturbations) -> None:
    """Refuse arrays that cannot be transformations of that assumption."""
    vectors = np.random.default_rng(2).standard_normal((2, drawn.n))
    moved = drawn.apply(vectors, np.zeros_like(vectors))
    fits = True
    if isinstance(drawn.noise, Labels):
        uniform = np.asarray(drawn.drawn)
        fits = bool(((uniform >= 0) & (uniform < 1)).all())
    if drawn.noise.orthogonal:
        lengths = np.linalg.norm(moved, axis=-1)
        expected = np.linalg.norm(vectors, axis=-1)[:, None]
        fits = fits and np.allclose(lengths, expected, rtol=1e-8, atol=0.0)
    require(fits, "transformations")


def _tuning(saved: dict[str, Any] | None, store: Store) -> Tuning | None:
    """Return how the hyper-parameters were tuned, if they were."""
    if saved is None:
        return None
    tuned, own = (store.arrays[f"{part}_rows"] for part in ("tuning", "region"))
    require(all(part.ndim == 1 and part.dtype.kind in "iu" for part in (tuned, own)), "rows")
    seed = as_integer(saved["seed"], "numbers", most=2**128)
    return Tuning(tuned, own, dict(saved["best_params"]), float(saved["best_score"]), seed)


# --- comparison -------------------------------------------------------------------------------


def _candidates(region: Region) -> Array:
    """Return candidates near the estimate and far from it, (N, d)."""
    try:
        centre = np.array(region.estimate)
    except (NotAvailable, ValueError):  # no minimum is known
        centre = np.zeros(region.objective.d)
    size = max(float(np.abs(centre).max()), 1e-3) * np.geomspace(0.01, 10.0, _CANDIDATES)
    steps = np.random.default_rng(0).standard_normal((_CANDIDATES, len(centre)))
    return np.vstack([centre, centre + size[:, None] * steps])


def _ranks(region: Region, probe: Array) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(region.rank(probe))


def _fingerprint(region: Region) -> tuple[Array, Array]:
    """Return numbers that identify the features, and the size relative to which they round."""
    d = region.objective.d
    fitted = np.asarray(region.objective.fitted(_weights(d, 2)[0] / d)).ravel()
    size = np.full(len(fitted), max(float(np.abs(fitted).max(initial=0.0)), 1e-300))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        rows = [(fitted, size), *(_at_new_inputs(region, row) for row in _new_inputs(region))]
    numbers, sizes = zip(*rows, strict=True)
    return np.concatenate(numbers), np.concatenate(sizes)


def _same_fingerprint(saved: Array, region: Region) -> bool:
    """Whether the region has these features, up to rounding."""
    found, size = _fingerprint(region)
    if found.shape != saved.shape:
        return False
    equal = (found == saved) | (np.isnan(found) & np.isnan(saved))
    with np.errstate(all="ignore"):  # far from the data there may be infinities
        return bool((equal | (np.abs(found - saved) <= 1e-7 * size)).all())


def _at_new_inputs(region: Region, row: Any) -> tuple[Array, Array]:
    """Return features, rows of the design and the kernel itself, each as one number.

    It is not-a-number if a transformer refuses the input, such as an unknown category.
    """
    try:
        features = region.problem.transform(row)
        vectors, design = [features[0]], region.objective.design
        if design is not None:
            own = design.self_similarity(features)
            vectors += [design.rows(features)[0], *([] if own is None else [own])]
    except Exception:
        return np.full(1, np.nan), np.full(1, np.nan)
    pairs = [_weights(len(vector), 1)[0, 0] * vector for vector in vectors]
    return np.array([p.sum() for p in pairs]), np.array([np.abs(p).sum() for p in pairs])


def _weights(d: int, size: int) -> Array:
    return np.random.default_rng(1).uniform(0.5, 1.5, size=(1, size, d))


def _new_inputs(region: Region) -> Iterator[Any]:
    """Yield inputs that are not in the data, one by one, as tables of the same type.

    Numbers lie between those of two rows, and beyond those of all; what is no number comes from
    another row.
    """
    X = region.inputs
    rows = np.unique(np.linspace(0, row_count(X) - 1, 2 * _ROWS).round().astype(np.intp))
    if is_frame(X):
        some = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        columns = enumerate(some.columns)
        frame = type(X)({name: _beyond(column_at(some, j), j) for j, name in columns})
        yield from (rows_between(frame, j, j + 1) for j in range(len(frame)))
        return
    table = X.tocsr()[rows].toarray() if sparse.issparse(X) else as_table(X)[rows]
    if table.ndim != 2:  # texts, for instance
        yield from (table[j : j + 1] for j in range(len(table)))
    elif table.size:
        for row in np.column_stack([_beyond(column, j) for j, column in enumerate(table.T)]):
            yield type(X)(row[None, :]) if sparse.issparse(X) else row[None, :]


def _beyond(column: Any, j: int) -> Any:
    """Return numbers halfway between two entries, and six beyond all; else entries themselves."""
    values = np.asarray(column)
    if values.dtype.kind not in "iuf":
        positions = np.resize(np.roll(np.arange(len(values)), -j), _ROWS + 6).tolist()
        return (
            column.iloc[positions].reset_index(drop=True)
            if hasattr(column, "iloc")
            else column[positions]
        )
    values = values.astype(np.float64)
    middle = np.resize((values + np.roll(values, 1)) / 2, _ROWS)
    known = values[np.isfinite(values)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    far = (high - low or 1.0) * np.array([0.1, 1.0, 10.0])
    return np.concatenate([middle, low - far, high + far])
