"""The plan: predicted half-widths as a table, the best penalty, and rows for a given width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._frames import as_frame
from unassuming._words import shown
from unassuming.planning._setting import BALANCED, CELLS, JOINT, Predicted, Setting
from unassuming.regions import table

_MOST_ROWS = 4096
_SHOWN = 60
_EQUAL = 1.02
"""Predicted half-widths up to this ratio count as equal."""


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """Half-widths that were predicted before y is seen; the result of `unassuming.plan`.

    Attributes
    ----------
    setting : object
        The model, the inputs and the assumptions.
    predictions : tuple of Predicted
        One for each penalty or number of cells, and for each number of rows.

    Examples
    --------
    >>> X = np.linspace(0, 10, 60)[:, None]
    >>> model = KernelRidge(kernel="rbf", gamma=0.1)
    >>> plan = ua.plan(model, X, norm_bound=60, noise_scale=0.7, alphas=[0.01, 1.0])
    >>> plan.best(simultaneous=True).alpha, plan.best(simultaneous=False).cells
    (0.01, 7)
    >>> plan.n, plan.rows, plan.level, plan.estimator.alpha, len(plan.to_frame())
    (60, (60,), 0.95, 0.01, 9)
    """

    setting: Setting = field(repr=False)
    predictions: tuple[Predicted, ...]

    @property
    def n(self) -> int:
        """Number of rows of the data."""
        return self.setting.n

    @property
    def level(self) -> float:
        """The level of the bounds."""
        return self.setting.level

    @property
    def rows(self) -> tuple[int, ...]:
        """The numbers of rows that were predicted for, in increasing order."""
        return tuple(sorted({one.rows for one in self.predictions}))

    @property
    def alpha(self) -> float | None:
        """The penalty of the joint region; None if there is no choice.

        It is the smallest one whose predicted half-width is within 2 % of the narrowest.
        """
        joint = [one for one in self.predictions if one.method == JOINT and one.rows == self.n]
        return narrowest(joint).alpha if joint else None

    @property
    def estimator(self) -> Any:
        """A copy of the estimator with the best penalty."""
        return self.setting.model(self.alpha)

    def best(self, *, simultaneous: bool = True, rows: int | None = None) -> Predicted:
        """Return the narrowest prediction, or one of a smaller penalty within 2 % of it.

        Predictions are not exact to 2 %, and a smaller penalty means a smaller bias.

        Parameters
        ----------
        simultaneous : bool, default True
            Whether the bounds hold at all inputs at once, or one input at a time.
        rows : int, optional
            One of ``plan.rows``; by default the number of rows of the data.

        Returns
        -------
        Predicted
        """
        n = self.n if rows is None else rows
        if n not in self.rows:
            raise ValueError(
                f"rows is not part of the plan: expected one of {self.rows}, given {rows!r}. Pass "
                f"rows=[{rows!r}] to ua.plan."
            )
        found = [
            one for one in self.predictions if one.rows == n and one.simultaneous == simultaneous
        ]
        if not found:
            raise NotAvailable(
                "nothing was predicted for this question: the model or the noise does not allow "
                f"bounds with simultaneous={simultaneous}."
            )
        return narrowest(found)

    def call(self, *, simultaneous: bool = True) -> str:
        """Return the call of the best method, for a region of ``plan.estimator``.

        Parameters
        ----------
        simultaneous : bool, default True
            Whether the bounds hold at all inputs at once, or one input at a time.

        Returns
        -------
        str

        Examples
        --------
        >>> X = np.linspace(0, 10, 60)[:, None]
        >>> model = KernelRidge(kernel="rbf", gamma=0.1)
        >>> plan = ua.plan(model, X, norm_bound=60, noise_scale=0.7, alphas=[0.01])
        >>> plan.call()
        'region.band(X, norm_bound=60)'
        >>> plan.call(simultaneous=False)
        'region.band(X, norm_bound=60, noise_scale=0.7, simultaneous=False)'
        """
        method, assumption = self.best(simultaneous=simultaneous).method, self.setting.assumption
        options = ["X"]
        if self.level != _USUAL_LEVEL:
            options.append(f"level={self.level:.12g}")
        if assumption.norm_bound is not None:
            options.append(f"norm_bound={assumption.norm_bound:.12g}")
            if method != JOINT:
                options.append(f"noise_scale={assumption.noise_scale:.12g}")
        options += _OPTIONS[method]
        return f"region.band({', '.join(options)})"

    def rows_for(self, half_width: float, *, simultaneous: bool = True) -> int:
        """Predict how many rows a median half-width needs.

        The number of rows is doubled or halved until the half-width is passed, and interpolated on
        logarithmic scales.

        Parameters
        ----------
        half_width : float
        simultaneous : bool, default True

        Returns
        -------
        int

        Examples
        --------
        >>> X = np.linspace(0, 10, 60)[:, None]
        >>> model = KernelRidge(kernel="rbf", gamma=0.1)
        >>> plan = ua.plan(model, X, norm_bound=60, noise_scale=0.7, alphas=[0.01])
        >>> bool(190 < plan.rows_for(0.3, simultaneous=False) < 300)
        True
        """
        if not half_width > 0:
            raise ValueError(
                f"half_width is out of range: expected a number > 0, given {half_width!r}. Pass "
                "e.g. 0.3."
            )
        here = n = self.n
        width = previous = self.best(simultaneous=simultaneous).half_width
        wide = width > half_width
        while (width > half_width) == wide:
            here, previous = n, width
            n = 2 * n if wide else n // 2
            if n > _MOST_ROWS:
                raise NotAvailable(
                    f"more than {here} rows are needed: the predicted half-width at {here} is "
                    f"{width:.3g}, and larger numbers are not tried. Ask for a larger half-width."
                )
            if n < 2:
                return here
            width = min(
                one.half_width
                for one in self.setting.with_rows(n).predicted(simultaneous=simultaneous)
            )
        if not np.isfinite([width, previous]).all():
            return max(n, here)
        share = np.log(half_width / previous) / np.log(width / previous)
        return int(np.ceil(here * (n / here) ** share))

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each prediction."""
        return as_frame(
            {
                "rows": [one.rows for one in self.predictions],
                "simultaneous": [one.simultaneous for one in self.predictions],
                "method": [one.method for one in self.predictions],
                "alpha": [np.nan if one.alpha is None else one.alpha for one in self.predictions],
                "cells": [0 if one.cells is None else one.cells for one in self.predictions],
                "half_width": [one.half_width for one in self.predictions],
            }
        )

    def _printed(self) -> list[Predicted]:
        """Return what is printed: the narrowest of each method for further numbers of rows."""
        kept = []
        for n in self.rows:
            here = [one for one in self.predictions if one.rows == n]
            for method in dict.fromkeys(one.method for one in here):
                same = [one for one in here if one.method == method]
                kept += same if n == self.n else [narrowest(same)]
        return kept

    def __str__(self) -> str:
        assumption, all_rows = self.setting.assumption, self._printed()
        B = assumption.norm_bound
        norm = "" if B is None else f"a norm of at most {B:g} and "
        heading = (
            f"Plan for {shown(self.setting.estimator)}, {self.n} rows, level {self.level:.6g}, "
            f"given {norm}noise of scale {assumption.noise_scale:g}: predicted half-widths, before "
            "y is seen (medians over the inputs)."
        )
        kinds = {(one.rows, one.simultaneous) for one in all_rows}
        chosen = {(n, s): self.best(simultaneous=s, rows=n) for n, s in kinds}
        best = {id(one) for one in chosen.values()}
        smaller = any(
            one.half_width < chosen[one.rows, one.simultaneous].half_width for one in all_rows
        )
        columns: list[tuple[str, list[str]]] = [
            ("bounds hold", [_HOLD[one.simultaneous] for one in all_rows]),
            ("method", [one.method for one in all_rows]),
            ("alpha", ["" if one.alpha is None else f"{one.alpha:.3g}" for one in all_rows]),
            ("cells", ["" if one.cells is None else str(one.cells) for one in all_rows]),
            ("half-width", [f"{one.half_width:.3g}" for one in all_rows]),
            ("", ["best" if id(one) in best else "" for one in all_rows]),
        ]
        if len(self.rows) > 1:
            columns.insert(1, ("rows", [str(one.rows) for one in all_rows]))
        lines = [line.rstrip() for line in table(columns, _SHOWN)]
        rule = ["Best: the smallest penalty within 2 % of the narrowest."] * smaller
        calls = self._calls(sorted((s for n, s in kinds if n == self.n), reverse=True))
        return "\n".join([fill(heading, 94, break_on_hyphens=False), *lines, *rule, *calls])

    def _calls(self, kinds: list[bool]) -> list[str]:
        """Return how to get what is best, where something finite is expected."""
        found = [s for s in kinds if np.isfinite(self.best(simultaneous=s).half_width)]
        given = ["plan.estimator", "X", "y"]
        given += ["noise=noise"] * (self.setting.noise is not None)
        given += ["sample_weight=sample_weight"] * (self.setting.weight is not None)
        heading = f"Calls, with region = ua.confidence_region({', '.join(given)}):"
        calls = [f"  {_HOLD[s]:13}  {self.call(simultaneous=s)}" for s in found]
        return [heading, *calls] if calls else []


_HOLD = {True: "all at once", False: "one at a time"}
_OPTIONS = {JOINT: [], BALANCED: ["method='cells'"], CELLS: ["simultaneous=False"]}
_USUAL_LEVEL = 0.95
"""The default of `Region.band`."""


def narrowest(found: Sequence[Predicted]) -> Predicted:
    """Return the narrowest prediction; of penalties that differ little, the smallest.

    A penalty acts as a bias, and functions exist for which it is larger than for those made up.
    """
    best = min(found, key=lambda one: one.half_width)
    if best.alpha is None or not np.isfinite(best.half_width):
        return best
    same = [one for one in found if one.alpha and one.half_width <= _EQUAL * best.half_width]
    return min(same, key=lambda one: one.alpha or 0.0)
