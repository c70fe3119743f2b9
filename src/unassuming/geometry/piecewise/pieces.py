"""Pieces of lines on which Z_i - Z_0 is a quadratic in x = t - shift.

Where no coefficient stays at a kink and the loss has no knots, all sets share the crossings of
kinks, and p does not change at them: an amount Δ that is added to component j of the subgradient
adds -2Δ⟨Ψ_j, p⟩ to the difference, B and C for many lines at once. Otherwise every set has pieces
of its own. A residual that passes a knot of the loss, or a component that stays at a kink and meets
the end of its box, adds an affine multiple of one column to p or to z_0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Self, final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.lines import Events, Spans, quadratic_events
from unassuming.geometry.piecewise.breakpoints import Crossings
from unassuming.geometry.piecewise.model import Model, settle


@final
@dataclass(frozen=True, eq=False)
class SharedPieces:
    """N lines in P pieces each, and m - 1 quadratics on every piece."""

    model: Model
    crossed: Crossings
    x: Array  # (N, B): where
    ends: Array  # (N, P + 1): of the pieces, in x
    A: Array  # (N, 1, m - 1)
    B: Array  # (N, P, m - 1)
    C: Array
    u: Array  # (2, N, k, 1): affine in x
    v: Sequence[Array]  # two of (N, k, m - 1): L(G_i - I)r
    turned: Sequence[Array]  # two of (N, k, m - 1): Ψᵀp
    z: Array  # (2, N, K): before the first crossing

    @classmethod
    def along(cls, model: Model, origins: Array, directions: Array, shift: Array) -> Self:
        """Cut the lines origins + t directions, (N, d) each."""
        about = origins + shift[:, None] * directions
        r = model.loss.slopes[0] * model.residuals(about, directions)
        d, v, p, turned = zip(*(_moved(model, x) for x in r), strict=True)
        u = r @ model.L.T - np.stack([about, directions]) @ model.P.T
        z, a = np.array(u), model.penalty.own(np.stack([origins, directions]))
        far = np.where(a[1] != 0, -np.copysign(np.inf, a[1]), a[0])
        z[0] -= model.penalty.beside(np.stack([far, a[1]]))
        z = model.weigh(z)
        s = [2 * z[j][..., None] + p[j] for j in (0, 1)]
        A, C = (np.einsum("nki,nki->ni", p[j], s[j])[:, None] for j in (1, 0))
        B = sum(np.einsum("nki,nki->ni", p[j], s[1 - j])[:, None] for j in (0, 1))

        crossed = Crossings.of(model.penalty, origins, directions)
        jumps, line = crossed.jumping, np.arange(len(about))[:, None]
        steps, ends, last = -2 * jumps.change[:, :, None], *_distinct(jumps.t - shift[:, None])
        changes = (np.cumsum(steps * part[line, jumps.component], axis=1) for part in turned)
        C, B = (
            np.concatenate([first, first + change[line, last]], axis=1)
            for first, change in zip((C, B), changes, strict=True)
        )
        P, S = (
            np.sqrt([np.einsum("nki,nki->ni", x, x) for x in part])[:, :, None] for part in (p, s)
        )
        S[0] += 2 * model.step
        settle((A, B, C), P, S, *(x[:, :, None] for x in model.errors(r, d, about, directions)))
        x = crossed.t - shift[:, None]
        return cls(model, crossed, x, ends, A, B, C, u[..., None], v, turned, z)

    def events(self) -> Events:
        """Return where the number of sets changes, in x."""
        lo, hi = self.ends[:, :-1, None], self.ends[:, 1:, None]
        lines = np.arange(len(self.x))
        return quadratic_events(lines, lo, hi, self.A, self.B, self.C, self.model.wins)

    def likely(self, q: int, spans: Spans) -> tuple[IntArray, Array]:
        """Return line and t of the crossings outside the spans that may be members.

        These are kinks crossed together, and single ones that q sets may hold.
        """
        line, b = np.nonzero(np.isfinite(self.x))
        outside = ~spans.cover(line, self.x[line, b])
        line, b = line[outside], b[outside]
        likely = self.crossed.multiple()[line, b]
        alone = np.flatnonzero(~likely)
        likely[alone] = self._held(line[alone], b[alone], q)
        return line[likely], self.crossed.t[line[likely], b[likely]]

    def _held(self, line: IntArray, b: IntArray, q: int) -> BoolArray:
        """Whether q sets may hold points at which a single component crosses a kink.

        The box replaces s_j there: with e = s_j - clip(u_j, lo, hi) that adds 2e⟨Ψ_j, z⟩ +
        e²⟨Ψ_j, Ψ_j⟩ to a statistic. What that can be at most rules out most points.
        """
        model, crossed, x = self.model, self.crossed, self.x[line, b][:, None]
        j, kink = crossed.component[line, b], crossed.kink[line, b]
        column, steps = (
            model.columns[j],
            crossed.change[..., None] * model.columns[crossed.component],
        )
        z = self.z[0][line] + x * self.z[1][line] - (np.cumsum(steps, axis=1) - steps)[line, b]
        w, square = ((part * column).sum(axis=1)[:, None] for part in (z, column))
        lo, hi = (side[j, kink][:, None] for side in (model.penalty.lo, model.penalty.hi))
        before, u = crossed.before[line, b][:, None], self.u[0][line, j] + x * self.u[1][line, j]
        e = before - np.clip(u, lo, hi)
        less = e * (2 * w + e * square)
        piece = (self.ends[line, 1:-1] < x).sum(axis=1)
        gap = (self.A[line, 0] * x + self.B[line, piece]) * x + self.C[line, piece]
        v, turned = (
            most[0][line, j, None] + np.abs(x) * most[1][line, j, None] for most in self._most
        )
        reach = np.minimum(np.maximum(before - lo, hi - before), np.abs(before) + np.abs(u) + v)
        gain = reach * (2 * (np.abs(w) + turned) + reach * square) + np.abs(less)
        able = np.count_nonzero(gap >= -1.001 * gain, axis=1) >= q
        line, j = line[able], j[able]
        x, before, u, w, square, lo, hi = (part[able] for part in (x, before, u, w, square, lo, hi))
        v, turned = (part[0][line, j] + x * part[1][line, j] for part in (self.v, self.turned))
        e = before - np.clip(u + v, lo, hi)
        more = gap[able] + e * (2 * (w + turned) + e * square) - less[able]
        able[able] = np.count_nonzero(more >= -1e-9 * gain[able], axis=1) >= q
        return np.asarray(able)

    @cached_property
    def _most(self) -> list[list[Array]]:
        """The largest v and Ψᵀp of any set, at x = 0 and as slopes: (N, k) each."""
        return [[np.abs(x).max(axis=-1) for x in part] for part in (self.v, self.turned)]


def _distinct(x: Array) -> tuple[Array, IntArray]:
    """Return the ends (N, P + 1) of pieces between distinct x (N, B), and the last x of each."""
    with np.errstate(invalid="ignore"):  # inf - inf
        last = np.diff(x, axis=1, append=np.inf) > 0
    order = np.argsort(~last, axis=1, kind="stable")[:, : int(last.sum(axis=1).max(initial=0))]
    far = np.full((len(x), 1), np.inf)
    inner = np.take_along_axis(np.where(last, x, np.inf), order, axis=1)
    return np.hstack([-far, inner, far]), order


def _moved(model: Model, r: Array) -> tuple[Array, ...]:
    """Return d = (G_i - I)r, v = Ld, p = Ψv and Ψᵀp in columns, (N, *, m - 1) each."""
    if len(r) > 1 and (r == r[0]).all():  # lines from a common origin
        return tuple(np.broadcast_to(x, (len(r), *x.shape[1:])) for x in _moved(model, r[:1]))
    d = np.swapaxes(model.moved(r) - r[:, None], 1, 2)
    v = model.L @ d
    if model.weighting is None:
        return d, v, v, v
    p = model.weighting @ v
    return d, v, p, model.weighting.T @ p


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
        """Return the switches of all kinds, (m - 1, E)."""
        return cls(
            *(
                np.concatenate(
                    [np.broadcast_to(x, (*x.shape[:-2], sets, x.shape[-1])) for x in kind], -1
                )
                for kind in zip(*parts, strict=True)
            )
        )

    def quadratics(self, state: Array, model: Model, errors: Sequence[Array]) -> list[Array]:
        """Return the switches in order, (E, m - 1), and A, B, C of Z_i - Z_0 around them.

        ``state`` (m - 1, 4, K) are p and z_0 just behind x = 0, with their slopes. The walk goes
        from there both ways: what rounds far away is not carried back.
        """
        behind, before = (
            self._ordered(np.where(here, sign * self.x, np.inf), sign)._walk(
                state.copy(), model, errors
            )
            for here, sign in ((self.x > 0, 1), (self.x <= 0, -1))
        )
        x = np.concatenate([-before[0][::-1], behind[0]])
        return [
            x,
            *(np.concatenate([y[:0:-1], z]) for y, z in zip(before[1:], behind[1:], strict=True)),
        ]

    def _ordered(self, x: Array, sign: int) -> _Switches:
        order = np.argsort(x, axis=1, kind="stable")
        order = order[:, : int(np.isfinite(x).sum(axis=1).max(initial=0))]
        x, column = np.take_along_axis(x, order, 1), np.take_along_axis(self.column, order, 1)
        factors = (np.take_along_axis(part, order[None], axis=2) for part in (self.p, self.z))
        p, z = (np.where(np.isfinite(x), sign * part, 0.0) for part in factors)
        return _Switches(x, column, p, z)

    def _walk(self, state: Array, model: Model, errors: Sequence[Array]) -> list[Array]:
        """Pass the switches, from x = 0 on.

        With p += a c and z_0 += b c the difference grows by 2(a + b)⟨c, p⟩ + 2a⟨c, z_0⟩ +
        a(a + 2b)⟨c, c⟩.
        """
        factor = np.moveaxis(np.concatenate([self.p, self.z]), 0, 2)  # (m - 1, E, 4)
        p0, p1, z0, z1 = np.moveaxis(state, 1, 0)
        first = _products(
            (p0, p1), (p0 + 2 * z0, p1 + 2 * z1), lambda x, y: np.einsum("ik,ik->i", x, y)
        )
        sizes = np.linalg.norm(state, axis=-1)[:, None]
        dots, rows = np.empty(factor.shape), np.arange(len(state))
        for e in range(factor.shape[1]):
            if model.plain:  # unit vectors: one entry of the state changes
                at = rows, slice(None), self.column[:, e]
                dots[:, e] = state[at]
                state[at] += factor[:, e]
            else:
                c = model.columns[self.column[:, e]]
                dots[:, e] = np.einsum("irk,ik->ir", state, c)
                state += factor[:, e, :, None] * c[:, None]
        square = (model.columns**2).sum(axis=1)[self.column]
        (a0, a1, b0, b1), (p0, p1, z0, z1) = np.moveaxis(factor, 2, 0), np.moveaxis(dots, 2, 0)
        own = _products((a0, a1), (a0 + 2 * b0, a1 + 2 * b1), np.multiply)
        cross = _products((a0, a1), (p0 + z0, p1 + z1), np.multiply)
        shift = _products((b0, b1), (p0, p1), np.multiply)
        gains = (square * x + 2 * (y + z) for x, y, z in zip(own, cross, shift, strict=True))
        ABC = [np.cumsum(np.vstack([x, y.T]), axis=0) for x, y in zip(first, gains, strict=True)]
        longer = np.concatenate([sizes, np.abs(factor) * np.sqrt(square)[..., None]], axis=1)
        p, z = np.split(np.cumsum(longer, axis=1).T, 2)
        settle(ABC, p, p + 2 * z, *errors)
        return [self.x.T, *ABC]


def _products(
    x: Sequence[Array], y: Sequence[Array], dot: Callable[[Array, Array], Array]
) -> tuple[Array, Array, Array]:
    """Return A, B and C of the product of x[0] + x[1] t and y[0] + y[1] t."""
    return dot(x[1], y[1]), dot(x[0], y[1]) + dot(x[1], y[0]), dot(x[0], y[0])


@final
@dataclass(frozen=True, eq=False)
class OwnPieces:
    """One line, on which every set has its own pieces."""

    crossed: Crossings
    points: Array  # t where Z_0 may be smaller than on both sides
    most: IntArray  # how many sets may hold these
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
        d = [part.T[None] for part in moved - r]
        rho, image = model.loss.beside(r), model.loss.beside(moved)
        a = np.stack([about, way])
        u, v = rho @ model.L.T - a @ model.P.T, (image - rho) @ model.L.T
        held, lo, hi = model.penalty.held(o, way)
        w = np.array(u)
        w[0] -= model.penalty.beside(model.penalty.own(a))
        parts = [_crossings(crossed, shift)]
        face = np.flatnonzero(held[0])
        if len(face):
            lo, hi = lo[:, face], hi[:, face]
            base, other = u[..., face], u[..., face] + v[..., face]
            (w[..., face], side), (many, own) = _soft(base, lo, hi), _soft(other, lo, hi)
            # What is shifted alike differs by v, which may be zero.
            v[..., face] = np.where((side == own) & (side != 0), v[..., face], many - w[..., face])
            parts += _Switches.passing(base, other, lo, -1.0, 0.0, face)
            parts += _Switches.passing(base, other, hi, 1.0, 0.0, face)
        loss, rows = model.loss, len(model.L) + np.arange(len(model.y))
        for knot, bend, jump in zip(loss.knots, np.diff(loss.slopes), loss.jumps, strict=True):
            parts += _Switches.passing(r, moved, knot, bend, jump, rows)
        switches = _Switches.joined(parts, len(model.wins))

        p = model.weigh(v)
        state = np.stack([*p, *np.broadcast_to(model.weigh(w), p.shape)], axis=1)
        x, *quadratics = switches.quadratics(
            state, model, [e[:, 0] for e in model.errors(r, d, *a)]
        )
        far = np.full((1, len(model.wins)), np.inf)
        ends, (A, B, C) = np.vstack([-far, x, far])[None], (part[None] for part in quadratics)
        one = np.zeros(1, dtype=np.intp)
        found = quadratic_events(one, ends[:, :-1], ends[:, 1:], A, B, C, model.wins)
        met, most = _jumps_met(model, r[:, 0], a[:, 0], x, quadratics)
        most = np.concatenate([np.full(crossed.t.shape[1], len(model.wins)), most])
        return cls(crossed, np.concatenate([crossed.t[0], met + shift]), most, found, shift)

    def events(self) -> Events:
        """Return where the number of sets changes, in x."""
        return self.found

    def likely(self, q: int, spans: Spans) -> tuple[IntArray, Array]:
        """Return line (0) and t of the points outside the spans that may be members."""
        t = self.points[np.isfinite(self.points) & (self.most >= q)]
        line = np.zeros(len(t), dtype=np.intp)
        outside = ~spans.cover(line, t - self.shift)
        return line[outside], t[outside]


def _jumps_met(
    model: Model, r: Array, a: Array, x: Array, quadratics: Sequence[Array]
) -> tuple[Array, IntArray]:
    """Return where residuals r (2, n) meet jumps of the loss, and how many sets may hold that.

    There Z_0 may be anything between its two sides, and Z_i is at most the larger of its values.
    """
    knots, moves = model.loss.knots[model.loss.jumps != 0], np.flatnonzero(r[1])
    at = ((knots[:, None] - r[0, moves]) / r[1, moves]).ravel()
    every = np.full(len(at), len(model.wins))
    if not len(at) or model.penalty.kinks.size:
        return at, every
    values, row = r[0] + at[:, None] * r[1], np.tile(moves, len(knots))
    values[np.arange(len(at)), row] = np.repeat(knots, len(moves))
    smooth = (a[0] + at[:, None] * a[1]) @ model.weigh(model.P.T)
    z, Z = [], []
    for side in (-1, 1):
        rho = model.loss.beside(np.stack([values, np.broadcast_to(side * r[1], values.shape)]))[0]
        z.append(rho @ model.pull.T - smooth)
        where: Literal["left", "right"] = "left" if side < 0 else "right"
        piece = np.array([np.searchsorted(ends, at, side=where) for ends in x.T]).T
        A, B, C = (np.take_along_axis(part, piece, axis=0) for part in quadratics)
        Z.append((A * at[:, None] + B) * at[:, None] + C + (z[-1] ** 2).sum(axis=1)[:, None])
    step = z[1] - z[0]
    share = -(z[0] * step).sum(axis=1) / np.maximum((step * step).sum(axis=1), np.finfo(float).tiny)
    least = ((z[0] + np.clip(share, 0, 1)[:, None] * step) ** 2).sum(axis=1)[:, None]
    most = np.count_nonzero(np.maximum(*Z) >= least - 1e-9 * (least + np.abs(Z[0])), axis=1)
    near = np.abs(values[..., None] - knots) <= 1e-9 * (np.abs(r[0])[:, None] + np.abs(knots))
    return at, np.where(near.any(axis=-1).sum(axis=1) > 1, every, most)


def _crossings(crossed: Crossings, shift: float) -> _Switches:
    gain = -np.stack([crossed.change, np.zeros_like(crossed.change)])
    return _Switches(crossed.t - shift, crossed.component, 0 * gain, gain)


def _soft(u: Array, lo: Array, hi: Array) -> tuple[Array, IntArray]:
    """Return u - clip(u, lo, hi) just behind t = 0, affine in t, and on which side of the box."""
    above = (u[0] > hi) | ((u[0] == hi) & (u[1] > 0))
    side = above.astype(np.intp) - ((u[0] < lo) | ((u[0] == lo) & (u[1] < 0)))
    edge = np.where(side > 0, hi, np.where(side < 0, lo, 0.0))
    return np.where(side != 0, np.stack([u[0] - edge, u[1]]), 0.0), side
