"""The supported model that is nearest to one that is refused, with the reason for the refusal."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin

_OTHER_ROWS = "tune on other rows with ua.tuned_region(GridSearchCV(model, grid), X, y)"

_LIBRARIES = ("sklearn", "xgboost", "lightgbm", "catboost")
"""Their classifiers have a nearest model; a class of a user may be registered."""

_TABLE = f"""
BayesianRidge ARDRegression | a penalty that is not estimated from the same y
    | Use Ridge(alpha) with an alpha fixed beforehand, or {_OTHER_ROWS}.
LassoLarsIC | a penalty that is not estimated from the same y
    | Use Lasso(alpha) with a fixed alpha, or {_OTHER_ROWS}.
TransformedTargetRegressor | a model of y itself
    | Transform y first, and pass the inner model: ua.confidence_region(model.regressor, X, \
transform(y)); its bounds are those of the transformed outputs.
PoissonRegressor GammaRegressor TweedieRegressor
    | noise whose law does not depend on the mean of y
    | No model of counts or of positive outputs is supported yet. QuantileRegressor assumes \
nothing about the shape of the noise.
SGDRegressor PassiveAggressiveRegressor
    | a model that is defined by a minimum, which this solver does not reach
    | Use the model with the same loss: Ridge or ElasticNet for squares, LinearSVR for the \
epsilon-insensitive losses, QuantileRegressor(quantile=0.5) for absolute values, HuberRegressor \
for Huber's.
LassoLars | a penalty rather than a path | Use Lasso(alpha), which has the same minimum.
Lars OrthogonalMatchingPursuit | features that are chosen without y
    | Use Lasso(alpha), or LinearRegression on features chosen beforehand.
PLSRegression PLSCanonical CCA | features that are chosen without y
    | Use make_pipeline(StandardScaler(), PCA(k), LinearRegression()).
TheilSenRegressor RANSACRegressor | a model that is the minimum of a sum over all rows
    | Use QuantileRegressor(quantile=0.5, alpha=0) for the median, or HuberRegressor; the regions \
of LinearRegression are exact under heavy tails too.
NuSVR | a tube of fixed width, which nu takes from y
    | Use SVR(epsilon=...) with the same kernel.
IsotonicRegression | a function that is linear in coefficients
    | Use make_pipeline(SplineTransformer(), LinearRegression()).
MultiTaskLasso | one output | Use Lasso(alpha) for one output at a time.
MultiTaskElasticNet | one output | Use ElasticNet(alpha) for one output at a time.
MultiOutputRegressor RegressorChain | one output | Use the inner model for one output at a time.
DummyRegressor | a function that is linear in coefficients
    | Use LinearRegression(fit_intercept=False) with one column of ones.
RandomForestRegressor ExtraTreesRegressor DecisionTreeRegressor ExtraTreeRegressor \
GradientBoostingRegressor HistGradientBoostingRegressor AdaBoostRegressor BaggingRegressor \
VotingRegressor StackingRegressor MLPRegressor KNeighborsRegressor RadiusNeighborsRegressor \
XGBRegressor LGBMRegressor CatBoostRegressor | a function that is linear in coefficients
    | Use make_pipeline(SplineTransformer(), Ridge(alpha)) for few inputs, or KernelRidge for many.
GaussianProcessClassifier | fixed coefficients of the log-odds
    | Use make_pipeline(Nystroem(), LogisticRegression()).
"""
"""Classes | what is expected in their place | what to do."""

_NEAREST = {
    name: (expected.strip(), remedy.strip())
    for row in _TABLE.replace("\n    |", "|").strip().split("\n")
    for names, expected, remedy in [row.split("|")]
    for name in names.split()
}

_WITH_FIXED = {
    "RidgeCV": "Ridge(alpha)",
    "RidgeClassifierCV": "RidgeClassifier(alpha)",
    "ElasticNetCV": "ElasticNet(alpha, l1_ratio=...)",
    "MultiTaskElasticNetCV": "ElasticNet(alpha, l1_ratio=...)",
    "LogisticRegressionCV": "LogisticRegression(C)",
    **dict.fromkeys(
        ("LassoCV", "LassoLarsCV", "LarsCV", "OrthogonalMatchingPursuitCV", "MultiTaskLassoCV"),
        "Lasso(alpha)",
    ),
}

_STATSMODELS = {
    "QuantReg": "QuantileRegressor(quantile, alpha=0)",
    "RLM": "HuberRegressor(alpha=0)",
    "Logit": "LogisticRegression(penalty=None)",
    "WLS": "LinearRegression() with sample_weight=w",
}


def refusal(estimator: Any, supported: list[type]) -> TypeError:
    """Return the refusal of an estimator, with the nearest model or the list of all."""
    cls = type(estimator)
    library, name = cls.__module__.split(".")[0], cls.__name__
    if name.endswith("CV"):  # GridSearchCV, RidgeCV, ...
        remedy = "Tune on other rows: ua.tuned_region(search, X, y) does that for a search."
        if name in _WITH_FIXED:
            remedy = f"Use {_WITH_FIXED[name]} with a value fixed beforehand, or {_OTHER_ROWS}."
        return TypeError(
            "estimator chooses hyper-parameters with the same y, which voids the guarantee: "
            f"expected a model with fixed hyper-parameters, given {name}. {remedy}"
        )
    found, given = _NEAREST.get(name), name
    if library == "statsmodels":
        model = type(getattr(estimator, "model", estimator)).__name__
        use = _STATSMODELS.get(model, "LinearRegression()")
        given = f"{model} of statsmodels"
        expected = "a scikit-learn estimator, which is not fitted beforehand"
        found = expected, f"Use {use}, with X without its column of ones."
    elif found is None and library in _LIBRARIES and isinstance(estimator, ClassifierMixin):
        expected = "a model of E[y|x] or of the log-odds that is linear in coefficients"
        found = expected, "Use LogisticRegression, RidgeClassifier or ua.LSSVC."
    if found is None:
        names = ", ".join(sorted(one.__name__ for one in supported))
        given = repr(estimator)
        found = (
            f"one of {names}, or a Pipeline of unsupervised transformers ending in one of them",
            "Register another class with ua.register_objective(estimator_class, factory).",
        )
    return TypeError(f"estimator is not supported: expected {found[0]}, given {given}. {found[1]}")
