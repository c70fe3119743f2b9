"""The errors of the estimates in cells: bias, noise, and what rounding adds to the bias.

The bias of cell b is ⟨f, h_b⟩ with h_b = Σ_j a_bj k(x_j, ·) - k(z, ·). For a part F of the cells
and weights w_b it is at most B‖Σ_F w_b h_b‖ / Σ_F w_b. Only H_bc = ⟨h_b, h_c⟩ is needed for that.
From kernel values it comes as the difference of numbers of the size of k(z, z), and rounding errors
cannot be told from a small bias. An allowance η_F pays for them (docs/theory.md 9.8). From features
h_b is a vector, and the allowance is far smaller.

The norm bound also limits L f* without any data: |L f*| <= B‖L‖ if L vanishes on the features that
are not penalised. Every interval and every prediction is cut there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._rounding import EPS, powers_of_two
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.functions._kriging import Kriging
from unassuming.cells.functions._system import Assumed, System, Wanted


@final
@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of the estimates of N functionals in K cells.

    Attributes
    ----------
    H : array of shape (N, K, K)
        ⟨h_b, h_c⟩, computed.
    noise : array of shape (N, K)
        Variances of the noise of the estimates, for noise of variance one over the sample weight.
    reach : array of shape (N, K)
        ‖a_b‖₁.
    cancelled, added : arrays of shape (N, K)
        The allowance for rounding: ‖Σ_F w_b h_b‖ is at most
        √(wᵀHw + (Σ_F w_b cancelled_b)²) + Σ_F w_b added_b.
    identified : boolean array of shape (N, K)
    norm : array of shape (N,)
        ‖L‖, rounded up; infinite if L does not vanish on the features that are not penalised.
    """

    H: Array
    noise: Array
    reach: Array
    cancelled: Array
    added: Array
    identified: BoolArray
    norm: Array

    def part(self, where: slice | IntArray) -> Errors:
        """Return the errors of some of the functionals."""
        names = ("H", "noise", "reach", "cancelled", "added", "identified", "norm")
        return Errors(*(getattr(self, name)[where] for name in names))

    def cells(self, keep: BoolArray) -> Errors:
        """Return the errors in some of the cells."""
        noise, reach, cancelled, added = (
            one[:, keep] for one in (self.noise, self.reach, self.cancelled, self.added)
        )
        H, identified = self.H[:, keep][:, :, keep], self.identified[:, keep]
        return Errors(H, noise, reach, cancelled, added, identified, self.norm)

    def weights(self, assumed: Assumed) -> Array:
        """Return w_b (N, K): the largest is 1, and 0 stands for a cell that is left out.

        They are the inverse of the mean squared errors that B, Δ and the working noise scale give.
        """
        sizes = np.array([assumed.noise_scale, assumed.norm_bound, assumed.model_error])
        sizes = sizes / powers_of_two(sizes.max())  # only their ratios matter
        spread = sizes[0] ** 2 * self.noise
        spread = spread + sizes[1] ** 2 * np.einsum("nbb->nb", self.H).clip(0.0)
        spread = spread + np.square(sizes[2] * self.reach)
        least = np.where(self.identified, spread, np.inf).min(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(spread > 0, least / spread, 1.0)
        return np.where(self.identified & np.isfinite(least), np.maximum(ratio, 1e-12), 0.0)

    def bias(self, assumed: Assumed, w: Array, signs: Array) -> Array:
        """Bound the bias of Σ_b s_b w_b u_b, for weights w (N, K) and S rows s (S, K): (N, S).

        The s are 0 and 1 for parts of the cells, or ±1. All functionals share their products.
        """
        size = np.abs(signs).T
        bound = np.zeros((len(w), len(signs)))
        if assumed.norm_bound:
            b, c = np.triu_indices(w.shape[1])
            twice = np.where(b == c, 1.0, 2.0)
            forms = w[:, b] * w[:, c] * self.H[:, b, c] * twice
            square = np.maximum(forms @ (signs[:, b] * signs[:, c]).T, 0.0)
            square = square + np.square((w * self.cancelled) @ size)
            bound = assumed.norm_bound * (np.sqrt(square) + (w * self.added) @ size)
        if assumed.model_error:
            bound = bound + assumed.model_error * ((w * self.reach) @ size)
        return np.asarray(bound)


def errors(system: System, wanted: Wanted, kriging: Kriging, a: Array, known: BoolArray) -> Errors:
    """Return the errors of the estimates with weights a (N, n).

    Parameters
    ----------
    system, wanted
        The rows and the functionals.
    kriging : Kriging
        Gives the cells.
    a, known
        What ``kriging.weights`` returned.

    Examples
    --------
    >>> system = System(np.zeros((2, 0)), np.ones(2), features=np.array([[1.0], [2.0]]))
    >>> wanted = Wanted(np.zeros((1, 0)), np.ones(1), features=np.ones((1, 1)))
    >>> kriging = Kriging(system, np.array([0, 1]), 2)
    >>> a, known = kriging.weights(wanted, mu=1.0)
    >>> errors(system, wanted, kriging, a, known).H.round(4)  # h = 1/2 - 1 and 4/5 - 1
    array([[[0.25, 0.1 ],
            [0.1 , 0.04]]])
    """
    cells, K, N, n = kriging.cells, kriging.K, len(wanted), system.n
    order, starts = np.concatenate(cells), np.cumsum([0, *map(len, cells)])
    filled = np.diff(starts) > 0

    def sums(terms: Array, first: int = 0) -> Array:
        """Return the sums over the cells from the first on, for terms in this order."""
        found, some = np.zeros((N, K - first)), filled[first:]
        if terms.size:
            begins = starts[first:-1][some] - starts[first]
            found[:, some] = np.add.reduceat(terms, begins, axis=1)
        return found

    ordered = a[:, order]
    reach = sums(np.abs(ordered))
    noise = sums(np.square(ordered / np.sqrt(system.weight[order])))
    largest = max(float(system.norms.max(initial=0.0)), 0.0)
    size = np.sqrt(np.maximum(wanted.norms, largest))[:, None] * (1 + reach)  # κ(1 + ‖a_b‖₁)
    if system.features is not None:
        assert wanted.features is not None
        h = np.stack(
            [a[:, rows] @ system.features[rows] - wanted.features for rows in cells], axis=1
        )
        H = h @ h.transpose(0, 2, 1)
        length = np.sqrt(np.einsum("nbb->nb", H))
        cancelled = np.sqrt(4 * (h.shape[2] + K + 4) * EPS) * length
        added = (n + 4) * EPS * size + wanted.off[:, None]
        return Errors(H, noise, reach, cancelled, added, known, wanted.norm)
    assert system.gram is not None
    assert wanted.at_rows is not None
    H = np.empty((N, K, K))
    wanted_at = wanted.at_rows[:, order]
    at_z = sums(ordered * wanted_at) - wanted.norms[:, None]
    for b, rows in enumerate(cells):
        # h_b at the rows and at z first: they are small already, and so are the products.
        rest = slice(starts[b], None)
        at_rows = ordered[:, starts[b] : starts[b + 1]] @ system.gram[rows][:, order[rest]]
        at_rows -= wanted_at[:, rest]
        at_rows *= ordered[:, rest]
        H[:, b, b:] = H[:, b:, b] = sums(at_rows, b) - at_z[:, b, None]
    # η_F of docs/theory.md 9.8. Squares add up, since they bound errors of H.
    doubt = np.zeros(N) if wanted.doubt is None else wanted.doubt
    cancelled = np.hypot(np.sqrt(4 * (n + 4) * EPS) * size, np.sqrt(doubt)[:, None])
    return Errors(H, noise, reach, cancelled, np.zeros_like(size), known, wanted.norm)
