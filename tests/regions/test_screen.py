"""One product decides only what it can: sure signs are right, the rest is left in doubt."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, QuantileRegressor, Ridge
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

import oracles
import unassuming as ua
from speed import slow_but

KERNEL = {"kernel": "rbf", "gamma": 0.5}
MODELS = {
    "kernel ridge": KernelRidge(kernel="rbf", gamma=0.5, alpha=0.5),
    "ridge": Ridge(0.5),
    "least squares": LinearRegression(),
    "SVR": SVR(C=3.0, **KERNEL),
    "lasso": Lasso(0.05),
    "kernel lasso": ua.KernelLasso(0.5, **KERNEL),
    "indefinite": ua.KernelLasso(1.0, kernel=ua.kernels.truncated_parabolic),
    "kernel Huber": ua.KernelHuber(0.5, delta=0.7, **KERNEL),
}
LINEAR = ["kernel ridge", "ridge", "least squares", "SVR", "lasso", "kernel lasso"]


def build(name, noise, m=150, offset=0.0, n=14, **options):
    rng = np.random.default_rng(1)
    X = np.linspace(0, 10, n)[:, None]
    y = offset + np.sin(X[:, 0]) + rng.laplace(size=n)
    return ua.confidence_region(MODELS[name], X, y, noise=noise, m=m, random_state=1, **options)


def candidates(region, count=400):
    rng = np.random.default_rng(2)
    size = 10.0 ** rng.uniform(-8, 8, size=(count, 1))
    return region.estimate + size * rng.normal(size=(count, region.objective.d))


def one_by_one(region, a):
    """Few candidates at a time never take the fast way."""
    return np.concatenate([region.rank(part) for part in np.split(a, len(a) // 20)])


SETTINGS = [
    *((name, noise, {}) for name in MODELS for noise in ("symmetric", "symmetric-exchangeable")),
    *((name, "spherical", {}) for name in LINEAR),
    ("SVR", "symmetric", {"weighting": "identity"}),
    ("SVR", "exchangeable", {"weighting": "identity"}),
    ("kernel ridge", "symmetric", {"weighting": "identity"}),
    ("kernel lasso", "exchangeable", {"weighting": "hessian"}),
    ("kernel Huber", "exchangeable", {"sample_weight": np.linspace(1, 2, 14)}),
    ("lasso", ua.noise.BlockSymmetric(np.arange(14) // 2), {}),
]


@pytest.mark.slow_but_first
@pytest.mark.parametrize(("name", "noise", "options"), SETTINGS)
def test_what_is_not_in_doubt_is_right(name, noise, options):
    # m = 150: sums of bytes go beyond 127.
    region = build(name, noise, **options)
    a = candidates(region)
    below, doubt = region._engine._screen.before(a)
    np.testing.assert_array_equal(1 + below[~doubt], one_by_one(region, a)[~doubt])
    assert doubt.mean() < 0.9


def test_the_ranks_are_those_of_the_published_formula():
    region = build("kernel lasso", "symmetric")
    K, y = region.objective.design.matrix, region.objective.y
    a = region.estimate + np.random.default_rng(3).normal(size=(40, region.n))
    images = region.perturbations.apply
    expected = [
        oracles.rank(oracles.kernel_lasso(K, y, 0.5, one, images), region.tie_order) for one in a
    ]
    assert len(set(expected)) > 10
    assert region.rank(a).tolist() == expected


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_large_offsets_leave_more_in_doubt_and_change_no_rank(offset):
    region = build("ridge", "symmetric", offset=offset)
    a = candidates(region)
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))


@pytest.mark.parametrize("name", MODELS)
def test_most_candidates_at_the_scale_of_the_region_are_decided(name):
    region = build(name, "symmetric")
    a = region.estimate + 0.3 * np.random.default_rng(0).normal(size=(2000, region.objective.d))
    assert region._engine._screen.before(a)[1].mean() < 0.05


@pytest.mark.parametrize("name", MODELS)
def test_identical_draws_are_ties_and_cost_nothing(name):
    """Of 8 sign vectors 40 draws hold the identity and repetitions of it."""
    region = build(name, "symmetric", m=40, n=3)
    idle = (region.perturbations.apply(np.ones(3)) == 1).all(axis=1)
    assert idle.any()
    assert len(region._engine._screen.table) == 39 - idle.sum()
    a = candidates(region)
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))


def test_coefficients_at_a_kink_are_in_doubt():
    region = build("kernel lasso", "symmetric")
    a = candidates(region, 40)
    a[::2, 3] = 0.0
    doubt = region._engine._screen.before(a)[1]
    assert doubt[::2].all()
    assert not doubt[1::2].all()
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))


def test_signs_need_no_pairs_if_the_weighting_is_the_identity():
    """SVR: Z_i - Z_0 = -2ε Σ (s_ij - 1) r_j sign(a_j), one product of n columns."""
    region = build("SVR", "symmetric", weighting="identity")
    assert region._engine._screen.table.shape[1] == 14
    assert build("SVR", "symmetric")._engine._screen.table.shape[1] == 14 * 13 // 2 + 14


def test_a_scale_found_from_all_residuals_is_compared_with_care():
    X, y, _ = ua.datasets.sine(n=14, random_state=0)
    region = ua.confidence_region(HuberRegressor(), X, y, random_state=0)
    assert region._engine._screen is None


@pytest.mark.parametrize("name", slow_but(["kernel ridge", "SVR", "kernel Huber"], "SVR"))
def test_threads_change_nothing(name):
    region = build(name, "symmetric")
    a = region.estimate + np.random.default_rng(0).normal(size=(20_000, region.objective.d))
    with threadpool_limits(2):
        two = region.rank(a)
    with threadpool_limits(1):
        np.testing.assert_array_equal(region.rank(a), two)


@pytest.mark.parametrize("name", ["kernel ridge", "SVR", "lasso", "kernel Huber"])
def test_numbers_that_overflow_are_in_doubt(name):
    region = build(name, "symmetric")
    a = np.full((40, region.objective.d), 1e200)
    with np.errstate(all="ignore"):
        assert region._engine._screen.before(a)[1].all()


@pytest.mark.slow
@pytest.mark.parametrize("model", [LinearRegression(), LinearRegression(fit_intercept=False)])
def test_coefficients_that_all_but_cancel_are_compared_with_care(model):
    # Columns that differ by 1e-12: the coefficients are some 1e12, what they fit is some 1.
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    X = np.column_stack([x, x * (1 + 1e-12 * rng.normal(size=20))])
    region = ua.confidence_region(model, X, x + rng.laplace(size=20), m=40, random_state=0)
    U = 0.3 * rng.normal(size=(60, region.objective.d))
    U[:, -2:] += [1e12, -1e12]
    off = 10.0 ** rng.uniform(-7, -3, size=60) * rng.choice([-1, 1], size=60)
    a = region.estimate + (region.reach(U, level=0.5) * (1 + off))[:, None] * U
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))


def adversary(seed):
    """A small region with badly scaled data, and candidates near ties, at kinks and far out."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 14)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) if rng.random() < 0.5 else rng.integers(-2, 3, size=(n, d)) + 0.0
    X[0, 0] += 1.0
    if d > 1 and rng.random() < 0.4:
        X[:, 1] = X[:, 0] * (1 + 10.0 ** rng.uniform(-16, -3) * rng.normal(size=n))
    y = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(-2, 3, size=n) + 0.0
    X, y = (
        X * 10.0 ** rng.uniform(-6, 6),
        (y + 10.0 ** rng.uniform(-9, 8)) * 10.0 ** rng.uniform(-6, 6),
    )
    alpha = 10.0 ** rng.uniform(-12, 6)
    model = [
        LinearRegression(),
        Ridge(alpha, fit_intercept=bool(rng.random() < 0.5)),
        Lasso(alpha),
        SVR(C=10.0, epsilon=10.0 ** rng.uniform(-6, 1), gamma=1.0),
        ua.KernelHuber(alpha, delta=10.0 ** rng.uniform(-6, 2), kernel="laplacian", gamma=1.0),
    ][rng.integers(5)]
    noise = ["symmetric", "exchangeable", "symmetric-exchangeable"][rng.integers(3)]
    region = ua.confidence_region(model, X, y, noise=noise, m=20, random_state=seed)
    size = 10.0 ** rng.uniform(-14, 6, size=(60, 1)) * (np.abs(region.estimate).max() + 1e-9)
    a = region.estimate + size * rng.normal(size=(60, region.objective.d))
    a[::5] *= rng.random(a[::5].shape) < 0.5
    a[1::5] = region.estimate * (1 + rng.choice([0, 1e-15, -1e-15, 1e-8], size=a[1::5].shape))
    return region, a


@pytest.mark.slow
def test_adversaries_find_no_rank_that_the_fast_way_changes():
    decided = 0
    for seed in range(60):
        region, a = adversary(seed)
        np.testing.assert_array_equal(region.rank(a), one_by_one(region, a), err_msg=str(seed))
        if region._engine._screen is not None:
            with np.errstate(all="ignore"):
                decided += int((~region._engine._screen.before(a)[1]).sum())
    assert decided > 240


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_the_units_of_y_do_not_matter(unit):
    X, y, _ = ua.datasets.sine(n=20, noise="laplace", random_state=0)
    region = ua.confidence_region(MODELS["kernel ridge"], X, unit * y, random_state=0)
    a = region.estimate + unit * np.random.default_rng(0).normal(size=(2000, 20))
    assert region._engine._screen.before(a)[1].mean() < 0.05


def test_an_assumption_that_excludes_candidates_is_asked_about_each():
    class Bounded(ua.noise.Symmetric):
        def admits(self, residuals, fitted):
            return (np.abs(residuals) <= 1).all(axis=-1)

    X, y, _ = ua.datasets.sine(n=20, random_state=0)
    region = ua.confidence_region(Ridge(), X, y, noise=Bounded(), m=20, random_state=0)
    a = region.estimate + np.random.default_rng(0).normal(size=(60, 2))
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))


def test_many_coefficients_are_in_doubt_where_the_careful_comparison_is():
    X = 1 + 0.01 * np.random.default_rng(0).random((8, 400))
    model = QuantileRegressor(alpha=0.1, fit_intercept=False)
    region = ua.confidence_region(model, X, X[:, 0], m=20, random_state=0)
    screen, o = region._engine._screen, region.objective
    a = np.ones((1, 400))
    y, columns = screen._sizes
    declared = o.residual_error(a, o.residuals(a)).max()
    assert declared <= screen._unit * (y + np.abs(a) @ columns)[0]
