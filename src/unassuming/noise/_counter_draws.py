"""Random numbers keyed by (seed, row): the same for every n, batch and chunk.

Philox is a counter-based generator: its output is a function of a key and a counter. Row j
owns a fixed range of counters, so any block of rows can be produced on its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unassuming._typing import Array

Key = NDArray[np.uint64]

_WORDS = 4  # 64-bit words that one Philox counter yields


def draw_key(rng: np.random.Generator) -> Key:
    """Draw the 128-bit key of a counter-based generator."""
    return rng.integers(0, 2**64, size=2, dtype=np.uint64)


def keyed_words(key: Key, count: int, per_row: int, first: int = 0) -> NDArray[np.uint64]:
    """Return ``per_row`` words for each of the rows first, ..., first + count - 1."""
    counters = -(-per_row // _WORDS)
    philox = np.random.Philox(key=key, counter=first * counters)
    return philox.random_raw(count * counters * _WORDS).reshape(count, -1)[:, :per_row]


def keyed_signs(key: Key, count: int, size: int, first: int = 0) -> NDArray[np.int8]:
    """Return signs of shape (size, count) for the rows first, ..., first + count - 1."""
    words = keyed_words(key, count, -(-size // 64), first).astype("<u8")
    of_rows = np.ascontiguousarray(words.view(np.uint8).reshape(count, -1).T)
    bits = of_rows[: -(-size // 8), None] >> np.arange(8, dtype=np.uint8)[:, None]
    signs = bits.reshape(-1, count)[:size].view(np.int8)
    signs &= 1
    signs *= -2
    signs += 1
    return signs


def keyed_uniforms(key: Key, count: int, size: int, first: int = 0) -> Array:
    """Return uniform numbers in [0, 1) of shape (size, count) for the same rows."""
    words = keyed_words(key, count, size, first)
    return np.ascontiguousarray((words >> np.uint64(11)).T * 2.0**-53)
