"""The statistics of the recorded problems by the plain formulas, compared through `_numerics`.

For each model the weighted gradient z = Ψ ḡ(a, r) is written out; z_i - z_0 is formed from the
changes of the residuals alone, and `gaps` and `precedes` decide. Nothing else of the library is
used: the transformations are those of the record.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import lsq_linear
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import make_pipeline

from recorded import make
from unassuming._numerics import EPS, blur, factor, gaps, kernel_factor, snapped
from unassuming.ranking import precedes


@dataclass(frozen=True)
class Loss:
    """ψ, the derivative as a function of the residuals; at a jump any value between its sides."""

    psi: Callable
    knots: tuple = ()
    jumps: bool = False
    slope: float = 1.0
    curvature: float = 1.0
    mean: Callable = field(default=lambda g: g)


@dataclass(frozen=True, eq=False)
class Model:
    """z = Ψ(Lψ(r) - RᵀRa - c), c in the subgradient of l1 |a_j| and of the box, from ``first`` on.

    L is ΦᵀW if it is not given. ``whitening`` is the factor of H, whose H^(-1/2) is the default Ψ.
    """

    Phi: np.ndarray
    y: np.ndarray
    w: np.ndarray
    loss: Loss
    R: np.ndarray
    whitening: Callable
    weighting: str = "hessian"
    l1: np.ndarray | None = None
    box: float = np.inf
    first: int = 0
    L: np.ndarray | None = None
    K: np.ndarray | None = None

    def weighted(self):
        """ΨL, ΨRᵀR and Ψ."""
        if self.weighting == "hessian":
            F, rows = self.whitening(), np.sqrt(self.w / self.loss.curvature)
            return F.Q.T * rows, F.push, F.back.T
        L = self.Phi.T * self.w if self.L is None else self.L
        Psi = root(self.K) if self.weighting == "gram" else np.eye(len(L))
        P = self.R.T @ self.R
        push = Psi @ P if len(P) == len(L) else np.zeros((len(Psi), self.Phi.shape[1]))
        return Psi @ L, push, Psi

    def subgradients(self, a):
        """The least and the largest of the subgradients, (N, k)."""
        a = a[:, self.first :]
        low, high = np.where(a > 0, self.l1, -self.l1), np.where(a < 0, -self.l1, self.l1)
        return np.where(a == -self.box, -np.inf, low), np.where(a == self.box, np.inf, high)


def root(K):
    """|K|^(1/2)."""
    values, U = np.linalg.eigh(K)
    return U * np.sqrt(np.abs(values)) @ U.T


SQUARES = Loss(lambda r: r)


def clipped(delta):
    return Loss(lambda r: np.clip(r, -delta, delta), (-delta, delta))


def insensitive(epsilon):
    def psi(r):
        return np.sign(r) * (np.abs(r) > epsilon)

    return Loss(psi, (-epsilon, epsilon), jumps=True)


def pinball(tau):
    return Loss(lambda r: tau - (r < 0), (0.0,), jumps=True)


LOGISTIC = Loss(lambda r: r / 2, slope=0.5, curvature=0.25, mean=lambda g: np.tanh(g / 2))


def scaled(epsilon):
    """HuberRegressor: σ is the root of Σ min(r²/σ², ε²) = n (docs/theory.md 7)."""

    def psi(r):
        square = np.sort(r**2, axis=-1)
        inside = r.shape[-1] - epsilon**2 * np.arange(r.shape[-1])[::-1]  # n - ε² number outside
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.where(inside > 0, np.cumsum(square, axis=-1) / inside, np.inf)
        above = np.concatenate([square[..., 1:], np.full((*r.shape[:-1], 1), np.inf)], axis=-1)
        edge = epsilon**2 * variance
        at = np.argmax((square <= edge) & (edge <= above) & (inside > 0), axis=-1)[..., None]
        return np.clip(r / np.sqrt(np.take_along_axis(variance, at, -1)), -epsilon, epsilon)

    return Loss(psi)


# --- models ------------------------------------------------------------------------------------


def model_of(problem):
    """The model of a problem, from its estimator and its data."""
    arrays, steps = problem.arrays, problem.text["estimator"].get("steps")
    estimator, X, y = problem.estimator, arrays["X"], arrays["y"]
    if steps:
        X = make_pipeline(*map(make, steps[:-1])).fit_transform(X)
        estimator = make(steps[-1])
    w = arrays.get("weights", np.ones(len(y)))
    made = KINDS[type(estimator).__name__](estimator, X, y, w)
    psi = problem.text["weighting"]
    return made if psi is None else replace(made, weighting=psi)


def of_features(estimator, X, y, w, loss=SQUARES, alpha=0.0, l1=0.0, **options):
    """Φ = [1, X] or X, with alpha ‖slopes‖²/2 and l1 ‖slopes‖₁."""
    one = int(estimator.fit_intercept)
    Phi = np.hstack([np.ones((len(X), one)), X])
    d = Phi.shape[1]
    R = np.sqrt(alpha) * np.eye(d)[one if alpha else d :]
    c = loss.curvature

    def whitening():
        return factor(Phi, w * c, R, intercept=bool(one))

    penalty = np.where(np.arange(d) < one, 0.0, l1)
    return Model(Phi, y, w, loss, R, whitening, l1=penalty if l1 else None, **options)


def gram(estimator, X):
    options = {"gamma": estimator.gamma, "degree": estimator.degree, "coef0": estimator.coef0}
    return pairwise_kernels(X, metric=estimator.kernel, filter_params=True, **options)


def of_kernel(K, alpha, y, w, loss=SQUARES):
    """Φ = K with alpha aᵀKa/2."""
    R = np.sqrt(alpha) * root(K)
    return Model(K, y, w, loss, R, lambda: kernel_factor(K, w, alpha), K=K)


def kernel_lasso(estimator, X, y, w):
    K, n = gram(estimator, X), len(y)
    l1 = np.full(n, estimator.alpha)
    return Model(K, y, w, SQUARES, np.zeros((0, n)), lambda: None, "identity", l1)


def svr(estimator, X, y, w):
    """The dual: residuals minus ε sign(a), and the box ±C (docs/theory.md 5)."""
    K, n = gram(estimator, X), len(y)
    Phi, l1 = np.hstack([np.ones((n, 1)), K]), np.full(n, estimator.epsilon)
    none = np.zeros((0, n + 1))
    options = {"l1": l1, "box": estimator.C, "first": 1, "L": np.eye(n), "K": K}
    return Model(Phi, y, w, SQUARES, none, lambda: None, "gram", **options)


def ls_svc(estimator, X, y, w):
    alpha = 1 / (2 * estimator.C)
    if estimator.kernel == "linear":
        return of_features(estimator, X, y, w, alpha=alpha)
    K, n = gram(estimator, X), len(y)
    Phi = np.hstack([np.ones((n, 1)), K])
    R = np.sqrt(alpha) * np.hstack([np.zeros((n, 1)), root(K)])
    return Model(Phi, y, w, SQUARES, R, lambda: factor(Phi, w, R, intercept=True))


def linear_svr(estimator, X, y, w):
    """C Σ loss + ‖a‖²/2, the intercept included."""
    plain = of_features(estimator, X, y, w * estimator.C, insensitive(estimator.epsilon))
    R = np.eye(plain.Phi.shape[1])
    return replace(plain, R=R, whitening=lambda: factor(plain.Phi, plain.w, R))


def instrumental(estimator, X, y, w):
    """Moments of [1, controls, instruments] in place of the gradient (docs/theory.md 14)."""
    outside = [estimator.endogenous, *estimator.instruments]
    controls = np.delete(X, outside, axis=1)
    ones = np.ones((len(y), 1))
    W = np.hstack([ones, controls, X[:, estimator.instruments]])
    Phi = np.hstack([ones, controls, X[:, [estimator.endogenous]]])
    L = factor(W, w, intercept=True).Q.T
    return Model(Phi, y, w, SQUARES, np.zeros((0, Phi.shape[1])), lambda: None, "identity", L=L)


def lasso(m, X, y, w, ratio=1.0):
    n = len(y)
    return of_features(m, X, y, w, alpha=n * m.alpha * (1 - ratio), l1=n * m.alpha * ratio)


KINDS = {
    "LinearRegression": of_features,
    "Ridge": lambda m, X, y, w: of_features(m, X, y, w, alpha=m.alpha),
    "RidgeClassifier": lambda m, X, y, w: of_features(m, X, y, w, alpha=m.alpha),
    "LSSVC": ls_svc,
    "KernelRidge": lambda m, X, y, w: of_kernel(gram(m, X), m.alpha, y, w),
    "GaussianProcessRegressor": lambda m, X, y, w: of_kernel(m.kernel(X), m.alpha, y, w),
    "KernelHuber": lambda m, X, y, w: of_kernel(gram(m, X), m.alpha, y, w, clipped(m.delta)),
    "KernelLasso": kernel_lasso,
    "SVR": svr,
    "LinearSVR": linear_svr,
    "Lasso": lasso,
    "ElasticNet": lambda m, X, y, w: lasso(m, X, y, w, m.l1_ratio),
    "HuberRegressor": lambda m, X, y, w: of_features(m, X, y, w, scaled(m.epsilon), m.alpha),
    "QuantileRegressor": lambda m, X, y, w: of_features(
        m, X, y, w, pinball(m.quantile), l1=len(y) * m.alpha
    ),
    "LogisticRegression": lambda m, X, y, w: of_features(m, X, y, w, LOGISTIC, 1 / m.C),
    "InstrumentalRegression": instrumental,
}


# --- ranks -------------------------------------------------------------------------------------


def order(problem):
    """Which Z_i are less than Z_0 and which are equal, for the candidates that are possible."""
    a, m = problem.arrays["candidates"], len(problem.arrays["tie_order"])
    simulated = type(problem.estimator).__name__ == "ARX"
    found = simulated_gaps(problem, a) if simulated else gradient_gaps(problem, a)
    gap, tolerance, possible = found
    last, first = np.arange(m), np.roll(np.arange(m), 1)  # where ties are decided either way
    less, both = (precedes(gap, tolerance, pi) for pi in (last, first))
    return less, both & ~less, possible


def gradient_gaps(problem, a):
    """Z_i - Z_0, the tolerance, and which candidates can have produced the data."""
    model = model_of(problem)
    f = model.loss.mean(a @ model.Phi.T)
    e = blur(model.y, np.abs(a) @ np.abs(model.Phi).T)
    r = snapped(model.y - f, e, (0.0, *model.loss.knots))
    possible = (np.abs(f) <= 1 + 1e-12) & (np.abs(r) <= 2 - 2e-12)
    possible = possible.all(axis=-1) | (problem.kind != "Labels")
    moved = problem.moved(r, f)

    A, push, Psi = model.weighted()
    rho, slope = model.loss.psi(r), model.loss.slope
    c, low, high = 0.0, None, None
    L = model.Phi.T * model.w if model.L is None else model.L
    P = (a @ model.R.T @ model.R)[:, model.first :] if len(model.R) else 0.0
    if model.l1 is not None:
        low, high = model.subgradients(a)
        c = np.clip(rho @ L.T - P, low, high)
    if model.loss.jumps:
        rho, c = shortest(model, r, a, (A, push, Psi), (low, high, c))
    d = model.loss.psi(moved) - rho[:, None]
    d = snapped(d, 2 * slope * e)
    z0, p, pushed = rho @ A.T, d @ A.T, a @ push.T
    z0 = z0 - pushed
    if model.l1 is not None:
        z0 = z0 - c @ Psi.T
        u = (rho @ L.T - P)[:, None]
        p = p - (np.clip(u + d @ L.T, low[:, None], high[:, None]) - c[:, None]) @ Psi.T
    s = 2 * z0[:, None] + p
    return *gaps(rho, d, p, s, pushed, slope * e, np.linalg.norm(A, 2)), possible


def shortest(model, r, a, weighted, subgradients):
    """Where residuals are at a jump: of the values between its sides those that make Z_0 least."""
    (A, push, Psi), (low, high, c) = weighted, subgradients
    rho, c = np.array(model.loss.psi(r), dtype=float), np.array(c)
    for j in np.flatnonzero(np.isin(r, model.loss.knots).any(axis=-1)):
        rows = np.flatnonzero(np.isin(r[j], model.loss.knots))
        left, right = (model.loss.psi(r[j, rows] + t) for t in (-1e-9, 1e-9))
        columns, bottom, top = A[:, rows], np.minimum(left, right), np.maximum(left, right)
        rho[j, rows], z = 0.0, -(push @ a[j])
        if low is not None:
            free = np.flatnonzero(low[j] < high[j])
            c[j, free] = 0.0
            z = z - Psi @ c[j]
            columns = np.hstack([columns, -Psi[:, free]])
            bottom, top = np.append(bottom, low[j, free]), np.append(top, high[j, free])
        z = z + A @ rho[j]
        x = lsq_linear(columns, -z, (bottom, top), method="bvls", tol=1e-14).x
        rho[j, rows] = x[: len(rows)]
        if low is not None:
            c[j, free] = x[len(rows) :]
    return rho, c


def simulated_gaps(problem, a):
    """ARX: the transformed noise runs through the system again (docs/theory.md 15)."""
    model, y = problem.estimator, problem.arrays["y"]
    start, one = max(model.na, model.nb + model.delay - 1 if model.nb else 0), model.fit_intercept
    now, n, first = np.arange(start, len(y)), len(y) - start, int(one)
    past = np.array([y[now - k] for k in range(1, model.na + 1)])
    driven = np.ones((first, n))
    if model.nb:
        u = problem.arrays["X"].reshape(-1)
        lagged = [u[now - model.delay - k] for k in range(model.nb)]
        driven = np.vstack([driven, lagged])
    own, drive = (
        a[:, first : first + model.na],
        np.delete(a, range(first, first + model.na), axis=1),
    )
    fitted = own @ past + drive @ driven
    e = blur(y[start:], np.abs(own) @ np.abs(past) + np.abs(drive) @ np.abs(driven))
    r = snapped(y[start:] - fitted, e)
    moved, observed = problem.moved(r, fitted), np.vstack([past, driven])
    gap = np.empty(moved.shape[:2])
    for j, i in np.ndindex(*gap.shape):
        Phi = simulated(moved[j, i], own[j], drive[j] @ driven, y[:start])
        gap[j, i] = length(np.vstack([Phi, driven]), moved[j, i]) - length(observed, r[j])
    tolerance = 64 * EPS * n * np.linalg.norm(r, axis=-1) + 4 * e
    return gap, tolerance[:, None] * np.ones_like(gap), np.ones(len(a), bool)


def simulated(noise, own, drive, start):
    """The past outputs (na, n) of the system that the noise drives, from the same beginning."""
    y, na, first = list(start), len(own), len(start)
    for e, driven in zip(noise, drive, strict=True):
        y.append(own @ y[: -na - 1 : -1] + driven + e)
    return np.array([y[first - k : len(y) - k] for k in range(1, na + 1)])


def length(rows, noise):
    """The length of the noise in the span of these rows."""
    rows = rows / np.abs(rows).max(axis=1, keepdims=True)  # their squares may overflow
    Q = np.linalg.qr((rows / np.linalg.norm(rows, axis=1, keepdims=True)).T)[0]
    return np.linalg.norm(Q.T @ noise)
