"""The weighted gradients along a line are affine in t between kinks (docs/theory.md 2, 7.1).

With u = Lρ(r), the least-norm gradient is z = Ψ(u - clip(u, lo, hi)), and the comparison of Z_i
with Z_0 is the sign of ⟨p, p + 2z_0⟩ with p = z_i - z_0, formed from (G_i - I) r alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry.piecewise._breakpoints import Steps
from unassuming.noise import Perturbations
from unassuming.objectives import Kinks, LeastNormScore


@dataclass(frozen=True, eq=False)
class LineModel:
    """What is needed of a model to follow its statistics along lines.

    Attributes
    ----------
    phi : array of shape (n, d)
        Φ.
    y : array of shape (n,)
    score : LeastNormScore
        L, ρ, the subdifferential and Ψ.
    kinks : Kinks
    perturbations : Perturbations
        Linear ones.
    tie_wins : boolean array of shape (m - 1,)
        Whether a tie between Z_0 and Z_i counts for the candidate.
    """

    phi: Array
    y: Array
    score: LeastNormScore
    kinks: Kinks
    perturbations: Perturbations
    tie_wins: BoolArray

    @cached_property
    def steps(self) -> Steps:
        """The penalty's subdifferential as a table."""
        return Steps.of(self.kinks, self.score.subdifferential, self.phi.shape[1])

    @cached_property
    def jumps(self) -> Steps:
        """Those kinks that part pieces."""
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
        lo, hi = self.score.subdifferential(origins)
        if self.steps.values.shape[1] == 0:
            return np.zeros(lo.shape, dtype=np.bool_)
        return np.asarray((lo < hi) & (directions[:, self.steps.coefficient] == 0))

    def residuals(self, origins: Array, directions: Array) -> tuple[Array, Array]:
        """Return r = r_0 + t r_1 along lines: (N, n) twice."""
        return self.y - origins @ self.phi.T, -(directions @ self.phi.T)

    @cached_property
    def unit(self) -> float:
        """The relative rounding error of the inner products, with a margin."""
        k = self.phi.shape[0] if self.score.pullback is None else len(self.score.pullback)
        return float(8 * EPS * (self.phi.shape[0] + k))

    @cached_property
    def pull_size(self) -> float:
        """What the rounding error of ΨLρ is relative to, for ρ of length one."""
        L, psi = self.score.pullback, self.score.weighting
        rows = np.ones(self.phi.shape[0]) if L is None else np.linalg.norm(L, axis=1)
        return float(np.linalg.norm(rows if psi is None else np.abs(psi) @ rows))

    @cached_property
    def weight_size(self) -> float:
        """What the rounding error of Ψs is relative to, for s of length one."""
        psi = self.score.weighting
        return 1.0 if psi is None else float(np.linalg.norm(psi))

    @cached_property
    def step_size(self) -> float:
        """The largest length of the constant subgradients."""
        return float(np.linalg.norm(np.abs(self.steps.between).max(axis=1, initial=0.0)))

    def errors(
        self,
        r: tuple[Array, Array],
        delta: tuple[Array, Array],
        s: tuple[Array, Array],
        origins: Array,
        directions: Array,
    ) -> dict[str, tuple[Array, Array]]:
        """Bound the rounding errors of p and z_0, at t = 0 and of the slope, as in `Sizes`.

        ``r`` (N, n), ``delta`` (N, n, m - 1) and ``s`` (N, k) are given at t = 0 and as slopes.
        """
        size = 8 * EPS * np.sqrt(self.phi.shape[1]) * np.abs(self.phi).T
        off = np.abs(origins) @ size + 8 * EPS * np.abs(self.y), np.abs(directions) @ size
        exact = self.perturbations.noise.exact_arithmetic
        p_error, z_error = [], []
        for j in (0, 1):
            length, error = (np.linalg.norm(part, axis=1)[:, None] for part in (r[j], off[j]))
            moved = np.linalg.norm(delta[j], axis=1) + (0.0 if exact else length)
            subgradient = np.linalg.norm(s[j], axis=1)[:, None] + (self.step_size if j == 0 else 0)
            p_error.append(self.pull_size * (self.unit * moved + 2 * error))
            z_error.append(
                self.pull_size * (self.unit * length + error)
                + self.unit * self.weight_size * subgradient
            )
        return {"p_error": (p_error[0], p_error[1]), "z_error": (z_error[0], z_error[1])}


@dataclass(frozen=True, eq=False)
class Sizes:
    """Lengths of p and z_0 and of their rounding errors; [0] at t = 0, [1] of the slope."""

    p: tuple[Array, Array]
    z: tuple[Array, Array]
    p_error: tuple[Array, Array]
    z_error: tuple[Array, Array]

    def tolerances(self) -> tuple[Array, Array, Array]:
        """Bound the rounding errors of A, B and C in ⟨p, p + 2z_0⟩ = At² + Bt + C."""

        def part(j: int, k: int) -> Array:
            sum_size = self.p[k] + 2 * self.z[k]
            sum_error = self.p_error[k] + 2 * self.z_error[k]
            return np.asarray(self.p_error[j] * sum_size + self.p[j] * sum_error)

        return part(1, 1), part(0, 1) + part(1, 0), part(0, 0)


def settle(A: Array, B: Array, C: Array, tolerances: tuple[Array, Array, Array]) -> None:
    """Set coefficients that may be rounding alone to zero, in place.

    Where all three are, Z_i and Z_0 tie throughout the piece, and the tie order decides.
    """
    for coefficient, tolerance in zip((A, B, C), tolerances, strict=True):
        small = np.abs(coefficient) <= tolerance
        if small.any():
            coefficient[small] = 0.0
