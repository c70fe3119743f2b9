"""Members near the outer bounds of a quadratic region: a directed search (docs/theory.md 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.geometry.quadratic import FREE, Forms, LineQuadratics, Sets, exits
from unassuming.objectives import BallCoordinates

_ROUNDS = 40
_KEPT = 4
_WANDERS = 4
_STEPS = np.array([1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.003])


@final
@dataclass(frozen=True, eq=False)
class RaySearch:
    """Maximise gᵀx over a region, within a ball, by its rays: (gᵀu) t_(q)(u) over directions u."""

    forms: Forms
    ball: BallCoordinates | None = None

    def reach(self, u: Array, q: int) -> tuple[Array, IntArray]:
        """Return the q-th largest exit of each ray (N,), and the set that it leaves there."""
        Au = np.einsum("skl,nl->nsk", self.forms.A, u)
        A = np.maximum(np.einsum("nsk,nk->ns", Au, u), 0.0)
        noise = FREE * (u**2).sum(axis=1)[:, None]
        t = exits(LineQuadratics(A, -(u @ self.forms.b.T), self.forms.c, noise, self.forms.empty))
        order = np.argpartition(-t, q - 1, axis=1)[:, q - 1]
        ends = np.take_along_axis(t, order[:, None], 1)[:, 0]
        return np.minimum(ends, self._exit(u)), order.astype(np.intp)

    def _exit(self, u: Array) -> Array:
        """Return where the rays leave the ball."""
        if self.ball is None:
            return np.full(len(u), np.inf)
        N, origin, bound = self.ball.N, self.ball.origin, self.ball.bound
        A, b = np.einsum("nk,kl,nl->n", u, N, u), u @ (N @ origin)
        c = bound**2 - origin @ N @ origin
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(A > 0, (np.sqrt(b**2 + A * c) - b) / A, np.inf)
        return np.asarray(t)

    @cached_property
    def sets(self) -> Sets:
        """The sets, diagonalised."""
        f = self.forms
        return Sets.from_forms(f.A, f.b, f.c, f.empty)

    @cached_property
    def metric(self) -> Array:
        """The inverse of the average of the sets' matrices."""
        return np.asarray(np.linalg.pinv(self.forms.A.mean(axis=0), hermitian=True))

    def starts(self, g: Array) -> Array:
        """Return the points of the sets that are farthest along g, (m - 1, k)."""
        sets = self.sets
        turned = np.einsum("ska,k->sa", sets.basis, g)
        w = np.where(sets.free, np.inf, sets.w)
        spread = turned / w
        size = np.sqrt((turned * spread).sum(axis=1))
        scale = np.sqrt(np.maximum(sets.radius, 0.0)) / np.where(size > 0, size, 1.0)
        point = np.where(sets.free, 0.0, sets.b / w) + scale[:, None] * spread
        return np.asarray(np.einsum("ska,sa->sk", sets.basis, point))

    def search(self, g: Array, q: int, rng: np.random.Generator) -> Array:
        """Return the member x found with the largest gᵀx."""
        u = np.concatenate([self.starts(g), (self.metric @ g)[None, :]])
        u = u[u @ g > 0]
        if not len(u):
            return np.zeros_like(g)
        points, values = self._best(u, g, q)
        for _ in range(_ROUNDS):
            u = self._moves(points, g, q, rng)
            best = values[0]
            points, values = self._best(np.concatenate([points, u[u @ g > 0]]), g, q)
            if values[0] <= best * (1 + 1e-6):
                break
        return np.asarray(points[0])

    def _moves(self, points: Array, g: Array, q: int, rng: np.random.Generator) -> Array:
        """Return points to try, along the boundary of the set that ends a ray and at random."""
        _, active = self.reach(points, q)
        normal = np.einsum("nkl,nl->nk", self.forms.A[active], points) - self.forms.b[active]
        tilted = normal @ self.metric
        slope = (tilted @ g) / np.maximum((tilted * normal).sum(axis=1), 1e-300)
        along = (g @ self.metric)[None, :] - slope[:, None] * tilted
        wander = rng.standard_normal((len(points), _WANDERS, len(g)))
        moves = np.concatenate([along[:, None, :], wander], axis=1)
        length = np.linalg.norm(moves, axis=2, keepdims=True)
        size = np.linalg.norm(points, axis=1)[:, None, None]
        moves = moves * (size / np.where(length > 0, length, 1.0))
        trials = points[:, None, None, :] + _STEPS[None, :, None, None] * moves[:, None]
        return np.asarray(trials.reshape(-1, len(g)))

    def _best(self, u: Array, g: Array, q: int) -> tuple[Array, Array]:
        """Return the best ends of rays along u (N, k), and gᵀx there, in decreasing order."""
        t, _ = self.reach(u, q)
        t = np.where(np.isfinite(t), np.maximum(t, 0.0), 0.0) * (1 - 1e-9)
        points = t[:, None] * u
        values = points @ g
        order = np.argsort(-values)[:_KEPT]
        return points[order], values[order]
