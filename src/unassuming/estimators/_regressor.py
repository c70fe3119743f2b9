"""A regressor that predicts as usual and carries its confidence region along."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, is_classifier
from sklearn.linear_model import Ridge
from sklearn.utils import get_tags

from unassuming._typing import Array
from unassuming.estimators._base import ConfidenceEstimator
from unassuming.inputs import check_norm_bound
from unassuming.noise import Noise
from unassuming.regions import Region


class ConfidenceRegressor(RegressorMixin, ConfidenceEstimator):
    """A regressor with a simultaneous confidence band, exact in finite samples.

    Predictions are those of the estimator itself. The band comes from the confidence region of its
    coefficients (`unassuming.confidence_region`), at every input at once. It covers the ideal
    representation, which agrees with the noise-free function at the training inputs and need not
    elsewhere; with a kernel and a norm bound it covers the function itself.

    Hyper-parameters must not be chosen with the same y: a search around this estimator gives a
    band without a guarantee. Use `unassuming.tuned_region` for that. Transformers belong inside, as
    in ``ConfidenceRegressor(make_pipeline(StandardScaler(), Ridge()))``: a pipeline around this
    estimator hands them y, and one that uses it, such as SelectKBest, voids the guarantee unseen.

    Parameters
    ----------
    estimator : scikit-learn regressor, optional
        A model that `unassuming.confidence_region` supports, or a Pipeline of unsupervised
        transformers ending in one; by default ``Ridge()``. The transformers are fitted without y,
        for the model and for the region separately and with the same seeds: one that draws
        without a parameter ``random_state`` gives them different features and is refused.
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
        do, whatever parameters were set since; before any call, of those that it would return for
        the training inputs. A dict if several levels were asked for.
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

    _kind = RegressorMixin

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
        self._fit(X, y, sample_weight)
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
        return np.asarray(self._predict(X))

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
        return self._predict_band(X, level)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags = get_tags(self._inner()).regressor_tags
        return tags

    def _inner(self) -> Any:
        return Ridge() if self.estimator is None else self.estimator

    def _check_kind(self, model: Any) -> None:
        if is_classifier(model):
            raise TypeError(
                f"estimator is a classifier: expected a regressor, given {type(model).__name__}. "
                "Use ua.ConfidenceClassifier."
            )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_norm_bound(self.norm_bound)

    def _band_of(self, region: Region, X: Any, levels: list[float]) -> dict[float, Any]:
        return dict(region.band(X, level=levels, norm_bound=self.norm_bound))
