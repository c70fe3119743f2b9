"""Regions as scikit-learn estimators, and tuning that keeps the guarantee."""

from unassuming.estimators._classifier import ConfidenceClassifier
from unassuming.estimators._regressor import ConfidenceRegressor
from unassuming.estimators._tuned import tuned_region

__all__ = ["ConfidenceClassifier", "ConfidenceRegressor", "tuned_region"]
