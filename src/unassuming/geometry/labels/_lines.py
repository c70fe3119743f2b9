"""Label regions along lines: fresh labels flip at known places (docs/theory.md 8.1).

With f = Φa the fresh label y⁽ⁱ⁾_k flips where f_k = 2U_ik - 1. Between two flips
p = z_i - z_0 = ΨL(y⁽ⁱ⁾ - y) is constant, and Z_i - Z_0 = ⟨p, p + 2z_0⟩ is affine in coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, of_products
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._lines import Lines
from unassuming.geometry._spans import Spans, sweep
from unassuming.objectives import LeastNormScore

EDGE = 1 + 1e-12
"""Values up to here count as values within [-1, 1], as they do in `Labels.admits`."""
BATCH_BYTES = 2**23
"""The size of the largest table of a batch: one gradient for each piece of each set."""


@final
@dataclass(frozen=True, eq=False)
class LabelModel:
    """A model with f = Φa, a quadratic objective and random labels."""

    phi: Array  # (n, d): Φ
    y: Array  # (n,): the observed labels, ±1
    uniforms: Array  # (m - 1, n): U; the fresh label is +1 iff U < (1 + f)/2
    pull: Array  # (k, n): the weighted gradient is z = pull r - push a
    push: Array  # (k, d)
    tie_wins: BoolArray  # (m - 1,): whether a tie between Z_0 and Z_i counts for the candidate
    whitened: float | None = None
    """If Ψ = H^{-1/2}, a bound of the error of ΨL as a factor of the smoother, LᵀΨᵀΨL; else None.

    Then all ranks depend on the fitted values alone."""

    @classmethod
    def of(
        cls,
        phi: Array,
        y: Array,
        uniforms: Array,
        score: LeastNormScore,
        tie_wins: BoolArray,
        whitened: float | None = None,
    ) -> LabelModel:
        """Read the two matrices off a score that is linear in residuals and coefficients."""
        n, d = phi.shape
        pull = np.eye(n) if score.pullback is None else score.pullback
        push = score.subdifferential(np.eye(d))[0].T
        if score.weighting is not None:
            pull, push = score.weighting @ pull, score.weighting @ push
        return cls(phi, y, uniforms, pull, push, tie_wins, whitened)

    @property
    def m(self) -> int:
        """Number of statistics."""
        return len(self.uniforms) + 1

    def follows_values(self, null: Array) -> bool:
        """Whether ranks depend on the fitted values alone, given the null space of Φ."""
        if self.whitened is not None:
            return True
        seen = self.pull.T @ self.push
        size = (np.abs(seen) @ np.abs(null)).max(axis=0, initial=0.0)
        return bool((np.abs(seen @ null).max(axis=0, initial=0.0) <= 1e-9 * size).all())

    @cached_property
    def rounding(self) -> float:
        """The rounding error of ΨL(y⁽ⁱ⁾ - y), summed label by label."""
        return 4 * EPS * float(np.linalg.norm(self.pull, axis=0).sum())


class _Lines(NamedTuple):
    """Fitted values f[0] + t f[1] and gradients z[0] + t z[1] on N lines, cut to |f| <= 1."""

    f: Array  # (2, N, n)
    z: Array  # (2, N, k)
    error: Array  # (2, N): the rounding errors of z
    lo: Array  # (N,): the ends of the cut
    hi: Array

    @classmethod
    def of(cls, model: LabelModel, origins: Array, directions: Array) -> _Lines:
        phi, ways = model.phi, np.stack([origins, directions])
        f = ways @ phi.T
        size = of_products(phi.shape[1]) * (np.abs(directions) @ np.abs(phi).T)
        f[1] = np.where(np.abs(f[1]) <= size, 0.0, f[1])
        r = np.stack([model.y - f[0], -f[1]])
        z = r @ model.pull.T - ways @ model.push.T
        length = _norm(r)
        length[0] += _norm(f[0])
        pull, push = (np.linalg.norm(part) for part in (model.pull, model.push))
        error = 8 * EPS * sum(phi.shape) * (pull * length + push * _norm(ways))
        return cls(f, z, error, *_cut(model.y, *f))


def _norm(x: Array) -> Array:
    return np.asarray(np.linalg.norm(x, axis=-1))


def _cut(y: Array, f0: Array, f1: Array) -> tuple[Array, Array]:
    """Return the ends of {t : |f0 + t f1| <= 1} for each line; low > high if it is empty.

    It is empty too if an observed label is impossible on the whole line.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = (-EDGE - f0) / f1, (EDGE - f0) / f1
    still, out = f1 == 0, (np.abs(f0) > EDGE) | (np.abs(y - f0) >= 2)
    low = np.where(still, np.where(out, np.inf, -np.inf), np.minimum(one, two))
    high = np.where(still, np.where(out, -np.inf, np.inf), np.maximum(one, two))
    return low.max(axis=1), high.min(axis=1)


@final
@dataclass(frozen=True, eq=False)
class LabelLines(Lines):
    """Exact intersections of a label region with lines."""

    model: LabelModel
    ranks: Callable[[Array], IntArray]  # (N, d) -> (N,): the careful rank, for single points

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals on which, besides, no fitted value leaves [-1, 1]."""
        lines = _Lines.of(self.model, origins, directions)
        # Expand about a point within the cut: far away the digits of f[0] + t f[1] are lost.
        with np.errstate(invalid="ignore"):
            middle = lines.lo + (lines.hi - lines.lo) / 2
        away = (lines.lo > 0) | (lines.hi < 0)
        shift = np.where(away & np.isfinite(middle), middle, 0.0)
        lines = _Lines.of(self.model, origins + shift[:, None] * directions, directions)
        events = self._events(lines)
        out = []
        for q in qs:
            members = partial(self._members, origins, directions, q) if points else None
            spans = Spans.joined(*sweep(*events, q)).closed(shift, members)
            out.append(spans.split(len(directions)))
        return out

    def _members(
        self, origins: Array, directions: Array, q: int, line: IntArray, t: Array
    ) -> BoolArray:
        return self.ranks(origins[line] + t[:, None] * directions[line]) <= self.model.m - q

    def _events(self, lines: _Lines) -> tuple[IntArray, Array, IntArray]:
        """Return where the number of sets changes: lines, t and changes, with start and end."""
        alive, (sets, n) = np.flatnonzero(lines.lo <= lines.hi), self.model.uniforms.shape
        row_line, row_set = np.repeat(alive, sets), np.tile(np.arange(sets), len(alive))
        start = np.zeros(len(lines.lo), dtype=np.intp)
        found = []
        step = rows_that_fit(BATCH_BYTES, (n + 1) * (len(self.model.pull) + 8))
        for rows in slices(len(row_line), step):
            inside, events = self._pieces(lines, row_line[rows], row_set[rows])
            np.add.at(start, row_line[rows], inside)
            found += events
        found.append((alive, lines.lo[alive], start[alive]))
        found.append((alive, lines.hi[alive], np.zeros(len(alive), dtype=np.intp)))
        line, t, change = (np.concatenate(part) for part in zip(*found, strict=True))
        return line, t, change

    def _pieces(
        self, lines: _Lines, line: IntArray, number: IntArray
    ) -> tuple[BoolArray, list[tuple[IntArray, Array, IntArray]]]:
        """Follow pairs of a line and a set from flip to flip.

        Returns which of them begin inside the set, and the events where they enter or leave it.
        """
        model = self.model
        lo, hi = lines.lo[line, None], lines.hi[line, None]
        (f0, f1), (z0, z1) = lines.f[:, line], lines.z[:, line]
        error_0, error_1 = lines.error[:, line, None]
        u = model.uniforms[number]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (2 * u - 1 - f0) / f1
        still, rising = f1 == 0, f1 > 0
        plus = np.where(still, u < (1 + f0) / 2, np.where(rising, t <= lo, t > lo))
        t = np.where(still | (t <= lo) | (t >= hi), np.inf, t)
        flips = int((t < np.inf).sum(axis=1).max(initial=0))
        order = np.argsort(t, axis=1)[:, :flips]
        t = np.take_along_axis(t, order, axis=1)
        turn = np.where(np.take_along_axis(rising, order, axis=1), 2.0, -2.0)

        # p = ΨL(y⁽ⁱ⁾ - y) in every piece, and the affine function ⟨p, p + 2(z0 + t z1)⟩.
        p = np.empty((len(line), flips + 1, len(model.pull)))
        p[:, 0] = (np.where(plus, 1.0, -1.0) - model.y) @ model.pull.T
        p[:, 1:] = model.pull.T[order] * turn[:, :, None]
        np.cumsum(p, axis=1, out=p)
        square = np.einsum("rpk,rpk->rp", p, p)
        C = square + 2 * (p @ z0[:, :, None])[:, :, 0]
        B = 2 * (p @ z1[:, :, None])[:, :, 0]
        size, error = np.sqrt(square), model.rounding
        wide = 2 * (size + _norm(z0)[:, None])
        tied = np.abs(C) <= wide * error + 2 * size * error_0
        tied &= np.abs(B) <= 2 * (_norm(z1)[:, None] * error + size * error_1)

        # It is positive before its root if it falls, behind it if it rises.
        edges = np.concatenate([lo, t, hi], axis=1)
        begin, end = edges[:, :-1], np.minimum(edges[:, 1:], hi)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = -C / B
        constant = tied | ~np.isfinite(root)
        level = np.where(tied, model.tie_wins[number][:, None], C > 0)
        inside = np.where(constant, level, np.where(root <= begin, B > 0, B < 0))
        crosses = ~constant & (root > begin) & (root < end)
        leaves = inside ^ crosses  # the state at the end of the piece
        real = t < np.inf
        row, piece = np.nonzero((inside[:, 1:] != leaves[:, :-1]) & real)
        at_flips = line[row], t[row, piece], np.where(inside[row, piece + 1], 1, -1)
        crosses[:, 1:] &= real
        row, piece = np.nonzero(crosses)
        at_roots = line[row], root[row, piece], np.where(inside[row, piece], -1, 1)
        return inside[:, 0], [at_flips, at_roots]
