"""Independent pieces of work on as many threads as linear algebra may use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import ThreadpoolController

S = TypeVar("S")
T = TypeVar("T")

_FEW = 8
"""Up to so many pieces, asking for the number of threads takes longer than they would save."""


def in_threads(work: Callable[[S], T], pieces: Sequence[S]) -> list[T]:
    """Return the results in the order of the pieces."""
    return list(each_in_threads(work, pieces))


def each_in_threads(work: Callable[[S], T], pieces: Sequence[S]) -> Iterator[T]:
    """Yield the results in the order of the pieces.

    One thread does all work on a piece, products of matrices included, and there are as many
    workers as BLAS has threads (as set by OMP_NUM_THREADS, threadpoolctl and the like).
    """
    threads = 1
    if len(pieces) > _FEW:
        pools = ThreadpoolController().select(user_api="blas")
        threads = min((pool["num_threads"] for pool in pools.info()), default=1)
    if threads == 1:
        yield from map(work, pieces)
        return
    with pools.limit(limits=1), ThreadPoolExecutor(threads) as workers:
        yield from workers.map(work, pieces)
