"""The sets of least squares and ridge regression in rational arithmetic, from the rows: an oracle.

With N = ΦᵀΦ + αP, B = ΦᵀG_iΦ + αP, s = Φᵀy and u = ΦᵀG_i y the set E_i is {aᵀAa - 2bᵀa <= c},

    A = N - BᵀN⁻¹B,      b = s - BᵀN⁻¹u,      c = uᵀN⁻¹u - sᵀN⁻¹s.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import chain
from math import lcm
from operator import mul

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge

INFINITE = Decimal("Infinity")
MODELS = {
    "least squares": LinearRegression(),
    "no intercept": LinearRegression(fit_intercept=False),
    "ridge": Ridge(3.0),
}
_DIGITS = 60


def as_integers(columns):
    """Columns times powers of two, without rounding, and these powers."""
    mantissa, exponent = np.frexp(columns)
    low = np.where(columns == 0, 5000, exponent - 53).min(axis=0)
    whole = (mantissa * 2.0**53).astype(np.int64).astype(object)
    shift = np.where(columns == 0, 0, exponent - 53 - low).astype(object)
    return whole * 2**shift, [Fraction(2) ** int(power) for power in low]


def over_one(matrix):
    """Integers and their common denominator: they add and multiply without common divisors."""
    bottom = lcm(*(x.denominator for row in matrix for x in row))
    return [[x.numerator * (bottom // x.denominator) for x in row] for row in matrix], bottom


def solved(A, right):
    """Pivots, and x with Ax = right for symmetric A (lists of rows); None if there is no x.

    Bareiss: the elimination stays in integers, and every division by the last pivot is exact.
    """
    (left, scale), (sides, bottom) = over_one(A), over_one(right)
    rows = [one + two for one, two in zip(left, sides, strict=True)]
    d, pivots, last = len(A), [], 1
    for j in range(d):
        r = next((i for i in range(len(pivots), d) if rows[i][j]), None)
        if r is None:
            continue
        k = len(pivots)
        rows[k], rows[r] = rows[r], rows[k]
        top, pivot = rows[k], rows[k][j]
        for i in range(d):
            if i != k:
                share = rows[i][j]
                pairs = zip(rows[i], top, strict=True)
                rows[i] = [(pivot * x - share * z) // last for x, z in pairs]
        pivots.append(j)
        last = pivot
    if any(any(row[d:]) for row in rows[len(pivots) :]):
        return pivots, None
    x = [[Fraction(0)] * len(right[0]) for _ in range(d)]
    for k, j in enumerate(pivots):
        x[j] = [Fraction(scale * value, last * bottom) for value in rows[k][d:]]
    return pivots, x


def product(one, two):
    (one, p), (two, q) = over_one(one), over_one(two)
    columns = transposed(two)
    return [[Fraction(sum(map(mul, row, column)), p * q) for column in columns] for row in one]


def transposed(A):
    return [list(col) for col in zip(*A, strict=True)]


def minus(one, two):
    pairs = zip(one, two, strict=True)
    return [[x - z for x, z in zip(a, b, strict=True)] for a, b in pairs]


class RationalSets:
    """The m - 1 sets of transformations that move rows or flip signs; no coefficient is tied."""

    @classmethod
    def of(cls, model, X, y, perturbations):
        """The sets of a linear model of scikit-learn."""
        Phi = np.column_stack([np.ones(len(y)), X]) if model.fit_intercept else X
        penalised = [j >= model.fit_intercept for j in range(Phi.shape[1])]
        return cls(Phi, y, getattr(model, "alpha", 0.0), penalised, perturbations)

    def __init__(self, Phi, y, alpha, penalised, perturbations):
        Z, powers = as_integers(np.column_stack([Phi, y]))
        n, k = Z.shape
        d = k - 1
        moved = perturbations.apply(np.arange(1.0, n + 1)).astype(np.int64)
        signs, place = np.sign(moved).astype(object), np.abs(moved) - 1

        def whole(products):
            return [
                [powers[a] * powers[b] * int(products[a, b]) for b in range(k)] for a in range(k)
            ]

        gram = whole(Z.T @ Z)
        pairs = zip(signs, place, strict=True)
        moved = [whole(Z.T @ (sign[:, None] * Z[at])) for sign, at in pairs]
        held = np.diag([Fraction(alpha) * bool(p) for p in penalised])
        plain = [row[:d] for row in gram[:d]]
        self.seen, _ = solved(plain, [[Fraction(0)]] * d)  # independent columns

        def part(matrix):
            return [[matrix[a][b] + held[a][b] for b in self.seen] for a in self.seen]

        N, s = part(gram), [[gram[a][d]] for a in self.seen]
        r = len(self.seen)
        joined = [
            [[*row, one[a][d]] for a, row in zip(self.seen, part(one), strict=True)]
            for one in moved
        ]
        _, inner = solved(N, [list(chain(*rows)) for rows in zip(s, *joined, strict=True)])
        start = [row[:1] for row in inner]
        self.sets, self._known, self._ends = [], {}, {}
        for i, one in enumerate(joined):
            at = 1 + i * (r + 1)
            # [B, u]ᵀN⁻¹[B, u]
            right = product(transposed(one), [row[at : at + r + 1] for row in inner])
            A = minus(N, [row[:r] for row in right[:r]])
            b = minus(s, [[row[r]] for row in right[:r]])
            c = right[r][r] - product(transposed(s), start)[0][0]
            self.sets.append((A, b, c))

    def cylinders(self):
        """Which sets are unbounded."""
        return [len(solved(A, b)[0]) < len(A) for A, b, _ in self.sets]

    def never_ends(self, direction):
        """How many sets never end along a direction (d,)."""
        v = [[Fraction(float(direction[j]))] for j in self.seen]
        return sum(not any(x for (x,) in product(A, v)) for A, _, _ in self.sets)

    def bounds(self, g, q):
        """The least and the largest value of gᵀa that the sets allow at q.

        The functional (d,) is one that the columns identify.
        """
        lower, upper = self._extremes(g)
        return lower[q - 1], upper[q - 1]

    def extents(self, g):
        """The largest gᵀa over each set, in descending order."""
        return self._extremes(g)[1]

    def _extremes(self, g):
        """The least values over each set, in ascending order, the largest in descending order."""
        key = tuple(float(g[j]) for j in self.seen)
        if key not in self._known:
            self._known[key] = self._solved([[Fraction(value)] for value in key])
        return self._known[key]

    def _solved(self, g):
        lower, upper = [], []
        for A, b, c in self.sets:
            right = [p + q for p, q in zip(g, b, strict=True)]
            _, x = solved(A, right)
            if x is None:
                lower.append(-INFINITE)
                upper.append(INFINITE)
                continue
            (gg, gb), (_, bb) = product(transposed(right), x)
            half = root(gg * (c + bb))
            lower.append(decimal(gb) - half)
            upper.append(decimal(gb) + half)
        return sorted(lower), sorted(upper, reverse=True)

    def reach(self, origin, direction, q):
        """How far from an origin (d,) rays stay in q sets, if it lies in all of them."""
        return sorted((high for _, high in self.ends(origin, direction)), reverse=True)[q - 1]

    def first_end(self, origin, direction, q):
        """Where rays from an origin (d,) first leave q sets; minus infinity if it is outside."""
        spans = [span for span in self.ends(origin, direction) if span is not None]
        t, here = Decimal(0), -INFINITE
        while sum(low <= t <= high for low, high in spans) >= q:
            here = t
            t = min((high for low, high in spans if low <= t < high), default=t)
            if t == here:
                break
        return here

    def ends(self, origin, direction):
        """Where the line through an origin (d,) lies in each set; None where it does not."""
        key = tuple((float(origin[j]), float(direction[j])) for j in self.seen)
        if key not in self._ends:
            self._ends[key] = self._ends_along(
                *([[Fraction(x)] for x in part] for part in zip(*key, strict=True))
            )
        return self._ends[key]

    def _ends_along(self, a, v):
        ends = []
        for A, b, c in self.sets:
            Av, Aa = product(A, v), product(A, a)
            vv, va = (product(transposed(v), x)[0][0] for x in (Av, Aa))
            slope = product(transposed(v), b)[0][0] - va
            rest = c + 2 * product(transposed(a), b)[0][0] - product(transposed(a), Aa)[0][0]
            if vv == 0:
                ends.append((-INFINITE, INFINITE) if rest >= 0 else None)
                continue
            square = slope**2 + vv * rest
            if square < 0:
                ends.append(None)
                continue
            # The larger root first: the other one by the product of both, which does not cancel.
            far = decimal(slope) + (root(square) if slope >= 0 else -root(square))
            with localcontext(prec=_DIGITS):
                both = (far / decimal(vv), -decimal(rest) / far if far else Decimal(0))
            ends.append((min(both), max(both)))
        return ends


def decimal(x):
    with localcontext(prec=_DIGITS):
        return Decimal(x.numerator) / Decimal(x.denominator)


def root(x):
    with localcontext(prec=_DIGITS):
        return decimal(max(x, Fraction(0))).sqrt()
