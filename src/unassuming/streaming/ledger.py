"""Sums over rows, joined in one fixed order whatever order the rows come in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.streaming.sums import LEAF_ROWS, Part, Sums

Node = tuple[int, int]
"""A complete node of the tree: its height, and its number among the nodes of that height."""


@final
@dataclass(frozen=True, eq=False)
class Pending:
    """An incomplete leaf: room for its rows (x, y, w), and which of them are there."""

    room: Array
    there: BoolArray

    @classmethod
    def of(cls, rows: Array, there: BoolArray) -> Pending:
        """Return a leaf with these rows only."""
        room = np.empty((len(there), rows.shape[1]))
        room[there] = rows
        return cls(room, there)

    def __reduce__(self) -> Any:
        """Send the rows that are there, and not the room for others."""
        return Pending.of, (self.room[self.there], self.there)


@final
class Ledger:
    """Sums over rows that arrive in any pieces and any order.

    Floating-point addition is not associative. So the row numbers divide the rows into leaves of a
    fixed size. A leaf is summed when all of its rows are present, and the sums of leaves are joined
    along one binary tree by leaf number. The order of additions does not depend on the order in
    which the rows arrive, so the total is the same to the last bit on the same linear algebra
    library.

    Memory: the rows of incomplete leaves, and the sums of each complete node whose sibling is
    incomplete. If rows arrive in order, there are at most log2(number of leaves) such nodes.

    Rows are added to a draft, which replaces the ledger when it is complete: an interrupted
    addition adds nothing and counts no row twice.
    """

    def __init__(self) -> None:
        self.nodes: dict[Node, Part] = {}  # sums of complete nodes
        self.pending: dict[int, Pending] = {}  # incomplete leaves, by number
        self.spans: list[tuple[int, int]] = []  # ranges [first, stop) of rows, sorted and disjoint
        self.outcomes: Array = np.empty(0)  # the different values of y, three of them at most

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(stop - first for first, stop in self.spans)

    @property
    def next_row(self) -> int:
        """The number after that of the last row."""
        return self.spans[-1][1] if self.spans else 0

    def plus(self, first: int, X: Array, y: Array, w: Array | float, sums: Sums) -> Ledger:
        """Return a ledger with rows first, first + 1, ... as well; none may be present already."""
        stop = first + len(y)
        draft, weight = self._draft([(first, stop)]), np.broadcast_to(w, y.shape)
        for leaf in range(first // LEAF_ROWS, (stop - 1) // LEAF_ROWS + 1):
            start = leaf * LEAF_ROWS
            a, b = max(first, start), min(stop, start + LEAF_ROWS)
            some, inside = slice(a - first, b - first), slice(a - start, b - start)
            room, there = draft._room(leaf, X.shape[1] + 2)
            room[inside, :-2], room[inside, -2] = X[some], y[some]
            room[inside, -1], there[inside] = weight[some], True
            draft._wait(leaf, Pending(room, there), sums)
        draft.outcomes = _few_values(draft.outcomes, y)
        return draft

    def merged(self, other: Ledger, sums: Sums) -> Ledger:
        """Return a ledger with all rows of another one as well; none may be present already."""
        draft = self._draft(other.spans)
        for place in sorted(other.nodes):
            draft._complete(place, other.nodes[place])
        for leaf, pending in other.pending.items():
            room, there = draft._room(leaf, pending.room.shape[1])
            room[pending.there] = pending.room[pending.there]
            draft._wait(leaf, Pending(room, there | pending.there), sums)
        draft.outcomes = _few_values(draft.outcomes, other.outcomes)
        return draft

    def copied(self) -> Ledger:
        """Return a ledger that shares nothing that is written to: waiting rows are copied."""
        draft = self._draft([])
        for leaf, pending in self.pending.items():
            draft.pending[leaf] = Pending(pending.room.copy(), pending.there)
        return draft

    def total(self, sums: Sums) -> Part:
        """Return the sums over rows 0, ..., n - 1, which must all be present."""
        parts = dict(self.nodes)
        for leaf, pending in self.pending.items():
            numbers = np.flatnonzero(pending.there)
            parts[0, leaf] = sums(pending.room[numbers], leaf * LEAF_ROWS + numbers)
        ordered = sorted(parts, key=lambda place: place[1] << place[0])
        total = parts[ordered[-1]]
        for place in reversed(ordered[:-1]):  # from the small nodes at the end to the large ones
            total = parts[place].joined(total)
        return total

    def waiting(self) -> Array | None:
        """Return all rows (x, y, w) if none of them is summed yet, else None."""
        if self.nodes or list(self.pending) != [0]:
            return None
        return self.pending[0].room[self.pending[0].there]

    def gaps(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges [first, stop) of rows that are missing before the last row."""
        stop = 0
        for first, end in self.spans:
            if first > stop:
                yield stop, first
            stop = end

    def _draft(self, spans: list[tuple[int, int]]) -> Ledger:
        """Return a copy whose spans include these rows; their sums are still to be added."""
        draft = Ledger()
        draft.nodes, draft.pending = dict(self.nodes), dict(self.pending)
        draft.spans, draft.outcomes = joined_spans([*self.spans, *spans]), self.outcomes
        return draft

    def _room(self, leaf: int, width: int) -> tuple[Array, BoolArray]:
        """Return room for the rows of a leaf, and which of them are there.

        Room is shared with the ledger that the draft replaces, which does not read what is added.
        """
        pending = self.pending.get(leaf)
        if pending is None:
            return np.empty((LEAF_ROWS, width)), np.zeros(LEAF_ROWS, dtype=np.bool_)
        return pending.room, pending.there.copy()

    def _wait(self, leaf: int, pending: Pending, sums: Sums) -> None:
        """Keep rows of an incomplete leaf; sum the leaf if it is complete."""
        if not pending.there.all():
            self.pending[leaf] = pending
            return
        self.pending.pop(leaf, None)
        numbers = np.arange(leaf * LEAF_ROWS, (leaf + 1) * LEAF_ROWS)
        self._complete((0, leaf), sums(pending.room, numbers))

    def _complete(self, place: Node, part: Part) -> None:
        """Store the sums of a node, joined with its sibling as long as that is complete."""
        height, number = place
        while (height, number ^ 1) in self.nodes:
            other = self.nodes.pop((height, number ^ 1))
            part = other.joined(part) if number & 1 else part.joined(other)
            height, number = height + 1, number >> 1
        self.nodes[height, number] = part


def joined_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges of rows, sorted and merged; refuse a row that is in two of them."""
    joined: list[tuple[int, int]] = []
    for first, stop in sorted(spans):
        if joined and first < joined[-1][1]:
            raise ValueError(
                "the rows overlap those that are present already: expected every row once, "
                f"given rows {first} to {min(stop, joined[-1][1]) - 1} (counted from zero) "
                "twice. Number the rows of each shard with first_row."
            )
        if joined and first == joined[-1][1]:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((first, stop))
    return joined


def _few_values(some: Array, more: Array) -> Array:
    """Return at most three of the different values: whether there are two is all that matters."""
    return some if len(some) == 3 else np.unique(np.concatenate([some, more]))[:3]
