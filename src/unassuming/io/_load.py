"""Read a region from a file, which may be damaged, foreign or made to do harm."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from unassuming._archive import Unreadable, read, unreadable
from unassuming._tables import Store
from unassuming._typing import Array, IntArray
from unassuming._words import shown
from unassuming.io._code import described, difference
from unassuming.io._noise import known_noise
from unassuming.io._probes import same_fingerprint
from unassuming.io._save import FORMAT, describe_estimator, known_class
from unassuming.noise import Labels, Noise, Perturbations, restricted
from unassuming.ranking import check_ties
from unassuming.regions import Region, Tuning, build_region

AnyPath = str | os.PathLike[str]


def load(path: AnyPath, estimator: Any = None, noise: Noise | None = None) -> Region:
    """Read a region that `save` has written; it has the same ranks as before.

    Parameters
    ----------
    path : str or path
        The file. A damaged one is refused, by a hash of its content; one made by somebody else
        can hold wrong data, but runs no code and takes no more memory than its size asks for.
    estimator : scikit-learn estimator, optional
        Needed if the region is that of a pipeline, a kernel that is a function or a class of your
        own. It must be the same as before: classes, parameters and names of functions are compared,
        and the features themselves at the inputs of the data and at some between and beyond them.
        A function that differs elsewhere alone goes unnoticed.
    noise : Noise, optional
        Needed if the assumption is of a class of your own, and compared in the same way.

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
    saved = _guarded(path, lambda: _decoded(header, Store(arrays)))
    model = saved.estimator if estimator is None else estimator
    if estimator is not None or saved.estimator is None:
        _check_estimator(saved.described_estimator, estimator)
    assumption = saved.noise
    if noise is not None or assumption is None:
        assumption = _given_noise(saved, noise)
    try:
        region = _built(saved, model, assumption)
        found = _as_saved(region, saved)
    except Exception as error:
        if estimator is None:
            raise unreadable(path, f"no region can be built from it, {error}") from error
        raise _other_estimator(
            saved.described_estimator["shown"], f"{shown(estimator)}, which fails: {error}"
        ) from error
    if found == "features":
        raise _other_estimator(
            saved.described_estimator["shown"],
            f"{shown(model)}, with other features, at the inputs or beyond them",
        )
    if found == "ranks":
        raise unreadable(path, "the ranks of the candidates in it are not found again")
    if saved.tuning is not None:
        region.tuning = saved.tuning
    return region


@dataclass(frozen=True, eq=False)
class _Saved:
    """What a file holds, in types and shapes that fit together."""

    n: int
    m: int
    rows: Any
    X: Any
    y: Any
    weight: Array | None
    weighting: Any
    ties: str
    tie_order: IntArray
    enumerated: bool
    seed: int
    drawn: Any
    estimator: Any
    described_estimator: dict[str, Any]
    noise: Noise | None
    described_noise: dict[str, Any]
    tuning: Tuning | None
    probe: Array
    ranks: IntArray
    fingerprint: Array


def _guarded(path: AnyPath, decode: Any) -> _Saved:
    """Turn whatever goes wrong with the content of a file into the one error about files."""
    try:
        saved = decode()
    except Unreadable as error:
        raise unreadable(path, str(error)) from error
    except Exception as error:
        raise unreadable(path, f"what it lists does not fit together, {error}") from error
    assert isinstance(saved, _Saved)
    return saved


def _decoded(header: dict[str, Any], store: Store) -> _Saved:
    if header.get("kind") == "stream":
        raise Unreadable("it holds a stream: ua.StreamingRegion.load reads it")
    if header["format"] != FORMAT:
        written = f"format {header['format']} of version {header['version']}"
        raise Unreadable(f"it has {written}, and this version reads format {FORMAT}")
    n, m, seed = (_integer(header[name]) for name in ("n", "m", "seed"))
    rows = store.arrays["rows"]
    _require(rows.dtype == np.bool_ and rows.ndim == 1 and rows.sum() == n >= 2, "rows")
    X = store.get_table(header["X"])
    _require((X.shape[0] if hasattr(X, "shape") else len(X)) == len(rows), "inputs")
    y = np.zeros(len(rows))
    y[rows] = _vector(store, "y", n)
    outputs: Any = y
    if header["classes"] is not None:
        classes = np.asarray(store.get(header["classes"]))
        _require(classes.shape == (2,), "classes")
        outputs = classes[(y > 0).astype(np.intp)]
    weight = None
    if "weight" in store.arrays:
        weight = np.zeros(len(rows))
        weight[rows] = _vector(store, "weight", n)
    check_ties(header["ties"])
    tie_order = _tie_order(store, m, header["ties"])
    drawn = tuple(store.get_transformations(entry) for entry in header["drawn"])
    _require(bool(drawn) and all(len(part) == m - 1 for part in drawn), "transformations")
    weighting = header["weighting"]
    estimator = header["estimator"]
    cls = known_class(estimator["class"]) if estimator["whole"] else None
    model = None if cls is None else cls(**estimator["parameters"])
    _require(isinstance(estimator["shown"], str) and "described" in estimator, "estimator")
    noise = known_noise(header["noise"], store)
    if noise is not None:
        _check_drawn(Perturbations(noise, drawn if header["several"] else drawn[0], n, m))
    probe, ranks = store.arrays["probe"], store.arrays["ranks"]
    _require(probe.ndim == 2 and ranks.shape == (len(probe),), "candidates")
    return _Saved(
        n=n,
        m=m,
        rows=rows,
        X=X,
        y=outputs,
        weight=weight,
        weighting=weighting if isinstance(weighting, str) else store.get(weighting),
        ties=header["ties"],
        tie_order=tie_order,
        enumerated=bool(header["enumerated"]),
        seed=seed,
        drawn=drawn if header["several"] else drawn[0],
        estimator=model,
        described_estimator=estimator,
        noise=noise,
        described_noise=header["noise"],
        tuning=None if header["tuning"] is None else _tuning(header["tuning"], store),
        probe=probe,
        ranks=ranks,
        fingerprint=store.arrays["fingerprint"],
    )


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise Unreadable(f"its {what} are not what a region has")


def _integer(value: Any) -> int:
    _require(isinstance(value, int) and not isinstance(value, bool) and value >= 0, "numbers")
    return int(value)


def _vector(store: Store, name: str, n: int) -> Array:
    vector = store.arrays[name]
    _require(vector.dtype == np.float64 and vector.shape == (n,), name)
    return np.asarray(vector)


def _tie_order(store: Store, m: int, ties: str) -> IntArray:
    """Return π, which is a permutation of 0, ..., m - 1."""
    stored = store.arrays["tie_order"]
    _require(m >= 2 and stored.shape == (m,) and stored.dtype.kind in "iu", "ties")
    order: IntArray = stored.astype(np.intp)
    natural = np.arange(m)
    _require(np.array_equal(np.sort(order), natural), "ties")
    _require(ties == "random" or np.array_equal(order, natural), "ties")
    order.setflags(write=False)
    return order


def _check_drawn(drawn: Perturbations) -> None:
    """Refuse what no transformation of that assumption can be, by what it does to vectors."""
    vectors = np.random.default_rng(2).standard_normal((2, drawn.n))
    moved = drawn.apply(vectors, np.zeros_like(vectors))
    if isinstance(drawn.noise, Labels):
        uniform = np.asarray(drawn.drawn)
        _require(bool(((uniform >= 0) & (uniform < 1)).all()), "transformations")
    if drawn.noise.orthogonal:
        lengths = np.linalg.norm(moved, axis=-1)
        expected = np.linalg.norm(vectors, axis=-1)[:, None]
        _require(np.allclose(lengths, expected, rtol=1e-8, atol=0.0), "transformations")


def _tuning(saved: dict[str, Any], store: Store) -> Tuning:
    return Tuning(
        tuning_rows=store.arrays["tuning_rows"],
        region_rows=store.arrays["region_rows"],
        best_params=dict(saved["best_params"]),
        best_score=float(saved["best_score"]),
        seed=_integer(saved["seed"]),
    )


# --- what is given again --------------------------------------------------------------------------


def _check_estimator(saved: dict[str, Any], given: Any) -> None:
    """Refuse an estimator that is missing, or that is not the one of the file."""
    if given is None:
        raise ValueError(
            "estimator is needed to load this region, since code is not saved: expected the same "
            f"as before, {saved['shown']}, given None. Pass ua.load(path, estimator=...)."
        )
    found = describe_estimator(given)
    apart = difference(saved["described"], found["described"])
    if apart is not None:
        where, before, now = apart
        at = (f", with {where} = {before}", f", with {where} = {now}") if where else ("", "")
        raise _other_estimator(saved["shown"] + at[0], found["shown"] + at[1])


def _other_estimator(saved: str, given: str) -> ValueError:
    return ValueError(
        f"estimator is not the one of the saved region: expected {saved}, given {given}. Pass the "
        "same estimator as before."
    )


def _given_noise(saved: _Saved, given: Noise | None) -> Noise:
    name = saved.described_noise["class"]
    if not isinstance(given, Noise) or type(given).__name__ != name:
        raise ValueError(
            "noise is needed to load this region, since code is not saved: expected an instance "
            f"of {name}, given {given!r}. Pass ua.load(path, noise=...)."
        )
    noise = given if saved.rows.all() else restricted(given, saved.rows)
    apart = difference(saved.described_noise["described"], described(noise))
    if apart is not None:
        where, before, now = apart
        raise ValueError(
            f"noise is not the one of the saved region: expected {where} = {before}, given {now} "
            f"for {given!r}. Pass the same assumption as before."
        )
    return noise


# --- the region -----------------------------------------------------------------------------------


def _built(saved: _Saved, estimator: Any, noise: Noise) -> Region:
    return build_region(
        estimator,
        saved.X,
        saved.y,
        noise=noise,
        m="group" if saved.enumerated else saved.m,
        sample_weight=saved.weight,
        weighting=saved.weighting,
        ties=saved.ties,
        seed=saved.seed,
        drawn=(Perturbations(noise, saved.drawn, saved.n, saved.m), saved.tie_order),
    )


def _as_saved(region: Region, saved: _Saved) -> str:
    """Return what is not as it was: "features", "ranks", or nothing."""
    if region.objective.d != saved.probe.shape[1] or not same_fingerprint(
        saved.fingerprint, region
    ):
        return "features"
    if not np.array_equal(region.rank(saved.probe), saved.ranks):
        return "ranks"
    return ""
