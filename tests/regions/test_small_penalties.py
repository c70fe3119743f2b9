"""Ranks of kernel models with penalties that errors of eigenvalues reach, against 77 digits.

Most candidates lie so close to the boundary of a set that double precision alone, without the
equations, ranks some of them wrongly: most tests check that. The kernel matrix is that of the
region: computed values count as given.
"""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from fixed_point import BITS, fixed, product
from speed import slow_but
from unassuming.membership._kernel_gaps import KernelGaps

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


def near_boundaries(one, two, exact):
    """Candidates on a line between two of them, on both sides of the boundary of a set."""
    # The gap of a set is a quadratic function of t.
    g = [exact(one + t * (two - one)).astype(float) for t in (0.0, 0.5, 1.0)]
    k = 2 * (g[0] - 2 * g[1] + g[2])
    b = g[2] - g[0] - k
    for i in np.flatnonzero(g[0] * g[2] < 0)[:2]:
        roots = np.roots([k[i], b[i], g[0][i]])
        t = float(roots[(roots > 0) & (roots < 1)].real[0])
        for off in (-1e-5, 1e-5, -1e-6, 1e-6, -1e-7, 1e-7):
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

    other = f + 0.8 * np.random.default_rng(1).laplace(size=n)
    candidates = list(near_boundaries(f, other, exact))
    ranks = [1 + int((exact(values) < 0).sum()) for values in candidates]
    functions = [lambda X, values=values: values for values in candidates]
    assert [region.rank(one) for one in functions] == ranks
    if kind == "rbf":
        assert without_equations(model, K, y, options).rank(functions).tolist() != ranks


def without_equations(model, X, y, options):
    """The region as it would be without the equations of small penalties."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KernelGaps, "of", lambda *args, **kwargs: None)
        region = ua.confidence_region(model, X, y, **options)
        assert region._engine._kernel_gaps is None
    return region


@pytest.mark.slow_but_first
@pytest.mark.parametrize(("kind", "alpha"), [("rbf", 1e-10), ("years", 1e-6)])
def test_ranks_of_coefficients_are_exact_beyond_the_reach_of_exact_numbers(kind, alpha):
    n = 66
    _, K, f, y = data(kind, n)
    model = KernelRidge(kernel="precomputed", alpha=alpha)
    options = {"m": M, "random_state": 0}
    region = ua.confidence_region(model, K, y, **options)
    assert not region._engine._affordable

    def exact(a):
        return exact_gaps(region, fixed(y) - product(fixed(K), fixed(a)), a)

    values = f + 0.8 * np.random.default_rng(1).laplace(size=n)
    far = np.linalg.solve(K + alpha * np.eye(n), values)
    candidates = np.array([*near_boundaries(region.estimate, far, exact), region.estimate])
    ranks = [1 + int((exact(a) < 0).sum()) for a in candidates]
    assert [region.rank(a) for a in candidates] == ranks
    company = np.vstack([candidates, *[region.estimate] * 33])
    assert region.rank(company)[: len(ranks)].tolist() == ranks
    if kind == "rbf":
        assert without_equations(model, K, y, options).rank(candidates).tolist() != ranks


def classes(n):
    x, rng = np.linspace(0, 10, n)[:, None], np.random.default_rng(1)
    y = np.where(rng.random(n) < 0.5 + 0.4 * np.sin(x[:, 0]), 1, -1)
    return x, y, 0.5 * np.sin(x[:, 0]), rng.uniform(-0.4, 0.4, size=n)


def test_ranks_with_an_intercept_are_exact():
    n, alpha = 40, 1e-11
    x, y, f, step = classes(n)
    model = ua.LSSVC(C=1 / (2 * alpha), kernel="rbf", gamma=0.5)
    options = {"noise": "symmetric", "m": M, "random_state": 0}
    region = ua.confidence_region(model, x, y, **options)

    def exact(values):
        a = region.objective.coefficients(values[None])[0]
        return exact_gaps(region, fixed(y) - fixed(values), a)

    candidates = list(near_boundaries(f, f + step, exact))
    ranks = [1 + int((exact(values) < 0).sum()) for values in candidates]
    functions = [lambda X, values=values: values for values in candidates]
    assert [region.rank(one) for one in functions] == ranks
    assert without_equations(model, x, y, options).rank(functions).tolist() != ranks


def test_ranks_of_labels_with_an_intercept_are_exact():
    n, alpha = 30, 3e-13
    x, y, f, step = classes(n)
    model = ua.LSSVC(C=1 / (2 * alpha), kernel="rbf", gamma=0.5)
    options = {"noise": "labels", "m": M, "random_state": 0}
    region, plain = (
        build(model, x, y, **options) for build in (ua.confidence_region, plain_region)
    )
    found, wrong = [], 0
    for t in np.linspace(-1, 1, 40):
        values = f + t * step
        a = region.objective.coefficients(values[None])[0]
        labels = np.round(region.perturbations.apply(y - values, values) + values)
        fresh = fixed(labels).T - fixed(values)[:, None]  # lengths change
        rank = 1 + int((exact_gaps(region, fixed(y) - fixed(values), a, fresh) < 0).sum())
        assert region.rank(lambda X, values=values: values) == rank
        wrong += plain.rank(lambda X, values=values: values) != rank
        found.append(rank)
    assert len(set(found)) > 5
    assert wrong > 0


def plain_region(model, x, y, **options):
    return without_equations(model, x, y, options)


@pytest.mark.parametrize("power", [-540, -900, 400])
def test_ranks_do_not_depend_on_the_unit_of_y(power):
    """Bounds of errors of small outputs do not vanish, and those of large ones do not overflow."""
    n = 66
    _, K, f, y = data("rbf", n)
    values = np.array([f + 0.1 * np.random.default_rng(s).laplace(size=n) for s in range(8)])
    model, ranks = KernelRidge(kernel="precomputed", alpha=1e-12), []
    for unit in (1.0, 2.0**power):
        region = ua.confidence_region(model, K, unit * y, m=100, random_state=0)
        ranks.append([region.rank(lambda X, v=v, unit=unit: unit * v) for v in values])
        ranks[-1] += [region.rank(unit * a) for a in region.objective.coefficients(values)]
    assert ranks[0] == ranks[1]


def test_a_penalty_of_a_few_roundings_is_refused():
    _, K, f, y = data("rbf", 70)
    alpha = 4 * np.finfo(float).eps * np.linalg.eigvalsh(K)[-1]
    model = KernelRidge(kernel="precomputed", alpha=alpha)
    region = ua.confidence_region(model, K, y, m=M, random_state=0)
    with pytest.raises(
        ArithmeticError, match=r"expected a penalty alpha above .* Use a larger alpha"
    ):
        region.rank(lambda X: f)
