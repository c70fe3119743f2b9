"""Pieces of lines on which Z_i - Z_0 is a quadratic in x = t - shift.

Where no coefficient stays at a kink and the loss has no knots, all sets share the crossings of
kinks, and p does not change at them: an amount Δ that is added to component j of the subgradient
adds -2Δ⟨Ψ_j, p⟩ to the difference, B and C for many lines at once. Otherwise every set has pieces
of its own. A residual that passes a knot of the loss, or a component that stays at a kink and meets
the end of its box, adds an affine multiple of one column to p or to z_0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, IntArray
from unassuming.geometry.lines import Events, quadratic_events
from unassuming.geometry.piecewise.breakpoints import Crossings
from unassuming.geometry.piecewise.model import Model, settle

BATCH_BYTES = 2**20
"""The size of one table of a batch: near that of a cache."""


class Pieces(NamedTuple):
    """Where the number of sets changes on some lines, and points at which the statistics jump."""

    crossed: Crossings
    events: Events  # in x
    line: IntArray
    t: Array
    most: IntArray  # how many sets may hold these points

    def likely(self, q: int) -> tuple[IntArray, Array]:
        """Return line and t of the points that q sets may hold."""
        return self.line[self.most >= q], self.t[self.most >= q]


def shared_pieces(
    model: Model, origins: Array, directions: Array, shift: Array, points: bool
) -> Pieces:
    """Follow all sets together along origins + t directions, (N, d) each."""
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
    P, S = (np.sqrt([np.einsum("nki,nki->ni", x, x) for x in part])[:, :, None] for part in (p, s))
    S[0] += 2 * model.step
    settle((A, B, C), P, S, *(x[:, :, None] for x in model.errors(r, d, about, directions)))
    lo, hi, every = ends[:, :-1, None], ends[:, 1:, None], np.arange(len(about))
    events = quadratic_events(every, lo, hi, A, B, C, model.wins)
    at = np.nonzero(np.isfinite(crossed.t) & points)
    x = crossed.t[at] - shift[at[0]]
    piece = (ends[at[0], 1:-1] < x[:, None]).sum(axis=1)
    before = np.stack([A[at[0], 0], B[at[0], piece], C[at[0], piece]])
    most = _holding(model, crossed, at, x[:, None], before, z, u, v, turned)
    return Pieces(crossed, events, at[0], crossed.t[at], most)


def _holding(
    model: Model,
    crossed: Crossings,
    at: tuple[IntArray, ...],
    x: Array,
    before: Array,
    z: Array,
    u: Array,
    v: Sequence[Array],
    turned: Sequence[Array],
) -> IntArray:
    """Return how many sets may hold each crossing ``at``; all if kinks are crossed together."""
    # A box replaces the subgradient s_j of one component: with e = s_j - clip(u_j, lo, hi) that
    # adds 2e⟨Ψ_j, z⟩ + e²⟨Ψ_j, Ψ_j⟩ to each statistic. ``before`` are A, B and C up to there.
    line, j, kink = at[0], crossed.component[at], crossed.kink[at]
    columns = model.columns[crossed.component]
    steps = crossed.change[..., None] * columns
    own = z[0][line] + x * z[1][line] - (np.cumsum(steps, axis=1) - steps)[at]
    w, square = ((part * columns[at]).sum(axis=1)[:, None] for part in (own, columns[at]))
    lo, hi = (side[j, kink][:, None] for side in (model.penalty.lo, model.penalty.hi))
    s, u_j = crossed.before[at][:, None], (u[0][line, j] + x[:, 0] * u[1][line, j])[:, None]
    v_j, w_j = (part[0][line, j] + x * part[1][line, j] for part in (v, turned))
    terms = [before[0] * x * x, before[1] * x, before[2]]
    for e, product, sign in (
        (s - np.clip(u_j, lo, hi), w, -1),
        (s - np.clip(u_j + v_j, lo, hi), w + w_j, 1),
    ):
        terms += [2 * sign * e * product, sign * e * e * square + 0 * product]
    slack = 1e-9 * sum(np.abs(term) for term in terms)
    most = np.count_nonzero(sum(terms) >= -slack, axis=1)
    same = (np.diff(crossed.t, axis=1) == 0) & np.isfinite(crossed.t[:, 1:])
    several = np.pad(same, ((0, 0), (1, 0))) | np.pad(same, ((0, 0), (0, 1)))
    return np.where(several[at], len(model.wins), most)


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


def _passing(
    r: Array, moved: Array, knot: Array | float, bend: float, jump: float, column: IntArray
) -> list[tuple[Any, ...]]:
    """Return where r (2, 1, E) and G_i r (2, m - 1, E) pass a knot of a function: its switches."""
    # The slope of the function grows by ``bend`` there, and it jumps. A switch is x, infinite for
    # never, a column, and by which affine multiple of that p and z_0 grow, (4, m - 1 or 1, E).
    out = []
    for value, own in ((r, False), (moved, True)):
        with np.errstate(divide="ignore", invalid="ignore"):
            x = (knot - value[0]) / value[1]
        up = np.where(np.isfinite(x), np.sign(value[1]), 0.0)
        x = np.where(up != 0, x, np.inf)
        rest = np.where(up != 0, value[0] - knot, 0.0)  # the knot may be infinite
        gain = up * np.stack([bend * rest + jump, bend * value[1]])
        both = (gain, 0 * gain) if own else (-gain, gain)
        out.append((x, np.broadcast_to(column, x.shape), np.concatenate(both)))
    return out


def _quadratics(
    model: Model, state: Array, switches: Sequence[Array], errors: Sequence[Array]
) -> tuple[Array, Array]:
    """Return switches in order, (m - 1, E), and A, B and C around them, (3, m - 1, E + 1)."""
    # ``state`` (m - 1, 4, K) are p and z_0 just behind x = 0, with their slopes.
    x, column, factor = switches
    sets, K = np.arange(len(state)), state.shape[-1]
    order = np.argsort(x, axis=1, kind="stable")
    order = order[:, : int(np.isfinite(x).sum(axis=1).max(initial=0))]
    x, column = (np.take_along_axis(part, order, axis=1) for part in (x, column))
    factor = np.take_along_axis(factor, order[None], axis=2)
    factor = np.where(np.isfinite(x), factor, 0.0)  # (4, m - 1, E)
    here = (x <= 0).sum(axis=1)
    norms, state = np.linalg.norm(model.columns, axis=1)[column], np.moveaxis(state, 1, 0)
    longer = np.zeros((4, len(sets), x.shape[1] + 1))
    np.cumsum(np.abs(factor) * norms, axis=2, out=longer[:, :, 1:])
    sizes = np.abs(longer - longer[:, sets, here, None])
    sizes += np.linalg.norm(state, axis=-1)[..., None]
    ABC: Array = np.empty((3, *longer.shape[1:]))
    for some in slices(len(sets), rows_that_fit(BATCH_BYTES, 4 * K * longer.shape[2])):
        path = np.zeros((*longer[:, some].shape, K))
        steps = path[:, :, 1:]
        np.multiply(factor[:, some, :, None], model.columns[column[some]], out=steps)
        np.cumsum(steps, axis=2, out=steps)
        path += (state[:, some] - path[:, np.arange(path.shape[1]), here[some]])[:, :, None]
        path[2:] *= 2
        path[2:] += path[:2]
        ABC[:, some] = _products(path[:2], path[2:])
    p, z = sizes[:2], sizes[2:]
    settle(list(ABC), p, p + 2 * z, *(error[..., None] for error in errors))
    return x, ABC


def _products(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return A, B and C of the products of vectors x[0] + x[1] t and y[0] + y[1] t."""
    dot = partial(np.einsum, "sek,sek->se")
    return dot(x[1], y[1]), dot(x[0], y[1]) + dot(x[1], y[0]), dot(x[0], y[0])


def own_pieces(model: Model, origin: Array, direction: Array, shift: float) -> Pieces:
    """Follow every set for itself along one line, origin + t direction."""
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
    gain = np.concatenate([np.zeros((2, *crossed.t.shape)), -crossed.change[None]])
    parts = [(crossed.t - shift, crossed.component, np.concatenate([gain, 0 * gain[:1]]))]
    face = np.flatnonzero(held[0])
    if len(face):
        lo, hi = lo[:, face], hi[:, face]
        base, other = u[..., face], u[..., face] + v[..., face]
        (w[..., face], side), (many, own) = _soft(base, lo, hi), _soft(other, lo, hi)
        # What is shifted alike differs by v, which may be zero.
        v[..., face] = np.where((side == own) & (side != 0), v[..., face], many - w[..., face])
        parts += _passing(base, other, lo, -1.0, 0.0, face)
        parts += _passing(base, other, hi, 1.0, 0.0, face)
    loss, rows = model.loss, len(model.L) + np.arange(len(model.y))
    for knot, bend, jump in zip(loss.knots, np.diff(loss.slopes), loss.jumps, strict=True):
        parts += _passing(r, moved, knot, bend, jump, rows)
    m = len(model.wins)
    switches = [
        np.concatenate([np.broadcast_to(x, (*x.shape[:-2], m, x.shape[-1])) for x in kind], -1)
        for kind in zip(*parts, strict=True)
    ]
    p = model.weigh(v)
    state = np.stack([*p, *np.broadcast_to(model.weigh(w), p.shape)], axis=1)
    errors = [e[:, 0] for e in model.errors(r, d, *a)]
    x, quadratics = _quadratics(model, state, switches, errors)
    far, one = np.full((m, 1), np.inf), np.zeros(1, dtype=np.intp)
    ends = np.hstack([-far, x, far]).T[None]
    A, B, C = np.swapaxes(quadratics, 1, 2)[:, None]
    events = quadratic_events(one, ends[:, :-1], ends[:, 1:], A, B, C, model.wins)
    met, most = _met(model, r[:, 0], a[:, 0], x, quadratics)
    t = np.concatenate([crossed.t[0], met + shift])
    most = np.concatenate([np.full(crossed.t.shape[1], m), most]) * np.isfinite(t)
    return Pieces(crossed, events, np.zeros(len(t), dtype=np.intp), t, most)


def _met(model: Model, r: Array, a: Array, x: Array, quadratics: Array) -> tuple[Array, IntArray]:
    """Return where residuals r (2, n) meet jumps of the loss, and how many sets may hold that."""
    # There z_0 is the shortest between its two sides, and Z_i is at most the larger of its values.
    # All sets may hold points at which several residuals are at jumps, or kinks interfere.
    knots, moves = model.loss.knots[model.loss.jumps != 0], np.flatnonzero(r[1])
    at = ((knots[:, None] - r[0, moves]) / r[1, moves]).ravel()
    every = np.full(len(at), len(model.wins))
    if not len(at) or model.penalty.kinks.size:
        return at, every
    values, row = r[0] + at[:, None] * r[1], np.tile(moves, len(knots))
    values[np.arange(len(at)), row] = np.repeat(knots, len(moves))
    smooth = (a[0] + at[:, None] * a[1]) @ model.weigh(model.P.T)
    z: list[Array] = []
    Z: list[Array] = []
    sides: tuple[Literal["left", "right"], ...] = ("left", "right")
    for sign, side in zip((-1, 1), sides, strict=True):
        rho = model.loss.beside(np.stack([values, np.broadcast_to(sign * r[1], values.shape)]))[0]
        z.append(rho @ model.pull.T - smooth)
        piece = np.array([np.searchsorted(ends, at, side=side) for ends in x])
        A, B, C = np.take_along_axis(quadratics, piece[None], axis=2)
        Z.append((A * at + B) * at + C + (z[-1] ** 2).sum(axis=1))
    step = z[1] - z[0]
    square = np.maximum((step * step).sum(axis=1), np.finfo(float).tiny)
    share = np.clip(-(z[0] * step).sum(axis=1) / square, 0, 1)
    least = ((z[0] + share[:, None] * step) ** 2).sum(axis=1)
    most = np.count_nonzero(np.maximum(*Z) >= least - 1e-9 * (least + np.abs(Z[0])), axis=0)
    near = np.abs(values[..., None] - knots) <= 1e-9 * (np.abs(r[0])[:, None] + np.abs(knots))
    return at, np.where(near.any(axis=-1).sum(axis=1) > 1, every, most)


def _soft(u: Array, lo: Array, hi: Array) -> tuple[Array, IntArray]:
    """Return u - clip(u, lo, hi) just behind t = 0, affine in t, and on which side of the box."""
    above = (u[0] > hi) | ((u[0] == hi) & (u[1] > 0))
    side = above.astype(np.intp) - ((u[0] < lo) | ((u[0] == lo) & (u[1] < 0)))
    edge = np.where(side > 0, hi, np.where(side < 0, lo, 0.0))
    return np.where(side != 0, np.stack([u[0] - edge, u[1]]), 0.0), side
