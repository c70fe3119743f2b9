"""The data of an experiment: who was treated, in which stratum and in which cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unassuming._labels import Labels, as_labels, is_missing, numbered
from unassuming._typing import Array, BoolArray, IntArray
from unassuming._words import spoken
from unassuming.inputs import as_finite, as_inputs, check_alignment


@final
@dataclass(frozen=True, eq=False)
class Experiment:
    """Outcomes and an assignment of n rows in u units, which are rows or clusters of rows.

    Attributes
    ----------
    y : array of shape (n,)
    treated : boolean array of shape (u,)
        Which units were treated.
    unit_of_row : integer array of shape (n,)
    stratum : integer array of shape (u,)
        The stratum of each unit, numbered from 0.
    controls : array of shape (n, p)
    names : tuple of two str
        The two values of the treatment, in words: without and with treatment.
    clustered, stratified : bool
        Whether clusters and strata were given.
    """

    y: Array
    treated: BoolArray
    unit_of_row: IntArray
    stratum: IntArray
    controls: Array
    names: tuple[str, str]
    clustered: bool
    stratified: bool

    @property
    def strata(self) -> int:
        """Number of strata."""
        return int(self.stratum.max()) + 1

    def rows(self, assignments: BoolArray) -> Array:
        """Return assignments of units (N, u) as numbers for the rows, (N, n)."""
        return assignments[:, self.unit_of_row].astype(np.float64)

    @classmethod
    def of(
        cls, y: Any, treatment: Any, treated: Any, strata: Any, clusters: Any, controls: Any
    ) -> Experiment:
        """Check what the user passes."""
        check_alignment(
            y=y, treatment=treatment, strata=strata, clusters=clusters, controls=controls
        )
        outcomes = as_finite(y, "y")
        if outcomes.ndim == 2 and outcomes.shape[1] == 1:
            outcomes = outcomes[:, 0]
        if outcomes.ndim != 1 or len(outcomes) < 2:
            raise ValueError(
                "y is not a vector of outcomes: expected one number for each of at least two rows, "
                f"given shape {outcomes.shape}. Test one outcome at a time."
            )
        n = len(outcomes)
        given, names = _two_values(_values(treatment, "treatment", n), treated)
        unit = np.arange(n) if clusters is None else _groups(clusters, "clusters", n)
        first = np.unique(unit, return_index=True)[1]
        _constant_within(given, unit, first, "treatment", clusters, names)
        stratum = np.zeros(n, dtype=np.intp)
        if strata is not None:
            stratum = _groups(strata, "strata", n)
            _constant_within(stratum, unit, first, "strata", clusters, None)
        found = cls(
            y=outcomes,
            treated=given[first],
            unit_of_row=unit,
            stratum=stratum[first],
            controls=_table(controls, n),
            names=names,
            clustered=clusters is not None,
            stratified=strata is not None,
        )
        found._check_variation()
        return found

    def _check_variation(self) -> None:
        both = [len(set(self.treated[self.stratum == s].tolist())) == 2 for s in range(self.strata)]
        if not any(both):
            raise ValueError(
                "treatment does not vary within any stratum: expected treated and untreated "
                f"{'clusters' if self.clustered else 'rows'} in at least one of the {self.strata} "
                "strata, given strata of one kind each. Pass the strata within which the "
                "treatment was drawn."
            )


def _check_length(labels: Labels, name: str, n: int) -> None:
    if labels.shape != (n,):
        raise ValueError(
            f"{name} has the wrong length: expected {n} values, one for each row of y, given shape "
            f"{labels.shape}. Pass the rows of the same data set."
        )


def _values(values: Any, name: str, n: int) -> Labels:
    """Return one value for each row; refuse missing ones."""
    labels = np.asarray(values)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    _check_length(labels, name, n)
    missing = np.array([is_missing(label) or label != label for label in labels.tolist()])
    if missing.any():
        j = int(np.argmax(missing))
        raise ValueError(
            f"{name} has a missing value: expected a value for every row, given {labels[j]} at row "
            f"{j} (counted from zero). Drop the row, or fill in the value."
        )
    return labels


def _groups(values: Any, name: str, n: int) -> IntArray:
    """Return the number of the group of each row, by first appearance."""
    labels = as_labels(values, name)
    _check_length(labels, name, n)
    return numbered(labels)[0]


def _two_values(labels: Labels, treated: Any) -> tuple[BoolArray, tuple[str, str]]:
    """Return which rows were treated, and the two values in words."""
    values = list(dict.fromkeys(labels.tolist()))
    if len(values) != 2:
        few = ", ".join(spoken(value) for value in values[:4])
        raise ValueError(
            "treatment does not have two values: expected two, such as 0 and 1, given "
            f"{len(values)} ({few}{', ...' if len(values) > 4 else ''}). "
            + (
                "Compare two treatments at a time, with the rows of these two."
                if len(values) > 2
                else "Without untreated and treated rows there is no effect to estimate."
            )
        )
    if treated is None:
        try:
            values.sort()
        except TypeError:
            raise ValueError(
                "treatment has values of different types: expected two that can be ordered, given "
                f"{spoken(values[0])} and {spoken(values[1])}. Name the treated one: treated=..."
            ) from None
    elif treated not in values:
        raise ValueError(
            f"treated is not a value of treatment: expected {spoken(values[0])} or "
            f"{spoken(values[1])}, given {treated!r}. Pass one of the two."
        )
    else:
        values.sort(key=lambda value: value == treated)
    rows = np.array([label == values[1] for label in labels.tolist()], dtype=np.bool_)
    return rows, (spoken(values[0]), spoken(values[1]))


def _constant_within(
    values: Labels,
    unit: IntArray,
    first: IntArray,
    name: str,
    clusters: Any,
    names: tuple[str, str] | None,
) -> None:
    """Refuse a treatment, or strata, that vary within a cluster."""
    varies = values != values[first][unit]
    if not varies.any():
        return
    j = int(np.argmax(varies))
    cluster = spoken(np.asarray(clusters).reshape(-1)[j])
    given = "both treatments" if names else "two strata"
    raise ValueError(
        f"{name} varies within a cluster: expected the same value in all rows of a cluster, given "
        f"{given} in cluster {cluster}, at row {j} (counted from zero). "
        + (
            "Leave out clusters if rows were treated one by one; pass them as strata if the "
            "treatment was drawn within them."
            if names
            else "Pass the stratum from which whole clusters were drawn."
        )
    )


def _table(controls: Any, n: int) -> Array:
    if controls is None:
        return np.empty((n, 0))
    if getattr(controls, "ndim", np.ndim(controls)) == 1:
        controls = as_finite(controls, "controls")[:, None]
    table = as_inputs(controls)
    if len(table) != n:
        raise ValueError(
            f"controls have the wrong number of rows: expected {n}, one for each row of y, given "
            f"shape {table.shape}. Pass the rows of the same data set."
        )
    return table
