"""Why intervals of single numbers are infinite, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.cells.codes import ALL, fewest_cells
from unassuming.inputs import SingleOptions
from unassuming.regions.explain import (
    EXCHANGEABLE,
    FEWER_FEATURES,
    SYMMETRIC,
    Cause,
    Explanation,
    Fact,
    Remedy,
    lower_level,
)
from unassuming.regions.single.evidence import Evidence
from unassuming.regions.single.summary import Answer, listed, together

_ROWS_FOR_HALVES = 4
"""Rows for each coefficient from which halves are within twice the t interval."""

OTHER_CELLS = Remedy("leave out cells for the default", None)
ANY_METHOD = Remedy("method='auto', which tries halves of the rows as well", None)
ALL_AT_ONCE = Remedy(
    "simultaneous=True: the bounds of the joint region are finite",
    "unassuming region without --pointwise: the bounds of the joint region are finite",
)
NORM_BOUND = Remedy(
    "a norm bound that you can assume: interval(norm_bound=B, simultaneous=True)",
    "a norm bound that you can assume: --norm-bound B of unassuming region, without --pointwise",
)


def why_infinite(
    evidence: Evidence,
    columns: Sequence[str],
    g: Array,
    names: Sequence[str],
    out: Answer,
    level: float,
    options: SingleOptions,
    best: Callable[[Array], Array],
    jointly: Callable[[float], bool],
) -> Explanation:
    """Say why intervals of functionals (N, d) of named columns are infinite, and what to do."""
    # `best` gives the highest level at which each of some functionals has a finite one, and
    # `jointly` says whether the joint region of a level is bounded.
    infinite, cells = ~out.finite, out.cells
    facts, remedies = list[Fact](), list[Remedy]()
    at, given = evidence.whole, options.cells is not None
    hidden, shift = infinite & ~at.vectors(g)[2], np.zeros_like(infinite)
    if hidden.any():
        facts += _dependence(evidence, columns, g, names, hidden)
    if not evidence.flips and evidence.swaps is not None and not evidence.spherical:
        shift = infinite & ~hidden & ~evidence.centred.at.vectors(g)[2]
    if shift.any():
        facts.append(Cause.SHIFT_NOT_SEEN(names=listed(names, shift)))
        remedies.append(SYMMETRIC)
    few = infinite & ~hidden & ~shift
    if few.any():
        reached = best(g[few])
        if given:
            least, needed = int(cells[few].min()), fewest_cells(level)
            facts.append(Cause.CELLS_CHOSEN(level=level, needed=needed, cells=least))
        for one in np.unique(reached).tolist() if not given else ():
            same = np.zeros_like(few)
            same[np.flatnonzero(few)[reached == one]] = True
            enough = enough_rows(evidence, g[same], level)
            facts.append(too_few(listed(names, same), level, one, enough))
        if reached.min() >= 0.5:
            remedies.append(lower_level(float(reached.min())))
        rows = evidence.signs is not None and not evidence.in_blocks and evidence.swaps is None
        offers = {
            OTHER_CELLS: given,
            ANY_METHOD: options.method in ("cells", "pairs"),
            EXCHANGEABLE: rows and not given and at.rows > 2 * at.rank,
            ALL_AT_ONCE: not hidden.any() and jointly(level),
        }
        remedies += [remedy for remedy, works in offers.items() if works]
    if hidden.any() or (few.any() and fewest_cells(level) <= ALL):
        remedies.append(FEWER_FEATURES)
        w, mixed = evidence.weight, evidence.spherical or evidence.swaps is not None
        if w is None or not mixed or (w == w[0]).all():
            remedies.append(NORM_BOUND)
    return Explanation(tuple(facts), tuple(remedies))


def too_few(names: str, level: float, best: float, enough: str) -> Fact:
    """Say that no interval of a level is finite, at which level one is, and what would do."""
    if fewest_cells(level) > ALL:
        return Cause.LEVEL_TOO_HIGH(names=names, level=level)
    if best < 0.5:
        return Cause.ALWAYS_INFINITE(names=names, level=level, enough=enough)
    return Cause.LEVEL_INFINITE(names=names, level=level, best=best, enough=enough)


def _dependence(
    evidence: Evidence, columns: Sequence[str], g: Array, names: Sequence[str], hidden: BoolArray
) -> Iterator[Fact]:
    """Name the columns that depend on each other, in groups, and other undetermined numbers."""
    n, d = evidence.n, len(columns)
    if n < d:
        yield Cause.ROWS_MISSING(n=n, d=d, names=listed(names, hidden))
        return
    found = evidence.whole.factor
    unseen = np.flatnonzero(found.unseen(np.eye(d)))
    lengths = np.linalg.norm(found.null, axis=0)
    null = found.null / np.where(lengths > 0, lengths, 1.0)
    share = np.abs(null @ null.T)[np.ix_(unseen, unseen)]
    size = np.sqrt(np.diagonal(share))
    linked = share > 1e-7 * size[:, None] * size
    group = np.arange(len(unseen))
    for _ in unseen:  # the smallest number of a group spreads to all of it
        group = np.where(linked, group, len(unseen)).min(axis=1)
    single = np.count_nonzero(g, axis=1) == 1
    asked = np.argmax(np.abs(g[hidden & single]), axis=1)
    for one in np.unique(group[np.isin(unseen, asked)]).tolist():
        yield Cause.DEPEND(names=together([columns[j] for j in unseen[group == one]]))
    if (hidden & ~single).any():
        yield Cause.NOT_IN_DESIGN(names=listed(names, hidden & ~single))


def enough_rows(evidence: Evidence, g: Array, level: float) -> str:
    """Return about how many rows or blocks like these have finite intervals of functionals."""
    needed, rank = fewest_cells(level), evidence.whole.rank
    if evidence.clusters is not None and evidence.clusters < needed:
        return f"{needed:,} blocks of rows"
    rows = max(_ROWS_FOR_HALVES * rank, evidence.n + 1)
    if evidence.kept is not None:
        return f"{max(rows, 2 * evidence.n):,} rows"
    units = np.arange(evidence.n) if evidence.signs is None else evidence.signs
    for column in evidence.Phi[:, (g != 0).any(axis=0)].T:  # rows that carry a rare value
        carriers = np.unique(units[column != np.median(column)]).size
        rows = max(rows, -(-evidence.n * needed // carriers) if carriers else 0)
    return f"{rows:,} rows"
