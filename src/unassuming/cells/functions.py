"""Values of a function of bounded norm: kriging in cells, with its bias (docs/theory.md 11.5).

Functionals L of f and the rows k(x_j, ·) are vectors in common coordinates. In cell b the estimate
of L f* is a_bᵀy_b with kriging weights (K_b + μI)⁻¹k_b, which reproduce free features: a_bᵀZ_b = z.
Its bias is ⟨f, h_b⟩ with h_b = Σ_j a_bj k(x_j, ·) - k(z, ·), that of a part F of the cells at most
(B‖Σ_F w_b h_b‖ + Δ Σ_F w_b‖a_b‖₁) / Σ_F w_b. Intervals are cut at B‖L‖, which the norm allows.

Before y is seen the number of cells and the smoothing μ are chosen by the mean half-width for
functions of norm B/2 and Gaussian noise of the working scale, from a fixed key (11.8, 12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

import numpy as np
from scipy.linalg import eigh, solve_triangular, svd
from scipy.linalg.lapack import dpstrf

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import CUT, EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells import theorem
from unassuming.cells.division import BALANCED, balanced_labels, width_factor
from unassuming.noise import powers


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
) -> theorem.Intervals:
    """Return the intervals of N functionals from estimates (N, K), and p-values of ``tau``."""
    # They are cut where the norm bound alone ends. Where the lower end exceeds the upper one, no
    # function within the norm bound agrees.
    w, limit = errors.weights(assumed), assumed.limit(errors.norm)

    def biases(rows: IntArray, keep: BoolArray, part: Array) -> Array:
        own = w[rows][:, keep]
        return errors.part(rows, keep).bias(assumed, own, part) / (own @ part.T)

    found = theorem.intervals(u, w, level, tau, biases=biases)
    lower, upper = np.maximum(found.lower, -limit), np.minimum(found.upper, limit)
    return replace(
        found, lower=lower, upper=upper, count=np.where(np.abs(tau) <= limit, found.count, 0)
    )


def band_sizes(errors: Errors, assumed: Assumed) -> tuple[Array, Array]:
    """Return σ(z) (N,) and the bounds b_s(z) (N, K) of biases of a band from K = 2^k cells."""
    # σ(z) is the size of the noise plus twice that of the biases; b_s of the identity is the first.
    K = errors.H.shape[1]
    bias = errors.bias(assumed, np.full((len(errors.H), K), 1 / K), theorem.hadamard_words(K))
    scale = assumed.noise_scale * np.sqrt(errors.noise.sum(axis=1)) / K
    scale = scale + _BIASES * np.sqrt(np.square(bias[:, 1:]).mean(axis=1))
    return np.where(scale > 0, scale, 1.0), bias


SMOOTHING = (1.0, 1e-1, 1e-2, 1e-3)  # candidates for μ, in units of σ²/B²
_FINER = (3.0, 1 / 3.0)  # what the best smoothing of a band is multiplied by, at last
_DRAWS, _BAND_DRAWS, _WORDS, _KEY = 24, 12, 127, 118
_LEADING = 16  # eigenvectors of the kernel matrix that are balanced over the cells
_MOST = 48  # functionals that the choice of a band looks at
_BATCH = 2**25
NUMBERS = (5, 6, 7, 8, 10, 12, 16)


def numbers_of_cells(level: float, units: int, *, simultaneous: bool = False) -> list[int]:
    """Return the numbers of cells that are compared; none if a band has too few rows or blocks."""
    if simultaneous:
        enough = [K for K in BALANCED[:-1] if theorem.largest_q(level, K)][:3]
        return [K for K in enough if units >= K]
    enough = [K for K in NUMBERS if theorem.largest_q(level, 1 << (K - 1))] or [NUMBERS[-1]]
    return [K for K in enough[:6] if units >= K] or [min(units, enough[0])]


def leading(system: System) -> Array:
    """Return an orthonormal basis of the free features and the leading eigenvectors, (n, r)."""
    root = np.sqrt(system.weight)[:, None]
    U, s, _ = svd(root * system.features, full_matrices=False)
    trend = root * system.trend
    size = np.linalg.norm(trend, axis=0)
    trend = trend / np.where(size > 0, size, 1.0)
    some = min(_LEADING, int((s > CUT * s.max(initial=0.0)).sum()))
    both, d, _ = svd(np.column_stack([trend, U[:, :some]]), full_matrices=False)
    return np.asarray(both[:, d > CUT * d.max(initial=0.0)])


def interleaved(
    system: System, K: int, *, ordered: bool = False, units: IntArray | None = None
) -> IntArray:
    """Return the cell of each row (n,): each cell has to see the whole function."""
    # Rows that are `ordered` by a single input take turns. Otherwise the second moments of the
    # leading eigenvectors are balanced, with the rows of a unit together.
    if ordered and units is None:
        return np.arange(system.n, dtype=np.intp) % K
    return balanced_labels(leading(system), K, units)


def made_up(system: System, assumed: Assumed, D: int) -> tuple[Array, Array]:
    """Return D functions of norm B/2 in the coordinates of the rows, and outputs (D, n)."""
    # They are Σ c_j k(x_j, ·) without free features; the outputs have noise of the working scale.
    # All random numbers are always the same.
    rng, noise = (np.random.default_rng([_KEY, system.n]) for _ in range(2))
    theta = assumed.norm_bound / 2 * unit_functions(system, rng, D)
    deviations = assumed.noise_scale / np.sqrt(system.weight)
    return theta, theta @ system.features.T + deviations * noise.standard_normal((D, system.n))


def unit_functions(system: System, rng: np.random.Generator, D: int) -> Array:
    """Return random functions Σ c_j k(x_j, ·) of norm 1 in the coordinates of the rows, (D, r)."""
    theta = rng.standard_normal((D, system.n)) @ system.features
    size = np.linalg.norm(theta, axis=1, keepdims=True)
    return np.asarray(theta / np.where(size > 0, size, 1.0))


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """The division, the smoothing and the predicted half-width of each of N functionals."""

    # Half-widths are infinite, or those of the norm bound alone, if too few cells identify it.

    which: IntArray
    mu: Array
    half_width: Array


def smoothings(system: System, assumed: Assumed) -> list[float]:
    """Return the candidates for μ: shares of σ²/B², above the rounding errors of the kernel."""
    if not assumed.norm_bound:
        return [1.0]  # every feature is free: plain least squares
    least = 16 * system.n * EPS * system.longest**2 * float(system.weight.max())
    ratio = (assumed.noise_scale / assumed.norm_bound) ** 2
    return sorted({max(share * ratio, least) for share in SMOOTHING})


def choose(
    system: System, wanted: Wanted, divisions: Sequence[Kriging], assumed: Assumed, level: float
) -> Choice:
    """Choose a division and a smoothing for each functional, by its predicted half-width."""
    N, mus = len(wanted), smoothings(system, assumed)
    theta, _ = made_up(system, assumed, _DRAWS)
    f, values = theta @ system.features.T, theta @ wanted.features.T
    best = Choice(np.zeros(N, dtype=np.intp), np.full(N, mus[0]), np.full(N, np.inf))
    for index, kriging in enumerate(divisions):
        (n, r), K = system.features.shape, kriging.K
        step = rows_that_fit(_BATCH, 4 * (2 * n + K * (r + K + _DRAWS)))
        for mu in mus:
            for part in slices(N, step):
                some = wanted.part(part)
                a, known = kriging.weights(some, mu)
                errors = Errors.of(some, kriging, a, known)
                shifts = kriging.sums(a, f) - values[:, part, None]  # biases (D, N, K)
                width = pointwise_half_width(errors, assumed, level, shifts)
                better = np.arange(N)[part][width < best.half_width[part]]
                best.half_width[better] = width[better - part.start]
                best.which[better], best.mu[better] = index, mu
    return replace(best, half_width=np.minimum(best.half_width, assumed.limit(wanted.norm)))


def pointwise_half_width(errors: Errors, assumed: Assumed, level: float, shifts: Array) -> Array:
    """Return the mean half-width of the interval of each functional (N,)."""
    # `shifts` (D, N, K) are biases of D <= 24 functions; each meets one draw of the noise. For
    # equal cells without a bias the mean is known, and the draws are scaled so that they give it.
    width, D, w = np.full(len(errors.H), np.inf), len(shifts), errors.weights(assumed)
    for rows, keep in theorem.alike(theorem.all_in_use(w), _WORDS):
        K, own = int(keep.sum()), w[rows][:, keep]
        flipped, q = _prediction_words(K, level)
        if q and K > 1:
            some = errors.part(rows, keep)
            u = _correction(K, level, D) * _draws(K)[:D, None] * assumed.noise_scale
            u = u * np.sqrt(some.noise) + shifts[:, rows][:, :, keep]
            parts = (flipped, 1 - flipped)
            bias = [some.bias(assumed, own, part) / (own @ part.T) for part in parts]
            width[rows] = _mean_half_width(u, own, bias, flipped, q)
    return width


def _mean_half_width(u: Array, w: Array, bias: list[Array], flipped: Array, q: int) -> Array:
    """Return the mean half-widths for estimates (D, N, K) and biases of both parts (N, S): (N,)."""
    one, two = w @ flipped.T, w @ (1 - flipped.T)
    total = np.zeros(len(w))
    for draw in u:
        a, b = (w * draw) @ flipped.T / one, (w * draw) @ (1 - flipped.T) / two
        high = np.partition(-np.maximum(a + bias[0], b + bias[1]), q - 1, axis=1)[:, q - 1]
        total -= high + np.partition(np.minimum(a - bias[0], b - bias[1]), q - 1, axis=1)[:, q - 1]
    return np.asarray(total / (2 * len(u)))


@lru_cache(maxsize=64)
def _prediction_words(K: int, level: float) -> tuple[Array, int]:
    """Return the cells that at most 127 words flip, 1 or 0, and q; 0 if the level is too high."""
    flipped, _ = theorem.parts_of(K)
    if not theorem.largest_q(level, len(flipped) + 1):
        return flipped, 0
    if len(flipped) > _WORDS:
        part = np.random.default_rng(_KEY).choice(len(flipped), _WORDS, replace=False)
        flipped = flipped[np.sort(part)]
    return flipped, max(1, theorem.largest_q(level, len(flipped) + 1))


@lru_cache(maxsize=32)
def _draws(K: int) -> Array:
    return np.random.default_rng([_KEY, K]).standard_normal((_DRAWS, K))


@lru_cache(maxsize=128)
def _correction(K: int, level: float, D: int) -> float:
    """Return the mean half-width of equal cells over that in the first D draws."""
    flipped, q = _prediction_words(K, level)
    none = [np.zeros((1, len(flipped)))] * 2
    mean = _mean_half_width(_draws(K)[:D, None], np.ones((1, K)), none, flipped, q)
    return float(width_factor(K, level) / np.sqrt(K) / mean[0])


def looked_at(N: int) -> IntArray:
    """Return which of N functionals the choice of a band looks at."""
    return np.unique(np.linspace(0, N - 1, _MOST).astype(np.intp))


def choose_band(
    system: System, wanted: Wanted, divisions: Sequence[Kriging], assumed: Assumed, level: float
) -> Choice:
    """Choose one division and smoothing for all functionals, by their median half-width."""
    # Half-widths are those of the functionals that were looked at.
    some, mus = wanted.part(looked_at(len(wanted))), smoothings(system, assumed)
    N, (_, y) = len(some), made_up(system, assumed, _BAND_DRAWS)

    def at(index: int, mu: float) -> tuple[float, int, float, Array]:
        a, known = divisions[index].weights(some, mu)
        width = np.full(N, np.inf)
        if theorem.largest_q(level, divisions[index].K) and known.all():
            scale, bias = band_sizes(Errors.of(some, divisions[index], a, known), assumed)
            sums = divisions[index].sums(a, y)
            bands = [theorem.balanced_band(u, scale, level, bias=bias) for u in sums]
            width = np.mean([band.half_width for band in bands], axis=0)
        return float(np.median(width)), index, mu, width

    found = [at(index, mu) for index in range(len(divisions)) for mu in mus]
    best = min(found, key=lambda one: one[0])
    if len(mus) > 1 and np.isfinite(best[0]):
        for factor in _FINER:
            found.append(at(best[1], max(best[2] * factor, mus[0])))
            best = min(found, key=lambda one: one[0])
    _, index, mu, width = best
    if np.isfinite(width).all():
        width = np.minimum(width, assumed.limit(some.norm))
    return Choice(np.full(N, index, dtype=np.intp), np.full(N, mu), width)


_ORDER = 128
_THETA = np.append(0.0, np.geomspace(1e-3, 1e6, 46))


def joint_of_kernel(
    system: System,
    wanted: Wanted,
    assumed: Assumed,
    alpha: float,
    level: float,
    units: IntArray | None = None,
) -> Array:
    """Return the predicted half-widths of the band at N inputs (N,), without free features."""
    # `alpha` is the penalty of kernel ridge regression; the rows of a unit (n,) change their
    # signs together.
    n, root = system.n, np.sqrt(system.weight)
    F = root[:, None] * system.features
    k = wanted.features @ F.T
    values, u = eigh(F @ F.T)
    floor = 1e-12 * float(values[-1])
    smoother = np.maximum(values, 0.0) + max(alpha, floor)
    D = (u * (alpha / smoother)) @ u.T
    square = np.square(wanted.norm)
    every, runs = (1, 6) if n <= 100 else (2, 6) if n <= 400 else (4, 3)
    y = root * made_up(system, assumed, runs)[1]
    fitted = y @ (u / smoother) @ (k @ u).T
    numbers = np.arange(n) if units is None else units
    words = theorem.hadamard_words(_ORDER)[
        1::every, powers(_ORDER, int(numbers.max()) + 1)[numbers]
    ]
    ends = np.empty((len(words), runs, 2, len(wanted)))
    for i, word in enumerate(words):
        J = np.flatnonzero(word < 0)
        own, v = eigh(F[J] @ F[J].T)
        size = np.sqrt(np.maximum(own, floor))
        L, g, D_J = v * size, k[:, J] @ v / size, D[np.ix_(J, J)]
        omega, w = eigh(L.T @ D_J @ L)
        beyond = np.maximum(square - np.square(g).sum(axis=1), 0.0)
        for run, one in enumerate(y):
            rest = D[J] @ one
            beta = w.T @ (L.T @ (D_J @ one[J] - rest / 2))
            gamma = float(one[J] @ (D_J @ one[J] - rest))
            found = _supports(omega, beta, gamma, assumed.norm_bound, g @ w, beyond)
            ends[i, run] = found + np.stack([-fitted[run], fitted[run]])
    q = max(1, int((1 - level) * (len(words) + 1) + 1e-9))
    return np.asarray(np.maximum(np.sort(ends, axis=0)[-q].mean(axis=(0, 1)), 0.0))


def _supports(
    omega: Array, beta: Array, gamma: float, bound: float, g: Array, beyond: Array
) -> Array:
    """Return the largest values of ∓f at N inputs in one set and the ball, (2, N)."""
    theta = _THETA[:, None] / (float(omega.max(initial=0.0)) or 1.0)
    W = 1 / (1 + theta * np.maximum(omega, 0.0))
    linear = theta * (W * beta) @ g.T
    inside = bound**2 - theta[:, 0] * gamma + theta[:, 0] ** 2 * (W @ np.square(beta))
    root = np.sqrt(np.maximum(inside, 0.0)[:, None] * (W @ np.square(g).T + beyond))
    return np.asarray(np.stack([root - linear, root + linear]).min(axis=1))
