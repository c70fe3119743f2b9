"""One integer behind everything random in a region."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_seed(random_state: Any) -> int:
    """Return an integer seed; None gives fresh entropy, which the region stores."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(2, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1, dtype=np.int64))
    integer = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if integer and random_state >= 0:
        return int(random_state)
    raise ValueError(
        "random_state is not a valid seed: expected a non-negative integer, a numpy Generator or "
        f"RandomState, or None, given {random_state!r}. Pass e.g. random_state=0."
    )


def streams(seed: int) -> tuple[np.random.Generator, np.random.Generator, np.random.Generator]:
    """Return independent generators for the transformations, the tie order and random features."""
    first, second, third = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
    return first, second, third


def cell_stream() -> np.random.Generator:
    """Return the generator for the cells of every stream of rows: no seed enters an interval."""
    return np.random.default_rng(np.random.SeedSequence(0, spawn_key=(3,)))
