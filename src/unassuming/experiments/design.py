"""The design of an experiment: who was treated, who could have been, and the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod
from typing import Any, Self, final

import numpy as np

from unassuming._labels import as_labels, numbered
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
        outcomes = as_finite(y, "y")
        outcomes = outcomes[:, 0] if outcomes.ndim == 2 and outcomes.shape[1] == 1 else outcomes
        if outcomes.ndim != 1 or len(outcomes) < 2:
            raise ValueError(
                "y is not a vector: expected one number for each of several rows, given shape "
                f"{outcomes.shape}. Test one outcome at a time."
            )
        n = len(outcomes)
        given, names = _two_values(treatment, treated, n)
        unit = np.arange(n) if clusters is None else _labels(clusters, "clusters", n)
        stratum = np.zeros(n, np.intp) if strata is None else _labels(strata, "strata", n)
        unit, stratum = numbered(unit)[0], numbered(stratum)[0]
        first = np.unique(unit, return_index=True)[1]
        for name, values in (("treatment", given), ("strata", stratum)):
            varies = values != values[first][unit]
            if varies.any():
                j = int(np.argmax(varies))
                raise ValueError(
                    f"{name} varies within a cluster: expected one value in all rows of a cluster, "
                    f"given two in cluster {spoken(np.asarray(clusters).reshape(-1)[j])}, at row "
                    f"{j}. If the treatment was drawn within clusters, pass them as strata."
                )
        if getattr(controls, "ndim", np.ndim(controls)) == 1:
            controls = as_finite(controls, "controls")[:, None]
        table = np.empty((n, 0)) if controls is None else as_inputs(controls)
        _check_length(len(table), "controls", n)
        grouped = {"clustered": clusters is not None, "stratified": strata is not None}
        found = cls(outcomes, table, given[first], stratum[first], unit, names, **grouped)
        if found.order < 2:
            where = "within too few strata" if found.stratified else "too little"
            raise ValueError(
                f"treatment varies {where}: expected at least two assignments that differ, and are "
                f"as likely, given {found.count}. Pass more rows or clusters, and the strata in "
                "which the treatment was drawn."
            )
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


def _check_length(length: int, name: str, n: int) -> None:
    if length != n:
        raise ValueError(
            f"{name} has the wrong length: expected {n}, one for each row of y, given {length}. "
            "Pass the rows of the same data set."
        )


def _labels(values: Any, name: str, n: int) -> Any:
    """Return the label of each row."""
    labels = as_labels(values, name)
    _check_length(len(labels), name, n)
    return labels


def _two_values(treatment: Any, treated: Any, n: int) -> tuple[BoolArray, tuple[str, str]]:
    """Return which rows were treated, and the two values in words."""
    labels = np.asarray(treatment)
    if labels.dtype.kind != "f" or labels.ndim > 1 or np.isnan(labels).any():
        labels = as_labels(treatment, "treatment")
    _check_length(len(labels), "treatment", n)
    values = np.unique(labels).tolist()
    words = ", ".join(spoken(value) for value in values[:4])
    if len(values) != 2:
        raise ValueError(
            f"treatment does not have two values: expected two, e.g. 0 and 1, given {len(values)} "
            f"({words}). Compare two treatments at a time."
        )
    if treated is not None and treated not in values:
        raise ValueError(
            f"treated is not a value of treatment: expected {words}, given {treated!r}. Pass the "
            "value of the treated rows."
        )
    without, chosen = values if treated is None or treated == values[1] else values[::-1]
    return labels == chosen, (spoken(without), spoken(chosen))
