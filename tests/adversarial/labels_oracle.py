"""Regions of labels in exact rationals, from the definition in docs/theory.md 8.

Nothing is taken from the package but what a region shows to anyone: the uniform numbers in
``region.perturbations`` and ``region.tie_order``. With N = ΦᵀΦ + alpha P and the smoother
S = ΦN⁺Φᵀ the weighted gradients satisfy, for f = Φa and the fresh labels y_i of f,

    s_i = Φᵀ(y_i - f) - alpha Pa = Φᵀy_i - Na,    n (Z_i - Z_0) = y_iᵀSy_i - yᵀSy - 2(y_i - y)ᵀf,

as ΦN⁺N = Φ. So ranks depend on f alone. Coefficients that change no f are free.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from sklearn.linear_model import RidgeClassifier

import unassuming as ua
from adversarial.arithmetic import (
    Matrix,
    Vector,
    adjugate,
    dot,
    independent_rows,
    integers,
    null_space,
    rationals,
    times,
    transposed,
)
from adversarial.problems import Problem, exponential

MODELS = (
    "ridge classifier",
    "LS-SVC",
    "LS-SVC, polynomial kernel",
    "LS-SVC, gaussian kernel",
)
EPS = Fraction(1, 2**52)
EDGE = 1 + Fraction(1, 10**12)
"""Values up to here count as values within [-1, 1]."""
HALF = Fraction(1, 2**26)
"""Candidates that lose more than half of the digits of their fitted values are taken literally."""
MARGIN = 2
"""The package may allow for so many times the first order of rounding."""


class LabelProblem(Problem):
    """A problem with random labels."""

    @property
    def kernel(self) -> bool:
        return "kernel" in self.model

    @property
    def bias(self) -> bool:
        return self.intercept

    def estimator(self):
        alpha, bias = float(self.alpha), self.intercept
        gamma, coef0 = float(self.gamma), float(self.coef0)
        match self.model:
            case "ridge classifier":
                return RidgeClassifier(alpha, fit_intercept=bias)
            case "LS-SVC":
                return ua.LSSVC(1 / (2 * alpha), fit_intercept=bias)
            case "LS-SVC, polynomial kernel":
                return ua.LSSVC(
                    1 / (2 * alpha),
                    fit_intercept=bias,
                    kernel="poly",
                    degree=self.degree,
                    gamma=gamma,
                    coef0=coef0,
                )
            case "LS-SVC, gaussian kernel":
                return ua.LSSVC(1 / (2 * alpha), fit_intercept=bias, kernel="rbf", gamma=gamma)
        raise ValueError(self.model)

    def noise_class(self):
        return "labels"

    def kernel_between(self, A: Matrix, B: Matrix) -> Matrix:
        if "gaussian" not in self.model:
            return super().kernel_between(A, B)
        return [
            [
                exponential(-self.gamma * sum((a - b) ** 2 for a, b in zip(u, v, strict=True)))
                for v in B
            ]
            for u in A
        ]

    def rows(self, Z: Matrix) -> Matrix:
        """The rows of Φ at some inputs."""
        core = self.kernel_between(Z, self.X) if self.kernel else Z
        return [[*([Fraction(1)] * self.bias), *row] for row in core]

    def labels(self, region: ua.Region) -> "LabelRegion":
        """The region in exact arithmetic."""
        sizes = self._sizes() if self.kernel else [[*map(abs, row)] for row in self.X]
        return LabelRegion(
            self.rows(self.X),
            self.y,
            self.alpha,
            [rationals(u) for u in np.asarray(region.perturbations.drawn).tolist()],
            region.tie_order.tolist(),
            self.bias,
            self.kernel,
            sizes,
        )

    def _sizes(self) -> Matrix:
        """What a unit of rounding in computed kernel values is relative to."""
        if "gaussian" not in self.model:
            return self._errors_of_kernel()
        lengths = [dot(u, u) for u in self.X]
        return [
            [k * (4 + 8 * self.gamma * (u + v)) for k, v in zip(row, lengths, strict=True)]
            for row, u in zip(self.gram, lengths, strict=True)
        ]


@dataclass(eq=False)
class LabelRegion:
    """The region for rational data. ``uniforms`` are U and ``order`` is π."""

    Phi: Matrix
    y: Vector
    alpha: Fraction
    uniforms: Matrix
    order: list[int]
    bias: bool
    kernel: bool
    sizes: Matrix

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def d(self) -> int:
        return len(self.Phi[0])

    @property
    def m(self) -> int:
        return len(self.uniforms) + 1

    @cached_property
    def penalty(self) -> Matrix:
        """P."""
        first, d = int(self.bias), self.d
        return [
            [
                Fraction(0)
                if min(i, j) < first
                else (self.Phi[i - first][j] if self.kernel else Fraction(i == j))
                for j in range(d)
            ]
            for i in range(d)
        ]

    @cached_property
    def solutions(self) -> Matrix:
        """N⁺Φᵀ up to what changes no fitted value, (d, n)."""
        Phi = self.Phi
        N = [
            [dot(u, v) + self.alpha * self.penalty[i][j] for j, v in enumerate(transposed(Phi))]
            for i, u in enumerate(transposed(Phi))
        ]
        whole, c = integers(*N)
        p = independent_rows(whole)
        inverse, det = adjugate([[whole[i][j] for j in p] for i in p])
        columns = [[Phi[k][i] for i in p] for k in range(self.n)]
        solved = [[Fraction(c, det) * x for x in times(inverse, column)] for column in columns]
        found = [[Fraction(0)] * self.n for _ in range(self.d)]
        for k, column in enumerate(solved):
            for i, x in zip(p, column, strict=True):
                found[i][k] = x
        return found

    @cached_property
    def smoother(self) -> Matrix:
        """S."""
        columns = transposed(self.solutions)
        return [times(self.Phi, column) for column in columns]

    @cached_property
    def free(self) -> list[Vector]:
        """Directions that change no fitted value."""
        return null_space(integers(*self.Phi)[0])

    def fresh(self, f: Vector, i: int) -> tuple[int, ...]:
        """The labels that the candidate draws in set i."""
        return tuple(
            1 if 2 * u < 1 + x else -1 for u, x in zip(self.uniforms[i - 1], f, strict=True)
        )

    def gap(self, f: Vector, fresh: tuple[int, ...]) -> Fraction:
        """n (Z_i - Z_0)."""
        if fresh not in self.constants:
            S, c = self._smoother
            change, both = self._change(fresh)
            self.constants[fresh] = Fraction(dot(change, times(S, both)), c)
        return self.constants[fresh] - 2 * sum(
            u * x for u, x in zip(self._change(fresh)[0], f, strict=True) if u
        )

    def _change(self, fresh: tuple[int, ...]) -> tuple[list[int], list[int]]:
        """y_i - y and y_i + y."""
        pairs = list(zip(fresh, map(int, self.y), strict=True))
        return [u - v for u, v in pairs], [u + v for u, v in pairs]

    @cached_property
    def constants(self) -> dict[tuple[int, ...], Fraction]:
        """What the gaps of some labels are at f = 0."""
        return {}

    @cached_property
    def _smoother(self) -> tuple[list[list[int]], int]:
        return integers(*self.smoother)

    def possible(self, f: Vector) -> bool:
        """Whether f may have drawn the labels."""
        return all(abs(x) <= 1 and x != -y for x, y in zip(f, self.y, strict=True))

    def rank(self, f: Vector) -> int:
        """The rank of fitted values."""
        if not self.possible(f):
            return self.m
        found = 1
        for i in range(1, self.m):
            gap = self.gap(f, self.fresh(f, i))
            found += gap < 0 or (gap == 0 and self.order[i] < self.order[0])
        return found

    # --- what rounding may do --------------------------------------------------------------------

    def moved(self, a: Vector) -> Vector:
        """What fitted values of a candidate may be off by in double precision."""
        size = [abs(x) for x in a]
        first = int(self.bias)
        terms = times([[*map(abs, row)] for row in self.Phi], size)
        own = times(self.sizes, size[first:])
        return [EPS * ((2 * self.d + 6) * (u + 1) + 4 * v) for u, v in zip(terms, own, strict=True)]

    def allowed(self, a: Vector) -> tuple[int, int, bool]:
        """The least and the largest rank, and whether the candidate may count as impossible.

        Every answer is right where a label, or the order of two statistics, depends on rounding.
        """
        f, moved = times(self.Phi, a), self.moved(a)
        pairs = list(zip(f, moved, self.y, strict=True))
        if any(abs(x) > EDGE + e for x, e, _ in pairs):
            return self.m, self.m, True
        doubtful = any(
            abs(x) > 1 or abs(x) + e > EDGE or (abs(x) >= 1 - e and x * y < 0) for x, e, y in pairs
        )
        literal = max(moved) > HALF
        low = high = 1
        for i in range(1, self.m):
            u = self.uniforms[i - 1]
            near = any(abs(2 * v - 1 - x) <= e for v, (x, e, _) in zip(u, pairs, strict=True))
            fresh = self.fresh(f, i)
            gap, tie = self.gap(f, fresh), self.order[i] < self.order[0]
            before = gap < 0 or (gap == 0 and tie)
            close = (gap != 0 or literal) and any(self._change(fresh)[0])
            if near or (close and abs(gap) <= MARGIN * self.change(fresh, moved)):
                low, high = low, high + 1
            else:
                low, high = low + before, high + before
        return low, high, doubtful

    def change(self, fresh: tuple[int, ...], moved: Vector) -> Fraction:
        """What errors of fitted values may change n (Z_i - Z_0) by: labels are exact."""
        return 2 * sum(abs(u) * e for u, e in zip(self._change(fresh)[0], moved, strict=True))

    # --- members ---------------------------------------------------------------------------------

    @cached_property
    def corners(self) -> tuple[list[int], list[int], Matrix]:
        """Independent rows and columns of Φ, and the inverse of that part."""
        columns = transposed(self.Phi)
        cols = _independent(columns)
        part = [[row[j] for j in cols] for row in self.Phi]
        rows = _independent(part)
        whole, c = integers(*(part[k] for k in rows))
        inverse, det = adjugate(whole)
        return rows, cols, [[Fraction(c * x, det) for x in row] for row in inverse]

    def coefficients(self, values: Vector) -> Vector:
        """Coefficients with these fitted values at the independent rows."""
        _, cols, inverse = self.corners
        a = [Fraction(0)] * self.d
        for j, x in zip(cols, times(inverse, values), strict=True):
            a[j] = x
        return a

    def places(self, rng: np.random.Generator, count: int) -> Iterator[Vector]:
        """Coefficients whose fitted values lie in [-1, 1], many at edges and flips."""
        rows = self.corners[0]
        smooth = times(self.smoother, self.y)
        for k in range(count):
            kind = k % 5
            if kind == 0:
                values = rationals(rng.uniform(-1, 1, size=len(rows)))
            elif kind == 1:
                values = rationals(rng.choice([-1.0, 1.0, 0.0, 0.5], size=len(rows)))
            elif kind == 2:  # just beside flips
                i = int(rng.integers(self.m - 1))
                e = Fraction(int(rng.choice([-1, 0, 1])), 2**60)
                values = [2 * self.uniforms[i][j] - 1 + e for j in rows]
            elif kind == 3:
                t = Fraction(float(rng.uniform(0, 1)))
                values = [t * smooth[j] for j in rows]
            else:
                e = rationals(0.3 * rng.standard_normal(len(rows)))
                t = Fraction(float(rng.uniform(0, 1)))
                values = [t * self.y[j] + x for j, x in zip(rows, e, strict=True)]
            a = self.coefficients(values)
            largest = max(map(abs, times(self.Phi, a)))
            yield [x / largest for x in a] if largest > 1 else a

    def members(self, rng: np.random.Generator, q: int, count: int) -> list[Vector]:
        """Members of the region of level 1 - q/m, from places and from the way between them."""
        found: list[Vector] = []
        found += [a for a in self.places(rng, count) if self.rank(times(self.Phi, a)) <= self.m - q]
        for a, b in list(combinations(found, 2))[:20]:
            for t in (Fraction(3, 2), Fraction(5, 4), Fraction(-1, 2)):
                c = [x + t * (z - x) for x, z in zip(a, b, strict=True)]
                if self.rank(times(self.Phi, c)) <= self.m - q:
                    found.append(c)
        return found


def _independent(rows: Matrix) -> list[int]:
    """The numbers of a largest set of independent rows."""
    left, chosen = [], []
    for k, row in enumerate(rows):
        rest = list(row)
        for pivot, other in left:
            if rest[pivot]:
                t = rest[pivot] / other[pivot]
                rest = [x - t * z for x, z in zip(rest, other, strict=True)]
        pivot = next((j for j, x in enumerate(rest) if x), None)
        if pivot is not None:
            left.append((pivot, rest))
            chosen.append(k)
    return chosen
