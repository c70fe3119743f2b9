"""Sums that do not depend on how the rows arrive: to the last bit."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming.streaming._ledger import Ledger

SIZE = 4
ROWS = np.random.default_rng(0).normal(size=(43, 2)) * 3.0 ** (np.arange(43) % 9)[:, None]


class Summation:
    """A sum that rounds differently in every order, and knows which rows it is of."""

    def __call__(self, rows, first, weight=None):
        assert first % SIZE == 0
        weights = np.arange(first, first + len(rows)) + 0.1
        return np.array([(weights * rows[:, 0]).sum(), (rows[:, 1] / weights).sum(), len(rows)])

    def join(self, one, two):
        return one + two * (1 + 1e-9)  # the order of the two matters


summed = Summation()


def filled(pieces):
    ledger = Ledger(SIZE)
    for first, stop in pieces:
        ledger = ledger.plus(first, ROWS[first:stop], summed)
    return ledger


def plain(n):
    """The same tree written down: leaves, then pairs of neighbours, then what is left over."""
    leaves = [summed(ROWS[i : min(i + SIZE, n)], i) for i in range(0, n, SIZE)]
    whole = n // SIZE
    parts, start = [], 0
    for height in reversed(range(whole.bit_length())):
        if whole >> height & 1:
            level = leaves[start : start + 2**height]
            while len(level) > 1:
                level = [summed.join(a, b) for a, b in zip(level[::2], level[1::2], strict=True)]
            parts.append(level[0])
            start += 2**height
    parts += leaves[whole:]
    total = parts[-1]
    for part in reversed(parts[:-1]):
        total = summed.join(part, total)
    return total


@st.composite
def chunkings(draw):
    n = draw(st.integers(1, len(ROWS)))
    cuts = sorted(draw(st.sets(st.integers(1, n - 1)))) if n > 1 else []
    ends = [0, *cuts, n]
    return n, draw(st.permutations(list(pairwise(ends))))


@given(chunkings())
def test_every_chunking_in_every_order_gives_the_same_bits(case):
    n, pieces = case
    assert filled(pieces).total(summed).tolist() == plain(n).tolist()


@given(chunkings(), st.randoms())
@settings(max_examples=60)
def test_every_order_of_merging_gives_the_same_bits(case, random):
    n, pieces = case
    ledgers = [filled([piece]) for piece in pieces]
    while len(ledgers) > 1:
        one = ledgers.pop(random.randrange(len(ledgers)))
        k = random.randrange(len(ledgers))
        ledgers[k] = ledgers[k].merged(one, summed)
    assert ledgers[0].total(summed).tolist() == plain(n).tolist()
    assert ledgers[0].spans == [(0, n)]


def test_a_merged_ledger_stays_as_it_was():
    one, two = filled([(0, 7)]), filled([(7, 20)])
    one.merged(two, summed).plus(20, ROWS[20:40], summed)
    assert (one.spans, two.spans) == ([(0, 7)], [(7, 20)])
    again = filled([(0, 7)]).merged(two, summed)
    assert again.total(summed).tolist() == plain(20).tolist()


def test_rows_in_order_keep_few_sums():
    ledger = filled([(i, i + 1) for i in range(43)])
    assert len(ledger.nodes) == bin(43 // SIZE).count("1")
    assert len(ledger.pending) == 1


@pytest.mark.parametrize("again", [(0, 1), (6, 9), (9, 12), (3, 30), (25, 27)])
def test_rows_that_are_there_already_are_refused_and_nothing_changes(again):
    ledger = filled([(0, 11), (25, 30)])
    with pytest.raises(ValueError, match="overlap those that are present already"):
        ledger.plus(again[0], ROWS[slice(*again)], summed)
    with pytest.raises(ValueError, match="overlap"):
        ledger.merged(filled([again]), summed)
    assert ledger.plus(11, ROWS[11:25], summed).total(summed).tolist() == plain(30).tolist()


def test_gaps_are_told():
    assert list(filled([(3, 5), (9, 12)]).gaps()) == [(0, 3), (5, 9)]
    assert list(filled([(5, 12), (0, 5)]).gaps()) == []


@pytest.mark.parametrize("at", range(1, 7))  # the leaves that the rest completes
@pytest.mark.parametrize("merging", [False, True])
def test_an_interruption_adds_nothing(at, merging):
    calls = 0

    class Failing(Summation):
        def __call__(self, rows, first, weight=None):
            nonlocal calls
            calls += 1
            if calls == at:
                raise KeyboardInterrupt
            return super().__call__(rows, first, weight)

    holey = [(0, 2), (5, 9), (15, 18), (21, 22)]
    rest = [(2, 5), (9, 15), (18, 21), (22, 30)]

    def completed(ledger, summation):
        for first, stop in rest:
            if merging:
                ledger = ledger.merged(filled([(first, stop)]), summation)
            else:
                ledger = ledger.plus(first, ROWS[first:stop], summation)
        return ledger

    ledger = filled(holey)
    with pytest.raises(KeyboardInterrupt):
        completed(ledger, Failing())
    assert ledger.spans == holey
    assert completed(ledger, summed).total(summed).tolist() == plain(30).tolist()
