"""Ranks where kernel values in double precision, or only their rounding, decide."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern, RationalQuadratic
from sklearn.kernel_ridge import KernelRidge

import rationals
import unassuming as ua
from unassuming._exact import Exact
from unassuming.membership._exact import ExactGaps
from unassuming.membership._kernel_errors import KernelErrors
from unassuming.membership._states import State
from unassuming.objectives import Moves

ALPHA = 0.25
GAMMA = 0.004  # the least eigenvalue of a Gaussian kernel at X is then below rounding
X = np.linspace(0.1, 2.9, 7)[:, None]
Y = np.cos(X[:, 0]) + np.random.default_rng(1).normal(size=7)


def gaussian(u, v):
    return float(np.exp(-GAMMA * ((u - v) ** 2).sum()))


def exact_gaussian():
    g = Fraction(GAMMA)
    x = rationals.rational(X[:, 0])
    return [[rationals.exponential(-g * (u - v) ** 2) for v in x] for u in x]


def exact_quadratic():
    x = rationals.rational(X[:, 0])
    return [[(Fraction(0.3) * u * v + 1) ** 2 for v in x] for u in x]


MODELS = {
    "rbf": ({"kernel": "rbf", "gamma": GAMMA}, exact_gaussian),
    "callable": ({"kernel": gaussian}, exact_gaussian),
    "polynomial": ({"kernel": "poly", "degree": 2, "gamma": 0.3}, exact_quadratic),
    "rational quadratic": ({"kernel": RationalQuadratic(6.0, 1.5)}, None),
    "Matern": ({"kernel": Matern(30.0, nu=2.5)}, None),
    "laplacian": ({"kernel": "laplacian", "gamma": 1e-4}, None),
    "cosine": ({"kernel": "cosine"}, None),
}


def region_of(name, x=X, y=Y, alpha=ALPHA, **options):
    if name == "cosine":
        x = np.column_stack([x[:, 0] + 1, x[:, 0] ** 2])
    model = KernelRidge(alpha=alpha, **MODELS[name][0])
    return ua.confidence_region(model, x, y, m=10, random_state=3, **options)


def weakest(region):
    return np.linalg.eigh(region.objective.design.K)[1][:, 0]


def answers(region, a):
    """The ranks alone and among 40; None where it is refused."""
    found = []
    for asked in (a, np.vstack([a, *[region.estimate] * 39])):
        try:
            found.append(int(np.ravel(region.rank(asked))[0]))
        except ArithmeticError as error:
            if "cannot be decided" not in str(error):
                raise
            found.append(None)
    return found


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", MODELS)
def test_far_out_every_rank_is_exact_or_refused(name):
    """It is the rank of the computed kernel values and that of the kernel itself."""
    region, kernel = region_of(name), MODELS[name][1]
    K = None if kernel is None else kernel()
    refused = []
    for size in 10.0 ** np.arange(10.0, 20.0, 2.0):
        a = region.estimate + size * weakest(region)
        alone, among = answers(region, a)
        assert alone == among
        refused.append(alone is None)
        if alone is not None:
            assert alone == rationals.region_rank(region, ALPHA, a)
            assert K is None or alone == rationals.region_rank(region, ALPHA, a, K)
    assert not refused[0]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
@pytest.mark.parametrize("name", ["polynomial", "callable"])
def test_a_rank_that_the_rounding_of_the_kernel_decides_is_refused(name, noise):
    """Between certain members and certain outsiders is a range where nothing can be said.

    For a Gaussian kernel it is so narrow that kernel values of some processors leave nothing of it.
    """
    region = region_of(name, noise=noise)
    sizes = 10.0 ** np.append(10, np.arange(13, 16, 0.1))
    found = [answers(region, region.estimate + size * weakest(region))[0] for size in sizes]
    assert None in found
    assert found[0] == 1


@pytest.mark.parametrize("n", [7, 70])
def test_a_kernel_matrix_that_was_given_is_exact(n):
    x = np.linspace(0, 3, n)[:, None]
    y = np.random.default_rng(2).normal(size=n)
    K = np.exp(-0.05 * (x - x.T) ** 2)
    region = ua.confidence_region(
        KernelRidge(kernel="precomputed", alpha=ALPHA), K, y, m=10, random_state=3
    )
    for power in range(10, 20):
        a = region.estimate + 10.0**power * weakest(region)
        alone, among = answers(region, a)
        assert alone == among != None  # noqa: E711
        if n == 7:
            assert alone == rationals.region_rank(region, ALPHA, a)


@pytest.mark.parametrize("model", [KernelRidge, ua.KernelHuber])
def test_many_rows_are_refused_alone_and_among_others(model):
    """Beyond the size at which exact numbers are affordable, bounds of the errors decide."""
    x = np.linspace(0, 3, 70)[:, None]
    y = np.random.default_rng(2).normal(size=70)
    region = ua.confidence_region(
        model(kernel="rbf", gamma=0.05, alpha=ALPHA), x, y, m=10, random_state=3
    )
    null = np.zeros(70)
    null[20:33] = np.poly(np.ones(12))  # differences of order 12 of neighbours vanish
    found = [answers(region, region.estimate + 10.0**k * null) for k in range(1, 19)]
    assert all(alone == among for alone, among in found)
    assert [alone for alone, _ in found[:8]] == [1] * 8
    assert [None, None] in found


@pytest.mark.slow
def test_large_kernel_values_with_an_intercept_are_ranked_in_exact_numbers():
    """Whole multiples of a large power of two, beside a column of ones."""
    L = np.array([[3.0, 1, 0], [1, -2, 5], [4, 4, 1], [0, 1, -1]])
    K = 2.0**70 * (L @ L.T)
    y = np.array([1.0, -1, 1, -1])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The published region of LS-SVC", UserWarning)
        region = ua.confidence_region(
            ua.LSSVC(0.5, kernel="precomputed"), K, y, noise="exchangeable", m=5, random_state=0
        )
    null = np.array([0.0, *np.linalg.svd(L.T)[2][-1]])
    for size in (1.0, 1e-12, 1e8):
        a = region.estimate + size * null
        exact = rationals.statistics(
            region.objective.design.matrix,
            region.objective.design.penalty_matrix(),
            y,
            1.0,
            a,
            rationals.images(region),
        )
        assert answers(region, a)[0] == rationals.rank(exact, region.tie_order)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("alpha", [1e-4, 1e-9, 1.0])
@pytest.mark.parametrize("n", [12, 70])
@pytest.mark.parametrize("name", MODELS)
def test_ordinary_candidates_are_never_refused(name, n, alpha):
    rng = np.random.default_rng(4)
    x = np.sort(rng.uniform(0.1, 3, size=(n, 1)), axis=0)
    truth = rng.normal(size=n)
    model = region_of(name, x, rng.normal(size=n), alpha=alpha)
    y = model.objective.design.matrix @ truth + 0.1 * rng.standard_t(2, size=n)
    region = region_of(name, x, y, alpha=alpha)
    near = [truth, region.estimate, 0.0 * truth, 2 * truth, *rng.normal(size=(20, n)) * 100]
    near += list(region.estimate * (1 + 0.1 * rng.normal(size=(20, n))))
    ranks = region.rank(np.array(near))
    assert ((ranks >= 1) & (ranks <= 10)).all()
    assert [region.rank(a) for a in near[:6]] == ranks[:6].tolist()
    assert region.rank(lambda _: np.zeros(n)) >= 1
    assert region.rank(region.estimate) == 1 or alpha < 1e-6


def test_searches_are_not_stopped_by_candidates_that_cannot_be_ranked():
    x = np.linspace(0, 3, 70)[:, None]
    region = region_of("rbf", x, np.sin(x[:, 0]) + np.random.default_rng(0).normal(size=70))
    band = region.band(x[:2], inner=True)
    assert (band.lower <= band.inner_lower).all()


@pytest.mark.parametrize("intercept", [0, 1])
@pytest.mark.parametrize("weights", [np.ones(7), np.array([1.0, 2, 5, 1, 0.5, 3, 1])])
def test_no_error_within_its_bounds_changes_a_gap_by_more_than_the_bound(weights, intercept):
    rng = np.random.default_rng(7)
    K, lam = np.exp(-GAMMA * (X - X.T) ** 2), 0.1 / 7
    moved = [rng.permutation(np.arange(1.0, 8)) * rng.choice([-1, 1], size=7) for _ in range(9)]
    moves = Moves.of(np.array(moved))

    def at(K, a):
        design = ua.objectives.KernelDesign(K, intercept=bool(intercept))
        objective = ua.objectives.Quadratic(design, Y, weights, lam)
        system, a = ExactGaps.build(objective, moves).system, Exact.of(a)
        r = system.residuals(a)
        return objective, State(system, moves, a, r, np.arange(9), lambda _: False)

    entries = 5e-16 * np.ones((7, 7))
    null = np.concatenate([np.zeros(intercept), np.linalg.eigh(K)[1][:, 0]])
    shares = []
    for size in (1.0, 1e8, 1e12, 1e14, 1e17):
        a = rng.normal(size=7 + intercept) + size * null
        objective, here = at(K, a)
        bound = KernelErrors(objective, entries).change(a, here.sides, moves)
        for _ in range(5):
            error = np.triu(entries * rng.choice([-1.0, 1.0], size=(7, 7)))
            other = K + error + np.triu(error, 1).T
            assert (np.abs(other - K) <= 1.5 * entries).all()  # rounded once more
            change = np.abs(as_floats(at(other, a)[1].gaps) - as_floats(here.gaps))
            shares.append(change / bound)
    assert np.max(shares) <= 1.5
    assert np.max(shares) > 0.05  # it is not far too wide either


def as_floats(x):
    return np.array([int(v) / (1 << x.shift) for v in x.number])
