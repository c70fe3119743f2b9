"""Minimisers of objectives that scikit-learn does not minimise, or not to rounding.

Smooth losses are minimised by Newton's method with a line search, absolute values and boxes by one
active-set method, quantiles by a linear programme. All of them end with equations that are solved
directly, so that the gradient at the estimate is zero up to rounding.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, lstsq, qr, solve_triangular, svd
from scipy.optimize import linprog
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR

from unassuming._numerics import CUT, EPS, powers_of_two, rank_cut
from unassuming._typing import Array, BoolArray, IntArray

_ROUNDS = 200
_MODERATE = 15.0
"""Log-odds at which every row still contributes to the gradient."""
_DEPENDENT = 1e-5
"""Smallest diagonal entry of a Cholesky factor, relative to the largest, that is used as it is."""

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
    apart, free = np.abs(y - np.median(y)), p == 0
    size = float(np.median(apart[apart > 0])) if apart.any() else 1.0
    found = linprog(
        -y / size,
        A_ub=np.concatenate([Phi[:, ~free].T, -Phi[:, ~free].T]),
        b_ub=np.tile(p[~free], 2),
        A_eq=Phi[:, free].T,
        b_eq=np.zeros(free.sum()),
        bounds=(tau - 1, tau),
        method="highs-ds",
    )
    if found.status != 0:
        raise ArithmeticError(
            "the regression quantile was not found: the linear programme ended with "
            f"{found.message!r}. Standardise the features, or drop columns that depend on others."
        )
    a = np.zeros(len(p))
    a[free] = -found.eqlin.marginals * size
    a[~free] = (-found.ineqlin.marginals * size).reshape(2, -1).T @ [1.0, -1.0]
    zero = ~free & (np.abs(a) <= 1e-8 * np.abs(a).max(initial=0.0))
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
    """Minimise ½‖y - Da‖² + Σ p_j |a_j|; inactive coefficients are exactly zero."""
    unit, found = _lengths(design), np.zeros(design.shape[1])
    free = np.flatnonzero(penalty == 0)
    if len(free):  # an independent set of the columns without a penalty
        R, order = qr(design[:, free] / unit[free], mode="r", pivoting=True)
        free = free[np.sort(order[: int((np.abs(np.diagonal(R)) > CUT).sum())])]
    kept = np.union1d(np.flatnonzero(penalty), free)
    D, p = np.asfortranarray(design[:, kept] / unit[kept]), penalty[kept] / unit[kept]

    def pull(a: Array) -> tuple[Array, Array]:
        active = a != 0
        size = np.linalg.norm(y) + np.abs(a).sum()
        return D.T @ (y - D[:, active] @ a[active]), 4 * EPS * (size + p)

    def newton(free: IntArray, slope: Array) -> tuple[Array, float]:
        R = qr(D[:, free], mode="r")[0][: len(free)]
        R = np.vstack([R, np.zeros((len(free) - len(R), len(free)))])
        # A column that depends on the others: a long way along the null direction, to a zero.
        small = np.abs(np.diagonal(R)) < EPS
        R[small, small] = EPS
        return solve_triangular(R, solve_triangular(R, slope, trans=1)), 1.0

    start, box = np.zeros(len(kept)), np.full(len(kept), np.inf)
    found[kept] = _ActiveSet(pull, newton, start, p, box, np.flatnonzero(p == 0)).solve()[1]
    return found / unit


def epsilon_svr(
    K: Array, y: Array, C: float, epsilon: float, *, fit_intercept: bool = True
) -> tuple[float, Array]:
    """Maximise yᵀa - ½aᵀKa - ε‖a‖₁ over |a_j| <= C, and 1ᵀa = 0 with an intercept; return b and a.

    K is symmetric; if it is indefinite, a stationary point near that of scikit-learn is found. The
    intercept is the multiplier of 1ᵀa = 0, the midpoint of an interval if no a is strictly inside.
    With r = y - Ka - b: |r| <= ε where a = 0, ±r >= ε where a = ±C, and r = ε sign(a) elsewhere.
    """
    sizes = np.abs(K)
    scale = float(np.abs(y - y.mean() * fit_intercept).max()) or 1.0

    def pull(a: Array) -> tuple[Array, Array]:
        error = np.abs(y) + sizes @ np.abs(a) + epsilon
        return y - K @ a, 4 * EPS * (error + error.max() * fit_intercept)

    def newton(free: IntArray, slope: Array) -> tuple[Array, float]:
        M = K[np.ix_(free, free)]
        if fit_intercept:
            M, slope = _centred(M), slope - slope.mean()
        return _ascent(M, slope, 1e-4 * scale)

    start = _libsvm(K, y, C, epsilon, scale, balanced=fit_intercept)
    penalty, box = np.full(len(y), float(epsilon)), np.full(len(y), float(C))
    inside = np.flatnonzero((np.abs(start) < C) & ((start != 0) | (epsilon == 0)))
    face = _ActiveSet(pull, newton, start, penalty, box, inside, balanced=fit_intercept)
    return face.solve()


def _libsvm(K: Array, y: Array, C: float, epsilon: float, scale: float, *, balanced: bool) -> Array:
    """Return the coefficients of scikit-learn, which keeps the kernel in single precision."""
    n, weights = len(y), np.ones(len(y))
    if not balanced:  # two rows without a kernel, at ±ε, hold the intercept at zero
        K, y, weights = (
            np.pad(K, (0, 2)),
            np.append(y, [epsilon, -epsilon]),
            np.append(weights, [n, n]),
        )
    most = 100_000 + 100 * n
    solver = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-8 * scale, max_iter=most)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the active-set method takes over
        solver.fit(K, y, sample_weight=weights)
    a = np.zeros(len(y))
    a[solver.support_] = solver.dual_coef_[0]
    return np.clip(a[:n], -C, C)


def _ascent(M: Array, slope: Array, near: float) -> tuple[Array, float]:
    """Return a direction of ascent of slopeᵀd - ½dᵀMd, and the step to the maximum along it."""
    try:
        L = np.linalg.cholesky(M)
        if np.diagonal(L).min() > _DEPENDENT * np.diagonal(L).max():
            return cho_solve((L, True), slope), 1.0
    except np.linalg.LinAlgError:
        pass
    curvature, V = eigh(M)
    slope = V.T @ slope
    null = np.abs(curvature) <= 10.0 * rank_cut(M.shape) * np.abs(curvature).max()
    if np.linalg.norm(slope[null]) > 1e-9 * near:
        return V[:, null] @ slope[null], np.inf
    curvature, V, slope = curvature[~null], V[:, ~null], slope[~null]
    if np.linalg.norm(slope) <= near:  # go to a stationary point, whatever the curvature
        return V @ (slope / curvature), 1.0
    rise, bend = np.sum(slope**2 / np.abs(curvature)), np.sum(slope**2 / curvature)
    return V @ (slope / np.abs(curvature)), float(rise / bend) if bend > 0.0 else np.inf


@final
class _ActiveSet:
    """Minimise ½aᵀMa - qᵀa + Σ p_j|a_j| over |a_j| <= box_j, with 1ᵀa = 0 if balanced.

    ``pull(a)`` is q - Ma with its rounding error; ``newton(free, slope)`` is a direction of
    the free coefficients with the length of the step. They move until one of them reaches a kink,
    0 or ±box, or the minimum; then the worst one of those at kinks is set free.
    """

    def __init__(
        self,
        pull: Callable[[Array], tuple[Array, Array]],
        newton: Callable[[IntArray, Array], tuple[Array, float]],
        start: Array,
        penalty: Array,
        box: Array,
        free: IntArray,
        *,
        balanced: bool = False,
    ) -> None:
        self.pull, self.newton, self.p, self.box = pull, newton, penalty, box
        self.a, self.b, self.balanced = start.copy(), 0.0, balanced
        self.side = np.sign(start) * (penalty > 0)  # of zero, on which a coefficient is free
        self.free: BoolArray = np.zeros(len(start), dtype=np.bool_)
        self.free[free] = True
        if balanced and len(free):
            low, high = self._ends(free)
            self.a[free] = np.clip(self.a[free] - self.a.sum() / len(free), low, high)

    def solve(self) -> tuple[float, Array]:
        """Return the multiplier b of 1ᵀa = 0, and a."""
        best, least = (0.0, self.a.copy()), np.inf
        visited: set[bytes] = set()
        refused: set[int] = set()
        entering: list[int] = []
        for _ in range(100 + 20 * len(self.a)):
            self._move()
            state = np.where(self.free, self.side, 3.0 + np.sign(self.a)).astype(np.int8).tobytes()
            if state in visited:  # through rounding only, since the objective falls
                refused.update(entering)
            else:
                visited.add(state)
                refused.clear()
            violation = self._violation()
            if violation.max(initial=0.0) < least:
                best, least = (self.b, self.a.copy()), float(violation.max(initial=0.0))
            violation[list(refused)] = 0.0
            entering = self._entering(violation)
            if not entering:
                break
            for j in entering:
                self.side[j] = np.sign(self.a[j] or self.u[j] - self.b) * (self.p[j] > 0)
                self.free[j] = True
        return best

    def _ends(self, free: IntArray) -> tuple[Array, Array]:
        """Return the kinks between which these coefficients may move."""
        low, high = np.where(self.side > 0, 0.0, -self.box), np.where(self.side < 0, 0.0, self.box)
        return low[free], high[free]

    def _update(self) -> None:
        """Recompute q - Ma, its rounding error, and b."""
        self.u, self.error = self.pull(self.a)
        if self.balanced and self.free.any():
            self.b = float(np.mean((self.u - self.p * self.side)[self.free]))
        elif self.balanced:
            low, high = self._interval()
            self.b = float(low.max() + high.min()) / 2.0

    def _interval(self) -> tuple[Array, Array]:
        """Return the bounds on b that coefficients at kinks impose."""
        low = np.where(self.a < 0.0, self.u + self.p, self.u - self.p)
        high = np.where(self.a > 0.0, self.u - self.p, self.u + self.p)
        return np.where(self.a > 0.0, -np.inf, low), np.where(self.a < 0.0, np.inf, high)

    def _violation(self) -> Array:
        """Return by how much each coefficient at a kink violates its optimality condition."""
        r = self.u - self.b
        excess = np.where(self.a == 0.0, np.abs(r) - self.p, self.p - np.sign(self.a) * r)
        return np.where(self.free, 0.0, np.maximum(excess - self.error, 0.0))

    def _entering(self, violation: Array) -> list[int]:
        """Return the coefficients to set free: the worst, or a pair if none is free to fix b."""
        if not violation.any():
            return []
        if self.balanced and not self.free.any():
            low, high = self._interval()
            low[violation == 0.0], high[violation == 0.0] = -np.inf, np.inf
            pair = [int(np.argmax(low)), int(np.argmin(high))]
            return pair if low[pair[0]] > high[pair[1]] else []
        return [int(np.argmax(violation))]

    def _move(self) -> None:
        """Go to the minimum of the free coefficients; those that reach a kink stay there."""
        full_steps = 0
        while True:
            self._update()
            free = np.flatnonzero(self.free)
            slope = (self.u - self.b - self.p * self.side)[free]
            # Three full Newton steps are one step and its refinement.
            if full_steps == 3 or np.all(np.abs(slope) <= self.error[free]):
                return
            direction, length = self.newton(free, slope)
            low, high = self._ends(free)
            end, steps = np.where(direction > 0.0, high, low), np.full(len(free), np.inf)
            moving = direction != 0.0
            steps[moving] = (end - self.a[free])[moving] / direction[moving]
            first = int(np.argmin(steps))
            step, full_steps = min(length, float(steps[first])), full_steps + 1
            if not np.isfinite(step):
                return
            self.a[free] = np.clip(self.a[free] + step * direction, low, high)
            if steps[first] <= length:
                self.a[free[first]], self.free[free[first]] = end[first], False
                full_steps = 0


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
