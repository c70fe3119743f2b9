"""The inequalities of theory 7.2 hold wherever Z_0 <= Z_i, by the plain formulas."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, Ridge
from sklearn.svm import SVR

import oracles
import unassuming as ua
from balls import ball_coordinates
from unassuming.geometry.piecewise._relaxation import Relaxation

M = 12
KERNEL = {"kernel": "rbf", "gamma": 0.5}
NOISES = pytest.mark.parametrize(
    "noise", ["symmetric", "exchangeable", "symmetric-exchangeable", "spherical"]
)


def dual(n=8):
    return ua.datasets.sine(n=n, noise="laplace", random_state=1)[:2]


def primal():
    return ua.datasets.linear(n=15, d=4, noise="laplace", random_state=1)[:2]


PSI = np.random.default_rng(9).normal(size=(3, 5))
MODELS = {
    "kernel LASSO": (ua.KernelLasso(alpha=0.5, **KERNEL), dual, {}),
    "kernel LASSO, gram": (ua.KernelLasso(alpha=0.1, **KERNEL), dual, {"weighting": "gram"}),
    "LASSO": (Lasso(alpha=0.2), primal, {}),
    "LASSO, no intercept": (Lasso(alpha=0.2, fit_intercept=False), primal, {}),
    "LASSO, hessian": (Lasso(alpha=0.2), primal, {"weighting": "hessian"}),
    "elastic net": (ElasticNet(alpha=0.3, l1_ratio=0.4), primal, {}),
    "elastic net, identity": (ElasticNet(0.3, l1_ratio=0.6), primal, {"weighting": "identity"}),
    "SVR": (SVR(C=1e7, epsilon=0.3, **KERNEL), dual, {}),
    "SVR, identity": (SVR(C=1e7, epsilon=0.3, **KERNEL), dual, {"weighting": "identity"}),
    "ridge, identity": (Ridge(0.5), primal, {"weighting": "identity"}),
    "ridge, a matrix": (Ridge(0.5), primal, {"weighting": PSI}),
}


def build(name, noise="symmetric"):
    estimator, data, options = MODELS[name]
    return ua.confidence_region(estimator, *data(), noise=noise, m=M, random_state=2, **options)


def psi_of(region, k):
    return np.eye(k) if region._engine.score.weighting is None else region._engine.score.weighting


def statistics(region, a):
    """Z_0, ..., Z_{m-1} of one candidate by the formulas of the theory."""
    o, images = region.objective, region.perturbations.apply
    if isinstance(o, ua.objectives.SVRObjective):
        psi = psi_of(region, o.n)
        return oracles.svr_with_box(o.kernel.K, o.y, o.C, o.epsilon, a[0], a[1:], images, psi)
    Phi, r = o.design.matrix, o.y - o.design.matrix @ a
    psi, Z = psi_of(region, o.d), []
    for image in [r, *images(r)]:
        if isinstance(o, ua.objectives.LassoObjective):
            u = o.c * Phi.T @ image
            g = [
                oracles.nearest_to_zero(
                    u[j] - o.ridge[j] * a[j], *((-p, p) if a[j] == 0 else (p * np.sign(a[j]),) * 2)
                )
                for j, p in enumerate(o.penalty)
            ]
        else:
            g = Phi.T @ (o.w * image) / o.n - o.lam * o.design.penalty_matrix() @ a
        Z.append(oracles.squared_norm(psi @ np.array(g)))
    return np.array(Z)


def relaxation_of(model, F, back, N, bound):
    """In coordinates x with fitted values F x and a = back x; N is the diagonal of the norm."""
    ball = ball_coordinates(np.diag(N), np.zeros(len(N)), bound, np.zeros(len(N)))
    return Relaxation.of(model, replace(ball, F=F, back=back))


def chart(region, bound=1e3):
    """Coordinates x = a: fitted values Φx."""
    model, d = region.shape.lines.model, region.objective.d
    N = np.diag(region.objective.design.penalty_matrix() != 0).astype(float)
    return relaxation_of(model, model.phi, np.eye(d), N, bound)


def candidates(region, rng, count=150):
    """Near the estimate and far from it; many with zeros."""
    d = region.objective.d
    size = 10 ** rng.uniform(-3, 1, size=(count, 1))
    a = region.estimate * rng.choice([0, 1], size=(count, 1)) + size * rng.normal(size=(count, d))
    zero = rng.random((count, d)) < rng.choice([0.0, 0.5, 0.9], size=(count, 1))
    return np.where(zero, 0.0, a)


def violations(relaxation, eta, a):
    """xᵀAx - 2bᵀx - c for all candidates and sets, relative to its terms."""
    out = np.empty((len(a), M - 1))
    for which, A, b, c in relaxation.inequalities(eta):
        square, linear = np.einsum("nj,sjk,nk->ns", a, A, a), 2 * a @ b.T
        out[:, which] = (square - linear - c) / (np.abs(square) + np.abs(linear) + np.abs(c))
    return out


@pytest.mark.slow_but_first
@NOISES
@pytest.mark.parametrize("name", MODELS)
def test_they_hold_at_every_point_of_a_set_sparse_ones_too(name, noise):
    region = build(name, noise)
    a = candidates(region, np.random.default_rng(3))
    Z = np.array([statistics(region, point) for point in a])
    inside = Z[:, 1:] >= Z[:, :1] * (1 - 1e-12)
    relaxation = chart(region)
    assert 0.02 < inside.mean() < 0.98
    for eta in relaxation.etas:
        assert violations(relaxation, eta, a)[inside].max() <= 1e-12


@pytest.mark.parametrize("name", ["ridge, identity", "ridge, a matrix"])
def test_without_kinks_they_are_the_sets_themselves(name):
    region = build(name)
    a = candidates(region, np.random.default_rng(4))
    Z = np.array([statistics(region, point) for point in a])
    relaxation = chart(region)
    assert relaxation.etas == (0.0,)
    for which, A, b, c in relaxation.inequalities(0.0):
        value = np.einsum("nj,sjk,nk->ns", a, A, a) - 2 * a @ b.T - c
        np.testing.assert_allclose(value, (Z[:, :1] - Z[:, 1:])[:, which], atol=1e-9 * Z.max())


@pytest.mark.parametrize("name", ["kernel LASSO", "LASSO", "SVR"])
def test_they_say_something(name):
    """Far along most directions a candidate is refused by the inequality alone."""
    region = build(name)
    relaxation = chart(region)
    rng = np.random.default_rng(5)
    far = region.estimate + 1e3 * rng.normal(size=(100, region.objective.d))
    refused = np.any([violations(relaxation, eta, far) > 0 for eta in relaxation.etas], axis=0)
    assert refused.mean() > 0.3


def test_identity_weighting_of_svr_leaves_only_a_triviality():
    """‖v_0‖ = ‖v_i‖ for orthogonal maps, so nothing but the ball is left (theory 7.2)."""
    region = build("SVR, identity")
    far = region.estimate + 1e3 * np.random.default_rng(5).normal(size=(50, region.objective.d))
    assert all((violations(chart(region), eta, far) <= 0).all() for eta in (0.01, 1.0))


def test_nothing_is_known_where_the_box_can_be_reached():
    X, y = dual()
    for C, known in ((2.0, False), (1e7, True)):
        region = ua.confidence_region(SVR(C=C, **KERNEL), X, y, m=M, random_state=0)
        assert (chart(region, 1.5) is not None) or not known
        assert (chart(region, 5.0) is not None) == known
    assert chart(region, 2e7) is None


def test_nothing_is_known_of_a_loss_with_kinks():
    X, y = dual()
    region = ua.confidence_region(ua.KernelHuber(**KERNEL), X, y, m=M, random_state=0)
    model = region.shape.lines.model
    assert relaxation_of(model, model.phi, np.eye(8), np.ones(8), 1.0) is None


def on_the_boundary(region, i, origin, direction):
    """Where Z_i = Z_0 on a line: roots of a quadratic through three values."""
    gaps = [np.diff(statistics(region, origin + t * direction)[[0, i]])[0] for t in (-1.0, 0, 1.0)]
    t = np.roots([(gaps[0] + gaps[2]) / 2 - gaps[1], (gaps[2] - gaps[0]) / 2, gaps[1]])
    return origin + t[np.isreal(t)].real[:, None] * direction


def test_they_hold_for_fitted_values_that_are_off_by_what_rounding_hides():
    """Coordinates without the eigenvalues below 1e-16 of the largest, at points where Z_i = Z_0.

    The functions of norm one that are left out have values of 1e-8 of the largest.
    """
    X, y = dual(12)
    model = KernelRidge(alpha=1e-6, kernel="rbf", gamma=1e-3)
    region = ua.confidence_region(model, X, y, m=M, random_state=0, weighting="identity")
    values, U = np.linalg.eigh(region.objective.design.K)
    keep = values > np.finfo(float).eps * values[-1]
    assert not keep.all()
    root, bound = np.sqrt(values[keep]), 1e3
    back, N = U[:, keep] / root, np.ones(keep.sum())
    known = relaxation_of(region.shape.lines.model, U[:, keep] * root, back, N, bound)
    blind = replace(known, blur=1e-16)
    rng, worst = np.random.default_rng(0), []
    for i in np.repeat(np.arange(1, M), 5):
        x = rng.normal(size=(2, keep.sum())) * 0.1 * bound
        lost = rng.normal(size=(~keep).sum()) * 0.1 * bound / np.sqrt(1e-16 * values[-1])
        a = on_the_boundary(region, i, x[0] @ back.T + U[:, ~keep] @ lost, x[1] @ back.T)
        x = (a @ U[:, keep]) * root
        x = x[np.linalg.norm(x, axis=1) < 0.9 * bound]
        worst += [[violations(r, 0.0, p[None])[0, i - 1] for r in (known, blind)] for p in x]
    known_worst, blind_worst = np.max(worst, axis=0)
    assert known_worst <= 0
    assert blind_worst > 0  # what is allowed for happens
