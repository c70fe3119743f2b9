"""Ranks of quadratic objectives without rounding, for what double precision cannot decide.

With nλ = alpha and everything multiplied by n, N = ΦᵀWΦ + alpha P and s_i = ΦᵀW G_i r - alpha Pa
(docs/theory.md 4). If N x_i = s_i and v_i = Φ x_i, then Z_i = s_iᵀ x_i and

    Z_i - Z_0 = ⟨W (G_i - I) r, v_i + v_0⟩.

All numbers are those that were given, as integers over powers of two. They may be rounded decimals,
so statistics tie if rounding of the data by half a unit could make them equal.
"""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np

from unassuming._exact import Exact
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership._kernel_errors import KernelErrors
from unassuming.membership._limits import drowned, undecided
from unassuming.membership._states import State, nearest, polynomials
from unassuming.membership._steps import Steps
from unassuming.membership._systems import System, system_of
from unassuming.membership._tied_lines import TiedLine
from unassuming.objectives import Moves, Quadratic

_LARGEST_SYSTEM = 64
_MOST_PRODUCTS = 2**18
_MOST_OF_A_LINE = 2**20
"""Beyond these sizes exact numbers take too long: a line is asked for less often than ranks."""

_ROUNDED_UP = 1.001
"""The rounding of a bound that is computed in double precision, with a margin."""


@final
class ExactGaps:
    """Signs of Z_i - Z_0, for the Hessian weighting and transformations that move and flip rows."""

    def __init__(
        self, system: System, moves: Moves, kernel_errors: KernelErrors | None = None
    ) -> None:
        self.system, self.moves, self._kernel_errors = system, moves, kernel_errors
        self._last: tuple[bytes, State, BoolArray] | None = None
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
        system = system_of(objective)
        if system is None:
            return None
        return cls(system, moves, KernelErrors.of(objective) if objective.design.dual else None)

    def signs(self, a: Array, which: IntArray, *, certain: bool = False) -> IntArray:
        """Return the signs of Z_i - Z_0 of one candidate (d,), zero for ties, for some i - 1.

        With ``certain`` signs that errors of computed kernel values may change are refused.
        """
        found, state = self._order(Exact.of(a), which)
        if certain and state is not None and state.literal and not self._settled(state, a):
            raise undecided(a)
        return found

    def _order(self, candidate: Exact, which: IntArray) -> tuple[IntArray, State | None]:
        """Return the signs of a candidate, and what was computed for those that are not obvious."""
        found = np.zeros(len(which), dtype=np.intp)
        r = self.system.residuals(candidate)
        moved = self.moves.rows[which], self.moves.signs[which].astype(np.int64).astype(object)
        still = (r.number[moved[0]] * moved[1] == r.number).all(axis=1)  # G_i r = r
        known = np.array([bool(self._identical.get(i)) for i in which.tolist()], dtype=np.bool_)
        asked = np.flatnonzero(~(still | known))
        if not asked.size:
            return found, None
        state = State(self.system, self.moves, candidate, r, which[asked], self._always)
        found[asked] = state.order
        return found, state

    def _settled(self, state: State, a: Array) -> bool:
        """Whether errors of computed kernel values leave the signs of a candidate as they are.

        The values count as given, unless their errors reach the residuals.
        """
        errors = self._kernel_errors
        open_ = np.array([not self._identical.get(i) for i in state.which.tolist()])
        if errors is None or not open_.any():
            return True
        sides, moves = state.sides, self.moves.take(state.which)
        if not drowned(sides.g[:1], errors.of_values(a)[None]).any():
            return True
        change = _ROUNDED_UP * errors.change(a, sides, moves)
        small = ~(np.abs(nearest(state.gaps)) > change)
        return not (small & open_).any()

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
            along = State(self.system, self.moves, two, step, which[asked], self._always, known)
            lines = list(polynomials(here, along))
            some = np.flatnonzero(tied)
            tied = tied.copy()  # other lines of the bundle begin there too
            tied[some] = TiedLine(here, along).throughout(some, [lines[k] for k in some])
            for k, j in enumerate(asked):
                if not tied[k]:
                    found[:, j] = lines[k].ends(wins=bool(wins[j]))
        return found[0], found[1]

    def _at_origin(self, a: Array, which: IntArray) -> tuple[State, BoolArray]:
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

    def _origin(self, a: Array, which: IntArray) -> tuple[State, BoolArray]:
        one = Exact.of(a)
        r = self.system.residuals(one)
        state = State(self.system, self.moves, one, r, which, self._always)
        return state, self.signs(a, which) == 0

    def _always(self, which: IntArray) -> BoolArray:
        """Return for which of some i - 1 Z_i = Z_0 for all candidates.

        The gap is a polynomial of degree two. If it vanishes at a point that was drawn from 2^50
        numbers in each coordinate, then it vanishes everywhere, but for a chance of 2^-49.
        """
        new = [i for i in which.tolist() if i not in self._identical]
        if new:
            a, r = self._drawn
            state = State(self.system, self.moves, a, r, np.array(new), _never)
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
