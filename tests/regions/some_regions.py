"""Small regions of every model, for what has to hold of all of them."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.svm import SVR, LinearSVR

import unassuming as ua

M = 20
RBF = {"kernel": "rbf", "gamma": 0.5}
IDENTITY = {"weighting": "identity"}


class PairTurns(ua.noise.Noise):
    """An assumption of a user: rows come in pairs whose noise vectors have no preferred angle."""

    orthogonal = True

    def draw(self, n, size, rng):
        return rng.uniform(0, 2 * np.pi, (size, n // 2))

    def apply(self, drawn, residuals, fitted):
        end = 2 * drawn.shape[1]
        x, y = residuals[..., None, 0:end:2], residuals[..., None, 1:end:2]
        out = np.repeat(residuals[..., None, :], len(drawn), axis=-2)
        out[..., 0:end:2] = np.cos(drawn) * x - np.sin(drawn) * y
        out[..., 1:end:2] = np.sin(drawn) * x + np.cos(drawn) * y
        return out


NOISES = {
    "signs": lambda n: "symmetric",
    "permutations": lambda n: "exchangeable",
    "both": lambda n: "symmetric-exchangeable",
    "rotations": lambda n: "spherical",
    "blocks": lambda n: ua.noise.BlockSymmetric(np.arange(n) // 2),
    "own": lambda n: PairTurns(),
}


def features(n=14, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 1 + X @ np.arange(1, d + 1) + rng.standard_t(2, size=n)


def curve(n=9, seed=0):
    return ua.datasets.sine(n=n, noise="laplace", random_state=seed)[:2]


def labels(n=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 1))
    return X, np.where(rng.uniform(size=n) < (1.2 + 0.6 * X[:, 0]) / 2, 1, -1)


def twins(n=20, seed=0):
    """Equal inputs, whose fresh labels may be exchanged: ties."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.uniform(-1, 1, size=(n // 2, 1)), 2, axis=0)
    return X, np.where(rng.uniform(size=n) < (1.2 + 0.6 * X[:, 0]) / 2, 1, -1)


QUADRATIC = {
    "least squares": (LinearRegression(), features, {}),
    "least squares without intercept": (LinearRegression(fit_intercept=False), features, {}),
    "ridge": (Ridge(0.5), features, {}),
    "kernel ridge": (KernelRidge(alpha=0.5, **RBF), curve, {}),
    "kernel ridge, few features": (KernelRidge(kernel="linear", alpha=0.5), features, {}),
}
PIECEWISE = {
    "lasso": (Lasso(0.3), features, {}),
    "lasso, identity": (Lasso(0.3), features, IDENTITY),
    "elastic net": (ElasticNet(0.3, l1_ratio=0.4), features, {}),
    "LinearSVR": (LinearSVR(epsilon=0.4, C=0.7), features, {}),
    "ridge, identity": (Ridge(1.0), features, IDENTITY),
    "kernel LASSO": (ua.KernelLasso(1.0, **RBF), curve, {}),
    "kernel Huber": (ua.KernelHuber(1.0, delta=0.5, **RBF), curve, {}),
    "SVR": (SVR(C=2.0, epsilon=0.3, **RBF), curve, {}),
    "SVR, identity": (SVR(C=2.0, epsilon=0.3, **RBF), curve, IDENTITY),
}
QUANTILES = {
    "median": (QuantileRegressor(alpha=0.0), features, {}),
    "quantile with penalty": (QuantileRegressor(quantile=0.3, alpha=0.05), features, {}),
}
LABELS = {
    "ridge classifier": (RidgeClassifier(0.5), labels, {}),
    "ridge classifier, twins": (RidgeClassifier(0.5), twins, {}),
    "ridge classifier, identity": (RidgeClassifier(), labels, IDENTITY),
    "linear LSSVC": (ua.LSSVC(C=0.5), labels, {}),
    "rbf LSSVC": (ua.LSSVC(C=0.4, kernel="rbf", gamma=0.7), labels, {}),
}
LOGISTIC = {"logistic": (LogisticRegression(), labels, {})}
EVERY = QUADRATIC | PIECEWISE | QUANTILES | LABELS


def region_of(name, noise=None, seed=0, **more):
    """The region of a model by name; ``noise`` is a name of `NOISES`."""
    estimator, data, options = (EVERY | LOGISTIC)[name]
    X, y = data(seed=seed)
    if noise is not None:
        more["noise"] = NOISES[noise](len(y))
    options = {"m": M, "random_state": seed, **options, **more}
    return ua.confidence_region(estimator, X, y, **options)


def candidates_about(region, count, rng, size=1.0):
    """Candidates about a member, at the scale on which fitted values move, some with zeros."""
    phi = region.objective.design.matrix
    back = np.linalg.pinv(phi, rcond=1e-6)
    scale = size * np.std(region.objective.y) * 10 ** rng.uniform(-2, 0.5, size=(count, 1))
    a = region.estimate + scale * rng.normal(size=(count, len(phi))) @ back.T
    a[::7] *= rng.random(a[::7].shape) < 0.6
    return a
