"""Minimisers of objectives that scikit-learn does not minimise, or not to rounding.

Smooth losses are minimised by Newton's method with a line search, absolute values and boxes by one
active-set method, quantiles by a linear programme. All of them end with equations that are solved
directly, so that the gradient at the estimate is zero up to rounding.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lstsq, qr, svd
from scipy.optimize import linprog, nnls
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR

from unassuming._numerics import CUT, EPS, powers_of_two, rank_cut
from unassuming._typing import Array

_ROUNDS = 200
_MODERATE = 15.0
"""Log-odds at which every row still contributes to the gradient."""

Local: TypeAlias = tuple[float, Array, float]
"""The largest derivative at a point, the minimum of the quadratic model there, and the slope in its
direction."""


def least_squares(columns: Array, y: Array) -> Array:
    """Return the least-squares coefficients, the shortest ones if columns are dependent.

    The columns are brought to the same length first; the solution is refined once.
    """
    unit = _lengths(columns)
    found = lstsq(columns / unit, y, cond=CUT)[0]
    rest = y - (columns / unit) @ found
    return np.asarray((found + lstsq(columns / unit, rest, cond=CUT)[0]) / unit)


def kernel_ridge(
    K: Array, y: Array, alpha: float, weights: Array, *, fit_intercept: bool = True
) -> tuple[float, Array]:
    """Minimise Σ w_j (y_j - b - (Ka)_j)² + alpha aᵀKa; return b and a, alpha a = w (y - b - Ka).

    With an intercept the coefficients a sum to zero, and b is the multiplier of this condition.
    """
    used = weights > 0.0
    M, a = K[np.ix_(used, used)], np.zeros_like(y)
    M[np.diag_indices_from(M)] += alpha / weights[used]
    if not fit_intercept:
        a[used] = _positive(M, y[used])
        return 0.0, a
    a[used] = _positive(_centred(M), y[used] - y[used].mean())
    return float(np.mean(y[used] - M @ a[used])), a


def kernel_huber(K: Array, y: Array, alpha: float, delta: float, weights: Array) -> Array:
    """Minimise Σ w_j h_δ(y_j - (Ka)_j) + (alpha/2) aᵀKa, h_δ(r) = r²/2, linear beyond ±δ.

    Returns the minimiser with alpha a = w clip(y - Ka, ±δ). Newton's method solves for the
    coefficients of the rows within ±δ; those of the others are known.
    """

    def value(a: Array) -> float:
        f = K @ a
        inner = np.clip(y - f, -delta, delta)
        return float(weights @ (inner * (y - f - inner / 2)) + alpha * (a @ f) / 2)

    def local(a: Array) -> Local:
        r = y - K @ a
        target = weights * np.clip(r, -delta, delta) / alpha
        lack = alpha * (a - target)
        inside = (np.abs(r) <= delta) & (weights > 0)
        M, outside = K[np.ix_(inside, inside)], ~inside
        M[np.diag_indices_from(M)] += alpha / weights[inside]
        rest = y[inside] - K[np.ix_(inside, outside)] @ target[outside]
        target[inside] = _positive(M, rest)
        return float(np.abs(lack).max()), target, float(lack @ (K @ (target - a)))

    return _newton(np.zeros_like(y), value, local)


def huber_scale(residuals: Array, weights: Array, epsilon: float) -> Array:
    """Return the root σ of Σ w_j min(r_j²/σ², ε²) = Σ w_j for residuals (..., n); nan if none.

    It is σ² = S / (Σ w - ε²L) with S the sum of w r² over the residuals below εσ and L the weight
    of the others, which sorting finds.
    """
    square = np.square(residuals)
    order = np.argsort(square, axis=-1, kind="stable")
    square, w = np.take_along_axis(square, order, axis=-1), weights[order]
    total, small = float(weights.sum()), np.cumsum(w * square, axis=-1)
    large = np.cumsum(w[..., ::-1], axis=-1)[..., ::-1] - w
    with np.errstate(divide="ignore", invalid="ignore"):
        above = ~(epsilon**2 * (small / square + large) < total)  # at r = 0 too
        last = np.maximum(above.sum(axis=-1, keepdims=True) - 1, 0)
        S, L = np.take_along_axis(small, last, axis=-1), np.take_along_axis(large, last, axis=-1)
        sigma = np.sqrt(S / (total - epsilon**2 * L))[..., 0]
    share = (w * (square > 0.0)).sum(axis=-1)
    return np.where((epsilon**2 * share > total) & (sigma > 0.0), sigma, np.nan)


def concomitant_huber(
    design: Array, y: Array, weights: Array, epsilon: float, penalty: Array
) -> tuple[Array, float]:
    """Minimise Σ w (σ + σ H_ε(r/σ)) + Σ p a², as scikit-learn's HuberRegressor; return a and σ.

    H_ε(z) = z², linear beyond ±ε. The best scale for given coefficients is `huber_scale`, which
    leaves a convex function of the coefficients.
    """
    unit = _lengths(design)
    Phi, p = design / unit, penalty / unit**2

    def at(a: Array) -> tuple[Array, Array, float]:
        r = y - Phi @ a
        r[np.abs(r) <= 16 * EPS * (np.abs(y) + np.abs(y - r))] = 0.0  # rounding
        sigma = float(huber_scale(r, weights, epsilon))
        size = (np.abs(y) + np.abs(y - r)).max(initial=0.0, where=np.abs(r) < epsilon * sigma)
        if not sigma > 1e4 * EPS * size:  # the infimum lies at scale zero
            share = float(weights @ (r != 0.0) / weights.sum())
            raise ValueError(
                "y leaves too few nonzero residuals to estimate their scale: expected residuals "
                f"such that epsilon² times their share exceeds 1, given epsilon = {epsilon:g} and "
                f"a share of {share:g}. Raise epsilon, use fewer features, or use least squares."
            )
        return r, np.clip(r / sigma, -epsilon, epsilon), sigma

    def value(a: Array) -> float:
        r, z, sigma = at(a)
        return float(weights @ (sigma + z * (2 * r - sigma * z)) + p @ a**2) / 2

    def local(a: Array) -> Local:
        r, z, sigma = at(a)
        gradient = p * a - Phi.T @ (weights * z)
        root = np.sqrt(weights / sigma) * (np.abs(z) < epsilon)
        rows, own = root[:, None] * Phi, root * r
        rows -= np.outer(own, own @ rows / (own @ own))  # the scale follows
        # A ridge in proportion to the gradient changes the path, but not the minimum.
        share = np.abs(gradient).max(initial=0.0) / (epsilon * weights.sum())
        held = np.sqrt(p + max(1e-3 * share, EPS) * weights.sum() / sigma)
        step = -_of_gram(np.vstack([rows, np.diag(held)]), gradient)
        return float(np.abs(gradient).max(initial=0.0)), a + step, float(gradient @ step)

    root = np.sqrt(weights)
    stacked = np.vstack([root[:, None] * Phi, np.diag(np.sqrt(p))])
    start = least_squares(stacked, np.concatenate([root * y, np.zeros(len(p))]))
    a = _newton(start, value, local)
    return a / unit, at(a)[2]


def logistic(design: Array, y: Array, weights: Array, ridge: Array, penalty: Array) -> Array:
    """Minimise Σ c_k log(1 + exp(-y_k (Φa)_k)) + ½ Σ q_j a_j² + Σ p_j |a_j| for labels y of ±1.

    The quadratic model of a step with absolute values is minimised by the active-set method.
    """
    unit = _lengths(design)
    Phi, c, q, p = design / unit, weights, ridge / unit**2, penalty / unit

    def value(a: Array) -> float:
        return float(c @ np.logaddexp(0.0, -y * (Phi @ a)) + q @ a**2 / 2 + p @ np.abs(a))

    def local(a: Array) -> Local:
        g = Phi @ a
        descent = Phi.T @ (c * y * expit(-y * g)) - q * a
        lack = float(np.abs(descent - np.clip(descent, *l1_subdifferential(a, p))).max())
        root = np.sqrt(c * expit(g) * expit(-g))
        stacked = np.vstack([root[:, None] * Phi, np.diag(np.sqrt(q))])
        if not p.any():
            step = _of_gram(stacked, descent)
            return lack, a + step, -float(descent @ step)
        pull = np.sqrt(c) * y * np.exp(-y * g / 2)  # minus the first derivatives over the root
        rhs = np.concatenate([root * g + pull, np.zeros(len(q))])
        target = l1_least_squares(stacked, rhs, p)
        bend = p @ (np.abs(target) - np.abs(a))
        return lack, target, float(bend - descent @ (target - a))

    a = _newton(np.zeros(design.shape[1]), value, local)
    if not (q.any() or p.any()) and np.abs(Phi @ a).max() > _MODERATE:
        _require_overlap(y[:, None] * Phi)
    return a / unit


def _require_overlap(rows: Array) -> None:
    """Raise if y_k φ_kᵀu ≥ 0 for all k, and not always 0, for some u."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0.0, largest, 1.0)
    limits = np.concatenate([np.ones(len(rows)), np.zeros(len(rows))])
    table = np.vstack([rows, -rows])
    found = linprog(-rows.sum(axis=0), A_ub=table, b_ub=limits, bounds=(None, None))
    # A direction that separates can be scaled until some margin is 1; otherwise all are 0.
    if found.status != 0 or -found.fun > 0.5:
        raise ValueError(
            "y can be separated by the features, so the likelihood has no maximum: expected labels "
            "that overlap, or a penalty, given separable labels and no penalty. Set a finite C; "
            "ranks and tests need no estimate."
        )


def linear_svr(
    design: Array, y: Array, C: float, epsilon: float, ridge: Array, *, squared: bool
) -> Array:
    """Minimise ½ Σ p_j a_j² + C Σ max(|y - Da| - ε, 0), or the sum of the squares; all p_j > 0.

    The dual is support vector regression with a linear kernel and without an intercept; the rows
    with 0 < |α| < C lie on a side of the tube, and these equations give the coefficients.
    """
    D = design / np.sqrt(ridge)
    if not squared:
        dual = epsilon_svr(D @ D.T, y, C, epsilon, fit_intercept=False)[1]
        free = (np.abs(dual) < C) & ((dual != 0) | (epsilon == 0))
        a = D.T @ dual
        a += least_squares(D[free], y[free] - epsilon * np.sign(dual[free]) - D[free] @ a)
        return np.asarray(a / np.sqrt(ridge))

    def value(a: Array) -> float:
        return float(a @ a) / 2 + C * float((np.maximum(np.abs(y - D @ a) - epsilon, 0) ** 2).sum())

    def local(a: Array) -> Local:
        r = y - D @ a
        out = r - np.clip(r, -epsilon, epsilon)
        descent = 2 * C * (D.T @ out) - a
        step = _of_gram(np.vstack([np.sqrt(2 * C) * D[out != 0], np.eye(len(a))]), descent)
        return float(np.abs(descent).max()), a + step, -float(descent @ step)

    return np.asarray(_newton(np.zeros(len(ridge)), value, local) / np.sqrt(ridge))


def quantile_regression(design: Array, y: Array, tau: float, penalty: Array) -> Array:
    """Minimise Σ ρ_τ(y_j - (Da)_j) + Σ p_k |a_k|, ρ_τ(r) = τ r for r >= 0 and (τ - 1) r below.

    The dual programme has a variable for each row, and the coefficients as multipliers. It ends at
    a vertex, whose equations r = 0 are solved once more.
    """
    unit = _lengths(design) / np.sqrt(len(y))
    Phi, p = design / unit, penalty / unit
    apart = np.abs(y - np.median(y))
    size = float(np.median(apart[apart > 0])) if apart.any() else 1.0
    limits = {"A_ub": np.vstack([Phi.T, -Phi.T]), "b_ub": np.tile(p, 2), "bounds": (tau - 1, tau)}
    found = linprog(-y / size, **limits, method="highs-ds")
    if found.status != 0:
        raise ArithmeticError(
            "the regression quantile was not found: the linear programme ended with "
            f"{found.message!r}. Standardise the features, or drop columns that depend on others."
        )
    a = size * np.subtract(*-found.ineqlin.marginals.reshape(2, -1))
    zero = (p > 0) & (np.abs(a) <= 1e-8 * np.abs(a).max(initial=0.0))
    a[zero] = 0.0
    r = y - Phi @ a
    rows = np.abs(r) <= 1e-8 * size
    a[~zero] += least_squares(Phi[rows][:, ~zero], r[rows])
    return np.asarray(a / unit)


def l1_subdifferential(a: Array, penalty: Array | float) -> tuple[Array, Array]:
    """Return the box [lo, hi] of the subgradients of Σ_j p_j |a_j|: a point unless a_j = 0."""
    point, slack = penalty * np.sign(a), np.where(a == 0.0, penalty, 0.0)
    return point - slack, point + slack


def l1_least_squares(design: Array, y: Array, penalty: Array) -> Array:
    """Minimise ½‖y - Da‖² + Σ p_j |a_j|; inactive coefficients are exactly zero.

    The residuals are the point nearest to y where |D_jᵀr| <= p_j. Non-negative least squares finds
    it (Lawson and Hanson's least distance programme), and the equations of the active columns are
    solved once more.
    """
    unit, found = _lengths(design), np.zeros(design.shape[1])
    D, p, size = design / unit, penalty / unit, np.linalg.norm(y) or 1.0
    if len(D) > D.shape[1] + 1:  # the same squares, but for a constant, of few rows
        D = qr(np.column_stack([D, y]), mode="r")[0][: D.shape[1] + 1]
        D, y = D[:, :-1], D[:, -1]
    free = np.flatnonzero(p == 0)
    Q, R, order = qr(D[:, free], mode="economic", pivoting=True)
    rank = int((np.abs(np.diagonal(R)) > CUT).sum())
    Q, free, held = Q[:, :rank], free[np.sort(order[:rank])], np.flatnonzero(p)
    M, r = D[:, held] - Q @ (Q.T @ D[:, held]), (y - Q @ (Q.T @ y)) / size
    G = np.hstack([M, -M])
    G = np.vstack([G, r @ G - np.tile(p[held], 2) / size])
    most = 100 + 10 * G.shape[1]
    u = nnls(G, np.eye(len(G))[-1], maxiter=most)[0] if len(held) else np.zeros(0)
    a = (u[: len(held)] - u[len(held) :]) * size / (1 - G[-1] @ u)
    active = np.append(free, held[a != 0])
    columns, slope = D[:, active], np.append(0 * free, np.sign(a[a != 0])) * p[active]
    x = np.zeros(len(active))
    for _ in range(3):
        x += _of_gram(columns, columns.T @ (y - columns @ x) - slope)
    found[active] = np.where(x * slope < 0, 0.0, x)  # zero but for rounding
    return found / unit


def epsilon_svr(
    K: Array, y: Array, C: float, epsilon: float, *, fit_intercept: bool = True
) -> tuple[float, Array]:
    """Maximise yᵀa - ½aᵀKa - ε‖a‖₁ over |a_j| <= C, and 1ᵀa = 0 with an intercept; return b and a.

    With r = y - Ka - b: |r| <= ε where a = 0, ±r >= ε where a = ±C, and r = ε sign(a) elsewhere.
    scikit-learn keeps the kernel in single precision. Its solution says which rows are where; the
    equations are solved again, and rows change places while fewer conditions are violated.
    """
    scale = float(np.abs(y - y.mean() * fit_intercept).max()) or 1.0
    a = _libsvm(K, y, C, epsilon, scale, balanced=fit_intercept)
    free, best, least = (np.abs(a) < C) & ((a != 0) | (epsilon == 0)), (0.0, a), np.inf
    for _ in range(_ROUNDS):
        u = y - K @ a
        lo, hi = l1_subdifferential(a, epsilon)
        lo[a == -C], hi[a == C] = -np.inf, np.inf
        b = float((u - hi).max() + (u - lo).min()) / 2 if fit_intercept else 0.0
        violation = np.maximum(np.maximum(lo - (u - b), u - b - hi), 0.0)
        worst = float(violation.max()) + abs(a.sum()) * np.abs(K).max() * fit_intercept
        if worst < least:
            best, least = (b, a), worst
        elif not (violation[~free] > least).any():
            break
        free |= violation > 4 * EPS * (np.abs(y) + np.abs(K) @ np.abs(a) + epsilon)
        side, count = np.sign(np.where(a == 0, u - b, a)) * (epsilon > 0), int(free.sum())
        M, rest = K[np.ix_(free, free)], (u - b - epsilon * side)[free]
        if fit_intercept:
            one = np.ones((count, 1))
            M, rest = np.block([[M, one], [one.T, 0.0]]), np.append(rest, -a.sum())
        step = lstsq(M, rest)[0]
        left, step = (rest - M @ step)[:count], step[:count]
        if np.abs(left).max(initial=0.0) > 1e-9 * scale:  # no maximum: to the first kink
            end = np.where(left * side[free] < 0, 0.0, C * np.sign(left)) - a[free]
            first = np.argmin(np.divide(end, left, out=np.full(count, np.inf), where=left != 0))
            step = left * (end[first] / left[first])
            step[first] = end[first]
        a = a.copy()
        a[free] += step
        crossed = a * side < 0
        a = np.where(crossed, 0.0, np.clip(a, -C, C))
        free &= ~crossed & (np.abs(a) < C)
    return best


def _libsvm(K: Array, y: Array, C: float, epsilon: float, scale: float, *, balanced: bool) -> Array:
    """Return the coefficients of scikit-learn."""
    n, weights = len(y), np.ones(len(y))
    if not balanced:  # two rows without a kernel, at ±ε, hold the intercept at zero
        K, y = np.pad(K, (0, 2)), np.append(y, [epsilon, -epsilon])
        weights = np.append(weights, [n, n])
    solver = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-8 * scale, max_iter=10**6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solver.fit(K, y, sample_weight=weights)
    a = np.zeros(len(y))
    a[solver.support_] = solver.dual_coef_[0]
    return np.clip(a[:n], -C, C)


def _newton(a: Array, value: Callable[[Array], float], local: Callable[[Array], Local]) -> Array:
    """Minimise a convex function, until neither its values nor its derivatives fall."""
    here, (lack, target, slope) = value(a), local(a)
    for _ in range(_ROUNDS):
        near, t = -slope <= 1e-12 * abs(here), 1.0  # values differ by rounding, gradients do not
        while t > (0.4 if near else 1e-10):
            trial = target if t == 1.0 else a + t * (target - a)
            there = value(trial)
            if near or there <= here + 1e-4 * t * slope:
                found = local(trial)
                if found[0] < lack or not near:
                    break
            t /= 2.0
        else:
            break
        a, here, (lack, target, slope) = trial, there, found
    return a


def _lengths(columns: Array) -> Array:
    """Return powers of two near the lengths of the columns: dividing by them rounds nothing."""
    return powers_of_two(np.linalg.norm(columns, axis=0))


def _of_gram(M: Array, g: Array) -> Array:
    """Return the shortest x with MᵀM x = g."""
    s, vt = svd(qr(M, mode="r")[0][: M.shape[1]], full_matrices=False)[1:]
    keep = s > rank_cut(M.shape) * s.max(initial=0.0)
    return np.asarray((vt[keep] @ g) / s[keep] ** 2 @ vt[keep])


def _positive(M: Array, rhs: Array) -> Array:
    """Solve M x = rhs with one refinement; M is positive definite, but perhaps for rounding."""
    if not len(rhs):
        return rhs
    try:
        factor = cho_factor(M, lower=True)
    except np.linalg.LinAlgError:
        return np.asarray(lstsq(M, rhs)[0])
    x = cho_solve(factor, rhs)
    return np.asarray(x + cho_solve(factor, rhs - M @ x))


def _centred(M: Array) -> Array:
    """Return M on the vectors of sum zero, and a number of its size on constant ones."""
    mean = M.mean(axis=0)
    return np.asarray(M - mean - mean[:, None] + mean.mean() + np.trace(M) / len(M) ** 2)
