"""Exact ranks, lines and supports of quadratic regions, in integers and rationals.

Everything follows from the definitions in docs/theory.md 2 and 4. Nothing is taken from the package
but what a region shows to anyone: ``region.perturbations.apply`` and ``region.tie_order``.

With nλ = alpha and everything multiplied by n,

    N = ΦᵀWΦ + alpha P,     s_i(a) = ΦᵀW G_i (y - Φa) - alpha Pa,     Z_i(a) = s_iᵀ N⁺ s_i.

s_i lies in the range of N, so on a largest set p of independent rows Z_i = s_pᵀ N_pp⁻¹ s_p. The
integers adj(N_pp) stand for N_pp⁻¹: a positive factor that all statistics share does not matter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd

import numpy as np

from adversarial.arithmetic import (
    DENOMINATOR,
    Matrix,
    Rotation,
    Transformation,
    Vector,
    adjugate,
    dot,
    independent_rows,
    integers,
    nearly_inverse,
    null_vector,
    quotient_below,
    root_of,
    shortened,
    singular,
    times,
    transposed,
)


def rotations(region) -> list[Rotation]:
    """G_1, ..., G_{m-1} of spherical noise: the matrices of doubles that the region has drawn.

    They are orthogonal up to rounding only, so that members are asked for just inside the ends.
    """
    columns = region.perturbations.apply(np.eye(region.n))  # (n, m - 1, n): G_i e_j
    found = []
    for i in range(region.m - 1):
        rows = columns[:, i, :].T.tolist()
        found.append([[int(Fraction(x) * DENOMINATOR) for x in row] for row in rows])
    return found


def transformations(region) -> list[Transformation]:
    """G_1, ..., G_{m-1} of a region, from what they do to the vector 1, ..., n."""
    images = region.perturbations.apply([float(j + 1) for j in range(region.n)])
    found = []
    for image in images.tolist():
        pairs = [(int(abs(x)) - 1, 1 if x > 0 else -1) for x in image]
        if sorted(row for row, _ in pairs) != list(range(region.n)):
            raise ValueError("not a signed permutation")
        found.append(pairs)
    return found


@dataclass(eq=False)
class ExactRegion:
    """The region of a quadratic objective, for rational data.

    Φ is (n, d), P is (d, d), ``moves`` are G_1, ..., G_{m-1} and ``order`` is π. Inside, everything
    is an integer: a name with an underscore at its end has been multiplied by its denominator.
    """

    Phi: Matrix
    y: Vector
    w: Vector
    alpha: Fraction
    P: Matrix
    moves: list[Transformation] | list[Rotation]
    order: list[int]
    dense: bool = False
    _start: tuple | None = None

    def __post_init__(self) -> None:
        self.n, self.d, self.m = len(self.y), len(self.P), len(self.order)
        still = [(j, 1) for j in range(self.n)]
        if self.dense:
            still = [[DENOMINATOR * (i == j) for j in range(self.n)] for i in range(self.n)]
            common = gcd(*(x for move in self.moves for row in move for x in row), DENOMINATOR)
            self.moves = [[[x // common for x in row] for row in move] for move in self.moves]
            still = [[x // common for x in row] for row in still]
        self.all_moves = [still, *self.moves]
        columns = transposed(self.Phi)
        B = [[x * w for x, w in zip(column, self.w, strict=True)] for column in columns]  # ΦᵀW
        penalty = [[self.alpha * x for x in row] for row in self.P]
        N = [
            [dot(b, c) + x for c, x in zip(columns, row, strict=True)]
            for b, row in zip(B, penalty, strict=True)
        ]
        self.p = independent_rows(integers(*N)[0])
        N_, scale = integers(*([N[i][j] for j in self.p] for i in self.p))
        adj, det = adjugate(N_)
        content = gcd(*(x for row in adj for x in row)) or 1
        self.A = [[x // content for x in row] for row in adj]
        self.unit = Fraction(content * scale, det)  # N_pp⁻¹ = unit · A

        (*self.Phi_, self.y_), c_r = integers(*self.Phi, self.y)
        self.B_, c_B = integers(*(B[i] for i in self.p))
        self.penalty_, c_penalty = integers(*(penalty[i] for i in self.p))
        common = gcd(c_penalty, c_B * c_r)
        self.B_ = [[c_penalty // common * x for x in row] for row in self.B_]
        self.penalty_ = [[c_B * c_r // common * x for x in row] for row in self.penalty_]

    # --- statistics and ranks ------------------------------------------------------------------

    def scores(self, a_: list[int], c: int) -> list[list[int]]:
        """s_i(a) on the rows p, for a = a_ / c, times a constant and c; c = 0 leaves y out."""
        r = [c * u - v for u, v in zip(self.y_, times(self.Phi_, a_), strict=True)]
        rest = times(self.penalty_, a_)
        found = []
        if self.dense:  # everything is multiplied by the denominator of the rotations
            rest = [self.all_moves[0][0][0] * x for x in rest]
        for move in self.all_moves:
            moved = times(move, r) if self.dense else [sign * r[row] for row, sign in move]
            found.append([dot(row, moved) - x for row, x in zip(self.B_, rest, strict=True)])
        return found

    def form(self, u, v):
        """uᵀAv with A proportional to N_pp⁻¹."""
        return dot(u, times(self.A, v))

    def statistics(self, a: Vector) -> list[int]:
        """Z_0, ..., Z_{m-1} times one positive number."""
        (a_,), c = integers(a)
        return [self.form(s, s) for s in self.scores(a_, c)]

    def gaps(self, a: Vector) -> list[int]:
        """Z_i - Z_0 for i = 1..m-1, times one positive number."""
        Z = self.statistics(a)
        return [z - Z[0] for z in Z[1:]]

    def precedes(self, gap, i: int) -> bool:
        """Whether Z_i ≺ Z_0, given Z_i - Z_0."""
        return gap < 0 or (gap == 0 and self.order[i] < self.order[0])

    def rank_of(self, gaps: Sequence) -> int:
        """1 + #{i : Z_i ≺ Z_0}."""
        return 1 + sum(self.precedes(gap, i) for i, gap in enumerate(gaps, start=1))

    def rank(self, a: Vector) -> int:
        """The rank of a candidate, from 1 to m."""
        return self.rank_of(self.gaps(a))

    def contains(self, a: Vector, q: int) -> bool:
        """Whether a candidate lies in the region of level 1 - q/m."""
        return self.rank(a) <= self.m - q

    def literal(self, a: Vector) -> bool:
        """Whether the terms of a fitted value exceed r and y by 2^27, half of the digits.

        The numbers of such a candidate mean what they are: as rounded ones they would mean nothing.
        """
        terms = max(dot(map(abs, row), map(abs, a)) for row in self.Phi)
        r = [u - v for u, v in zip(self.y, times(self.Phi, a), strict=True)]
        return terms > 2**27 * max(map(abs, [*r, *self.y]))

    # --- lines -----------------------------------------------------------------------------------

    def line(self, a: Vector, u: Vector) -> list[tuple[int, int, int]]:
        """Z_i - Z_0 at a + t u as polynomials c + b t + k t², times one positive number."""
        if self._start is None or self._start[0] != a:  # many lines have one origin
            (a_,), c_a = integers(a)
            self._start = a, c_a, [(s, times(self.A, s)) for s in self.scores(a_, c_a)]
        _, c_a, at = self._start
        (u_,), c_u = integers(u)
        Z = []
        for (s, As), v in zip(at, self.scores(u_, 0), strict=True):
            Z.append((c_u**2 * dot(s, As), 2 * c_u * c_a * dot(v, As), c_a**2 * self.form(v, v)))
        return [tuple(x - z for x, z in zip(one, Z[0], strict=True)) for one in Z[1:]]

    def statistics_of_step(self, u: Vector) -> Fraction:
        """Z_0 at the estimate + u, in the units of a line from the estimate along u."""
        (_,), c_a = integers(self.estimate)
        (u_,), _ = integers(u)
        s = self.scores(u_, 0)[0]
        return Fraction(c_a**2 * self.form(s, s))

    def rank_on(self, line: Sequence, t: Fraction) -> int:
        """The rank at t on a line."""
        u, v = t.numerator, t.denominator
        return self.rank_of([c * v * v + u * (b * v + u * k) for c, b, k in line])

    def reach(self, line: Sequence, q: int) -> Fraction | None:
        """The largest t >= 0 in the region on a line from the estimate, from below; None is ∞.

        -1 if the estimate itself is not a member. The polynomials are c + b t - A t², with c < 0
        only where the line starts at a rounded estimate.
        """
        ends = []
        for i, (c, b, k) in enumerate(line, start=1):
            counted = self.order[0] < self.order[i]
            if c == b == k == 0:
                ends.append(None if counted else Fraction(-1))
            elif c < 0:
                ends.append(Fraction(-1))
            elif k == 0 and b >= 0:
                ends.append(None)
            elif k == 0:
                ends.append(quotient_below(c, -b))
            elif c == 0 and b <= 0:
                ends.append(Fraction(0 if counted else -1))
            else:
                root, one = root_of(b * b - 4 * k * c, 1)
                # For b < 0 the root is in the denominator, so it is rounded up.
                up, down = (
                    (2 * c * one, root + 1 - b * one) if b < 0 else (root + b * one, -2 * k * one)
                )
                ends.append(quotient_below(up, down))
        ends.sort(key=lambda t: (t is not None, -(t or 0)))
        return ends[q - 1]

    # --- the sets E_i ----------------------------------------------------------------------------

    @cached_property
    def estimate(self) -> Vector:
        """The minimiser with zeros outside the rows p."""
        B = transposed([[x * w for x in row] for row, w in zip(self.Phi, self.w, strict=True)])
        b = [dot(B[i], self.y) for i in self.p]
        return self.lifted([self.unit * x for x in times(self.A, b)])

    def lifted(self, b: Sequence) -> Vector:
        """Coefficients that are b on the rows p and zero elsewhere."""
        a = [Fraction(0)] * self.d
        for i, x in zip(self.p, b, strict=True):
            a[i] = Fraction(x)
        return a

    @cached_property
    def sets(self) -> list[tuple[list[list[int]], list[int], int]]:
        """E_i = {δ : δᵀQδ + 2βᵀδ <= c} with a = estimate + δ / `spread` on the rows p: Q, β, c."""
        (a_,), c_a = integers(self.estimate)
        at = self.scores(a_, c_a)
        # Minus column j of ΦᵀWG_iΦ + alpha P, for every j in p and every i.
        T = [self.scores([int(k == j) for k in range(self.d)], 0) for j in self.p]
        found, first = [], None
        for i, s in enumerate(at):
            Ti = [[-x for x in scores[i]] for scores in T]
            ATi = [times(self.A, t) for t in Ti]
            quadratic = [[dot(u, v) for v in ATi] for u in Ti]
            first = first or quadratic
            Q = [
                [x - z for x, z in zip(u, v, strict=True)]
                for u, v in zip(first, quadratic, strict=True)
            ]
            found.append((Q, [dot(s, v) for v in ATi], self.form(s, s)))
        return found[1:]

    @cached_property
    def penalty_form(self) -> tuple[list[list[int]], int]:
        """P as integers, and their common denominator."""
        return integers(*self.P)

    def penalised(self, u: Vector, v: Vector) -> Fraction:
        """uᵀPv."""
        (u_, v_), c = integers(u, v)
        P, scale = self.penalty_form
        return Fraction(dot(u_, times(P, v_)), c * c * scale)

    @cached_property
    def _inverses(self) -> dict[int, tuple[list[list[int]], int] | None]:
        return {}

    @cached_property
    def powers(self) -> dict[tuple[Fraction, ...], Fraction]:
        """Squared power functions that were computed, by the rows of their inputs."""
        return {}

    @cached_property
    def penalty_inverse(self) -> tuple[list[list[int]], Fraction] | None:
        """P_pp⁻¹ as integers and the number that multiplies them; None if P_pp is singular."""
        P, scale = integers(*([self.P[i][j] for j in self.p] for i in self.p))
        inverse = adjugate(P)
        return None if inverse is None else (inverse[0], Fraction(scale, inverse[1]))

    @cached_property
    def spread(self) -> int:
        """The number by which the coordinates of `sets` are multiplied."""
        return integers(self.estimate)[1]

    def support(self, i: int, g_: list[int]) -> Vector:
        """The direction in which E_i goes furthest along g_, on the rows p.

        It leads from the estimate to a point very near the maximum, or never ends.
        """
        Q, beta, c = self.sets[i - 1]
        if i not in self._inverses:
            self._inverses[i] = None if singular(Q) else (nearly_inverse(Q) or adjugate(Q))
        inverse = self._inverses[i]
        if inverse is None:
            return null_vector(Q)
        adj, det = inverse
        up, centre = times(adj, g_), times(adj, beta)
        rho, size = c * det + dot(beta, centre), dot(g_, up)
        if size <= 0 or rho <= 0:  # an empty functional, or a set that is the estimate alone
            return [Fraction(x) for x in g_]
        t, one = root_of(rho, size)
        return [Fraction(shortened(t * x - one * z)) for x, z in zip(up, centre, strict=True)]


def allowed_ranks(
    exact: ExactRegion,
    rounded: ExactRegion,
    a: Vector,
    blurred: Callable[[Vector, int], bool] | None = None,
) -> tuple[int, int]:
    """The smallest and the largest rank that a candidate may have in floats.

    ``exact`` has the data as they are meant, ``rounded`` the floats of the package. Values that tie
    are meant to tie, whatever rounding did to the data. Where rounding of the data decides which
    value is smaller, or makes them tie, every answer is right; ``blurred`` says where it may.
    """
    b = [Fraction(float(x)) for x in a]
    low = high = 1
    literal = rounded.literal(b)
    for i, (gap, other) in enumerate(zip(exact.gaps(a), rounded.gaps(b), strict=True), start=1):
        before = exact.precedes(gap, i)
        same = (gap > 0) == (other > 0) and (gap < 0) == (other < 0)
        if not literal:
            same = gap == 0 or (same and not (blurred is not None and blurred(b, i)))
        low += before and same
        high += before or not same
    return low, high
