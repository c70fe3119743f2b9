"""Law checks for extensions: the library's own classes pass, and every broken law is named."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVR, LinearSVR

import unassuming as ua

N = 5
BLOCKS = np.array([0, 0, 1, 1, 2])
check_noise, check_objective = ua.testing.check_noise, ua.testing.check_objective

# --- noise ----------------------------------------------------------------------------------------


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    "noise",
    [
        ua.noise.Symmetric(),
        ua.noise.Exchangeable(),
        ua.noise.SymmetricExchangeable(),
        ua.noise.Spherical(),
        ua.noise.BlockSymmetric(BLOCKS),
        ua.noise.ExchangeableWithin(2),
        ua.noise.Labels(),
    ],
    ids=lambda noise: type(noise).__name__,
)
def test_the_classes_of_the_library_keep_the_laws(noise):
    check_noise(noise, N)


class Signs(ua.noise.Noise):
    """Random signs, written plainly."""

    orthogonal = True

    def draw(self, n, size, rng):
        return rng.choice([-1.0, 1.0], size=(size, n))

    def apply(self, drawn, residuals, fitted):
        return residuals[..., None, :] * drawn


class OtherEveryTime(Signs):
    def draw(self, n, size, rng):
        return super().draw(n, size, np.random.default_rng())


class WrongAxes(Signs):
    def apply(self, drawn, residuals, fitted):
        return residuals * drawn[(slice(None), *(None,) * (residuals.ndim - 1))]


class Overwriting(Signs):
    def apply(self, drawn, residuals, fitted):
        residuals *= -1.0
        return super().apply(drawn, residuals, fitted)


class Stretching(Signs):
    def draw(self, n, size, rng):
        return 2.0 ** rng.integers(-1, 2, size=(size, n))


class Biased(Signs):
    """All sign vectors, but not uniformly."""

    def draw(self, n, size, rng):
        return np.where(rng.uniform(size=(size, n)) < 0.75, 1.0, -1.0)


class NoGroup(ua.noise.Symmetric):
    def group(self, n, *, modulo_sign):
        listed, m = super().group(n, modulo_sign=modulo_sign)
        return listed[:-1], m - 1


class SmallGroup(ua.noise.Symmetric):
    """Lists one sign for all rows and draws one for each."""

    def group(self, n, *, modulo_sign):
        return -np.ones((1, n), dtype=np.int8), 2


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (OtherEveryTime(), "draw is not repeated by the seed"),
        (WrongAxes(), r"apply has the wrong shape for residuals of shape \(2, 3, 5\)"),
        (Overwriting(), "overwrites the residuals"),
        (Stretching(), "orthogonal and is not.*linear maps that change some"),
        (Biased(), "ranks of the noise that are not uniform"),
        (NoGroup(), "is not a group"),
        (SmallGroup(), "lacks something that is drawn"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, ua.noise.Noise) else "",
)
def test_a_broken_law_of_noise_is_named(noise, message):
    with pytest.raises(AssertionError, match=message):
        check_noise(noise, N)


# --- objectives -----------------------------------------------------------------------------------

X, Y, _ = ua.datasets.linear(n=20, d=2, random_state=0)
LABELS = np.where(np.median(Y) < Y, "yes", "no")


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        Ridge(0.5),
        KernelRidge(kernel="rbf"),
        SVR(),
        Lasso(0.1),
        ElasticNet(0.1),
        LinearSVR(epsilon=0.2, loss="squared_epsilon_insensitive"),
        HuberRegressor(),
        ua.KernelLasso(kernel="rbf"),
        ua.KernelHuber(kernel="rbf"),
        make_pipeline(PolynomialFeatures(2, include_bias=False), Ridge(0.1)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_regressors_keep_the_laws(model):
    check_objective(model, X, Y)


@pytest.mark.parametrize(
    "model",
    [RidgeClassifier(), LogisticRegression(), ua.LSSVC(kernel="rbf")],
    ids=lambda model: type(model).__name__,
)
def test_the_classifiers_keep_the_laws(model):
    check_objective(model, X, LABELS)


class Mean(ua.objectives.Objective):
    """The mean of the outputs, with a quadratic penalty of its square."""

    def __init__(self, y):
        super().__init__(y, d=1)

    def residuals(self, coefficients):
        return self.y - coefficients

    def gradient(self, coefficients, residuals):
        between = (1,) * (residuals.ndim - 2)
        penalty = 2 * coefficients.reshape(len(coefficients), *between, 1)
        return penalty - 2 * residuals.mean(axis=-1, keepdims=True)

    def estimate(self):
        return np.array([self.y.mean() / 2])

    def coefficients(self, values):
        return values.mean(axis=-1, keepdims=True)


class WrongShape(Mean):
    def gradient(self, coefficients, residuals):
        return super().gradient(coefficients, residuals)[..., 0]


class NoNumber(Mean):
    def residuals(self, coefficients):
        return super().residuals(coefficients) + np.nan


class NotTheMinimum(Mean):
    def estimate(self):
        return np.array([self.y.mean()])


class ScaledByOutputs(Mean):
    def gradient(self, coefficients, residuals):
        return super().gradient(coefficients, residuals) * self.y.std()


class FittedToOutputs(Mean):
    def residuals(self, coefficients):
        return self.y - coefficients * self.y.max()

    def estimate(self):
        raise ua.NotAvailable("nobody knows")


class CoefficientsOfOutputs(Mean):
    def coefficients(self, values):
        return super().coefficients(values) + self.y.mean()


def own(objective):
    """An estimator whose objective this is."""
    cls = type("Own", (RegressorMixin, BaseEstimator), {})
    ua.register_objective(cls, lambda estimator, X, y, sample_weight: objective(y))
    return cls()


def test_a_plain_objective_keeps_the_laws():
    check_objective(own(Mean), X, Y)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (NotTheMinimum, "is not zero at the estimate"),
        (ScaledByOutputs, "the gradient of ScaledByOutputs depends on y"),
        (FittedToOutputs, "the fitted values of FittedToOutputs depend on y"),
        (CoefficientsOfOutputs, "coefficients depends on y"),
    ],
)
def test_a_broken_law_of_objectives_is_named(objective, message):
    with pytest.raises(AssertionError, match=message):
        check_objective(own(objective), X, Y)


@pytest.mark.parametrize(
    ("objective", "message"),
    [(WrongShape, "WrongShape.gradient"), (NoNumber, "NoNumber.residuals")],
)
def test_what_no_region_can_be_built_of_is_refused(objective, message):
    with pytest.raises(ValueError, match=message):
        check_objective(own(objective), X, Y)
