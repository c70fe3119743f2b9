"""The two classes of labels, of which the data may show only one (docs/theory.md 8).

A region of labels exists for every y, also where all labels are equal: whether they are depends on
the labels, so that regions of the other data sets alone would not have their level. The class that
does not occur has to be known by name: the user passes both, or y is coded by 0 and 1, by -1 and 1
or by booleans.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._labels import is_missing
from unassuming._typing import Array, BoolArray
from unassuming._words import shown, spoken
from unassuming.inputs._arrays import missing

_CODED: dict[float, tuple[int, int]] = {0: (0, 1), 1: (0, 1), -1: (-1, 1)}


def require_labels(target: Any) -> None:
    """Refuse missing labels."""
    for j, label in enumerate(target.tolist()):
        if _is_missing(label):
            raise missing("y", label, [j], "Drop these rows.", "a label in every row")


def as_signs(target: Any, rows: BoolArray, classes: Any = None) -> tuple[Any, Array]:
    """Return the two classes, and the labels of some rows as ±1; the second class is +1.

    The other rows, which have weight zero, count only where they name the class that is missing.
    """
    labels = target[rows]
    require_labels(labels)
    present = np.unique(labels)
    if classes is not None:
        names = as_classes(classes)
        known = names.tolist()
        other = next((label for label in present.tolist() if label not in known), None)
        if other is not None:
            raise ValueError(
                "y has a label that is not one of the classes: expected "
                f"{spoken(known[0])} or {spoken(known[1])}, given {spoken(other)}. Name the labels "
                "as they are in y, or leave out the other rows."
            )
    elif len(present) == 1:
        names = _completed(present, target)
    elif len(present) == 2:
        names = present
    else:
        few = ", ".join(map(repr, present[:5].tolist())) + (", ..." if len(present) > 5 else "")
        raise ValueError(
            "y does not hold two classes: expected exactly two different labels, given "
            f"{len(present)}: {few}. Use a regressor for numbers, or one region for each pair of "
            "classes."
        )
    return names, np.where(labels == names[1], 1.0, -1.0)


def as_classes(classes: Any) -> Any:
    """Return the names of two classes as an array; refuse anything else."""
    ordered = isinstance(classes, (list, tuple)) or getattr(classes, "ndim", 0) == 1
    given = classes if ordered else ()
    labels = [label.item() if isinstance(label, np.generic) else label for label in given]
    if len(labels) != 2 or any(map(_is_missing, labels)) or labels[0] == labels[1]:
        raise ValueError(
            "classes does not name two labels: expected a list or tuple of two different labels, "
            f"the second for +1, given {shown(classes)}. Pass e.g. classes=('no', 'yes')."
        )
    names = np.asarray(labels)
    if names.tolist() != labels:  # a number beside text, which NumPy would turn into text
        names = np.empty(2, dtype=object)
        names[:] = labels
    return names


def refuse_classes(classes: Any, model: Any) -> None:
    """Refuse names of classes where there are no labels."""
    if classes is not None:
        raise ValueError(
            "classes is only for classifiers: expected RidgeClassifier, LogisticRegression or "
            f"ua.LSSVC, given {type(model).__name__}. Leave out classes."
        )


def _completed(present: Any, target: Any) -> Any:
    """Return both classes, given the only one that occurs."""
    (label,) = present.tolist()
    everywhere = set(target.tolist())
    if len(everywhere) == 2 and not any(map(_is_missing, everywhere)):
        return np.unique(target)
    coded = coded_classes(label)
    if coded is None:
        raise one_class(label, "Name both with classes=(first, second); the second is +1.")
    return np.array(coded, dtype=present.dtype)


def coded_classes(label: Any) -> tuple[Any, Any] | None:
    """Return both classes if one label determines the other: 0 and 1, -1 and 1, booleans.

    Ones may belong to either pair of numbers. It makes no difference: 1 is +1 in both, and the
    other class, which does not occur, has only a name.
    """
    if isinstance(label, bool):
        return False, True
    return _CODED.get(label) if isinstance(label, (int, float)) else None


def one_class(label: Any, remedy: str) -> ValueError:
    """Return the error about equal labels that do not determine the other class."""
    return ValueError(
        "y does not hold two classes: expected exactly two different labels, given 1: "
        f"{spoken(label)}. {remedy}"
    )


def _is_missing(label: Any) -> bool:
    return is_missing(label) or (isinstance(label, float) and not np.isfinite(label))
