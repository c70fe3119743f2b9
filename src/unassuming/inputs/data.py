"""The data of a region as clean arrays: outputs, weights, labels, time series, aligned rows.

Rows are taken by position. Columns of pandas whose rows are named have to agree in these names: a
column in another order would give an answer about rows that do not belong together, and nothing in
the numbers would show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from unassuming._errors import complaint
from unassuming._labels import is_missing, row_index
from unassuming._numerics import OUTPUT
from unassuming._typing import Array, BoolArray
from unassuming._words import shown, spoken
from unassuming.inputs.options import as_count
from unassuming.inputs.tables import (
    MISSING,
    as_finite,
    as_numbers,
    check_distinct,
    column_at,
    column_count,
    is_frame,
    row_count,
    rows_between,
    unfit,
)
from unassuming.noise import BlockSymmetric, Noise


@final
@dataclass(frozen=True, eq=False)
class Data:
    """Inputs as the user passed them, and clean arrays of the rows that count."""

    X: Any
    rows: BoolArray  # of the rows as passed, those of positive weight
    y: Array  # (n,), the outputs of these rows, ±1 for labels
    weight: Array | None  # (n,), None if none were given
    classes: Array | None  # both labels; the second is +1
    before: Array = field(default_factory=lambda: np.empty(0))  # outputs that start a time series


def check_data(
    X: Any, y: Any, sample_weight: Any, *, classify: bool, classes: Any = None, noise: Any = None
) -> Data:
    """Check outputs, weights and, if y need not show both, classes; the inputs come later."""
    check_distinct(X)
    check_alignment(X=X, y=y, sample_weight=sample_weight, blocks=group_column(noise))
    length = row_count(X)
    target = as_outputs(y, length)
    rows, weight = check_weight(sample_weight, length)
    if classify:
        classes, labels = as_signs(target, rows, classes)
        return Data(X, rows, labels, weight, classes)
    outputs = as_finite(target[rows], "y")
    if (largest := np.abs(outputs).max()) >= OUTPUT:
        given = f"{largest:.3g}"
        raise ValueError(
            complaint("y", "is too large", f"numbers below {OUTPUT:g}", given, "Rescale y.")
        )
    return Data(X, rows, outputs, weight, None)


def as_outputs(y: Any, length: int) -> Any:
    """Return the outputs as a vector of that length."""
    target = _vector(np.asarray(y), "y")
    if len(target) != length:
        expected, remedy = f"{length} outputs, one for each row of X", "Pass rows of the same data."
        raise ValueError(complaint("y and X", "differ in length", expected, len(target), remedy))
    return target


def _vector(values: Any, name: str) -> Any:
    """Return a vector, or the only column of a table, as a vector."""
    if values.ndim == 2 and values.shape[1] == 1:
        return values[:, 0]
    if values.ndim != 1:
        expected, remedy = "one number for each row", "Pass all rows, and columns one at a time."
        given = f"shape {values.shape}"
        raise ValueError(complaint(name, "is not one column", expected, given, remedy))
    return values


def as_weights(sample_weight: Any, length: int) -> Array:
    """Return one finite weight for each row; a single number is repeated."""
    return as_numbers(sample_weight, "sample_weight", length, "row")


def check_weight(sample_weight: Any, length: int) -> tuple[BoolArray, Array | None]:
    """Return which rows have a positive weight, and their weights if any were given."""
    weight = np.ones(length) if sample_weight is None else as_weights(sample_weight, length)
    if (weight < 0).any():
        j, remedy = int(np.argmax(weight < 0)), "Drop a row by giving it weight zero."
        wrong, given = "has a negative entry", f"{weight[j]} at row {j} (counted from zero)"
        raise ValueError(complaint("sample_weight", wrong, "weights >= 0", given, remedy))
    rows = weight > 0
    if rows.sum() < 2:
        expected = "at least 2 rows of positive weight"
        remedy = "Pass more rows; those of weight zero do not count."
        raise ValueError(complaint("the data", "are too few", expected, rows.sum(), remedy))
    return rows, None if sample_weight is None else weight[rows]


def single_column(data: Data) -> Array | None:
    """Return the only column of the inputs, (n,), if there is one and it holds numbers."""
    X = data.X
    if column_count(X) != 1 or hasattr(X, "toarray"):
        return None
    values = np.asarray(X)[:, 0]
    return np.asarray(values[data.rows], dtype=np.float64) if values.dtype.kind in "iuf" else None


# --- rows with names ---


def check_alignment(**columns: Any) -> None:
    """Refuse columns whose index is not that of the first one that has an index."""
    # What has no index is taken by position, and another length is for others to refuse.
    indexed = {name: row_index(column) for name, column in columns.items()}
    known = [(name, index) for name, index in indexed.items() if index is not None]
    for name, index in known[1:]:
        reference, expected = known[0]
        alike = index.equals(expected) or list(index) == list(expected)  # of other types, too
        if len(index) != len(expected) or alike:
            continue
        j = next(j for j, pair in enumerate(zip(index, expected, strict=True)) if len({*pair}) > 1)
        given, wanted = index[j], expected[j]
        wrong, remedy = f"another index than {reference}", "Give both the same index"
        if index.is_unique and expected.is_unique and expected.isin(index).all():
            wrong = f"its rows in another order than {reference}"
            remedy = f"Align them with {name} = {name}.loc[{reference}.index]"
        raise ValueError(
            f"{name} has {wrong}: expected the index of {reference}, given {spoken(given)} in "
            f"place of {spoken(wanted)} at row {j} (counted from zero). {remedy}, or pass "
            f"{name}.to_numpy() if the rows correspond by position."
        )


def group_column(noise: Any) -> Any:
    """Return the labels of groups of rows, if the noise has them as a column of pandas."""
    return noise.column if isinstance(noise, BlockSymmetric) else None


def check_chunk(first_row: int, X: Any, y: Any, sample_weight: Any, noise: Noise) -> None:
    """Refuse columns of some of the rows whose index is not that of X."""
    # The noise has the labels of all rows. If they are numbered from 0, as are those of the chunk,
    # the numbers say nothing: each chunk counts its own rows.
    labels = group_column(noise)
    if labels is not None:
        indexes = map(row_index, (X, y, sample_weight, labels))
        numbered = all(index is None or _counts(index) for index in indexes)
        stop = first_row + row_count(X)
        labels = None if numbered else rows_between(labels, first_row, stop)
    check_alignment(X=X, y=y, sample_weight=sample_weight, blocks=labels)


def renumbered(column: Any, first_row: int, X: Any) -> Any:
    """Return a column of some rows without its index, if both that and the index of X count."""
    # That of X begins at 0, as in tables read from several files, and that of the column at the
    # number of the first row.
    own, index = row_index(column), row_index(X)
    if own is None or index is None or not _counts(index):
        return column
    return column.to_numpy() if _counts(own, first_row) else column


def _counts(index: Any, first: int = 0) -> bool:
    """Whether an index counts rows from the first one, as the default does from 0."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (first, 1)


# --- labels of two classes, of which the data may show only one (docs/theory.md 8) ---
#
# A region of labels exists for every y, also where all labels are equal: regions of the other data
# sets alone would not have their level. The class that does not occur has to be known by name.


def require_labels(target: Any) -> None:
    """Refuse missing labels."""
    for j, label in enumerate(target.tolist()):
        if _no_label(label):
            raise unfit("y", MISSING, label, [j], "Drop these rows.", "a label in every row")


def as_signs(target: Any, rows: BoolArray, classes: Any = None) -> tuple[Any, Array]:
    """Return the two classes, and the labels of some rows as ±1; the second class is +1."""
    # The other rows, of weight zero, count only where they name the class that is missing.
    labels = target[rows]
    require_labels(labels)
    present = np.unique(labels)
    names = _two(present, target) if classes is None else _named_classes(classes)
    known = names.tolist()
    other = [label for label in present.tolist() if label not in known]
    if other:
        raise ValueError(
            "y has a label that is not one of the classes: expected "
            f"{spoken(known[0])} or {spoken(known[1])}, given {spoken(other[0])}. Name the labels "
            "as they are in y, or leave out the other rows."
        )
    return names, np.where(labels == names[1], 1.0, -1.0)


def refuse_classes(classes: Any, model: Any) -> None:
    """Refuse names of classes where there are no labels."""
    if classes is not None:
        raise ValueError(
            "classes is only for classifiers: expected RidgeClassifier, LogisticRegression or "
            f"ua.LSSVC, given {type(model).__name__}. Leave out classes."
        )


def coded_classes(label: Any) -> tuple[Any, Any] | None:
    """Return both classes if one label determines the other: 0 and 1, -1 and 1, booleans."""
    # Ones may belong to either pair of numbers, but 1 is +1 in both.
    if isinstance(label, bool):
        return False, True
    return {0: (0, 1), 1: (0, 1), -1: (-1, 1)}.get(label)


def one_class(label: Any, remedy: str) -> ValueError:
    """Return the error about equal labels that do not determine the other class."""
    return _not_two([label], remedy)


def _not_two(labels: list[Any], remedy: str) -> ValueError:
    few = ", ".join(map(spoken, labels[:5])) + ", ..." * (len(labels) > 5)
    given, expected = f"{len(labels)}: {few}", "exactly two different labels"
    return ValueError(complaint("y", "does not hold two classes", expected, given, remedy))


def _named_classes(classes: Any) -> Any:
    """Return the names of two classes as an array; refuse anything else."""
    ordered = isinstance(classes, (list, tuple)) or getattr(classes, "ndim", 0) == 1
    labels = np.array(classes, dtype=object).tolist() if ordered else []
    if len(labels) != 2 or any(map(_no_label, labels)) or labels[0] == labels[1]:
        raise ValueError(
            "classes does not name two labels: expected a list or tuple of two different labels, "
            f"the second for +1, given {shown(classes)}. Pass e.g. classes=('no', 'yes')."
        )
    names = np.asarray(labels)  # NumPy turns a number beside text into text
    return names if names.tolist() == labels else np.array(labels, dtype=object)


def _two(present: Any, target: Any) -> Any:
    """Return both classes, of which one may occur in rows without weight only, or nowhere."""
    everywhere, (label, *others) = set(target.tolist()), present.tolist()
    if len(others) > 1:
        remedy = "Use a regressor for numbers, or one region for each pair of classes."
        raise _not_two([label, *others], remedy)
    if others or (len(everywhere) == 2 and not any(map(_no_label, everywhere))):
        return present if others else np.unique(target)
    if (coded := coded_classes(label)) is None:
        raise one_class(label, "Name both with classes=(first, second); the second is +1.")
    return np.array(coded, dtype=present.dtype)


def _no_label(label: Any) -> bool:
    return is_missing(label) or (isinstance(label, float) and not np.isfinite(label))


# --- time series ---


@final
@dataclass(frozen=True)
class Orders:
    """How far a model looks back: na outputs, and nb inputs that begin ``delay`` steps ago."""

    na: int
    nb: int
    delay: int
    intercept: bool

    @property
    def initial(self) -> int:
        """The number of first outputs that are initial values."""
        return max(self.na, self.nb + self.delay - 1 if self.nb else 0)

    @property
    def count(self) -> int:
        """The number of coefficients."""
        return int(self.intercept) + self.na + self.nb

    @property
    def names(self) -> list[str]:
        """The names of the coefficients, in their order."""
        own = [f"a{k}" for k in range(1, self.na + 1)] + [f"b{k}" for k in range(1, self.nb + 1)]
        return ["intercept", *own] if self.intercept else own


def as_orders(model: Any) -> Orders:
    """Return the orders of a model; refuse all but integers in their ranges."""
    wrong, past = "of ARX is out of range", "in the model."
    na = as_count(f"na {wrong}", model.na, 0, f"It is the number of past outputs {past}")
    least = 0 if na or model.fit_intercept else 1  # something has to be estimated
    nb = as_count(f"nb {wrong}", model.nb, least, f"It is the number of past inputs {past}")
    late = "An input acts on the output after one step or later: delay=1 is the usual choice."
    delay = as_count(f"delay {wrong}", model.delay, 1, late)
    return Orders(na, nb, delay, bool(model.fit_intercept))


def as_series(u: Any, y: Any, orders: Orders, *, fit: bool = True) -> tuple[Array, Array]:
    """Return input and output, (n,) each, long enough to fit, or else to predict, the model."""
    outputs = _series(y, "y")
    nothing = not orders.nb and (u is None or np.shape(u)[1:] == (0,))
    inputs = np.zeros(len(outputs)) if nothing else as_input(u)
    if len(inputs) != len(outputs):
        raise ValueError(
            f"u and y differ in length: expected one input for each of the {len(outputs)} outputs, "
            f"given {len(inputs)}. Pass the same times of both series."
        )
    least = orders.initial + (orders.count + 1 if fit else 1)
    if len(outputs) < least:
        raise ValueError(
            f"the series is too short: expected at least {least} outputs, given {len(outputs)}. "
            "Pass a longer series, or lower na, nb or delay."
        )
    return inputs, outputs


def as_input(u: Any) -> Array:
    """Return the input of a dynamical model as a vector."""
    if u is None:
        raise ValueError(
            "u is missing: expected one input for each output, given None. Pass the input series, "
            "or nb=0 for a model without inputs."
        )
    return _series(u, "u")


def _series(series: Any, name: str) -> Array:
    values = as_finite(series, name, "Series have no gaps: interpolate, or take a part without.")
    return np.asarray(_vector(values, name))


def lagged(series: Array, lags: range, first: int) -> Array:
    """Return the columns series[t - lag] for t >= first, (n - first, number of lags)."""
    stop = len(series)
    columns = [series[first - lag : stop - lag] for lag in lags]
    return np.column_stack(columns) if columns else np.empty((stop - first, 0))


def regressors(u: Array, y: Array, orders: Orders) -> Array:
    """Return the columns [1, y_{t-1}, ..., u_{t-delay}, ...] of all t after the initial values."""
    first = orders.initial
    one = np.ones((len(y) - first, int(orders.intercept)))
    outputs = lagged(y, range(1, orders.na + 1), first)
    inputs = lagged(u, range(orders.delay, orders.delay + orders.nb), first)
    return np.concatenate([one, outputs, inputs], axis=1)


def is_series_model(model: Any) -> bool:
    """Whether the rows of a model are times, in their order."""
    return bool(getattr(model, "time_series", False))


def check_series(model: Any, u: Any, y: Any, sample_weight: Any) -> tuple[Data, Array, Array]:
    """Return the rows of a time series after its initial values, and all of u and y."""
    if sample_weight is not None:
        raise ValueError(
            f"sample_weight does not apply to {type(model).__name__}: expected None, given "
            "weights. Leaving out a time would break the series. Leave the weights out."
        )
    check_alignment(u=u, y=y)
    orders = as_orders(model)
    inputs, outputs = as_series(u, y, orders)
    rows = np.arange(len(outputs)) >= orders.initial
    X = np.empty((len(outputs), 0)) if u is None else u
    return Data(X, rows, outputs[rows], None, None, outputs[~rows]), inputs, outputs


# --- columns that repeat earlier outputs, and so depend on the noise ---

_LONGEST, _CHANCE = 60, 1e-6  # the largest shift; the probability of agreeing by chance


def lagged_outputs(X: Any, y: Any) -> tuple[str, int] | None:
    """Return a column of X that equals y shifted by some rows, and the shift; None if none does."""
    # The comparison is exact. Columns of few values, which may agree by chance, and equally spaced
    # ones, such as a time index, are passed over.
    y = np.asarray(y)
    y = y.reshape(len(y)) if y.shape[1:] == (1,) else y
    if y.ndim != 1 or y.dtype.kind not in "iuf":
        return None
    n = len(y)
    for name, column in _columns(X):
        if column.dtype.kind not in "iuf" or len(column) != n:
            continue
        for shift in np.flatnonzero(column[1 : min(_LONGEST, n // 2) + 1] == y[:1]) + 1:
            k = int(shift)
            early = np.array_equal(column[k : k + 8], y[: min(8, n - k)])  # few columns agree
            if early and np.array_equal(column[k:], y[: n - k]) and _surprising(column[k:], n):
                return f"column {name} of X", k
    return None


def _columns(X: Any) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a table with their names."""
    if is_frame(X):
        yield from ((repr(name), column_at(X, j).to_numpy()) for j, name in enumerate(X.columns))
        return
    table = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    yield from ((str(j), column) for j, column in enumerate(table.T if table.ndim == 2 else ()))


def _surprising(column: Array, n: int) -> bool:
    """Whether unrelated numbers with these values would hardly agree in all rows."""
    if len(np.unique(np.diff(column))) < 3:
        return False
    _, counts = np.unique(column, return_counts=True)
    agree = float(((counts / len(column)) ** 2).sum())
    return bool(np.log(agree) * len(column) + np.log(_LONGEST * n) < np.log(_CHANCE))
