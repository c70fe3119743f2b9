"""Ranks of kernel models with penalties that errors of eigenvalues reach, against 77 digits.

The candidates lie so close to the boundary of a set that plain double precision ranks many of them
wrongly. The kernel matrix is that of the region: computed values count as given.
"""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from fixed_point import BITS, fixed, product
from speed import slow_but

M = 20
pytestmark = pytest.mark.filterwarnings("ignore:The published region of LS-SVC:UserWarning")


def data(kind, n):
    rng = np.random.default_rng(0)
    if kind == "years":
        x, kernel = np.linspace(1950, 2020, n)[:, None], DotProduct() + Matern(5.0)
        f = 3 * np.sin((x[:, 0] - 1950) / 8)
    else:
        x, kernel = np.linspace(0, 10, n)[:, None], RBF(1.0)
        f = x[:, 0] * np.sin(x[:, 0])
    return x, kernel(x), f, f + 0.5 * rng.laplace(size=n)


def solved(A, B):
    """A⁻¹B for a positive definite A, by elimination without pivots."""
    A, n = np.hstack([A, B]), len(A)
    for k in range(n):
        A[k + 1 :] -= (A[k + 1 :, [k]] << BITS) // A[k, k] * A[k] >> BITS
    u = A[:, n:]
    for k in reversed(range(n)):
        u[k] = (u[k] << BITS) // A[k, k]
        u[:k] -= A[:k, [k]] * u[k] >> BITS
    return u


def images(region, r):
    """G_i r of exact residuals, (n, m - 1); rotations are those of rounded ones."""
    if isinstance(region.noise, ua.noise.Spherical):
        return fixed(region.perturbations.apply((r / 2.0**BITS).astype(float)).T)
    columns = region.perturbations.apply(np.arange(1.0, len(r) + 1)).astype(int)
    return (r[abs(columns) - 1] * np.sign(columns)).T


def exact_gaps(region, r, a, moved=None):
    """n (Z_i - Z_0) = ⟨W(G_i - I) r, v_i + v_0⟩ from the equations of section 4, one by one.

    With an intercept (K + alpha W⁻¹)z + b = G_i r - alpha W⁻¹a and 1ᵀz = -1ᵀa; v = Kz + b.
    """
    o, n = region.objective, len(r)
    first = int(o.design.intercept)
    K, w, alpha = fixed(o.design.K), fixed(o.w), int(fixed(o.n * o.lam))
    a = fixed(a)[first:]
    held = (alpha << BITS) // w
    A = K + np.diag(held)
    G = np.column_stack([r, images(region, r) if moved is None else moved])
    right = G - (held * a >> BITS)[:, None]
    z = solved(A, np.column_stack([right, fixed(np.ones(n))]))
    z, along = z[:, :-1], z[:, -1]
    b = 0
    if first:
        b = ((z.sum(axis=0) + a.sum()) << BITS) // along.sum()
        z = z - (along[:, None] * b >> BITS)
    v = product(K, z) + b
    moved = w[:, None] * (G[:, 1:] - G[:, :1]) >> BITS
    return (moved * (v[:, 1:] + v[:, :1])).sum(axis=0) / 2.0 ** (2 * BITS)


def near_boundaries(region, one, two, exact):
    """Candidates on a line between two of them, on both sides of the boundary of a set."""
    # The gap of a set is a quadratic function of t.
    g = [exact(one + t * (two - one)).astype(float) for t in (0.0, 0.5, 1.0)]
    k = 2 * (g[0] - 2 * g[1] + g[2])
    b = g[2] - g[0] - k
    for i in np.flatnonzero(g[0] * g[2] < 0)[:2]:
        roots = np.roots([k[i], b[i], g[0][i]])
        t = float(roots[(roots > 0) & (roots < 1)].real[0])
        for off in (-1e-5, 1e-5, -1e-7, 1e-7):
            yield one + (t + off) * (two - one)


CASES = {
    "signs": ("rbf", 40, 1e-10, "symmetric", False),
    "years": ("years", 40, 1e-5, "symmetric", False),
    "weights": ("rbf", 40, 1e-10, "exchangeable", True),
    "permutations": ("rbf", 40, 1e-10, "symmetric-exchangeable", False),
    "rotations": ("rbf", 40, 1e-10, "spherical", False),
}


@pytest.mark.parametrize("name", slow_but(CASES, "signs", "weights"))
def test_ranks_of_functions_near_a_boundary_are_exact(name):
    kind, n, alpha, noise, weighted = CASES[name]
    _, K, f, y = data(kind, n)
    w = np.random.default_rng(3).integers(1, 4, size=n).astype(float) if weighted else None
    model = KernelRidge(kernel="precomputed", alpha=alpha)
    options = {"noise": noise, "m": M, "random_state": 0, "sample_weight": w}
    region = ua.confidence_region(model, K, y, **options)

    def exact(values):
        a = region.objective.coefficients(values[None])[0]
        return exact_gaps(region, fixed(y) - fixed(values), a)

    plain = 0
    for seed in range(2):
        other = f + 0.8 * np.random.default_rng(seed).laplace(size=n)
        for values in near_boundaries(region, f, other, exact):
            rank = 1 + int((exact(values) < 0).sum())
            assert region.rank(lambda X, values=values: values) == rank
            Z = region.statistics(lambda X, values=values: values)
            plain += rank != 1 + int((Z[1:] < Z[0]).sum())
    assert plain > 0  # otherwise the candidates are too easy


@pytest.mark.slow_but_first
@pytest.mark.parametrize(("kind", "alpha"), [("rbf", 1e-10), ("years", 1e-6)])
def test_ranks_of_coefficients_are_exact_beyond_the_reach_of_exact_numbers(kind, alpha):
    n = 66
    _, K, f, y = data(kind, n)
    model = KernelRidge(kernel="precomputed", alpha=alpha)
    region = ua.confidence_region(model, K, y, m=M, random_state=0)
    assert not region._engine._affordable
    rng = np.random.default_rng(1)
    A = K + alpha * np.eye(n)
    some = [np.linalg.solve(A, f + 0.8 * rng.laplace(size=n)) for _ in range(3)]
    for a in (*some, region.estimate, 0.98 * region.estimate):
        r = fixed(y) - product(fixed(K), fixed(a))
        rank = 1 + int((exact_gaps(region, r, a) < 0).sum())
        assert region.rank(a) == rank
        assert region.rank(np.vstack([a, *[region.estimate] * 39]))[0] == rank


@pytest.mark.parametrize("noise", ["symmetric", "labels"])
def test_ranks_with_an_intercept_are_exact(noise):
    rng, n, alpha = np.random.default_rng(1), 30, 1e-9
    x = np.linspace(0, 10, n)[:, None]
    y = np.where(rng.random(n) < 0.5 + 0.4 * np.sin(x[:, 0]), 1, -1)
    model = ua.LSSVC(C=1 / (2 * alpha), kernel="rbf", gamma=0.5)
    region = ua.confidence_region(model, x, y, noise=noise, m=M, random_state=0)
    for _ in range(6):
        values = 0.5 * np.sin(x[:, 0]) + rng.uniform(-0.3, 0.3, size=n)
        a = region.objective.coefficients(values[None])[0]
        r = fixed(y) - fixed(values)
        fresh = None
        if noise == "labels":  # they change lengths
            labels = np.round(region.perturbations.apply(y - values, values) + values)
            fresh = fixed(labels).T - fixed(values)[:, None]
        rank = 1 + int((exact_gaps(region, r, a, fresh) < 0).sum())
        assert region.rank(lambda X, values=values: values) == rank


def test_a_penalty_of_a_few_roundings_is_refused():
    _, K, f, y = data("rbf", 70)
    alpha = 4 * np.finfo(float).eps * np.linalg.eigvalsh(K)[-1]
    model = KernelRidge(kernel="precomputed", alpha=alpha)
    region = ua.confidence_region(model, K, y, m=M, random_state=0)
    with pytest.raises(ArithmeticError, match=r"given alpha = .* Use a larger alpha"):
        region.rank(lambda X: f)
