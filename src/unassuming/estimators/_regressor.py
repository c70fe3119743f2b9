"""A regressor that predicts as usual and carries its confidence region along."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone, is_classifier
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from unassuming._errors import NotAvailable, complaint
from unassuming._typing import Array
from unassuming.noise import Noise
from unassuming.objectives import factory_for
from unassuming.regions import Region, confidence_region
from unassuming.regions._data import check_weight
from unassuming.regions._pipeline import fit_transform_without_y, seed_unset, split_pipeline
from unassuming.regions._seed import as_seed, streams


class ConfidenceRegressor(MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """A regressor with a simultaneous confidence band, exact in finite samples.

    Predictions are those of the estimator itself. The band comes from the confidence region of its
    coefficients (`unassuming.confidence_region`), at every input at once. It covers the ideal
    representation, which agrees with the noise-free function at the training inputs and need not
    elsewhere; with a kernel and a norm bound it covers the function itself.

    Hyper-parameters must not be chosen with the same y: a search around this estimator gives a
    band without a guarantee. Use `unassuming.tuned_region` for that.

    Parameters
    ----------
    estimator : scikit-learn regressor, optional
        A model that `unassuming.confidence_region` supports, or a Pipeline of unsupervised
        transformers ending in one; by default ``Ridge()``. The transformers are fitted without y.
    noise : str or Noise, optional
        What is assumed of the noise; symmetric by default. An assumption that names rows, such as
        ``ua.noise.BlockSymmetric(blocks)``, fits one data set and no cross-validation.
    level : float, default 0.9
        Level of the bands.
    m : int or "group", default 100
        Number of statistics; levels are multiples of 1/m.
    norm_bound : float, optional
        An assumption of yours on the norm of the coefficients, or of the function for kernels.
    random_state : int, Generator, RandomState or None
        Source of the transformations and of random features.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model; a Pipeline if one was given.
    region_ : Region
        The confidence region, for membership, tests, intervals and everything else. If there is
        none because `sample_weight` varies and the model has a region for equal weights only, it
        raises `NotAvailable`; predictions are not affected.
    band_status_ : str or dict
        Whether the bounds that `predict_band` returned last are finite, and if not, why and what to
        do; before any call, for the training inputs. A dict if several levels were asked for.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of str
        Their names, if X had any.

    Notes
    -----
    `sample_weight` in `fit` goes to the model and to the region alike, through a pipeline too:
    ``set_fit_request(sample_weight=True)`` is all that metadata routing needs.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
    >>> model = ua.ConfidenceRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> model.predict([[0.0], [1.0]]).round(2)
    array([ 0.51, -0.4 ])
    >>> model.predict_band([[0.0], [1.0]]).round(2)
    array([[ 0.27,  0.73],
           [-0.72, -0.07]])
    >>> print(model.band_status_)
    every bound is finite and an honest outer bound of the region
    >>> model.region_.contains(coefficients, level=0.99)
    True
    >>> import pandas as pd
    >>> named = model.fit(pd.DataFrame(X, columns=["dose"]), y)
    >>> named.n_features_in_, named.feature_names_in_.tolist(), named.region_.names
    (1, ['dose'], ['intercept', 'dose'])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        noise: str | Noise | None = None,
        level: float = 0.9,
        m: int | str = 100,
        norm_bound: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.noise = noise
        self.level = level
        self.m = m
        self.norm_bound = norm_bound
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the estimator and build its region.

        Parameters
        ----------
        X, y : arrays or DataFrames
            The data; one output.
        sample_weight : array of shape (n,), optional
            Weights that do not depend on y, for the estimator and the region.

        Returns
        -------
        self

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.kernel_ridge import KernelRidge
        >>> X, y, f = ua.datasets.sine(n=40, random_state=0)
        >>> ua.ConfidenceRegressor(KernelRidge(kernel="rbf"), random_state=0).fit(X, y).region_.n
        40
        """
        seed = as_seed(self.random_state)
        estimator = self._supported()
        y = self._one_output(y)
        check_weight(sample_weight, len(y))
        # Models and transformers may overwrite their inputs (copy_X=False): give them copies.
        self.estimator_ = _fitted_without_y(estimator, deepcopy(X), y, sample_weight, seed)
        self._region: Region | NotAvailable = self._build(estimator, X, y, sample_weight, seed)
        if isinstance(self._region, Region):
            self._region.level(self.level)
        self._band_status: str | dict[float, str] | None = None
        return self

    def predict(self, X: Any) -> Array:
        """Predict as the estimator does.

        Parameters
        ----------
        X : array or DataFrame
            Inputs.

        Returns
        -------
        array of shape (N,)

        Examples
        --------
        >>> import unassuming as ua
        >>> X, y, coefficients = ua.datasets.linear(n=50, random_state=0)
        >>> ua.ConfidenceRegressor(random_state=0).fit(X, y).predict(X).shape
        (50,)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(deepcopy(X)))

    def predict_band(self, X: Any, level: Any = None) -> Any:
        """Return lower and upper bounds at every input: a simultaneous band.

        Where no finite bound is true or known they are infinite, and `band_status_` says why.

        Parameters
        ----------
        X : array or DataFrame
            Inputs.
        level : float or sequence of floats, optional
            By default the level of the estimator.

        Returns
        -------
        array of shape (N, 2), or a dict of them for several levels

        Examples
        --------
        >>> import unassuming as ua
        >>> X, y, coefficients = ua.datasets.linear(n=50, random_state=0)
        >>> model = ua.ConfidenceRegressor(random_state=0).fit(X, y)
        >>> bands = model.predict_band(X, level=[0.5, 0.9])
        >>> bands[0.9].shape
        (50, 2)
        >>> bool((bands[0.5][:, 0] >= bands[0.9][:, 0]).all())
        True
        """
        count = len(self.predict(X))  # the estimator checks X, its names included
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
        """What was said of the last band, or of the one at the training inputs."""
        check_is_fitted(self)
        if self._band_status is None:
            if isinstance(self._region, NotAvailable):
                self._band_status = str(self._region)
            else:
                self.predict_band(self._region.inputs)
        assert self._band_status is not None
        return self._band_status

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
        tags.regressor_tags = inner.regressor_tags
        tags.non_deterministic = inner.non_deterministic
        return tags

    def _inner(self) -> Any:
        return Ridge() if self.estimator is None else self.estimator

    def _supported(self) -> Any:
        """Return the estimator, if it is one that has a band."""
        estimator = self._inner()
        _, model = split_pipeline(estimator)
        factory_for(model)  # refuses what has no region
        if is_classifier(model):
            raise TypeError(
                complaint(
                    "estimator",
                    "is a classifier",
                    "a regressor",
                    type(model).__name__,
                    "Use ua.confidence_region for regions of a classifier.",
                )
            )
        return estimator

    def _one_output(self, y: Any) -> Array:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        outputs: Array = column_or_1d(y, warn=True)
        if len(outputs) == 1:
            raise ValueError(
                complaint(
                    "the data",
                    "are too few",
                    "at least 2 rows",
                    "1 sample",
                    "A region needs residuals to compare.",
                )
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

    def _bands(self, X: Any, levels: list[float], count: int) -> dict[float, tuple[Array, str]]:
        """Return bounds and what they are, for every level."""
        try:
            region = self.region_
            for level in levels:
                region.level(level)
            bands = region.band(X, level=levels, norm_bound=self.norm_bound)
        except NotAvailable as error:  # nothing finite is known of this model
            infinite = np.tile([-np.inf, np.inf], (count, 1))
            return {float(level): (infinite.copy(), str(error)) for level in levels}
        return {
            level: (
                np.column_stack([band.lower, band.upper]),
                f"{band.status.value}. {band.reason}" if band.reason else str(band.status.value),
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
