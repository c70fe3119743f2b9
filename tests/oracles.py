"""The formulas of the theory, written out plainly: slow, obvious, and without the library.

Every function takes the data, a candidate and ``images``, a callable that returns the transformed
copies of a residual vector, such as ``region.perturbations.apply``. It returns the list of
statistics Z_0, Z_1, ..., Z_{m-1}.
"""

import numpy as np


def rank(Z, pi, rtol=1e-9):
    """1 + the number of statistics before Z_0: smaller ones, and tied ones that pi puts first."""
    before = 0
    for i in range(1, len(Z)):
        if abs(Z[i] - Z[0]) <= rtol * max(Z[i], Z[0]):
            before += bool(pi[i] < pi[0])
        else:
            before += bool(Z[i] < Z[0])
    return 1 + before


def root(A):
    """The symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(A)
    return vectors @ np.diag(np.sqrt(np.clip(values, 0, None))) @ vectors.T


def inverse_root(A):
    """A^{-1/2} of a positive definite matrix."""
    values, vectors = np.linalg.eigh(A)
    return vectors @ np.diag(1 / np.sqrt(values)) @ vectors.T


def squared_norm(v):
    return sum(float(x) ** 2 for x in v)


# --- quadratic objectives --------------------------------------------------------------------


def sps(Phi, z, n, a, images):
    """Z_i = ‖(ΦᵀΦ)^{-1/2} Φᵀ G_i (z - Φ a)‖², where G_i leaves all but the first n rows alone."""
    weight = inverse_root(Phi.T @ Phi)
    residual = z - Phi @ a
    Z = []
    for top in [residual[:n], *images(residual[:n])]:
        perturbed = np.concatenate([top, residual[n:]])
        Z.append(squared_norm(weight @ Phi.T @ perturbed))
    return Z


def stacked_ridge(Phi, y, lam, *, intercept):
    """(1/n) ‖y - Φa‖² + λ ‖a‖², the intercept left out, as ‖z - Φ'a‖²."""
    n, d = Phi.shape
    B = np.diag([0.0 if intercept and j == 0 else 1.0 for j in range(d)])
    stacked = np.vstack([Phi / np.sqrt(n), np.sqrt(lam) * B])
    return stacked, np.concatenate([y / np.sqrt(n), np.zeros(d)])


def stacked_kernel_ridge(K, y, lam, w=None):
    """(1/n) (y - Ka)ᵀ W (y - Ka) + λ aᵀKa, as ‖z - Φa‖²."""
    n = len(y)
    W = np.eye(n) if w is None else np.diag(w)
    Phi = np.vstack([np.sqrt(W) @ K / np.sqrt(n), np.sqrt(lam) * root(K)])
    return Phi, np.concatenate([np.sqrt(W) @ y / np.sqrt(n), np.zeros(n)])


def stacked_ls_svc(X, y, C):
    """½ ‖Ba‖² + C ‖1 - y ⊙ (Xa)‖², as ‖z - Φa‖²: the residuals on top are the slacks.

    X has a leading column of ones, y is ±1, and B removes the bias.
    """
    n, d = X.shape
    B = np.diag([0.0] + [1.0] * (d - 1))
    Phi = np.vstack([np.sqrt(C) * y[:, None] * X, B / np.sqrt(2)])
    return Phi, np.concatenate([np.sqrt(C) * np.ones(n), np.zeros(d)])


def weighted_quadratic(Phi, y, w, lam, P, a, images):
    """Z_i = sᵀ H⁻¹ s with s = ΦᵀW G_i r / n - λPa and H = ΦᵀWΦ / n + λP.

    The noise itself is transformed, before it is weighted.
    """
    n, W = len(y), np.diag(w)
    H = Phi.T @ W @ Phi / n + lam * P
    r = y - Phi @ a
    Z = []
    for image in [r, *images(r)]:
        s = Phi.T @ W @ image / n - lam * P @ a
        Z.append(float(s @ np.linalg.solve(H, s)))
    return Z


# --- support vectors and the 1-norm ----------------------------------------------------------


def epsilon_svr(K, y, epsilon, a, images):
    """Z_i = ‖G_i (y - Ka) - ε̄ sign(a)‖², as published: no bias, no box, sign(0) = 0."""
    r = y - K @ a
    return [squared_norm(v - epsilon * np.sign(a)) for v in [r, *images(r)]]


def kernel_lasso(K, y, lam, a, images):
    """Z_i = ‖K G_i (Ka - y) + λ sign(a)‖², as published: sign(0) = 0."""
    r = K @ a - y
    return [squared_norm(K @ v + lam * np.sign(a)) for v in [r, *images(r)]]


def nearest_to_zero(u, low, high):
    """The element of least absolute value of u - [low, high]."""
    if u < low:
        return u - low
    if u > high:
        return u - high
    return 0.0


def svr_with_box(K, y, C, epsilon, b, a, images, weighting):
    """Minus the dual's least-norm subgradient: an interval at a_j = 0, a half-line at a_j = ±C."""
    r = y - K @ a - b
    Z = []
    for image in [r, *images(r)]:
        g = []
        for u, c in zip(image, a, strict=True):
            low, high = (epsilon, epsilon) if c > 0 else (-epsilon, -epsilon)
            if c == 0:
                low, high = -epsilon, epsilon
            if c == C:
                high = np.inf
            if c == -C:
                low = -np.inf
            g.append(nearest_to_zero(u, low, high))
        Z.append(squared_norm(weighting @ np.array(g)))
    return Z


def lasso(Phi, y, c, penalty, a, images):
    """(c/2) ‖y - Φa‖² + Σ penalty_j |a_j|: the least-norm subgradient, coordinate by coordinate."""
    r = y - Phi @ a
    Z = []
    for image in [r, *images(r)]:
        g = []
        for j in range(len(a)):
            u, p = c * (Phi[:, j] @ image), penalty[j]
            low, high = (-p, p) if a[j] == 0 else (p * np.sign(a[j]), p * np.sign(a[j]))
            g.append(nearest_to_zero(u, low, high))
        Z.append(squared_norm(g))
    return Z


# --- labels ----------------------------------------------------------------------------------


def logistic(Phi, y, C, w, ratio, a, images, weighting, f=None):
    """C Σ w log(1 + exp(-y g)) + ½ (1 - ratio) ‖coef‖² + ratio ‖coef‖₁, the first a_j free.

    Z_i = ‖Ψ ḡ‖² with the least-norm subgradient, coordinate by coordinate. ``images(r, f)`` are
    the residuals of fresh labels; f is tanh(g/2) unless it is given.
    """
    if f is None:
        f = np.tanh(Phi @ a / 2)
    Z = []
    for image in [y - f, *images(y - f, f)]:
        g = []
        for j in range(len(a)):
            u, p = C / 2 * (Phi[:, j] @ (w * image)), float(j > 0)
            u -= (1 - ratio) * p * a[j]
            low, high = (-ratio * p, ratio * p) if a[j] == 0 else (ratio * p * np.sign(a[j]),) * 2
            g.append(nearest_to_zero(u, low, high))
        Z.append(squared_norm(weighting @ np.array(g)))
    return Z


# --- Huber -----------------------------------------------------------------------------------


def huber_scale(r, epsilon):
    """The root σ of Σ min(r_j²/σ², ε²) = n, by bisection."""

    def excess(sigma):
        return sum(min((v / sigma) ** 2, epsilon**2) for v in r) - len(r)

    low, high = 1e-12, 1e12
    for _ in range(120):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


def huber(Phi, y, lam, P, influence, a, images):
    """Z_i = sᵀ H⁻¹ s with s = Φᵀ ψ(G_i r) / n - λPa and H = ΦᵀΦ / n + λP."""
    n = len(y)
    H = Phi.T @ Phi / n + lam * P
    r = y - Phi @ a
    Z = []
    for image in [r, *images(r)]:
        s = Phi.T @ np.array(influence(image)) / n - lam * P @ a
        Z.append(float(s @ np.linalg.solve(H, s)))
    return Z


def sets_of(region, Phi, P, lam, w, y):
    """(Q, β, c) of every {Z_0 <= Z_i} = {aᵀQa - 2βᵀa <= c}, straight from the definition of Z."""
    n = len(y)
    W = np.diag(w)
    H_inverse = np.linalg.inv(Phi.T @ W @ Phi / n + lam * P)

    def statistic(G):  # Z(a) = aᵀTᵀH⁻¹Ta - 2uᵀH⁻¹Ta + uᵀH⁻¹u
        T, u = Phi.T @ W @ G @ Phi / n + lam * P, Phi.T @ W @ G @ y / n
        return T.T @ H_inverse @ T, T.T @ H_inverse @ u, u @ H_inverse @ u

    Q0, b0, c0 = statistic(np.eye(n))
    matrices = np.moveaxis(region.perturbations.apply(np.eye(n)), 0, 2)
    return [(Q0 - Q, b0 - b, c - c0) for Q, b, c in map(statistic, matrices)]
