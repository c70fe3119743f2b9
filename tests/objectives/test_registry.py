"""A user's own estimator, exact class matching, and what refused estimators are told."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, is_classifier
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import (
    Ridge,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators

import unassuming as ua
from unassuming.objectives import factory_for, registered_classes


def problem(n=12, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.ones(d) + rng.normal(size=n)


# --- an estimator of one's own --------------------------------------------------------------------


class PinballLike(ua.objectives.Objective):
    """Absolute residuals and a ridge penalty: no more than the two methods that are asked for."""

    def __init__(self, X, y, alpha):
        super().__init__(y, X.shape[1])
        self.X, self.alpha = X, alpha

    def residuals(self, coefficients):
        return self.y - coefficients @ self.X.T

    def gradient(self, coefficients, residuals):
        penalty = self.alpha * coefficients
        extra = residuals.ndim - coefficients.ndim
        return penalty.reshape(len(penalty), *(1,) * extra, -1) - np.sign(residuals) @ self.X


class AbsoluteRidge(RegressorMixin, BaseEstimator):
    def __init__(self, alpha=0.3):
        self.alpha = alpha


def register_absolute_ridge(objective=PinballLike):
    def factory(estimator, X, y, sample_weight):
        assert sample_weight is None
        return objective(X, y, estimator.alpha)

    ua.register_objective(AbsoluteRidge, factory)


def region_of(model, X, y, **options):
    return ua.confidence_region(model, X, y, **{"m": 100, "random_state": 0, **options})


def test_statistics_of_ones_own_objective_are_the_squared_norms_of_its_gradients():
    register_absolute_ridge()
    X, y = problem()
    region = region_of(AbsoluteRidge(0.7), X, y)
    a = np.array([0.5, 1.5])
    r = y - X @ a
    rows = np.vstack([r, region.perturbations.apply(r)])
    expected = [np.sum((0.7 * a - X.T @ np.sign(row)) ** 2) for row in rows]
    np.testing.assert_allclose(region.statistics(a), expected, rtol=1e-12)


def test_ranks_of_ones_own_objective_are_exactly_uniform():
    """All 16 noise vectors ±|e| have the same probability: each rank must come up once."""
    register_absolute_ridge()
    rng = np.random.default_rng(3)
    X, truth, size = rng.normal(size=(4, 2)), np.array([0.4, -1.1]), rng.exponential(size=4)
    ranks = []
    for code in range(16):
        signs = 1 - 2 * ((code >> np.arange(4)) & 1)
        region = region_of(AbsoluteRidge(), X, X @ truth + signs * size, m="all")
        assert region.m == 16
        ranks.append(region.rank(truth))
    assert sorted(ranks) == list(range(1, 17))


def test_what_ones_own_objective_does_not_define_is_named():
    register_absolute_ridge()
    X, y = problem()
    region = region_of(AbsoluteRidge(), X, y)
    with pytest.raises(ua.NotAvailable, match=r"needs the method estimate\(\)\. Define it, or"):
        region.estimate  # noqa: B018
    missing = r"needs the method coefficients\(values\)\. Define it, or .* vector of length 2"
    with pytest.raises(ua.NotAvailable, match=missing):
        region.rank(lambda X: X[:, 0])
    with pytest.raises(ua.NotAvailable, match=missing):
        region.rank(RandomForestRegressor(n_estimators=2, random_state=0).fit(X, y))


def test_the_factory_receives_clean_data():
    seen = {}

    def factory(estimator, X, y, sample_weight):
        seen.update(X=X, y=y, w=sample_weight)
        return PinballLike(X, y, estimator.alpha)

    ua.register_objective(AbsoluteRidge, factory)
    X, y = problem()
    w = np.r_[0, np.full(11, 2)]
    region_of(AbsoluteRidge(), X.tolist(), y[:, None].tolist(), sample_weight=w.tolist())
    np.testing.assert_array_equal(seen["X"], X[1:])
    np.testing.assert_array_equal(seen["y"], y[1:])
    np.testing.assert_array_equal(seen["w"], w[1:])
    assert all(array.dtype == np.float64 for array in seen.values())


# --- which classes are known ----------------------------------------------------------------------

SUPPORTED = [
    "ElasticNet",
    "HuberRegressor",
    "KernelHuber",
    "KernelLasso",
    "KernelRidge",
    "LSSVC",
    "Lasso",
    "LinearRegression",
    "LinearSVR",
    "LogisticRegression",
    "Ridge",
    "RidgeClassifier",
    "SVR",
]


class Unknown(BaseEstimator):
    """A model of which nothing is known."""


@pytest.mark.parametrize("model", [Unknown(), "ridge", None, 3.5], ids=repr)
def test_an_unsupported_estimator_is_told_what_is_supported(model):
    with pytest.raises(TypeError, match=r"estimator is not supported: expected one of") as caught:
        region_of(model, *problem())
    message = str(caught.value)
    assert all(f" {name}," in message for name in SUPPORTED)
    assert repr(model) in message
    assert "ua.register_objective(estimator_class, factory)" in message


NEAREST = {
    "BayesianRidge": "Ridge(alpha) with an alpha fixed beforehand, or tune on other rows",
    "ARDRegression": "Use Ridge(alpha)",
    "RidgeCV": "Use Ridge(alpha) with a value fixed beforehand, or tune on other rows",
    "LassoCV": "Use Lasso(alpha)",
    "ElasticNetCV": "Use ElasticNet(alpha, l1_ratio=...)",
    "LogisticRegressionCV": "Use LogisticRegression(C)",
    "TransformedTargetRegressor": "Transform y first",
    "PoissonRegressor": "No model of counts or of positive outputs is supported yet.",
    "SGDRegressor": "Use the model with the same loss",
    "TheilSenRegressor": "Use QuantileRegressor(quantile=0.5, alpha=0) for the median",
    "RANSACRegressor": "or HuberRegressor",
    "LassoLars": "Use Lasso(alpha), which has the same minimum.",
    "OrthogonalMatchingPursuit": "Use Lasso(alpha), or LinearRegression",
    "PLSRegression": "PCA(k), LinearRegression()",
    "NuSVR": "Use SVR(epsilon=...) with the same kernel.",
    "RandomForestRegressor": "make_pipeline(SplineTransformer(), Ridge(alpha))",
    "HistGradientBoostingRegressor": "KernelRidge for many",
    "MLPRegressor": "KernelRidge for many",
    "MultiTaskLasso": "Use Lasso(alpha) for one output at a time.",
    "Lars": "Use Lasso(alpha), or LinearRegression",
    "SVC": "Use LogisticRegression, RidgeClassifier or ua.LSSVC.",
    "GaussianProcessClassifier": "make_pipeline(Nystroem(), LogisticRegression())",
}


@pytest.mark.parametrize("name", NEAREST)
def test_a_refused_estimator_is_told_the_nearest_model(name):
    model = dict(all_estimators())[name]()
    X, y = problem()
    y = np.where(y > 0, 1, 0) if is_classifier(model) else y
    with pytest.raises(TypeError, match=f"given {name}\\. ") as caught:
        region_of(model, X, y)
    message = str(caught.value)
    assert NEAREST[name] in message
    with pytest.raises(TypeError, match=f"given {name}\\. "):
        region_of(make_pipeline(StandardScaler(), model), X, y)


def test_results_of_statsmodels_are_told_the_estimator():
    api = pytest.importorskip("statsmodels.api")
    X, y = problem()
    for model, use in ((api.OLS(y, X), "LinearRegression()"), (api.RLM(y, X), "HuberRegressor(")):
        for given in (model, model.fit()):
            name = type(model).__name__
            with pytest.raises(TypeError, match=f"given {name} of statsmodels") as caught:
                region_of(given, X, y)
            assert f"Use {use}" in str(caught.value)


def test_a_subclass_is_refused_until_it_is_registered():
    class Ridgelike(Ridge):
        """May minimise anything."""

    X, y = problem()
    with pytest.raises(TypeError, match="given Ridgelike"):
        region_of(Ridgelike(), X, y)
    ua.register_objective(Ridgelike, ua.objectives.from_ridge)
    np.testing.assert_array_equal(
        region_of(Ridgelike(2.0), X, y).estimate, region_of(Ridge(2.0), X, y).estimate
    )


def test_registering_again_replaces_the_factory():
    X, y = problem()
    try:
        ua.register_objective(Ridge, lambda e, X, y, w: PinballLike(X, y, e.alpha))
        assert isinstance(region_of(Ridge(), X, y).objective, PinballLike)
    finally:
        ua.register_objective(Ridge, ua.objectives.from_ridge)


def test_only_classes_and_callables_can_be_registered():
    with pytest.raises(TypeError, match=r"estimator_class is not a class.*given Ridge\(\)"):
        ua.register_objective(Ridge(), ua.objectives.from_ridge)
    with pytest.raises(TypeError, match=r"factory is not callable.*given 'from_ridge'"):
        ua.register_objective(Ridge, "from_ridge")


@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_every_model_of_scikit_learn_is_supported_or_told_a_nearest_one(kind):
    for name, cls in all_estimators(type_filter=kind):
        if cls not in registered_classes():
            model = object.__new__(cls)  # some need arguments, and none of them matters
            with pytest.raises(TypeError, match=rf"given {name}\. (Use|Tune|Transform|No model)"):
                factory_for(model)
