"""Points at which a saved region and the one built again are compared, since code is not saved.

Candidates near the estimate and far from it must have the same ranks. At inputs between and beyond
those of the data, the transformers and the kernel must give the same values. Code that differs only
at other inputs goes unnoticed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from unassuming._errors import NotAvailable
from unassuming._tables import as_table
from unassuming._typing import Array, IntArray
from unassuming.inputs import column_at, is_frame, row_count, rows_between
from unassuming.regions import Region

_CANDIDATES = 16
_ROWS = 6  # of each kind


def ranked_candidates(region: Region) -> tuple[Array, IntArray]:
    """Return candidates near the estimate and far from it, and their ranks where decided."""
    probe = _candidates(region)
    ranks = [_rank_or_none(region, a) for a in probe]
    decided = [k for k, rank in enumerate(ranks) if rank is not None]
    return probe[decided], np.array([ranks[k] for k in decided], dtype=np.intp)


def _rank_or_none(region: Region, a: Array) -> int | None:
    try:
        return int(region.rank(a))
    except ArithmeticError:
        return None


def _candidates(region: Region) -> Array:
    try:
        centre = np.array(region.estimate)
    except (NotAvailable, ValueError):  # no minimum is known
        centre = np.zeros(region.objective.d)
    rng = np.random.default_rng(0)
    size = max(float(np.abs(centre).max()), 1e-3)
    steps = rng.standard_normal((_CANDIDATES, len(centre))) * size
    return np.vstack([centre, centre + np.geomspace(0.01, 10.0, _CANDIDATES)[:, None] * steps])


def fingerprint(region: Region) -> tuple[Array, Array]:
    """Return numbers that identify the features, and the size relative to which they round."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        rows = [_at_inputs(region), *(_at_new_inputs(region, row) for row in extra_rows(region))]
    numbers, sizes = zip(*rows, strict=True)
    return np.concatenate(numbers), np.concatenate(sizes)


def same_fingerprint(saved: Array, region: Region) -> bool:
    """Whether the region has these features, up to rounding."""
    found, size = fingerprint(region)
    if found.shape != saved.shape or not np.array_equal(np.isnan(found), np.isnan(saved)):
        return False
    with np.errstate(all="ignore"):  # far from the data there may be infinities
        close = np.abs(found - saved) <= 1e-7 * size
    return bool((close | np.isnan(saved) | (found == saved)).all())


def _at_inputs(region: Region) -> tuple[Array, Array]:
    """Return the fitted values of fixed coefficients."""
    d = region.objective.d
    fitted = np.asarray(region.objective.fitted(_weights(d, 2)[0] / d)).ravel()
    return fitted, np.full(len(fitted), max(float(np.abs(fitted).max(initial=0.0)), 1e-300))


def _at_new_inputs(region: Region, row: Any) -> tuple[Array, Array]:
    """Return features, rows of the design and the kernel itself, each as one number.

    It is not-a-number if a transformer refuses the input, such as an unknown category.
    """
    try:
        features = region.problem.transform(row)
        vectors = [features[0]]
        design = region.objective.design
        if design is not None:
            vectors.append(design.rows(features)[0])
            own = design.self_similarity(features)
            vectors += [] if own is None else [own]
    except Exception:
        return np.full(1, np.nan), np.full(1, np.nan)
    pairs = [_weights(len(vector), 1)[0, 0] * vector for vector in vectors]
    return np.array([p.sum() for p in pairs]), np.array([np.abs(p).sum() for p in pairs])


def _weights(d: int, size: int) -> Array:
    return np.random.default_rng(1).uniform(0.5, 1.5, size=(1, size, d))


def extra_rows(region: Region) -> Iterator[Any]:
    """Yield inputs that are not in the data, one by one, as tables of the same type.

    Some take each column from another row, some lie halfway between two rows, some beyond all rows.
    """
    X = region.inputs
    rows = np.unique(np.linspace(0, row_count(X) - 1, 2 * _ROWS).round().astype(np.intp))
    if is_frame(X):
        yield from _of_frame(X, rows)
    elif sparse.issparse(X):
        for row in _numbers(X.tocsr()[rows].toarray()):
            yield type(X)(row)
    else:
        taken = as_table(X)[rows]
        if not taken.size:  # a time series without inputs
            return
        if taken.ndim != 2:  # texts, for instance
            yield from (taken[j : j + 1] for j in range(len(taken)))
        elif taken.dtype.kind in "biuf":
            yield from _numbers(taken)
        else:
            yield from _mixed(taken)


def _numbers(table: Array) -> Iterator[Array]:
    table = table.astype(np.float64)
    yield from _mixed(table)
    columns = [_between_and_beyond(column) for column in table.T]
    yield from np.column_stack(columns)[:, None, :]


def _mixed(table: Any) -> Iterator[Any]:
    count, width = table.shape
    for j in range(min(_ROWS, count)):
        yield table[(j + np.arange(width)) % count, np.arange(width)][None, :]


def _between_and_beyond(column: Array) -> Array:
    """Return numbers halfway between consecutive entries, and six beyond all of them."""
    middle = (column + np.roll(column, 1))[:_ROWS] / 2
    known = column[np.isfinite(column)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    width = high - low or 1.0
    outside = [low - 0.1 * width, high + 0.1 * width, low - width, high + width]
    return np.concatenate([middle, outside, [low - 10 * width, high + 10 * width]])


def _of_frame(X: Any, rows: Any) -> Iterator[Any]:
    """Yield such rows of a DataFrame; columns that do not hold numbers keep their own values."""
    sample = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    count, numeric = len(rows), False
    few = np.arange(min(_ROWS, count))
    many = np.arange(len(few) + 6)
    mixed, beyond = {}, {}
    for c, name in enumerate(X.columns):
        column = column_at(sample, c)
        values = column.to_numpy()
        mixed[name] = _entries(column, (few + c) % count)
        if values.dtype.kind in "iuf":
            numeric, beyond[name] = True, _between_and_beyond(values.astype(np.float64))
        else:
            beyond[name] = _entries(column, many % count)
    for columns in (mixed, beyond) if numeric else (mixed,):
        table = type(X)(columns)
        yield from (rows_between(table, j, j + 1) for j in range(len(table)))


def _entries(column: Any, positions: Any) -> Any:
    """Return entries of a column of a DataFrame, by their positions."""
    if hasattr(column, "iloc"):
        return column.iloc[positions].reset_index(drop=True)
    return column[positions.tolist()]
