"""From the sums of a stream to a region: few weighted rows in place of many.

The products of the columns x_1, ..., x_p, y and 1 over the rows of a character are those of p + 2
points with equal weights: their mean, and directions from it whose squares add up to the
covariance. The points have one sign in each transformation, as their rows have. So the statistics
of all transformations, the sets and the cells are those of a table of weighted rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._numerics import factor
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.estimates import KeptCells, Sample
from unassuming.inputs import features_door, split_pipeline
from unassuming.membership import Engine
from unassuming.noise.signs import signs_of
from unassuming.objectives import factory_for
from unassuming.ranking import Order
from unassuming.regions import Problem, Region, warn_of_two_values
from unassuming.streaming.sums import Part, Sums

if TYPE_CHECKING:
    from unassuming.streaming.stream import StreamingRegion

MOST_CELLS = 64
"""Characters with equal numbers modulo 64 are one cell; 32 and fewer cells are unions of these."""

CONDITION = 1e4
"""Products of columns, centred and scaled, are resolved up to this condition number."""

DEPENDENT = 1e-13
"""A direction with less of the squared spectrum is rounding: the columns depend on each other."""


@final
@dataclass(frozen=True, eq=False)
class Points:
    """Weighted rows, their characters, and the numbers of rows for which they stand."""

    X: Array  # (N, p)
    y: Array  # (N,)
    w: Array
    character: IntArray  # from 1 to m - 1
    rows: IntArray  # (m - 1,)

    @property
    def m(self) -> int:
        """The order of the group of signs."""
        return len(self.rows) + 1

    @classmethod
    def of_rows(cls, rows: Array, sums: Sums) -> Points:
        """Return rows (x, y, w) number 0, 1, ... themselves."""
        g = sums.characters(np.arange(len(rows)))
        counts = np.bincount(g, minlength=sums.m)[1:]
        return cls(rows[:, :-2].copy(), rows[:, -2].copy(), rows[:, -1].copy(), g, counts)

    @classmethod
    def of_sums(cls, part: Part, alpha: float, names: Sequence[str]) -> Points:
        """Return p + 2 points for each character; refuse columns that sums do not resolve."""
        used = np.flatnonzero(part.rows)
        weight, mean, covariance = _moments(part.grams[used])
        (whole,), (middle,), (spread,) = _moments(part.grams.sum(axis=0)[None])
        size = np.diagonal(spread) + whole * middle**2
        flat = ~(np.diagonal(spread) > DEPENDENT * size)
        scale = np.where(flat, 1.0, np.sqrt(np.where(flat, 1.0, np.diagonal(spread))))
        k = len(scale)
        unit = (spread / scale / scale[:, None])[:-1, :-1]
        keep = np.eye(k)
        keep[:-1, :-1] = _resolved(unit, flat[:-1], alpha / scale[:-1] ** 2, names)
        lam, V = np.linalg.eigh(covariance / scale / scale[:, None])
        w = weight / (k + 1)
        roots = np.sqrt(np.maximum(lam, 0.0) / w[:, None])
        away = _simplex(k) @ (roots[:, :, None] * V.swapaxes(1, 2))  # (G, k + 1, k)
        away = (away + ((mean - middle) / scale)[:, None]) @ keep * scale
        z = (part.origin[:-1] + middle + away).reshape(-1, k)
        of = np.repeat(np.arange(len(used)), k + 1)
        return cls(z[:, :-1], z[:, -1], w[of], used[of] + 1, part.rows)


def region_of(stream: StreamingRegion, ties: str) -> Region:
    """Return the region of all rows of a stream, which must be present."""
    if stream.n < 2:
        raise ValueError(
            f"the data are too few: expected at least 2 rows, given {stream.n}. Pass more rows to "
            "partial_fit."
        )
    for first, stop in stream._ledger.gaps():
        raise ValueError(
            f"the data have a gap: expected all rows from 0 to {stream.next_row - 1}, given no "
            f"rows {first} to {stop - 1}. Pass these rows, or merge the shard that has them."
        )
    stream.noise.check_length(stream.n)
    names, model = stream._features.names(), split_pipeline(stream.estimator)[1]
    points = points_of(stream, names)
    objective: Any = factory_for(model)(model, points.X, points.y, points.w)
    objective.rename(names)
    objective.scale = 1 / stream.n
    problem = Problem(
        estimator=deepcopy(stream.estimator),
        n=stream.n,
        objective=objective,
        noise=stream.noise,
        weighting="hessian",
        ties=ties,
        enumerated=False,
        seed=stream.seed,
        transform=deepcopy(stream._features),
        rows=None,
        cells=cells_of(points, intercept=stream._intercept, blocks=stream._sums.units is not None),
    )
    warn_of_two_values(stream._ledger.outcomes, stream.n, stream.noise)
    order = stream._order if ties == "random" else Order(np.arange(stream.m))
    return Region(problem, partial(_engine, problem, points, order))


def points_of(stream: StreamingRegion, names: Sequence[str]) -> Points:
    """Return the points of a stream: its rows, if these are fewer and all of them still wait."""
    sums, rows = stream._sums, stream._ledger.waiting()
    if rows is not None and len(rows) <= (stream.m - 1) * rows.shape[1]:
        found = Points.of_rows(rows, sums)
        ones = [np.ones(len(rows))] * stream._intercept
        Phi, one = np.column_stack([*ones, found.X]), int(stream._intercept)
        R = np.sqrt(stream._alpha) * np.eye(Phi.shape[1])[one if stream._alpha else len(Phi.T) :]
        refused = features_door(
            Phi,
            factor(Phi, found.w, R, intercept=stream._intercept),
            ["intercept"] * one + list(names),
            computed=stream._features.transformers is not None,
        )
        if refused:
            raise NotAvailable(refused)
        return found
    part = stream._ledger.total(sums)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(4 * part.grams.sum(axis=0)).all()
    if not finite:
        raise ValueError(
            "the data are too large for double precision: expected squares that add up to less "
            "than 1e300, given an overflow. Rescale the features or y."
        )
    return Points.of_sums(part, stream._alpha, names)


def cells_of(points: Points, *, intercept: bool, blocks: bool) -> KeptCells:
    """Return the cells of the characters, from points with the moments of their rows."""
    number = min(MOST_CELLS, points.m // 2)
    ones = [np.ones(len(points.y))] * intercept
    Phi = np.column_stack([*ones, points.X])
    sample = Sample.of(Phi, points.y, points.w, intercept=intercept)
    kept = KeptCells.of_rows(sample, points.character % number, number, blocks=blocks)
    rows = np.bincount(np.arange(1, points.m) % number, points.rows, minlength=number)
    at = replace(kept.at, rows=int(rows.sum()))
    return replace(kept, at=at, sums=replace(kept.sums, rows=rows.astype(np.float64)))


def _engine(problem: Problem, points: Points, order: Order) -> Engine:
    """Return the engine of the points, whose statistics are those of all rows."""
    # Few rows or blocks have fewer than m different signs; without a penalty s and -s are the same.
    used = signs_of(np.unique(points.character), points.m)
    if problem.objective.sign_blind and used.shape[1] > 1:
        used = used * used[:, :1]
    kept = np.sort(np.unique(used, axis=0, return_index=True)[1])
    drawn = signs_of(points.character, points.m)[kept[1:]]
    return Engine(problem.objective, problem.noise, drawn, Order(order.pi[kept]))


def _moments(grams: Array) -> tuple[Array, Array, Array]:
    """Return weights (G,), means (G, k) and sums of squares about them (G, k, k)."""
    weight, sums = grams[:, -1, -1], grams[:, :-1, -1]
    mean = sums / weight[:, None]
    covariance = grams[:, :-1, :-1] - sums[:, :, None] * mean[:, None]
    return weight, mean, (covariance + covariance.swapaxes(1, 2)) / 2


def _resolved(unit: Array, flat: BoolArray, penalty: Array, names: Sequence[str]) -> Array:
    """Return the projection on what the columns span, or refuse what sums leave in doubt."""
    # ``unit`` are the products of the columns, centred and scaled; ``flat`` columns are constant.
    steep = np.flatnonzero(~flat)
    lam, U = np.linalg.eigh(unit[np.ix_(steep, steep)])
    kept = U[:, lam > DEPENDENT * lam.max(initial=0.0)]
    h, turn = np.linalg.eigh(kept.T @ (unit[np.ix_(steep, steep)] + np.diag(penalty[steep])) @ kept)
    if len(h) and h[-1] > CONDITION**2 * h[0]:
        weak = np.abs(kept @ turn[:, 0])
        shared = ", ".join(names[steep[j]] for j in np.flatnonzero(weak > 0.1 * weak.max()))
        raise NotAvailable(
            "the columns nearly depend on each other, and sums over rows do not say by how much: "
            f"expected a condition number of at most {CONDITION:g} (columns centred and scaled) or "
            f"an exact dependence, given {np.sqrt(h[-1] / max(h[0], DEPENDENT * h[-1])):.2g} for "
            f"{shared}. Drop one of them, use a penalty (Ridge), or build the region in memory."
        )
    found = np.zeros(unit.shape)
    found[np.ix_(steep, steep)] = np.eye(len(steep)) if len(h) == len(steep) else kept @ kept.T
    return found


def _simplex(k: int) -> Array:
    """Return k orthonormal columns of length k + 1 that are orthogonal to ones."""
    j = np.arange(1, k + 1)
    columns = np.triu(np.ones((k + 1, k)))
    columns[j, j - 1] = -j
    return np.asarray(columns / np.sqrt(j * (j + 1)))
