"""What regressors and classifiers with a confidence region share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.inputs import (
    as_inputs,
    as_seed,
    check_alignment,
    check_distinct,
    check_weight,
    fit_transform_without_y,
    group_column,
    is_frame,
    is_series_model,
    seed_unset,
    split_pipeline,
    streams,
)
from unassuming.noise import LARGEST_GROUP, Noise
from unassuming.ranking import Level, check_m
from unassuming.regions import Band, Region, confidence_region


class ConfidenceEstimator(MetaEstimatorMixin, BaseEstimator, ABC):
    """An estimator that predicts as usual and has a confidence region."""

    estimator: Any
    noise: str | Noise | None
    level: float
    m: int | str
    random_state: Any
    _limit: float = np.inf  # of the values that are bounded
    _warned: Region | None = None

    @abstractmethod
    def _model(self) -> Any:
        """Return the estimator, or the default."""

    @abstractmethod
    def _check(self, model: Any) -> None:
        """Refuse a model without a region or of another kind, and parameters out of range."""

    @abstractmethod
    def _targets(self, y: Array, rows: BoolArray, model: Any) -> tuple[Array, dict[str, Any]]:
        """Return the outputs to which the model can be fitted, and options of the region."""

    @abstractmethod
    def _use_estimate(self, fitted: Any, region: Region | NotAvailable) -> None:
        """Take the coefficients of a model that was not fitted to y itself from the region."""

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
        seed, estimator = as_seed(self.random_state), self._model()
        transformers, model = split_pipeline(estimator)
        self._check(model)
        Level.at_least(self.level, LARGEST_GROUP if isinstance(self.m, str) else check_m(self.m))
        check_distinct(X)
        check_alignment(X=X, y=y, sample_weight=sample_weight, blocks=group_column(self.noise))
        if transformers is None and is_frame(X):
            as_inputs(X)
        y = _one_output(y, type(self).__name__)
        rows, _ = check_weight(sample_weight, len(y))
        outputs, about_y = self._targets(y, rows, model)
        # Models and transformers may overwrite their inputs (copy_X=False): give them copies.
        fitted = _fitted(estimator, deepcopy(X), outputs, sample_weight, seed)
        options = {"noise": self.noise, "m": self.m, "random_state": seed, **about_y}
        region = _region_or_reason(estimator, X, y, sample_weight, **options)
        if outputs is not y:
            self._use_estimate(fitted, region)
        if isinstance(region, Region):
            region.level(self.level)
            if transformers is not None:
                _check_same_features(fitted, region, X)
        # Only now: a fit that fails leaves the estimator as it was.
        self.estimator_ = fitted
        self._region: Region | NotAvailable = region
        self._band_status: str | dict[float, str] | None = None
        return self

    def predict(self, X: Any) -> Any:
        """Predict as the estimator does, for inputs X; an array of shape (N,)."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(deepcopy(X)))

    def predict_band(self, X: Any, level: Any = None) -> Any:
        """Return lower and upper bounds that hold at all these inputs at once.

        For a classifier they bound E[y|x], and are clipped to [-1, 1]; those of P(y = 1|x) are
        ``(1 + band) / 2``, and both are NaN if the region is empty: the data contradict the model.
        The bounds of two calls need not hold together: ask for all inputs in one call. They are
        infinite if no finite bound is known; `band_status_` says why.

        Parameters
        ----------
        X : array or DataFrame
            Inputs.
        level : float or sequence of floats, optional
            By default the level of the estimator.

        Returns
        -------
        array of shape (N, 2), or a dict of them for several levels
        """
        return self._bounds(X, level, lambda bounds: np.clip(bounds, -self._limit, self._limit))

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
        tags, inner = super().__sklearn_tags__(), get_tags(self._model())
        tags.input_tags = inner.input_tags  # sparse, pairwise, missing values: as the model does
        tags.non_deterministic = inner.non_deterministic
        return tags

    def _bounds(self, X: Any, level: Any, form: Callable[[Array], Any]) -> Any:
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
    return " ".join([f"{band.description}.", *details]) if details else band.description


def _one_output(y: Any, name: str) -> Array:
    """Return y as a vector of at least two entries."""
    if y is None:  # scikit-learn's checks look for this sentence
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    outputs: Array = column_or_1d(y, warn=True)
    if len(outputs) == 1:
        raise ValueError("y is too short: expected at least 2 rows, given 1 sample. Add rows.")
    return outputs


def _fitted(estimator: Any, X: Any, y: Array, sample_weight: Any, seed: int) -> Any:
    """Fit as `Pipeline.fit` does, but without passing y to the transformers.

    Random features get the same seeds as those of the region, and so are the same features.
    """
    transformers, model = split_pipeline(estimator)
    if is_series_model(model):
        raise TypeError(
            "estimator predicts from earlier outputs: expected a model that predicts from X alone, "
            f"given {model!r}. Use ua.confidence_region(model, u, y) and model.predict(u, y)."
        )
    model, features = clone(model), X
    seed_unset(model, np.random.default_rng(seed))
    if transformers is not None:
        seed_unset(transformers, streams(seed)[2])
        features = fit_transform_without_y(transformers, X, y)
    model.fit(features, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    if not isinstance(estimator, Pipeline):
        return model
    before = [] if transformers is None else transformers.steps
    return Pipeline([*before, (estimator.steps[-1][0], model)])


def _region_or_reason(
    estimator: Any, X: Any, y: Array, sample_weight: Any, **options: Any
) -> Region | NotAvailable:
    """Build the region, or return the reason why these weights do not allow one."""
    try:
        return confidence_region(estimator, X, y, sample_weight=sample_weight, **options)
    except ValueError as error:
        if sample_weight is None:
            raise
        # If equal weights are refused as well, the reason is another one.
        rows = check_weight(sample_weight, len(y))[0].astype(np.float64)
        confidence_region(estimator, X, y, sample_weight=rows, **options)
        return NotAvailable(str(error))


def _check_same_features(fitted: Pipeline, region: Region, X: Any) -> None:
    """Refuse a transformer that draws without a seed: model and region have other features."""
    ours = as_inputs(fitted[:-1].transform(deepcopy(X)))
    theirs = region.problem.transform(deepcopy(X))
    slack = 1e-6 * np.abs(theirs).max(initial=0.0)
    if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=1e-6, atol=slack):
        steps = ", ".join(type(step).__name__ for _, step in fitted.steps[:-1])
        raise ValueError(
            "a transformer gives other features when it is fitted again: expected the same "
            f"features, given {steps}. Give it a parameter random_state, and draw from that."
        )
