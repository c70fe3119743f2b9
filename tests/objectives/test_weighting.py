"""The weighting Ψ by name and by matrix, and the gradients that it weights."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.svm import SVR

import unassuming as ua

N = 14
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, 3))
Y = X @ [1.0, -0.5, 0.0] + RNG.laplace(size=N)
LABELS = np.where(Y > 0, 1.0, -1.0)
W = np.linspace(0.5, 2, N)
GAMMA = 2.0  # well conditioned: the largest eigenvalue of K is below 100 times the smallest
K = np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
ONES = np.ones((N, 1))

MODELS = {
    "least squares": LinearRegression(),
    "ridge": Ridge(alpha=1.5),
    "ridge classifier": RidgeClassifier(alpha=1.5),
    "kernel ridge": KernelRidge(alpha=1.5, kernel="rbf", gamma=GAMMA),
    "LSSVC": ua.LSSVC(C=0.5, kernel="rbf", gamma=GAMMA),
    "linear LSSVC": ua.LSSVC(C=0.5),
    "kernel Huber": ua.KernelHuber(alpha=1.5, delta=0.5, kernel="rbf", gamma=GAMMA),
    "Huber": HuberRegressor(alpha=1.5, epsilon=1.4),
    "lasso": Lasso(alpha=0.2),
    "kernel lasso": ua.KernelLasso(alpha=0.8, kernel="rbf", gamma=GAMMA),
    "SVR": SVR(gamma=GAMMA, C=0.8, epsilon=0.2),
}
CLASSIFIERS = {"ridge classifier", "LSSVC", "linear LSSVC"}
WEIGHTED = {"least squares", "ridge", "ridge classifier", "kernel ridge", "LSSVC", "kernel Huber"}


def region_of(name, **options):
    y = LABELS if name in CLASSIFIERS else Y
    return ua.confidence_region(MODELS[name], X, y, **{"random_state": 0, "m": 40, **options})


def design(name):
    """Return Φ, P and nλ of a smooth objective."""
    model = MODELS[name]
    alpha = 1 / (2 * model.C) if isinstance(model, ua.LSSVC) else getattr(model, "alpha", 0.0)
    if name in {"kernel ridge", "kernel Huber", "kernel lasso"}:
        return K, K, alpha
    block, P = (K, K) if name == "LSSVC" else (X, np.eye(3))
    full = np.zeros((len(P) + 1,) * 2)
    full[1:, 1:] = P
    return np.hstack([ONES, block]), full, alpha


def spectral(matrix, power):
    """Return |matrix|^power on its range, by eigendecomposition."""
    values, vectors = np.linalg.eigh(matrix)
    keep = abs(values) > 1e-10 * abs(values).max()
    return (vectors[:, keep] * abs(values[keep]) ** power) @ vectors[:, keep].T


def huber_sigma(r, epsilon):
    lo, hi = 1e-12, 2 * abs(r).max()
    for _ in range(200):
        mid = (lo + hi) / 2
        lo, hi = (lo, mid) if np.minimum((r / mid) ** 2, epsilon**2).mean() < 1 else (mid, hi)
    return hi


def gradient(name, a, r, w):
    """Write ḡ(a, r) down from the theory, one residual vector at a time."""
    model = MODELS[name]
    if name == "SVR":
        u, lo, hi = r, model.epsilon * np.sign(a[1:]), model.epsilon * np.sign(a[1:])
        lo = np.where(a[1:] == 0, -model.epsilon, lo)
        hi = np.where(a[1:] == 0, model.epsilon, hi)
        lo = np.where(a[1:] == -model.C, -np.inf, lo)
        hi = np.where(a[1:] == model.C, np.inf, hi)
        return np.clip(u, lo, hi) - u
    Phi, P, alpha = design(name)
    if name in {"lasso", "kernel lasso"}:
        u = Phi.T @ r / (N if name == "lasso" else 1)
        level = alpha * (np.diag(P) if name == "lasso" else np.ones(N))
        return np.where(a == 0, np.clip(u, -level, level), level * np.sign(a)) - u
    if name == "kernel Huber":
        r = np.clip(r, -model.delta, model.delta)
    if name == "Huber":
        r = np.clip(r / huber_sigma(r, model.epsilon), -model.epsilon, model.epsilon)
    return (alpha * P @ a - Phi.T @ (w * r)) / N


def psi(name, weighting, w):
    """Form Ψ by eigendecomposition."""
    Phi = design(name)[0] if name != "SVR" else None
    if weighting == "gram":
        root = spectral(K, 0.5)
        if name != "LSSVC":
            return root
        full = np.eye(N + 1)
        full[1:, 1:] = root
        return full
    if weighting == "identity":
        return np.eye(N if name == "SVR" else Phi.shape[1])
    if name in {"lasso", "kernel lasso"}:
        return spectral(Phi.T @ Phi / (N if name == "lasso" else 1), -0.5)
    _, P, alpha = design(name)
    return spectral((Phi.T @ (w[:, None] * Phi) + alpha * P) / N, -0.5)


def candidate(name, d):
    a = 0.2 * np.random.default_rng(3).normal(size=d)
    if name in {"lasso", "kernel lasso", "SVR"}:
        a[1] = 0
    if name == "SVR":
        a[2], a[3], a[4] = MODELS[name].C, -MODELS[name].C, 3 * MODELS[name].C
    return a


def expected_statistics(region, name, a, matrix, w):
    r = region.objective.residuals(a[None])[0]
    perturbed = region.perturbations.apply(r, region.objective.y - r)
    gradients = [gradient(name, a, row, w) for row in np.vstack([r, perturbed])]
    return [np.sum((matrix @ g) ** 2) for g in gradients]


KERNELS = {"kernel ridge", "kernel Huber", "kernel lasso", "LSSVC", "SVR"}
AVAILABLE = [
    (name, weighting)
    for name in MODELS
    for weighting in ("identity", "hessian", "gram")
    if (weighting != "gram" or name in KERNELS) and (name, weighting) != ("SVR", "hessian")
]


@pytest.mark.parametrize(("name", "weighting"), AVAILABLE)
def test_statistics_are_squared_norms_of_the_weighted_gradient(name, weighting):
    region = region_of(name, weighting=weighting)
    a = candidate(name, region.objective.d)
    expected = expected_statistics(region, name, a, psi(name, weighting, np.ones(N)), np.ones(N))
    np.testing.assert_allclose(region.statistics(a), expected, rtol=1e-9)


@pytest.mark.parametrize("weighting", ["identity", "hessian"])
@pytest.mark.parametrize("name", sorted(WEIGHTED))
def test_sample_weights_enter_the_gradient_and_the_hessian(name, weighting):
    region = region_of(name, weighting=weighting, sample_weight=W)
    a = candidate(name, region.objective.d)
    expected = expected_statistics(region, name, a, psi(name, weighting, W), W)
    np.testing.assert_allclose(region.statistics(a), expected, rtol=1e-9)


DEFAULTS = dict.fromkeys(MODELS, "hessian")
DEFAULTS |= {"SVR": "gram", "kernel lasso": "identity"}


@pytest.mark.parametrize("name", MODELS)
def test_each_objective_has_its_default(name):
    default, explicit = region_of(name), region_of(name, weighting=DEFAULTS[name])
    assert default.weighting == DEFAULTS[name]
    a = candidate(name, default.objective.d)
    np.testing.assert_array_equal(default.statistics(a), explicit.statistics(a))


# --- matrices -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_any_matrix_of_full_rank_is_a_weighting(name):
    columns = N if name == "SVR" else region_of(name).objective.d
    matrix = np.random.default_rng(1).normal(size=(columns + 2, columns))
    region = region_of(name, weighting=matrix.tolist())
    a = candidate(name, region.objective.d)
    expected = expected_statistics(region, name, a, matrix, np.ones(N))
    np.testing.assert_allclose(region.statistics(a), expected, rtol=1e-9)


@pytest.mark.parametrize(
    "weighting",
    [np.ones(4), 2.0, np.full((4, 4), np.nan), [["a"]]],
    ids=["vector", "number", "NaN", "text"],
)
def test_what_is_neither_a_name_nor_a_finite_matrix_is_refused(weighting):
    with pytest.raises(ValueError, match=r"weighting (must be a name or a finite matrix|has|is)"):
        region_of("ridge", weighting=weighting)


# --- refusals -------------------------------------------------------------------------------------


def test_the_refusal_of_hessian_for_svr_says_why():
    """The Hessian of the dual is the kernel matrix, which need not have an inverse."""
    with pytest.raises(ValueError, match="given 'hessian'"):
        region_of("SVR", weighting="hessian")


@pytest.mark.parametrize("name", MODELS)
def test_an_unknown_name_is_refused_with_the_known_ones_and_the_default(name):
    default = DEFAULTS[name]
    message = f"'identity'.* or a matrix, given 'newton'.*the default, '{default}'"
    with pytest.raises(ValueError, match=message):
        region_of(name, weighting="newton")


# --- the gradient is the gradient -----------------------------------------------------------------


def objectives():
    """Return what each model minimises, scaled as its gradient is."""

    def features(a):
        return Y - a[0] - X @ a[1:]

    def huber(r, delta):
        return np.where(abs(r) <= delta, r**2 / 2, delta * abs(r) - delta**2 / 2)

    def concomitant(a):
        r, epsilon = features(a), MODELS["Huber"].epsilon
        sigma = huber_sigma(r, epsilon)
        z = abs(r) / sigma
        H = np.where(z < epsilon, z**2, 2 * epsilon * z - epsilon**2)
        return np.sum(sigma + sigma * H) + 1.5 * a[1:] @ a[1:]

    svr = MODELS["SVR"]
    return {
        "least squares": lambda a: np.mean(features(a) ** 2) / 2,
        "ridge": lambda a: (np.sum(features(a) ** 2) + 1.5 * a[1:] @ a[1:]) / (2 * N),
        "kernel ridge": lambda a: (np.sum((Y - K @ a) ** 2) + 1.5 * a @ K @ a) / (2 * N),
        "kernel Huber": lambda a: (np.sum(huber(Y - K @ a, 0.5)) + 0.75 * a @ K @ a) / N,
        "Huber": lambda a: concomitant(a) / (2 * N),
        "lasso": lambda a: np.mean(features(a) ** 2) / 2 + 0.2 * abs(a[1:]).sum(),
        "kernel lasso": lambda a: np.sum((Y - K @ a) ** 2) / 2 + 0.8 * abs(a).sum(),
        # Minus the dual; the bias is the multiplier of the constraint that the dual sums to zero.
        "SVR": lambda a: (
            a[1:] @ K @ a[1:] / 2 - Y @ a[1:] + svr.epsilon * abs(a[1:]).sum() + a[0] * a[1:].sum()
        ),
    }


OBJECTIVES = objectives()


def central_differences(f, a, first, h=1e-5):
    steps = h * np.eye(len(a))[first:]
    return np.array([(f(a + step) - f(a - step)) / (2 * h) for step in steps])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_gradient_is_the_derivative_of_the_objective(name, seed):
    objective = region_of(name).objective
    a = np.random.default_rng(seed).uniform(0.1, 0.7, size=objective.d)
    a *= np.where(np.arange(objective.d) % 2, 1, -1)
    ours = objective.gradient(a[None], objective.residuals(a[None]))[0]
    first = 1 if name == "SVR" else 0  # the gradient of SVR is that in the dual coefficients
    slopes = central_differences(OBJECTIVES[name], a, first)
    np.testing.assert_allclose(ours, slopes, rtol=0, atol=1e-6 * max(1, abs(slopes).max()))


KINKS = {
    "lasso": np.array([0.2, 0.0, 0.5, 0.0]),
    "kernel lasso": np.where(np.arange(N) % 3 == 0, 0.3, 0.0),
    "SVR": np.concatenate([[0.1], np.tile([0.0, 0.8, -0.8, 0.3, 0.0, -0.3, 0.0], 2)]),
}


@pytest.mark.parametrize("name", KINKS)
def test_the_subgradient_at_a_kink_is_the_one_of_least_norm(name):
    """Each coordinate is as small as its one-sided derivatives allow."""
    objective, f, a = region_of(name).objective, OBJECTIVES[name], KINKS[name]
    g = objective.gradient(a[None], objective.residuals(a[None]))[0]
    first = len(a) - len(g)
    h, held, moved = 1e-6, 0, 0
    for j, slope in enumerate(g, start=first):
        step = h * np.eye(len(a))[j]
        left, right = (f(a) - f(a - step)) / h, (f(a + step) - f(a)) / h
        if name == "SVR" and a[j] == 0.8:
            right = np.inf  # one may not leave the box
        if name == "SVR" and a[j] == -0.8:
            left = -np.inf
        expected = min(max(left, 0.0), right) if left <= right else (left + right) / 2
        assert slope == pytest.approx(expected, abs=1e-4)
        kink = right - left > 1e-4
        held, moved = held + (kink and slope == 0), moved + (kink and slope != 0)
    assert held > 0  # some kinks hold the coefficient where it is, others do not
    assert moved > 0
