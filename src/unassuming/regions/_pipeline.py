"""Take a pipeline apart: transformers fitted without y, and the model at its end."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from unassuming._errors import complaint


def split_pipeline(estimator: Any) -> tuple[Pipeline | None, Any]:
    """Return the unfitted transformers (or None) and the final estimator."""
    if isinstance(estimator, type):
        raise TypeError(
            complaint(
                "estimator",
                "is a class",
                "an instance such as Ridge(alpha=1.0)",
                estimator.__name__,
                f"Write {estimator.__name__}() with its hyper-parameters.",
            )
        )
    if isinstance(estimator, BaseSearchCV):
        raise TypeError(
            complaint(
                "estimator",
                "chooses hyper-parameters with the same y, which voids the guarantee",
                "a model with fixed hyper-parameters",
                type(estimator).__name__,
                "Tune on other rows and pass the best estimator, unfitted.",
            )
        )
    if not isinstance(estimator, Pipeline):
        return None, estimator
    transformers = clone(estimator[:-1]) if len(estimator) > 1 else None
    return transformers, estimator[-1]


def fit_transform_without_y(transformers: Pipeline, X: Any, y: Any) -> Any:
    """Fit the transformers on X alone and return the features.

    A transformer that fails without y but works with it is supervised, and refused; signatures and
    tags do not tell (SelectKBest declares y optional).
    """
    features = X
    for name, step in transformers.steps:
        if step is None or step == "passthrough":
            continue
        try:
            features = step.fit(features).transform(features)
        except Exception as error:
            if _works_with(step, features, y):
                raise TypeError(
                    complaint(
                        f"the transformer {name!r}",
                        "needs y to be fitted, which voids the guarantee",
                        "transformers that are fitted to the inputs alone",
                        type(step).__name__,
                        "Remove it, or fit it on other rows and pass its output as X.",
                    )
                ) from error
            raise
    return features


def _works_with(step: BaseEstimator, X: Any, y: Any) -> bool:
    try:
        clone(step).fit(X, y)
    except Exception:
        return False
    return True
