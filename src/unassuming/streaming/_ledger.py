"""Sums over rows, joined in one fixed order whatever order the rows come in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.streaming._exact_rank import Spaces, extended, joined
from unassuming.streaming._sums import Part, Sums

Node = tuple[int, int]
"""A complete node of the tree: its height, and its number among the nodes of that height."""


@dataclass(frozen=True, eq=False)
class Pending:
    """An incomplete leaf.

    ``rows`` has room for all rows of the leaf; in a stream from a file, it has those present only,
    so that a file takes no more memory than its size. The last column has the weights of the rows:
    rows times the root of a weight would be rounded.
    """

    rows: Array
    there: BoolArray

    def present(self) -> Array:
        """Return the rows that are present."""
        return self.rows[self.there] if len(self.rows) == len(self.there) else self.rows

    def room(self) -> Array:
        """Return an array for all rows of the leaf, with those that are present."""
        if len(self.rows) == len(self.there):
            return self.rows
        rows = np.zeros((len(self.there), self.rows.shape[1]))
        rows[self.there] = self.rows
        return rows


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

    def __init__(self, leaf_rows: int) -> None:
        self.leaf_rows = leaf_rows
        self.nodes: dict[Node, Part] = {}  # sums of complete nodes
        self.pending: dict[int, Pending] = {}  # incomplete leaves, by number
        self.spans: list[tuple[int, int]] = []  # ranges [first, stop) of rows, sorted and disjoint
        self.spaces: Spaces = ()  # of the features of all rows
        self.outcomes: Array = np.empty(0)  # the different values of y, three of them at most

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(stop - first for first, stop in self.spans)

    @property
    def next_row(self) -> int:
        """The number after that of the last row."""
        return self.spans[-1][1] if self.spans else 0

    def plus(self, first: int, rows: Array, sums: Sums, weight: Array | None = None) -> Ledger:
        """Return a ledger with rows first, first + 1, ... as well; none may be present already."""
        weight = np.ones(len(rows)) if weight is None else weight
        draft = self._draft([(first, first + len(rows))] if len(rows) else [])
        start, size = 0, self.leaf_rows
        while start < len(rows):
            leaf, offset = divmod(first + start, size)
            stop = min(len(rows), start + size - offset)
            some, own = rows[start:stop], weight[start:stop]
            if len(some) == size:
                draft._complete((0, leaf), sums(some, leaf * size, own), sums)
            else:
                where = np.zeros(size, dtype=np.bool_)
                where[offset : offset + len(some)] = True
                draft._wait(leaf, where, np.column_stack([some, own]), sums)
            start = stop
        if len(rows):
            draft.spaces = extended(draft.spaces, rows[:, :-1])
            draft.outcomes = _few_values(draft.outcomes, rows[:, -1])
        return draft

    def merged(self, other: Ledger, sums: Sums) -> Ledger:
        """Return a ledger with all rows of another one as well; none may be present already."""
        draft = self._draft(other.spans)
        for place in sorted(other.nodes):
            draft._complete(place, other.nodes[place], sums)
        for leaf, pending in other.pending.items():
            draft._wait(leaf, pending.there, pending.present(), sums)
        draft.spaces = joined(draft.spaces, other.spaces)
        draft.outcomes = _few_values(draft.outcomes, other.outcomes)
        return draft

    def _draft(self, spans: list[tuple[int, int]]) -> Ledger:
        """Return a copy whose spans include these rows; their sums are still to be added."""
        draft = Ledger(self.leaf_rows)
        draft.nodes, draft.pending = dict(self.nodes), dict(self.pending)
        draft.spans, draft.spaces = self._joined(spans), self.spaces
        draft.outcomes = self.outcomes
        return draft

    def copied(self) -> Ledger:
        """Return a ledger that shares nothing that is written to: waiting rows are copied."""
        draft = self._draft([])
        for leaf, pending in self.pending.items():
            draft.pending[leaf] = Pending(pending.rows.copy(), pending.there)
        return draft

    def total(self, sums: Sums) -> Part:
        """Return the sums over rows 0, ..., n - 1, which must all be present."""
        parts = dict(self.nodes)
        for leaf, pending in self.pending.items():
            parts[0, leaf] = _summed(pending.present(), leaf * self.leaf_rows, sums)
        ordered = sorted(parts, key=lambda place: place[1] << place[0])
        total = parts[ordered[-1]]
        for place in reversed(ordered[:-1]):  # from the small nodes at the end to the large ones
            total = sums.join(parts[place], total)
        return total

    def waiting(self) -> tuple[Array, Array] | None:
        """Return all rows and their weights if none of them is summed yet, else None."""
        if self.nodes or list(self.pending) != [0]:
            return None
        rows = self.pending[0].present()
        return np.ascontiguousarray(rows[:, :-1]), rows[:, -1].copy()

    def gaps(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges [first, stop) of rows that are missing before the last row."""
        stop = 0
        for first, end in self.spans:
            if first > stop:
                yield stop, first
            stop = end

    def _joined(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the ranges of rows with new ones; refuse a row that is present already."""
        joined: list[tuple[int, int]] = []
        for first, stop in sorted([*self.spans, *spans]):
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

    def _wait(self, leaf: int, where: BoolArray, rows: Array, sums: Sums) -> None:
        """Keep rows of an incomplete leaf; sum the leaf if these complete it."""
        pending = self.pending.get(leaf)
        if pending is None:
            nothing = np.zeros((0, rows.shape[1]))
            pending = Pending(nothing, np.zeros(self.leaf_rows, dtype=np.bool_))
        # Shared with the previous ledger, which the draft replaces and which does not read them.
        room, there = pending.room(), pending.there | where
        room[where] = rows
        if there.all():
            self.pending.pop(leaf, None)
            part = _summed(room, leaf * self.leaf_rows, sums)
            self._complete((0, leaf), part, sums)
        else:
            self.pending[leaf] = Pending(room, there)

    def _complete(self, place: Node, part: Part, sums: Sums) -> None:
        """Store the sums of a node, joined with its sibling as long as that is complete."""
        height, number = place
        while (height, number ^ 1) in self.nodes:
            other = self.nodes.pop((height, number ^ 1))
            part = sums.join(other, part) if number & 1 else sums.join(part, other)
            height, number = height + 1, number >> 1
        self.nodes[height, number] = part


def _few_values(some: Array, more: Array) -> Array:
    """Return at most three of the different values: whether there are two is all that matters."""
    return some if len(some) == 3 else np.unique(np.concatenate([some, more]))[:3]


def _summed(rows: Array, first: int, sums: Sums) -> Part:
    """Return the sums over rows that have their weights in the last column."""
    return sums(np.ascontiguousarray(rows[:, :-1]), first, rows[:, -1])
