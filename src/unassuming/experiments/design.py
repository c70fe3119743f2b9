"""The design of an experiment: who was treated, who could have been, and the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod
from typing import Any, Self, final

import numpy as np

from unassuming._errors import complaint
from unassuming._labels import as_labels, is_missing, numbered
from unassuming._typing import Array, BoolArray, IntArray
from unassuming._words import spoken
from unassuming.inputs import as_finite, as_inputs, check_alignment

_BATCH = 64  # a fixed number, since it decides which random numbers an assignment takes


@final
@dataclass(frozen=True, eq=False)
class Experiment:
    """Outcomes y (n,) and controls (n, p) of rows in u units: single rows, or clusters of them.

    As many units as ``treated`` (u,) has are treated in each ``stratum`` (u,), all choices equally
    likely. ``unit`` (n,) is the unit of each row; ``names`` are the values of the treatment in
    words, the treated one last.
    """

    y: Array
    controls: Array
    treated: BoolArray
    stratum: IntArray
    unit: IntArray
    names: tuple[str, str]
    clustered: bool
    stratified: bool

    @classmethod
    def of(
        cls, y: Any, treatment: Any, treated: Any, strata: Any, clusters: Any, controls: Any
    ) -> Self:
        """Check what the user passes."""
        check_alignment(
            y=y, treatment=treatment, strata=strata, clusters=clusters, controls=controls
        )
        outcomes = _column(as_finite(y, "y"))
        n = len(outcomes) if outcomes.ndim == 1 else 0
        if n < 2:
            expected, remedy = "one number for each of several rows", "Test one outcome at a time."
            shape = f"shape {outcomes.shape}"
            raise ValueError(complaint("y", "is not a vector", expected, shape, remedy))
        given, names = _two_values(treatment, treated, n)
        unit = np.arange(n) if clusters is None else _groups(clusters, "clusters", n)
        stratum = np.zeros(n, np.intp) if strata is None else _groups(strata, "strata", n)
        first = np.unique(unit, return_index=True)[1]
        for name, values in (("treatment", given), ("strata", stratum)):
            _check_within(name, np.not_equal(values, values[first][unit]), clusters)
        found = cls(
            y=outcomes,
            controls=_table(controls, n),
            treated=given[first],
            stratum=stratum[first],
            unit=unit,
            names=names,
            clustered=clusters is not None,
            stratified=strata is not None,
        )
        if found.order < 2:
            wrong = "varies within too few strata" if found.stratified else "varies too little"
            expected = "at least two assignments that differ, and are as likely"
            remedy = "Pass more rows or clusters, and the strata in which the treatment was drawn."
            raise ValueError(complaint("treatment", wrong, expected, found.count, remedy))
        return found

    @property
    def parts(self) -> list[IntArray]:
        """The units of each stratum."""
        return [np.flatnonzero(self.stratum == s) for s in range(int(self.stratum.max()) + 1)]

    @property
    def _choices(self) -> list[tuple[int, int]]:
        """Numbers of units, and of treated ones, in each stratum."""
        return [(len(part), int(self.treated[part].sum())) for part in self.parts]

    @property
    def count(self) -> int:
        """Number of possible assignments."""
        return prod(comb(units, treated) for units, treated in self._choices)

    @property
    def mirrored(self) -> bool:
        """Whether treated and untreated units may be exchanged, wherever the treatment varies.

        An assignment and its mirror image have the same statistic: one of the two is enough.
        """
        return all(2 * k == units for units, k in self._choices if 0 < k < units)

    @property
    def order(self) -> int:
        """Number of assignments that differ in their statistics, the one that was made included."""
        return self.count // 2 if self.mirrored else self.count

    def rows(self, assignments: BoolArray) -> Array:
        """Return assignments of units (N, u) as numbers for the rows, (N, n)."""
        return assignments[:, self.unit].astype(np.float64)

    def listed(self) -> Iterator[BoolArray]:
        """Yield all assignments but the one that was made, in batches (N, u)."""
        choices = [combinations(part, int(self.treated[part].sum())) for part in self.parts]
        every = np.zeros((self.count, len(self.treated)), dtype=np.bool_)
        for row, chosen in zip(every, product(*choices), strict=True):
            row[np.concatenate(chosen).astype(np.intp)] = True
        if self.mirrored:
            varies = [part[0] for part in self.parts if np.ptp(self.treated[part].astype(int))]
            every = every[every[:, varies[0]] == self.treated[varies[0]]]
        every = every[(every != self.treated).any(axis=1)]
        return (every[start : start + _BATCH] for start in range(0, len(every), _BATCH))

    def drawn(self, size: int, rng: np.random.Generator) -> Iterator[BoolArray]:
        """Yield ``size`` independent assignments in batches, each uniform among all of them."""
        for start in range(0, size, _BATCH):
            batch = np.tile(self.treated, (min(_BATCH, size - start), 1))
            for part in self.parts:
                batch[:, part] = rng.permuted(batch[:, part], axis=1)
            yield batch


def _column(values: Any) -> Any:
    """Return a table of one column as a vector."""
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _check_length(shape: tuple[int, ...], name: str, n: int) -> None:
    if shape[:1] != (n,) or (name != "controls" and len(shape) > 1):
        expected, remedy = f"{n}, one for each row of y", "Pass the rows of the same data set."
        raise ValueError(complaint(name, "has the wrong length", expected, f"{shape}", remedy))


def _groups(values: Any, name: str, n: int) -> IntArray:
    """Return the number of the group of each row, by first appearance."""
    labels = as_labels(values, name)
    _check_length(labels.shape, name, n)
    return numbered(labels)[0]


def _two_values(treatment: Any, treated: Any, n: int) -> tuple[BoolArray, tuple[str, str]]:
    """Return which rows were treated, and the two values in words."""
    labels = _column(np.asarray(treatment)).tolist()
    _check_length(np.shape(labels), "treatment", n)
    missing = [j for j, label in enumerate(labels) if is_missing(label) or label != label]
    if missing:
        given = f"{labels[missing[0]]} at row {missing[0]} (counted from zero)"
        wrong, expected = "has a missing value", "a value for every row"
        raise ValueError(complaint("treatment", wrong, expected, given, "Drop the row."))
    values = list(dict.fromkeys(labels))
    words = ", ".join(spoken(value) for value in values[:4])
    if len(values) != 2:
        given, remedy = f"{len(values)} ({words})", "Compare two treatments at a time."
        wrong = "does not have two values"
        raise ValueError(complaint("treatment", wrong, "two, e.g. 0 and 1", given, remedy))
    if treated is not None and treated not in values:
        remedy = "Pass the value of the treated rows."
        raise ValueError(
            complaint("treated", "is not a value of treatment", words, repr(treated), remedy)
        )
    try:
        values.sort(key=None if treated is None else lambda value: value == treated)
    except TypeError:
        wrong, expected = "has values of different types", "two that can be ordered"
        remedy = "Name the treated one: treated=..."
        raise ValueError(complaint("treatment", wrong, expected, words, remedy)) from None
    rows = np.array([label == values[1] for label in labels], dtype=np.bool_)
    return rows, (spoken(values[0]), spoken(values[1]))


def _check_within(name: str, varies: BoolArray, clusters: Any) -> None:
    """Refuse a treatment, or strata, that vary within a cluster."""
    if varies.any():
        j = int(np.argmax(varies))
        given = f"two in cluster {spoken(np.asarray(clusters).reshape(-1)[j])}, at row {j}"
        remedy = "If the treatment was drawn within clusters, pass them as strata."
        wrong, expected = "varies within a cluster", "one value in all rows of a cluster"
        raise ValueError(complaint(name, wrong, expected, given, remedy))


def _table(controls: Any, n: int) -> Array:
    """Return the controls as columns of finite numbers."""
    if controls is None:
        return np.empty((n, 0))
    if getattr(controls, "ndim", np.ndim(controls)) == 1:
        controls = as_finite(controls, "controls")[:, None]
    table = as_inputs(controls)
    _check_length(table.shape, "controls", n)
    return table
