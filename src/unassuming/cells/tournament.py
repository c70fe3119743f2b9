"""Certified intervals for few rows: halves from a group of signs, and permutations (11.4, 11.9).

Each of m - 1 transformations of the noise gives a span, which misses the true number if and only if
the untransformed noise beats the transformed one in a game that is symmetric between the two. At
most 2q - 1 of m players lose fewer than q games, so the hull of the numbers in q spans or more has
a coverage of at least 1 - (2q - 1)/m. Halves of the rows come from a Hadamard matrix of order m, of
which every row has a column: the estimates from those with + and with - are the ends of a span.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import qr
from scipy.special import ndtri

from unassuming._typing import Array, IntArray
from unassuming.cells.estimates import Atoms, Sample, fits, places_of, robust_estimates
from unassuming.cells.theorem import Spans, hadamard_words, outward
from unassuming.noise import powers

_SWEEPS, _CHOOSING, _RIDGE = 4, 1000, 0.02
_MOST_WORDS = 2048
_WIDER = 1.1  # than for equal halves: a measured factor
_PERMUTATIONS, _KEY = 400, 115


def certified_q(level: float, m: int) -> int:
    """Return q = floor((αm + 1)/2), the largest with (2q - 1)/m <= α = 1 - level."""
    return int(((1 - level) * m + 1) / 2 + 1e-9 * m)


def certified_level(level: float, m: int) -> float:
    """Return 1 - (2q - 1)/m, the level that is attained, or 1 if none is."""
    q = certified_q(level, m)
    return 1 - (2 * q - 1) / m if q else 1.0


def certified(
    found: Spans, level: float, tau: Array | float = 0.0, center: Array | float = 0.0
) -> tuple[Array, Array, Array]:
    """Return lower, upper and p-values of hypothetical values tau, each (N,)."""
    # The ends are the q-th smallest lo_s and the q-th largest hi_s. The estimate `center` of all
    # rows is in the hull of all spans, also where it is in none of them.
    m = found.lo.shape[1] + 1
    q = certified_q(level, m)
    lower, upper = found.interval(q)
    first, last = found.interval(1)
    first, last = np.minimum(first, center), np.maximum(last, center)
    if q == 1:
        lower, upper = first, last
    t = np.broadcast_to(tau, len(found.lo))
    below, above = (found.lo <= t[:, None]).sum(axis=1), (found.hi >= t[:, None]).sum(axis=1)
    count = np.maximum(np.minimum(below, above), (first <= t) & (t <= last))
    return lower, upper, np.minimum(1.0, (2 * count + 1) / m)


def fewest_words(level: float) -> int:
    """Return the smallest power of two m that allows the level."""
    m = 4
    while certified_q(level, m) < 1:
        m *= 2
    return m


@final
@dataclass(frozen=True, eq=False)
class Halves:
    """Halves of the rows by a group of m sign vectors: the Hadamard column of every atom (N,)."""

    columns: IntArray
    m: int

    def spans(self, sample: Sample, U: Array, *, robust: bool = False) -> Spans:
        """Return the spans of numbers U (c, r), as distances from the estimates of all rows."""
        # From least squares, or from least absolute deviations in both halves.
        v, ends = self._fits(sample.atoms, U)
        if robust:
            columns = self.columns if sample.units is None else self.columns[sample.units]
            labels = (hadamard_words(self.m)[1:, columns] > 0).astype(np.intp)
            found = [robust_estimates(sample.Q, sample.e, one, 2, U) for one in labels]
            ends = np.moveaxis(np.array(found), 0, -1)
        unknown = (v == 0).any(axis=1)
        lo = np.where(unknown, -np.inf, ends.min(axis=1))
        return outward(lo, np.where(unknown, np.inf, ends.max(axis=1)), sample.at.blur)

    def widths(self, atoms: Atoms, U: Array) -> Array:
        """Return the predicted half-widths of numbers U (c, r), for noise of size 1."""
        v, _ = self._fits(atoms, U)
        with np.errstate(divide="ignore"):
            variance = (1 / v).sum(axis=1).mean(axis=1) / 4
        return np.asarray(_WIDER * gaussian_extreme(self.m) * np.sqrt(variance))

    def _fits(self, atoms: Atoms, U: Array) -> tuple[Array, Array]:
        """Return the information and the estimates of the halves + and -, (c, 2, m - 1)."""
        found = atoms.sums(_columns(self.columns, self.m))
        plus = (1 + hadamard_words(self.m)[1:]) / 2
        G, h = np.tensordot(plus, found.G, 1), plus @ found.h
        return fits(
            np.stack([G, found.G.sum(axis=0) - G]), np.stack([h, found.h.sum(axis=0) - h]), U
        )


def gaussian_extreme(m: int) -> float:
    """Return the median of the largest of m - 1 absolute normal deviations."""
    return float(ndtri((1 + 0.5 ** (1 / (m - 1))) / 2))


def halves(atoms: Atoms, level: float, key: int = 0) -> Halves | None:
    """Return the group of halves for all numbers at a level; None with too few rows."""
    # The first column of an atom is a power of a primitive element of GF(m), in descending order of
    # leverage. Then in turn every atom takes the column with the least sum over the words of tr(P_w
    # + εI)⁻¹ + tr(I - P_w + εI)⁻¹, where P_w are the products of the rows with +.
    m, (N, k, r) = fewest_words(level), atoms.L.shape
    if m > _MOST_WORDS or m.bit_length() > N or N * k < 2 * r:
        return None
    order = atoms.order(key)
    column = np.empty(N, dtype=np.intp)
    column[order] = powers(m, N)
    H = hadamard_words(m)[1:]
    ridge, eye = _RIDGE * np.eye(r), np.eye(k)
    whole = np.tensordot(atoms.L, atoms.L, ((0, 1), (0, 1)))
    for _ in range(_SWEEPS):
        P = np.tensordot((1 + H) / 2, atoms.products(_columns(column, m)), 1)
        inverses = np.linalg.inv(np.stack([P + ridge, whole - P + ridge]))
        moved = False
        for j in order[:_CHOOSING].tolist():
            moved |= _choose_column(atoms.L[j], j, column, H, inverses, eye)
        if not moved:
            break
    return Halves(column, m)


def _columns(column: IntArray, m: int) -> IntArray:
    """Return the atoms of each of the m columns; N stands for nobody."""
    return np.minimum(places_of(np.append(column, m - 1)), len(column))


def _choose_column(
    L: Array, j: int, column: IntArray, H: Array, inverses: Array, eye: Array
) -> bool:
    """Give the atom j its best column, and update the inverses of both halves of every word."""
    plus = H[:, column[j]] > 0
    gain, size = np.zeros(len(H)), 0.0
    for inverse, own in zip(inverses, (plus, ~plus), strict=True):
        sign = np.where(own, -1.0, 1.0)  # the atom leaves its own half and enters the other
        AL = inverse @ L.T
        small = np.asarray(eye + sign[:, None, None] * (L @ AL))
        if len(L) == 1:
            change = np.square(AL).sum(axis=(1, 2)) / np.maximum(small[:, 0, 0], 1e-9)
        else:
            change = np.einsum("wkr,wrk->w", np.linalg.solve(small, AL.swapaxes(1, 2)), AL)
        gain, size = gain + sign * change, size + float(change.sum())
    total = np.where(plus, -gain, gain) @ H  # twice what each column gains, but for a constant
    total -= total[column[j]]
    total[0] = -np.inf
    best = int(total.argmax())
    if total[best] <= 1e-9 * size:
        return False
    to = H[:, best] > 0
    column[j] = best
    for inverse, before, after in ((inverses[0], plus, to), (inverses[1], ~plus, ~to)):
        for words, gained in ((before & ~after, -1.0), (after & ~before, 1.0)):
            AL = inverse[words] @ L.T
            small = np.linalg.solve(eye + gained * (L @ AL), AL.swapaxes(1, 2))
            inverse[words] -= gained * AL @ small
    return True


def permutations(blocks: IntArray) -> IntArray:
    """Return fixed pseudo-random permutations of the rows within blocks, (m - 1, n)."""
    rng = np.random.default_rng(_KEY)
    order = np.argsort(blocks, kind="stable")
    moved = np.argsort(blocks[order] + rng.random((_PERMUTATIONS - 1, len(blocks))), axis=1)
    found = np.empty_like(moved)
    found[:, order] = order[moved]
    return np.asarray(found, dtype=np.intp)


def palmrt_spans(Q: Array, e: Array, u: Array, moves: IntArray) -> Spans:
    """Return the spans of one number uᵀθ, as distances from its estimate, (1, m - 1)."""
    # For each permutation P the true number is in the span if |x̃ᵀ(e - xτ)|/‖x̃‖ does not exceed
    # the same for Px, where x̃ and its analogue are what [Z, PZ] leaves of x and of Px. The rows Q
    # (n, r) are orthonormal columns, e (n,) residuals; `moves` (m - 1, n) the permutations.
    x, Z = Q @ u, Q @ qr(u[:, None], check_finite=False)[0][:, 1:]
    lo, hi = np.full(len(moves), -np.inf), np.full(len(moves), np.inf)
    for i, order in enumerate(moves):
        both = np.column_stack([x, x[order], e])
        if Z.shape[1]:
            basis, R, _ = qr(np.hstack([Z, Z[order]]), mode="economic", pivoting=True)
            size = np.abs(np.diagonal(R))
            basis = basis[:, : int(np.count_nonzero(size > 1e-9 * size[0]))]
            both = both - basis @ (basis.T @ both)
            both = both - basis @ (basis.T @ both)
        a, moved, rest = both.T
        length, other = float(np.linalg.norm(a)), float(np.linalg.norm(moved))
        if min(length, other) > 1e-7:
            b, c = length, moved @ a / other
            s, t = a @ rest / length, moved @ rest / other
            if b - abs(c) > 1e-12 * b:  # equal: the permutation keeps x, up to a sign
                ends = (s - t) / (b - c), (s + t) / (b + c)
                lo[i], hi[i] = min(ends), max(ends)
    return outward(lo[None], hi[None])


def halves_where_narrower(
    atoms: Atoms, U: Array, level: float, widths: Array
) -> tuple[Halves | None, Array]:
    """Return halves, and their half-widths (c,) where cells, of ``widths``, may be wider."""
    N, k, r = atoms.L.shape
    kept = max(1 - 2 * (r - 1) / (N * k), 0.05)
    tried = np.flatnonzero(widths > gaussian_extreme(fewest_words(level)) / np.sqrt(kept))
    found = halves(atoms, level) if tried.size else None
    predicted = np.full(len(U), np.inf)
    if found is not None:
        predicted[tried] = found.widths(atoms, U[tried])
    return found, predicted
