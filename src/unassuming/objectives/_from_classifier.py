"""The objectives of scikit-learn's linear classifiers, on labels ±1."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression, RidgeClassifier

from unassuming._typing import Array
from unassuming.objectives._from_linear import features, from_ridge
from unassuming.objectives._hyperparameters import number, row_weights
from unassuming.objectives._logistic import LogisticObjective
from unassuming.objectives._quadratic import Quadratic
from unassuming.objectives._registry import register_objective


def from_ridge_classifier(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> Quadratic:
    """Build ridge regression on the labels ±1.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> from_ridge_classifier(RidgeClassifier(alpha=0.5), X, np.sign(y), None).lam
    0.01
    """
    _refuse_class_weight(estimator)
    return from_ridge(estimator, X, y, sample_weight)


def from_logistic_regression(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> LogisticObjective:
    """Build C Σ w log(1 + exp(-y g)) + ½ (1 - ρ) ‖coef‖² + ρ ‖coef‖₁, divided by C n.

    ρ follows from ``penalty`` where that is given, and is ``l1_ratio`` otherwise. With
    ``penalty=None`` or an infinite C there is no penalty. The solver does not matter, except
    that liblinear penalises the intercept.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> from_logistic_regression(LogisticRegression(C=2.0), X, np.sign(y), None).lam
    0.01
    """
    _refuse_class_weight(estimator)
    _refuse_other_likelihoods(estimator)
    ratio = _l1_ratio(estimator)
    lam = 0.0 if ratio is None else 1 / (number(estimator, "C", infinite=True) * len(y))
    l1 = lam * (ratio or 0.0)
    weights = row_weights(sample_weight, y)
    return LogisticObjective(features(estimator, X), y, weights, lam - l1, l1)


def _l1_ratio(estimator: Any) -> float | None:
    """Return the share of absolute values in the penalty, or None without a penalty.

    scikit-learn 1.8 replaces ``penalty`` by ``l1_ratio`` and an infinite C.
    """
    penalty = getattr(estimator, "penalty", "deprecated")
    if penalty is None:
        return None
    if penalty in ("l1", "l2"):
        return float(penalty == "l1")
    if penalty not in ("elasticnet", "deprecated"):
        raise ValueError(
            "LogisticRegression's penalty is unknown: expected 'l1', 'l2', 'elasticnet' or None, "
            f"given {penalty!r}. Set the hyper-parameter before building the region."
        )
    if penalty == "deprecated" and estimator.l1_ratio is None:
        return 0.0
    return number(estimator, "l1_ratio", zero=True, largest=1.0)


def _refuse_other_likelihoods(estimator: Any) -> None:
    if estimator.solver == "liblinear" and estimator.fit_intercept:
        raise ValueError(
            "solver='liblinear' penalises the intercept, unlike the other solvers: expected "
            "solver='lbfgs' or 'saga', or fit_intercept=False, given fit_intercept=True. The "
            "region has its own solver: only the objective matters."
        )
    if getattr(estimator, "multi_class", "auto") == "multinomial":
        raise ValueError(
            "multi_class='multinomial' penalises one coefficient vector for each of the two "
            "classes: expected multi_class='auto', given 'multinomial'. Leave it out; with an l2 "
            "penalty, twice the C gives the same model."
        )


def _refuse_class_weight(estimator: Any) -> None:
    if estimator.class_weight is not None:
        raise ValueError(
            "class_weight depends on the labels, which voids the guarantee: expected "
            f"class_weight=None, given {estimator.class_weight!r}. Weight rows by something other "
            "than y, with sample_weight."
        )


register_objective(RidgeClassifier, from_ridge_classifier)
register_objective(LogisticRegression, from_logistic_regression)
