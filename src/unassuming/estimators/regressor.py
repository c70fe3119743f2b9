"""A regressor that predicts as usual and has a confidence region."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, final

import numpy as np
from sklearn.base import RegressorMixin, is_classifier
from sklearn.linear_model import Ridge
from sklearn.utils import get_tags

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.estimators.base import ConfidenceEstimator, by_level
from unassuming.inputs import check_norm_bound
from unassuming.noise import Noise
from unassuming.objectives import factory_for
from unassuming.regions import Band, Region


@final
@dataclass(eq=False, repr=False)
class ConfidenceRegressor(RegressorMixin, ConfidenceEstimator):
    """A regressor with a simultaneous confidence band, exact in finite samples.

    Predictions are those of the estimator itself. The band comes from the confidence region of its
    coefficients (`unassuming.confidence_region`), and holds at all inputs at once. It covers the
    function of the true coefficients, which agrees with the regression function at the training
    inputs; with a kernel and a norm bound it covers the regression function itself.

    Do not choose hyper-parameters with the same y: use `unassuming.tuned_region`. Put transformers
    inside, as in ``ConfidenceRegressor(make_pipeline(StandardScaler(), Ridge()))``: a pipeline
    around this estimator passes y to them, and one that uses y, such as SelectKBest, voids the
    guarantee.

    Parameters
    ----------
    estimator : scikit-learn regressor, optional
        A model that `unassuming.confidence_region` supports, or a Pipeline of unsupervised
        transformers ending in one; by default ``Ridge()``. The transformers are fitted without y.
    noise : str or Noise, optional
        The assumption on the noise; symmetric by default.
    level : float, default 0.95
        Level of the bands.
    m : int or "all", default 128
        Number of statistics; levels are multiples of 1/m.
    norm_bound : float, optional
        A bound that you assume for the norm of the coefficients, or of the function for kernels.
    random_state : int, Generator, RandomState or None, default 0
        Source of the transformations and of random features.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model; a Pipeline if one was given.
    region_ : Region
        The confidence region, for membership, tests, intervals and everything else. It raises
        `NotAvailable` if `sample_weight` varies and the model has a region only for equal weights.
    band_status_ : str or dict
        Whether the bounds that `predict_band` returned last are finite, and if not, why and what to
        do; before any call, those at the training inputs. A dict for several levels.
    n_features_in_, feature_names_in_
        Number of columns seen in `fit`, and their names if X had any.

    Notes
    -----
    `sample_weight` in `fit` goes to the model and to the region, also through a pipeline: metadata
    routing needs only ``set_fit_request(sample_weight=True)``.

    Examples
    --------
    >>> import pandas as pd
    >>> Z = pd.DataFrame(X, columns=["dose", "age"])
    >>> model = ua.ConfidenceRegressor(LinearRegression(), random_state=0).fit(Z, y)
    >>> model.predict(Z[:2]).round(2)
    array([0.62, 1.14])
    >>> model.predict_band(Z[:2]).round(2)
    array([[0.31, 0.95],
           [0.76, 1.51]])
    >>> print(model.band_status_)
    every bound is finite and an honest outer bound of the region
    >>> model.region_.contains(coefficients, level=0.99)
    True
    >>> model.n_features_in_, model.feature_names_in_.tolist()
    (2, ['dose', 'age'])
    """

    estimator: Any = None
    _: KW_ONLY
    noise: str | Noise | None = None
    level: float = 0.95
    m: int | str = 128
    norm_bound: float | None = None
    random_state: Any = 0

    def predict_mean_interval(self, X: Any, level: Any = None) -> Any:
        """Return lower and upper bounds of the mean outcome at every input, one at a time.

        They bound the regression function, not the next observation: for that use a conformal
        method, such as ``mapie.regression.SplitConformalRegressor``. Each interval has its level by
        itself, and is narrower than the band at most inputs. Choosing the narrower of the two after
        seeing both voids the level. A kernel model needs ``norm_bound``.

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
        >>> model = ua.ConfidenceRegressor(random_state=0).fit(X, y)
        >>> model.predict_mean_interval(X[:2]).round(2)
        array([[0.43, 0.83],
               [0.94, 1.37]])
        """
        self.predict(X)  # the estimator checks X and its column names
        asked = self.level if level is None else level
        levels = np.atleast_1d(asked).tolist()
        found = self.region_.band(X, level=levels, norm_bound=self.norm_bound, simultaneous=False)
        bounds = {p: np.column_stack([band.lower, band.upper]) for p, band in found.items()}
        return by_level(bounds, asked)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags = get_tags(self._model()).regressor_tags
        return tags

    def _model(self) -> Any:
        return Ridge() if self.estimator is None else self.estimator

    def _check(self, model: Any) -> None:
        factory_for(model, RegressorMixin)
        if is_classifier(model):
            raise TypeError(
                "estimator is a classifier: expected a regressor, given "
                f"{type(model).__name__}. Use ua.ConfidenceClassifier."
            )
        check_norm_bound(self.norm_bound)

    def _targets(self, y: Array, rows: BoolArray, model: Any) -> tuple[Array, dict[str, Any]]:
        del rows, model
        return y, {}

    def _use_estimate(self, fitted: Any, region: Region | NotAvailable) -> None:
        """Nothing: a regressor is fitted to y itself."""

    def _bands(self, region: Region, X: Any, levels: list[float]) -> dict[float, Band]:
        return dict(region.band(X, level=levels, norm_bound=self.norm_bound, method="auto"))
