"""What a label region says of columns that double precision cannot tell apart."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from unassuming._rounding import column_units
from unassuming._words import joined
from unassuming.geometry.labels import Admissible
from unassuming.objectives import Design
from unassuming.regions._explain import Cause, Fact

_SHARE = 0.01
"""Columns belong to a combination if their share of it is at least this."""


def unresolved(design: Design, admissible: Admissible, names: list[str]) -> tuple[Fact, ...]:
    """Name the features that nearly depend on each other; none if their coordinates are resolved.

    They are those of the combination that moves fitted values least, but does move them.
    """
    if design.dual or admissible.resolved or not admissible.rank:
        return ()
    phi = admissible.phi
    way = np.abs(svd(phi / column_units(phi))[2][admissible.rank - 1])
    columns = [names[j] for j in np.flatnonzero(way > _SHARE * way.max())]
    return (Cause.UNRESOLVED(columns=joined(columns)),)
