"""Exactness by counting: every noise vector of an orbit, every transformation, every tie order.

When e runs through all images of one vector under a finite group, and the region compares it with
all the others, the true coefficients lie in the region of level 1 - q/m for exactly that share of
the noise vectors. Nothing is sampled here, so nothing is approximate: counts are compared with
``==``, as integers or as rationals.
"""

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.svm import SVR

import unassuming as ua
from enumeration import (
    Chosen,
    ChosenLabels,
    assert_exact_on_average,
    rank_bounds,
)
from speed import slow_but
from unassuming.noise import BlockSymmetric, ExchangeableWithin, Perturbations, as_noise

pytestmark = [
    pytest.mark.slow_but_first,
    # A kernel without a penalty is refused, but its ranks tie as they should.
    pytest.mark.filterwarnings("ignore:Ranks and p-values may follow rounding:UserWarning"),
]
E = np.array([0.31, -1.7, 0.052, 2.9, 0.83, -0.46])  # skewed, all sizes different


class Case:
    """A model with inputs and true coefficients, from which outputs with any noise are made."""

    def __init__(self, estimator, n, *, noise="symmetric", X=1, seed=0, a=None, **options):
        rng = np.random.default_rng(seed)
        self.estimator, self.n = estimator, n
        self.noise, self.options = as_noise(noise), options
        self.X = rng.normal(size=(n, X)) if isinstance(X, int) else X
        self.f = np.zeros(n)
        objective = self.region(E[:n]).objective
        self.a = rng.normal(size=objective.d) if a is None else np.asarray(a, dtype=float)
        self.f = E[:n] - objective.residuals(self.a[None])[0]

    def region(self, e, m="all", **more):
        """The region whose hidden noise is e."""
        options = {"noise": self.noise, "random_state": 0, **self.options, **more}
        return ua.confidence_region(self.estimator, self.X, self.f + e, m=m, **options)

    def orbit(self):
        """All images of one noise vector, itself first."""
        e = E[: self.n]
        return [e, *Perturbations.enumerate(self.noise, self.n, modulo_sign=False).apply(e)]


def levels(m):
    return [1 - q / m for q in range(1, m)]


def assert_exact_by_count(case, candidates=None, pick=None, **more):
    """Count the noise vectors whose true coefficients lie inside, at every level."""
    orbit, counts = case.orbit(), {}
    for e in orbit:
        region = case.region(e, **more)
        inside = region.contains(case.a if candidates is None else candidates, levels(region.m))
        for p, member in inside.items():
            counts[p] = counts.get(p, 0) + int(member if pick is None else member[pick])
    m = region.m
    assert len(orbit) % m == 0
    for q in range(1, m):
        assert counts[1 - q / m] == (m - q) * (len(orbit) // m)
    return m


LINEAR = {
    "least squares": (LinearRegression(), {}),
    "least squares without intercept": (LinearRegression(fit_intercept=False), {}),
    "ridge": (Ridge(alpha=0.3), {}),
    "Lasso": (Lasso(alpha=0.1), {}),
    "HuberRegressor": (HuberRegressor(epsilon=1.3, alpha=0.1), {}),
}
KERNEL = {
    "kernel ridge": (KernelRidge(kernel="rbf", gamma=0.5, alpha=0.5), {}),
    "SVR": (SVR(C=10, epsilon=0.1, gamma=1.0), {}),
    "KernelLasso": (ua.KernelLasso(0.3, kernel="rbf"), {}),
    "KernelHuber": (ua.KernelHuber(0.5, kernel="rbf", delta=1.5), {}),
}
SIGNS_ONLY = {
    "SVR as published": (SVR(C=10, epsilon=0.1, gamma=1.0), {"weighting": "identity"}),
    "weighted kernel ridge": (
        KernelRidge(kernel="rbf", alpha=0.5),
        {"sample_weight": np.array([1.0, 3.0, 0.5, 2.0, 1.0, 4.0])},
    ),
    "KernelHuber with large residuals": (ua.KernelHuber(0.5, kernel="rbf", delta=0.3), {}),
}


def make(name, n, **more):
    estimator, options = (LINEAR | KERNEL | SIGNS_ONLY)[name]
    return Case(estimator, n, **{"X": 2 if name in LINEAR else 1, **options, **more})


# --- no ties: integers -----------------------------------------------------------------------


@pytest.mark.parametrize("name", LINEAR | KERNEL | SIGNS_ONLY)
def test_all_signs_of_six_rows_cover_exactly(name):
    m = assert_exact_by_count(make(name, 6))
    assert m == (32 if "least squares" in name else 64)  # modulo ±I without a penalty


@pytest.mark.parametrize("name", slow_but(LINEAR | KERNEL, "ridge", "SVR"))
def test_all_permutations_of_four_rows_cover_exactly(name):
    assert assert_exact_by_count(make(name, 4, noise="exchangeable")) == 24


@pytest.mark.parametrize("name", LINEAR | KERNEL)
def test_all_permutations_within_blocks_of_four_and_two_rows_cover_exactly(name):
    assert assert_exact_by_count(make(name, 6, noise=ExchangeableWithin(4))) == 48


@pytest.mark.parametrize("name", LINEAR | KERNEL)
def test_all_signed_permutations_of_three_rows_cover_exactly(name):
    m = assert_exact_by_count(make(name, 3, noise="symmetric-exchangeable", X=1))
    assert m == (24 if "least squares" in name else 48)


@pytest.mark.parametrize("name", LINEAR | KERNEL | SIGNS_ONLY)
def test_all_signs_of_three_blocks_cover_exactly(name):
    m = assert_exact_by_count(make(name, 6, noise=BlockSymmetric([0, 0, 1, 2, 1, 2])))
    assert m == (4 if "least squares" in name else 8)


SPARSE = {
    "KernelLasso": Case(ua.KernelLasso(3.0, kernel="rbf"), 6, a=[0, 1.0, 0, 0, -0.5, 0]),
    "Lasso": Case(Lasso(alpha=1.0), 6, X=3, a=[1.0, 0, 0, 0.5]),
    "SVR, all outside the tube": Case(
        SVR(C=2.0, epsilon=0.01, gamma=1.0), 6, a=[0.2, 0, 1.1, 0, -0.7, 0, 0.4]
    ),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_true_coefficients_are_covered_exactly(name):
    assert assert_exact_by_count(SPARSE[name]) == 64


# --- ties: rationals, on average over the tie order ------------------------------------------

SVR_SPARSE = SVR(C=2.0, epsilon=0.6, gamma=1.0)  # some residuals are inside the tube
SOME_ZERO = [0.2, 0, 1.1, 0, -0.7, 0.4]
AS_PUBLISHED = {"weighting": "identity"}
PERMUTED = {"noise": "exchangeable"}
TIED = {
    "least squares with both of each pair": Case(LinearRegression(), 5, X=2),
    "SVR with zero coefficients": Case(SVR_SPARSE, 5, a=SOME_ZERO),
    "SVR with zero coefficients, as published": Case(SVR_SPARSE, 5, a=SOME_ZERO, **AS_PUBLISHED),
    "SVR at the box": Case(SVR_SPARSE, 5, a=[0, 2.0, -2.0, 0, 0.5, 3.0]),
    "SVR at zero": Case(SVR_SPARSE, 4, a=np.zeros(5), **AS_PUBLISHED),
    "SVR under permutations": Case(SVR_SPARSE, 4, **PERMUTED, **AS_PUBLISHED),
    "SVR with zeros under permutations": Case(SVR_SPARSE, 4, a=[1, 0, 0, 0.3, 0], **PERMUTED),
    "KernelLasso at zero": Case(ua.KernelLasso(4.0, kernel="rbf"), 5, a=np.zeros(5)),
    "Lasso, intercept alone": Case(Lasso(alpha=0.3), 5, X=2, a=[1.0, 0, 0]),  # Z is even there
    "KernelHuber beyond the threshold": Case(
        ua.KernelHuber(0.5, kernel="rbf", delta=0.3), 4, **PERMUTED
    ),
    "intercept under permutations": Case(
        LinearRegression(fit_intercept=False), 4, X=np.ones((4, 1)), **PERMUTED
    ),
    "kernel ridge without penalty": Case(KernelRidge(kernel="rbf", alpha=0.0), 5),
    "block signs, least squares": Case(
        LinearRegression(), 6, X=2, noise=BlockSymmetric([0, 0, 1, 1, 2, 2])
    ),
}


def builder(case, e):
    """The region whose hidden noise is e, compared with both elements of every pair ±G."""
    group, order = case.noise.group(case.n, modulo_sign=False)
    return partial(case.region, e, m=order, noise=Chosen(case.noise, group))


@pytest.mark.parametrize("name", TIED)
def test_with_ties_coverage_is_exact_on_average_over_the_tie_order(name):
    case = TIED[name]
    bounds = [rank_bounds(builder(case, e), case.a) for e in case.orbit()]
    assert any(low < high for low, high in bounds)  # there are ties
    assert_exact_on_average(bounds, len(bounds))


@pytest.mark.slow
@pytest.mark.parametrize("name", TIED)
def test_with_ties_in_favour_coverage_is_at_least_the_level(name):
    case = TIED[name]
    regions = [case.region(e, ties="conservative") for e in case.orbit()]
    ranks, m = [region.rank(case.a) for region in regions], regions[0].m
    for q in range(1, m):
        assert sum(r <= m - q for r in ranks) >= Fraction(m - q, m) * len(ranks)


ALL_TIE = Case(LinearRegression(fit_intercept=False), 3, X=np.ones((3, 1)), **PERMUTED)


@pytest.mark.slow
def test_the_tie_order_of_a_region_is_drawn_uniformly():
    ranks = []
    for seed in range(240):
        region = ALL_TIE.region(E[:3], random_state=seed)
        ranks.append(region.rank(ALL_TIE.a))
    counts = np.bincount(ranks, minlength=7)[1:]
    # A rank that never occurs makes the statistic 48 or more; the band ends at 37.
    statistic = ((counts - 40) ** 2 / 40).sum()
    assert chi2.ppf(5e-7, 5) <= statistic <= chi2.isf(5e-7, 5)


# --- drawn transformations: every draw there could have been ---------------------------------

DRAWN = {
    "signs, least squares": (LinearRegression(fit_intercept=False), "symmetric", 2, {}),
    "signs, ridge": (Ridge(alpha=0.2), "symmetric", 2, {}),
    "signs, SVR": (SVR(), "symmetric", 2, {}),
    "signs, SVR as published": (SVR(), "symmetric", 2, {"weighting": "identity"}),
    "signs of three rows, kernel LASSO": (ua.KernelLasso(0.3, kernel="rbf"), "symmetric", 3, {}),
    "permutations, least squares": (LinearRegression(), "exchangeable", 3, {}),
    "within blocks, ridge": (Ridge(alpha=0.2), ExchangeableWithin(2), 4, {}),
    "both, kernel ridge": (KernelRidge(kernel="rbf"), "symmetric-exchangeable", 2, {}),
}


@pytest.mark.parametrize(
    ("m", "name"),
    [
        *((2, name) for name in DRAWN),
        *(
            (3, name)
            for name in ("signs, least squares", "signs, SVR", "permutations, least squares")
        ),
        (3, "within blocks, ridge"),
    ],
)
def test_all_draws_and_all_noise_vectors_together_cover_exactly(name, m):
    """With repeated draws and the identity among them, as in any sample."""
    estimator, noise, n, options = DRAWN[name]
    case = Case(estimator, n, noise=noise, **options)
    group, order = case.noise.group(n, modulo_sign=False)
    bounds = []
    for e in case.orbit():
        for drawn in product(range(order), repeat=m - 1):
            chosen = Chosen(case.noise, element(group, drawn, n))
            bounds.append(rank_bounds(partial(case.region, e, m=m, noise=chosen), case.a))
    assert len(bounds) == order**m
    assert any(low < high for low, high in bounds)
    assert_exact_on_average(bounds, m)


def element(group, chosen, n):
    """Pick elements of an enumerated group by number; number 0 is the identity."""
    if isinstance(group, tuple):
        identities = (np.ones(n, dtype=np.int8), np.arange(n))
        parts = zip(identities, group, strict=True)
        return tuple(np.stack([one, *part])[list(chosen)] for one, part in parts)
    identity = np.arange(n) if group.dtype == np.intp else np.ones(n, dtype=group.dtype)
    return np.stack([identity, *group])[list(chosen)]


# --- labels: every label vector and every fresh one, with their probabilities ----------------


@pytest.mark.parametrize("estimator", [RidgeClassifier(alpha=0.5), ua.LSSVC(C=0.7)], ids=str)
@pytest.mark.parametrize(("m", "x"), [(2, [-1.0, 0.0]), (3, [1.0])])
def test_labels_cover_exactly(estimator, m, x):
    # E[y|x] = x / 2. The two rows at x = ±2 have certain labels, so both classes always occur;
    # the others have probabilities in quarters, which four uniform numbers represent exactly.
    x = np.array([2.0, -2.0, *x])
    f, a, free = x / 2, np.array([0.0, 0.5]), len(x) - 2
    uniforms = [[0.5, 0.5, *u] for u in product([1 / 8, 3 / 8, 5 / 8, 7 / 8], repeat=free)]
    bounds, weights = [], []
    for labels in product([-1.0, 1.0], repeat=free):
        y = np.array([1.0, -1.0, *labels])
        probability = np.prod([Fraction(1 + label * v) / 2 for label, v in zip(y, f, strict=True)])
        for drawn in product(uniforms, repeat=m - 1):
            options = {"noise": ChosenLabels(drawn), "m": m}
            build = partial(ua.confidence_region, estimator, x[:, None], y, **options)
            bounds.append(rank_bounds(build, a))
            weights.append(probability / len(uniforms) ** (m - 1))
    assert sum(weights) == 1
    assert_exact_on_average(bounds, m, weights)
