"""Problems with bad scales on purpose, and candidates that are hard to rank."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from adversarial.arithmetic import Vector, dot, integers, null_vector, rationals
from adversarial.exact import ExactRegion
from adversarial.problems import KERNELS, MODELS, NOISES, Problem, is_float, nearest

SENTINELS = (1e7, 1e10, -9999.0, 1e5, 999.0)
POWERS = st.integers(-60, 60)
SOME_POWERS = st.one_of(st.just(0), st.integers(-4, 4), POWERS)


@st.composite
def mantissas(draw, count: int, kind: str) -> Vector:
    """Numbers of ordinary size: small integers, decimals of up to three digits, or all 53 bits."""
    if kind == "integers":
        return [
            Fraction(k) for k in draw(st.lists(st.integers(-5, 5), min_size=count, max_size=count))
        ]
    if kind == "decimals":
        digits = draw(st.integers(1, 3))
        whole = draw(st.lists(st.integers(-9999, 9999), min_size=count, max_size=count))
        return [Fraction(k, 10**digits) for k in whole]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return [Fraction(x) for x in rng.standard_normal(count).tolist()]


KINDS = st.sampled_from(["integers", "decimals", "floats", "floats"])


def _product(x: Fraction, k: int) -> Fraction:
    return x * Fraction(2) ** k


@st.composite
def inputs(draw, n: int, d: int, kind: str, *, largest: int = 60) -> list[Vector]:
    """A matrix with columns and rows times powers of two, repeated rows and sentinels."""
    X = [draw(mantissas(d, kind)) for _ in range(n)]
    kinds = ["columns", "rows", "repeats", "sentinel", "nearly", "unit"]
    trouble = draw(st.sets(st.sampled_from(kinds)))
    powers = st.one_of(st.integers(-4, 4), st.integers(-largest, largest))
    if "nearly" in trouble and d > 1:  # two columns that differ by little
        k = draw(st.integers(-50, -1))
        for row in X:
            row[1] = row[0] + _product(row[1], k)
    if "unit" in trouble and d > 1:  # a column in another unit: for doubles up to rounding
        factor = Fraction(draw(st.sampled_from(["2.20462", "0.4536", "1/3", "2"])))
        for row in X:
            row[d - 1] = factor * row[0]
    if "repeats" in trouble:
        for _ in range(draw(st.integers(1, 2))):
            i, j = draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
            X[i] = list(X[j])
    if "columns" in trouble:
        k = draw(st.lists(powers, min_size=d, max_size=d))
        X = [[_product(x, c) for x, c in zip(row, k, strict=True)] for row in X]
    if "rows" in trouble:
        for _ in range(draw(st.integers(1, n))):
            i, k = draw(st.integers(0, n - 1)), draw(powers)
            X[i] = [_product(x, k) for x in X[i]]
    if "sentinel" in trouble:
        i, j = draw(st.integers(0, n - 1)), draw(st.integers(0, d - 1))
        X[i][j] = Fraction(draw(st.sampled_from(SENTINELS)))
    return X if kind == "decimals" else [nearest(row) for row in X]


@st.composite
def weights(draw, n: int) -> Vector | None:
    """None, equal weights, or weights over 20 orders of magnitude."""
    kind = draw(st.sampled_from(["none", "none", "few", "many"]))
    if kind == "none":
        return None
    if kind == "few":
        return [Fraction(k) for k in draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))]
    k = draw(st.lists(st.integers(-33, 33), min_size=n, max_size=n))
    odd = draw(st.lists(st.sampled_from([1, 3, 5]), min_size=n, max_size=n))
    return [_product(Fraction(o), e) for o, e in zip(odd, k, strict=True)]


@st.composite
def problems(
    draw,
    models=MODELS,
    noises=NOISES,
    largest_n: int = 14,
    plain: bool = False,
    away: bool = False,
):
    """A problem and the coefficients of its truth.

    ``away``: half of the polynomial kernels have one input far from zero, so that their features
    nearly depend on each other.
    """
    model, noise = draw(st.sampled_from(models)), draw(st.sampled_from(noises))
    kernel = model in KERNELS
    n = draw(
        st.integers(3, min(8, largest_n))
        | st.integers(3, min(9, largest_n) if kernel else largest_n)
    )
    d = draw(st.integers(1, 4))
    kind = "floats" if plain else draw(KINDS)
    gaussian = model == "gaussian kernel"
    if plain or gaussian:
        X = [draw(mantissas(d, kind)) for _ in range(n)]
    else:
        X = draw(inputs(n, d, kind, largest=30 if "polynomial" in model else 60))
    if away and "polynomial" in model and draw(st.booleans()):
        far, k = draw(st.sampled_from([3, 20, 2000])), draw(st.integers(-10, 0))
        X = [nearest([far + _product(x, k)]) for x in draw(mantissas(n, "floats"))]
    if gaussian:  # inputs within a few units of each other
        X = [[x / 1000 for x in row] if kind == "decimals" else row for row in X]
    if model == "precomputed kernel":
        X = _gram_of_integers(draw, n, plain=plain)
    intercept = draw(st.booleans())
    alpha = Fraction(1) if plain else _product(Fraction(1), draw(SOME_POWERS))
    w = None if draw(st.booleans()) or plain else draw(weights(n))
    blocks = tuple(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    problem = Problem(
        model,
        X,
        [Fraction(0)] * n,
        w,
        alpha,
        intercept,
        degree=draw(st.integers(1, 3)),
        gamma=Fraction(draw(st.sampled_from([0.5, 1, 2]))),
        coef0=Fraction(draw(st.sampled_from([0, 1, 1]))),
        noise=noise,
        blocks=blocks,
        block_rows=draw(st.integers(2, 4)),
        m=draw(st.sampled_from([5, 10, 20])),
        seed=draw(st.integers(0, 2**16)),
        ties=draw(st.sampled_from(["random", "random", "conservative"])),
    )
    return _with_outputs(draw, problem, kind, plain=plain)


def _gram_of_integers(draw, n: int, *, plain: bool) -> list[Vector]:
    """A positive semidefinite matrix of floats: integers times powers of two, symmetric."""
    k = draw(st.integers(1, n))
    L = [draw(mantissas(k, "integers")) for _ in range(n)]
    L = [[x + (i == j) for j, x in enumerate(row)] for i, row in enumerate(L)]
    K = [[dot(u, v) for v in L] for u in L]
    if not plain:
        e = draw(st.lists(st.one_of(st.just(0), st.integers(-20, 20)), min_size=n, max_size=n))
        K = [[_product(x, e[i] + e[j]) for j, x in enumerate(row)] for i, row in enumerate(K)]
        tiny = draw(st.sampled_from([None, -10, -30]))
        lifted = tiny is not None and all(is_float(K[i][i] + Fraction(2) ** tiny) for i in range(n))
        if lifted:
            for i in range(n):
                K[i][i] += Fraction(2) ** tiny
    return K


def _with_outputs(draw, problem: Problem, kind: str, *, plain: bool):
    """Add y = fitted values of some coefficients, noise and an offset; return both."""
    n = problem.n
    if "LS-SVC" in problem.model:
        signs = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
        signs[0], signs[1] = 1, -1
        d = problem.bias + (n if problem.kernel else len(problem.X[0]))
        return replace(problem, y=[Fraction(s) for s in signs]), draw(mantissas(d, "integers"))
    size = n if problem.kernel else len(problem.X[0])
    truth = draw(mantissas(problem.bias + size, "decimals" if kind == "decimals" else "integers"))
    core = problem.gram if problem.kernel and problem.model != "gaussian kernel" else problem.X
    if problem.model == "gaussian kernel":
        core = [[Fraction(0)] * n for _ in range(n)]
    f = [dot(row, truth[problem.bias :]) + (truth[0] if problem.bias else 0) for row in core]
    style = draw(st.sampled_from(["equal", "integers", kind, kind]))
    if style == "equal":  # noise of one size: many ties
        size = Fraction(1, 10) if kind == "decimals" else Fraction(1, 8)
        e = [size * s for s in draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))]
    else:
        e = draw(mantissas(n, style))
    k = 0 if plain else draw(SOME_POWERS)
    offset = (
        Fraction(0) if plain else Fraction(draw(st.sampled_from([0, 0, 0, 1000, 10**6, 10**9])))
    )
    y = [offset + u + _product(v, k) for u, v in zip(f, e, strict=True)]
    return replace(problem, y=y), truth


@st.composite
def candidates(draw, exact: ExactRegion, truth: Vector) -> list[Vector]:
    """Candidates in rationals: the truth, near the estimate and far, in nearly null directions.

    They are meant as they are, the exact estimate included; the package receives the nearest
    floats.
    """
    d, rng = exact.d, np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    estimate = exact.estimate
    scale = [max(abs(float(x)), 2.0**-60) for x in estimate]
    steps = [rng.standard_normal(d) * scale * size for size in (1e-3, 1.0, 1e3, 1e6, 1e9)]
    axis = int(rng.integers(d))
    steps += [size * rng.standard_normal() * np.eye(d)[axis] for size in (1e-6, 1.0, 1e6)]
    null = null_direction(exact)
    found = [truth, estimate, *(moved(estimate, rationals(step)) for step in steps)]
    return found + [moved(estimate, null, size) for size in (1, 10**4, 10**8, 10**16)]


def moved(a: Vector, step: Vector, t: Fraction | int = 1) -> Vector:
    """a + t step without rounding."""
    return [x + t * s for x, s in zip(a, step, strict=True)]


def null_direction(exact: ExactRegion) -> Vector:
    """A direction that changes no fitted value, or the one that changes them least.

    Its largest coefficient is near one.
    """
    null = null_vector(integers(*exact.Phi)[0])
    if null is None:
        Phi = np.array([[float(x) for x in row] for row in exact.Phi])
        lengths = np.abs(Phi).max(axis=0)  # there is no column of zeros
        null = rationals(np.linalg.svd(Phi / lengths)[2][-1] / lengths)
    return [x / max(map(abs, null)) for x in null]
