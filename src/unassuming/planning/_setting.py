"""What a prediction depends on, and how it is made for any number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from unassuming._errors import NotAvailable
from unassuming._progress import progress
from unassuming._typing import Array, IntArray
from unassuming.noise import Noise
from unassuming.planning._cells import widths_over_cells
from unassuming.planning._joint import joint_width
from unassuming.planning._rows import spread
from unassuming.regions import Assumption, Functions, Region, confidence_region

JOINT, BALANCED, CELLS = "joint region", "balanced cells", "cells"

_MOST_JOINT = 600
"""With more rows the joint region is left out: its cost exceeds that of the cells by far."""


@final
@dataclass(frozen=True)
class Predicted:
    """One row of a plan: a predicted half-width, the median over the inputs.

    Attributes
    ----------
    rows : int
        Number of rows of the data.
    simultaneous : bool
        Whether the bounds hold at all inputs at once.
    method : {"joint region", "balanced cells", "cells"}
    alpha : float or None
        The penalty, where the width depends on it.
    cells : int or None
        The number of cells, where there are cells.
    half_width : float
        Infinite if nothing finite is expected at this level.
    """

    rows: int
    simultaneous: bool
    method: str
    alpha: float | None
    cells: int | None
    half_width: float


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """Everything that widths depend on, apart from y.

    Attributes
    ----------
    estimator : scikit-learn estimator
    X, inputs : arrays or DataFrames
        The inputs of the data, and those at which the function is wanted.
    assumption : Assumption
        The norm bound and the noise scale.
    level : float
    noise : str, Noise or None
    parameter : str or None
        The name of the penalty.
    alphas : tuple of floats
        Its values; empty if there is no choice.
    weight : array or None
        Sample weights, one for each row of X.
    """

    estimator: Any
    X: Any
    inputs: Any
    assumption: Assumption
    level: float
    noise: str | Noise | None
    parameter: str | None
    alphas: tuple[float, ...]
    weight: Array | None = None

    def model(self, alpha: float | None) -> Any:
        """Return the estimator with another penalty."""
        copy = clone(self.estimator)
        return copy if alpha is None else copy.set_params(**{str(self.parameter): alpha})

    def region(self, y: Any, alpha: float | None = None, m: int = 2, seed: int = 0) -> Region:
        """Return the region of made-up outputs."""
        return confidence_region(
            self.model(alpha),
            self.X,
            y,
            noise=self.noise,
            m=m,
            sample_weight=self.weight,
            random_state=seed,
        )

    @cached_property
    def plain(self) -> Region:
        """A region of the same rows with outputs that mean nothing."""
        return self.region(self.outputs(np.random.default_rng(118).standard_normal(self.n)))

    @cached_property
    def used(self) -> IntArray:
        """The rows of X with a positive weight."""
        length = int(np.shape(self.X)[0])
        return np.arange(length) if self.weight is None else np.flatnonzero(self.weight > 0)

    @property
    def n(self) -> int:
        """Number of rows with a positive weight."""
        return len(self.used)

    def outputs(self, values: Array) -> Array:
        """Return outputs for all rows of X from those of the rows that are used."""
        y = np.zeros(int(np.shape(self.X)[0]))
        y[self.used] = values
        return y

    def noise_draw(self, rng: np.random.Generator) -> Array:
        """Return Gaussian noise of the working scale, its variance over the sample weight, (n,)."""
        scale = self.assumption.noise_scale
        assert scale is not None
        e = scale * rng.standard_normal(self.n)
        return e if self.weight is None else e / np.sqrt(self.weight[self.used])

    def with_rows(self, n: int) -> Setting:
        """Return the setting for n rows with inputs like those of X."""
        if n == self.n:
            return self
        rows = self.used[spread(_safe_indexing(self.X, self.used), n)]
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=_safe_indexing(self.X, rows), weight=weight)

    def with_alphas(self, alphas: tuple[float, ...]) -> Setting:
        """Return the setting for other penalties."""
        return replace(self, alphas=alphas)

    def predicted(self, *, simultaneous: bool) -> Iterator[Predicted]:
        """Yield the predicted half-widths, all at once or one at a time."""
        functions = self._functions()
        dual = self.plain.problem.design("a plan").dual
        if simultaneous and (self.n <= _MOST_JOINT or functions is None or not dual):
            alphas = self.alphas or (None,)
            numbered = ((slice(i, i + 1), alpha) for i, alpha in enumerate(alphas))
            for _, alpha in progress(numbered, len(alphas), "penalties"):
                yield Predicted(self.n, True, JOINT, alpha, None, joint_width(self, alpha))
        if functions is None:
            return
        method = BALANCED if simultaneous else CELLS
        found = widths_over_cells(
            functions, self.inputs, self.assumption, self.level, simultaneous=simultaneous
        )
        for K, width in found.items():
            yield Predicted(self.n, simultaneous, method, None, K, width)

    def _functions(self) -> Functions | None:
        """Return what cells need; None if the model or the noise does not allow cells."""
        try:
            functions = Functions(self.plain.problem)
            functions.system(self.assumption)
        except NotAvailable:
            return None
        return functions
