"""Predict widths before y is seen, from made-up data, and choose what does not depend on y.

The joint region's band is that of functions of half the norm that is allowed, plus Gaussian noise
of the working scale. Each penalty sees the same data (docs/theory.md 12). The widths of cells
follow from the design (docs/theory.md 11.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from numbers import Integral, Real
from textwrap import fill
from typing import Any, final

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from unassuming._errors import NotAvailable
from unassuming._frames import as_frame
from unassuming._progress import progress
from unassuming._typing import Array, IntArray
from unassuming._words import shown
from unassuming.cells.functions import choose, choose_band, numbers_of_cells, unit_functions
from unassuming.inputs import (
    as_weights,
    check_alignment,
    check_assumption,
    check_weight,
    group_column,
    is_label_model,
    split_pipeline,
)
from unassuming.noise import Noise
from unassuming.regions import (
    Assumption,
    Functions,
    Region,
    check_level,
    confidence_region,
    table,
)

JOINT, BALANCED, CELLS = "joint region", "balanced cells", "cells"
_HOLD = {True: "all at once", False: "one at a time"}
_SHARES = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
"""Default penalties, in units of σ²/B²."""
_EQUAL = 1.02
"""Predicted half-widths up to this ratio count as equal."""
_INPUTS, _SHOWN, _MOST_ROWS = 24, 60, 4096
_MOST_JOINT = 600
"""With more rows the joint region is left out: its cost exceeds that of the cells by far."""
_SEED = 118


# --- predictions ------------------------------------------------------------------------------


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
    """Everything that widths depend on, apart from y; ``alphas`` are values of ``parameter``."""

    estimator: Any
    X: Any
    inputs: Any
    assumption: Assumption
    level: float
    noise: str | Noise | None
    weight: Array | None
    parameter: str | None
    alphas: tuple[float, ...] = ()

    def model(self, alpha: float | None) -> Any:
        """Return the estimator with another penalty."""
        copy = clone(self.estimator)
        return copy if alpha is None else copy.set_params(**{str(self.parameter): alpha})

    def region(
        self, values: Array, alpha: float | None = None, m: int = 2, seed: int = 0
    ) -> Region:
        """Return the region of made-up outputs of the rows that are used."""
        y = np.zeros(int(np.shape(self.X)[0]))
        y[self.used] = values
        options: dict[str, Any] = {"noise": self.noise, "sample_weight": self.weight}
        return confidence_region(self.model(alpha), self.X, y, m=m, random_state=seed, **options)

    @cached_property
    def plain(self) -> Region:
        """A region of the same rows with outputs that mean nothing."""
        return self.region(np.random.default_rng(_SEED).standard_normal(self.n))

    @cached_property
    def used(self) -> IntArray:
        """The rows of X with a positive weight."""
        length = int(np.shape(self.X)[0])
        return np.arange(length) if self.weight is None else np.flatnonzero(self.weight > 0)

    @property
    def n(self) -> int:
        """Number of rows with a positive weight."""
        return len(self.used)

    def with_rows(self, n: int) -> Setting:
        """Return the setting for n rows with inputs like those of X."""
        if n == self.n:
            return self
        rows = self.used[spread(_safe_indexing(self.X, self.used), n)]
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=_safe_indexing(self.X, rows), weight=weight)

    def predicted(self, *, simultaneous: bool) -> Iterator[Predicted]:
        """Yield the predicted half-widths, all at once or one at a time."""
        functions: Functions | None = None
        try:
            functions = Functions(self.plain.problem)
            system = functions.system(self.assumption)
            wanted = functions.values(self.plain.problem.transform(self.inputs), self.assumption)
        except NotAvailable:  # the model or the noise does not allow cells, or not these inputs
            functions = None
        dual = self.plain.problem.design("a plan").dual
        if simultaneous and (self.n <= _MOST_JOINT or functions is None or not dual):
            alphas = self.alphas or (None,)
            numbered = ((slice(i, i + 1), alpha) for i, alpha in enumerate(alphas))
            for _, alpha in progress(numbered, len(alphas), "penalties"):
                yield Predicted(self.n, True, JOINT, alpha, None, joint_width(self, alpha))
        if functions is None:
            return
        pick, assumed = choose_band if simultaneous else choose, functions.assumed(self.assumption)
        for K in numbers_of_cells(self.level, functions.units, simultaneous=simultaneous):
            division = functions.kriging(self.assumption, K)
            width = np.median(pick(system, wanted, [division], assumed, self.level).half_width)
            method = BALANCED if simultaneous else CELLS
            yield Predicted(self.n, simultaneous, method, None, K, float(width))


def joint_width(setting: Setting, alpha: float | None) -> float:
    """Return the median half-width over the inputs, averaged over a few made-up data sets."""
    # With q = 2 where the level allows it: the largest of a few widths varies a great deal.
    fewest = [ceil(k / (1 - setting.level) - 1e-9) for k in (1, 2)]
    m = max(20, min(fewest[1], 100), fewest[0])
    n, d, plain = setting.n, setting.plain.objective.d, setting.plain
    assumption, scale = setting.assumption, setting.assumption.noise_scale or 0.0
    few = min(max(3, 160 // d), 16)  # with more rows, or features, the widths differ less
    runs = min(max(1, 8000 // (n * m)), 8) if plain.problem.design("a plan").dual else few
    halves = []
    for run in range(runs):
        rng = np.random.default_rng([_SEED, run])
        e = scale * rng.standard_normal(n)
        e = e if setting.weight is None else e / np.sqrt(setting.weight[setting.used])
        try:
            functions = Functions(plain.problem)
            features, values = functions.system(assumption).features, np.empty(n)
            f = features @ unit_functions(functions.system(assumption), rng, 1)[0]
            values[functions.order] = (assumption.norm_bound or 0.0) / 2 * f
        except NotAvailable:
            values = np.zeros(n)
        region = setting.region(values + e, alpha, m, run)
        band = region.band(
            setting.inputs, level=setting.level, method="joint", norm_bound=assumption.norm_bound
        )
        halves.append(float(np.median((band.upper - band.lower) / 2)))
    return float(np.mean(halves))


def spread(X: Any, n: int) -> IntArray:
    """Return n positions, a column of numbers in its order; rows are repeated if there are few."""
    total, columns = (*np.shape(X), 1)[:2]
    order = np.random.default_rng(_SEED).permutation(total)
    if columns == 1 and not hasattr(X, "toarray") and np.asarray(X).dtype.kind in "iuf":
        order = np.argsort(np.asarray(X).reshape(-1), kind="stable")
    where = np.linspace(0, total - 1, n) if n > 1 else np.array([total // 2])
    return np.asarray(order[np.round(where).astype(np.intp)])


def narrowest(found: Sequence[Predicted]) -> Predicted:
    """Return the narrowest prediction, or that of the least penalty within 2 %: it biases less."""
    best = min(found, key=lambda one: one.half_width)
    if best.alpha is None or not np.isfinite(best.half_width):
        return best
    same = [one for one in found if one.alpha and one.half_width <= _EQUAL * best.half_width]
    return min(same, key=lambda one: one.alpha or 0.0)


# --- the plan ---------------------------------------------------------------------------------


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
    >>> plan.call(simultaneous=False)
    'region.band(X, norm_bound=60, noise_scale=0.7, simultaneous=False)'
    >>> bool(190 < plan.rows_for(0.3, simultaneous=False) < 300)
    True
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
        """The penalty of the joint region, as `best` chooses it; None if there is no choice."""
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
        kind = n, simultaneous
        found = [one for one in self.predictions if (one.rows, one.simultaneous) == kind]
        if not found:
            raise NotAvailable(
                "nothing was predicted for this question: the model or the noise does not allow "
                f"bounds with simultaneous={simultaneous}."
            )
        return narrowest(found)

    def call(self, *, simultaneous: bool = True) -> str:
        """Return the call of the best method for bounds that are ``simultaneous`` or pointwise."""
        method, assumption = self.best(simultaneous=simultaneous).method, self.setting.assumption
        options = ["X"] + [f"level={self.level:.12g}"] * (self.level != 0.95)
        if assumption.norm_bound is not None:
            options.append(f"norm_bound={assumption.norm_bound:.12g}")
            options += [f"noise_scale={assumption.noise_scale:.12g}"] * (method != JOINT)
        named = {JOINT: [], BALANCED: ["method='cells'"], CELLS: ["simultaneous=False"]}
        return f"region.band({', '.join([*options, *named[method]])})"

    def rows_for(self, half_width: float, *, simultaneous: bool = True) -> int:
        """Predict how many rows a median half-width needs, by doubling or halving their number.

        Parameters
        ----------
        half_width : float
        simultaneous : bool, default True

        Returns
        -------
        int
            Interpolated on logarithmic scales.
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
            found = self.setting.with_rows(n).predicted(simultaneous=simultaneous)
            width = min(one.half_width for one in found)
        if not np.isfinite([width, previous]).all():
            return max(n, here)
        share = np.log(half_width / previous) / np.log(width / previous)
        return int(np.ceil(here * (n / here) ** share))

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each prediction."""
        missing = {"alpha": np.nan, "cells": 0}
        return as_frame(
            [
                {k: missing.get(k) if v is None else v for k, v in vars(one).items()}
                for one in self.predictions
            ]
        )

    def __str__(self) -> str:
        assumption, kept = self.setting.assumption, list[Predicted]()
        for n in self.rows:  # of other numbers of rows, the narrowest of each method
            those = [one for one in self.predictions if one.rows == n]
            for method in dict.fromkeys(one.method for one in those):
                same = [one for one in those if one.method == method]
                kept += same if n == self.n else [narrowest(same)]
        kinds = {(one.rows, one.simultaneous) for one in kept}
        best = {(n, s): self.best(simultaneous=s, rows=n) for n, s in kinds}
        columns: list[tuple[str, list[str]]] = [
            ("bounds hold", [_HOLD[one.simultaneous] for one in kept]),
            ("rows", [str(one.rows) for one in kept]),
            ("method", [one.method for one in kept]),
            ("alpha", ["" if one.alpha is None else f"{one.alpha:.3g}" for one in kept]),
            ("cells", ["" if one.cells is None else str(one.cells) for one in kept]),
            ("half-width", [f"{one.half_width:.3g}" for one in kept]),
            ("", ["best" if one in best.values() else "" for one in kept]),
        ]
        if len(self.rows) == 1:
            del columns[1]
        norm = assumption.norm_bound
        heading = (
            f"Plan for {shown(self.setting.estimator)}, {self.n} rows, level {self.level:.6g}, "
            f"given {'' if norm is None else f'a norm of at most {norm:g} and '}noise of scale "
            f"{assumption.noise_scale:g}: predicted half-widths, before y is seen (medians over "
            "the inputs)."
        )
        lines = [fill(heading, 94, break_on_hyphens=False)]
        lines += [line.rstrip() for line in table(columns, _SHOWN)]
        if any(one.half_width < best[one.rows, one.simultaneous].half_width for one in kept):
            lines.append("Best: the smallest penalty within 2 % of the narrowest.")
        here = {s: one for (n, s), one in best.items() if n == self.n}
        finite = [s for s in _HOLD if s in here and np.isfinite(here[s].half_width)]
        given = ["plan.estimator", "X", "y"] + ["noise=noise"] * (self.setting.noise is not None)
        given += ["sample_weight=sample_weight"] * (self.setting.weight is not None)
        calls = [f"  {_HOLD[s]:13}  {self.call(simultaneous=s)}" for s in finite]
        first = [f"Calls, with region = ua.confidence_region({', '.join(given)}):"] * bool(calls)
        return "\n".join([*lines, *first, *calls])


# --- the call ---------------------------------------------------------------------------------


def plan(
    estimator: Any,
    X: Any,
    *,
    norm_bound: float | None,
    noise_scale: float,
    level: float = 0.95,
    alphas: Sequence[float] | None = None,
    inputs: Any = None,
    rows: Sequence[int] = (),
    noise: str | Noise | None = None,
    sample_weight: Any = None,
) -> Plan:
    """Predict the widths of bands and intervals before y is seen, and choose the penalty.

    The region is exact for every penalty that does not depend on y, but the width of its band
    depends on the penalty a great deal. The plan does not see y, so its choice does not affect the
    guarantee. A wrong noise scale affects the width, not the coverage.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A regression model that `confidence_region` supports. Only its penalty ``alpha`` changes.
    X : array or DataFrame
        The inputs of the data.
    norm_bound : float or None
        The norm bound that the band will assume. None is for models with features.
    noise_scale : float
        A guess of the standard deviation of the noise, from experience or from other data.
    level : float, default 0.95
    alphas : sequence of floats, optional
        Penalties to compare. For (kernel) ridge regression the default is the penalty of the
        estimator and seven others, from 3 to 3,000 times ``(noise_scale / norm_bound)**2``.
    inputs : array or DataFrame, optional
        Where the function is wanted. The default is up to 24 rows of X. Half-widths are medians
        over these inputs.
    rows : sequence of ints, optional
        Further numbers of rows to predict for. Inputs are then spread over those of X, and repeated
        if there are not enough.
    noise : str or Noise, optional
        The assumption on the noise, as for `confidence_region`.
    sample_weight : array of shape (n,), optional
        The weights that the region will have. The noise of a row is taken to have the variance
        ``noise_scale**2`` over its weight. Rows of weight zero are left out.

    Returns
    -------
    Plan
        ``plan.estimator`` has the best penalty: the smallest one whose predicted half-width is
        within 2 % of the narrowest. ``plan.rows_for(0.3)`` predicts how many rows a
        half-width of 0.3 needs.

    Notes
    -----
    Predictions use simulated data: random functions of norm B/2 with Gaussian noise (docs/theory.md
    9.9). Above 600 rows the joint region of a kernel is left out, and balanced cells serve for
    simultaneous bands. In ten settings with 50 to 300 rows, predictions were within 15 % of the
    median of measured half-widths (``python -m benchmarks.plan_widths``).

    Examples
    --------
    >>> X, y, f = ua.datasets.sine(n=60, random_state=0)
    >>> model = KernelRidge(kernel="rbf", gamma=0.1)
    >>> plan = ua.plan(model, X, norm_bound=60, noise_scale=0.7, alphas=[0.01, 0.1, 1.0])
    >>> print(plan)
    Plan for KernelRidge(gamma=0.1, kernel='rbf'), 60 rows, level 0.95, given a norm of at most 60
    and noise of scale 0.7: predicted half-widths, before y is seen (medians over the inputs).
      bounds hold            method  alpha  cells  half-width
      all at once      joint region   0.01               1.15  best
      all at once      joint region    0.1               1.29
      ...
    Calls, with region = ua.confidence_region(plan.estimator, X, y):
      all at once    region.band(X, norm_bound=60)
      one at a time  region.band(X, norm_bound=60, noise_scale=0.7, simultaneous=False)
    >>> band = ua.confidence_region(plan.estimator, X, y).band(X, norm_bound=60)
    >>> bool((band.lower <= f(X)).all() and (f(X) <= band.upper).all())
    True
    """
    check_assumption(norm_bound, None if norm_bound else 0.0, noise_scale)
    if noise_scale is None:
        raise ValueError(
            "noise_scale is missing: expected one finite number > 0, given None. Pass a guess of "
            "the standard deviation of the noise."
        )
    if is_label_model(split_pipeline(estimator)[1]):
        raise NotAvailable(
            "a plan needs a regression: the widths for labels depend on the labels themselves. "
            "Use ua.tuned_region to choose the penalty of a classifier."
        )
    for n in rows:
        if not isinstance(n, Integral) or n < 2:
            raise ValueError(
                f"rows is out of range: expected integers of at least 2, given {n!r}. Pass e.g. "
                "rows=[50, 100, 200]."
            )
    check_alignment(X=X, sample_weight=sample_weight, blocks=group_column(noise))
    length = int(np.shape(X)[0])
    used = check_weight(sample_weight, length)[0].nonzero()[0]
    weight = None if sample_weight is None else as_weights(sample_weight, length)
    if inputs is None:
        table_of_used = _safe_indexing(X, used)
        positions = np.sort(spread(table_of_used, min(len(used), _INPUTS)))
        inputs = _safe_indexing(table_of_used, positions)
    assumption, parameter = Assumption(norm_bound, noise_scale=noise_scale), _penalty(estimator)
    given = X, inputs, assumption, check_level(level), noise, weight, parameter
    setting = Setting(estimator, *given)
    if setting.plain.objective.endogenous:
        raise NotAvailable(
            "widths cannot be predicted for a model with instruments: they depend on how much the "
            "instruments move the endogenous columns, which depend on the noise themselves."
        )
    setting = replace(setting, alphas=_alphas(setting, alphas))
    found: list[Predicted] = []
    for n in sorted({setting.n, *map(int, rows)}):
        for simultaneous in (True, False):
            found += setting.with_rows(n).predicted(simultaneous=simultaneous)
    return Plan(setting, tuple(found))


def _penalty(estimator: Any) -> str | None:
    """Return the name of the penalty alpha, with the step of a pipeline before it."""
    name = ""
    while isinstance(estimator, Pipeline):
        step, estimator = estimator.steps[-1]
        name += f"{step}__"
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return f"{name}alpha" if isinstance(parameters.get("alpha"), Real) else None


def _alphas(setting: Setting, alphas: Sequence[float] | None) -> tuple[float, ...]:
    """Return the penalties to compare, in increasing order."""
    parameter, assumption = setting.parameter, setting.assumption
    B, scale = assumption.norm_bound, assumption.noise_scale
    if alphas is None:
        if parameter is None or not setting.plain.objective.quadratic:
            return ()
        own = float(setting.estimator.get_params()[parameter])
        if B is None or scale is None:
            return (own,)
        unit = (scale / B) ** 2
        return tuple(sorted({own, *(float(f"{share * unit:.3g}") for share in _SHARES)}))
    given = np.asarray(alphas, dtype=np.float64)
    if parameter is None:
        raise ValueError(
            "alphas does not apply: expected a model with a penalty alpha, given "
            f"{setting.estimator!r}. Leave it out."
        )
    if given.ndim != 1 or not given.size or not (np.isfinite(given) & (given > 0)).all():
        raise ValueError(
            f"alphas is out of range: expected finite numbers > 0, given {alphas!r}. Pass e.g. "
            "[0.01, 0.1, 1.0]."
        )
    return tuple(sorted(set(given.tolist())))
