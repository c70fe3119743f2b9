"""The region along one line, whatever stays at a kink: every set has breakpoints of its own.

A component that stays at a kink all along the line is soft-thresholded, and switches where
u_ij(t) meets the box [lo_j, hi_j]: elsewhere for every G_i. So do the kinks of a loss, under
rotations. Z is continuous there; it jumps only where a coefficient crosses a kink.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.geometry._breakpoints import FARTHEST, Breakpoints
from unassuming.geometry._gradients import LineModel, Sizes, settle
from unassuming.geometry._sweep import Spans, sign_changes, sweep

_CHUNK = 2**17
"""Numbers in one array of a batch of sets: near the size of a cache."""

Affine = tuple[Array, Array]
"""The value at x = 0, and the slope."""


@dataclass(frozen=True, eq=False)
class Faces:
    """One line: where each set is entered and left, as events in x = t - shift."""

    crossed: Breakpoints
    x: Array  # (1, B): of all kinks of the penalty
    start: int  # how many sets hold x = -∞
    t: Array  # (E,)
    change: IntArray  # (E,)

    @classmethod
    def along(cls, model: LineModel, origin: Array, direction: Array, shift: float) -> Self:
        """Follow every set along origin + t direction, expanded about t = shift."""
        line = _Line.of(model, origin[None], direction[None], shift)
        start, times, changes = 0, [], []
        for which in line.batches():
            ends, A, B, C = line.quadratics(which)
            lo, hi = ends[:, :-1], ends[:, 1:]
            tie = np.broadcast_to(model.tie_wins[which][:, None], lo.shape)
            state, roots = sign_changes(A, B, C, lo, hi, tie)
            at = ~np.isnan(roots)
            left = state ^ at[..., 0] ^ at[..., 1]  # the state before hi
            # A piece without length has no say: it inherits the state before it.
            proper = lo < hi
            source = np.maximum.accumulate(np.where(proper, np.arange(lo.shape[1]), 0), axis=1)
            left = np.take_along_axis(left, source, axis=1)
            between = np.where(proper[:, 1:], state[:, 1:].astype(np.intp) - left[:, :-1], 0)
            steps = np.stack([np.where(state, -1, 1), np.where(state ^ at[..., 0], -1, 1)], -1)
            start += int(state[:, 0].sum())
            times += [roots[at], ends[:, 1:-1][between != 0]]
            changes += [steps[at], between[between != 0]]
        return cls(line.crossed, line.crossed.t - shift, start, _join(times), _join(changes))

    def stretches(self, q: int) -> Spans:
        """Return the intervals of x in at least q sets; those without length are to be asked."""
        t = np.concatenate([[-np.inf], self.t, [np.inf]])
        change = np.concatenate([[self.start], self.change, [0]]).astype(np.intp)
        return Spans.joined(*sweep(np.zeros(len(t), dtype=np.intp), t, change, q))

    def likely(self, q: int, spans: Spans) -> tuple[IntArray, Array]:
        """Return line (0) and t of all crossings outside the spans."""
        del q
        x, line = self.x[0], np.zeros(self.x.shape[1], dtype=np.intp)
        outside = np.isfinite(x) & ~spans.cover(line, x)
        return line[outside], self.crossed.t[0, outside]


def _join(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.empty(0)


@dataclass(frozen=True, eq=False)
class _Line:
    """What all sets share on one line."""

    model: LineModel
    crossed: Breakpoints
    about: Array  # (1, d)
    direction: Array  # (1, d)
    r: Affine  # (n,)
    moved: Affine  # G_i r, (m - 1, n)
    cells: Array  # (c + 1,): ends of the stretches between crossings
    lo: Array  # (c, k): the box in each cell, at x = 0
    hi: Array
    s_slope: Array  # (k,): the slope of both
    face: Array  # (k,): which components stay at a kink

    @classmethod
    def of(cls, model: LineModel, origin: Array, direction: Array, shift: float) -> Self:
        crossed = Breakpoints.of(model.steps, origin, direction)
        about = origin + shift * direction
        r = model.residuals(about, direction)
        inner = np.unique(crossed.t[0, np.isfinite(crossed.t[0])])
        cells = np.concatenate([[-np.inf], inner, [np.inf]])
        lo, hi = model.score.subdifferential(origin + _middles(cells)[:, None] * direction)
        slope = np.zeros(lo.shape[1])
        if model.steps.values.shape[1] == 0:  # linear instead of constant
            lo = hi = model.score.subdifferential(about)[0]
            slope = model.score.subdifferential(direction)[0][0]
        return cls(
            model=model,
            crossed=crossed,
            about=about,
            direction=direction,
            r=(r[0][0], r[1][0]),
            moved=(model.perturbations.apply(r[0][0]), model.perturbations.apply(r[1][0])),
            cells=cells - shift,
            lo=lo,
            hi=hi,
            s_slope=slope,
            face=model.faces(origin, direction)[0],
        )

    def batches(self) -> Iterator[slice]:
        count, k = self.model.perturbations.m - 1, self.lo.shape[1]
        own = 2 * len(self.model.kinks.thresholds) * len(self.r[0]) + 4 * int(self.face.sum())
        step = max(1, _CHUNK // (k * (len(self.cells) + own)))
        return (slice(i, min(i + step, count)) for i in range(0, count, step))

    def quadratics(self, which: slice) -> tuple[Array, Array, Array, Array]:
        """Return ends (s, P + 1) and the coefficients (s, P) of some sets on their pieces."""
        model = self.model
        moved: Affine = self.moved[0][which], self.moved[1][which]
        ends = self._ends(moved)
        middle = _middles(ends)[..., None]
        lo, hi, s_slope = self._box(middle[..., 0])
        rho_0 = self._loss((self.r[0], self.r[1]), middle)
        rho = self._loss((moved[0][:, None], moved[1][:, None]), middle)
        delta = rho[0] - rho_0[0], rho[1] - rho_0[1]
        u = model.pull(rho_0[0]), model.pull(rho_0[1])
        v = model.pull(delta[0]), model.pull(delta[1])
        w = u[0] - lo, u[1] - s_slope
        if self.face.any():
            w, v = self._threshold(u, v, w, lo, hi, middle)
        z = model.weigh(w[0]), model.weigh(w[1])
        p = model.weigh(v[0]), model.weigh(v[1])

        def dot(x: Array, y: Array) -> Array:
            return np.asarray((x * y).sum(axis=-1))

        A = dot(p[1], p[1] + 2 * z[1])
        B = 2 * (dot(p[0], p[1] + z[1]) + dot(p[1], z[0]))
        C = dot(p[0], p[0] + 2 * z[0])
        # Thresholding compares parts that carry the errors of u as well.
        bound = model.errors(
            (self.r[0][None], self.r[1][None]),
            (moved[0].T[None], moved[1].T[None]),
            (np.where(np.isfinite(self.lo[:1]), self.lo[:1], 0.0), self.s_slope[None]),
            self.about,
            self.direction,
        )
        sizes = Sizes(
            p=(np.sqrt(dot(p[0], p[0])), np.sqrt(dot(p[1], p[1]))),
            z=(np.sqrt(dot(z[0], z[0])), np.sqrt(dot(z[1], z[1]))),
            p_error=(bound["p_error"][0].T, bound["p_error"][1].T),
            z_error=bound["z_error"],
        )
        shape = ends[:, 1:].shape
        A, B, C = (np.broadcast_to(part, shape).copy() for part in (A, B, C))
        settle(A, B, C, sizes.tolerances())
        return ends, A, B, C

    def _ends(self, moved: Affine) -> Array:
        """Return all breakpoints of Z_i - Z_0 in order, for some i, between infinities."""
        count = len(moved[0])
        every = [np.broadcast_to(self.cells, (count, len(self.cells)))]
        sets = [((self.r[0][None]), (self.r[1][None])), moved]
        for r0, r1 in sets:
            # Signs and permutations only move the kinks of the loss among the rows.
            if r0 is moved[0] and self.model.perturbations.noise.exact_arithmetic:
                continue
            every += [_meet(r0, r1, threshold) for threshold in self.model.kinks.thresholds]
        if self.face.any():
            for r0, r1 in sets:
                u0, u1 = self.model.pull(r0)[:, self.face], self.model.pull(r1)[:, self.face]
                every += [_meet(u0, u1, side[0, self.face]) for side in (self.lo, self.hi)]
        return np.sort(
            np.concatenate([np.broadcast_to(e, (count, e.shape[1])) for e in every], axis=1), axis=1
        )

    def _box(self, middle: Array) -> tuple[Array, Array, Array]:
        if len(self.lo) == 1:
            return self.lo, self.hi, self.s_slope
        cell = np.clip(np.searchsorted(self.cells, middle, side="right") - 1, 0, len(self.lo) - 1)
        return self.lo[cell], self.hi[cell], self.s_slope

    def _loss(self, r: Affine, middle: Array) -> Affine:
        """Return ρ(r), which is affine on each piece."""
        kinks, influence = self.model.kinks, self.model.score.influence
        if len(kinks.thresholds) == 0 or influence is None:
            return r
        here = r[0] + middle * r[1]
        slope = kinks.slope(here)
        return slope * r[0] + (influence(here) - slope * here), slope * r[1]

    def _threshold(
        self, u: Affine, v: Affine, w: Affine, lo: Array, hi: Array, middle: Array
    ) -> tuple[Affine, Affine]:
        """Return w = u - clip(u) and its perturbation on the components that stay at a kink."""
        j = self.face
        lo, hi = lo[..., j], hi[..., j]
        lo, hi = np.broadcast_arrays(lo, hi)
        base: Affine = u[0][..., j], u[1][..., j]
        other: Affine = base[0] + v[0][..., j], base[1] + v[1][..., j]
        least, least_i = (_least(part, lo, hi, middle) for part in (base, other))
        shape = np.broadcast_shapes(v[0].shape, middle.shape)
        out_w, out_v = [], []
        for k in (0, 1):
            full = np.broadcast_to(w[k], (*shape[:-1], w[k].shape[-1])).copy()
            full[..., j] = least[k]
            out_w.append(full)
            full = np.broadcast_to(v[k], (*shape[:-1], v[k].shape[-1])).copy()
            # Beyond the same side of the box both are shifted alike, and v is the difference.
            same = (least[2] == least_i[2]) & (least[2] != 0)
            full[..., j] = np.where(same, full[..., j], least_i[k] - least[k])
            out_v.append(full)
        return (out_w[0], out_w[1]), (out_v[0], out_v[1])


def _least(u: Affine, lo: Array, hi: Array, middle: Array) -> tuple[Array, Array, IntArray]:
    """Return u - clip(u, lo, hi) as value and slope, and the side: -1, 0 (inside) or 1."""
    here = u[0] + middle * u[1]
    side = np.where(here < lo, -1, np.where(here > hi, 1, 0))
    # An infinite side is never passed; it must not enter the arithmetic either.
    low, high = np.where(np.isfinite(lo), lo, 0.0), np.where(np.isfinite(hi), hi, 0.0)
    value = np.where(side == 0, 0.0, u[0] - np.where(side < 0, low, high))
    return value, np.where(side == 0, 0.0, u[1]), side


def _meet(value: Array, slope: Array, target: Array | float) -> Array:
    """Return where value + x slope = target; infinity where it never does."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x = (target - value) / slope
    return np.where(np.abs(x) < FARTHEST, x, np.inf)


def _middles(ends: Array) -> Array:
    """Return a point between every two ends, (..., P + 1) -> (..., P)."""
    lo, hi = ends[..., :-1], ends[..., 1:]
    with np.errstate(invalid="ignore"):
        inner = lo + (hi - lo) / 2
        before, after = hi - np.maximum(1.0, np.abs(hi)), lo + np.maximum(1.0, np.abs(lo))
    middle = np.where(np.isinf(lo), np.where(np.isinf(hi), 0.0, before), inner)
    return np.where(np.isinf(hi) & np.isfinite(lo), after, middle)
