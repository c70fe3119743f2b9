"""ElasticNet and LinearSVR: plain formulas, all sign vectors, and what is refused."""

import itertools

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import ElasticNet
from sklearn.svm import LinearSVR

import unassuming as ua

pytestmark = pytest.mark.slow_but_first
SQUARED = "squared_epsilon_insensitive"
MODELS = {
    "elastic net": ElasticNet(alpha=0.3, l1_ratio=0.4),
    "elastic net without intercept": ElasticNet(alpha=0.3, l1_ratio=0.7, fit_intercept=False),
    "tube": LinearSVR(epsilon=0.4, C=0.7),
    "absolute values": LinearSVR(epsilon=0.0, C=0.5, intercept_scaling=2.0),
    "squared tube": LinearSVR(epsilon=0.4, loss=SQUARED, fit_intercept=False),
}


def data(n=14, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.arange(1, d + 1) - 0.5 + rng.laplace(size=n)


def region_of(model, X, y, **options):
    return ua.confidence_region(model, X, y, **{"m": 40, "random_state": 0, **options})


def score(model, X, a, r):
    """Return the gradient in 30 digits, written down from scikit-learn's documentation."""
    Phi = np.column_stack([np.ones(len(X)), X]) if model.fit_intercept else X
    n, d, first = len(r), len(a), int(model.fit_intercept)
    g = mpmath.zeros(d, 1)
    for j in range(d):
        sums = [mpmath.mpf(Phi[i, j]) * rho(model, mpmath.mpf(r[i])) for i in range(n)]
        if isinstance(model, ElasticNet):
            alpha, share = model.alpha * (j >= first), model.l1_ratio
            g[j] = mpmath.fsum(sums) / n - alpha * (1 - share) * mpmath.mpf(a[j])
            box = alpha * share
            sign = mpmath.sign(a[j])
            clipped = min(max(g[j], -box), box) if a[j] == 0 else box * sign
            g[j] -= clipped
        else:
            held = mpmath.mpf(1) if j >= first else mpmath.mpf(model.intercept_scaling) ** -2
            g[j] = model.C * mpmath.fsum(sums) - held * mpmath.mpf(a[j])
    return g


def rho(model, r):
    if isinstance(model, ElasticNet):
        return r
    outside = max(abs(r) - model.epsilon, 0)
    return mpmath.sign(r) * (2 * outside if model.loss == SQUARED else (outside > 0))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weighting", ["identity", "hessian"])
def test_statistics_are_those_of_the_plain_formula(name, weighting):
    model, (X, y) = MODELS[name], data()
    region = region_of(model, X, y, m=8, weighting=weighting)
    a = np.random.default_rng(1).normal(size=region.objective.d)
    Phi = region.objective.design.matrix
    psi = np.eye(len(a))
    if weighting == "hessian":
        # cΦᵀΦ plus the ridge, with c the largest slope of the loss (of the jump: C itself)
        if isinstance(model, ElasticNet):
            ridge = model.alpha * (1 - model.l1_ratio) * (np.arange(len(a)) >= model.fit_intercept)
            H = Phi.T @ Phi / len(y) + np.diag(ridge)
        else:
            ridge = np.ones(len(a))
            ridge[0] = model.intercept_scaling**-2 if model.fit_intercept else 1.0
            H = model.C * (2 if model.loss == SQUARED else 1) * Phi.T @ Phi + np.diag(ridge)
        psi = np.linalg.inv(np.linalg.cholesky(H))
    for candidate in (a, np.where(np.arange(len(a)) == len(a) - 1, 0.0, a)):
        r = y - Phi @ candidate
        rows = [r, *region.perturbations.apply(r)]
        plain = [
            float(sum(z**2 for z in mpmath.matrix(psi) * score(model, X, candidate, row)))
            for row in rows
        ]
        np.testing.assert_allclose(region.statistics(candidate), plain, rtol=1e-10)


@pytest.mark.parametrize("name", MODELS)
def test_all_signs_of_the_noise_give_every_rank_equally_often(name):
    """The group has 32 elements, so the rank of the truth takes each value once (no ties here)."""
    model, (X, _) = MODELS[name], data(n=5, d=1, seed=3)
    size = np.array([0.5, 0.9, 1.4, 2.3, 3.1])
    truth = np.array([0.6, -0.8] if model.fit_intercept else [-0.8])
    Phi = np.column_stack([np.ones(5), X]) if model.fit_intercept else X
    ranks = []
    for signs in itertools.product([-1, 1], repeat=5):
        y = Phi @ truth + np.array(signs) * size
        ranks.append(int(region_of(model, X, y, m="all").rank(truth)))
    assert sorted(ranks) == list(range(1, 33))


@pytest.mark.parametrize("name", MODELS)
def test_the_estimate_is_the_minimum_and_lies_in_every_region(name):
    model, (X, y) = MODELS[name], data(n=20, d=3, seed=5)
    region = region_of(model, X, y, ties="conservative")
    statistics = region.statistics(region.estimate)
    assert statistics[0] <= 1e-20 * np.median(statistics[1:])
    assert region.rank(region.estimate) == 1
    fitted = region.objective.fitted(region.estimate[None])[0]
    strict = {"tol": 1e-10, "max_iter": 10_000_000}
    other = type(model)(**{**model.get_params(), **strict}).fit(X, y).predict(X)
    np.testing.assert_allclose(fitted, other, atol=1e-6)


def test_where_residuals_meet_the_tube_the_shortest_gradient_counts():
    X, y = data(n=12, d=2, seed=2)
    for epsilon in (0.0, 0.5):
        region = region_of(LinearSVR(epsilon=epsilon), X, y, weighting="identity")
        # Through two rows, one on each side of the tube if it has a width.
        Phi = np.column_stack([np.ones(12), X])
        target = y[:2] - epsilon * np.array([1.0, -1.0])
        least = np.linalg.lstsq(Phi[:2], target, rcond=None)[0]
        a = least + 0.3 * np.linalg.svd(Phi[:2])[2][2]
        r = y - Phi @ a
        fixed = np.sign(r) * (np.abs(r) > epsilon)
        fixed[:2] = 0

        def square(b, fixed=fixed, a=a, Phi=Phi):
            return ((Phi.T @ fixed + Phi[:2].T @ b - a) ** 2).sum()

        box = [(0, 1), (-1, 0)] if epsilon else [(-1, 1)] * 2
        best = min(minimize(square, start, bounds=box).fun for start in ([0, 0], [0.5, -0.5]))
        assert region.statistics(a)[0] == pytest.approx(best, rel=1e-6)
        nearby = [region.statistics(a + 1e-6 * step)[0] for step in np.eye(3)]
        assert min(nearby) > best  # off the side the derivative is a number


BAD = {
    "alpha": (ElasticNet(alpha=-1.0), "ElasticNet's alpha is out of range"),
    "l1_ratio": (ElasticNet(l1_ratio=1.5), "ElasticNet's l1_ratio is out of range"),
    "positive": (ElasticNet(positive=True), "positive=True is not supported"),
    "C": (LinearSVR(C=0.0), "LinearSVR's C is out of range"),
    "epsilon": (LinearSVR(epsilon=-0.1), "LinearSVR's epsilon is out of range"),
    "scaling": (LinearSVR(intercept_scaling=0.0), "LinearSVR's intercept_scaling is out of range"),
    "loss": (LinearSVR(loss="huber"), "LinearSVR's loss is out of range"),
}


@pytest.mark.parametrize("name", BAD)
def test_hyper_parameters_out_of_range(name):
    model, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        region_of(model, *data())
