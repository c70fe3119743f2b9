"""Coordinates of a - â in which the sets of a quadratic objective are ellipsoids (theory 4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unassuming._numerics import CUT, EPS, SEEN, Factor
from unassuming._typing import Array, BoolArray


@dataclass(frozen=True, eq=False)
class Whitened:
    """v = H^½(a - â): C is Q, and ‖v‖² = (a - â)ᵀH(a - â)."""

    factor: Factor
    Phi: Array  # W^½Φ

    @property
    def columns(self) -> Array:
        """Q."""
        return self.factor.Q

    def forward(self, u: Array) -> Array:
        """Return the x of directions u (N, d): H^½u, zero where Φu is rounding alone."""
        x = u @ self.Phi.T @ self.factor.Q + u @ self.factor.push.T
        size = np.linalg.norm(np.abs(u) @ np.abs(self.Phi).T, axis=-1, keepdims=True)
        moves = np.linalg.norm(u @ self.Phi.T, axis=-1, keepdims=True) > CUT * size
        return np.where(moves, x, 0.0)

    def functionals(self, g: Array) -> tuple[Array, BoolArray]:
        """Return t = H^(-½)g, with gᵀ(a - â) = tᵀx, and which g (N, d) are not determined."""
        return g @ self.factor.back, self.factor.unseen(g)


@dataclass(frozen=True, eq=False)
class AtInputs:
    """The fitted values at the distinct inputs, for a kernel that can take any values there."""

    # Its eigenvalues may be lost in rounding; fitted values are not (docs/theory.md 4.4).

    design: Any  # a KernelDesign
    root: Array  # W^½

    @cached_property
    def columns(self) -> Array:
        """The weighted indicators of the distinct inputs, orthonormal."""
        first, which = self.design.distinct
        C = self.root[:, None] * np.eye(len(first))[which]
        return np.asarray(C / np.linalg.norm(C, axis=0))

    def forward(self, u: Array) -> Array:
        """Return the changes of the fitted values."""
        return np.asarray((u @ self.design.matrix.T * self.root) @ self.columns)

    def functionals(self, g: Array) -> tuple[Array, BoolArray]:
        """Return one entry for the value at an input; others need K⁻¹, as far as it is known."""
        first, _ = self.design.distinct
        skip, K = int(self.design.intercept), self.design.K[first]
        own, values = g[:, skip:], self.columns[first] / self.root[first, None]
        lam, U = self.design.spectrum
        keep = lam > len(lam) * EPS * lam[-1]
        rows = ((own @ U[:, keep]) / lam[keep]) @ U[:, keep].T
        t, sums = (rows / self.root) @ self.columns, rows.sum(axis=1)
        resolved = keep.sum() == len(first) and len(lam) * EPS * lam[-1] <= SEEN * lam[keep][0]
        rest = own - own @ U[:, keep] @ U[:, keep].T
        beyond = np.linalg.norm(rest, axis=1) > SEEN * np.linalg.norm(own, axis=1)
        unknown = beyond | (not resolved)
        for j, one in enumerate(own):
            off = np.abs(K - one).max(axis=1)
            if off.min() <= 16 * EPS * np.sqrt(len(K)) * np.abs(K).max():
                t[j], sums[j], unknown[j] = values[np.argmin(off)], 1.0, False
        if skip:  # b and a are known but for a shift between them
            unknown |= np.abs(g[:, 0] - sums) > SEEN * (1 + np.abs(sums))
        return t, unknown


Coordinates = Whitened | AtInputs
"""W^½Φ(a - â) = C x, with ``columns`` C (n, p)."""
