"""Ranks of linear models from the definition, in exact rational arithmetic.

Nothing here calls the package: rows, candidate, transformations and tie order come as arguments.
"""

from fractions import Fraction
from math import lcm

import numpy as np

from rational_sets import solved

EPS = 2.0**-52


def exact(array):
    """Return the numbers of an array as fractions: doubles are rational."""
    array = np.asarray(array, dtype=np.float64)
    return np.array([Fraction(x) for x in array.ravel().tolist()], dtype=object).reshape(
        array.shape
    )


def _integers(array):
    """Return integers and the power of two that scales them: integers add faster than fractions."""
    numbers, scale = _scaled(exact(array).ravel())
    return numbers.reshape(np.shape(array)), scale


def solve(H, s):
    """Return one solution of H x = s by elimination; the equations are known to be solvable."""
    _, x = solved(H, [[one] for one in s])
    return np.array([one for (one,) in x], dtype=object)


def rank_range(Phi, y, a, alpha, images, adjoint, tie_order, *, intercept, rounding=EPS):
    """Return the least and the largest rank that is right.

    H = ΦᵀΦ + alpha P, s_i = Φᵀ G_i r - alpha P a, and Z_i = s_iᵀ H⁺ s_i is compared with Z_0.
    ``images(r)`` returns all G_i r for a vector of any objects, ``adjoint(r, i)`` returns G_iᵀ r,
    counted from 0. Statistics that differ by less than rounding y and Φ a to doubles makes them
    differ may count as equal; equal ones are equal. With ``rounding=0.0`` no others are.
    """
    (F, f), (v, g) = _integers(Phi), _integers(y)
    a, penalised = exact(a), np.array([0] * intercept + [1] * (Phi.shape[1] - intercept))
    r = np.array([Fraction(t, g) for t in v], dtype=object) - (F @ a) / f
    r, scale = _scaled(r)
    H = [[Fraction(int(t), f * f) for t in row] for row in F.T @ F]
    for j, p in enumerate(penalised):
        H[j][j] += Fraction(alpha) * int(p)
    penalty = Fraction(alpha) * penalised * a

    def score(residuals):
        return (
            np.array([Fraction(int(t), f * scale) for t in F.T @ residuals], dtype=object) - penalty
        )

    s0 = score(r)
    x0 = solve(H, s0)
    error = 2 * rounding * (np.abs(y) + np.abs(Phi) @ np.abs(a.astype(np.float64)))
    low = high = 1
    for i, moved in enumerate(images(r)):
        before = tie_order[i + 1] < tie_order[0]
        s = score(moved)
        x = solve(H, s)
        gap = (s - s0) @ (x + x0)
        if gap == 0:
            least = most = before
        elif abs(gap) <= _slack(F, f, x, x0, lambda t, i=i: adjoint(t, i), error):
            least, most = False, True
        else:
            least = most = gap < 0
        low, high = low + least, high + most
    return low, high


def _scaled(r):
    """Return integers and their common scale; all denominators are powers of two."""
    scale = max((t.denominator for t in r), default=1)
    return np.array([int(t * scale) for t in r], dtype=object), scale


def _slack(F, f, x, x0, adjoint, error):
    """Bound the change of Z_i - Z_0 when residuals change by their rounding errors; Φ = F / f."""
    bottom = lcm(*(t.denominator for t in (*x, *x0)))
    top, top0 = (np.array([int(t * bottom) for t in part], dtype=object) for part in (x, x0))
    slope = ((adjoint(F @ top) - F @ top0) / (bottom * f)).astype(np.float64)
    return 2 * float(np.abs(slope) @ error) + 8 * float(error @ error)
