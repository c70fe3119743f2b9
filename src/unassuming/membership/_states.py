"""One candidate and some of its perturbations, in exact numbers: the differences Z_i - Z_0.

If N x_i = s_i and v_i = Φ x_i, then Z_i - Z_0 = ⟨W (G_i - I) r, v_i + v_0⟩. Along a line this is a
polynomial of degree two.
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
from unassuming.membership._kernel_errors import Sides
from unassuming.membership._parabola import Parabola
from unassuming.membership._systems import System
from unassuming.objectives import Moves

_MARGIN = 1
"""Not every term of second order is bounded, so twice is allowed for: 2 to this power."""
_LITERAL = 27
"""Fitted values whose terms are larger than y and r by 2 to this power are taken literally: as
rounded decimals they would have lost half of the digits of the residuals."""


@final
class State:
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

    @property
    def order(self) -> list[int]:
        """The signs of Z_i - Z_0, zero where rounding of the data could make the two equal."""
        if self.literal:
            return self.signs
        return [
            0 if sign and self.blurred(k) else sign for k, sign in enumerate(self.signs, start=1)
        ]

    @cached_property
    def gaps(self) -> Exact:
        """Z_i - Z_0."""
        return _products([(self, self)])

    def take(self, some: IntArray) -> State:
        """Return some of the perturbations."""
        changes, x, which = self.changes[:, some], self.x[:, [0, *(some + 1)]], self.which[some]
        return State(self.system, self.moves, self.a, self.r, which, self.always, changes, x)

    def finer(self, some: IntArray) -> State:
        """Return some of the perturbations with more digits."""
        assert self.system.finer is not None
        which, finer, changes = self.which[some], self.system.finer, self.changes[:, some]
        return State(finer, self.moves, self.a, self.r, which, self.always, changes)

    @property
    def sides(self) -> Sides:
        """Both sides of the comparisons in double precision."""
        step = self.x[:, 1:] - self.x[:, :1]
        return Sides(*(nearest(x.T) for x in (self.g, self.paired, self.x, step)))

    def products(self, other: State) -> Exact:
        """Return ⟨W (G_i - I) r, v_i + v_0⟩ with v of another state."""
        q = other.paired
        return (self.changes * (q[:, 1:] + q[:, :1])).columns()

    def log_blur(self, k: int) -> float:
        """The binary logarithm of what rounding of the data may change in Z_i - Z_0, roughly."""
        with np.errstate(divide="ignore"):  # nothing, or too much to be represented
            return float(np.log2(self._roughly.of(k).middle))

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


def nearest(x: Exact) -> Array:
    """Return exact numbers in double precision."""
    with np.errstate(over="ignore"):
        return np.asarray(Rough.of(x).middle, dtype=np.float64)


def _products(pairs: list[tuple[State, State]]) -> Exact:
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


def _clear(gaps: Exact, pairs: list[tuple[State, State]]) -> BoolArray:
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


def polynomials(here: State, along: State) -> Iterator[Parabola]:
    """Yield Z_i - Z_0 at a + t u, one by one."""
    pairs = [[(here, here)], [(here, along), (along, here)], [(along, along)]]
    values = [_products(some) for some in pairs]
    shift = max(x.shift for x in values)
    for j in range(len(here.which)):
        c, b, k = (int(x[j].to(shift)) for x in values)
        yield Parabola(c, b, k)
