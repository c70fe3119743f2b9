"""Lines on which no coefficient stays at a kink: all sets share the same pieces.

Between the crossings of kinks the subgradient s of the penalty is constant (or linear in t, if
there are no kinks; a ridge beside kinks belongs to u), and with v = L(G_i - I)r, p = Ψv and
z_0 = Ψ(u - s), all affine in t,

    Z_i - Z_0 = ⟨p, p + 2z_0⟩ = At² + Bt + C,      A the same on every piece.

Crossing a kink of component j changes s_j by Δ, and with it B and C by -2Δ(Ψᵀp)_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self, final

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.geometry._spans import Spans, sign_changes, sweep
from unassuming.geometry.piecewise._breakpoints import Breakpoints
from unassuming.geometry.piecewise._model import Affine, LineModel, settle


@final
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
    u: Affine  # (N, k) each, in x
    v: Affine  # (N, k, m - 1) each
    turned: Affine  # (N, k, m - 1) each: Ψᵀp
    always: IntArray  # (N, P): how many sets hold the whole piece
    ever: IntArray  # (N, P): how many hold some of it
    lowest: Array  # (N, P, m - 1): see `_extremes`
    highest: Array

    @classmethod
    def along(cls, model: LineModel, origins: Array, directions: Array, shift: Array) -> Self:
        """Cut the lines origins + t directions into pieces, expanded about t = shift."""
        about = origins + shift[:, None] * directions
        r = model.residuals(about, directions)
        u = [
            model.without_ridge(model.pull(part), at)
            for part, at in zip(r, (about, directions), strict=True)
        ]
        delta, v, p, turned = zip(*(_moved(model, part) for part in r), strict=True)
        s, s_slope = model.before_all_kinks(about, directions)
        z = model.weigh(u[0] - s), model.weigh(u[1] - s_slope)
        square = _dot(p[0], p[0]), _dot(p[1], p[1])
        A = square[1] + 2 * _along(z[1], p[1])
        B = 2 * (_dot(p[0], p[1]) + _along(z[1], p[0]) + _along(z[0], p[1]))
        C = square[0] + 2 * _along(z[0], p[0])
        sizes = [np.linalg.norm(part, axis=1)[:, None] for part in z]
        sizes[0] += 2 * model.weight_size * model.step_size
        errors = model.errors(r, delta, (s, s_slope), about, directions)
        lengths = [np.sqrt(part) for part in square], sizes, *errors

        s_all, inner = _subgradients(model, s, origins, directions)
        change = -2 * (s_all - s[:, None, :])
        B = B[:, None, :] + change @ turned[1]
        C = C[:, None, :] + change @ turned[0]
        settle((A[:, None], B, C), *([part[:, None] for part in pair] for pair in lengths))

        far = np.full((len(directions), 1), np.inf)
        ends = np.concatenate([-far, inner - shift[:, None], far], axis=1)
        proper = ends[:, :-1] < ends[:, 1:]
        lowest, highest = _extremes(A, B, C, ends)
        always = np.where(proper, np.count_nonzero(lowest > 0, axis=-1), 0)
        ever = np.where(proper, A.shape[1] - np.count_nonzero(highest < 0, axis=-1), 0)
        crossed = Breakpoints.of(model.steps, origins, directions)
        x = crossed.t - shift[:, None]
        return cls(
            model, crossed, x, ends, A, B, C, s_all, u, v, turned, always, ever, lowest, highest
        )

    def stretches(self, q: int) -> Spans:
        """Return the intervals of x in at least q sets; membership decides on those of length 0."""
        whole, inner = np.nonzero(self.always >= q)
        line, piece = np.nonzero((self.ever >= q) & (self.always < q))
        clear = (self.lowest[line, piece] > 0) | (self.highest[line, piece] < 0)
        row, i = np.nonzero(~clear)
        here = line[row], piece[row]
        state, roots, change = sign_changes(
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
        found, spans = sweep(
            np.concatenate([rows, np.repeat(row[:, None], 2, axis=1)[at], rows]),
            np.concatenate([self.ends[line, piece], roots[at], self.ends[line, piece + 1]]),
            np.concatenate([first, change[at], zero]),
            q,
        )
        sure = np.stack([self.ends[whole, inner], self.ends[whole, inner + 1]], axis=1)
        return Spans.joined(np.concatenate([whole, line[found]]), np.concatenate([sure, spans]))

    def likely(self, q: int, spans: Spans) -> tuple[IntArray, Array]:
        """Return line and t of the crossings outside the spans that may be members.

        These are kinks crossed together, and single ones that `_count` does not rule out.
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

        There the box replaces s_j in the least-norm gradient. With e = s_j - clip(u_j, lo, hi) and
        M = ΨᵀΨ this adds 2e(M(u - s))_j + e²M_jj to a statistic. The count is zero where even the
        largest such change leaves fewer than q sets.
        """
        j, kink = self.crossed.component[line, b], self.crossed.kink[line, b]
        x = self.x[line, b][:, None]
        piece = (self.ends[line, 1:-1] < x).sum(axis=1)  # the piece that ends at x
        Mu, Mu_slope, Ms, diagonal = self._metric
        s, M_jj = self.s[line, piece, j][:, None], diagonal[j][:, None]
        w = Mu[line, j][:, None] + x * Mu_slope[line, j][:, None] - Ms[line, piece, j][:, None]
        u = self.u[0][line, j][:, None] + x * self.u[1][line, j][:, None]
        lo, hi = (side[j, kink][:, None] for side in (self.model.steps.lo, self.model.steps.hi))
        e = s - np.clip(u, lo, hi)
        less = e * (2 * w + e * M_jj)

        # A bound of the gain of any set: on most pieces it is too small for q of them.
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


def _moved(model: LineModel, r: Array) -> tuple[Array, Array, Array, Array]:
    """Return (G_i - I)r, v, p and Ψᵀp in columns, (N, *, m - 1) each."""
    if len(r) > 1 and (r == r[0]).all():  # lines from a common origin
        delta, v, p, turned = (
            np.broadcast_to(part, (len(r), *part.shape[1:])) for part in _moved(model, r[:1])
        )
        return delta, v, p, turned
    L, psi = model.score.pullback, model.score.weighting
    delta = np.swapaxes(model.perturbations.apply(r) - r[:, None, :], 1, 2)
    v = delta if L is None else np.asarray(L @ delta)
    if psi is None:
        return delta, v, v, v
    p = np.asarray(psi @ v)
    return delta, v, p, np.asarray(psi.T @ p)


def _dot(x: Array, y: Array) -> Array:
    return np.asarray(np.einsum("nki,nki->ni", x, y))


def _along(z: Array, p: Array) -> Array:
    return np.asarray((z[:, None, :] @ p)[:, 0])


def _subgradients(
    model: LineModel, start: Array, origins: Array, directions: Array
) -> tuple[Array, Array]:
    """Return the subgradient on every piece, (N, P, k), and the ends between them, (N, P - 1)."""
    crossed = Breakpoints.of(model.jumps, origins, directions)
    line, number = np.arange(len(directions))[:, None], crossed.number()
    width = int(number.max(initial=-1)) + 1
    inner = np.full((len(directions), width), np.inf)
    inner[line, number] = crossed.t
    s = np.zeros((len(directions), width + 1, start.shape[1]))
    s[:, 0] = start
    jump = model.jumps.jumps(crossed, directions)
    s[line, number + 1, crossed.component] = np.where(np.isfinite(crossed.t), jump, 0.0)
    for piece in range(width):
        s[:, piece + 1] += s[:, piece]
    return s, inner


def _extremes(A: Array, B: Array, C: Array, ends: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest value of each quadratic on its piece, (N, P, m - 1).

    On an infinite piece only their signs are right: the first is positive, or the second negative,
    iff the quadratic is so throughout. A negative second value is still an upper bound.
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
