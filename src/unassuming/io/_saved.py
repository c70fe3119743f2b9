"""The content of a file, decoded and checked: it may be damaged, foreign or malicious."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unassuming._archive import Unreadable
from unassuming._tables import Store
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.inputs import row_count
from unassuming.io._estimators import known_estimator
from unassuming.io._noise import known_noise
from unassuming.io._save import FORMAT
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
    try:
        return _decoded(header, store)
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"its parts do not fit together, {error}") from error


def _decoded(header: dict[str, Any], store: Store) -> Saved:
    if header.get("kind") == "stream":
        raise Unreadable("it holds a stream: ua.StreamingRegion.load reads it")
    if header["format"] != FORMAT:
        written = f"format {header['format']} of version {header['version']}"
        raise Unreadable(f"it has {written}, and this version reads format {FORMAT}")
    n, m, seed = (_integer(header[name]) for name in ("n", "m", "seed"))
    rows = store.arrays["rows"]
    _require(rows.dtype == np.bool_ and rows.ndim == 1 and rows.sum() == n >= 2, "rows")
    X = store.get_table(header["X"])
    _require(row_count(X) == len(rows), "inputs")
    weight = _vector(store, "weight", rows) if "weight" in store.arrays else None
    ties = check_ties(header["ties"], warn=False)  # older files have the former name
    drawn: Any = tuple(store.get_transformations(entry) for entry in header["drawn"])
    _require(bool(drawn) and all(len(part) == m - 1 for part in drawn), "transformations")
    drawn = drawn if header["several"] else drawn[0]
    noise = known_noise(header["noise"], store)
    if noise is not None:
        _check_drawn(Perturbations(noise, drawn, n, m))
    estimator, weighting = header["estimator"], header["weighting"]
    _require(isinstance(estimator["shown"], str) and "described" in estimator, "estimator")
    probe, ranks = store.arrays["probe"], store.arrays["ranks"]
    _require(probe.ndim == 2 and ranks.shape == (len(probe),), "candidates")
    return Saved(
        X=X,
        y=_outputs(header, store, rows),
        rows=rows,
        n=n,
        m=m,
        drawn=drawn,
        tie_order=_tie_order(ties, store, m),
        options={
            "m": "group" if header["enumerated"] else m,
            "sample_weight": weight,
            "weighting": weighting if isinstance(weighting, str) else store.get(weighting),
            "ties": ties,
            "classes": _classes(header, store),
            "seed": seed,
        },
        estimator=known_estimator(estimator),
        estimator_entry=estimator,
        noise=noise,
        noise_entry=header["noise"],
        tuning=None if header["tuning"] is None else _tuning(header["tuning"], store),
        probe=probe,
        ranks=ranks,
        fingerprint=store.arrays["fingerprint"],
    )


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise Unreadable(f"its {what} are not those of a region")


def _integer(value: Any) -> int:
    _require(isinstance(value, int) and not isinstance(value, bool) and value >= 0, "numbers")
    return int(value)


def _vector(store: Store, name: str, rows: BoolArray) -> Array:
    """Return the numbers of some rows, zero in all others."""
    vector = store.arrays[name]
    _require(vector.dtype == np.float64 and vector.shape == (rows.sum(),), name)
    full = np.zeros(len(rows))
    full[rows] = vector
    return full


def _outputs(header: dict[str, Any], store: Store, rows: BoolArray) -> Any:
    """Return y as the user passed it: numbers, or one of two classes."""
    y, classes = _vector(store, "y", rows), _classes(header, store)
    return y if classes is None else classes[(y > 0).astype(np.intp)]


def _classes(header: dict[str, Any], store: Store) -> Any:
    """Return the two labels, of which the second is +1; None for regression."""
    if header["classes"] is None:
        return None
    classes = np.asarray(store.get(header["classes"]))
    _require(classes.shape == (2,), "classes")
    return classes


def _tie_order(ties: str, store: Store, m: int) -> IntArray:
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
    """Refuse arrays that cannot be transformations of that assumption."""
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
