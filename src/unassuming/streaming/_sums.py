"""Sums over rows z = (φ, y), for all transformations at once (docs/theory.md 4.5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from scipy.linalg import cholesky, lapack, solve_triangular

from unassuming._batches import slices
from unassuming._rounding import powers_of_two
from unassuming._typing import Array, BoolArray
from unassuming.noise import ExchangeableWithin, Key, RowNoise, SignFlips, rows_of_stream
from unassuming.streaming._cells import RowCells
from unassuming.streaming._errors import (
    BLOCK,
    Errors,
    blocked,
    shift,
    sizes_between,
    unshift,
    weighted,
)

LEAF_ROWS = 1024
"""Rows that are summed at once, few enough for the products of their columns to stay in cache."""

SMALLEST_EIGENVALUE = 5e-4
"""Smallest eigenvalue of the products of columns, scaled to length one, whose sums are kept.

Errors of the products are divided by it if the columns are made orthonormal. Adding rows does not
lower it."""

_SMALLEST_SQUARE = 1e-280
"""Smaller squares have lost digits."""

_PRODUCTS = 512  # approximate number of products of columns in one matrix product
_NEAR = 1e-6  # far above the rounding errors of sums, relative to the sums of all squares


@dataclass(frozen=True, eq=False)
class Part:
    """The sums over some rows Z = QR, in one of two forms.

    Plain: ``basis`` is ZᵀZ and ``moved`` is Zᵀ(G_i - I)Z. Ill-conditioned columns are made
    orthonormal first: ``basis`` is R and ``moved`` is Qᵀ(G_i - I)Q. The rounding error then grows
    with the condition number of Z, as in memory, and not with its square. If the first column is
    an intercept, the others are shifted first; it is then the condition number of the columns minus
    their means, which are in the first row of R. ``least`` (k,) has the smallest absolute value
    other than zero in each column of Z, zero if unknown. ``cells`` (C, k, k) has the products of
    the rows of each cell, in the same form: Z_bᵀZ_b or Q_bᵀQ_b.

    ``still`` (2, m - 1, d) says which columns of Φ every G_i keeps, G_i x = x, and which it
    reverses, G_i x = -x. The rows decide it without rounding; False if unknown. ``errors`` bounds
    the rounding errors.
    """

    basis: Array
    moved: Array
    plain: bool
    least: Array
    cells: Array
    still: BoolArray
    errors: Errors


@dataclass(eq=False)
class Sums(ABC):
    """Sums the rows of a leaf, and joins sums."""

    noise: RowNoise
    key: Key
    m: int
    width: int
    intercept: bool
    cells: RowCells

    @property
    def keeps_level(self) -> bool:
        """Whether the first column is an intercept that every transformation leaves as it is.

        The sums that belong to it are then zero, exactly. Otherwise rounding would be multiplied by
        the mean of y, and permutations allow noise of any mean.
        """
        return self.intercept and isinstance(self.noise, ExchangeableWithin)

    def __call__(self, rows: Array, first: int, weight: Array | None = None) -> Part:
        """Return the sums over rows first, first + 1, ..., (count, k), with their weights."""
        if weight is not None and (weight == 1).all():
            weight = None
        Z = rows if weight is None else weighted(rows, weight)
        size = np.abs(Z)
        least = size.min(axis=0)
        if not least.all():
            least = size.min(axis=0, where=size > 0, initial=np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            gram = blocked(Z.T, Z)
        drawn = rows_of_stream(self.noise, self.key, first, len(Z), self.m)
        if _well_conditioned(gram):
            moved, cells = self.moved(Z, drawn), self.cells.grams(Z, first)
            still = self._still(Z, least, drawn, self.changes(moved), np.diagonal(gram))
            errors = Errors.of_products(*Z.shape, weighted=weight is not None)
            return Part(gram, self._levelled(moved), True, least, cells, still, errors)
        Q, R, errors = self._orthonormal(Z)
        moved, cells = self.unpack(self.moved(Q, drawn)), self.cells.grams(Q, first)
        with np.errstate(over="ignore", invalid="ignore"):
            changes, squares = ((moved @ R) * R).sum(axis=1), (R**2).sum(axis=0)
        still = self._still(Z, least, drawn, changes, squares)
        errors = errors.of_sums(len(Z))
        if weight is not None:
            errors = errors.with_roots(Z, intercept=self.intercept)
        return Part(R, self._levelled(moved), False, least, cells, still, errors)

    def _still(
        self, Z: Array, least: Array, drawn: Any, changes: Array, squares: Array
    ) -> BoolArray:
        """Return which columns of Φ the transformations keep or reverse, (2, m - 1, d).

        ``changes`` (m - 1, k) are zᵀ(G_i - I)z = -|G_i z - z|²/2 and ``squares`` (k,) are zᵀz, but
        rounded. Only the columns that they leave in doubt are compared entry by entry.
        """
        d = self.width - 1
        with np.errstate(over="ignore", invalid="ignore"):
            limits, changes = _NEAR * squares[:d], changes[:, :d]
            doubt = np.stack([changes, changes + 2 * squares[:d]])
            doubt = ~(np.abs(doubt) > limits)  # what overflows is in doubt
        empty = np.isinf(least[:d])
        doubt[:, :, empty] = False
        found = np.zeros((2, self.m - 1, d), dtype=np.bool_)
        found[:, :, empty] = True
        if self.keeps_level:
            doubt[:, :, 0], found[0, :, 0] = False, True
        for i in np.flatnonzero(doubt.any(axis=(0, 2))):
            some = np.flatnonzero(doubt[:, i].any(axis=0))
            columns = np.ascontiguousarray(Z[:, some].T)
            one = self.noise.take(drawn, slice(i, i + 1))
            moved = self.noise.apply(one, columns, None)[:, 0, :]
            found[0, i, some] = (moved == columns).all(axis=1)
            found[1, i, some] = (moved == -columns).all(axis=1)
        return found

    def join(self, one: Part, two: Part) -> Part:
        """Return the sums over the rows of both."""
        least, still = np.minimum(one.least, two.least), one.still & two.still
        if one.plain and two.plain:
            with np.errstate(over="ignore"):
                basis, moved = one.basis + two.basis, one.moved + two.moved
                cells, errors = one.cells + two.cells, one.errors.added(two.errors)
                return Part(basis, moved, True, least, cells, still, errors)
        one, two = self.turned(one), self.turned(two)
        Q, R, own = self._orthonormal(np.vstack([one.basis, two.basis]))
        upper, lower = Q[: self.width], Q[self.width :]
        moved = between(one.moved, upper)
        moved += between(two.moved, lower)
        cells = between(one.cells, upper) + between(two.cells, lower)
        terms = sizes_between(one.moved, upper) + sizes_between(two.moved, lower)
        errors = one.errors.joined(two.errors, own, terms)
        return Part(R, self._levelled(moved), False, least, cells, still, errors)

    def _levelled(self, moved: Array) -> Array:
        """Set to zero what is zero because the transformations keep the intercept."""
        if self.keeps_level:  # permutations: (m - 1, k, k)
            moved[:, 0] = moved[:, :, 0] = 0.0
        return moved

    def _orthonormal(self, Z: Array) -> tuple[Array, Array, Errors]:
        """Return Z = QR; with an intercept, from columns shifted by the values of one row."""
        if not self.intercept:
            Q, R = orthonormal(Z)
            return Q, R, Errors.of_rows(Z, Q, R)
        Z, c, lost = shift(Z)
        Q, R = orthonormal(Z)
        errors = Errors.of_rows(Z, Q, R)
        whole, more = unshift(R, c)
        return Q, whole, errors.shifted(R, lost + more)

    def turned(self, part: Part) -> Part:
        """Return the sums in the form with orthonormal columns."""
        if not part.plain:
            return part
        scaled, length = _scaled(part.basis)
        R = cholesky(scaled) * length
        moved, cells = _divided(self.unpack(part.moved), R), _divided(part.cells, R)
        return Part(
            R, moved, False, part.least, cells, part.still, part.errors.of_triangle(R / length)
        )

    def fits(self, part: Part) -> bool:
        """Whether sums from a file have the shapes of these."""
        k, size = self.width, self.m - 1
        moved = self.packed if part.plain else (size, k, k)
        parts = part.basis, part.moved, part.least, part.cells, part.still
        expected = (k, k), moved, (k,), (self.cells.number, k, k), (2, size, k - 1)
        return tuple(one.shape for one in parts) == expected

    @property
    @abstractmethod
    def packed(self) -> tuple[int, ...]:
        """The shape of what `moved` returns."""

    @abstractmethod
    def moved(self, Z: Array, drawn: Any) -> Array:
        """Return Zᵀ(G_i - I)Z in a form that can be added, for the transformations as drawn."""

    @abstractmethod
    def changes(self, moved: Array) -> Array:
        """Return zᵀ(G_i - I)z for each column z, (m - 1, k)."""

    @abstractmethod
    def unpack(self, moved: Array) -> Array:
        """Return Zᵀ(G_i - I)Z itself, (m - 1, k, k)."""


@final
class SignSums(Sums):
    """Signs: Zᵀ(G - I)Z is -2 zzᵀ, summed over the rows that change sign.

    One matrix product gives these sums for all transformations: the products z_a z_b, a <= b, times
    the indicators of the rows that change sign. If no row does, the sum is exactly zero.
    """

    _kept: tuple[Array, ...] | None = None

    @property
    def packed(self) -> tuple[int, ...]:
        """A triangle for each transformation."""
        return self.width * (self.width + 1) // 2, self.m - 1

    def moved(self, Z: Array, drawn: Any) -> Array:
        """Return sums of products over the rows that change sign, (k (k + 1) / 2, m - 1)."""
        (count, k), size = Z.shape, self.m - 1
        sums = np.zeros(self.packed)
        for some in slices(count, BLOCK):  # as in `blocked`, with the products of one block only
            flips, columns, products, part = self._space(some.stop - some.start)
            np.less(drawn[:, some], 0, out=flips[:size], casting="unsafe")
            columns[:] = Z[some].T
            start = filled = 0
            for a in range(k):
                np.multiply(columns[a], columns[a:], out=products[filled : filled + k - a])
                filled += k - a
                if filled >= _PRODUCTS or a == k - 1:
                    stop = start + filled
                    np.matmul(products[:filled], flips.T, out=part[:filled])
                    sums[start:stop] += part[:filled, :size]
                    start, filled = stop, 0
        return sums

    def changes(self, moved: Array) -> Array:
        """Return the diagonal of the triangle."""
        k = self.width
        lengths = np.arange(k, 1, -1)  # of the rows of the triangle before the last
        return np.asarray(-2.0 * moved[np.cumsum(np.append(0, lengths))].T)

    def _space(self, rows: int) -> tuple[Array, Array, Array, Array]:
        """Return working space for a block, always the same: allocating it takes time."""
        if self._kept is None:
            k, size = self.width, -(-(self.m - 1) // 4) * 4  # other sizes are slower
            most = min(_PRODUCTS + k, k * (k + 1) // 2)
            shapes = (size, BLOCK), (k, BLOCK), (most, BLOCK), (most, size)
            self._kept = tuple(map(np.zeros, shapes))
        flips, columns, products, part = self._kept
        return flips[:, :rows], columns[:, :rows], products[:, :rows], part

    def unpack(self, moved: Array) -> Array:
        """Mirror the triangle."""
        k = self.width
        rows, columns = _triangle(k)
        full = np.empty((self.m - 1, k, k))
        full[:, rows, columns] = full[:, columns, rows] = -2.0 * moved.T
        return full


@final
class MoveSums(Sums):
    """Any transformations that act within blocks: transform the rows, then multiply."""

    @property
    def packed(self) -> tuple[int, ...]:
        """A square matrix for each transformation."""
        return self.m - 1, self.width, self.width

    def moved(self, Z: Array, drawn: Any) -> Array:
        """Return Zᵀ(G_i - I)Z, (m - 1, k, k)."""
        sums = np.empty(self.packed)
        columns = np.ascontiguousarray(Z.T)
        for i in range(self.m - 1):
            one = self.noise.take(drawn, slice(i, i + 1))
            moved = self.noise.apply(one, columns, None)[:, 0, :]  # (k, count)
            moved -= columns
            sums[i] = blocked(columns, moved.T)
        return sums

    def changes(self, moved: Array) -> Array:
        """Return the diagonals."""
        return np.diagonal(moved, axis1=1, axis2=2)

    def unpack(self, moved: Array) -> Array:
        """Return the argument."""
        return moved


def sums_for(
    noise: RowNoise,
    key: Key,
    m: int,
    width: int,
    *,
    intercept: bool,
    cells: RowCells | None = None,
) -> Sums:
    """Return the fastest summation for that assumption."""
    kind = SignSums if isinstance(noise, SignFlips) else MoveSums
    return kind(noise, key, m, width, intercept, cells or RowCells(0, key, noise))


def leaf_rows(noise: RowNoise) -> int:
    """Return the number of rows in a leaf: the fewest whole blocks with 1,024 rows."""
    return -(-LEAF_ROWS // noise.block_rows) * noise.block_rows


def orthonormal(Z: Array) -> tuple[Array, Array]:
    """Return Q (count, k) and an upper triangle R (k, k) with Z = QR.

    The columns of Q are orthonormal; with fewer rows than columns the last of them are zero.
    """
    count, k = Z.shape
    q, r = np.linalg.qr(Z)
    Q, R = np.zeros((count, k)), np.zeros((k, k))
    Q[:, : q.shape[1]], R[: len(r)] = q, r
    return Q, R


def between(moved: Array, Q: Array) -> Array:
    """Return Qᵀ E_i Q for every E_i, (s, k, k) -> (s, h, h)."""
    k, h = Q.shape
    right = (moved.reshape(-1, k) @ Q).reshape(-1, k, h)
    turned = np.swapaxes(right, 1, 2).reshape(-1, k) @ Q
    return np.swapaxes(turned.reshape(-1, h, h), 1, 2)


_triangle = lru_cache(maxsize=4)(np.triu_indices)  # for every leaf with ill-conditioned columns


def _divided(products: Array, R: Array) -> Array:
    """Return R⁻ᵀ S_i R⁻¹ for every S_i, (s, k, k)."""
    k = len(R)
    for _ in range(2 if len(products) else 0):  # from Sᵢ to (Sᵢ R⁻¹)ᵀ, and again
        products = solve_triangular(R, products.reshape(-1, k).T, trans="T").T.reshape(-1, k, k)
        products = np.swapaxes(products, 1, 2)
    return np.ascontiguousarray(products)


def _scaled(gram: Array) -> tuple[Array, Array]:
    """Return the products of columns scaled to length about one, and the scales."""
    length = powers_of_two(np.sqrt(np.diagonal(gram)))
    return gram / length / length[:, None], length


def _well_conditioned(gram: Array) -> bool:
    """Whether the columns are far from dependent, so that their products suffice."""
    if not np.isfinite(gram).all() or (np.diagonal(gram) < _SMALLEST_SQUARE).any():
        return False
    scaled, _ = _scaled(gram)
    root = np.sqrt(np.diagonal(scaled))
    scaled = scaled / root / root[:, None]
    np.fill_diagonal(scaled, 1.0 - SMALLEST_EIGENVALUE)
    return not lapack.dpotrf(scaled, overwrite_a=True)[1]  # positive definite
