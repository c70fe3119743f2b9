"""The supported model that is nearest to one that is refused, with the reason for the refusal."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin

_OTHER_ROWS = "tune on other rows with ua.tuned_region(GridSearchCV(model, grid), X, y)"
_ESTIMATED = "a penalty that is not estimated from the same y"
_LINEAR = "a function that is linear in coefficients"
_SMOOTH = (
    "Use make_pipeline(SplineTransformer(), Ridge(alpha)) for few inputs, or KernelRidge for many."
)
_FEATURES_FIXED = "features that are chosen without y"
_ROBUST = (
    "Use QuantileRegressor(quantile=0.5, alpha=0) for the median, or HuberRegressor; the regions "
    "of LinearRegression are exact under heavy tails too."
)
_LOSS = (
    "Use the model with the same loss: Ridge or ElasticNet for squares, LinearSVR for the "
    "epsilon-insensitive losses, QuantileRegressor(quantile=0.5) for absolute values, "
    "HuberRegressor for Huber's."
)
_NOTHING_YET = (
    "No model of counts or of positive outputs is supported yet. QuantileRegressor assumes nothing "
    "about the shape of the noise."
)
_OF_LABELS = (
    "a model of E[y|x] or of the log-odds that is linear in coefficients",
    "Use LogisticRegression, RidgeClassifier or ua.LSSVC.",
)
_LIBRARIES = ("sklearn", "xgboost", "lightgbm", "catboost")
"""Their classifiers have a nearest model; a class of a user may be registered."""
_ONE_OUTPUT = "Use {} for one output at a time."

_NEAREST: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("BayesianRidge", "ARDRegression"),
        (_ESTIMATED, f"Use Ridge(alpha) with an alpha fixed beforehand, or {_OTHER_ROWS}."),
    ),
    "LassoLarsIC": (_ESTIMATED, f"Use Lasso(alpha) with a fixed alpha, or {_OTHER_ROWS}."),
    "TransformedTargetRegressor": (
        "a model of y itself",
        "Transform y first, and pass the inner model: "
        "ua.confidence_region(model.regressor, X, transform(y)); its bounds are those of the "
        "transformed outputs.",
    ),
    **dict.fromkeys(
        ("PoissonRegressor", "GammaRegressor", "TweedieRegressor"),
        ("noise whose law does not depend on the mean of y", _NOTHING_YET),
    ),
    **dict.fromkeys(
        ("SGDRegressor", "PassiveAggressiveRegressor"),
        ("a model that is defined by a minimum, which this solver does not reach", _LOSS),
    ),
    "LassoLars": (
        "a penalty rather than a path",
        "Use Lasso(alpha), which has the same minimum.",
    ),
    "Lars": (
        _FEATURES_FIXED,
        "Use Lasso(alpha), or LinearRegression on features chosen beforehand.",
    ),
    "OrthogonalMatchingPursuit": (
        _FEATURES_FIXED,
        "Use Lasso(alpha), or LinearRegression on features chosen beforehand.",
    ),
    **dict.fromkeys(
        ("PLSRegression", "PLSCanonical", "CCA"),
        (_FEATURES_FIXED, "Use make_pipeline(StandardScaler(), PCA(k), LinearRegression())."),
    ),
    **dict.fromkeys(
        ("TheilSenRegressor", "RANSACRegressor"),
        ("a model that is the minimum of a sum over all rows", _ROBUST),
    ),
    "NuSVR": (
        "a tube of fixed width, which nu takes from y",
        "Use SVR(epsilon=...) with the same kernel.",
    ),
    "IsotonicRegression": (_LINEAR, "Use make_pipeline(SplineTransformer(), LinearRegression())."),
    "MultiTaskLasso": ("one output", _ONE_OUTPUT.format("Lasso(alpha)")),
    "MultiTaskElasticNet": ("one output", _ONE_OUTPUT.format("ElasticNet(alpha)")),
    **dict.fromkeys(
        ("MultiOutputRegressor", "RegressorChain"),
        ("one output", _ONE_OUTPUT.format("the inner model")),
    ),
    "DummyRegressor": (
        _LINEAR,
        "Use LinearRegression(fit_intercept=False) with one column of ones.",
    ),
    **dict.fromkeys(
        (
            *("RandomForestRegressor", "ExtraTreesRegressor", "DecisionTreeRegressor"),
            *("ExtraTreeRegressor", "GradientBoostingRegressor", "HistGradientBoostingRegressor"),
            *("AdaBoostRegressor", "BaggingRegressor", "VotingRegressor", "StackingRegressor"),
            *("MLPRegressor", "KNeighborsRegressor", "RadiusNeighborsRegressor"),
            *("XGBRegressor", "LGBMRegressor", "CatBoostRegressor"),
        ),
        (_LINEAR, _SMOOTH),
    ),
    "GaussianProcessClassifier": (
        "fixed coefficients of the log-odds",
        "Use make_pipeline(Nystroem(), LogisticRegression()).",
    ),
}

_WITH_FIXED = {
    "RidgeCV": "Ridge(alpha)",
    "RidgeClassifierCV": "RidgeClassifier(alpha)",
    "LassoCV": "Lasso(alpha)",
    "LassoLarsCV": "Lasso(alpha)",
    "LarsCV": "Lasso(alpha)",
    "ElasticNetCV": "ElasticNet(alpha, l1_ratio=...)",
    "OrthogonalMatchingPursuitCV": "Lasso(alpha)",
    "MultiTaskLassoCV": "Lasso(alpha)",
    "MultiTaskElasticNetCV": "ElasticNet(alpha, l1_ratio=...)",
    "LogisticRegressionCV": "LogisticRegression(C)",
}

_STATSMODELS = {
    "QuantReg": "QuantileRegressor(quantile, alpha=0)",
    "RLM": "HuberRegressor(alpha=0)",
    "Logit": "LogisticRegression(penalty=None)",
    "WLS": "LinearRegression() with sample_weight=w",
}


def chooses_itself(estimator: Any) -> TypeError | None:
    """Return the refusal of an estimator that tunes hyper-parameters with the same y."""
    name = type(estimator).__name__
    if not name.endswith("CV"):  # GridSearchCV, RidgeCV, ...
        return None
    remedy = "Tune on other rows: ua.tuned_region(search, X, y) does that for a search."
    if name in _WITH_FIXED:
        remedy = f"Use {_WITH_FIXED[name]} with a value fixed beforehand, or {_OTHER_ROWS}."
    return TypeError(
        "estimator chooses hyper-parameters with the same y, which voids the guarantee: expected "
        f"a model with fixed hyper-parameters, given {name}. {remedy}"
    )


def has_nearest(estimator: Any) -> TypeError | None:
    """Return the refusal of an estimator for which a supported model can be named."""
    cls = type(estimator)
    if cls.__module__.split(".")[0] == "statsmodels":
        model = getattr(estimator, "model", estimator)
        name = type(model).__name__
        use = _STATSMODELS.get(name, "LinearRegression()")
        return TypeError(
            "estimator is not supported: expected a scikit-learn estimator, which is not fitted "
            f"beforehand, given {name} of statsmodels. Use {use}, with X without its column of "
            "ones."
        )
    known = cls.__module__.split(".")[0] in _LIBRARIES and isinstance(estimator, ClassifierMixin)
    found = _NEAREST.get(cls.__name__, _OF_LABELS if known else None)
    if found is None:
        return None
    expected, remedy = found
    return TypeError(
        f"estimator is not supported: expected {expected}, given {cls.__name__}. {remedy}"
    )
