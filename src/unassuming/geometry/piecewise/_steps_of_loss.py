"""Lines through a model whose loss has a derivative of steps, as that of LinearSVR.

Between the points at which residuals meet a step, ρ is constant, and so is G_iρ for signs and
permutations. Then p = ΨL(G_i - I)ρ is constant too, z_0 is affine in x, and Z_i - Z_0 = ⟨p, p +
2z_0⟩ is affine: all pieces of a line come from one product of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, IntArray
from unassuming.geometry.piecewise._model import LineModel, settle

_BATCH_BYTES = 2**24
_SLIVER = 1e-9
"""Relative distance within which points are asked about together, and errors of a bound."""


@final
@dataclass(frozen=True, eq=False)
class LossSteps:
    """One line in E + 1 pieces, and an affine function of x = t - shift for each set and piece."""

    t: Array  # (E,): where residuals meet steps, in order
    B: Array  # (m - 1, E + 1): slopes
    C: Array  # (m - 1, E + 1): values at x = 0
    most: IntArray  # (E,): how many sets can hold the points themselves

    @staticmethod
    def apply_to(model: LineModel) -> bool:
        """Whether a model is of this kind: steps alone, a smooth penalty, G that moves or flips."""
        kinks = model.kinks
        steps = kinks.jumps.size > 0 and not kinks.slopes.any()
        exact = model.perturbations.noise.exact_arithmetic
        return steps and model.steps.values.shape[1] == 0 and exact

    @classmethod
    def along(
        cls, model: LineModel, origin: Array, direction: Array, shift: float, t: Array
    ) -> Self:
        """Follow origin + x direction; t (R, n) are the points at which residuals meet steps."""
        about, line = (origin + shift * direction)[None], direction[None]
        (value,), (slope,) = model.residuals(about, line)
        kinks, n = model.kinks, len(value)
        levels, up = kinks.levels(), np.sign(slope)
        still = levels[np.searchsorted(kinks.thresholds, value)]
        start = np.where(up > 0, levels[0], np.where(up < 0, levels[-1], still))
        order = np.argsort(t, axis=None, kind="stable")
        order = order[: int(np.isfinite(t).sum())]
        t, rows = t.ravel()[order], order % n
        steps = np.zeros((len(t) + 1, n))
        steps[0] = start
        jumps = kinks.jumps[order // n] * up[rows]
        steps[np.arange(1, len(t) + 1), rows] = jumps
        rho = np.cumsum(steps, axis=0)  # (E + 1, n)

        P = model.weigh(model.pull(np.eye(n))).T  # (k, n)
        s = [model.weigh(model.score.subdifferential(part)[0])[0] for part in (about, line)]
        z, z_slope = rho @ P.T - s[0], -s[1]
        sets, k = model.perturbations.m - 1, len(P)
        p, lengths = np.empty((len(rho), sets, k)), np.empty((len(rho), sets))
        for some in slices(len(rho), rows_that_fit(_BATCH_BYTES, sets * n)):
            moved = model.perturbations.apply(rho[some]) - rho[some, None, :]
            p[some], lengths[some] = moved @ P.T, np.linalg.norm(moved, axis=2)
        B, C = 2 * (p @ z_slope), (p * (p + 2 * z[:, None, :])).sum(axis=2)
        A, none = np.zeros_like(C), np.zeros_like(C)
        size, own = np.linalg.norm(p, axis=2), np.linalg.norm(z, axis=1)[:, None]
        error = model.unit * model.pull_size
        z_error = error * np.linalg.norm(rho, axis=1)[:, None]
        z_error = z_error + model.unit * model.weight_size * np.linalg.norm(s[0])
        slopes = np.full_like(own, np.linalg.norm(z_slope)), np.full_like(own, model.unit)
        settle(
            (A, B, C),
            (size, none),
            (own, slopes[0]),
            (error * lengths, none),
            (z_error, slopes[1] * slopes[0]),
        )
        most = _sets_at(t - shift, z, z_slope, p, jumps[:, None] * P.T[rows])
        return cls(t, B.T, C.T, most)


def _sets_at(x: Array, z: Array, z_slope: Array, p: Array, c: Array) -> IntArray:
    """Bound the number of sets that hold each point x (E,) at which a row of ρ is free.

    There z_0 may be anything from z to z + c (E, k), and z_i is in the middle of its two values.
    Where points coincide, several rows are free, and nothing is known.
    """
    before = z[:-1] + x[:, None] * z_slope
    share = -(before * c).sum(axis=1) / (c * c).sum(axis=1).clip(np.finfo(float).tiny)
    least = ((before + np.clip(share, 0, 1)[:, None] * c) ** 2).sum(axis=1)
    others = before[:, None, :] + (p[:-1] + p[1:]) / 2 + c[:, None, :] / 2
    slack = _SLIVER * ((before**2).sum(axis=1) + (c * c).sum(axis=1))
    count = np.count_nonzero((others**2).sum(axis=2) >= (least - slack)[:, None], axis=1)
    apart = np.diff(x) > _SLIVER * (1 + np.abs(x[1:]))
    alone = np.ones(len(x), dtype=np.bool_)
    alone[1:] &= apart
    alone[:-1] &= apart
    return np.asarray(np.where(alone, count, p.shape[1]))
