"""What regressors and classifiers with a confidence region share."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.inputs import (
    as_inputs,
    as_seed,
    check_distinct,
    check_weight,
    fit_transform_without_y,
    is_frame,
    seed_unset,
    split_pipeline,
    streams,
)
from unassuming.noise import LARGEST_GROUP, Noise
from unassuming.objectives import factory_for
from unassuming.ranking import Level, check_m
from unassuming.regions import Region, confidence_region


class ConfidenceEstimator(MetaEstimatorMixin, BaseEstimator):
    """An estimator that predicts as usual and carries its confidence region along."""

    estimator: Any
    noise: str | Noise | None
    level: float
    m: int | str
    random_state: Any

    _kind: ClassVar[type]
    """What the models have in common: ClassifierMixin, or RegressorMixin."""

    @abstractmethod
    def _inner(self) -> Any:
        """Return the estimator, or the default."""

    @abstractmethod
    def _check_kind(self, model: Any) -> None:
        """Refuse a model of another kind."""

    @abstractmethod
    def _band_of(self, region: Region, X: Any, levels: list[float]) -> dict[float, Any]:
        """Return the bands of the region."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        seed = as_seed(self.random_state)
        estimator = self._inner()
        transformers, model = split_pipeline(estimator)
        factory_for(model, self._kind)  # refuses what has no region
        check_distinct(X)
        if transformers is None and is_frame(X):
            as_inputs(X)
        self._check_kind(model)
        self._check_parameters()
        y = self._one_output(y)
        check_weight(sample_weight, len(y))
        # Models and transformers may overwrite their inputs (copy_X=False): give them copies.
        fitted = _fitted_without_y(estimator, deepcopy(X), y, sample_weight, seed)
        region = self._build(estimator, X, y, sample_weight, seed)
        if isinstance(region, Region):
            region.level(self.level)
            if transformers is not None:
                _check_same_features(fitted, region, X)
        # All or nothing: a fit that fails leaves the estimator as it was.
        self.estimator_ = fitted
        self._region: Region | NotAvailable = region
        self._band_status: str | dict[float, str] | None = None

    def _check_parameters(self) -> None:
        """Refuse parameters that would be wrong for every model, if there is no region too."""
        if isinstance(self.m, str):
            Level.at_least(self.level, LARGEST_GROUP)
        else:
            Level.exactly(self.level, check_m(self.m))

    def _predict(self, X: Any) -> Any:
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(deepcopy(X)))

    def _predict_band(self, X: Any, level: Any) -> Any:
        count = len(self._predict(X))  # the estimator checks X, its names included
        asked = self.level if level is None else level
        answers = self._bands(X, np.atleast_1d(asked).tolist(), count)
        bounds = {p: bound for p, (bound, _) in answers.items()}
        status = {p: sentence for p, (_, sentence) in answers.items()}
        several = np.ndim(asked) == 1
        self._band_status = status if several else next(iter(status.values()))
        return bounds if several else next(iter(bounds.values()))

    @property
    def region_(self) -> Region:
        """The confidence region of the fitted estimator."""
        check_is_fitted(self)
        if isinstance(self._region, NotAvailable):
            raise self._region
        return self._region

    @property
    def band_status_(self) -> str | dict[float, str]:
        """What was said of the last band, or, before any, is of the one at the training inputs."""
        check_is_fitted(self)
        if self._band_status is not None:
            return self._band_status
        if isinstance(self._region, NotAvailable):
            return str(self._region)
        # Not kept: parameters may be set until a band is asked for.
        data = self._region.problem.data("a band needs")
        ((_, status),) = self._bands(data.X, [self.level], len(data.rows)).values()
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
        inner = get_tags(self._inner())
        tags.input_tags = inner.input_tags  # sparse, pairwise, missing values: as the model does
        tags.non_deterministic = inner.non_deterministic
        return tags

    def _one_output(self, y: Any) -> Array:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        outputs: Array = column_or_1d(y, warn=True)
        if len(outputs) == 1:
            raise ValueError(
                "the data are too few: expected at least 2 rows, given 1 sample. A region needs "
                "residuals to compare."
            )
        return outputs

    def _build(
        self, estimator: Any, X: Any, y: Array, sample_weight: Any, seed: int
    ) -> Region | NotAvailable:
        """Build the region, or say why there is none for these weights."""
        options: dict[str, Any] = {"noise": self.noise, "m": self.m, "random_state": seed}
        try:
            return confidence_region(estimator, X, y, sample_weight=sample_weight, **options)
        except ValueError as error:
            if sample_weight is None:
                raise
            # Only weights that vary may be refused here: with equal ones there must be a region.
            rows = check_weight(sample_weight, len(y))[0].astype(np.float64)
            confidence_region(estimator, X, y, sample_weight=rows, **options)
            return NotAvailable(str(error))

    def _status_of(self, band: Any, reason: str | None = None) -> str:
        """Return the status of a band, its reason and its caveat."""
        reason = band.reason if reason is None else reason
        first = f"{band.status.value}." if reason or band.caveat else str(band.status.value)
        return " ".join(part for part in (first, reason, band.caveat) if part)

    def _bands(self, X: Any, levels: list[float], count: int) -> dict[float, tuple[Array, str]]:
        """Return bounds and what they are, for every level."""
        try:
            region = self.region_
            for level in levels:
                region.level(level)
            bands = self._band_of(region, X, levels)
        except NotAvailable as error:  # nothing finite is known of this model
            infinite = np.tile([-np.inf, np.inf], (count, 1))
            return {float(level): (infinite.copy(), str(error)) for level in levels}
        return {
            level: (
                np.column_stack([band.lower, band.upper]),
                self._status_of(band),
            )
            for level, band in bands.items()
        }


def _fitted_without_y(estimator: Any, X: Any, y: Array, sample_weight: Any, seed: int) -> Any:
    """Fit as `Pipeline.fit` does, except that transformers do not get to see y.

    Random features get the seeds that the region gives them, so that both have the same ones.
    """
    transformers, model = split_pipeline(estimator)
    model, features = clone(model), X
    seed_unset(model, np.random.default_rng(seed))
    if transformers is not None:
        seed_unset(transformers, streams(seed)[2])
        features = fit_transform_without_y(transformers, X, y)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    model.fit(features, y, **weights)
    if not isinstance(estimator, Pipeline):
        return model
    before = [] if transformers is None else transformers.steps
    return Pipeline([*before, (estimator.steps[-1][0], model)])


def _check_same_features(fitted: Pipeline, region: Region, X: Any) -> None:
    """Refuse transformers that give the model and the region different features.

    Both fit them, with the same seeds; one that draws without a random_state cannot be seeded.
    """
    ours = as_inputs(fitted[:-1].transform(deepcopy(X)))
    theirs = region.problem.transform(deepcopy(X))
    if ours.shape == theirs.shape and np.allclose(
        ours, theirs, rtol=1e-6, atol=1e-6 * np.abs(theirs).max(initial=0.0)
    ):
        return
    raise ValueError(
        "a transformer gives other features when it is fitted again: expected the same features "
        "for predictions and for the region, given "
        f"{', '.join((type(step).__name__ for _, step in fitted.steps[:-1]))}. Give it a parameter "
        "random_state, and draw from that."
    )
