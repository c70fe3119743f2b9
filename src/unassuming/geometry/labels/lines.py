"""Label regions on lines: fresh labels flip at known places (docs/theory.md 8).

With linear parts g = Φa and means f = g, or f = tanh(g/2), the fresh label y⁽ⁱ⁾_k is +1 where f_k
exceeds 2U_ik - 1. Between two flips p = z_i - z_0 is constant, and Z_i - Z_0 = ⟨p, p + 2z_0⟩ is an
affine function of t, to which the tanh of every row add a multiple of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.labels.roots import Sums
from unassuming.geometry.lines import (
    Events,
    Lines,
    membership,
    piece_events,
    quadratic_events,
)
from unassuming.geometry.piecewise.model import settle
from unassuming.membership import Engine
from unassuming.noise.labels import RARE

BATCH_BYTES = 2**23
"""The size of the largest table of a batch: one gradient for each piece of each set."""


@final
@dataclass(frozen=True, eq=False)
class LabelModel:
    """The statistics of labels: z = pull (y - f) - push a."""

    phi: Array  # (n, d): Φ
    y: Array  # (n,): the observed labels, ±1
    turning: Array  # (m - 1, n): the linear parts at which fresh labels turn
    pull: Array  # (k, n)
    push: Array  # (k, d)
    curved: bool  # whether f = tanh(g/2)
    wins: BoolArray  # (m - 1,): whether a tie between Z_0 and Z_i counts for the candidate

    @classmethod
    def of(cls, engine: Engine) -> LabelModel | None:
        """Return the model of a region of labels; None if its statistics have no such form."""
        o, score = engine.objective, engine.score.along_lines
        if not engine.noise.labels or score is None or o.design is None:
            return None
        if o.loss is None or o.penalty is None or o.penalty.kinked:
            return None
        slope, means = o.loss.slopes[0], 2 * engine.drawn - 1
        turning, wins = o.loss.linear(means), ~engine.order.first
        curved = not o.loss.polynomial
        return cls(o.design.matrix, o.y, turning, slope * score.A, score.push, curved, wins)

    @cached_property
    def norm(self) -> float:
        """That of the pull."""
        return float(np.linalg.norm(self.pull, 2))

    def ends(self) -> tuple[Array, Array]:
        """Return the least and the largest linear parts under which labels are possible, (n,)."""
        impossible, other = 1 - 2 * RARE, 1 + RARE
        if self.curved:
            impossible, other = _impossible(), np.inf
        low = np.where(self.y > 0, -impossible, -other)
        return low, np.where(self.y > 0, other, impossible)


def _impossible() -> float:
    """Return the log-odds beyond which `Labels.admits` excludes a label, as tanh rounds."""
    low, high = 20.0, 40.0
    while (middle := (low + high) / 2) not in (low, high):
        possible = 1 + np.tanh(middle / 2) <= 2 * (1 - RARE)
        low, high = (middle, high) if possible else (low, middle)
    return low


class _Ways(NamedTuple):
    """N lines: linear parts g[0] + t g[1] (2, N, n), coefficients, and where they are possible."""

    g: Array
    a: Array
    lo: Array
    hi: Array

    @classmethod
    def of(cls, model: LabelModel, origins: Array, directions: Array) -> _Ways:
        a = np.stack([origins, directions])
        g = a @ model.phi.T
        g[1, np.abs(g[1]) <= 4 * EPS * (np.abs(directions) @ np.abs(model.phi).T)] = 0.0
        low, high = model.ends()
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort(np.stack([low - g[0], high - g[0]]) / g[1], axis=0)
        out, still = (g[0] < low) | (g[0] > high), g[1] == 0
        lo = np.where(still, np.where(out, np.inf, -np.inf), ends[0]).max(axis=1)
        return cls(g, a, lo, np.where(still, np.inf, ends[1]).min(axis=1))


@final
@dataclass(frozen=True, eq=False)
class LabelLines(Lines):
    """Exact intersections of a label region with lines."""

    model: LabelModel
    ranks: Callable[[Array], IntArray]  # (N, d) -> (N,): for single points

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals on which, besides, every observed label is possible."""
        m, ways = len(self.model.wins) + 1, _Ways.of(self.model, origins, directions)
        # Far from where labels are possible the digits of g[0] + t g[1] are lost.
        with np.errstate(invalid="ignore"):
            middle = ways.lo + (ways.hi - ways.lo) / 2
        away = ((ways.lo > 0) | (ways.hi < 0)) & np.isfinite(middle)
        shift = np.where(away, middle, 0.0)
        ways = _Ways.of(self.model, origins + shift[:, None] * directions, directions)
        events = self._events(ways)
        out = []
        for q in qs:
            members = membership(self.ranks, origins, directions, m - q)
            spans = events.spans(q).closed(shift, members if points else None)
            out.append(spans.split(len(directions)))
        return out

    def _events(self, ways: _Ways) -> Events:
        """Return where the number of sets changes."""
        alive, (sets, n) = np.flatnonzero(ways.lo < ways.hi), self.model.turning.shape
        room = rows_that_fit(
            BATCH_BYTES, (n + 1) * (len(self.model.pull) + 2 * n * self.model.curved)
        )
        none = np.zeros(0, dtype=np.intp)
        found = (
            self._pieces(ways, alive[lines], some)
            for lines in slices(len(alive), 1 if self.model.curved else max(1, room // sets))
            for some in slices(sets, room)
        )
        return Events.joined([Events(none, np.zeros(0), none), *found])

    def _pieces(self, ways: _Ways, line: IntArray, sets: slice) -> Events:
        """Follow some sets on some lines from flip to flip."""
        model, g, a = self.model, ways.g[:, line], ways.a[:, line]
        lo, hi = ways.lo[line, None, None], ways.hi[line, None, None]
        turning, wins = model.turning[sets], model.wins[sets]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (turning - g[0][:, None]) / g[1][:, None]  # (N, S, n)
        rising, still = (g[1] > 0)[:, None], (g[1] == 0)[:, None]
        plus = np.where(still, g[0][:, None] > turning, rising == (t <= lo))
        t = np.where(still | (t <= lo) | (t >= hi), np.inf, t)
        order = np.argsort(t, axis=-1)[..., : int(np.isfinite(t).sum(axis=-1).max(initial=0))]
        t = np.minimum(np.take_along_axis(t, order, axis=-1), hi)
        up = np.take_along_axis(np.broadcast_to(rising, plus.shape), order, axis=-1)
        turn = np.where(up, 2.0, -2.0)
        p = np.empty((*t.shape[:2], t.shape[2] + 1, len(model.pull)))
        p[:, :, 0] = (np.where(plus, 1.0, -1.0) - model.y) @ model.pull.T
        np.multiply(model.pull.T[order], turn[..., None], out=p[:, :, 1:])
        np.cumsum(p, axis=2, out=p)

        fixed = g * (not model.curved)  # the part of f that is affine in t
        z = np.stack([model.y - fixed[0], -fixed[1]]) @ model.pull.T - a @ model.push.T
        square = np.einsum("nspk,nspk->nsp", p, p)
        C = square + 2 * np.einsum("nspk,nk->nsp", p, z[0])
        B = 2 * np.einsum("nspk,nk->nsp", p, z[1])
        edge = np.ones((*t.shape[:2], 1))
        lo, hi = np.concatenate([lo * edge, t], axis=-1), np.concatenate([t, hi * edge], axis=-1)
        size = np.linalg.norm(z, axis=-1)[..., None, None]
        unit = 16 * EPS * (len(model.y) + len(model.pull)) * model.norm
        root = np.sqrt(len(model.y))
        values = 2 * unit * (root + np.linalg.norm(fixed, axis=-1)[..., None, None])
        moved, error, A = np.sqrt(square), 2 * unit * root, np.zeros_like(C)
        lengths, errors = (2 * size[0] + moved, 2 * size[1]), (values[0] + error, values[1])
        settle((A, B, C), (moved, 0.0), lengths, (error, 0.0), errors)
        lo, hi, A, B, C = (np.swapaxes(part, 1, 2) for part in (lo, hi, A, B, C))
        if not model.curved:
            return quadratic_events(line, lo, hi, A, B, C, wins)
        # One line: every tanh adds a multiple of its own where labels differ.
        at = np.nonzero((lo < hi) & np.swapaxes(moved > error, 1, 2))
        b = -2 * np.swapaxes(p, 1, 2)[at] @ model.pull
        sums = Sums(g[:, 0], b, np.stack([C[at], B[at]]), lo[at], hi[at])
        begin, end = (np.broadcast_to(wins, lo.shape).copy() for _ in range(2))
        begin[at], end[at], roots = sums.roots()
        found = at[0][roots.piece], roots.t, roots.positive
        return piece_events(line, lo, hi, begin, end, [found])
