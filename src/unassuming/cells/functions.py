"""Values of a function of bounded norm: kriging in cells, with its bias (docs/theory.md 11.5).

Functionals L of f and the rows k(x_j, ·) are vectors in common coordinates. In cell b the estimate
of L f* is a_bᵀy_b with kriging weights (K_b + μI)⁻¹k_b, which reproduce free features: a_bᵀZ_b = z.
Its bias is ⟨f, h_b⟩ with h_b = Σ_j a_bj k(x_j, ·) - k(z, ·), that of a part F of the cells at most
(B‖Σ_F w_b h_b‖ + Δ Σ_F w_b‖a_b‖₁) / Σ_F w_b. Intervals are cut at B‖L‖, which the norm allows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy.linalg import eigh, solve_triangular, svd
from scipy.linalg.lapack import dpstrf

from unassuming._numerics import CUT, EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.balanced import BalancedBand, balanced_band
from unassuming.cells.codes import hadamard_words
from unassuming.cells.theorem import Intervals, intervals


@final
@dataclass(frozen=True, eq=False)
class System:
    """The rows: free features (n, p), sample weights (n,), and representers as vectors (n, r)."""

    # `unit` bounds the rounding of a vector, as a share of the length of the largest.

    trend: Array
    weight: Array
    features: Array
    unit: float

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.weight)

    @property
    def longest(self) -> float:
        """κ, the length of the longest representer."""
        return float(np.sqrt(np.square(self.features).sum(axis=1).max(initial=0.0)))


@final
@dataclass(frozen=True, eq=False)
class Wanted:
    """N functionals: their values on the free features (N, p), and their representers."""

    # These are vectors in the coordinates of the rows (N, r), and the length of what is orthogonal
    # to all rows (N,). `size` (N,) bounds the lengths of the terms of a sum that may cancel.

    trend: Array
    features: Array
    beyond: Array
    size: Array

    def __len__(self) -> int:
        return len(self.beyond)

    @property
    def norm(self) -> Array:
        """‖L‖ (N,); infinite if free features count, which no norm bounds."""
        norm = np.hypot(np.linalg.norm(self.features, axis=1), self.beyond)
        return np.where(self.trend.any(axis=1), np.inf, norm)

    def part(self, where: slice | IntArray) -> Wanted:
        """Return some of the functionals."""
        parts = self.trend, self.features, self.beyond, self.size
        return Wanted(*(part[where] for part in parts))


@final
class Coordinates:
    """Vectors with the inner products of a kernel: a pivoted Cholesky factor of its Gram matrix."""

    def __init__(self, gram: Array) -> None:
        """Factor it; what is left of its diagonal is smaller than the rounding of a vector."""
        n, largest = len(gram), float(np.diagonal(gram).max(initial=0.0))
        self.unit = float(np.sqrt(4 * (n + 4) * EPS))  # η of docs/theory.md 11.5
        L, pivots, rank, _ = dpstrf(gram, lower=1, tol=n * EPS * largest)
        rank = rank if largest > 0 else 0
        self.features = np.empty((n, rank))
        self.features[pivots - 1] = np.tril(L)[:, :rank]
        self._pivots, self._root = pivots[:rank] - 1, np.tril(L[:rank, :rank])

    def wanted(self, trend: Array, at_rows: Array, square: Array, size: Array) -> Wanted:
        """Return functionals from inner products with the rows (N, n) and squared norms (N,)."""
        g = solve_triangular(self._root, at_rows[:, self._pivots].T, lower=True).T
        rest = np.maximum(square - np.square(g).sum(axis=1), 0.0) + 64 * EPS * np.square(size)
        return Wanted(trend, g, np.sqrt(rest), size)


@final
class Kriging:
    """Weights for any functional and any μ, in K cells given by labels (n,)."""

    def __init__(self, system: System, labels: IntArray, K: int) -> None:
        self.system, self.labels, self.K = system, labels, K
        self.cells = [np.flatnonzero(labels == b) for b in range(K)]
        self._cells = [_Cell(system, rows) for rows in self.cells]

    def weights(self, wanted: Wanted, mu: float) -> tuple[Array, BoolArray]:
        """Return the weights (N, n), and which cells identify each functional (N, K)."""
        a = np.zeros((len(wanted), self.system.n))
        known = np.zeros((len(wanted), self.K), dtype=np.bool_)
        for b, (rows, cell) in enumerate(zip(self.cells, self._cells, strict=True)):
            if rows.size:
                a[:, rows], known[:, b] = cell.weights(wanted, mu)
        return a, known

    def sums(self, a: Array, y: Array) -> Array:
        """Return the estimates a_bᵀy_b for outputs y (..., n), shape (..., N, K)."""
        return np.stack([y[..., rows] @ a[:, rows].T for rows in self.cells], axis=-1)


@final
class _Cell:
    """W^½K_bW^½ = U diag(values) Uᵀ; ``turn`` takes representers to the coordinates of U."""

    def __init__(self, system: System, rows: IntArray) -> None:
        self.root = np.sqrt(system.weight[rows])
        F = self.root[:, None] * system.features[rows]
        if F.shape[1] < len(F):
            U, s, _ = svd(F, full_matrices=False)
            values = np.square(s)
        else:
            values, U = eigh(F @ F.T) if rows.size else (np.zeros(0), np.zeros((0, 0)))
        self.values, self.U, self.turn = np.maximum(values, 0.0), U, U.T @ F
        self.trend = self.root[:, None] * system.trend[rows]

    def weights(self, wanted: Wanted, mu: float) -> tuple[Array, BoolArray]:
        """Return the weights (N, n_b), and whether they reproduce the free features (N,)."""
        a = (wanted.features @ self.turn.T / (self.values + mu)) @ self.U.T
        if not self.trend.shape[1]:
            return a * self.root, np.ones(len(a), dtype=np.bool_)
        scale = np.abs(self.trend).max(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        Z, z = self.trend / scale, wanted.trend / scale
        # S^½ with S = (K + μI)⁻¹; outside the range of U it is 1/√μ.
        rest = 0.0 if self.U.shape[1] == len(self.U) else 1 / np.sqrt(mu)
        half = 1 / np.sqrt(self.values + mu) - rest

        def halved(v: Array) -> Array:
            return np.asarray(self.U @ (half[:, None] * (self.U.T @ v)) + rest * v)

        p, d, vt = svd(halved(Z), full_matrices=False)
        keep = d > CUT * d.max(initial=0.0)
        back = halved(p[:, keep]) / d[keep]  # (n_b, r): the smallest change of the weights
        for _ in range(3):  # refined until a_bᵀZ_b = z to rounding
            a = a + ((z - a @ Z) @ vt[keep].T) @ back.T
        size = np.abs(z) + np.abs(a) @ np.abs(Z)
        missed = np.abs(z - a @ Z).max(axis=1)
        return a * self.root, missed <= 16 * (len(Z) + 4) * EPS * size.max(axis=1)


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


_BIASES = 2.0  # what the root mean square of the biases counts in σ(z): the largest matter


def biased_intervals(
    u: Array, errors: Errors, assumed: Assumed, level: float, tau: Array | float = 0.0
) -> Intervals:
    """Return the intervals of N functionals from estimates (N, K), and p-values of ``tau``."""
    # They are cut where the norm bound alone ends. Where the lower end exceeds the upper one, no
    # function within the norm bound agrees.
    w, limit = errors.weights(assumed), assumed.limit(errors.norm)

    def biases(rows: IntArray, keep: BoolArray, part: Array) -> Array:
        own = w[rows][:, keep]
        return errors.part(rows, keep).bias(assumed, own, part) / (own @ part.T)

    found = intervals(u, w, level, tau, biases=biases)
    lower, upper = np.maximum(found.lower, -limit), np.minimum(found.upper, limit)
    return replace(
        found, lower=lower, upper=upper, count=np.where(np.abs(tau) <= limit, found.count, 0)
    )


@final
@dataclass(frozen=True, eq=False)
class BandSizes:
    """What a band of N functionals is measured in, from the design alone."""

    # `scale` (N,) is σ(z), the size of the noise plus twice that of the biases; `bias` (N, K) has
    # b_s(z), that of the identity first.

    scale: Array
    bias: Array

    @classmethod
    def of(cls, errors: Errors, assumed: Assumed) -> BandSizes:
        """Collect them from the errors in K = 2^k cells."""
        K = errors.H.shape[1]
        bias = errors.bias(assumed, np.full((len(errors.H), K), 1 / K), hadamard_words(K))
        scale = assumed.noise_scale * np.sqrt(errors.noise.sum(axis=1)) / K
        scale = scale + _BIASES * np.sqrt(np.square(bias[:, 1:]).mean(axis=1))
        return cls(np.where(scale > 0, scale, 1.0), bias)


def function_band(u: Array, sizes: BandSizes, level: float) -> BalancedBand:
    """Return the simultaneous band of N functionals from estimates in K = 2^k cells (N, K)."""
    return balanced_band(u, sizes.scale, level, bias=sizes.bias)
