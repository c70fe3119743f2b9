"""Regions as scikit-learn estimators, and tuning that keeps the guarantee."""

from unassuming.estimators.classifier import ConfidenceClassifier
from unassuming.estimators.regressor import ConfidenceRegressor
from unassuming.estimators.tuned import tuned_region

__all__ = ["ConfidenceClassifier", "ConfidenceRegressor", "tuned_region"]
