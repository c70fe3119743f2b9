"""What regressors and classifiers with a confidence region share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.estimators._fitting import (
    check_same_features,
    fit_without_y,
    one_output,
    region_or_reason,
)
from unassuming.estimators._one_class import use_estimate
from unassuming.inputs import (
    as_inputs,
    as_seed,
    check_alignment,
    check_distinct,
    check_weight,
    group_column,
    is_frame,
    split_pipeline,
)
from unassuming.noise import LARGEST_GROUP, Noise
from unassuming.ranking import Level, check_m
from unassuming.regions import Band, Region


class ConfidenceEstimator(MetaEstimatorMixin, BaseEstimator, ABC):
    """An estimator that predicts as usual and has a confidence region."""

    estimator: Any
    noise: str | Noise | None
    level: float
    m: int | str
    random_state: Any

    @abstractmethod
    def _model(self) -> Any:
        """Return the estimator, or the default."""

    @abstractmethod
    def _check(self, model: Any) -> None:
        """Refuse a model without a region or of another kind, and parameters out of range."""

    @abstractmethod
    def _targets(self, y: Array, rows: BoolArray, model: Any) -> tuple[Array, dict[str, Any]]:
        """Return the outputs to which the model is fitted, and options of the region about y.

        The outputs are y itself, unless the model cannot be fitted to it. Outputs of another kind
        are refused. ``rows`` are those of positive weight.
        """

    @abstractmethod
    def _bands(self, region: Region, X: Any, levels: list[float]) -> dict[float, Band]:
        """Return the bands of the region."""

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the estimator, build its region, and return self.

        Parameters
        ----------
        X, y : arrays or DataFrames
            The data. For a classifier y has two different labels of any kind; if only one occurs,
            the parameter ``classes`` names both, unless they are 0 and 1, -1 and 1 or booleans.
        sample_weight : array of shape (n,), optional
            Weights that do not depend on y, for the estimator and the region.
        """
        seed = as_seed(self.random_state)
        estimator = self._model()
        transformers, model = split_pipeline(estimator)
        self._check(model)
        Level.at_least(self.level, LARGEST_GROUP if isinstance(self.m, str) else check_m(self.m))
        check_distinct(X)
        check_alignment(X=X, y=y, sample_weight=sample_weight, blocks=group_column(self.noise))
        if transformers is None and is_frame(X):
            as_inputs(X)
        y = one_output(y, type(self).__name__)
        rows, _ = check_weight(sample_weight, len(y))
        outputs, about_y = self._targets(y, rows, model)
        # Models and transformers may overwrite their inputs (copy_X=False): give them copies.
        fitted = fit_without_y(estimator, deepcopy(X), outputs, sample_weight, seed)
        options = {"noise": self.noise, "m": self.m, "random_state": seed, **about_y}
        region = region_or_reason(estimator, X, y, sample_weight, **options)
        if outputs is not y:
            use_estimate(fitted, region)
        if isinstance(region, Region):
            region.level(self.level)
            if transformers is not None:
                check_same_features(fitted, region, X)
        # Only now: a fit that fails leaves the estimator as it was.
        self.estimator_ = fitted
        self._region: Region | NotAvailable = region
        self._band_status: str | dict[float, str] | None = None
        return self

    def predict(self, X: Any) -> Any:
        """Predict as the estimator does; an array of shape (N,).

        Parameters
        ----------
        X : array or DataFrame
            Inputs.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(deepcopy(X)))

    @property
    def region_(self) -> Region:
        """The confidence region of the fitted estimator."""
        check_is_fitted(self)
        if isinstance(self._region, NotAvailable):
            raise self._region
        return self._region

    @property
    def band_status_(self) -> str | dict[float, str]:
        """The status of the last band; before the first one, of the band at the training inputs."""
        check_is_fitted(self)
        if self._band_status is not None:
            return self._band_status
        if isinstance(self._region, NotAvailable):
            return str(self._region)
        # Not stored: parameters may change until a band is asked for.
        data = self._region.problem.data("a band needs")
        ((_, status),) = self._answers(data.X, [self.level], len(data.rows)).values()
        return status

    @property
    def n_features_in_(self) -> int:
        """Number of columns seen in `fit`."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns seen in `fit`."""
        check_is_fitted(self)
        return self.estimator_.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._model())
        tags.input_tags = inner.input_tags  # sparse, pairwise, missing values: as the model does
        tags.non_deterministic = inner.non_deterministic
        return tags

    def _bounds(self, X: Any, level: Any, form: Callable[[Array], Any] = np.asarray) -> Any:
        """Return the bounds (N, 2) in some form, for one level or several; keep their status."""
        count = len(self.predict(X))  # the estimator checks X and its column names
        asked = self.level if level is None else level
        answers = self._answers(X, np.atleast_1d(asked).tolist(), count)
        self._band_status = by_level({p: status for p, (_, status) in answers.items()}, asked)
        return by_level({p: form(bounds) for p, (bounds, _) in answers.items()}, asked)

    def _answers(self, X: Any, levels: list[float], count: int) -> dict[float, tuple[Array, str]]:
        """Return bounds and their status at every level."""
        try:
            region = self.region_
            for level in levels:
                region.level(level)
            bands = self._bands(region, X, levels)
        except NotAvailable as error:  # no finite bound is known for this model
            infinite = np.tile([-np.inf, np.inf], (count, 1))
            return {float(level): (infinite.copy(), str(error)) for level in levels}
        return {
            level: (np.column_stack([band.lower, band.upper]), _status(band))
            for level, band in bands.items()
        }


def by_level(found: dict[float, Any], asked: Any) -> Any:
    """Return all entries if several levels were asked for, else the only one."""
    return found if np.ndim(asked) == 1 else next(iter(found.values()))


def _status(band: Band) -> str:
    """Return the status of a band in words, with its reason and caveat."""
    details = [text for text in (band.reason, band.caveat) if text]
    status = band.description
    return " ".join([f"{status}.", *details]) if details else status
