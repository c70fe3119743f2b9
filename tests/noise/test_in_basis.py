"""Noise in another basis: transformations of coordinates, and what is refused."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.fft import dct
from scipy.stats import binom, ortho_group
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR, LinearSVR

import unassuming as ua

pytestmark = pytest.mark.slow_but_first
N = 24
RNG = np.random.default_rng(3)
Q = ortho_group.rvs(N, random_state=1)
X = RNG.normal(size=(N, 2))
Y = 0.5 + X @ [1.0, -2.0] + Q @ (RNG.laplace(size=N) * np.geomspace(2, 0.2, N))


def region_of(model, noise, X=X, y=Y, **options):
    return ua.confidence_region(
        model, X, y, noise=noise, **{"m": 100, "random_state": 0, **options}
    )


class Plain(ua.noise.Noise):
    """The same transformations, as a class about which nothing else is known."""

    orthogonal = True

    def __init__(self, noise):
        self.noise = noise

    def draw(self, n, size, rng):
        return self.noise.draw(n, size, rng)

    def apply(self, drawn, residuals, fitted):
        return self.noise.apply(drawn, residuals, fitted)


MODELS = {
    "least squares": LinearRegression(),
    "ridge": Ridge(2.0),
    "lasso": Lasso(0.2),
    "elastic net": ElasticNet(0.2),
    "kernel ridge": KernelRidge(kernel="rbf", gamma=0.5),
    "Huber": HuberRegressor(),
    "LinearSVR": LinearSVR(epsilon=0.2),
    "SVR": SVR(epsilon=0.2),
}


@pytest.mark.parametrize("name", MODELS)
def test_ranks_are_those_of_transformed_residuals(name):
    noise = ua.noise.InBasis(Q)
    one, two = region_of(MODELS[name], noise), region_of(MODELS[name], Plain(noise))
    tried = one.estimate + 0.3 * np.random.default_rng(1).normal(size=(60, one.objective.d))
    np.testing.assert_array_equal(one.rank(tried), two.rank(tried))
    np.testing.assert_allclose(one.statistics(tried[0]), two.statistics(tried[0]), rtol=1e-9)
    np.testing.assert_allclose(one.estimate, two.estimate, atol=1e-9)
    assert one.rank(one.estimate) == 1
    f = lambda X: 0.4 + X @ [1.1, -1.9]  # noqa: E731
    assert one.rank(f) == two.rank(f)
    r = RNG.normal(size=N)
    np.testing.assert_array_equal(one.perturbations.apply(r), two.perturbations.apply(r))


@pytest.mark.slow
def test_values_one_at_a_time_cover_a_function_of_bounded_norm():
    """The noise is correlated, and independent in rotated rows."""
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    a = np.random.default_rng(1).normal(size=N)
    norm, truth, runs = float(np.sqrt(a @ K @ a)), (K @ a)[0], 100
    model, hits, cells = KernelRidge(kernel="rbf", gamma=0.5), 0, np.arange(N) % 8
    for seed in range(runs):
        e = Q @ (np.random.default_rng(seed).laplace(size=N) * np.geomspace(2, 0.2, N))
        region = region_of(model, ua.noise.InBasis(Q), y=K @ a + e, m=20)
        found = region.band(X[:1], level=0.8, norm_bound=norm, simultaneous=False, cells=cells)
        hits += bool(found.lower[0] <= truth <= found.upper[0])
    assert hits >= binom.ppf(1e-6, runs, found.attained[0])


@pytest.mark.parametrize(
    "model", [Ridge(1.0), LinearRegression(), KernelRidge(kernel="rbf")], ids=str
)
def test_all_signs_of_coordinates_give_every_rank_equally_often(model):
    n = 4
    basis = ortho_group.rvs(n, random_state=5)
    inputs = np.array([[0.0], [1.0], [2.5], [3.0]])
    size, ranks = np.array([0.3, 1.0, 1.9, 3.1]), []
    for signs in product([-1, 1], repeat=n):
        y = 1 + inputs[:, 0] + basis @ (np.array(signs) * size)
        region = region_of(model, ua.noise.InBasis(basis), inputs, y, m="all")
        ranks.append(region.rank(lambda X: 1 + X[:, 0]))
    counts = Counter(ranks)
    assert sorted(counts) == list(range(1, region.m + 1))
    assert set(counts.values()) == {16 // region.m}


@pytest.mark.slow
def test_coverage_of_correlated_heavy_tails():
    """A cosine basis, Cauchy coordinates that die out: exact here, and wrong row by row."""
    n, runs, m, q = 16, 250, 10, 2
    basis = dct(np.eye(n), norm="ortho")
    rng, inside, far, rowwise = np.random.default_rng(7), 0, 0, 0
    x = np.linspace(0, 1, n)[:, None]
    scale = 1 / (1 + np.arange(n)) ** 2
    for seed in range(runs):
        y = 2 + 3 * x[:, 0] + basis @ (scale * rng.standard_cauchy(n))
        region = region_of(Ridge(0.1), ua.noise.InBasis(basis), x, y, m=m, random_state=seed)
        both = region.contains([[2.0, 3.0], [2.0, 9.0]], level=1 - q / m)
        inside, far = inside + both[0], far + both[1]
        plain = region_of(Ridge(0.1), "symmetric", x, y, m=m, random_state=seed)
        rowwise += plain.contains([2.0, 3.0], level=1 - q / m)
    low, high = binom.ppf([5e-7, 1 - 5e-7], runs, 1 - q / m)
    assert low <= inside <= high
    assert far < low / 2
    assert rowwise < low


def test_equal_weights_change_nothing_and_others_are_refused():
    noise = ua.noise.InBasis(Q)
    one, two = (
        region_of(Ridge(0.5), noise),
        region_of(Ridge(1.0), noise, sample_weight=np.full(N, 2.0)),
    )
    np.testing.assert_allclose(one.estimate, two.estimate, atol=1e-12)
    with pytest.raises(ValueError, match="sample_weight varies, and noise in another basis mixes"):
        region_of(Ridge(), noise, sample_weight=np.linspace(1, 2, N))
    with pytest.raises(ua.NotAvailable, match="rows cannot be left out of noise in another basis"):
        region_of(Ridge(), noise, sample_weight=np.r_[0, np.ones(N - 1)])


def test_what_is_about_rows_is_refused():
    region = region_of(LinearRegression(), ua.noise.InBasis(Q))
    for ask in (
        region.diagnose,
        region.lack_of_fit,
        lambda: region.interval(model_error=0.1, simultaneous=True, method="joint", level=0.9),
    ):
        with pytest.raises(ua.NotAvailable, match="describes the noise in another basis"):
            ask()
    with pytest.raises(ValueError, match=r"does not fit a stream.*InBasis.*in memory"):
        ua.StreamingRegion(Ridge(), noise=ua.noise.InBasis(Q))
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2)
    with pytest.raises(
        ua.NotAvailable, match="noise does not say what it assumes when rows are set aside"
    ):
        ua.tuned_region(search, X, Y, noise=ua.noise.InBasis(Q), random_state=0)
    kernel = region_of(KernelRidge(kernel="rbf"), ua.noise.InBasis(Q, "exchangeable"))
    with pytest.raises(ua.NotAvailable, match="need noise whose signs may change"):
        kernel.band(X[:2], norm_bound=10, simultaneous=False, level=0.9)
    with pytest.raises(ValueError, match="noise does not fit"):
        region_of(QuantileRegressor(), ua.noise.InBasis(Q))
    with pytest.warns(UserWarning, match="no coverage guarantee"):
        region_of(RidgeClassifier(), ua.noise.InBasis(Q), X, np.where(Y > 0, 1, 0))


SKEW = Q + 1e-9
BAD = {
    "a vector": ((np.ones(3),), r"basis is not an orthogonal matrix.*given shape \(3,\)"),
    "not square": ((Q[:, :5],), r"basis is not an orthogonal matrix.*shape \(24, 5\)"),
    "NaN": ((np.full((3, 3), np.nan),), "basis is not an orthogonal matrix"),
    "text": (("fourier",), "basis is not an orthogonal matrix"),
    "not orthogonal": ((np.ones((3, 3)),), r"basis is not an orthogonal matrix.*off by 3"),
    "nearly orthogonal": ((SKEW,), "basis is not an orthogonal matrix"),
    "scaled": ((2 * Q,), "basis is not an orthogonal matrix"),
    "single precision": ((Q.astype(np.float32),), "basis is not an orthogonal matrix"),
    "labels": ((Q, "labels"), "inner does not act by orthogonal maps.*given Labels"),
    "quantile": ((Q, ua.noise.Quantile(0.5)), "inner does not act by orthogonal maps"),
    "twice": ((Q, ua.noise.InBasis(Q)), "multiply two matrices"),
    "unknown": ((Q, "normal"), "noise is not a known assumption"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_sentence(name):
    arguments, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        ua.noise.InBasis(*arguments)
