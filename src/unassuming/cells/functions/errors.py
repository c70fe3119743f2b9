"""The errors of the estimates in the cells of a function: bias, noise, rounding (11.5).

The bias of cell b is ⟨f, h_b⟩ with h_b = Σ_j a_bj k(x_j, ·) - k(z, ·). For weights w_b a part F of
the cells has a bias of at most B‖Σ_F w_b h_b‖ / Σ_F w_b, and only the products of the h_b are
needed for it. A model error adds Δ Σ_F w_b‖a_b‖₁ / Σ_F w_b. The norm bound also limits L f* without
any data, |L f*| <= B‖L‖, and every interval is cut there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.functions.kriging import Kriging, Wanted


@final
@dataclass(frozen=True)
class Assumed:
    """‖f‖ <= B (0 if every feature is free), a model error Δ, and a working noise scale σ."""

    # σ enters the choice of cells and weights only, never the level. It must not come from y.

    norm_bound: float
    model_error: float = 0.0
    noise_scale: float = 1.0

    def limit(self, norm: Array) -> Array:
        """Return what the norm bound alone allows, B‖L‖ (N,)."""
        return self.norm_bound * norm if self.norm_bound else np.full(len(norm), np.inf)


@final
@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of the estimates of N functionals in K cells."""

    # `H` (N, K, K) has the products of the h_b in the coordinates of the rows; beyond these, all
    # of them have the part `beyond` (N,). `doubt` (N, K) bounds what rounding hides of their
    # lengths, `noise` (N, K) are the variances for noise of variance one over the sample weight,
    # `reach` (N, K) is ‖a_b‖₁, `known` says which cells identify it, `norm` (N,) is ‖L‖.

    H: Array
    beyond: Array
    doubt: Array
    noise: Array
    reach: Array
    known: BoolArray
    norm: Array

    @classmethod
    def of(cls, wanted: Wanted, kriging: Kriging, a: Array, known: BoolArray) -> Errors:
        """Return the errors with weights a (N, n)."""
        system = kriging.system
        h = np.stack([a[:, rows] @ system.features[rows] for rows in kriging.cells], axis=1)
        h -= wanted.features[:, None]
        reach = np.stack([np.abs(a[:, rows]).sum(axis=1) for rows in kriging.cells], axis=1)
        square = np.square(a / np.sqrt(system.weight))
        noise = np.stack([square[:, rows].sum(axis=1) for rows in kriging.cells], axis=1)
        doubt = system.unit * (wanted.size[:, None] + system.longest * reach)
        H = h @ h.transpose(0, 2, 1)
        return cls(H, wanted.beyond, doubt, noise, reach, known, wanted.norm)

    def part(self, where: slice | IntArray, keep: BoolArray | None = None) -> Errors:
        """Return the errors of some functionals, in all cells or in those to keep (K,)."""
        cells = np.ones(self.H.shape[1], dtype=np.bool_) if keep is None else keep
        each = (self.doubt, self.noise, self.reach)
        doubt, noise, reach = (one[where][:, cells] for one in each)
        H, known = self.H[where][:, cells][:, :, cells], self.known[where][:, cells]
        return Errors(H, self.beyond[where], doubt, noise, reach, known, self.norm[where])

    def weights(self, assumed: Assumed) -> Array:
        """Return w_b (N, K): inverse mean squared errors, the largest 1; 0 where not identified."""
        bias = np.einsum("nbb->nb", self.H) + np.square(self.beyond)[:, None]
        spread = assumed.noise_scale**2 * self.noise + assumed.norm_bound**2 * bias
        spread = spread + np.square(assumed.model_error * self.reach)
        least = np.where(self.known, spread, np.inf).min(axis=1, keepdims=True)
        ratio = np.divide(least, spread, out=np.ones_like(spread), where=spread > 0)
        return np.where(self.known, np.maximum(ratio, 1e-12), 0.0)

    def bias(self, assumed: Assumed, w: Array, signs: Array) -> Array:
        """Bound the bias of Σ_b s_b w_b u_b for weights w (N, K) and S rows s (S, K): (N, S)."""
        # The s are 0 and 1 for a part of the cells, or ±1. All functionals share their products.
        size = np.abs(signs).T
        bound = np.zeros((len(w), len(signs)))
        if assumed.norm_bound:
            b, c = np.triu_indices(w.shape[1])
            forms = w[:, b] * w[:, c] * self.H[:, b, c] * np.where(b == c, 1.0, 2.0)
            square = np.maximum(forms @ (signs[:, b] * signs[:, c]).T, 0.0)
            beyond = self.beyond[:, None] * np.abs(w @ signs.T) + (w * self.doubt) @ size
            bound = assumed.norm_bound * np.sqrt(square + np.square(beyond))
        if assumed.model_error:
            bound = bound + assumed.model_error * ((w * self.reach) @ size)
        return np.asarray(bound)
