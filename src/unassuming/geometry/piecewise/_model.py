"""The statistics of a piecewise quadratic model along a line (docs/theory.md 2, 7.1).

With u = Lρ(r), the least-norm gradient is z = Ψ(u - clip(u, lo, hi)): affine in t between kinks. A
ridge beside kinks, as that of the elastic net, is subtracted from u, which leaves a constant box.
The comparison of Z_i with Z_0 is the sign of ⟨p, p + 2z_0⟩ with p = z_i - z_0, a quadratic in t
that is formed from (G_i - I) r alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, final

import numpy as np

from unassuming._rounding import EPS, of_products
from unassuming._typing import Array, BoolArray
from unassuming.geometry.piecewise._breakpoints import Steps
from unassuming.noise import Perturbations
from unassuming.objectives import Kinks, LeastNormScore

Affine: TypeAlias = Sequence[Array] | Array
"""An affine function of t: its value at t = 0, and its slope."""


@final
@dataclass(frozen=True, eq=False)
class LineModel:
    """A linear model with a score of least norm and kinks, under linear transformations."""

    phi: Array  # (n, d): Φ
    y: Array  # (n,)
    score: LeastNormScore  # L, ρ, the subdifferential and Ψ
    kinks: Kinks
    perturbations: Perturbations  # linear ones
    tie_wins: BoolArray  # (m - 1,): whether a tie between Z_0 and Z_i counts for the candidate

    @cached_property
    def steps(self) -> Steps:
        """The penalty's subdifferential as a table."""
        return Steps.of(self.kinks, self.subdifferential, self.phi.shape[1])

    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return the penalty's subdifferential without the ridge, each side (N, k)."""
        lo, hi = self.score.subdifferential(a)
        if not self.kinks.ridge.size:
            return lo, hi
        linear = self.kinks.ridge_part(a)
        return lo - linear, hi - linear

    def without_ridge(self, u: Array, a: Array) -> Array:
        """Return u minus the ridge part of the penalty at a (N, d), or at a direction."""
        return u - self.kinks.ridge_part(a) if self.kinks.ridge.size else u

    @cached_property
    def jumps(self) -> Steps:
        """The kinks that separate pieces."""
        return self.steps.that_jump()

    def pull(self, rho: Array) -> Array:
        """Return Lρ for ρ (..., n)."""
        L = self.score.pullback
        return rho if L is None else rho @ L.T

    def weigh(self, g: Array) -> Array:
        """Return Ψg for g (..., k)."""
        psi = self.score.weighting
        return g if psi is None else g @ psi.T

    def faces(self, origins: Array, directions: Array) -> BoolArray:
        """Which components stay on a kink along a line, (N, k)."""
        lo, hi = self.subdifferential(origins)
        if self.steps.values.shape[1] == 0:
            return np.zeros(lo.shape, dtype=np.bool_)
        return np.asarray((lo < hi) & (directions[:, self.steps.coefficient] == 0))

    def residuals(self, origins: Array, directions: Array) -> tuple[Array, Array]:
        """Return r = r_0 + t r_1 along lines: (N, n) twice."""
        return self.y - origins @ self.phi.T, -(directions @ self.phi.T)

    def before_all_kinks(self, origins: Array, directions: Array) -> tuple[Array, Array]:
        """Return the subgradient at t = -∞ and its slope, (N, k): zero unless there are no kinks.

        Without kinks the subgradient is linear in t, and its value at t = 0 is returned.
        """
        s = self.subdifferential(origins)[0]
        if self.steps.values.shape[1] == 0:
            return s, self.score.subdifferential(directions)[0]
        d, between = directions[:, self.steps.coefficient], self.steps.between
        start = np.where(d > 0, between[:, 0], np.where(d < 0, between[:, -1], s))
        return start, np.zeros_like(start)

    @cached_property
    def unit(self) -> float:
        """The relative rounding error of the inner products, with a margin."""
        k = self.phi.shape[0] if self.score.pullback is None else len(self.score.pullback)
        return float(8 * EPS * (self.phi.shape[0] + k))

    @cached_property
    def pull_size(self) -> float:
        """The scale of the rounding errors of ΨLρ, for ρ of length one."""
        L, psi = self.score.pullback, self.score.weighting
        rows = np.ones(self.phi.shape[0]) if L is None else np.linalg.norm(L, axis=1)
        return float(np.linalg.norm(rows if psi is None else np.abs(psi) @ rows))

    @cached_property
    def weight_size(self) -> float:
        """The scale of the rounding errors of Ψs, for s of length one."""
        psi = self.score.weighting
        return 1.0 if psi is None else float(np.linalg.norm(psi))

    @cached_property
    def step_size(self) -> float:
        """The largest length of the constant subgradients."""
        return float(np.linalg.norm(np.abs(self.steps.between).max(axis=1, initial=0.0)))

    def errors(
        self, r: Affine, delta: Affine, s: Affine, origins: Array, directions: Array
    ) -> tuple[list[Array], list[Array]]:
        """Bound the rounding errors of p and of z_0, each at t = 0 and of the slope.

        They depend on residuals (N, n), their changes (N, n, m - 1) and subgradients (N, k).
        """
        size = 2 * of_products(self.phi.shape[1]) * np.abs(self.phi).T
        off = np.abs(origins) @ size + 8 * EPS * np.abs(self.y), np.abs(directions) @ size
        exact = self.perturbations.noise.exact_arithmetic
        p_error, z_error = [], []
        ridge = [self.kinks.ridge_part(part) for part in (origins, directions)]
        for j, constant in enumerate((self.step_size, 0.0)):
            length, error, own, held = (
                np.linalg.norm(x[j], axis=1)[:, None] for x in (r, off, s, ridge)
            )
            moved = np.linalg.norm(delta[j], axis=1) + (0.0 if exact else length)
            p_error.append(self.pull_size * (self.unit * moved + 2 * error))
            z_error.append(
                self.pull_size * (self.unit * length + error)
                + self.unit * self.weight_size * (own + held + constant)
            )
        return p_error, z_error


def settle(
    quadratics: Sequence[Array], p: Affine, z: Affine, p_error: Affine, z_error: Affine
) -> None:
    """Set A, B and C in ⟨p, p + 2z_0⟩ = At² + Bt + C to zero where they may be rounding alone.

    In place, given the lengths of p and z_0 and bounds of their errors. Where all three are zero,
    Z_i and Z_0 tie throughout the piece.
    """

    def error(j: int, k: int) -> Array:
        return np.asarray(p_error[j] * (p[k] + 2 * z[k]) + p[j] * (p_error[k] + 2 * z_error[k]))

    tolerances = error(1, 1), error(0, 1) + error(1, 0), error(0, 0)
    for coefficient, tolerance in zip(quadratics, tolerances, strict=True):
        small = np.abs(coefficient) <= tolerance
        if small.any():
            coefficient[small] = 0.0
