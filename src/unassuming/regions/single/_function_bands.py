"""Simultaneous bands of a function from balanced cells, or the joint region if that is narrower."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array
from unassuming.cells import BalancedBand, estimates, factor_of_rows
from unassuming.cells.functions import (
    BandSizes,
    Choice,
    Kriging,
    Wanted,
    choose_band,
    function_band,
    looked_at,
    numbers_of_cells,
)
from unassuming.objectives import Quadratic
from unassuming.regions._explain import Explanation, Status
from unassuming.regions.single._facts import outside
from unassuming.regions.single._functions import Assumption, Functions, estimated
from unassuming.regions.single._joint_width import joint_of_features, joint_of_kernel
from unassuming.regions.single._no_balanced_cells import Shortage
from unassuming.regions.single._replies import bounds_from_cells
from unassuming.regions.single._values import too_small, within_ball

T = TypeVar("T")

_MOST_ROWS = 2000
"""With more rows the joint region is not predicted: its cost would exceed that of the cells."""

_BATCH = 2**26


def values_at_once(
    functions: Functions,
    wanted: Wanted,
    names: Sequence[str],
    estimate: Array,
    level: float,
    cells: int | None,
    assumption: Assumption,
    make: Callable[..., T],
    *,
    unless_wider: bool,
) -> T | None:
    """Return a band from balanced cells.

    With ``unless_wider`` return None where the joint region is expected to be narrower, or where
    there are too few rows for the level.
    """
    divisions = _divisions(functions, level, cells, assumption)
    chosen = None
    if divisions:
        system, assumed = functions.system(assumption), functions.assumed(assumption)
        chosen = choose_band(system, wanted, divisions, assumed, level)
    if chosen is None or not np.isfinite(chosen.half_width).all():
        if unless_wider:
            return None
        raise _shortage(functions, level, cells, assumption).error()
    if unless_wider and not _narrower(functions, wanted, chosen, assumption, level):
        return None
    kriging = divisions[int(chosen.which[0])]
    band, sizes = _band(functions, wanted, kriging, float(chosen.mu[0]), assumption, level)
    lower, upper = sizes.cut(band)
    refuted = bool((lower > upper).any())
    lower, upper = lower - assumption.beyond, upper + assumption.beyond
    facts = within_ball(functions, wanted, lower, upper, assumption)
    facts += outside(functions.problem, lower, upper, names, estimate)
    why = Explanation((too_small(assumption),) if refuted else facts)
    return bounds_from_cells(
        make,
        functions.problem,
        why,
        level=level,
        estimate=estimate,
        lower=lower,
        upper=upper,
        status=Status.EMPTY if refuted else Status.ALL_AT_ONCE,
        method="balanced cells",
        attained=np.full(len(lower), 1 - band.q / band.m),
        norm_bound=assumption.norm_bound,
        model_error=assumption.model_error,
    )


def _shortage(
    functions: Functions, level: float, cells: int | None, assumption: Assumption
) -> Shortage:
    """Return what balanced cells of this function take."""
    return Shortage(
        level,
        numbers_of_cells(level, sys.maxsize, simultaneous=True),
        each=max(functions.system(assumption).trend.shape[1], 1),
        rows=functions.problem.n,
        units=functions.units,
        chosen=cells,
        joint=assumption.model_error is None,
    )


def _divisions(
    functions: Functions, level: float, cells: int | None, assumption: Assumption
) -> list[Kriging]:
    """Return divisions into powers of two of cells that allow the level."""
    numbers = numbers_of_cells(level, functions.units, simultaneous=True)
    if cells is not None:
        numbers = [cells] if cells <= functions.units else []
    return [functions.kriging(assumption, K) for K in numbers]


def _band(
    functions: Functions,
    wanted: Wanted,
    kriging: Kriging,
    mu: float,
    assumption: Assumption,
    level: float,
) -> tuple[BalancedBand, BandSizes]:
    system, assumed = functions.system(assumption), functions.assumed(assumption)
    us, roundings, sizes = [], [], []
    for part in slices(len(wanted), rows_that_fit(_BATCH, 8 * system.n + kriging.K**2)):
        where = np.arange(part.start, part.stop)
        some = estimated(system, wanted, kriging, mu, where, functions.y)
        us.append(some.u)
        roundings.append(some.rounding)
        sizes.append(BandSizes.of(some.found, assumed))
    together = BandSizes(
        np.concatenate([one.scale for one in sizes]),
        np.concatenate([one.bias for one in sizes]),
        np.concatenate([one.offset for one in sizes]),
        np.concatenate([one.limit for one in sizes]),
    )
    band = function_band(np.concatenate(us), np.concatenate(roundings), together, level)
    return band, together


def _narrower(
    functions: Functions, wanted: Wanted, chosen: Choice, assumption: Assumption, level: float
) -> bool:
    """Whether cells are expected to give a narrower band than the joint region of the model.

    The joint region of features is about as wide as the F ellipsoid. That of kernel ridge with a
    norm bound is predicted from simulated data. Other objectives have wider bands, or none.
    """
    o, n = functions.problem.objective, functions.problem.n
    if not isinstance(o, Quadratic) or not functions.problem.whitened:
        return True
    if assumption.model_error is not None or assumption.norm_bound is None:
        return True
    assumed, some = functions.assumed(assumption), wanted.part(looked_at(len(wanted)))
    if functions.design.dual:
        system = functions.system(assumption)
        if system.trend.shape[1] or n > _MOST_ROWS:
            return True
        joint = joint_of_kernel(system, some, assumed, n * o.lam, level)
    else:
        assert some.features is not None
        Phi, g = functions.design.matrix, np.column_stack([some.trend, some.features])
        whole = estimates([factor_of_rows(Phi, np.zeros(n))], g).v[:, 0]
        d = int(np.linalg.matrix_rank(Phi))
        if n <= d or not (whole > 0).all():
            return True
        joint = assumed.noise_scale * joint_of_features(whole, n, d, level)
    return bool(np.median(chosen.half_width) < np.median(joint))
