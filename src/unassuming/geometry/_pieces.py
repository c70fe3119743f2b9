"""The region along lines on which no coefficient stays at a kink: pieces common to all sets.

Between the crossings of kinks the subgradient s of the penalty is constant (or linear in t, if
there are no kinks), and with v = L(G_i - I)r, p = Ψv and z_0 = Ψ(u - s), all affine in t,

    Z_i - Z_0 = ⟨p, p + 2z_0⟩ = At² + Bt + C,      A the same on every piece.

Crossing a kink of component j changes s_j by Δ, and with it B and C by -2Δ(Ψᵀp)_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._breakpoints import Breakpoints, Steps
from unassuming.geometry._gradients import LineModel, Sizes, settle
from unassuming.geometry._sweep import covers, merge, sign_changes, sweep


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
    unclear: BoolArray  # (N, P, m - 1): those that hold a part

    @classmethod
    def along(cls, model: LineModel, origins: Array, directions: Array, shift: Array) -> Self:
        """Cut the lines origins + t directions into pieces, expanded about t = shift."""
        about = origins + shift[:, None] * directions
        r = model.residuals(about, directions)
        u = model.pull(r[0]), model.pull(r[1])
        delta = _differences(model, r[0]), _differences(model, r[1])
        v = _times(model.score.pullback, delta[0]), _times(model.score.pullback, delta[1])
        psi = model.score.weighting
        p = _times(psi, v[0]), _times(psi, v[1])
        transposed = None if psi is None else psi.T
        turned = _times(transposed, p[0]), _times(transposed, p[1])

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

        parts = Breakpoints.of(model.jumps, origins, directions)
        jump = _jumps(model.jumps, parts, directions)
        line = np.arange(len(directions))[:, None]
        B = _accumulate(B, -2 * jump[:, :, None] * turned[1][line, parts.component])
        C = _accumulate(C, -2 * jump[:, :, None] * turned[0][line, parts.component])
        change = np.zeros((*jump.shape, s.shape[1]))
        change[line, np.arange(jump.shape[1]), parts.component] = jump
        of_a, of_b, of_c = sizes.tolerances()
        settle(A, B, C, (of_a, of_b[:, None, :], of_c[:, None, :]))

        far = np.full((len(directions), 1), np.inf)
        ends = np.concatenate([-far, parts.t - shift[:, None], far], axis=1)
        proper = (ends[:, :-1] < ends[:, 1:])[:, :, None]
        positive, negative = _clear(A, B, C, ends)
        crossed = Breakpoints.of(model.steps, origins, directions)
        return cls(
            model=model,
            crossed=crossed,
            x=crossed.t - shift[:, None],
            ends=ends,
            A=A,
            B=B,
            C=C,
            s=_accumulate(s, change),
            u=u,
            v=v,
            turned=turned,
            always=np.count_nonzero(positive & proper, axis=-1),
            ever=np.count_nonzero(~negative & proper, axis=-1),
            unclear=~(positive | negative) & proper,
        )

    def stretches(self, q: int) -> list[tuple[Array, Array]]:
        """Return, for each line, intervals of x in at least q sets, and points to be asked for."""
        whole, inner = np.nonzero(self.always >= q)
        line, piece = np.nonzero((self.ever >= q) & (self.always < q))
        row, i = np.nonzero(self.unclear[line, piece])
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
        owner = np.concatenate([whole, line[found]])
        order = np.argsort(owner, kind="stable")
        parts = np.searchsorted(owner[order], np.arange(1, len(self.ends)))
        return [merge(part) for part in np.split(np.concatenate([sure, spans])[order], parts)]

    def likely(self, q: int, intervals: list[Array]) -> list[Array]:
        """Return, for each line, the t of crossings outside the intervals that may be members.

        These are kinks crossed together, and those of one component which `_count` does not
        rule out.
        """
        outside = np.isfinite(self.x)
        for row, x, span in zip(outside, self.x, intervals, strict=True):
            row &= ~covers(span, x)
        likely = outside & self.crossed.multiple()
        line, b = np.nonzero(outside & ~likely)
        likely[line, b] = self._count(line, b) >= q
        return [np.unique(t[some]) for t, some in zip(self.crossed.t, likely, strict=True)]

    def _count(self, line: IntArray, b: IntArray) -> IntArray:
        """Count the sets that may hold the points at which one component crosses a kink.

        There the least-norm gradient of component j is taken with the box instead of s_j. With
        e = s_j - clip(u_j, lo, hi) and M = ΨᵀΨ that adds 2e(M(u - s))_j + e²M_jj to a statistic.
        """
        model, psi = self.model, self.model.score.weighting
        x, j, kink = self.x[line, b], self.crossed.component[line, b], self.crossed.kink[line, b]
        piece = (self.ends[line, 1:-1] < x[:, None]).sum(axis=1)  # the piece that ends at x
        own, x = np.arange(len(line)), x[:, None]
        gap = (self.A[line] * x + self.B[line, piece]) * x + self.C[line, piece]
        s = self.s[line, piece]
        z0 = self.u[0][line] + x * self.u[1][line] - s
        s_j = s[own, j][:, None]
        u0_j = z0[own, j][:, None] + s_j
        u_j = u0_j + self.v[0][line, j] + x * self.v[1][line, j]
        if psi is None:
            M_jj, w0_j = 1.0, z0[own, j][:, None]
        else:
            M_j = psi[:, j].T @ psi
            M_jj, w0_j = M_j[own, j][:, None], (M_j * z0).sum(axis=1)[:, None]
        w_j = w0_j + self.turned[0][line, j] + x * self.turned[1][line, j]
        lo, hi = model.steps.lo[j, kink][:, None], model.steps.hi[j, kink][:, None]
        e, e0 = s_j - np.clip(u_j, lo, hi), s_j - np.clip(u0_j, lo, hi)
        more, less = e * (2 * w_j + e * M_jj), e0 * (2 * w0_j + e0 * M_jj)
        slack = 1e-9 * (np.abs(gap) + np.abs(more) + np.abs(less))
        return np.count_nonzero(gap + more - less >= -slack, axis=1)


def _differences(model: LineModel, r: Array) -> Array:
    """Return (G_i - I)r in columns, (N, n, m - 1)."""
    return np.swapaxes(model.perturbations.apply(r) - r[:, None, :], 1, 2)


def _times(matrix: Array | None, columns: Array) -> Array:
    return columns if matrix is None else np.asarray(matrix @ columns)


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


def _jumps(steps: Steps, parts: Breakpoints, directions: Array) -> Array:
    """Return by how much the subgradient changes at each crossing, (N, B)."""
    if parts.t.shape[1] == 0:
        return np.zeros(parts.t.shape)
    j, kink = parts.component, parts.kink
    up = np.sign(np.take_along_axis(directions, steps.coefficient[j], axis=1))
    jump = up * (steps.between[j, kink + 1] - steps.between[j, kink])
    return np.where(np.isfinite(parts.t), jump, 0.0)


def _accumulate(first: Array, changes: Array) -> Array:
    """Return first, first + changes[0], first + changes[0] + changes[1], ... along axis 1."""
    out = np.concatenate([first[:, None, :], changes], axis=1)
    for b in range(changes.shape[1]):
        out[:, b + 1] += out[:, b]
    return out


def _clear(A: Array, B: Array, C: Array, ends: Array) -> tuple[BoolArray, BoolArray]:
    """Return on which pieces each quadratic is positive, or negative, throughout."""
    A = A[:, None, :]
    lo, hi = ends[:, :-1, None], ends[:, 1:, None]
    with np.errstate(invalid="ignore", over="ignore"):
        first, last = (A * lo + B) * lo + C, (A * hi + B) * hi + C
        # At an infinite end the leading coefficient decides.
        first[:, 0] = np.where(A[:, 0] != 0, A[:, 0], np.where(B[:, 0] != 0, -B[:, 0], C[:, 0]))
        last = np.where(
            np.isinf(hi), np.where(A != 0, A, np.where(B != 0, B, C)), last
        )
        turns = (first * A > 0) & ((2 * A * lo + B) * (2 * A * hi + B) < 0)
        turns &= B * B >= 4 * A * C
    return (first > 0) & (last > 0) & ~turns, (first < 0) & (last < 0) & ~turns
