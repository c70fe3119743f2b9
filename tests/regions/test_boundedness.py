"""Is the region bounded, and which values are? Counts decide; rays and 60 digits confirm."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from unassuming.regions import Status

# --- counts ---


FULL = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.5)


def kernel_region(n=10, *, model=FULL, X=None, noise="symmetric", m=40, seed=0, w=None):
    rng = np.random.default_rng(seed)
    X = np.linspace(0, 2.0 * n, n)[:, None] if X is None else X
    y = np.sin(X[:, 0]) + rng.laplace(size=len(X))
    return ua.confidence_region(model, X, y, noise=noise, m=m, sample_weight=w, random_state=seed)


def signs(region):
    return region.perturbations.apply(np.ones(region.n))


def kept(region):
    """Which rows keep their sign, (m - 1, n); none for an identity that loses its ties.

    The set of an identity is the whole space, or nothing if the tie goes against the candidate.
    """
    plus = signs(region) == 1
    lost = plus.all(axis=1) & (region.tie_order[1:] < region.tie_order[0])
    return plus & ~lost[:, None]


def verdicts(region):
    """The verdicts at every level, from the highest: q = 1, ..., m - 1."""
    return [region.bounded(1 - q / region.m) for q in range(1, region.m)]


def check_count(region, count):
    """Bounded exactly from q = count + 1 on: what a decisive count says."""
    m = region.m
    expected = ["unbounded" if q <= count else "bounded" for q in range(1, m)]
    assert [v.verdict for v in verdicts(region)] == expected
    assert region.max_bounded_level == pytest.approx(max(0.0, 1 - (1 + count) / m), abs=1e-12)


def never_ends(region, verdict):
    """Membership along the direction of a verdict: in coefficients, and in fitted values."""
    u = verdict.direction
    moved = region.objective.design.matrix @ u
    assert (
        np.abs(moved).max()
        > 1e-6 * np.linalg.norm(region.objective.design.matrix) * np.abs(u).max()
    )
    fitted = region.objective.design.matrix @ region.estimate
    for t in (1.0, -1.0, 1e3, -1e3):
        t = t / np.abs(moved).max()  # in units of fitted values
        assert region.contains(region.estimate + t * u, verdict.level)
        assert region.contains(lambda X, t=t: fitted + t * moved, verdict.level)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [4, 11])
def test_plus_signs_of_a_row_decide(n, seed):
    region = kernel_region(n, seed=seed)
    plus = kept(region).sum(axis=0)
    check_count(region, int(plus.max()))


@pytest.mark.parametrize("level", [0.5, 0.7, 0.9, 0.975])
def test_the_direction_of_a_verdict_never_ends(level):
    region = kernel_region()
    verdict = region.bounded(level)
    assert verdict.verdict == "unbounded"
    never_ends(region, verdict)
    # The direction is rounded, so exactly the ray may end, but beyond all that is resolved.
    assert region.reach(verdict.direction, level) > 1e9
    moved = region.objective.design.matrix @ verdict.direction
    assert (np.abs(moved) > 1e-6 * np.abs(moved).max()).sum() == 1  # one fitted value alone


# --- rays confirm verdicts ---


MODELS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(1.0),
    Ridge(1.0, fit_intercept=False),
    KernelRidge(kernel="rbf", gamma=0.5, alpha=1.0),
    KernelRidge(kernel="linear", alpha=1.0),
    KernelRidge(kernel="poly", degree=2, alpha=1.0, gamma=1.0),
]


@pytest.mark.slow
@given(
    model=st.sampled_from(MODELS),
    noise=st.sampled_from(["symmetric", "exchangeable", "symmetric-exchangeable", "spherical"]),
    n=st.integers(3, 12),
    d=st.integers(1, 4),
    whole=st.booleans(),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=18, deadline=None, derandomize=True)
def test_every_verdict_is_confirmed_by_rays(model, noise, n, d, whole, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X = np.round(X) if whole else X
    region = ua.confidence_region(
        model, X, rng.standard_t(2, size=n), noise=noise, m=20, random_state=seed
    )
    found = verdicts(region)
    order = ["unbounded", "undetermined", "bounded"]
    ranks = [order.index(v.verdict) for v in found]
    assert ranks == sorted(ranks)  # a lower level is never less bounded
    seen = np.linalg.pinv(region.objective.design.matrix) @ region.objective.design.matrix
    d = region.objective.d
    u = np.concatenate([np.eye(d), np.linalg.pinv(region.objective.design.matrix).T[:, :d]])
    u = np.concatenate([u, rng.normal(size=(40, d))]) @ seen
    u = u[np.linalg.norm(u, axis=1) > 1e-6]
    ends = region.reach(u, level=None)
    for q, verdict in enumerate(found, start=1):
        if verdict:
            assert not np.isposinf(ends[:, q - 1]).any()
        if verdict.verdict == "unbounded" and verdict.direction is None:
            # Counting proves it for a kernel of full rank, also where a rounded direction ends.
            assert isinstance(model, KernelRidge)
        elif verdict.verdict == "unbounded":
            # A rounded direction may end, but beyond all that double precision resolves.
            assert region.reach(verdict.direction, verdict.level) > 1e9
            assert np.linalg.norm(region.objective.design.matrix @ verdict.direction) > 0
            assert region.contains(region.estimate + 1e3 * verdict.direction, verdict.level)


# --- single values ---


def test_each_value_is_finite_exactly_where_its_own_signs_allow_it():
    X, y, _ = ua.datasets.sine(n=25, random_state=1)
    region = ua.confidence_region(KernelRidge(kernel="rbf", alpha=1.0), X, y, random_state=1, m=100)
    plus = (signs(region) > 0).sum(axis=0)
    assert plus.min() < 45 < 52 < plus.max()
    for q in (45, 50, 52):
        band = region.band(X, 1 - q / 100, method="joint")
        np.testing.assert_array_equal(np.isfinite(band.upper), plus < q)
        np.testing.assert_array_equal(np.isfinite(band.lower), plus < q)


# --- values at the inputs of a kernel, in 60 digits ---


M = 20


def exact_kernel(name, gamma, X):
    """The kernel matrix in 60 digits."""
    rows = [[mp.mpf(float(x)) for x in row] for row in X]
    g = mp.mpf(gamma)

    def k(u, v):
        if name == "rbf":
            return mp.exp(-g * sum((a - b) ** 2 for a, b in zip(u, v, strict=True)))
        if name == "laplacian":
            return mp.exp(-g * sum(abs(a - b) for a, b in zip(u, v, strict=True)))
        return (g * sum(a * b for a, b in zip(u, v, strict=True)) + 1) ** 3

    return mp.matrix([[k(u, v) for v in rows] for u in rows])


def exact_uppers(region, K, y, alpha, rows, q):
    """The q-th largest of the largest f(x_j) over the sets, for signs and a K of full rank."""
    n = len(y)
    inverse = mp.inverse(K + alpha * mp.eye(n))  # D / alpha
    y = mp.matrix([mp.mpf(float(v)) for v in y])
    found = {j: [] for j in rows}
    whole = (y.T * inverse * y)[0]
    for signs in region.perturbations.apply(np.ones(n)):
        J, P = ([i for i in range(n) if (signs[i] < 0) == flip] for flip in (True, False))
        for j in set(rows) - set(J):  # free, unless the set is empty
            found[j].append(mp.inf if J else -mp.inf)
        if not set(rows) & set(J):
            continue
        # y_i is y in the rows P and anything in J, with y_iᵀD y_i <= yᵀD y.
        D = mp.matrix([[inverse[a, b] for b in J] for a in J])
        across = mp.matrix([sum((inverse[a, b] * y[b] for b in P), mp.mpf(0)) for a in J])
        centre = -mp.lu_solve(D, across)
        y_P = [y[b] for b in P]
        rest = sum(y[a] * inverse[a, b] * y[b] for a in P for b in P) if y_P else mp.mpf(0)
        rho = whole - rest + (across.T * centre)[0] * -1
        for j in set(rows) & set(J):
            at = J.index(j)
            unit = mp.matrix([mp.mpf(int(a == j)) for a in J])
            spread = mp.lu_solve(D, unit)[at]
            # y_i = f + G(y - f) = 2f - y in the rows J.
            found[j].append((y[j] + centre[at] + mp.sqrt(rho * spread)) / 2)
    return [sorted(found[j], reverse=True)[q - 1] for j in rows]


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("kernel", "gamma", "alpha"),
    [
        (*kernel, alpha)
        for k, kernel in enumerate(
            [("rbf", 0.01), ("laplacian", 10.0), ("rbf", 10.0), ("laplacian", 0.01),
             ("rbf", 100.0), ("poly", 1.0)]
        )
        for alpha in (1e-7, 1e-5, 1e-4, 1e-2, 10.0)[k % 2 :: 2]
    ],
)  # fmt: skip
def test_certified_bands_hold_the_exact_bounds(kernel, gamma, alpha):
    rng = np.random.default_rng(int(gamma * 100))
    n = 9
    X = np.round(rng.uniform(0, 3, (n, 2)), 3)
    y = np.round(5 + rng.normal(size=n), 3)
    model = KernelRidge(kernel=kernel, gamma=gamma, alpha=alpha)
    region = ua.confidence_region(model, X, y, m=M, random_state=1)
    q = 14
    band = region.band(X[:3], level=1 - q / M, method="joint")
    with mp.workdps(60):
        K = exact_kernel(kernel, gamma, X)
        for j, exact in enumerate(exact_uppers(region, K, y, mp.mpf(alpha), range(3), q)):
            assert band.upper[j] >= exact * (1 - 1e-6)  # the penalty is near the door
            if band.status is Status.CERTIFIED:
                assert np.isfinite(band.upper[j])
            if alpha >= 1e-6 and kernel != "poly" and gamma >= 10 and mp.isfinite(exact):
                assert float(band.upper[j] - exact) < 1e-4 * (1 + abs(float(exact)))
