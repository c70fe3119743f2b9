"""Ranks of quadratic objectives without rounding, for what double precision cannot decide.

With nλ = alpha and everything multiplied by n, N = ΦᵀWΦ + alpha P and s_i = ΦᵀW G_i r - alpha Pa
(docs/theory.md 4). If N x_i = s_i and v_i = Φ x_i, then Z_i = s_iᵀ x_i and

    Z_i - Z_0 = ⟨W (G_i - I) r, v_i + v_0⟩.

All numbers are those that were given, as integers over powers of two. They may be rounded decimals,
so statistics tie if rounding of the data by half a unit could make them equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, reduce
from operator import add
from typing import final

import numpy as np

from unassuming._exact import Exact
from unassuming._rough import Rough
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership._blur import UNIT, Blur, N
from unassuming.membership._kernel_errors import KernelErrors, Sides
from unassuming.membership._limits import drowned, undecided
from unassuming.membership._parabola import Parabola
from unassuming.membership._steps import Steps
from unassuming.membership._systems import FeatureSystem, KernelSystem, System
from unassuming.objectives import Moves, Quadratic

_LARGEST_SYSTEM = 64
_MOST_PRODUCTS = 2**18
_MOST_OF_A_LINE = 2**20
"""Beyond these sizes exact numbers take too long: a line is asked for less often than ranks."""

_MARGIN = 1
"""Not every term of second order is bounded, so twice is allowed for: 2 to this power."""
_ROUNDED_UP = 1.001
"""The rounding of a bound that is computed in double precision, with a margin."""
_LITERAL = 27
"""Fitted values whose terms are larger than y and r by 2 to this power are taken literally: as
rounded decimals they would have lost half of the digits of the residuals."""


@final
class ExactGaps:
    """Signs of Z_i - Z_0, for the Hessian weighting and transformations that move and flip rows."""

    def __init__(
        self, system: System, moves: Moves, kernel_errors: KernelErrors | None = None
    ) -> None:
        self.system, self.moves, self._kernel_errors = system, moves, kernel_errors
        self._last: tuple[bytes, _State, BoolArray] | None = None
        self._steps = Steps(system, moves)
        # Transformations that tie with the identity for all candidates, as far as it is known.
        still = (moves.rows == np.arange(system.n)).all(axis=1)
        same = still & (moves.signs == 1).all(axis=1)
        if not system.alpha.number:  # without a penalty a common sign does not matter
            same |= still & (moves.signs == -1).all(axis=1)
        self._identical: dict[int, bool] = dict.fromkeys(np.flatnonzero(same).tolist(), True)

    @staticmethod
    def affordable(objective: Quadratic, sets: int | None = None) -> bool:
        """Whether the system is small enough, and its numbers are known exactly.

        Given a number of ``sets``, whether it is small enough for the ends of these on one line.
        """
        design, n = objective.design, objective.n
        size = n if design.dual else objective.d
        products = n * size * max(size, sets or 0)
        most = _MOST_PRODUCTS if sets is None else _MOST_OF_A_LINE
        if size > _LARGEST_SYSTEM or products > most:
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
        return cls(system, moves, KernelErrors.of(objective) if dual else None)

    def signs(self, a: Array, which: IntArray, *, certain: bool = False) -> IntArray:
        """Return the signs of Z_i - Z_0 of one candidate (d,), zero for ties, for some i - 1.

        With ``certain`` signs that errors of computed kernel values may change are refused.
        """
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
        state = _State(self.system, self.moves, candidate, r, which[asked], self._always)
        signs, literal = state.signs, state.literal
        for k, j in enumerate(asked, start=1):
            sign = signs[k - 1]
            found[j] = 0 if sign and not literal and state.blurred(k) else sign
        if certain and literal and not self._settled(state, a):
            raise undecided(a)
        return found

    def _settled(self, state: _State, a: Array) -> bool:
        """Whether errors of computed kernel values leave the signs of a candidate as they are.

        Where the kernel is known without rounding, its computed values have to give the same signs.
        Else they count as given, unless their errors reach the residuals.
        """
        errors = self._kernel_errors
        open_ = np.array([not self._identical.get(i) for i in state.which.tolist()])
        if errors is None or not open_.any():
            return True
        if errors.bounded:
            sides, moves = state.sides, self.moves.take(state.which)
            if not drowned(sides.g[:1], errors.of_values(a)[None]).any():
                return True
            change = _ROUNDED_UP * errors.change(a, sides, moves)
            small = ~(np.abs(_nearest(state.gaps)) > change)
            return not (small & open_).any()
        computed = errors.computed
        if computed is None:
            return True
        r = computed.residuals(state.a)
        other = _State(computed, self.moves, state.a, r, state.which, self._always)
        return bool((np.equal(other.signs, state.signs) | ~open_).all())

    def ends(self, a: Array, u: Array, which: IntArray, wins: BoolArray) -> tuple[Array, Array]:
        """Return where the line a + t u lies in {Z_0 <= Z_i}, for some i - 1; empty: low > high.

        ``wins`` says which sets hold the points where Z_i = Z_0 identically.
        """
        found = np.where(wins, [[-np.inf], [np.inf]], [[np.inf], [-np.inf]])
        asked = [j for j, i in enumerate(which.tolist()) if not self._identical.get(i)]
        if asked:
            two = Exact.of(u)
            here, tied = self._at_origin(a, which[asked])
            step = self.system.Phi @ two
            step = Exact(-step.number, step.shift)
            known = self._steps.changes(two, which[asked])
            along = _State(self.system, self.moves, two, step, which[asked], self._always, known)
            lines = list(_polynomials(here, along))
            # Steps that move coefficients by less than their rounding show nothing.
            moved = u != 0
            least = float((np.abs(a[moved]) / np.abs(u[moved])).max(initial=0.0))
            tied = tied.copy()  # at the origin, and then elsewhere
            where = {int(k): lines[k].places(least) for k in np.flatnonzero(tied)}
            for places in set(where.values()):
                some = [k for k in where if where[k] == places]
                tied[some] = self._tied_at(a, u, places, which[[asked[k] for k in some]])
            for k, j in enumerate(asked):
                if not tied[k]:
                    found[:, j] = lines[k].ends(wins=bool(wins[j]))
        return found[0], found[1]

    def _at_origin(self, a: Array, which: IntArray) -> tuple[_State, BoolArray]:
        """Return the candidate where lines begin, and its ties, once for all lines of a bundle.

        If another line asks for other sets, all of them are computed.
        """
        key = a.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, *self._origin(a, which)
        _, state, tied = self._last
        if not np.isin(which, state.which).all():
            _, state, tied = self._last = key, *self._origin(a, np.arange(len(self.moves.rows)))
        some = np.searchsorted(state.which, which)
        return state.take(some), tied[some]

    def _origin(self, a: Array, which: IntArray) -> tuple[_State, BoolArray]:
        one = Exact.of(a)
        r = self.system.residuals(one)
        state = _State(self.system, self.moves, one, r, which, self._always)
        return state, self.signs(a, which) == 0

    def _tied_at(self, a: Array, u: Array, places: tuple[float, ...], which: IntArray) -> BoolArray:
        """Whether rounding of the data may make Z_i and Z_0 equal at all of these t."""
        tied = np.ones(len(which), dtype=np.bool_)
        for t in places:
            if tied.any():
                tied[tied] = self.signs(a + t * u, which[tied]) == 0
        return tied if places else ~tied

    def _always(self, which: IntArray) -> BoolArray:
        """Return for which of some i - 1 Z_i = Z_0 for all candidates.

        The gap is a polynomial of degree two. If it vanishes at a point that was drawn from 2^50
        numbers in each coordinate, then it vanishes everywhere, but for a chance of 2^-49.
        """
        new = [i for i in which.tolist() if i not in self._identical]
        if new:
            a, r = self._drawn
            state = _State(self.system, self.moves, a, r, np.array(new), _never)
            self._identical |= {i: not sign for i, sign in zip(new, state.signs, strict=True)}
        return np.array([self._identical[i] for i in which.tolist()], dtype=np.bool_)

    @cached_property
    def _drawn(self) -> tuple[Exact, Exact]:
        """A candidate drawn at random, and its residuals."""
        drawn = np.random.default_rng(0).integers(-(2**49), 2**49, size=self.system.d)
        a = Exact.of(drawn.astype(np.float64) * self.system.typical)
        return a, self.system.residuals(a)


def _never(which: IntArray) -> BoolArray:
    """Take none of some gaps to vanish everywhere."""
    return np.zeros(len(which), dtype=np.bool_)


class _State:
    """One candidate, and some of its perturbations."""

    def __init__(
        self,
        system: System,
        moves: Moves,
        a: Exact,
        r: Exact,
        which: IntArray,
        always: Callable[[IntArray], BoolArray],
        changes: Exact | None = None,
        x: Exact | None = None,
    ) -> None:
        """Take a candidate and its residuals, or the changes of both in a step.

        ``always`` says for which i Z_i = Z_0 for all candidates. It is asked where digits do not.
        ``changes`` are what differs between the sides of N x_i = s_i and N x_0 = s_0, if they are
        known: they do not depend on the digits of N. So are the solutions ``x``.
        """
        self.system, self.moves, self.a, self.r, self.which = system, moves, a, r, which
        self.always = always
        self.changes = system.changes(self.g[:, 1:] - self.g[:, :1]) if changes is None else changes
        self.x = system.solve(r, self.changes, a) if x is None else x

    @cached_property
    def g(self) -> Exact:
        """The residuals and their perturbations, (n, 1 + k)."""
        signs = self.moves.signs[self.which].astype(np.int64).astype(object)
        images = [self.r.number, *(self.r.number[self.moves.rows[self.which]] * signs)]
        return Exact(np.array(images, dtype=object).T, self.r.shift)

    @cached_property
    def paired(self) -> Exact:
        """What the changes are multiplied by."""
        return self.system.paired(self.x)

    @cached_property
    def sizes(self) -> Exact:
        """What the errors of ``paired`` are relative to."""
        return self.system.sizes(self.x)

    @cached_property
    def rough(self) -> tuple[Rough, Rough]:
        """The sizes of the changes and of what they are multiplied by, in rough numbers."""
        return abs(Rough.of(self.changes)), Rough.of(self.sizes)

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
        return [int(x > 0) - int(x < 0) for x in self.gaps.number]

    @cached_property
    def gaps(self) -> Exact:
        """Z_i - Z_0."""
        return _products([(self, self)])

    def take(self, some: IntArray) -> _State:
        """Return some of the perturbations."""
        changes, x, which = self.changes[:, some], self.x[:, [0, *(some + 1)]], self.which[some]
        return _State(self.system, self.moves, self.a, self.r, which, self.always, changes, x)

    def finer(self, some: IntArray) -> _State:
        """Return some of the perturbations with more digits."""
        assert self.system.finer is not None
        which, finer, changes = self.which[some], self.system.finer, self.changes[:, some]
        return _State(finer, self.moves, self.a, self.r, which, self.always, changes)

    @property
    def sides(self) -> Sides:
        """Both sides of the comparisons in double precision."""
        step = self.x[:, 1:] - self.x[:, :1]
        return Sides(*(_nearest(x.T) for x in (self.g, self.paired, self.x, step)))

    def products(self, other: _State) -> Exact:
        """Return ⟨W (G_i - I) r, v_i + v_0⟩ with v of another state."""
        q = other.paired
        return (self.changes * (q[:, 1:] + q[:, :1])).columns()

    def blurred(self, k: int) -> bool:
        """Whether rounding of the data could make Z_i and Z_0 equal."""
        gap = abs(self.gaps[k - 1])
        rough = self._roughly.of(k).times_two_to(UNIT + _MARGIN)
        certain = Rough.of(gap).at_most(rough)
        if certain is not None:
            return certain
        return gap.at_most(self._precisely.of(k).times_two_to(UNIT + _MARGIN))

    @cached_property
    def _roughly(self) -> Blur[Rough]:
        rounding, moves = self.system.rounding(self.system.rough), self.moves.take(self.which)
        return Blur(rounding, Rough.of, self.a, self.g, self.x, moves)

    @cached_property
    def _precisely(self) -> Blur[Exact]:
        rounding, moves = self.system.rounding(self.system.given), self.moves.take(self.which)
        return Blur(rounding, lambda x: x, self.a, self.g, self.x, moves)


def _nearest(x: Exact) -> Array:
    """Return exact numbers in double precision."""
    with np.errstate(over="ignore"):
        return np.asarray(Rough.of(x).middle, dtype=np.float64)


def _products(pairs: list[tuple[_State, _State]]) -> Exact:
    """Return sums of products of states, zero where no digits show a difference."""
    found = reduce(add, [here.products(there) for here, there in pairs])
    first = pairs[0][0]
    # Without changes a product is zero, whatever the digits.
    changed = np.logical_or.reduce([(here.changes.number != 0).any(axis=0) for here, _ in pairs])
    unclear = np.flatnonzero(~_clear(found, pairs) & changed)
    if not unclear.size:
        return found
    found.number[unclear] = 0
    open_ = unclear[~first.always(first.which[unclear])]
    if not open_.size or first.system.finer is None:
        return found
    finer = {state: state.finer(open_) for pair in pairs for state in pair}
    rest = _products([(finer[here], finer[there]) for here, there in pairs])
    shift = max(found.shift, rest.shift)
    numbers = found.to(shift)
    numbers[open_] = rest.to(shift)
    return Exact(numbers, shift)


def _clear(gaps: Exact, pairs: list[tuple[_State, _State]]) -> BoolArray:
    """Which sums of products of states are more than rounding of the triangle's own digits."""
    cut = pairs[0][0].system.negligible
    sizes = reduce(add, [_sizes(here.rough[0], there.rough[1]) for here, there in pairs])
    found = Rough.of(abs(gaps)).certainly_above(sizes.times_two_to(cut))
    for k in np.flatnonzero((gaps.number != 0) & ~found).tolist():
        gap = abs(gaps[k])
        small = Rough.of(gap).at_most(sizes[k].times_two_to(cut))
        if small is None:
            one, both = slice(k, k + 1), [0, k + 1]
            exact = [_sizes(abs(x.changes[:, one]), z.sizes[:, both]) for x, z in pairs]
            small = gap.at_most(reduce(add, exact).sum().times_two_to(cut))
        found[k] = not small
    return found


def _sizes(changes: N, sizes: N) -> N:
    """Return what the errors of Z_i - Z_0 = p_iᵀ(q_i + q_0) are relative to."""
    return (changes * (sizes[:, 1:] + sizes[:, :1])).columns()


def _polynomials(here: _State, along: _State) -> Iterator[Parabola]:
    """Yield Z_i - Z_0 at a + t u, one by one."""
    pairs = [[(here, here)], [(here, along), (along, here)], [(along, along)]]
    values = [_products(some) for some in pairs]
    shift = max(x.shift for x in values)
    for j in range(len(here.which)):
        c, b, k = (int(x[j].to(shift)) for x in values)
        yield Parabola(c, b, k)
