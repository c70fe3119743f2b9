"""Linear functionals over every set and one ball: certified bounds (docs/theory.md 4.4).

With D = I - S and the perturbed outputs y_i = f + G_i(y - f) of a candidate f,

    n (Z_i - Z_0) = yᵀD y - y_iᵀD y_i,      so that      E_i = {f : y_iᵀD y_i <= yᵀD y}

for every orthogonal G_i that commutes with the weights. In the coordinates of the ball f = F x, and
with E = G_i - I

    xᵀA x - 2bᵀx <= c,    A = (E F)ᵀD(E F),    b = (E F)ᵀD G_i y,    c = yᵀDy - (G_i y)ᵀD(G_i y).

The inequality and the ball are convex, so the least bound by `relaxed_supports` is the maximum. It
allows for its own rounding and takes the inequality as exact: what rounding may have done to D, A,
b and c loosens the inequality first. If D is known to within e, y_iᵀDy_i - yᵀDy is off by at most

    e (‖y‖² + ‖y_i‖²) <= e (3‖y‖² + 8‖Fx‖²),      ‖Fx‖² <= k Σ ‖F_j‖² x_j²,

and relative errors ρ of the columns of F add 2ρ‖y‖² + 10ρ k Σ ‖F_j‖² x_j². Rounding of the products
is of the same kind. With η = 3(e + 2ρ)/5 and as much for rounding as `Complement.absolute` has,
(4 + k)η‖y‖² and 16ηk Σ ‖F_j‖² x_j² cover all of them.

If the transformations are known to within ε, y_i = y + E(y - Fx) is off by ε(‖y‖ + ‖Fx‖), and its
length is at most ‖y‖ + 2‖Fx‖. With p = ‖y‖ and q = ‖Fx‖, y_iᵀDy_i is off by at most

    2ε(p + q)(p + 2q) + ε²(p + q)² <= (3 + √10 + 2ε) ε (p² + q²),

where 3 + √10 < 6.17 is the larger eigenvalue of [[2, 3], [3, 4]]. That is less than 8ε(p² + q²) for
every ε up to 0.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._progress import progress
from unassuming._rounding import EPS, powers_of_two
from unassuming._typing import Array, BoolArray
from unassuming.geometry._relaxed_supports import relaxed_supports
from unassuming.geometry.quadratic._moved_columns import flips_signs, inner_products
from unassuming.geometry.quadratic._rows_and_ball import Limit, too_large
from unassuming.noise import Perturbations
from unassuming.objectives import BallCoordinates, Complement

_BATCH_BYTES = 2**21
"""The size of the matrices of the sets that are intersected with the ball together."""
_LOOSE = 0.01
_OUTWARD = 1 + 64 * EPS


@final
@dataclass(frozen=True, eq=False)
class SetsAndBall:
    """The sets E_i and the ball {xᵀN x + s² <= B²}; y in units of the square roots of the weights.

    Functions in the ball may move fitted values by ``ball.lost`` B outside the coordinates x.
    """

    perturbations: Perturbations
    complement: Complement
    y: Array
    ball: BallCoordinates

    def supports(self, empty: BoolArray) -> tuple[Array, Array]:
        """Return max gᵀx + p s and max -gᵀx + p s over every set and the ball, (N, m - 1) each.

        Minus infinity for sets that have no point (m - 1,), or none in the ball.
        """
        sets, ball = self.perturbations.m - 1, self._widened
        free = np.diagonal(ball.N) == 0
        bounds = np.repeat(np.stack([self._alone, self._alone])[:, :, None], sets, axis=2)
        apart = empty.copy()
        for which, forms in progress(self._inequalities(), sets, "sets"):
            found = np.stack(relaxed_supports(*forms, ball))
            bounds[:, :, which] = np.minimum(bounds[:, :, which], found)
            apart[which] |= np.isneginf(found).any(axis=(0, 1))
        bounds = bounds[:, :-1] * self._unit
        bounds[:, ball.hidden[:-1]] = np.inf
        if self.ball.rounding:
            length = np.linalg.norm(self.ball.functionals[:, ~free], axis=1)
            bounds += (self.ball.rounding * self.ball.bound * length)[:, None]
        shift = (self.ball.functionals[:, free] @ self._shift)[:, None]
        bounds = bounds + np.stack([shift, -shift]) + 4 * EPS * np.abs(shift)
        bounds[:, :, apart] = -np.inf
        return bounds[0], bounds[1]

    @cached_property
    def _unit(self) -> float:
        """A power of two near the largest output: the unit of fitted values and functionals."""
        return float(powers_of_two(np.abs(self.y).max(initial=0.0)))

    @cached_property
    def _share_of_size(self) -> float:
        """The unit of x, near B, in that of fitted values."""
        return float(powers_of_two(np.array(self.ball.bound))) / self._unit

    @cached_property
    def _alone(self) -> Array:
        """The bounds that follow from the ball alone, (N + 1,)."""
        ball, own = self._widened, self.ball
        free = np.diagonal(ball.N) == 0
        squares = (own.functionals[:, ~free] ** 2).sum(axis=1) + own.beyond**2
        size = np.append(np.sqrt(squares) * self._share_of_size, 0.0)
        seen = (ball.functionals[:, free] != 0).any(axis=1)
        return np.where(seen, np.inf, size * ball.bound * _OUTWARD)

    def loose(self, up: Array, down: Array) -> bool:
        """Whether the ball is so large that the sets alone bound most functionals."""
        with np.errstate(invalid="ignore"):  # empty sets
            alone = self._unit * np.median(self._alone[:-1])
            return bool(np.median(up + down) < _LOOSE * 2 * alone)

    @cached_property
    def _widened(self) -> BallCoordinates:
        """The ball with the functional zero after the others, in units that suit squares.

        It shows for every set whether it meets the ball at all. The unit of x is near B.
        """
        ball, size = self.ball, float(powers_of_two(np.array(self.ball.bound)))
        coordinates = np.where(np.diagonal(ball.N) > 0, size / self._unit, 1.0)
        return replace(
            ball,
            F=ball.F * coordinates,
            functionals=np.vstack([ball.functionals * coordinates, np.zeros(ball.F.shape[1])]),
            beyond=np.append(ball.beyond * (size / self._unit), 0.0),
            hidden=np.append(ball.hidden, False),
            bound=ball.bound / size,
            lost=ball.lost * (size / self._unit),
        )

    @cached_property
    def _outputs(self) -> Array:
        """The outputs, which may be centred: the norm does not bound an intercept."""
        free = np.diagonal(self.ball.N) == 0
        return np.asarray((self.y - self.ball.F[:, free] @ self._shift) / self._unit)

    @cached_property
    def limit(self) -> Limit:
        """What c is made of, apart from the moved outputs."""
        D, y, ball = self.complement, self._outputs, self._widened
        return Limit.of(D, float(y @ D(y)), D.absolute * float(y @ y), ball.lost, ball.bound)

    def _inequalities(self) -> Iterator[tuple[slice, tuple[Array, Array, Array]]]:
        """Yield A (s, k, k), b (s, k) and c (s,) for batches of sets."""
        D, F, free = self.complement, self._widened.F, np.diagonal(self._widened.N) == 0
        if not np.isfinite(D.relative) or too_large(self.ball, self._share_of_size):
            return
        y = self._outputs
        blur, limit = D.absolute * float(y @ y), self.limit.whole
        n, k = F.shape
        # ‖F x‖² is at most that many times Σ ‖F_j‖² x_j².
        overlap = 1 if D.dense is not None else k
        known = self.perturbations.rounded
        # A, and b with half of it and of y: 2 ‖Fx‖‖y‖ is at most the sum of the squares.
        error = 0.0 if known is None else 16 * (known.error + 2 * known.relative)
        lower = (16 * D.absolute + error) * overlap * (F**2).sum(axis=0)
        place = np.arange(k)
        for which in slices(self.perturbations.m - 1, rows_that_fit(_BATCH_BYTES, k * (k + n))):
            some = self.perturbations.take(which)
            Gy = some.apply(y)
            DGy = D(Gy)
            A, b = self._products(some, F, DGy)
            A[:, place, place] -= lower
            c = limit - np.einsum("sn,sn->s", Gy, DGy) + (3 + k) * blur
            c = c + error * float(y @ y)
            for j in np.flatnonzero(free):
                # D 1 = 0: a constant that is left alone or reversed leaves D y_i as it is.
                one, moved = F[:, j], some.apply(F[:, j])
                blind = (moved == one).all(axis=-1) | (moved == -one).all(axis=-1)
                if some.rounded is not None:
                    blind = some.rounded.still[:, j]
                A[blind, j, :] = A[blind, :, j] = b[blind, j] = 0.0
            yield which, (A, b, c)

    @property
    def _shift(self) -> Array:
        """The intercept of the estimate, if there is one."""
        return np.asarray(self.ball.origin[np.diagonal(self.ball.N) == 0])

    def _products(self, some: Perturbations, F: Array, DGy: Array) -> tuple[Array, Array]:
        """Return (E F)ᵀD(E F), shape (s, k, k), and (E F)ᵀDGy, shape (s, k)."""
        D = self.complement
        if D.dense is None:
            A, seen, b = inner_products(some, F, D.q, DGy)
            return A - seen @ np.swapaxes(seen, 1, 2), b
        if not flips_signs(some.noise):
            EF = np.moveaxis(some.apply(F.T) - F.T[:, None, :], 0, 1)  # (s, k, n)
            return D(EF) @ np.swapaxes(EF, 1, 2), (EF @ DGy[:, :, None])[:, :, 0]
        minus = some.apply(np.ones(len(F))) < 0
        A = np.empty((len(minus), F.shape[1], F.shape[1]))
        for one, rows in zip(A, minus, strict=True):
            np.matmul(4 * F[rows].T @ D.dense[np.ix_(rows, rows)], F[rows], out=one)
        return A, -2 * ((minus * DGy) @ F)
