"""The region along lines on which no coefficient stays at a kink: pieces common to all sets.

Between the crossings of kinks the subgradient s of the penalty is constant (or linear in t, if
there are no kinks), and with v = L(G_i - I)r, p = Ψv and z_0 = Ψ(u - s), all affine in t,

    Z_i - Z_0 = ⟨p, p + 2z_0⟩ = At² + Bt + C,      A the same on every piece.

Crossing a kink of component j changes s_j by Δ, and with it B and C by -2Δ(Ψᵀp)_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.geometry._spans import Spans, sign_changes, sweep
from unassuming.geometry.piecewise._breakpoints import Breakpoints
from unassuming.geometry.piecewise._model import LineModel, Sizes, settle


@dataclass(frozen=True, eq=False)
class Pieces:
    """N lines in P pieces each, and on every piece m - 1 quadratics in x = t - shift."""

    model: LineModel
    crossed: Breakpoints  # of all kinks
    x: Array  # (N, B): where
    ends: Array  # (N, P + 1): of the pieces
    A: Array  # (N, m - 1)
    B: Array  # (N, P, m - 1)
    C: Array  # (N, P, m - 1)
    s: Array  # (N, P, k): the subgradient on each piece
    u: tuple[Array, Array]  # u at x = 0 and its slope, (N, k) each
    v: tuple[Array, Array]  # v likewise, (N, k, m - 1) each
    turned: tuple[Array, Array]  # Ψᵀp likewise
    always: IntArray  # (N, P): how many sets hold the whole piece
    ever: IntArray  # (N, P): how many hold some of it
    lowest: Array  # (N, P, m - 1): see `_extremes`
    highest: Array

    @classmethod
    def along(cls, model: LineModel, origins: Array, directions: Array, shift: Array) -> Self:
        """Cut the lines origins + t directions into pieces, expanded about t = shift."""
        about = origins + shift[:, None] * directions
        r = model.residuals(about, directions)
        u = model.pull(r[0]), model.pull(r[1])
        zero, one = _moved(model, r[0]), _moved(model, r[1])
        delta, v, p, turned = (
            (zero.delta, one.delta), (zero.v, one.v), (zero.p, one.p), (zero.turned, one.turned)
        )  # fmt: skip
        s, s_slope = _before_all_kinks(model, about, directions)
        z = model.weigh(u[0] - s), model.weigh(u[1] - s_slope)
        square = _dot(p[0], p[0]), _dot(p[1], p[1])
        A = square[1] + 2 * _along(z[1], p[1])
        B = 2 * (_dot(p[0], p[1]) + _along(z[1], p[0]) + _along(z[0], p[1]))
        C = square[0] + 2 * _along(z[0], p[0])
        sizes = Sizes(
            p=(np.sqrt(square[0]), np.sqrt(square[1])),
            z=(_length(z[0]) + 2 * model.weight_size * model.step_size, _length(z[1])),
            **model.errors(r, delta, (s, s_slope), about, directions),
        )

        s_all, inner = _subgradients(model, s, origins, directions)
        change = -2 * (s_all - s[:, None, :])
        B = B[:, None, :] + change @ turned[1]
        C = C[:, None, :] + change @ turned[0]
        of_a, of_b, of_c = sizes.tolerances()
        settle(A, B, C, (of_a, of_b[:, None, :], of_c[:, None, :]))

        far = np.full((len(directions), 1), np.inf)
        ends = np.concatenate([-far, inner - shift[:, None], far], axis=1)
        proper = ends[:, :-1] < ends[:, 1:]
        lowest, highest = _extremes(A, B, C, ends)
        never = np.count_nonzero(highest < 0, axis=-1)
        crossed = Breakpoints.of(model.steps, origins, directions)
        return cls(
            model=model,
            crossed=crossed,
            x=crossed.t - shift[:, None],
            ends=ends,
            A=A,
            B=B,
            C=C,
            s=s_all,
            u=u,
            v=v,
            turned=turned,
            always=np.where(proper, np.count_nonzero(lowest > 0, axis=-1), 0),
            ever=np.where(proper, A.shape[1] - never, 0),
            lowest=lowest,
            highest=highest,
        )

    def stretches(self, q: int) -> Spans:
        """Return the intervals of x in at least q sets; those without length are to be asked."""
        whole, inner = np.nonzero(self.always >= q)
        line, piece = np.nonzero((self.ever >= q) & (self.always < q))
        clear = (self.lowest[line, piece] > 0) | (self.highest[line, piece] < 0)
        row, i = np.nonzero(~clear)
        here = line[row], piece[row]
        state, roots = sign_changes(
            self.A[here[0], i],
            self.B[(*here, i)],
            self.C[(*here, i)],
            self.ends[here],
            self.ends[here[0], here[1] + 1],
            self.model.tie_wins[i],
        )
        first = self.always[line, piece] + np.bincount(row[state], minlength=len(line))
        rows, zero = np.arange(len(line)), np.zeros(len(line), dtype=np.intp)
        at = ~np.isnan(roots)
        steps = np.stack([np.where(state, -1, 1), np.where(state ^ at[:, 0], -1, 1)], axis=1)
        found, spans = sweep(
            np.concatenate([rows, np.repeat(row[:, None], 2, axis=1)[at], rows]),
            np.concatenate([self.ends[line, piece], roots[at], self.ends[line, piece + 1]]),
            np.concatenate([first, steps[at], zero]),
            q,
        )
        sure = np.stack([self.ends[whole, inner], self.ends[whole, inner + 1]], axis=1)
        return Spans.joined(np.concatenate([whole, line[found]]), np.concatenate([sure, spans]))

    def likely(self, q: int, spans: Spans) -> tuple[IntArray, Array]:
        """Return line and t of the crossings outside the spans that may be members.

        These are kinks crossed together, and those of one component which `_count` does not
        rule out.
        """
        line, b = np.nonzero(np.isfinite(self.x))
        outside = ~spans.cover(line, self.x[line, b])
        line, b = line[outside], b[outside]
        likely = self.crossed.multiple()[line, b]
        alone = np.flatnonzero(~likely)
        likely[alone] = self._count(line[alone], b[alone], q) >= q
        return line[likely], self.crossed.t[line[likely], b[likely]]

    def _count(self, line: IntArray, b: IntArray, q: int) -> IntArray:
        """Count the sets that may hold the points at which one component crosses a kink.

        There the least-norm gradient of component j is taken with the box instead of s_j. With
        e = s_j - clip(u_j, lo, hi) and M = ΨᵀΨ that adds 2e(M(u - s))_j + e²M_jj to a statistic.
        Zero where fewer than q sets could be reached with the largest such change.
        """
        j, kink = self.crossed.component[line, b], self.crossed.kink[line, b]
        x = self.x[line, b][:, None]
        piece = (self.ends[line, 1:-1] < x).sum(axis=1)  # the piece that ends at x
        Mu, Mu_slope, Ms, diagonal = self._metric
        s, M_jj = self.s[line, piece, j][:, None], diagonal[j][:, None]
        w = Mu[line, j][:, None] + x * Mu_slope[line, j][:, None] - Ms[line, piece, j][:, None]
        u = self.u[0][line, j][:, None] + x * self.u[1][line, j][:, None]
        lo = self.model.steps.lo[j, kink][:, None]
        hi = self.model.steps.hi[j, kink][:, None]
        e = s - np.clip(u, lo, hi)
        less = e * (2 * w + e * M_jj)

        # How much any set can gain at all: on most pieces that is not enough for q of them.
        u_most, w_most = (
            np.abs(base) + largest[0][line, j][:, None] + np.abs(x) * largest[1][line, j][:, None]
            for base, largest in ((u, self._largest[:2]), (w, self._largest[2:]))
        )
        e_most = np.minimum(np.maximum(np.abs(s - lo), np.abs(s - hi)), np.abs(s) + u_most)
        gain = e_most * (2 * w_most + e_most * M_jj) + np.abs(less)
        most = np.zeros(self.always.shape)
        np.maximum.at(most, (line, piece), gain[:, 0])
        able = np.count_nonzero(self.highest >= -1.001 * most[:, :, None], axis=-1) >= q
        rows = np.flatnonzero(able[line, piece])
        highest = self.highest[line[rows], piece[rows]]
        rows = rows[np.count_nonzero(highest >= -1.001 * gain[rows], axis=1) >= q]
        at = line[rows], piece[rows]
        gap = _evaluate(self.A[at[0]], self.B[at], self.C[at], x[rows])
        able = np.count_nonzero(gap >= -1.001 * gain[rows], axis=1) >= q
        rows, gap = rows[able], gap[able]

        at, x = (line[rows], j[rows]), x[rows]
        u = u[rows] + self.v[0][at] + x * self.v[1][at]
        w = w[rows] + self.turned[0][at] + x * self.turned[1][at]
        e = s[rows] - np.clip(u, lo[rows], hi[rows])
        gap += e * (2 * w + e * M_jj[rows]) - less[rows]
        count = np.zeros(len(line), dtype=np.intp)
        count[rows] = np.count_nonzero(gap >= -1e-9 * gain[rows], axis=1)
        return count

    @cached_property
    def _metric(self) -> tuple[Array, Array, Array, Array]:
        """Mu at x = 0 and its slope, Ms on each piece, and the diagonal of M = ΨᵀΨ."""
        psi = self.model.score.weighting
        if psi is None:
            return (*self.u, self.s, np.ones(self.s.shape[-1]))
        M = psi.T @ psi
        return self.u[0] @ M, self.u[1] @ M, self.s @ M, np.diag(M)

    @cached_property
    def _largest(self) -> tuple[Array, ...]:
        """The largest change of u_j and of (M(u - s))_j over the sets, at x = 0 and as slopes."""
        return tuple(np.abs(part).max(axis=-1) for part in (*self.v, *self.turned))


class _Moved(NamedTuple):
    """(G_i - I)r, v, p and Ψᵀp in columns, (N, *, m - 1) each."""

    delta: Array
    v: Array
    p: Array
    turned: Array


def _moved(model: LineModel, r: Array) -> _Moved:
    if len(r) > 1 and (r == r[0]).all():  # lines from a common origin
        one = _moved(model, r[:1])
        return _Moved(*(np.broadcast_to(part, (len(r), *part.shape[1:])) for part in one))
    L, psi = model.score.pullback, model.score.weighting
    delta = np.swapaxes(model.perturbations.apply(r) - r[:, None, :], 1, 2)
    v = delta if L is None else np.asarray(L @ delta)
    if psi is None:
        return _Moved(delta, v, v, v)
    p = np.asarray(psi @ v)
    return _Moved(delta, v, p, np.asarray(psi.T @ p))


def _dot(x: Array, y: Array) -> Array:
    return np.asarray(np.einsum("nki,nki->ni", x, y))


def _along(z: Array, p: Array) -> Array:
    return np.asarray((z[:, None, :] @ p)[:, 0])


def _length(z: Array) -> Array:
    return np.asarray(np.linalg.norm(z, axis=1)[:, None])


def _before_all_kinks(model: LineModel, origins: Array, directions: Array) -> tuple[Array, Array]:
    """Return the subgradient at t = -∞ and its slope: constant, or linear if there are no kinks."""
    s = model.score.subdifferential(origins)[0]
    if model.steps.values.shape[1] == 0:
        return s, model.score.subdifferential(directions)[0]
    d, between = directions[:, model.steps.coefficient], model.steps.between
    start = np.where(d > 0, between[:, 0], np.where(d < 0, between[:, -1], s))
    return start, np.zeros_like(start)


def _subgradients(
    model: LineModel, start: Array, origins: Array, directions: Array
) -> tuple[Array, Array]:
    """Return the subgradient on every piece, (N, P, k), and the ends between them, (N, P - 1)."""
    steps = model.jumps
    parts = Breakpoints.of(steps, origins, directions)
    j, kink, number = parts.component, parts.kink, parts.number()
    width = int(number.max(initial=-1)) + 1
    inner = np.full((len(directions), width), np.inf)
    s = np.zeros((len(directions), width + 1, start.shape[1]))
    s[:, 0] = start
    if width:
        line = np.arange(len(directions))[:, None]
        inner[line, number] = parts.t
        up = np.sign(np.take_along_axis(directions, steps.coefficient[j], axis=1))
        jump = up * (steps.between[j, kink + 1] - steps.between[j, kink])
        s[line, number + 1, j] = np.where(np.isfinite(parts.t), jump, 0.0)
    for piece in range(width):
        s[:, piece + 1] += s[:, piece]
    return s, inner


def _extremes(A: Array, B: Array, C: Array, ends: Array) -> tuple[Array, Array]:
    """Return numbers that are positive, or negative, iff a quadratic is so throughout its piece.

    On a finite piece they are its smallest and its largest value; on any piece the second is no
    less than the largest value if that is negative.
    """
    lo, hi = ends[:, :-1, None], ends[:, 1:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, last = _evaluate(A[:, None], B, C, lo), _evaluate(A[:, None], B, C, hi)
        # At an infinite end the leading coefficient decides.
        first[:, 0] = np.where(A != 0, A, np.where(B[:, 0] != 0, -B[:, 0], C[:, 0]))
        line, piece = np.nonzero(np.isinf(ends[:, 1:]))
        A_, B_ = A[line], B[line, piece]
        last[line, piece] = np.where(A_ != 0, A_, np.where(B_ != 0, B_, C[line, piece]))
        vertex = B * (-0.5 / A)[:, None]
        inside = (vertex > lo) & (vertex < hi)
        vertex *= B
        vertex *= 0.5
        vertex += C  # the value there
        vertex = np.where(inside, vertex, first)
        lowest = np.minimum(np.minimum(first, last), vertex)
        highest = np.maximum(np.maximum(first, last, out=last), vertex, out=last)
    return lowest, highest


def _evaluate(A: Array, B: Array, C: Array, x: Array) -> Array:
    out = np.asarray(A * x)
    out += B
    out *= x
    out += C
    return out
