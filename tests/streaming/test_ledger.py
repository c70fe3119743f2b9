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


def test_rows_in_order_keep_few_sums():
    ledger = filled([(i, i + 1) for i in range(N)])
    assert len(ledger.nodes) == bin(N // SIZE).count("1")
    assert len(ledger.pending) == 1
