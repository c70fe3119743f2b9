"""Ranks of quadratic objectives without rounding, for what double precision cannot decide.

With nλ = alpha and everything multiplied by n, N = ΦᵀWΦ + alpha P and s_i = ΦᵀW G_i r - alpha Pa
(docs/theory.md 4). If N x_i = s_i and v_i = Φ x_i, then Z_i = s_iᵀ x_i and

    Z_i - Z_0 = ⟨W (G_i - I) r, v_i + v_0⟩.

All numbers are those that were given, as integers over powers of two. They may be rounded decimals,
so statistics tie if rounding of the data by half a unit could make them equal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import final

import numpy as np

from unassuming._exact import Exact, Triangle
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership._parabola import Parabola
from unassuming.objectives import Moves, Quadratic, exact_kernel

_LARGEST_SYSTEM = 64
_MOST_PRODUCTS = 2**18
"""Beyond these sizes exact numbers take too long."""

_UNIT = -53
"""The rounding of a double, relative to it, is at most 2 to this power."""
_MARGIN = 1
"""Rounding is bounded to first order, so twice that is allowed for: 2 to this power."""
_LITERAL = 27
"""Fitted values whose terms are larger than y and r by 2 to this power are taken literally: as
rounded decimals they would have lost half of the digits of the residuals."""
_NEGLIGIBLE = -200
"""Smaller differences, relative to their terms, are rounding of the triangle's own digits."""


@final
class ExactGaps:
    """Signs of Z_i - Z_0, for the Hessian weighting and transformations that move and flip rows."""

    def __init__(self, system: System, moves: Moves) -> None:
        self.system, self.moves = system, moves
        # Transformations that tie with the identity for all candidates, as far as it is known.
        still = (moves.rows == np.arange(system.n)).all(axis=1)
        same = still & (moves.signs == 1).all(axis=1)
        if not system.alpha.number:  # without a penalty a common sign does not matter
            same |= still & (moves.signs == -1).all(axis=1)
        self._identical: dict[int, bool] = dict.fromkeys(np.flatnonzero(same).tolist(), True)

    @staticmethod
    def affordable(objective: Quadratic) -> bool:
        """Whether the system is small enough, and its numbers are known exactly."""
        design, n = objective.design, objective.n
        size = n if design.dual else objective.d
        if size > _LARGEST_SYSTEM or n * size * size > _MOST_PRODUCTS:
            return False
        return not design.rounding and not (design.dual and objective.lam == 0)

    @classmethod
    def build(cls, objective: Quadratic, moves: Moves) -> ExactGaps | None:
        """Return the signs, or None if the matrix of a kernel is not positive semidefinite."""
        try:
            dual = objective.design.dual
            system = KernelSystem(objective) if dual else FeatureSystem(objective)
        except ArithmeticError:
            return None
        return cls(system, moves)

    def signs(self, a: Array, which: IntArray) -> IntArray:
        """Return the signs of Z_i - Z_0 of one candidate (d,), zero for ties, for some i - 1."""
        found = np.zeros(len(which), dtype=np.intp)
        candidate = Exact.of(a)
        r = self.system.residuals(candidate)
        moved = self.moves.rows[which], self.moves.signs[which].astype(np.int64).astype(object)
        still = (r.number[moved[0]] * moved[1] == r.number).all(axis=1)  # G_i r = r
        asked = [
            j for j, i in enumerate(which.tolist()) if not (still[j] or self._identical.get(i))
        ]
        if not asked:
            return found
        state = _State(self.system, self.moves, candidate, r, which[asked])
        signs, literal = state.signs, state.literal
        for k, j in enumerate(asked, start=1):
            sign = signs[k - 1]
            if sign and not literal and state.blurred(k):
                sign = 0
            elif not sign:
                self._always(int(which[j]))
            found[j] = sign
        return found

    def ends(self, a: Array, u: Array, which: IntArray, wins: BoolArray) -> tuple[Array, Array]:
        """Return where the line a + t u lies in {Z_0 <= Z_i}, for some i - 1; empty: low > high.

        ``wins`` says which sets hold the points where Z_i = Z_0 identically.
        """
        found = np.where(wins, [[-np.inf], [np.inf]], [[np.inf], [-np.inf]])
        asked = [j for j, i in enumerate(which.tolist()) if not self._identical.get(i)]
        if asked:
            system, one, two = self.system, Exact.of(a), Exact.of(u)
            here = _State(system, self.moves, one, system.residuals(one), which[asked])
            step = system.Phi @ two
            along = _State(system, self.moves, two, Exact(-step.number, step.shift), which[asked])
            lines = list(_polynomials(here, along))
            # Steps that move coefficients by less than their rounding show nothing.
            moved = u != 0
            least = float((np.abs(a[moved]) / np.abs(u[moved])).max(initial=0.0))
            tied = self.signs(a, which[asked]) == 0  # at the origin, and then elsewhere
            where = [line.places(least) for line in lines]
            for places in {where[k] for k in np.flatnonzero(tied)}:
                some = [int(k) for k in np.flatnonzero(tied) if where[k] == places]
                tied[some] = self._tied_at(a, u, places, which[[asked[k] for k in some]])
            for k, j in enumerate(asked):
                if not tied[k]:
                    found[:, j] = lines[k].ends(wins=bool(wins[j]))
        return found[0], found[1]

    def _tied_at(self, a: Array, u: Array, places: tuple[float, ...], which: IntArray) -> BoolArray:
        """Whether rounding of the data may make Z_i and Z_0 equal at all of these t."""
        tied = np.ones(len(which), dtype=np.bool_)
        for t in places:
            if tied.any():
                tied[tied] = self.signs(a + t * u, which[tied]) == 0
        return tied if places else ~tied

    def _always(self, i: int) -> None:
        """Find out once whether Z_i = Z_0 for all candidates.

        The gap is a polynomial of degree two. If it vanishes at a point that was drawn from 2^50
        numbers in each coordinate, then it vanishes everywhere, but for a chance of 2^-49.
        """
        if i not in self._identical:
            s = self.system
            drawn = np.random.default_rng(i).integers(-(2**49), 2**49, size=s.d)
            a = Exact.of(drawn.astype(np.float64) * s.typical)
            state = _State(s, self.moves, a, s.residuals(a), np.array([i]))
            self._identical[i] = not state.signs[0]


class System(ABC):
    """The equations N x = s of one objective."""

    def __init__(self, objective: Quadratic) -> None:
        self.n, self.d = objective.n, objective.d
        self.y, self.w = Exact.of(objective.y), Exact.of(objective.w)
        self.weighted = bool((objective.w != 1).any())
        self.alpha = Exact.of(objective.lam * objective.n)
        self.Phi = self._design(objective)
        sizes = np.abs(objective.design.matrix).max(axis=0)
        largest = np.abs(objective.y).max() or 1.0
        self.typical = np.ldexp(1.0, np.frexp(largest / np.where(sizes > 0, sizes, 1.0))[1] - 49)

    def residuals(self, a: Exact) -> Exact:
        """Return y - Φ a."""
        return self.y - self.Phi @ a

    @abstractmethod
    def _design(self, objective: Quadratic) -> Exact:
        """Return Φ, (n, d)."""

    @abstractmethod
    def solve(self, g: Exact, a: Exact) -> Exact:
        """Return x with N x = ΦᵀW g - alpha Pa for vectors g (n, k), shape (d, k)."""

    @abstractmethod
    def penalised(self, x: Exact) -> Exact:
        """Return P x for x (d,)."""

    @abstractmethod
    def blur_of_design(self, one: Side, two: Side, change: Exact, a: Exact) -> Exact:
        """Bound the change of Z_1 - Z_2 by the rounding of Φ and P, in units of rounding.

        ``change`` (n,) is half the gradient of Z_1 - Z_2 with respect to the residuals.
        """


@final
class Side:
    """One of two statistics that are compared: G_i r, x_i, v_i = Φ x_i, and half the gradient."""

    def __init__(self, g: Exact, x: Exact, v: Exact, slope: Exact) -> None:
        self.g, self.x, self.v, self.slope = g, x, v, slope


class _State:
    """One candidate, and some of its perturbations."""

    def __init__(self, system: System, moves: Moves, a: Exact, r: Exact, which: IntArray) -> None:
        """Take a candidate and its residuals, or the changes of both in a step."""
        self.system, self.moves, self.a, self.r, self.which = system, moves, a, r, which
        signs = moves.signs[which].astype(np.int64).astype(object)
        images = [self.r.number, *(self.r.number[moves.rows[which]] * signs)]
        self.g = Exact(np.array(images, dtype=object).T, self.r.shift)
        self.x = system.solve(self.g, a)
        self.v = system.Phi @ self.x

    @property
    def literal(self) -> bool:
        """Whether the terms of the fitted values cancel, so that rounding them loses too much."""
        s = self.system
        terms = (abs(s.Phi) @ abs(self.a)).max()
        ends = abs(self.r).max(), abs(s.y).max()
        return not any(terms.at_most(end.times_two_to(_LITERAL)) for end in ends)

    @cached_property
    def signs(self) -> list[int]:
        """The signs of Z_i - Z_0."""
        self._gaps, sizes = self.products(self)
        clear = abs(self._gaps.number) << -_NEGLIGIBLE > sizes.number
        return [
            int(x > 0) - int(x < 0) if sure else 0
            for x, sure in zip(self._gaps.number, clear, strict=True)
        ]

    def products(self, other: _State) -> tuple[Exact, Exact]:
        """Return ⟨W (G_i - I) r, v_i + v_0⟩ with v of another state, and the sizes of the terms."""
        moved = self.system.w[:, None] * (self.g[:, 1:] - self.g[:, :1])
        v, v0 = other.v[:, 1:], other.v[:, :1]
        return (moved * (v + v0)).columns(), (abs(moved) * (abs(v) + abs(v0))).columns()

    def blurred(self, k: int) -> bool:
        """Whether rounding of the data could make Z_i and Z_0 equal."""
        s, a, one, two = self.system, self.a, self._side(k), self._side(0)
        change, step = one.slope - two.slope, one.x - two.x
        two_ = Exact(2, 0)
        moved = s.Phi.T @ change + s.alpha * s.penalised(step)
        blur = two_ * ((abs(change) * abs(s.y)).sum() + (abs(moved) * abs(a)).sum())
        blur = blur + s.blur_of_design(one, two, change, a)
        penalty = two_ * (step * s.penalised(a)).sum()
        penalty = penalty + (step * s.penalised(one.x + two.x)).sum()
        blur = blur + abs(penalty) * s.alpha
        if s.weighted:
            parts = one.v * (one.g + one.g - one.v) - two.v * (two.g + two.g - two.v)
            blur = blur + (abs(parts) * s.w).sum()
        return abs(self._gaps[k - 1]).at_most(blur.times_two_to(_UNIT + _MARGIN))

    def _side(self, k: int) -> Side:
        v = self.v[:, k]
        slope = self.system.w * v
        if k:
            i, back = self.which[k - 1], np.zeros(self.system.n, dtype=object)
            signs = self.moves.signs[i].astype(np.int64).astype(object)
            back[self.moves.rows[i]] = slope.number * signs
            slope = Exact(back, slope.shift)
        return Side(self.g[:, k], self.x[:, k], v, slope)


def _sign(x: int) -> int:
    return int(x > 0) - int(x < 0)


def _polynomials(here: _State, along: _State) -> Iterator[Parabola]:
    """Yield Z_i - Z_0 at a + t u, one by one."""
    c, size = here.products(here)
    one, one_size = here.products(along)
    two, two_size = along.products(here)
    square, square_size = along.products(along)
    values, sizes = (c, one + two, square), (size, one_size + two_size, square_size)
    for j in range(len(here.which)):
        yield Parabola.of([x[j] for x in values], [x[j] for x in sizes], _NEGLIGIBLE)


@final
class FeatureSystem(System):
    """N = ΦᵀWΦ + alpha P with P = diag(0, 1, ..., 1)."""

    def __init__(self, objective: Quadratic) -> None:
        super().__init__(objective)
        design = objective.design
        self._penalised = np.repeat([0, 1], [design.intercept, self.d - design.intercept])
        self._penalised = self._penalised.astype(object)
        self._N = Triangle(self._weighted @ self.Phi + self.alpha * self._P)

    def _design(self, objective: Quadratic) -> Exact:
        return Exact.of(objective.design.matrix)

    @cached_property
    def _weighted(self) -> Exact:
        return self.Phi.T * self.w

    @property
    def _P(self) -> Exact:
        return Exact(np.diag(self._penalised), 0)

    def solve(self, g: Exact, a: Exact) -> Exact:
        """Solve with the triangle of N."""
        return self._N.solve(self._weighted @ g - (self.alpha * self.penalised(a))[:, None])

    def penalised(self, x: Exact) -> Exact:
        """Return P x."""
        return Exact(self._penalised * x.number, x.shift)

    def blur_of_design(self, one: Side, two: Side, change: Exact, a: Exact) -> Exact:
        """Every feature may be rounded; the ones of an intercept are not."""
        # ∂Z/∂Φ_jk = 2 (x_k w_j (g - v)_j - slope_j a_k).
        parts = [(self.w * (side.g - side.v))[:, None] * side.x[None, :] for side in (one, two)]
        slope = parts[0] - parts[1] - change[:, None] * a[None, :]
        entries = abs(slope) * abs(self.Phi)
        return Exact(2, 0) * Exact(entries.number * self._penalised, entries.shift).sum()


@final
class KernelSystem(System):
    """Φ = K or [1, K], P = K or diag(0, K), without a pseudo-inverse of K.

    x = (b, z) solves (K + alpha W⁻¹) z + 1 b = G_i r - alpha W⁻¹ a; with an intercept 1ᵀz = -1ᵀa.
    """

    def __init__(self, objective: Quadratic) -> None:
        super().__init__(objective)
        diagonal = np.zeros((self.n, self.n), dtype=object)
        np.fill_diagonal(diagonal, self.w.number)
        W = Exact(diagonal, self.w.shift)
        # Both sides are multiplied by W, and z = W t.
        self._triangle = Triangle(W @ self._K @ W + self.alpha * W)
        if len(self._triangle.pivots) < self.n:
            raise ArithmeticError("the kernel matrix is not positive semidefinite")
        self._along = self._triangle.solve(self.w[:, None])[:, 0] if self._bias else None

    def _design(self, objective: Quadratic) -> Exact:
        self._bias = int(objective.design.intercept)
        self._K, errors = exact_kernel(objective.design)
        self._errors = Exact.of(errors)
        if not self._bias:
            return self._K
        ones = np.full((self.n, 1), 1 << self._K.shift, dtype=object)
        return Exact(np.concatenate([ones, self._K.number], axis=1), self._K.shift)

    def solve(self, g: Exact, a: Exact) -> Exact:
        """Solve with the triangle of WKW + alpha W."""
        own = a[self._bias :]
        t = self._triangle.solve(self.w[:, None] * g - (self.alpha * own)[:, None])
        if self._along is None:
            return self.w[:, None] * t
        rest = self.w[None, :] @ t
        ones = own.sum()
        rest = rest + Exact(np.full(rest.number.shape, ones.number, dtype=object), ones.shift)
        b = _quotient(rest, (self.w * self._along).sum())
        z = self.w[:, None] * (t - self._along[:, None] * b)
        shift = max(b.shift, z.shift)
        return Exact(np.concatenate([b.to(shift), z.to(shift)]), shift)

    def penalised(self, x: Exact) -> Exact:
        """Return P x."""
        found = self._K @ x[self._bias :]
        if not self._bias:
            return found
        return Exact(np.concatenate([np.zeros(1, dtype=object), found.number]), found.shift)

    def blur_of_design(self, one: Side, two: Side, change: Exact, a: Exact) -> Exact:
        """Inputs may be rounded, and so kernel values."""
        # dZ = alpha zᵀ dK z - 2 slopeᵀ dK a.
        own, parts = a[self._bias :], []
        for side in (one, two):
            z = side.x[self._bias :]
            parts.append(z[:, None] * z[None, :])
        across = change[:, None] * own[None, :]
        slope = self.alpha * (parts[0] - parts[1]) - across - across.T
        return (abs(slope) * self._errors).sum()


def _quotient(x: Exact, y: Exact) -> Exact:
    """Return x / y to 2048 digits more than y has."""
    more = 2048 + int(y.number).bit_length()
    return Exact((x.number << more) // y.number, x.shift - y.shift + more)
