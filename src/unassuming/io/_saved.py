"""The content of a file, decoded and checked: it may be damaged, foreign or malicious."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from unassuming._archive import (
    Unreadable,
    as_integer,
    as_tie_order,
    check_format,
    decoding,
    require,
)
from unassuming._tables import Store
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.inputs import row_count
from unassuming.io._estimators import known_estimator
from unassuming.io._noise import known_noise
from unassuming.noise import Labels, Noise, Perturbations
from unassuming.ranking import check_ties
from unassuming.regions import Tuning


@dataclass(frozen=True, eq=False)
class Saved:
    """A saved region, in types and shapes that fit together.

    ``estimator`` and ``noise`` are None if they are code, which is not saved; the entries describe
    them. ``options`` are arguments of `build_region`.
    """

    X: Any
    y: Any
    rows: BoolArray
    n: int
    m: int
    drawn: Any
    tie_order: IntArray
    options: dict[str, Any]
    estimator: Any
    estimator_entry: dict[str, Any]
    noise: Noise | None
    noise_entry: dict[str, Any]
    tuning: Tuning | None
    probe: Array
    ranks: IntArray
    fingerprint: Array


def decode(header: dict[str, Any], store: Store) -> Saved:
    """Return the content of a file; every defect of it is an `Unreadable`."""
    with decoding():
        return _decoded(header, store)


def _decoded(header: dict[str, Any], store: Store) -> Saved:
    if header.get("kind") == "stream":
        raise Unreadable("it holds a stream: ua.StreamingRegion.load reads it")
    check_format(header)
    n, m = as_integer(header["n"], "rows", least=2), as_integer(header["m"], "ties", least=2)
    seed = as_integer(header["seed"], "numbers", most=2**128)
    require(type(header["several"]) is type(header["enumerated"]) is bool, "numbers")
    ties = check_ties(header["ties"])
    tie_order = _tie_order(ties, store, m)  # before anything of length m
    rows = store.arrays["rows"]
    require(rows.dtype == np.bool_ and rows.ndim == 1 and rows.sum() == n, "rows")
    X = store.get_table(header["X"])
    require(row_count(X) == len(rows), "inputs")
    weight = _vector(store, "weight", rows) if "weight" in store.arrays else None
    drawn: Any = tuple(store.get_transformations(entry) for entry in header["drawn"])
    require(bool(drawn) and all(len(part) == m - 1 for part in drawn), "transformations")
    drawn = drawn if header["several"] else drawn[0]
    noise = known_noise(header["noise"], store)
    if noise is not None:
        parts = drawn if header["several"] else (drawn,)
        require(all(part.shape[1:] in ((n,), (n, n)) for part in parts), "transformations")
        _check_drawn(Perturbations(noise, drawn, n, m))
    estimator, weighting = header["estimator"], header["weighting"]
    require(isinstance(estimator["shown"], str) and "described" in estimator, "estimator")
    probe, ranks = store.arrays["probe"], store.arrays["ranks"]
    require(probe.ndim == 2 and probe.dtype == np.float64, "candidates")
    require(ranks.shape == (len(probe),) and ranks.dtype.kind in "iu", "candidates")
    known = known_estimator(estimator)
    if known is not None and sparse.issparse(X):  # only a pipeline leaves it sparse
        store.require_room(8 * X.shape[0] * X.shape[1], "the inputs")
    return Saved(
        X=X,
        y=_outputs(header, store, rows),
        rows=rows,
        n=n,
        m=m,
        drawn=drawn,
        tie_order=tie_order,
        options={
            "m": "all" if header["enumerated"] else m,
            "sample_weight": weight,
            "weighting": weighting if isinstance(weighting, str) else store.get(weighting),
            "ties": ties,
            "classes": _classes(header, store),
            "seed": seed,
        },
        estimator=known,
        estimator_entry=estimator,
        noise=noise,
        noise_entry=header["noise"],
        tuning=None if header["tuning"] is None else _tuning(header["tuning"], store),
        probe=probe,
        ranks=ranks,
        fingerprint=store.arrays["fingerprint"],
    )


def _vector(store: Store, name: str, rows: BoolArray) -> Array:
    """Return the numbers of some rows, zero in all others."""
    vector = store.arrays[name]
    require(vector.dtype == np.float64 and vector.shape == (rows.sum(),), name)
    full = np.zeros(len(rows))
    full[rows] = vector
    return full


def _outputs(header: dict[str, Any], store: Store, rows: BoolArray) -> Any:
    """Return y as the user passed it: numbers, or one of two classes."""
    y, classes = _vector(store, "y", rows), _classes(header, store)
    if "before" in store.arrays:  # the initial values of a time series
        before = store.arrays["before"]
        require(before.dtype == np.float64 and before.shape == ((~rows).sum(),), "outputs")
        y[~rows] = before
    return y if classes is None else classes[(y > 0).astype(np.intp)]


def _classes(header: dict[str, Any], store: Store) -> Any:
    """Return the two labels, of which the second is +1; None for regression."""
    if header["classes"] is None:
        return None
    classes = np.asarray(store.get(header["classes"]))
    require(classes.shape == (2,), "classes")
    return classes


def _tie_order(ties: str, store: Store, m: int) -> IntArray:
    """Return π; if ties count for the candidate, nothing was drawn."""
    order: IntArray = as_tie_order(store.arrays["tie_order"], m)
    require(ties == "random" or np.array_equal(order, np.arange(m)), "ties")
    return order


def _check_drawn(drawn: Perturbations) -> None:
    """Refuse arrays that cannot be transformations of that assumption."""
    vectors = np.random.default_rng(2).standard_normal((2, drawn.n))
    moved = drawn.apply(vectors, np.zeros_like(vectors))
    if isinstance(drawn.noise, Labels):
        uniform = np.asarray(drawn.drawn)
        require(bool(((uniform >= 0) & (uniform < 1)).all()), "transformations")
    if drawn.noise.orthogonal:
        lengths = np.linalg.norm(moved, axis=-1)
        expected = np.linalg.norm(vectors, axis=-1)[:, None]
        require(np.allclose(lengths, expected, rtol=1e-8, atol=0.0), "transformations")


def _tuning(saved: dict[str, Any], store: Store) -> Tuning:
    tuning_rows, region_rows = (store.arrays[f"{part}_rows"] for part in ("tuning", "region"))
    for part in (tuning_rows, region_rows):
        require(part.ndim == 1 and part.dtype.kind in "iu", "rows")
    return Tuning(
        tuning_rows=tuning_rows,
        region_rows=region_rows,
        best_params=dict(saved["best_params"]),
        best_score=float(saved["best_score"]),
        seed=as_integer(saved["seed"], "numbers", most=2**128),
    )
