"""What the package promises, checked against exact arithmetic.

Each check yields sentences about what was found wrong; none means that the promise was kept.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

import unassuming as ua
from adversarial.arithmetic import Vector, rationals, root_below, times
from adversarial.boundedness import unbounded, unseen
from adversarial.exact import ExactRegion, allowed_ranks
from adversarial.members import far_members
from adversarial.problems import Problem, show

Found = Iterator[str]


def declared(error: Exception) -> bool:
    """Whether an exception is the package's own statement that it cannot answer."""
    if isinstance(error, ua.NotAvailable):
        return True
    return type(error) in (ValueError, ArithmeticError) and ": expected" in str(error)


def asked(call: Any, *arguments: Any, **options: Any) -> Any:
    """The answer, or None if the package says that it has none."""
    try:
        return call(*arguments, **options)
    except (ua.NotAvailable, ValueError, ArithmeticError) as error:
        if declared(error):
            return None
        raise


def in_floats(a: Vector) -> np.ndarray:
    """Rationals as the package receives them."""
    return np.array([float(x) for x in a])


class Allowed:
    """The ranks that candidates may have; rounding of the data is looked at only if it matters."""

    def __init__(self, problem: Problem, region: ua.Region) -> None:
        given = problem.rounded()
        self.exact, self.rounded = problem.exact(region), given.exact(region)
        self.rounding = given.rounding(self.rounded)
        if self.rounding.as_given:  # as decimals their columns might depend on each other
            self.exact = self.rounded

    def wrong(self, a: Vector, found: int) -> str:
        """What is wrong with the rank that was found for a candidate, or nothing."""
        low, high = allowed_ranks(self.exact, self.rounded, a)
        if not low <= found <= high:
            low, high = allowed_ranks(self.exact, self.rounded, a, self.rounding.blurred)
        if low <= found <= high:
            return ""
        return f"{found}, exactly {low}" + (f" to {high}" if high > low else "")

    def either(self, a: Vector, q: int) -> bool:
        """Whether a candidate may count as a member of the region of level 1 - q/m, or not."""
        low, high = self._ranks(a)
        return low <= self.exact.m - q < high

    def permits(self, a: Vector, q: int, *, inside: bool) -> bool:
        """Whether a candidate may count as a member of the region of level 1 - q/m, or as none.

        Values that tie as they are meant tie, also where rounding of the data has parted them.
        """
        low, high = self._ranks(a)
        return low <= self.exact.m - q if inside else high > self.exact.m - q

    def _ranks(self, a: Vector) -> tuple[int, int]:
        return allowed_ranks(self.exact, self.rounded, a, self.rounding.blurred)


def ranks(problem: Problem, region: ua.Region, candidates: list[Vector]) -> Found:
    """The rank of a candidate is that of exact arithmetic, or the package declares a doubt."""
    allowed = Allowed(problem, region)
    for k, a in enumerate(candidates):
        found = asked(region.rank, in_floats(a))
        wrong = found is not None and allowed.wrong(a, found)
        if wrong:
            yield f"rank of candidate {k} {[show(x) for x in a]}: {wrong}"


def one_answer(region: ua.Region, candidates: list[Vector]) -> Found:
    """A candidate has one rank, asked alone or among 40."""
    A = np.array([in_floats(a) for a in candidates])
    A = A[np.arange(40) % len(A)]
    alone = [asked(region.rank, a) for a in A[: len(candidates)]]
    together = asked(region.rank, A)
    if together is None:
        if None not in alone:
            yield f"40 candidates were refused, each alone has a rank: {alone}"
        return
    for k, rank in enumerate(alone):
        if rank is not None and rank != together[k]:
            yield f"rank of {A[k].tolist()}: {rank} alone, {together[k]} among 40"


def stream(problem: Problem, region: ua.Region, candidates: list[Vector]) -> Found:
    """A stream gives the ranks of the region in memory, or refuses."""
    collected = ua.StreamingRegion(
        problem.estimator(), noise=problem.noise_class(), m=problem.m,
        random_state=problem.seed,
    )  # fmt: skip
    y, w = in_floats(problem.y), None if problem.w is None else in_floats(problem.w)
    half = problem.n // 2
    for rows in (slice(0, half), slice(half, None)):
        weight = None if w is None else w[rows]
        try:
            collected.partial_fit(problem.inputs[rows], y[rows], sample_weight=weight)
        except (ua.NotAvailable, ValueError, ArithmeticError) as error:
            if declared(error):
                return
            raise
    streamed, allowed = asked(collected.region), Allowed(problem, region)
    if streamed is None:
        return
    for k, a in enumerate(candidates):
        found = asked(streamed.rank, in_floats(a))
        wrong = found is not None and allowed.wrong(a, found)
        if wrong:
            yield f"rank of candidate {k} in a stream: {wrong}"


# --- bounds -------------------------------------------------------------------------------------


def bounds(problem: Problem, region: ua.Region, functionals: list[Vector], q: int) -> Found:
    """No member lies outside the bounds of linear functionals."""
    answer = asked(region.interval, in_floats_2d(functionals), level=(problem.m - q) / problem.m)
    exact = problem.rounded().exact(region)
    if answer is not None:
        yield from _outside(exact, answer, functionals, q)


def in_floats_2d(rows: list[Vector]) -> np.ndarray:
    """A matrix of rationals in floats."""
    return np.array([in_floats(row) for row in rows])


def band(
    problem: Problem, region: ua.Region, Z: list[Vector], q: int, bound: float | None = None
) -> Found:
    """No member lies outside the band, and no function inside the norm bound."""
    given = problem.rounded()
    level = (problem.m - q) / problem.m
    answer = asked(region.band, in_floats_2d(Z), level=level, norm_bound=bound)
    if answer is None:
        return
    exact, ones = given.exact(region), [Fraction(1)] * problem.bias
    core = given.kernel_between(Z, given.X) if given.kernel else Z
    rows = [[*ones, *row] for row in core]
    if bound is None:
        yield from _outside(exact, answer, rows, q)
        return
    diagonal = [given.kernel_between([z], [z])[0][0] for z in Z]
    yield from _outside(exact, answer, rows, q, Fraction(bound), diagonal)


def _outside(
    exact: ExactRegion,
    answer: Any,
    functionals: list[Vector],
    q: int,
    bound: Fraction | None = None,
    diagonal: list[Fraction] | None = None,
) -> Found:
    """Sentences about members whose values lie outside the bounds of an answer."""
    status = answer.status.name
    for k, g in enumerate(functionals):
        low, high = float(answer.lower[k]), float(answer.upper[k])
        empty = status == "EMPTY"
        if np.isnan(low) != empty or np.isnan(high) != empty:
            yield f"{status}: the bounds of functional {k} are {low} and {high}"
            continue
        similarity = None if diagonal is None else diagonal[k]
        for a, value in far_members(exact, g, q, bound, similarity):
            # Python compares rationals and floats exactly; an empty region has no member at all.
            if empty or value < low or value > high:
                yield (
                    f"{status}: functional {k} {[show(x) for x in g]} lies in [{low!r}, {high!r}], "
                    f"but {float(value)!r} at the member {[float(x) for x in a]} (q = {q}, off by "
                    f"{float(max(low - value, value - high)):.3g})"
                )
                break


# --- boundedness and lines ----------------------------------------------------------------------


def verdict(problem: Problem, region: ua.Region, q: int) -> Found:
    """The verdict on boundedness is true, and a direction without end has members far out.

    It is about fitted values. Where coefficients can move without changing any, it says so.
    """
    answer = asked(region.bounded, level=(problem.m - q) / problem.m)
    if answer is None or answer.verdict == "undetermined":
        return
    exact = problem.rounded().exact(region)
    true = unbounded(exact, q)
    # Coefficients of a kernel that define the same function are one point.
    counts = not problem.kernel or problem.bias
    said = any(fact.cause.name == "UNSEEN" for fact in answer.explanation.facts)
    if (answer.verdict == "unbounded") != true:
        yield f"verdict {answer.verdict}, but exactly {'un' * true}bounded, q = {q}"
    elif answer.verdict == "bounded" and counts and not said and unseen(exact):
        yield f"bounded, but {unseen(exact)} directions change no fitted value, q = {q}"
    elif answer.direction is not None:
        yield from _far_along(Allowed(problem, region), rationals(answer.direction), q)


def _far_along(allowed: Allowed, v: Vector, q: int) -> Found:
    """Members are asked for at 10³, 10⁶ and 10⁹ times the size of the sets, in either sense.

    The direction is one of floats. Where its entries cancel, rounding alone makes it leave a set
    that never ends, and so far out nothing is asked. Where rounding of the data decides whether a
    point is a member, it may count as one.
    """
    exact = allowed.rounded
    whole = [sum(abs(x * z) for x, z in zip(row, v, strict=True)) for row in exact.Phi]
    changed = max(map(abs, times(exact.Phi, v)))
    if changed < max(whole) / 2**40:
        return
    line = exact.line(exact.estimate, v)
    # At the estimate Z_0 = 0, and Z_0 = vᵀNv at a unit step from it.
    moved_by = exact.statistics_of_step(v)
    unit = root_below(max(Fraction(c) for c, _, _ in line) / moved_by)
    for size in (10**3, 10**6, 10**9):
        if size * max(whole) > 2**40 * changed:
            return
        steps = [s * size * unit for s in (1, -1)]
        if any(exact.rank_on(line, t) <= exact.m - q for t in steps):
            continue
        if not any(allowed.permits(line_at(exact.estimate, v, t), q, inside=True) for t in steps):
            yield f"no member at {size:g} sizes of the sets along {[float(x) for x in v]}, q = {q}"
            return


def line_at(origin: Vector, direction: Vector, t: float | Fraction) -> Vector:
    """A point of a line."""
    return [x + Fraction(t) * u for x, u in zip(origin, direction, strict=True)]


def crossings(
    problem: Problem,
    region: ua.Region,
    origin: Vector,
    direction: Vector,
    q: int,
    points: list[float],
) -> Found:
    """Crossings agree with exact membership away from their ends.

    Where rounding of the data decides whether a point is a member, every answer is right.
    """
    level = (problem.m - q) / problem.m
    spans = asked(region.crossings, in_floats(direction), level=level, origin=in_floats(origin))
    if spans is None:
        return
    allowed = Allowed(problem, region)
    exact = allowed.rounded
    line = exact.line(rationals(in_floats(origin)), rationals(in_floats(direction)))
    ends = sorted({x for x in np.ravel(spans).tolist() if np.isfinite(x)})
    size = max([abs(x) for x in ends], default=1.0) or 1.0
    middle = [(u + v) / 2 for u, v in pairwise(ends)]
    beyond = [s * size * 10.0**k for s in (1, -1) for k in (1, 4)]
    for t in [*middle, *beyond, *(size * x for x in points)]:
        near = 1e-6 * max(abs(t), 1e-3 * size)
        if any(abs(t - end) <= near for end in ends):
            continue
        inside = any(low <= t <= high for low, high in spans)
        around = [exact.rank_on(line, Fraction(t) + s * Fraction(near)) for s in (-1, 0, 1)]
        members = [rank <= exact.m - q for rank in around]
        at = line_at(origin, direction, t)
        if inside not in members and not allowed.permits(at, q, inside=inside):
            yield (
                f"t = {t!r} on the line {[show(x) for x in origin]} + t "
                f"{[show(x) for x in direction]}: crossings {np.asarray(spans).tolist()}, exact "
                f"rank {around[1]}, q = {q}"
            )
