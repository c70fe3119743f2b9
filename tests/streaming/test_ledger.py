"""Sums that do not depend on how the rows arrive: to the last bit."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unassuming.streaming import ledger as module
from unassuming.streaming.ledger import Ledger

SIZE, N = 4, 43
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, 1)) * 3.0 ** (np.arange(N) % 9)[:, None], RNG.normal(size=N)


@dataclass
class Sum:
    """Rounds differently in every order, and knows which rows it is of."""

    value: float
    rows: int

    def joined(self, other):
        return Sum(self.value + other.value * (1 + 1e-9), self.rows + other.rows)


def summed(rows, numbers):
    assert (np.diff(numbers) == 1).all()
    return Sum(float(((numbers + 0.1) * rows[:, 0] + rows[:, 1]).sum()), len(rows))


@pytest.fixture(autouse=True)
def _small_leaves(monkeypatch):
    monkeypatch.setattr(module, "LEAF_ROWS", SIZE)


def filled(pieces, ledger=None, sums=summed):
    ledger = ledger or Ledger()
    for a, b in pieces:
        ledger = ledger.plus(a, X[a:b], Y[a:b], 1.0, sums)
    return ledger


def plain(n):
    """The same tree written down: leaves, then pairs of neighbours, then what is left over."""
    rows, number = np.column_stack([X, Y])[:n], np.arange(n)
    leaves = [summed(rows[i : i + SIZE], number[i : i + SIZE]) for i in range(0, n, SIZE)]
    whole, parts, start = n // SIZE, [], 0
    for height in reversed(range(whole.bit_length())):
        if whole >> height & 1:
            level = leaves[start : start + 2**height]
            while len(level) > 1:
                level = [a.joined(b) for a, b in zip(level[::2], level[1::2], strict=True)]
            parts += level
            start += 2**height
    *parts, total = parts + leaves[whole:]
    for part in reversed(parts):
        total = part.joined(total)
    return total


@st.composite
def chunkings(draw):
    n = draw(st.integers(1, N))
    cuts = sorted(draw(st.sets(st.integers(1, n - 1)))) if n > 1 else []
    return n, draw(st.permutations(list(pairwise([0, *cuts, n]))))


anywhere = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@anywhere
@given(chunkings(), st.randoms())
def test_every_chunking_and_every_order_of_merging_give_the_same_bits(case, random):
    n, pieces = case
    assert filled(pieces).total(summed) == plain(n)
    ledgers = [filled([piece]) for piece in pieces]
    while len(ledgers) > 1:
        one = ledgers.pop(random.randrange(len(ledgers)))
        k = random.randrange(len(ledgers))
        ledgers[k] = ledgers[k].merged(one, summed)
    assert ledgers[0].total(summed) == plain(n)
    assert ledgers[0].spans == [(0, n)]


def test_a_merged_ledger_stays_as_it_was():
    one, two = filled([(0, 7)]), filled([(7, 20)])
    filled([(20, 40)], one.merged(two, summed))
    assert (one.spans, two.spans) == ([(0, 7)], [(7, 20)])
    assert filled([(0, 7)]).merged(two, summed).total(summed) == plain(20)


def test_rows_in_order_keep_few_sums():
    ledger = filled([(i, i + 1) for i in range(N)])
    assert len(ledger.nodes) == bin(N // SIZE).count("1")
    assert len(ledger.pending) == 1


@pytest.mark.parametrize("again", [(0, 1), (6, 9), (9, 12), (3, 30), (25, 27)])
def test_rows_that_are_there_already_are_refused_and_nothing_changes(again):
    ledger = filled([(0, 11), (25, 30)])
    with pytest.raises(ValueError, match="overlap those that are present already"):
        filled([again], ledger)
    with pytest.raises(ValueError, match="overlap"):
        ledger.merged(filled([again]), summed)
    assert list(ledger.gaps()) == [(11, 25)]
    assert filled([(11, 25)], ledger).total(summed) == plain(30)


@pytest.mark.parametrize("at", range(1, 7))  # the leaves that the rest completes
@pytest.mark.parametrize("merging", [False, True])
def test_an_interruption_adds_nothing(at, merging):
    calls = 0

    def failing(rows, numbers):
        nonlocal calls
        calls += 1
        if calls == at:
            raise KeyboardInterrupt
        return summed(rows, numbers)

    holey = [(0, 2), (5, 9), (15, 18), (21, 22)]
    rest = [(2, 5), (9, 15), (18, 21), (22, 30)]

    def completed(ledger, sums):
        for piece in rest:
            shard = filled([piece])
            ledger = ledger.merged(shard, sums) if merging else filled([piece], ledger, sums)
        return ledger

    ledger = filled(holey)
    with pytest.raises(KeyboardInterrupt):
        completed(ledger, failing)
    assert ledger.spans == holey
    assert completed(ledger, summed).total(summed) == plain(30)
