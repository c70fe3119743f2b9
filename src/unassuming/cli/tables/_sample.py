"""A random sample of the rows of a stream for pictures, independent of the chunks."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from unassuming._typing import Array
from unassuming.noise import draw_key, keyed_uniforms

SIZE = 2000


class RowSample:
    """A random sample of rows without replacement.

    Row j has a random number that depends on the seed and on j only; the rows with the smallest
    numbers are kept.

    Examples
    --------
    >>> rows = np.arange(10_000.0)[:, None]
    >>> one = RowSample(seed=0).add(0, rows)
    >>> two = RowSample(seed=0).add(0, rows[:10]).add(10, rows[10:])
    >>> one.values.shape, bool((one.values == two.values).all())
    ((2000, 1), True)
    """

    def __init__(self, seed: int) -> None:
        self._key = draw_key(np.random.default_rng([seed, SIZE]))
        self._numbers = np.empty(0)
        self._rows = np.empty(0, dtype=np.int64)
        self.values: Array = np.empty((0, 0))  # the rows of the sample, in their order

    def add(self, first: int, values: Array) -> Self:
        """Consider rows first, first + 1, ... (count, k)."""
        fresh = keyed_uniforms(self._key, len(values), 1, first)[0]
        worst = self._numbers.max() if len(self._numbers) == SIZE else np.inf
        better = np.flatnonzero(fresh < worst)
        before = self.values if len(self._rows) else values[:0]
        numbers = np.concatenate([self._numbers, fresh[better]])
        rows = np.concatenate([self._rows, first + better])
        keep = np.sort(np.lexsort((rows, numbers))[:SIZE])
        self._numbers, self._rows = numbers[keep], rows[keep]
        self.values = np.concatenate([before, values[better]])[keep]
        return self

    def state(self) -> dict[str, Any]:
        """Return the arrays from which `resume` continues."""
        return {"numbers": self._numbers, "rows": self._rows, "values": self.values}

    def resume(self, state: dict[str, Any]) -> Self:
        """Continue from the result of `state`."""
        self._numbers, self._rows, self.values = state["numbers"], state["rows"], state["values"]
        return self
