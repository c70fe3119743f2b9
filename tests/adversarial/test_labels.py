"""Regions of labels on data with bad scales, against exact rationals.

Every case builds a region or is refused with a sentence. Ranks are those of exact arithmetic where
rounding of the candidate does not decide them, no member lies outside a certified bound, and a
direction without end has members far out.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from adversarial.arithmetic import Vector, dot, rationals, times
from adversarial.budget import cases
from adversarial.checks import Found, asked, in_floats, in_floats_2d
from adversarial.labels_oracle import MODELS, LabelProblem, LabelRegion
from adversarial.problems import nearest, show
from adversarial.strategies import KINDS, SOME_POWERS, inputs, mantissas, moved

pytestmark = pytest.mark.slow


@st.composite
def problems(draw) -> LabelProblem:
    """Labels with inputs of bad scales. All numbers are doubles."""
    model, kind = draw(st.sampled_from(MODELS)), draw(KINDS)
    n, d = draw(st.integers(4, 9)), draw(st.integers(1, 3))
    gamma = Fraction(draw(st.sampled_from([0.5, 1.0, 2.0])))
    if "gaussian" in model:
        X = [draw(mantissas(d, kind)) for _ in range(n)]
        X = [[x / 1000 for x in row] if kind == "decimals" else row for row in X]
        gamma *= Fraction(2) ** draw(st.sampled_from([0, 0, 2, -4, -20]))
        if draw(st.booleans()):
            X[-1] = list(X[0])
    else:
        X = draw(inputs(n, d, kind, largest=30 if "polynomial" in model else 60))
    if d > 1 and draw(st.integers(0, 3)) == 0:  # a copy in another unit
        copied = Fraction(draw(st.sampled_from([1, -3, 5]))) * Fraction(2) ** draw(SOME_POWERS)
        X = [[row[0], copied * row[0], *row[2:]] for row in X]
    X = [nearest(row) for row in X]
    signs = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    signs[0], signs[1] = 1, -1
    return LabelProblem(
        model,
        X,
        [Fraction(s) for s in signs],
        alpha=Fraction(2) ** draw(SOME_POWERS),
        intercept=draw(st.booleans()),
        degree=draw(st.integers(1, 3)),
        gamma=gamma,
        coef0=Fraction(draw(st.sampled_from([0, 0, 1]))),
        m=draw(st.sampled_from([5, 10, 20])),
        seed=draw(st.integers(0, 2**16)),
        ties=draw(st.sampled_from(["random", "random", "conservative"])),
    )


def built(problem: LabelProblem):
    """The region, or None if the data are refused."""
    region = asked(problem.region)
    event(problem.model if region is not None else "refused")
    return region


def none_of(found: Found, problem: LabelProblem) -> None:
    """Fail with the first sentence that a check yields."""
    wrong = next(iter(found), None)
    assert wrong is None, f"{wrong}\nLabel{problem}"


def ranks(region, exact: LabelRegion, candidates: list[Vector]) -> Found:
    """The rank of doubles is exact, or lies between those that rounding may cause."""
    for a in candidates:
        given_ = rationals(in_floats(a))
        if not np.isfinite(in_floats(a)).all():
            continue
        found = asked(region.rank, in_floats(a))
        if found is None:
            event("rank refused")
            continue
        low, high, impossible = exact.allowed(given_)
        if not (low <= found <= high or (impossible and found == exact.m)):
            yield (
                f"rank of {[float(x) for x in given_]}: {found}, exactly {low} to {high}, "
                f"impossible: {impossible}"
            )


def far_members(exact: LabelRegion, members: list[Vector], q: int):
    """Members and members far along each direction that changes no fitted value."""
    yield from members
    for a in members[:2]:
        for v in exact.free:
            for t in (-(10**30), 10**30):
                yield moved(a, v, t)


def outside(answer, exact: LabelRegion, rows: list[Vector], members: list[Vector], q: int) -> Found:
    """Members whose values lie outside the bounds of an answer."""
    status = answer.status.name
    event(status)
    for a in far_members(exact, members, q):
        for k, g in enumerate(rows):
            value = dot(g, a)
            low, high = float(answer.lower[k]), float(answer.upper[k])
            if answer.__class__.__name__ == "Band":  # of E[y|x], which lies in [-1, 1]
                value = max(min(value, Fraction(1)), Fraction(-1))
            if status == "EMPTY" or value < low or value > high:
                yield (
                    f"{status}: functional {k} {[show(x) for x in g]} lies in [{low!r}, {high!r}], "
                    f"but {float(value)!r} at the member {[show(x) for x in a]}, q = {q}"
                )
                return


def verdict(region, exact: LabelRegion, members: list[Vector], q: int) -> Found:
    """What is called bounded has no free direction, and a direction has members far along it."""
    answer = asked(region.bounded, level=(exact.m - q) / exact.m)
    if answer is None:
        return
    event(f"{answer.verdict}, {'a' if answer.direction is not None else 'no'} direction")
    if answer.verdict == "bounded" and exact.free and members:
        yield f"bounded, but {len(exact.free)} directions are free, q = {q}"
    if answer.verdict == "unbounded" and not exact.free:
        yield f"unbounded, but no direction is free, q = {q}"
    if answer.direction is None or not members:
        return
    v = rationals(answer.direction)
    for t in (10**3, 10**6, 10**9):
        ends = (
            [x + s * t * z for x, z in zip(a, v, strict=True)] for a in members for s in (1, -1)
        )
        if not any(exact.rank(times(exact.Phi, a)) <= exact.m - q for a in ends):
            yield f"no member at {t:g} along {answer.direction.tolist()}, q = {q}"
            return


@cases("labels: ranks")
@given(st.data(), problems())
def test_ranks_of_labels_are_exact(data, problem):
    region = built(problem)
    if region is None:
        return
    exact = problem.labels(region)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    candidates = list(exact.places(rng, 10))
    candidates += [[2 * x for x in a] for a in candidates[:2]]
    for v in exact.free[:2]:
        size = max(map(abs, v))
        unit = max(map(abs, candidates[0])) or Fraction(1)
        candidates += [moved(candidates[0], v, t * unit / size) for t in (1, 10**4, 10**8)]
    none_of(ranks(region, exact, candidates), problem)


@cases("labels: bounds")
@given(st.data(), problems())
def test_no_member_of_labels_lies_outside_a_bound(data, problem):
    region = built(problem)
    if region is None:
        return
    exact, q = problem.labels(region), data.draw(st.sampled_from([1, 1, 2, problem.m // 2]))
    level = (problem.m - q) / problem.m
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    members = exact.members(rng, q, 40)
    none_of(verdict(region, exact, members, q), problem)
    d = exact.d
    functionals = [[Fraction(i == j) for j in range(d)] for i in range(d)]
    functionals.append(data.draw(mantissas(d, "integers").filter(any)))
    functionals.append(nearest(exact.Phi[0]))
    answer = asked(region.interval, in_floats_2d(functionals), level)
    if answer is not None:
        none_of(outside(answer, exact, functionals, members, q), problem)
    Z = [*problem.X[:2], nearest(data.draw(mantissas(len(problem.X[0]), "floats")))]
    answer = asked(region.band, in_floats_2d(Z), level)
    if answer is not None:
        none_of(outside(answer, exact, problem.rows(Z), members, q), problem)


def test_a_row_of_large_numbers_that_cancel_leaves_the_ranks_of_others_alone():
    """Rounding of its fitted value was allowed for in statistics that do not depend on it."""
    X = [
        [-0.15778539394134924, -0.6238826890390392, 2.34635340208943e-19],
        [12167408558309.145, 48197252373581.73, -0.0002516107317703337],
        [-0.1506717328691734, -0.5957161923370614, 1.0503489289395545e-17],
        [1.8909411328678183, 7.451371186415076, 8.7234799705298e-18],
        [0.0605883005700813, 0.2483717240289079, 1.1323055650895826e-17],
        [-14123656741139.664, -56361118816239.81, -0.0008087624155479654],
        [0.027991941594545048, 0.1125677110062477, -4.463239571030884e-19],
        [1.3776184589478657e-14, 5.6473191768624904e-14, 2.5745647805924422e-30],
        [-0.21591642751343343, -0.8650809969542841, -9.113988512436104e-18],
    ]
    y = [1, -1, 1, -1, -1, -1, 1, 1, -1]
    problem = LabelProblem.of(model="LS-SVC", X=X, y=y, m=5, seed=62, ties="conservative")
    region = problem.region()
    a = [-2.1830491793640523e-15, -2.6158314856687657e-12, 6.638037700391566e-13, 658.2685250593695]
    none_of(ranks(region, problem.labels(region), [rationals(a)]), problem)
