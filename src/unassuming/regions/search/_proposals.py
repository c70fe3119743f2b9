"""Directions in which to walk through a region: at random, or to increase a functional."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import svd

from unassuming._rounding import rank_cut
from unassuming._typing import Array
from unassuming.geometry.piecewise import LineModel
from unassuming.objectives import Kinks, NormBall
from unassuming.regions.search._hit_and_run import Members, uniform_point

_ALONG_FACE = 0.25
_EXCURSIONS, _FACE_STEPS = 0.25, 3
"""The share of points from which faces are visited, and the steps along them."""
_FLOORS = (1e-3, 1e-2, 1e-1)
_RATIOS = (1.0, 10.0, 100.0)
_RANDOM_PARTS = (0.0, 0.5, 2.0, 8.0)
_PULLS = (0.1, 0.5, 2.0)


@final
@dataclass(frozen=True, eq=False)
class Proposals:
    """Frames of directions, scaled so that steps of one length are of comparable use.

    How far the region extends in different directions is not known beforehand. Each frame, with
    axes in columns, (d, k), is a guess: a step changes the gradient, or the gradient and the norm,
    by about the same amount. Where coefficients are at a kink, the region can be larger along the
    face than off it. The ball confines the walk.
    """

    frames: tuple[Array, ...]
    kinks: Kinks | None
    ball: NormBall | None

    @classmethod
    def in_model(cls, model: LineModel, estimate: Array, ball: NormBall | None) -> Proposals:
        """Return frames from ΨLΦ, in units of the gradient of perturbed residuals."""
        J = model.weigh(model.pull(model.phi.T)).T
        r = model.y - model.phi @ estimate
        rho = r if model.score.influence is None else model.score.influence(r[None, :])[0]
        typical = [model.weigh(model.pull(model.perturbations.apply(v))) for v in (rho, model.y)]
        sizes = [float(np.median(np.linalg.norm(z, axis=1))) for z in typical]
        unit = next((size for size in sizes if size > 0), 1.0)
        frames = [_frame(J / unit, floor) for floor in _FLOORS]
        if ball is not None:
            norm = ball.root / ball.bound
            both = [_frame(np.vstack([J / (unit * ratio), norm]), 1e-6) for ratio in _RATIOS]
            frames = [*both, frames[0]]
        return cls(tuple(frames), model.kinks, ball)

    @classmethod
    def in_coefficients(
        cls,
        estimate: Array,
        kinks: Kinks | None,
        ball: NormBall | None,
        regressors: Array | None = None,
    ) -> Proposals:
        """Return a frame for an objective whose members can only be tested.

        Regressors, if it has some, say which coefficients are large and which are small.
        """
        frame = np.eye(len(estimate)) / max(float(np.abs(estimate).max()), 1.0)
        frame = frame if regressors is None else regressors
        if ball is not None:
            frame = np.vstack([frame, ball.root / ball.bound])
        return cls((_frame(frame, 1e-6),), kinks, ball)

    def directions(self, rng: np.random.Generator, points: Array) -> Array:
        """Draw a direction for each point (N, d), sometimes along the face on which it lies."""
        chosen = rng.integers(len(self.frames), size=len(points))
        full = np.empty_like(points)
        for j, axes in enumerate(self.frames):
            here = chosen == j
            full[here] = rng.standard_normal((int(here.sum()), axes.shape[1])) @ axes.T
        along = self.along_face(points, full)
        use = (rng.random(len(points)) < _ALONG_FACE) & along.any(axis=1)
        return np.where(use[:, None], along, full)

    def along_face(self, points: Array, directions: Array) -> Array:
        """Return the directions without the coefficients that are at a kink."""
        kept = np.zeros(points.shape, dtype=np.bool_)
        if self.kinks is not None and self.kinks.values.shape[1]:
            coefficient = self.kinks.coefficient
            at = points[:, coefficient, None] == self.kinks.values
            kept[:, coefficient] = at.any(axis=2)
        return np.where(kept, 0.0, directions)

    def excursions(self, rng: np.random.Generator, points: Array, members: Members) -> Array:
        """Return points on faces, reached from some of the points (N, d) by lines, (E, d).

        Each goes along a line to where a coefficient comes to a kink, then along that face, at
        times to a smaller one. Intervals are closed, so the points may fail a test of membership.
        """
        out = np.array(points[rng.random(len(points)) < _EXCURSIONS])
        landed = np.zeros(len(out), dtype=np.bool_)
        for _ in range(1 + _FACE_STEPS):
            moves = self.along_face(out, self.directions(rng, out))
            going = np.flatnonzero(moves.any(axis=1))
            if not len(going):
                break
            for j, spans in zip(going, members(out[going], moves[going]), strict=True):
                there = self._kink_on(rng, out[j], moves[j], spans)
                if there is not None and (not landed[j] or rng.random() < 0.5):
                    out[j], landed[j] = there, True
                elif landed[j]:
                    out[j] = out[j] + uniform_point(spans, rng) * moves[j]
        return out[landed]

    def _kink_on(
        self, rng: np.random.Generator, point: Array, direction: Array, spans: Array
    ) -> Array | None:
        """Return a point of the intervals, (d,), at which a coefficient comes to a kink."""
        if self.kinks is None or not self.kinks.values.shape[1]:
            return None
        coefficient, values = self.kinks.coefficient, self.kinks.values
        moving = direction[coefficient] != 0
        slope = np.where(moving, direction[coefficient], 1.0)
        t = (values - point[coefficient, None]) / slope[:, None]
        inside = (t[..., None] >= spans[:, 0]) & (t[..., None] <= spans[:, 1])
        crossed = np.argwhere(inside.any(axis=-1) & (t != 0) & moving[:, None])
        if not len(crossed):
            return None
        k, v = crossed[rng.integers(len(crossed))]
        there = point + t[k, v] * direction
        there[coefficient[k]] = values[k, v]
        return np.asarray(there)

    def towards(
        self, rng: np.random.Generator, points: Array, g: Array, pool: Array
    ) -> list[tuple[Array, Array]]:
        """Return lines on which gᵀa may grow: origins and directions, (N, d) each.

        They start at the points (N, d), one for each functional, or at the first member of the
        pool. They lead along the functional in every frame, towards other members, and towards the
        farthest point of the ball.
        """
        base = np.broadcast_to(pool[0], points.shape)
        lines = []
        for axes in self.frames:
            turned = g @ axes
            length = np.linalg.norm(turned, axis=1, keepdims=True)
            uphill = turned / np.where(length > 0, length, 1.0) @ axes.T
            noise = rng.standard_normal((2, *turned.shape)) @ axes.T / np.sqrt(axes.shape[1])
            away = np.linalg.norm((points - base) @ np.linalg.pinv(axes).T, axis=1, keepdims=True)
            away = np.where(away > 0, away, 1.0)
            straight = uphill + rng.choice(_RANDOM_PARTS) * noise[0]
            turn = 10 ** rng.uniform(-1.5, 0.0) * away * (noise[1] + 0.3 * uphill)
            others = pool[rng.integers(len(pool), size=len(points))]
            lines += [
                (points, straight),
                (base, points - base + turn),
                (points, others - points + rng.choice(_PULLS) * away * uphill),
            ]
        lines.append(
            (points, self.along_face(points, lines[3 * int(rng.integers(len(self.frames)))][1]))
        )
        if self.ball is not None:
            lines.append((points, self.ball.farthest(g) - points))
        return lines


def _frame(rows: Array, floor: float) -> Array:
    """Return axes along which ‖rows a‖ grows alike, the smallest singular values raised.

    Directions that ``rows`` maps to zero are left out: nothing would limit a walk along them.
    """
    _, s, vt = svd(rows, full_matrices=False)
    seen = s > rank_cut(rows.shape) * s[0]
    s, vt = s[seen], vt[seen]
    return np.asarray(vt.T / np.sqrt(s**2 + (floor * s.max(initial=0.0)) ** 2))
