"""Bands and intervals of LASSO, SVR, Huber and others: what is certified, and what is not."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

import unassuming as ua
from speed import slow_but
from unassuming.regions import Status

M = 20
KERNEL = {"kernel": "rbf", "gamma": 0.5}
NOISES = ["symmetric", "exchangeable", "symmetric-exchangeable", "spherical"]


def dual(n=10, seed=0, unit=1.0):
    X, y, _ = ua.datasets.sine(n=n, noise="laplace", random_state=seed)
    return X, unit * y


def primal(n=30, seed=0):
    X, y, _ = ua.datasets.linear(n=n, d=3, noise="laplace", random_state=seed)
    return X, y


def build(estimator, data, **options):
    return ua.confidence_region(estimator, *data, **{"m": M, "random_state": 0, **options})


def inputs(region):
    design = region.objective.design
    return design.kernel.X if isinstance(design, ua.objectives.KernelDesign) else design.X


def norm(region, a):
    P = region.objective.design.penalty_matrix()
    return np.sqrt(np.maximum(np.einsum("...j,jk,...k->...", a, P, a), 0.0))


def brute_members(region, bound, level, rng, count=500):
    """Members within the ball: all over it, near the estimate, and sparse ones."""
    w, U = np.linalg.eigh(region.objective.design.penalty_matrix())
    seen = w > 1e-13 * w[-1]
    x = rng.normal(size=(count, seen.sum()))
    x *= bound * rng.random((count, 1)) ** 0.1 / np.linalg.norm(x, axis=1, keepdims=True)
    a = x / np.sqrt(w[seen]) @ U[:, seen].T
    if region.objective.design.intercept:
        a[:, 0] = region.estimate[0] + rng.normal(size=count) * np.std(region.objective.y)
    near = region.estimate + 10 ** rng.uniform(-4, 0, (count, 1)) * (a - region.estimate)
    sparse = np.where(rng.random(a.shape) < 0.5, 0.0, a) * rng.random((count, 1))
    points = np.concatenate([a, near, sparse])
    points = points[norm(region, points) <= bound]
    return points[region.contains(points, level)]


CASES = {
    "kernel LASSO": (ua.KernelLasso(alpha=1.0, **KERNEL), dual, {}),
    "kernel LASSO, gram": (ua.KernelLasso(alpha=0.1, **KERNEL), dual, {"weighting": "gram"}),
    "SVR": (SVR(C=1e8, epsilon=0.1, gamma=0.5), dual, {}),
    "SVR, box": (SVR(C=1.0, epsilon=0.1, gamma=0.5), dual, {}),
    "SVR, identity": (SVR(C=1e8, epsilon=0.1, gamma=0.5), dual, {"weighting": "identity"}),
    "kernel Huber": (ua.KernelHuber(alpha=1.0, delta=0.5, **KERNEL), dual, {}),
    "kernel ridge, identity": (KernelRidge(alpha=1.0, **KERNEL), dual, {"weighting": "identity"}),
    "LASSO": (Lasso(alpha=0.2), primal, {}),
    "LASSO, hessian": (Lasso(alpha=0.2, fit_intercept=False), primal, {"weighting": "hessian"}),
    "ridge, identity": (Ridge(1.0), primal, {"weighting": "identity"}),
}


# --- outer bounds hold for every member -----------------------------------------------------------


@pytest.mark.parametrize(
    "name", slow_but([name for name in CASES if name != "SVR, box"], "kernel LASSO")
)
def test_no_member_within_the_ball_is_outside(name):
    estimator, data, options = CASES[name]
    rng = np.random.default_rng(1)
    for noise in NOISES:
        region = build(estimator, data(), noise=noise, **options)
        bound = rng.choice([1.2, 3.0]) * norm(region, region.estimate)
        level = rng.choice([0.5, 0.9])
        a = brute_members(region, bound, level, rng)
        assert len(a) > 20
        g = rng.normal(size=(3, region.objective.d))
        found = region.interval(g, level, norm_bound=bound, simultaneous=True, method="joint")
        assert (a @ g.T <= found.upper).all()
        assert (a @ g.T >= found.lower).all()


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", ["kernel LASSO", "SVR", "kernel Huber", "kernel ridge, identity"])
def test_functions_with_a_part_that_no_datum_sees_are_inside(name):
    """f* = f_a + h with h orthogonal to every k(·, x_j): h(z) = ± p(z) · what norm is left."""
    estimator, data, options = CASES[name]
    region = build(estimator, data(), **options)
    X = inputs(region)
    Z = np.concatenate([X[:2], X[:3] + 0.4, [[13.0]]])
    bound, rng = 2 * norm(region, region.estimate), np.random.default_rng(2)
    a = brute_members(region, bound, 0.9, rng)
    g, k = region.objective.design.rows(Z), rbf_kernel(Z, X, gamma=0.5)
    solved = np.linalg.solve(rbf_kernel(X, gamma=0.5), k.T).T
    power = np.sqrt(np.maximum(1 - (k * solved).sum(axis=1), 0.0))
    assert power[-1] > 0.9
    rest = np.sqrt(bound**2 - norm(region, a) ** 2)[:, None] * power
    whole = region.band(Z, 0.9, norm_bound=bound, method="joint")
    part = region.band(Z, 0.9, norm_bound=bound, target="representation", method="joint")
    assert whole.target == "function"
    assert (a @ g.T + rest <= whole.upper).all()
    assert (a @ g.T - rest >= whole.lower).all()
    assert (a @ g.T <= part.upper).all()
    assert (part.upper <= whole.upper).all()


# --- what kind of answer it is -------------------------------------------------------------------


@pytest.mark.parametrize("name", slow_but(CASES, "SVR, box", "LASSO"))
def test_status_and_levels(name):
    estimator, data, options = CASES[name]
    region = build(estimator, data(), **options)
    X, bound = inputs(region)[:3], 2 * norm(region, region.estimate)
    free, held = (
        region.band(X, 0.9, method="joint"),
        region.band(X, [0.3, 0.6, 0.9], norm_bound=bound, method="joint"),
    )
    kernel = data is dual
    known = name not in ("SVR, box", "SVR, identity")
    if kernel:
        assert free.status is Status.UNBOUNDED
        assert np.isposinf(free.upper).all()
        assert np.isneginf(free.lower).all()
        assert ("band(X, norm_bound=B)" in free.reason) == known
        assert "band(X, norm_bound=B, simultaneous=False)" in free.reason
    wide = [held[p].upper - held[p].lower for p in (0.3, 0.6, 0.9)]
    assert (wide[0] <= wide[1]).all()
    assert (wide[1] <= wide[2]).all()
    assert (held[0.9].status is Status.CERTIFIED) == known
    assert np.isfinite(held[0.9].upper).all() == known
    assert ("intercept" in held[0.9].reason) != known


@pytest.mark.slow
def test_features_need_no_norm_bound():
    """The sets of LASSO are within ellipsoids: fewer features than rows, signs."""
    region = build(Lasso(alpha=0.2), primal(40))
    some = region.names[:2]
    found = region.interval(some, [0.5, 0.9], simultaneous=True, method="joint")
    assert found[0.9].status is Status.CERTIFIED
    for level, bounds in found.items():
        a = region.sample(32, level, random_state=0)[:, :2]
        assert (a <= bounds.upper).all()
        assert (a >= bounds.lower).all()
        # A ball beyond all of it changes nothing; a small one cuts it.
        wide, small = (
            region.interval(some, level, norm_bound=B, simultaneous=True, method="joint")
            for B in (1e3, 1.0)
        )
        np.testing.assert_allclose(wide.upper, bounds.upper, rtol=1e-5)
        assert (small.upper <= bounds.upper * (1 + 1e-9)).all()
        assert (small.upper[1:] <= 1.0 + 1e-9).all()


@pytest.mark.slow
def test_more_features_than_rows_do():
    X = np.random.default_rng(0).normal(size=(8, 12))
    region = build(Lasso(alpha=0.2), (X, X[:, 0]))
    assert np.isinf(region.interval(None, 0.9, simultaneous=True, method="joint").upper).all()
    assert np.isfinite(
        region.interval(None, 0.9, norm_bound=3.0, simultaneous=True, method="joint").upper[1:]
    ).all()


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [Lasso(alpha=0.2), Ridge(1.0)], ids=["LASSO", "ridge"])
def test_permutations_never_bound_an_intercept(estimator):
    region = build(estimator, primal(), noise="exchangeable", weighting="identity")
    for bound in (None, 5.0):
        found = region.interval(None, 0.9, norm_bound=bound, simultaneous=True, method="joint")
        assert np.isinf(found.upper[0])
        assert found.status is Status.UNBOUNDED
        assert "leaves a constant shift" in found.reason
    assert np.isfinite(found.upper[1:]).all()


def test_with_all_coefficients_at_the_box_svr_takes_any_bias():
    """Why there is no outer bound where the box can be reached: none would be true (7.2)."""
    region = build(SVR(C=1.0, epsilon=0.1, gamma=0.5), dual())
    corner = np.ones(11)
    for bias in (-1e3, -1e6, -1e9):
        corner[0] = bias
        assert region.rank(corner) == 1
    found = region.band(
        inputs(region), 0.9, norm_bound=float(norm(region, corner)) + 1e-6, method="joint"
    )
    assert np.isneginf(found.lower).all()


def test_huber_and_the_box_have_the_ball_alone():
    region = build(ua.KernelHuber(alpha=1.0, **KERNEL), dual())
    found = region.band([[3.0], [14.0]], 0.5, norm_bound=7.0, method="joint")
    np.testing.assert_allclose(found.upper, 7.0, rtol=1e-11)  # k(z, z) = 1
    np.testing.assert_allclose(found.lower, -7.0, rtol=1e-11)


@pytest.mark.slow
def test_more_data_make_it_tighter_than_the_ball():
    widths = []
    for n in (10, 20, 40):
        region = build(ua.KernelLasso(alpha=1.0, **KERNEL), dual(n))
        found = region.band(np.linspace(0, 10, 15)[:, None], 0.9, norm_bound=20.0, method="joint")
        widths.append((found.upper - found.lower).mean() / 40.0)
    assert widths[0] < 1
    assert widths[2] < 0.75
    assert widths[2] < widths[1] < widths[0]


def test_a_ball_that_no_member_reaches_leaves_nothing():
    X, y = primal()
    region = build(Lasso(alpha=0.01), (X, y + 50 * X[:, 0]))
    found = region.interval(
        None, 0.5, norm_bound=1.0, inner=False, simultaneous=True, method="joint"
    )
    assert found.status is Status.EMPTY
    assert np.isnan([found.lower, found.upper]).all()
    assert found.reason.startswith("The norm bound of 1 is too small, unless")


# --- inner bounds ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name != "kernel Huber"])
def test_inner_bounds_are_attained_inside_the_outer_ones(name):
    """Whatever the search finds: it is a short one here."""
    estimator, data, options = CASES[name]
    region = build(estimator, data(), **options)
    bound, X = 2 * norm(region, region.estimate), inputs(region)[::10]
    found = region.band(X, 0.8, norm_bound=bound, inner=True, method="joint")
    g = region.objective.design.rows(X)
    assert region.contains(found.witnesses.reshape(-1, region.objective.d), 0.8).all()
    assert (norm(region, found.witnesses) <= bound * (1 + 1e-9)).all()
    for side, values in enumerate((found.inner_lower, found.inner_upper)):
        attained = (found.witnesses[side] * g).sum(axis=1)
        endless = np.isinf(values)
        assert endless.all() == endless.any() == (name == "SVR, identity")
        np.testing.assert_allclose(attained[~endless], values[~endless], rtol=1e-12)
    assert (found.lower <= found.inner_lower).all()
    assert (found.inner_lower <= found.estimate).all()
    assert (found.estimate <= found.inner_upper).all()
    assert (found.inner_upper <= found.upper).all()


def test_the_search_starts_inside_the_ball():
    region = build(ua.KernelLasso(alpha=1.0, **KERNEL), dual())
    with pytest.raises(ua.NotAvailable, match="starts at the estimate"):
        region.band(
            inputs(region),
            norm_bound=0.5 * norm(region, region.estimate),
            inner=True,
            method="joint",
        )


# --- objectives of which little is known ----------------------------------------------------------


class Absolute(ua.objectives.Objective):
    """Σ |y - Xa|^{3/2}: residuals, gradient, and where the minimum is."""

    def __init__(self, X, y):
        super().__init__(y, X.shape[1])
        self.X = X

    def residuals(self, coefficients):
        return self.y - coefficients @ self.X.T

    def gradient(self, coefficients, residuals):
        return -(np.sign(residuals) * np.sqrt(np.abs(residuals))) @ self.X

    def estimate(self):
        from scipy.optimize import minimize

        def loss(a):
            return (np.abs(self.residuals(a)) ** 1.5).sum()

        return minimize(loss, np.zeros(self.d), method="BFGS", options={"gtol": 1e-10}).x


class OwnEstimator:
    pass


@pytest.fixture(scope="module")
def own():
    ua.register_objective(OwnEstimator, lambda estimator, X, y, w: Absolute(X, y))
    X, y = primal(12)
    return build(OwnEstimator(), (X[:, :1], y), m=10)


@pytest.mark.slow
def test_an_objective_of_ones_own_has_inner_bounds(own):
    found = own.interval(None, 0.5, inner=True, simultaneous=True, method="joint")
    assert not own.exact_crossings
    assert found.status is Status.NO_OUTER_BOUND
    assert np.isinf(found.upper).all()
    [[low, high]] = own.crossings([1.0], 0.5) + own.estimate
    assert own.contains(found.witnesses.reshape(-1, 1), 0.5).all()
    assert found.inner_upper[0] == pytest.approx(high, rel=1e-6)
    assert found.inner_lower[0] == pytest.approx(low, rel=1e-6)


def test_an_objective_of_ones_own_says_what_a_band_lacks(own):
    with pytest.raises(ua.NotAvailable, match=r"features or a kernel.*interval\(functionals\)"):
        own.band([[1.0]], method="joint")
    with pytest.raises(ua.NotAvailable, match="a norm bound needs a model with features"):
        own.interval(None, 0.5, norm_bound=3.0, simultaneous=True, method="joint")


def test_a_member_found_by_hand_lies_within_the_bounds():
    """Near the last multiplier rounding had made the lower bound of the intercept -0.243."""
    x = [-0.12153810239349196, 0.06171351136188846, 0.17439802766558207, 0.07282147933667216]
    x += [0.18931557476125221, 0.0500372329700695, 0.06584719874962049, 0.25013513520763736]
    x += [0.14442215097460523, -0.14413408101173728, -0.10278042859569936, -0.0664061933402105]
    y = [-0.15301703550819695, -2.9247037832934315, 1.1850132579155215, -0.31577397138643876]
    y += [3.0867452597079006, 2.739454573631434, 1.3535347803880866, -0.06483481464628854]
    y += [-0.16450211734369466, 3.386953434870663, -0.041627890230789756, -0.2668925567971676]
    region = ua.confidence_region(
        Lasso(alpha=1e-3), np.array(x)[:, None], np.array(y), m=10, random_state=348875
    )
    member = np.array([-0.44713582, 0.55174825])
    assert region.contains(member, level=0.9)
    bounds = region.interval(
        level=0.9, norm_bound=0.568642173535259, simultaneous=True, method="joint"
    )
    assert (bounds.lower <= member).all()
    assert (member <= bounds.upper).all()
