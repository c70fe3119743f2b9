"""Members of a region that go as far as possible along a functional, by exact rank."""

from collections.abc import Iterator
from fractions import Fraction

from adversarial.arithmetic import (
    Vector,
    dot,
    integers,
    nearly_inverse,
    null_vector,
    product,
    root_below,
    shortened,
    times,
)
from adversarial.exact import ExactRegion

FAR = (10**3, 10**6, 10**9)
_SETS = 4  # of so many sets E_i the support is tried


def far_members(
    exact: ExactRegion,
    g: Vector,
    q: int,
    bound: Fraction | None = None,
    similarity: Fraction | None = None,
) -> Iterator[tuple[Vector, Fraction]]:
    """Members of the region of level 1 - q/m and their values gᵀa, near the largest and smallest.

    With a norm bound only members with aᵀPa <= B². With ``similarity``, k(z, z), the value is the
    largest (smallest) of a function in the ball that has these coefficients (docs/theory.md 4.4).
    """
    start = [_rounded(x, 300) for x in exact.estimate]
    for u in _directions(exact, g, bound):
        forward = exact.line(start, u)
        backward = [(c, -b, k) for c, b, k in forward]
        yield from _on_the_ray(exact, g, q, start, u, forward, bound, similarity)
        yield from _on_the_ray(exact, g, q, start, [-x for x in u], backward, bound, similarity)


def _on_the_ray(exact, g, q, start, u, line, bound, similarity):
    end = exact.reach(line, q)
    if end is not None and end < 0:
        return
    lengths = [end] if end is not None else [Fraction(far) for far in FAR]
    if bound is not None:
        ball = _end_of_ball(exact, start, u, bound)
        if ball is None:  # the estimate lies outside the ball
            return
        end = ball if end is None else min(end, ball)
        lengths = [end, end * Fraction(3, 4)]
    for t in lengths:
        # The end itself is a rounded root, or a tie; rotations are rounded as well.
        t *= 1 - Fraction(1, 2**30 if exact.dense else 2**70)
        a = [_rounded(x + t * v) for x, v in zip(start, u, strict=True)]
        if exact.rank(a) > exact.m - q:
            continue
        value = product(g, a)
        rest = Fraction(0)
        if similarity is not None:
            rest = _rest(exact, g, a, bound, similarity)
            if rest is None:
                continue
        yield a, value + rest
        if rest:
            yield a, value - rest


def _rounded(x: Fraction, bits: int = 200) -> Fraction:
    """A binary number of so many bits near a rational, so that what follows is fast."""
    shift = bits - x.numerator.bit_length() + x.denominator.bit_length()
    if shift <= 0:
        return Fraction(round(x))
    return Fraction((x.numerator << shift) // x.denominator, 1 << shift)


def _directions(exact: ExactRegion, g: Vector, bound: Fraction | None) -> Iterator[Vector]:
    """Directions towards the supports of some sets, free ones, and those of the functional."""
    (gp,), _ = integers([g[i] for i in exact.p])
    null = null_vector(integers(*exact.Phi)[0])
    if null is not None:
        yield null
    yield exact.lifted(gp)
    yield exact.lifted(map(shortened, times(exact.A, gp)))
    step = max(1, (exact.m - 1) // _SETS)
    for i in range(1, exact.m, step):
        for sign in (1, -1):
            yield exact.lifted(exact.support(i, [sign * x for x in gp]))
    if bound is not None:
        yield from _with_ball(exact, gp, bound)


def _with_ball(exact: ExactRegion, gp: list[int], bound: Fraction) -> Iterator[Vector]:
    """Directions towards points where gᵀδ is largest on both a set and the ball."""
    P, c_P = integers(*([exact.P[i][j] for j in exact.p] for i in exact.p))
    start = [round(exact.spread * exact.estimate[i]) for i in exact.p]  # integers already
    pull = times(P, start)
    for i in range(1, exact.m, max(1, (exact.m - 1) // 2)):
        Q, beta, _ = exact.sets[i - 1]
        unit = (_trace(Q).bit_length() or 1) - (_trace(P).bit_length() or 1)
        for k in (-8, 0, 8, None):
            # The largest gᵀδ on both sets lies on this curve: (Q + κP)δ = τg - β - κPâ.
            f, h = (0, 1) if k is None else (1 << max(0, -unit - k), 1 << max(0, unit + k))
            M = [
                [f * x + h * z for x, z in zip(u, v, strict=True)]
                for u, v in zip(Q, P, strict=True)
            ]
            inverse = nearly_inverse(M)
            if inverse is None:
                continue
            adj, det = inverse
            centre = times(adj, [f * x + h * z for x, z in zip(beta, pull, strict=True)])
            up = times(adj, gp)
            yield exact.lifted(map(shortened, up))
            # (up/det)ᵀP(up/det) τ² = B², in the units of δ.
            size = Fraction(dot(up, times(P, up)), det * det * c_P)
            if size > 0:
                t = root_below((bound * exact.spread) ** 2 / size)
                for tau in (t, -t):
                    yield exact.lifted(
                        shortened(tau.numerator * x - tau.denominator * z)
                        for x, z in zip(up, centre, strict=True)
                    )


def _trace(A: list[list[int]]) -> int:
    return sum(row[i] for i, row in enumerate(A))


def _end_of_ball(exact: ExactRegion, a: Vector, u: Vector, bound: Fraction) -> Fraction | None:
    """The largest t with (a + tu)ᵀP(a + tu) <= B², from below; None if there is none."""
    A, b, c = exact.penalised(u, u), exact.penalised(a, u), exact.penalised(a, a) - bound**2
    if c > 0:
        return None
    if A == 0:
        return Fraction(10**9)
    root = root_below(b * b - A * c)
    return (
        max((root - b) / A, Fraction(0)) if b <= 0 else -c / (b + root) * (1 - Fraction(1, 2**100))
    )


def _rest(
    exact: ExactRegion, g: Vector, a: Vector, bound: Fraction, similarity: Fraction
) -> Fraction | None:
    """p(z) c with aᵀKa + c² = B², from below; p² = k(z, z) - kᵀK⁺k, k the row g.

    None if the norm of the coefficients exceeds B.
    """
    left = bound**2 - exact.penalised(a, a)
    if left < 0:
        return None
    if exact.penalty_inverse is None:  # without a penalty K may have another rank than N
        return Fraction(0)
    k = tuple(g[i] for i in exact.p)
    if k not in exact.powers:
        adj, factor = exact.penalty_inverse
        exact.powers[k] = similarity - factor * dot(k, times(adj, k))
    return root_below(exact.powers[k] * left)
