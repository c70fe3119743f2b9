"""The region along one line, whatever stays at a kink: every set has breakpoints of its own.

A component that stays at a kink all along the line is soft-thresholded, and switches where
u_ij(t) meets the box [lo_j, hi_j]: elsewhere for every G_i. So do the kinks of a loss. Every switch
adds a multiple of one column c to p = z_i - z_0 or to z_0, with a factor that is affine in t:

    p += a c,  z_0 += b c:      Z_i - Z_0 += 2(a + b)⟨c, p⟩ + 2a⟨c, z_0⟩ + (a² + 2ab)⟨c, c⟩.

Z is continuous there; it jumps only where a coefficient crosses a kink.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.geometry._spans import Spans, sign_changes, sweep
from unassuming.geometry.piecewise._breakpoints import FARTHEST, Breakpoints
from unassuming.geometry.piecewise._model import LineModel, Sizes, settle

Affine = tuple[Array, Array]
"""The value at x = 0, and the slope."""


@dataclass(frozen=True, eq=False)
class Tracks:
    """One line: where each set is entered and left, as events in x = t - shift."""

    crossed: Breakpoints
    x: Array  # (1, B): of all kinks of the penalty
    start: int  # how many sets hold x = -∞
    t: Array  # (E,)
    change: IntArray  # (E,)

    @classmethod
    def along(cls, model: LineModel, origin: Array, direction: Array, shift: float) -> Self:
        """Follow every set along origin + t direction, expanded about t = shift."""
        crossed = Breakpoints.of(model.steps, origin[None], direction[None])
        switches, here = _switches(model, origin, direction, shift)
        A, B, C, sizes = switches.follow(_columns(model), here, model.unit)
        settle(A, B, C, sizes.tolerances())
        far = np.full((len(A), 1), np.inf)
        ends = np.concatenate([-far, switches.x, far], axis=1)
        lo, hi = ends[:, :-1], ends[:, 1:]
        state, roots = sign_changes(A, B, C, lo, hi, model.tie_wins[:, None])
        at = ~np.isnan(roots)
        after = state ^ at[..., 0] ^ at[..., 1]  # the state before hi
        # A piece without length has no say: it inherits the state before it.
        proper = lo < hi
        last = np.maximum.accumulate(np.where(proper, np.arange(lo.shape[1]), 0), axis=1)
        after = np.take_along_axis(after, last, axis=1)
        between = np.where(proper[:, 1:], state[:, 1:].astype(np.intp) - after[:, :-1], 0)
        steps = np.stack([np.where(state, -1, 1), np.where(state ^ at[..., 0], -1, 1)], axis=-1)
        return cls(
            crossed=crossed,
            x=crossed.t - shift,
            start=int(state[:, 0].sum()),
            t=np.concatenate([roots[at], switches.x[between != 0]]),
            change=np.concatenate([steps[at], between[between != 0]]),
        )

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


@dataclass(frozen=True, eq=False)
class _Switches:
    """The switches of every set in order, padded with infinity; arrays of shape (m - 1, E)."""

    x: Array
    column: IntArray
    a: Affine
    b: Affine

    @classmethod
    def joined(cls, parts: list[Self], sets: int) -> Self:
        """Sort switches of all kinds by x."""

        def stack(arrays: list[Array]) -> Array:
            rows = [np.broadcast_to(part, (sets, part.shape[-1])) for part in arrays]
            return np.concatenate(rows, axis=1) if rows else np.empty((sets, 0))

        x = stack([part.x for part in parts])
        order = np.argsort(x, axis=1, kind="stable")
        order = order[:, : int(np.isfinite(x).sum(axis=1).max(initial=0))]

        def sort(arrays: list[Array]) -> Array:
            return np.take_along_axis(stack(arrays), order, axis=1)

        x = sort([part.x for part in parts])
        # What never happens must not enter the arithmetic.
        a0, a1, b0, b1 = (
            np.where(np.isfinite(x), sort(factor), 0.0)
            for factor in (
                [part.a[0] for part in parts],
                [part.a[1] for part in parts],
                [part.b[0] for part in parts],
                [part.b[1] for part in parts],
            )
        )
        column = sort([part.column.astype(np.float64) for part in parts]).astype(np.intp)
        return cls(x, column, (a0, a1), (b0, b1))

    def follow(
        self, columns: Array | None, here: _Here, unit: float
    ) -> tuple[Array, Array, Array, Sizes]:
        """Return A, B and C of Z_i - Z_0 before, between and after the switches, (m - 1, E + 1).

        From x = 0, where p and z_0 are given, both ways: far away the gradients may be large, and
        so are their rounding errors, which must not be carried back.
        """
        p, z = here.p, here.z
        count = self.x.shape[1]
        start = (self.x < 0).sum(axis=1)[:, None]  # the piece that holds x = 0
        first = _dot(p[1], p[1] + 2 * z[1]), _dot(p[0], p[0] + 2 * z[0])
        cross = _dot(p[0], p[1] + 2 * z[1]) + _dot(p[1], p[0] + 2 * z[0])
        lengths = [np.sqrt(_dot(part, part)) for part in (*p, *z)]
        base = np.stack([first[0], cross, first[1], *lengths], axis=1)
        table = np.repeat(base[:, None, :], count + 1, axis=1)  # (m - 1, E + 1, 7)
        ways = (1, count - int(start.min(initial=count))), (-1, int(start.max(initial=0)))
        for sign, steps in ways:
            met = start + np.arange(steps) if sign > 0 else start - 1 - np.arange(steps)
            valid = (met >= 0) & (met < count)
            met = np.clip(met, 0, count - 1)
            gain = self._walk(columns, np.stack([*p, *z], axis=1), met, sign * valid)
            row, step = np.nonzero(valid)
            piece = met[row, step] + (sign > 0)
            table[row, piece] += np.cumsum(gain, axis=1)[row, step]
        A, B, C, p0, p1, z0, z1 = np.moveaxis(table, 2, 0)
        sizes = Sizes(
            p=(p0, p1),
            z=(z0, z1),
            p_error=(2 * here.p_error[0] + unit * p0, 2 * here.p_error[1] + unit * p1),
            z_error=(here.z_error[0] + unit * z0, here.z_error[1] + unit * z1),
        )
        return A.copy(), B.copy(), C.copy(), sizes

    def _walk(self, columns: Array | None, state: Array, met: IntArray, sign: IntArray) -> Array:
        """Pass some switches, or take them back; return what each adds to A, B, C and lengths."""
        rows = np.arange(len(met))[:, None]
        column = self.column[rows, met]
        factor = sign[:, :, None] * np.stack(
            [part[rows, met] for part in (*self.a, *self.b)], axis=2
        )
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


@dataclass(frozen=True, eq=False)
class _Here:
    """p and z_0 on the piece that holds x = 0, just before it, with bounds on their errors."""

    p: Affine  # (m - 1, k)
    z: Affine  # (m - 1, k)
    p_error: Affine  # (m - 1, 1)
    z_error: Affine  # (1, 1)


def _columns(model: LineModel) -> Array | None:
    """Return the columns of Ψ and then those of ΨL, as rows: what components and residuals move.

    None stands for unit vectors.
    """
    L, psi = model.score.pullback, model.score.weighting
    bent = len(model.kinks.thresholds) > 0
    if psi is None and not bent:
        return None
    pull = np.eye(len(model.y)) if L is None else L
    weigh = np.eye(len(pull)) if psi is None else psi
    both = [weigh, weigh @ pull] if bent else [weigh]
    return np.ascontiguousarray(np.concatenate(both, axis=1).T)


def _switches(
    model: LineModel, origin: Array, direction: Array, shift: float
) -> tuple[_Switches, _Here]:
    """Return all switches, and p and z_0 at x = 0."""
    about, line = (origin + shift * direction)[None], direction[None]
    r = model.residuals(about, line)
    moved = model.perturbations.apply(r[0][0]), model.perturbations.apply(r[1][0])
    sets = len(moved[0])
    rho_0, rho = _loss(model, r), _loss(model, moved)
    delta = rho[0] - rho_0[0], rho[1] - rho_0[1]
    u = model.pull(rho_0[0]), model.pull(rho_0[1])
    v = model.pull(delta[0]), model.pull(delta[1])

    lo, hi = (side[0] for side in model.score.subdifferential(origin[None]))
    face = model.faces(origin[None], line)[0]
    s, slope, parts = _common_part(model, origin, direction, about, shift)
    w = np.where(face, 0.0, u[0] - s), np.where(face, 0.0, u[1] - slope)
    if face.any():
        j, box = np.flatnonzero(face), (lo[face], hi[face])
        base: Affine = u[0][:, face], u[1][:, face]
        other: Affine = base[0] + v[0][:, face], base[1] + v[1][:, face]
        one, many = _threshold(base, box), _threshold(other, box)
        same = (one[2] == many[2]) & (one[2] != 0)  # shifted alike: v is the difference
        for k in (0, 1):
            v[k][:, face] = np.where(same, v[k][:, face], many[k] - one[k])
            w[k][:, face] = one[k]
        for side, sign in ((box[0], -1.0), (box[1], 1.0)):
            parts += _both(base, other, side, sign, j)
    for number, threshold in enumerate(model.kinks.thresholds):
        bend = float(np.diff(model.kinks.slopes)[number])
        rows = len(lo) + np.arange(len(model.y))
        parts += _both(r, moved, np.full(len(model.y), threshold), bend, rows)

    p = model.weigh(v[0]), model.weigh(v[1])
    z0, z1 = (np.broadcast_to(model.weigh(part), (sets, p[0].shape[1])) for part in w)
    # Thresholding compares parts that carry the errors of all of u, not only of its change.
    columns = moved[0].T[None], moved[1].T[None]
    errors = model.errors(r, columns, (s[None], slope[None]), about, line)
    p_error = errors["p_error"][0].T, errors["p_error"][1].T
    return _Switches.joined(parts, sets), _Here(p, (z0, z1), p_error, errors["z_error"])


def _common_part(
    model: LineModel, origin: Array, direction: Array, about: Array, shift: float
) -> tuple[Array, Array, list[_Switches]]:
    """Return the subgradient before x = 0, its slope, and where it jumps for all sets alike."""
    s = model.score.subdifferential(about)[0][0]
    if model.steps.values.shape[1] == 0:
        return s, model.score.subdifferential(direction[None])[0][0], []
    steps = model.jumps
    d = direction[steps.coefficient]
    s = np.where(d > 0, steps.between[:, 0], np.where(d < 0, steps.between[:, -1], s))
    s = np.where(np.isfinite(s), s, 0.0)  # infinite only on a face, where it has no say
    parts = Breakpoints.of(steps, origin[None], direction[None])
    j, kink = parts.component, parts.kink
    jump = np.sign(d[j]) * (steps.between[j, kink + 1] - steps.between[j, kink])
    x, zero = parts.t - shift, np.zeros(parts.t.shape)
    np.add.at(s, j[x < 0], jump[x < 0])
    switches = _Switches(x, j, (zero, zero), (-jump, zero))
    return s, np.zeros_like(s), [switches] if parts.t.size else []


def _both(
    r: Affine, moved: Affine, target: Array, factor: float, column: IntArray
) -> list[_Switches]:
    """Return the switches of z_0 and z_i where r and G_i r (or u) pass their targets.

    Passing upwards adds factor · (r - target), passing downwards takes as much away.
    """
    out = []
    for (value, slope), own in ((r, False), (moved, True)):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            x = (target - value) / slope
            x = np.where(np.abs(x) < FARTHEST, x, np.inf)
            size = factor * np.sign(slope)
            change = size * (value - target), size * slope
        none = np.zeros_like(x)
        where = np.broadcast_to(column, x.shape)
        minus = -change[0], -change[1]
        switches = (change, (none, none)) if own else (minus, change)
        out.append(_Switches(x, where, *switches))
    return out


def _threshold(u: Affine, box: tuple[Array, Array]) -> tuple[Array, Array, IntArray]:
    """Return u - clip(u, lo, hi) just before x = 0, and the side: -1, 0 (inside) or 1."""
    lo, hi = box
    below = (u[0] < lo) | ((u[0] == lo) & (u[1] > 0))
    above = (u[0] > hi) | ((u[0] == hi) & (u[1] < 0))
    side = above.astype(np.intp) - below
    edge = np.where(below, lo, np.where(above, hi, 0.0))
    return np.where(side == 0, 0.0, u[0] - edge), np.where(side == 0, 0.0, u[1]), side


def _loss(model: LineModel, r: Affine) -> Affine:
    """Return ρ(r) just before x = 0."""
    kinks, influence = model.kinks, model.score.influence
    if len(kinks.thresholds) == 0 or influence is None:
        return r
    rising = np.searchsorted(kinks.thresholds, r[0], side="left")
    falling = np.searchsorted(kinks.thresholds, r[0], side="right")
    slope = kinks.slopes[np.where(r[1] < 0, falling, rising)]
    return influence(r[0]), slope * r[1]


def _dot(x: Array, y: Array) -> Array:
    return np.asarray((x * y).sum(axis=-1))
