"""Coverage is the level itself: neither less nor more, for every objective, noise class and law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVR

import unassuming as ua

SLOW = pytest.mark.slow
# With 138 runs or more, a rank that is missing at either end is outside the 1e-6 band.
FOR_EACH_LAW = 5  # where the counts of four laws are added up, and those of eight models
OF_FIVE = 28  # where the counts of five assumptions are added up
M = 10
LEVELS = (0.1, 0.5, 0.8, 0.9)  # at both ends one rank too many or too few is all or nothing
N = 7
BLOCKS = np.array([0, 0, 1, 1, 1, 2, 2])  # eight sign vectors: ties in every region
GAMMA = 0.3
C = 1.5  # the box of SVR; the true coefficients may lie beyond it

# --- models: an estimator, its inputs, the true coefficients, and Φ by the textbook -----------

X_LINE = np.array([[-2.1], [-1.4], [-0.6], [0.1], [0.9], [1.7], [2.6]])
X_PLANE = np.column_stack([X_LINE[:, 0], [0.3, -1.2, 0.8, 1.9, -0.4, 0.5, -1.1]])
WEIGHT = np.array([0.5, 2.0, 1.0, 3.0, 0.2, 1.0, 0.8])


def with_ones(columns):
    return np.column_stack([np.ones(len(columns)), columns])


def gaussian_gram(X):
    return np.exp(-GAMMA * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=-1))


@dataclass(frozen=True)
class Model:
    estimator: Any
    X: np.ndarray
    phi: np.ndarray
    truth: np.ndarray
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def values(self):
        return self.phi @ self.truth


SLOPES = np.array([0.7, -1.5, 0.4])  # [intercept, coef]
DUAL = np.array([0.8, -1.1, 0.3, 2.0, -0.6, 0.1, -1.7])
SPARSE = np.array([0.0, -C, 0.0, 2.5, C, 0.0, -0.2])  # zeros, both ends of the box, beyond it
GRAM = gaussian_gram(X_PLANE)
SPLINES = SplineTransformer(n_knots=3, degree=2)
PRE = "precomputed"  # twice as fast as a kernel by name; `BY_NAME` has those

linear = Model(LinearRegression(), X_PLANE, with_ones(X_PLANE), SLOPES)
ridge = KernelRidge(alpha=0.7, kernel=PRE)
lasso = ua.KernelLasso(alpha=0.5, kernel=PRE)
huber = ua.KernelHuber(alpha=0.7, delta=0.8, kernel=PRE)
svr = Model(
    SVR(C=C, epsilon=0.3, kernel=PRE), GRAM, with_ones(GRAM), np.concatenate([[0.4], SPARSE])
)
MODELS = {
    "LinearRegression": linear,
    "Ridge": replace(linear, estimator=Ridge(alpha=2.0)),
    "Lasso": replace(linear, estimator=Lasso(alpha=0.3), truth=np.array([0.7, 0.0, -1.5])),
    "HuberRegressor": replace(linear, estimator=HuberRegressor(alpha=0.5)),
    "KernelRidge": Model(ridge, GRAM, GRAM, DUAL),
    "KernelLasso": Model(lasso, GRAM, GRAM, SPARSE),
    "KernelHuber": Model(huber, GRAM, GRAM, DUAL),
    "SVR": svr,
}
# One row of weight zero: seven rows come in, six count.
DROPPED = np.where(np.arange(N) == 4, 0, WEIGHT)
VARIANTS = {
    "weighted Ridge": replace(MODELS["Ridge"], options={"sample_weight": DROPPED}),
    "weighted KernelRidge": replace(MODELS["KernelRidge"], options={"sample_weight": WEIGHT}),
    "weighted KernelHuber": replace(MODELS["KernelHuber"], options={"sample_weight": WEIGHT}),
    "SVR, identity": replace(svr, options={"weighting": "identity"}),
    "pipeline": Model(
        make_pipeline(SplineTransformer(n_knots=3, degree=2), Ridge(alpha=0.5)),
        X_LINE,
        with_ones(SPLINES.fit_transform(X_LINE)),
        np.array([0.5, -1.0, 2.0, 0.3, -0.8]),
    ),
}

# --- laws of the noise, by the assumption that they satisfy ------------------------------------

Law = Callable[[np.random.Generator], np.ndarray]
SCALES = np.geomspace(0.05, 20, N)
PATTERN = np.array([1.0, 2.0, -1.0, 0.5, 1.0, 1.0, -3.0])


def normed(z):
    return z / np.linalg.norm(z)


def random_walks(rng):
    """Within a block each term adds to the one before."""
    steps = rng.normal(size=N)
    return np.concatenate([np.cumsum(steps[b == BLOCKS]) for b in range(3)])


LAWS: dict[str, tuple[Any, dict[str, Law]]] = {
    "symmetric": (
        "symmetric",
        {
            "gaussian": lambda rng: rng.normal(size=N),
            "laplace": lambda rng: rng.laplace(size=N),
            "cauchy": lambda rng: rng.standard_cauchy(size=N),
            "another scale at each point": lambda rng: SCALES * rng.normal(size=N),
        },
    ),
    "exchangeable": (
        "exchangeable",
        {
            "laplace": lambda rng: rng.laplace(size=N),
            "cauchy": lambda rng: rng.standard_cauchy(size=N),
            "centred exponential": lambda rng: rng.exponential(size=N) - 1,
            "lognormal": lambda rng: rng.lognormal(sigma=1.5, size=N),
        },
    ),
    "symmetric-exchangeable": (
        "symmetric-exchangeable",
        {
            "gaussian": lambda rng: rng.normal(size=N),
            "laplace": lambda rng: rng.laplace(size=N),
            "cauchy": lambda rng: rng.standard_cauchy(size=N),
            "common random scale": lambda rng: rng.lognormal() * rng.uniform(-1, 1, size=N),
        },
    ),
    "spherical": (
        "spherical",
        {
            "gaussian": lambda rng: 3 * rng.normal(size=N),
            "multivariate t": lambda rng: rng.normal(size=N) / np.sqrt(rng.chisquare(1.5) / 1.5),
            "uniform on a sphere": lambda rng: 2 * normed(rng.normal(size=N)),
            "uniform in a ball": lambda rng: (
                2 * rng.random() ** (1 / N) * normed(rng.normal(size=N))
            ),
        },
    ),
    "block symmetric": (
        ua.noise.BlockSymmetric(BLOCKS),
        {
            "common cauchy factor": lambda rng: PATTERN * rng.standard_cauchy(size=3)[BLOCKS],
            "one sign, skewed sizes": lambda rng: (
                rng.choice([-1, 1], size=3)[BLOCKS] * rng.lognormal(size=N)
            ),
            "random walks": random_walks,
            "the same error in a block": lambda rng: rng.laplace(size=3)[BLOCKS],
        },
    ),
}


# --- the harness -------------------------------------------------------------------------------


def band(runs, level):
    """The two-sided 1e-6 band of Binomial(runs, level)."""
    return binom.ppf(5e-7, runs, level), binom.isf(5e-7, runs, level)


def covered(seed, model, noise, law, candidate, values, runs):
    """How often the regions of all levels contain the truth, with a fresh region each run."""
    rng = np.random.default_rng(crc32(seed.encode()))
    counts = np.zeros(len(LEVELS), dtype=int)
    for _ in range(runs):
        y = values + law(rng)
        region = ua.confidence_region(
            model.estimator, model.X, y, noise=noise, m=M, random_state=rng, **model.options
        )
        counts += list(region.contains(candidate, level=LEVELS).values())
    return counts


def assert_exact(counts, runs):
    for count, level in zip(counts, LEVELS, strict=True):
        low, high = band(runs, level)
        assert low <= count <= high, f"{count / runs:.4f} at level {level}"


def assert_each_and_all_exact(counts, runs):
    """Every count on its own, and all together, where the band is narrower."""
    for one in counts:
        assert_exact(one, runs)
    assert runs * len(counts) >= 138
    assert_exact(np.sum(counts, axis=0), runs * len(counts))


# --- the claims --------------------------------------------------------------------------------


@SLOW
@pytest.mark.parametrize("assumption", LAWS)
def test_coverage_is_exact_for_every_objective_noise_class_and_law(assumption):
    """Every law with every model, all laws with every model, and all laws with all models."""
    (noise, laws), counts = LAWS[assumption], []
    for name, model in MODELS.items():
        seed, given = f"{name}, {assumption}", (model.truth, model.values, FOR_EACH_LAW)
        found = [
            covered(f"{seed}, {law}", model, noise, draw, *given) for law, draw in laws.items()
        ]
        for one in found:
            assert_exact(one, FOR_EACH_LAW)
        counts.append(np.sum(found, axis=0))
    assert_each_and_all_exact(counts, FOR_EACH_LAW * len(laws))


@SLOW
@pytest.mark.parametrize("name", VARIANTS)
def test_coverage_is_exact_for_weights_weightings_and_pipelines(name):
    """Every assumption, its laws in turn, run by run."""
    model, counts = VARIANTS[name], []
    for assumption, (noise, laws) in LAWS.items():
        turn = cycle(laws.values())
        counts.append(
            covered(
                f"{name}, {assumption}",
                model,
                noise,
                lambda rng, turn=turn: next(turn)(rng),
                model.truth,
                model.values,
                OF_FIVE,
            )
        )
    assert_each_and_all_exact(counts, OF_FIVE)
