"""The data of a region: outputs, labels and weights as clean arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.inputs._arrays import as_finite, is_missing, missing
from unassuming.inputs._tables import check_distinct, row_count


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
    """

    X: Any
    rows: BoolArray
    y: Array
    weight: Array | None
    classes: Array | None


def check_data(X: Any, y: Any, sample_weight: Any, *, classify: bool) -> Data:
    """Check outputs and weights; the inputs are checked after the transformers."""
    check_distinct(X)
    length = row_count(X)
    target = as_outputs(y, length)
    rows, weight = check_weight(sample_weight, length)
    target = target[rows]
    if len(target) < 2:
        raise ValueError(
            "the data are too few: expected at least 2 rows of positive weight, given "
            f"{len(target)}. Pass at least two rows."
        )
    classes = None
    if classify:
        classes, target = _as_labels(target)
    return Data(X, rows, as_finite(target, "y"), weight, classes)


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
            f"{j} (counted from 0). Drop a row by giving it weight zero."
        )
    rows = weight > 0
    if not rows.any():
        raise ValueError(
            "sample_weight is zero everywhere: expected at least two positive weights, given "
            f"{length} zeros. Leave it out for equal weights."
        )
    return rows, weight[rows]


def require_labels(target: Any) -> None:
    """Refuse missing labels."""
    for j, label in enumerate(target.tolist()):
        if is_missing(label) or (isinstance(label, float) and not np.isfinite(label)):
            raise missing("y", label, [j], "Drop these rows.", "a label in every row")


def _as_labels(target: Any) -> tuple[Array, Array]:
    require_labels(target)
    classes = np.unique(target)
    if len(classes) != 2:
        shown = ", ".join(map(repr, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
        remedy = "Use a regressor for numbers, or one region for each pair of classes."
        if len(classes) < 2:
            remedy = "Include rows of both classes."
        raise ValueError(
            "y does not hold two classes: expected exactly two different labels, given "
            f"{len(classes)}: {shown}. {remedy}"
        )
    return classes, np.where(target == classes[1], 1.0, -1.0)
