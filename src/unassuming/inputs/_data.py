"""The data of a region: outputs, labels and weights as clean arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from unassuming._numerics import OUTPUT
from unassuming._typing import Array, BoolArray
from unassuming.inputs._alignment import check_alignment, group_column
from unassuming.inputs._arrays import as_finite
from unassuming.inputs._classes import as_signs
from unassuming.inputs._tables import check_distinct, row_count
from unassuming.noise import Noise


@final
@dataclass(frozen=True, eq=False)
class Data:
    """Inputs as the user passed them, and clean arrays of the rows that count.

    Attributes
    ----------
    X : object
        As passed.
    rows : boolean array, one entry for each row as passed
        Which rows have a positive weight.
    y, weight : arrays of shape (n,)
        Outputs (±1 for labels) and weights of those rows; weight is None if none were given.
    classes : array of shape (2,), or None
        The two labels; the second is +1.
    before : array
        Outputs of the first rows, if these only start a time series and do not count.
    """

    X: Any
    rows: BoolArray
    y: Array
    weight: Array | None
    classes: Array | None
    before: Array = field(default_factory=lambda: np.empty(0))


def check_data(
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    classify: bool,
    classes: Any = None,
    noise: Noise | None = None,
) -> Data:
    """Check outputs and weights; the inputs are checked after the transformers.

    ``classes`` are both labels, of which y may show only one; None if y names them itself. The
    noise may have labels of the rows.
    """
    check_distinct(X)
    check_alignment(X=X, y=y, sample_weight=sample_weight, blocks=group_column(noise))
    length = row_count(X)
    target = as_outputs(y, length)
    rows, weight = check_weight(sample_weight, length)
    if rows.sum() < 2:
        raise ValueError(
            "the data are too few: expected at least 2 rows of positive weight, given "
            f"{rows.sum()}. Pass at least two rows."
        )
    if classify:
        classes, labels = as_signs(target, rows, classes)
        return Data(X, rows, labels, weight, classes)
    outputs = as_finite(target[rows], "y")
    if np.abs(outputs).max() >= OUTPUT:
        raise ValueError(
            f"y is too large: expected numbers below {OUTPUT:g}, whose squares fit into double "
            f"precision, given {np.abs(outputs).max():.3g}. Divide y by a power of ten."
        )
    return Data(X, rows, outputs, weight, None)


def as_outputs(y: Any, length: int) -> Any:
    """Return the outputs as a vector of that length."""
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim != 1:
        problem, remedy = "has several outputs", "Build one region for each column."
        if target.ndim == 0:
            problem, remedy = "is a single number", "Pass all outputs."
        raise ValueError(
            f"y {problem}: expected a vector of one number for each row, given shape "
            f"{target.shape}. {remedy}"
        )
    if len(target) != length:
        raise ValueError(
            f"y and X differ in length: expected {length} outputs, one for each row of X, given "
            f"{len(target)}. Pass the rows of the same data set."
        )
    return target


def as_weights(sample_weight: Any, length: int) -> Array:
    """Return one finite weight for each row; a single number is repeated."""
    weight = as_finite(sample_weight, "sample_weight")
    if weight.ndim == 0:
        return np.full(length, float(weight))
    if weight.shape != (length,):
        raise ValueError(
            f"sample_weight has the wrong length: expected {length} weights, one for each row, "
            f"given shape {weight.shape}. Pass one weight for each row of X."
        )
    return weight


def check_weight(sample_weight: Any, length: int) -> tuple[BoolArray, Array | None]:
    """Return which rows have a positive weight, and their weights if any were given."""
    if sample_weight is None:
        return np.ones(length, dtype=np.bool_), None
    weight = as_weights(sample_weight, length)
    if (weight < 0).any():
        j = int(np.argmax(weight < 0))
        raise ValueError(
            f"sample_weight has a negative entry: expected weights >= 0, given {weight[j]} at row "
            f"{j} (counted from zero). Drop a row by giving it weight zero."
        )
    rows = weight > 0
    if not rows.any():
        raise ValueError(
            "sample_weight is zero everywhere: expected at least two positive weights, given "
            f"{length} zeros. Leave it out for equal weights."
        )
    return rows, weight[rows]


def single_column(data: Data) -> Array | None:
    """Return the only column of the inputs, (n,), if there is one and it holds numbers."""
    X = data.X
    if len(np.shape(X)) != 2 or np.shape(X)[1] != 1 or hasattr(X, "toarray"):
        return None
    values = np.asarray(X)[:, 0]
    return np.asarray(values[data.rows], dtype=np.float64) if values.dtype.kind in "iuf" else None
