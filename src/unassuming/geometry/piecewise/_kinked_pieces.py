"""Lines on which a coefficient stays at a kink, or a loss with kinks: each set has its own pieces.

A component that stays at a kink all along the line is soft-thresholded, and switches where
u_ij(t) meets the box [lo_j, hi_j], at a different t for every G_i. The same holds for the kinks of
a loss. Every switch adds a multiple of one column c to p = z_i - z_0 or to z_0, with a factor that
is affine in t:

    p += a c,  z_0 += b c:      Z_i - Z_0 += 2(a + b)⟨c, p⟩ + 2a⟨c, z_0⟩ + (a² + 2ab)⟨c, c⟩.

Z is continuous there, unless the derivative of the loss jumps; else it jumps only where a
coefficient crosses a kink. Where the unperturbed residual meets such a jump, the careful rank
decides: there Z_0 can be smaller than on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self, final

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.geometry._spans import Spans, sign_changes, sweep
from unassuming.geometry.piecewise._breakpoints import FARTHEST, Breakpoints
from unassuming.geometry.piecewise._model import LineModel, settle
from unassuming.geometry.piecewise._steps_of_loss import LossSteps


@final
@dataclass(frozen=True, eq=False)
class KinkedPieces:
    """One line: where each set is entered and left, as events in x = t - shift."""

    crossed: Breakpoints
    where: Array  # (B,): t of all kinks of the penalty, and of the jumps of the loss
    most: IntArray | None  # (B,): how many sets can hold these points; None if unknown
    shift: float
    start: int  # how many sets hold x = -∞
    t: Array  # (E,)
    change: IntArray  # (E,)

    @classmethod
    def along(cls, model: LineModel, origin: Array, direction: Array, shift: float) -> Self:
        """Follow every set along origin + t direction, expanded about t = shift."""
        crossed = Breakpoints.of(model.steps, origin[None], direction[None])
        met = _jumps_met(model, origin, direction)
        where, most = np.concatenate([crossed.t[0], met.ravel()]), None
        if LossSteps.apply_to(model):
            found = LossSteps.along(model, origin, direction, shift, met)
            where, most, B, C = found.t, found.most, found.B, found.C
            x, A = np.broadcast_to(where - shift, (len(B), len(where))), np.zeros_like(B)
        else:
            x, A, B, C = _quadratics(model, origin, direction, shift)
        far = np.full((len(A), 1), np.inf)
        ends = np.concatenate([-far, x, far], axis=1)
        lo, hi = ends[:, :-1], ends[:, 1:]
        state, roots, steps = sign_changes(A, B, C, lo, hi, model.tie_wins[:, None])
        at = ~np.isnan(roots)
        after = state ^ at[..., 0] ^ at[..., 1]  # the state before hi
        # A piece without length inherits the state before it.
        proper = lo < hi
        last = np.maximum.accumulate(np.where(proper, np.arange(lo.shape[1]), 0), axis=1)
        after = np.take_along_axis(after, last, axis=1)
        between = np.where(proper[:, 1:], state[:, 1:].astype(np.intp) - after[:, :-1], 0)
        t = np.concatenate([roots[at], x[between != 0]])
        change = np.concatenate([steps[at], between[between != 0]])
        return cls(crossed, where, most, shift, int(state[:, 0].sum()), t, change)

    def stretches(self, q: int) -> Spans:
        """Return the intervals of x in at least q sets; membership decides on those of length 0."""
        t = np.concatenate([[-np.inf], self.t, [np.inf]])
        change = np.concatenate([[self.start], self.change, [0]]).astype(np.intp)
        return Spans.joined(*sweep(np.zeros(len(t), dtype=np.intp), t, change, q))

    def likely(self, q: int, spans: Spans) -> tuple[IntArray, Array]:
        """Return line (0) and t of the crossings outside the spans that may be members."""
        x, line = self.where - self.shift, np.zeros(len(self.where), dtype=np.intp)
        outside = np.isfinite(x) & ~spans.cover(line, x)
        if self.most is not None:
            outside &= self.most >= q
        return line[outside], self.where[outside]


class _Switches(NamedTuple):
    """Switches of every set, or of all sets alike (one row); infinite x for none."""

    x: Array  # (m - 1 or 1, E)
    column: IntArray  # (m - 1 or 1, E)
    factor: Array  # (4, m - 1 or 1, E): a and its slope, b and its slope

    def joined(self, others: list[_Switches], sets: int) -> _Switches:
        """Sort the switches of all kinds by x, (m - 1, E)."""
        x, column, factor = (
            np.concatenate(
                [np.broadcast_to(part, (*part.shape[:-2], sets, part.shape[-1])) for part in parts],
                axis=-1,
            )
            for parts in zip(self, *others, strict=True)
        )
        order = np.argsort(x, axis=1, kind="stable")
        order = order[:, : int(np.isfinite(x).sum(axis=1).max(initial=0))]
        x, column = (np.take_along_axis(part, order, axis=1) for part in (x, column))
        # Switches that never happen must not enter the arithmetic.
        factor = np.where(np.isfinite(x), np.take_along_axis(factor, order[None], axis=2), 0.0)
        return _Switches(x, column, factor)

    def walk(self, columns: Array | None, state: Array, met: IntArray, sign: IntArray) -> Array:
        """Pass some switches, or undo them; return the changes of A, B, C and the lengths.

        ``state`` (m - 1, 4, k) holds p, its slope, z_0 and its slope, and is changed in place.
        """
        rows = np.arange(len(met))[:, None]
        column = self.column[rows, met]
        factor = sign[:, :, None] * np.stack([part[rows, met] for part in self.factor], axis=2)
        dots = np.empty(factor.shape)
        for e in range(met.shape[1]):
            if columns is None:  # unit vectors: one entry of the state changes
                at = rows[:, 0], slice(None), column[:, e]
                dots[:, e] = state[at]
                state[at] += factor[:, e]
            else:
                c = columns[column[:, e]]
                dots[:, e] = np.einsum("irk,ik->ir", state, c)
                state += factor[:, e, :, None] * c[:, None, :]
        a0, a1, b0, b1 = np.moveaxis(factor, 2, 0)
        p0, p1, z0, z1 = np.moveaxis(dots, 2, 0)
        square = np.ones(column.shape) if columns is None else _dot(columns, columns)[column]
        A = 2 * ((a1 + b1) * p1 + a1 * z1) + a1 * (a1 + 2 * b1) * square
        B = 2 * ((a0 + b0) * p1 + (a1 + b1) * p0 + a0 * z1 + a1 * z0)
        B += 2 * (a0 * a1 + a0 * b1 + a1 * b0) * square
        C = 2 * ((a0 + b0) * p0 + a0 * z0) + a0 * (a0 + 2 * b0) * square
        longer = np.abs(factor) * np.sqrt(square)[:, :, None]
        return np.concatenate([np.stack([A, B, C], axis=2), longer], axis=2)


def _quadratics(
    model: LineModel, origin: Array, direction: Array, shift: float
) -> tuple[Array, Array, Array, Array]:
    """Return the switches (m - 1, E), and A, B, C of Z_i - Z_0 around them, (m - 1, E + 1).

    The walk goes from x = 0 both ways: far away the gradients may be large, and so are their
    rounding errors, which must not be carried back.
    """
    switches, state, p_error, z_error = _start(model, origin, direction, shift)
    columns, count = _columns(model), switches.x.shape[1]
    start = (switches.x < 0).sum(axis=1)[:, None]  # the piece that holds x = 0
    p0, p1, z0, z1 = np.moveaxis(state, 1, 0)
    cross = _dot(p0, p1 + 2 * z1) + _dot(p1, p0 + 2 * z0)
    lengths = [np.sqrt(_dot(part, part)) for part in (p0, p1, z0, z1)]
    base = [_dot(p1, p1 + 2 * z1), cross, _dot(p0, p0 + 2 * z0), *lengths]
    table = np.repeat(np.stack(base, axis=1)[:, None, :], count + 1, axis=1)  # (m - 1, E + 1, 7)
    ways = (1, count - int(start.min(initial=count))), (-1, int(start.max(initial=0)))
    for sign, steps in ways:
        met = start + np.arange(steps) if sign > 0 else start - 1 - np.arange(steps)
        valid = (met >= 0) & (met < count)
        met = np.clip(met, 0, count - 1)
        gain = switches.walk(columns, state.copy(), met, sign * valid)
        row, step = np.nonzero(valid)
        piece = met[row, step] + (sign > 0)
        table[row, piece] += np.cumsum(gain, axis=1)[row, step]
    A, B, C, *lengths = (part.copy() for part in np.moveaxis(table, 2, 0))
    p, z = lengths[:2], lengths[2:]
    p_error = [2 * error + model.unit * size for error, size in zip(p_error, p, strict=True)]
    z_error = [error + model.unit * size for error, size in zip(z_error, z, strict=True)]
    settle((A, B, C), p, z, p_error, z_error)
    return switches.x, A, B, C


def _columns(model: LineModel) -> Array | None:
    """Return the columns of Ψ (for components) and ΨL (for residuals), as rows; None for I."""
    L, psi = model.score.pullback, model.score.weighting
    bent = len(model.kinks.thresholds) > 0
    if psi is None and not bent:
        return None
    pull = np.eye(len(model.y)) if L is None else L
    weigh = np.eye(len(pull)) if psi is None else psi
    both = [weigh, weigh @ pull] if bent else [weigh]
    return np.ascontiguousarray(np.concatenate(both, axis=1).T)


def _start(
    model: LineModel, origin: Array, direction: Array, shift: float
) -> tuple[_Switches, Array, list[Array], list[Array]]:
    """Return all switches, p and z_0 just before x = 0 with slopes (m - 1, 4, k), their errors.

    Affine functions of x are arrays (2, rows, k): the value at x = 0, and the slope. There is one
    row for each transformation, or one for all of them.
    """
    about, line = (origin + shift * direction)[None], direction[None]
    r = np.stack(model.residuals(about, line))
    moved = np.stack([model.perturbations.apply(part[0]) for part in r])
    rho, sets = _loss(model, r), moved.shape[1]
    u, v = model.pull(rho), model.pull(_loss(model, moved) - rho)
    u = np.stack([model.without_ridge(u[0], about), model.without_ridge(u[1], line)])

    face = model.faces(origin[None], line)[0]
    s, common = _common_part(model, origin, direction, about, shift)
    w, parts = np.where(face, 0.0, u - s), []
    if face.any():
        lo, hi = (side[0, face] for side in model.subdifferential(origin[None]))
        base, other = u[..., face], u[..., face] + v[..., face]
        (one, side), (many, other_side) = (_threshold(part, lo, hi) for part in (base, other))
        same = (side == other_side) & (side != 0)  # shifted alike: v is the difference
        v[..., face] = np.where(same, v[..., face], many - one)
        w[..., face] = one
        for edge, sign in ((lo, -1.0), (hi, 1.0)):
            parts += _passing(base, other, edge, sign, np.flatnonzero(face))
    rows = len(face) + np.arange(len(model.y))
    bends = np.diff(model.kinks.slopes)
    for threshold, bend in zip(model.kinks.thresholds, bends, strict=True):
        if bend:
            parts += _passing(r, moved, threshold, bend, rows)
    for threshold, jump in zip(model.kinks.thresholds, model.kinks.jumps, strict=False):
        parts += _passing(r, moved, threshold, jump, rows, jumps=True)

    p, z = model.weigh(v), model.weigh(w)
    state = np.stack([*p, *np.broadcast_to(z, p.shape)], axis=1)
    # Thresholding compares parts that carry the errors of all of u, not only of its change.
    p_error, z_error = model.errors(r, np.swapaxes(moved, 1, 2)[:, None], s, about, line)
    return common.joined(parts, sets), state, [error.T for error in p_error], z_error


def _common_part(
    model: LineModel, origin: Array, direction: Array, about: Array, shift: float
) -> tuple[Array, _Switches]:
    """Return the subgradient before x = 0, affine, and where it jumps for all sets alike."""
    line = direction[None]
    s = np.stack(model.before_all_kinks(about, line))
    s = np.where(np.isfinite(s), s, 0.0)  # infinite only on a face, where it is not used
    crossed = Breakpoints.of(model.jumps, origin[None], line)
    jump, x = model.jumps.jumps(crossed, line), crossed.t - shift
    np.add.at(s[0, 0], crossed.component[x < 0], jump[x < 0])
    zero = np.zeros(x.shape)
    return s, _Switches(x, crossed.component, np.stack([zero, zero, -jump, zero]))


def _passing(
    r: Array,
    moved: Array,
    target: Array | float,
    factor: float,
    column: IntArray,
    *,
    jumps: bool = False,
) -> list[_Switches]:
    """Return the switches of z_0 and z_i where r and G_i r (or u) pass their targets.

    Passing upwards adds factor · (r - target), passing downwards subtracts it. With ``jumps`` the
    factor alone is added.
    """
    out = []
    for (value, slope), own in ((r, False), (moved, True)):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            x = (target - value) / slope
            x = np.where(np.abs(x) < FARTHEST, x, np.inf)
            size = factor * np.sign(slope)
            change = np.stack([size * (value - target), size * slope])
        if jumps:
            change = np.stack([size, np.zeros_like(size)])
        both = [change, np.zeros_like(change)] if own else [-change, change]
        out.append(_Switches(x, np.broadcast_to(column, x.shape), np.concatenate(both)))
    return out


def _jumps_met(model: LineModel, origin: Array, direction: Array) -> Array:
    """Return the t at which residuals meet jumps of the loss, infinite for never, (R, n)."""
    if not model.kinks.jumps.size:
        return np.empty((0, len(model.y)))
    (value,), (slope,) = model.residuals(origin[None], direction[None])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = (model.kinks.thresholds[:, None] - value) / slope
    return np.where(np.abs(t) < FARTHEST, t, np.inf)


def _threshold(u: Array, lo: Array, hi: Array) -> tuple[Array, IntArray]:
    """Return u - clip(u, lo, hi) just before x = 0, and the side: -1, 0 (inside) or 1."""
    below = (u[0] < lo) | ((u[0] == lo) & (u[1] > 0))
    above = (u[0] > hi) | ((u[0] == hi) & (u[1] < 0))
    side = above.astype(np.intp) - below
    edge = np.where(below, lo, np.where(above, hi, 0.0))
    return np.where(side == 0, 0.0, np.stack([u[0] - edge, u[1]])), side


def _loss(model: LineModel, r: Array) -> Array:
    """Return ρ(r) just before x = 0."""
    kinks, influence = model.kinks, model.score.influence
    if len(kinks.thresholds) == 0 or influence is None:
        return r
    rising = np.searchsorted(kinks.thresholds, r[0], side="left")
    falling = np.searchsorted(kinks.thresholds, r[0], side="right")
    piece = np.where(r[1] < 0, falling, rising)
    slope = kinks.slopes[piece]
    if not kinks.jumps.size:
        return np.stack([influence(r[0]), slope * r[1]])
    return np.stack([kinks.levels()[piece] + slope * r[0], slope * r[1]])


def _dot(x: Array, y: Array) -> Array:
    return np.asarray((x * y).sum(axis=-1))
