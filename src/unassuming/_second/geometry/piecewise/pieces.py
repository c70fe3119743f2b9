"""Pieces of lines on which Z_i - Z_0 is a quadratic in x = t - shift.

Where no coefficient stays at a kink and the loss has no knots, all sets share the crossings of
kinks, and p does not change at them: an amount Δ that is added to component j of the subgradient
adds -2Δ⟨Ψ_j, p⟩ to the difference, B and C for many lines at once. Otherwise every set has pieces
of its own. A residual that passes a knot of the loss, or a component that stays at a kink and meets
the end of its box, adds an affine multiple of one column to p or to z_0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self, final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._second.geometry.lines import Events, Spans, quadratic_events
from unassuming._second.geometry.piecewise.breakpoints import Crossings
from unassuming._second.geometry.piecewise.model import Model, settle
from unassuming._typing import Array, IntArray

BATCH_BYTES = 2**23
"""The size of the largest table of a batch."""


@final
@dataclass(frozen=True, eq=False)
class SharedPieces:
    """N lines in B + 1 pieces each, and m - 1 quadratics on every piece."""

    model: Model
    crossed: Crossings
    x: Array  # (N, B): where
    A: Array  # (N, m - 1, 1)
    B: Array  # (N, m - 1, B + 1)
    C: Array
    u: Array  # (2, N, k): affine in x
    v: Array  # (2, N, m - 1, k): L(G_i - I)r
    turned: Array  # (2, N, m - 1, k): Ψᵀp
    z: Array  # (2, N, K): before the first crossing

    @classmethod
    def along(cls, model: Model, origins: Array, directions: Array, shift: Array) -> Self:
        """Cut the lines origins + t directions, (N, d) each."""
        about = origins + shift[:, None] * directions
        r = model.loss.slopes[0] * model.residuals(about, directions)
        d, v, p, turned = (np.stack(part) for part in zip(*(_moved(model, x) for x in r), strict=True))
        u = r @ model.L.T - np.stack([about, directions]) @ model.P.T
        z = np.array(u)
        z[0] -= model.penalty.beyond(origins, directions)
        z = model.weigh(z)
        s = 2 * z[:, :, None] + p
        A, C = (np.einsum("nik,nik->ni", p[j], s[j])[..., None] for j in (1, 0))
        B = np.einsum("nik,nik->ni", p[0], s[1]) + np.einsum("nik,nik->ni", p[1], s[0])

        crossed = Crossings.of(model.penalty, origins, directions)
        steps = np.zeros((2, *B.shape, crossed.t.shape[1] + 1))
        at = crossed.component[:, None]
        for j, first in ((0, C[..., 0]), (1, B)):
            steps[j, ..., 0] = first
            steps[j, ..., 1:] = -2 * crossed.change[:, None] * np.take_along_axis(turned[j], at, axis=-1)
        C, B = np.cumsum(steps, axis=-1)
        lengths = np.linalg.norm(p, axis=-1)[..., None], np.linalg.norm(s, axis=-1)[..., None]
        lengths[1][0] += 2 * model.step
        errors = (part[..., None] for part in model.errors(r, d, about, directions))
        settle((A, B, C), *lengths, *errors)
        return cls(model, crossed, crossed.t - shift[:, None], A, B, C, u, v, turned, z)

    def events(self) -> Events:
        """Return where the number of sets changes, in x."""
        (N, S, P), far = self.C.shape, np.full((len(self.x), 1), np.inf)
        lo, hi = (np.repeat(np.hstack(ends), S, axis=0) for ends in ((-far, self.x), (self.x, far)))
        A = np.broadcast_to(self.A, self.C.shape)
        flat = (part.reshape(N * S, P) for part in (A, self.B, self.C))
        return quadratic_events(np.repeat(np.arange(N), S), lo, hi, *flat, np.tile(self.model.wins, N))

    def likely(self, q: int, spans: Spans) -> tuple[IntArray, Array]:
        """Return line and t of the crossings outside the spans that may be members."""
        line, b = np.nonzero(np.isfinite(self.x) & (self._most >= q))
        outside = ~spans.cover(line, self.x[line, b])
        return line[outside], self.crossed.t[line[outside], b[outside]]

    @cached_property
    def _most(self) -> IntArray:
        """How many sets may hold the crossings themselves, (N, B); all where several coincide.

        At a kink the box replaces s_j: with e = s_j - clip(u_j, lo, hi) that adds 2e⟨Ψ_j, z⟩ +
        e²⟨Ψ_j, Ψ_j⟩ to a statistic.
        """
        model, crossed, j = self.model, self.crossed, self.crossed.component
        x = np.where(np.isfinite(self.x), self.x, 0.0)
        column, steps = model.columns[j], crossed.change[..., None] * model.columns[j]
        z = self.z[0][:, None] + x[..., None] * self.z[1][:, None]
        z = z + steps - np.cumsum(steps, axis=1)  # before each crossing
        w, square = (z * column).sum(axis=-1), (column**2).sum(axis=-1)
        lo, hi = (side[j, crossed.kink] for side in (model.penalty.lo, model.penalty.hi))
        u = np.take_along_axis(self.u[0], j, axis=1) + x * np.take_along_axis(self.u[1], j, axis=1)
        e = crossed.before - np.clip(u, lo, hi)
        less = e * (2 * w + e * square)
        x, before, j = x[:, None], crossed.before[:, None], j[:, None]
        v, turned = (
            np.take_along_axis(part[0], j, axis=-1) + x * np.take_along_axis(part[1], j, axis=-1)
            for part in (self.v, self.turned)
        )
        e = before - np.clip(u[:, None] + v, lo[:, None], hi[:, None])
        more = e * (2 * (w[:, None] + turned) + e * square[:, None])
        gap = (self.A * x + self.B[..., :-1]) * x + self.C[..., :-1]
        slack = 1e-9 * (np.abs(more) + np.abs(less)[:, None] + np.abs(gap))
        count = np.count_nonzero(gap + more - less[:, None] >= -slack, axis=1)
        return np.where(crossed.multiple(), len(model.wins), count)


class _Switches(NamedTuple):
    """Where p or z_0 gain an affine multiple of a column, (m - 1 or 1, E); infinite for never."""

    x: Array
    column: IntArray
    p: Array  # (2, m - 1 or 1, E): the factor
    z: Array

    @classmethod
    def passing(
        cls, r: Array, moved: Array, knot: Array | float, bend: float, jump: float, column: IntArray
    ) -> list[_Switches]:
        """Return where r (2, 1, E) and G_i r (2, m - 1, E) pass a knot of an elementwise function.

        Its slope grows by ``bend`` there, and it jumps.
        """
        out = []
        for value, own in ((r, False), (moved, True)):
            with np.errstate(divide="ignore", invalid="ignore"):
                x = (knot - value[0]) / value[1]
            up = np.where(np.isfinite(x), np.sign(value[1]), 0.0)
            x = np.where(up != 0, x, np.inf)
            rest = np.where(up != 0, value[0] - knot, 0.0)  # the knot may be infinite
            gain = up * np.stack([bend * rest + jump, bend * value[1]])
            both = (gain, 0 * gain) if own else (-gain, gain)
            out.append(cls(x, np.broadcast_to(column, x.shape), *both))
        return out

    @classmethod
    def joined(cls, parts: Sequence[_Switches], sets: int) -> _Switches:
        """Sort the switches of all kinds by x, (m - 1, E)."""
        every = [
            np.concatenate([np.broadcast_to(x, (*x.shape[:-2], sets, x.shape[-1])) for x in kind], -1)
            for kind in zip(*parts, strict=True)
        ]
        order = np.argsort(every[0], axis=1, kind="stable")
        order = order[:, : int(np.isfinite(every[0]).sum(axis=1).max(initial=0))]
        return cls(*(np.take_along_axis(x, order.reshape(*[1] * (x.ndim - 2), *order.shape), -1) for x in every))


@final
@dataclass(frozen=True, eq=False)
class OwnPieces:
    """One line, on which every set has its own pieces."""

    crossed: Crossings
    points: Array  # t where Z_0 may be smaller than on both sides
    found: Events  # in x
    shift: float

    @classmethod
    def along(cls, model: Model, origin: Array, direction: Array, shift: float) -> Self:
        """Follow every set along origin + t direction."""
        o, way = origin[None], direction[None]
        about = o + shift * way
        crossed = Crossings.of(model.penalty, o, way)
        r = model.residuals(about, way)
        moved = np.stack([model.moved(part)[0] for part in r])
        rho, image = model.loss.beyond(r), model.loss.beyond(moved)
        u, v = rho @ model.L.T - np.stack([about, way]) @ model.P.T, (image - rho) @ model.L.T
        held, lo, hi = model.penalty.held(o, way)
        w = np.array(u)
        w[0] -= model.penalty.beyond(o, way)
        parts = [_crossings(crossed, shift)]
        face = np.flatnonzero(held[0])
        if len(face):
            lo, hi = lo[:, face], hi[:, face]
            base, other = u[..., face], u[..., face] + v[..., face]
            (w[..., face], side), (many, own) = _beyond(base, lo, hi), _beyond(other, lo, hi)
            # What is shifted alike differs by v, which may be zero.
            v[..., face] = np.where((side == own) & (side != 0), v[..., face], many - w[..., face])
            parts += _Switches.passing(base, other, lo, -1.0, 0.0, face)
            parts += _Switches.passing(base, other, hi, 1.0, 0.0, face)
        loss, rows = model.loss, len(model.L) + np.arange(len(model.y))
        for knot, bend, jump in zip(loss.knots, np.diff(loss.slopes), loss.jumps, strict=True):
            parts += _Switches.passing(r, moved, knot, bend, jump, rows)
        switches = _Switches.joined(parts, len(model.wins))

        p = model.weigh(v)
        z = np.broadcast_to(model.weigh(w), p.shape)
        errors = model.errors(r, moved - r, about, way)
        count, E = switches.x.shape
        ABC = np.empty((3, count, E + 1))
        for some in slices(count, rows_that_fit(BATCH_BYTES, 4 * (E + 1) * p.shape[-1])):
            columns = model.columns[switches.column[some]]
            P, Z = (_running(start[:, some], gain[:, some], columns) for start, gain in ((p, switches.p), (z, switches.z)))
            Z *= 2
            Z += P  # s
            A, C = (np.einsum("iek,iek->ie", P[j], Z[j]) for j in (1, 0))
            B = np.einsum("iek,iek->ie", P[0], Z[1]) + np.einsum("iek,iek->ie", P[1], Z[0])
            lengths = (np.sqrt(np.einsum("jiek,jiek->jie", x, x)) for x in (P, Z))
            settle((A, B, C), *lengths, *(e[:, 0, some, None] for e in errors))
            ABC[:, some] = A, B, C
        far = np.full((count, 1), np.inf)
        lo, hi = np.hstack([-far, switches.x]), np.hstack([switches.x, far])
        found = quadratic_events(np.zeros(count, dtype=np.intp), lo, hi, *ABC, model.wins)
        jumped = [((knot - r[0]) / r[1])[r[1] != 0] + shift for knot in loss.knots[loss.jumps != 0]]
        return cls(crossed, np.concatenate([crossed.t[0], *jumped]), found, shift)

    def events(self) -> Events:
        """Return where the number of sets changes, in x."""
        return self.found

    def likely(self, q: int, spans: Spans) -> tuple[IntArray, Array]:
        """Return line (0) and t of the points outside the spans that may be members."""
        line = np.zeros(len(self.points), dtype=np.intp)
        outside = np.isfinite(self.points) & ~spans.cover(line, self.points - self.shift)
        return line[outside], self.points[outside]


def _crossings(crossed: Crossings, shift: float) -> _Switches:
    gain = -np.stack([crossed.change, np.zeros_like(crossed.change)])
    return _Switches(crossed.t - shift, crossed.component, 0 * gain, gain)


def _beyond(u: Array, lo: Array, hi: Array) -> tuple[Array, IntArray]:
    """Return u - clip(u, lo, hi) at t = -∞, affine in t, and on which side of the box u is."""
    far = np.where(u[1] == 0, u[0], np.where(u[1] > 0, -np.inf, np.inf))
    side = (far > hi).astype(np.intp) - (far < lo)
    edge = np.where(side > 0, hi, lo)
    return np.where(side != 0, np.stack([u[0] - np.where(side != 0, edge, 0.0), u[1]]), 0.0), side


def _running(start: Array, gain: Array, columns: Array) -> Array:
    """Return the sums of start (2, m - 1 or 1, K) and of gains (2, m - 1, E) times columns."""
    out = np.empty((2, *gain.shape[1:2], gain.shape[2] + 1, columns.shape[-1]))
    out[:, :, 0] = start
    np.multiply(gain[..., None], columns, out=out[:, :, 1:])
    return np.cumsum(out, axis=2, out=out)


def _moved(model: Model, r: Array) -> tuple[Array, ...]:
    """Return d = (G_i - I)r, v = Ld, p = Ψv and Ψᵀp, (N, m - 1, *) each."""
    if len(r) > 1 and (r == r[0]).all():  # lines from a common origin
        return tuple(np.broadcast_to(x, (len(r), *x.shape[1:])) for x in _moved(model, r[:1]))
    d = model.moved(r) - r[:, None]
    v = d @ model.L.T
    if model.weighting is None:
        return d, v, v, v
    p = v @ model.weighting.T
    return d, v, p, p @ model.weighting
