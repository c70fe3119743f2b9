"""A classifier that predicts as usual and reports which labels the data leave possible."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from typing import Any, final

import numpy as np
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from unassuming._errors import NotAvailable, levels_to_user
from unassuming._typing import Array, BoolArray
from unassuming.estimators.base import ConfidenceEstimator, by_level
from unassuming.inputs import as_signs, require_labels
from unassuming.models import LSSVC
from unassuming.noise import Noise
from unassuming.objectives import factory_for
from unassuming.regions import Band, Region


def _if_model_has(name: str) -> Callable[[Any], Any]:
    """Return a decorator for methods that exist only if the estimator has them."""

    def check(self: ConfidenceClassifier) -> bool:
        getattr(getattr(self, "estimator_", self._model()), name)  # raises its own error if not
        return True

    return available_if(check)  # type: ignore[no-any-return]


@final
@dataclass(eq=False, repr=False)
class ConfidenceClassifier(ClassifierMixin, ConfidenceEstimator):
    """A classifier of two classes with a simultaneous confidence band of E[y|x].

    Predictions are those of the estimator itself. With labels ±1, +1 for ``classes_[1]``, the band
    bounds E[y|x] = 2 P(y = 1|x) - 1 at all inputs at once. It comes from the exact confidence
    region of regression functions (`unassuming.confidence_region` with label noise). `predict_set`
    reports which labels are the likelier one for some function in the region.

    Put transformers inside, as in ``ConfidenceClassifier(make_pipeline(StandardScaler(),
    RidgeClassifier()))``: a pipeline around this estimator passes y to them, and one that uses y,
    such as SelectKBest, voids the guarantee.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        RidgeClassifier, `unassuming.LSSVC` or LogisticRegression, or a Pipeline of unsupervised
        transformers ending in one; by default ``RidgeClassifier()``. Outer bounds below 1 are found
        for models whose E[y|x] is linear in at most 4 coefficients; for others use
        ``kind="inner"``. Well-separated classes refute a linear E[y|x]: every set is then empty.
    noise : str or Noise, default "labels"
        Any other assumption gives the published region, without a guarantee and with a warning.
    level : float, default 0.95
        Level of the bands.
    m : int, default 128
        Number of statistics; levels are multiples of 1/m.
    classes : sequence of two labels, optional
        Both labels in increasing order, for data in which only one may occur; not needed for 0 and
        1, -1 and 1 or booleans. The predictions are then those of the region's estimate.
    random_state : int, Generator, RandomState or None, default 0
        Source of the fresh labels and of random features.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; E[y|x] is positive where the second is the likelier one.
    estimator_ : estimator
        The fitted model; a Pipeline if one was given.
    region_ : Region
        The confidence region.
    band_status_ : str or dict
        The kind of bounds that `predict_band` or `predict_set` used last.
    n_features_in_, feature_names_in_
        Number of columns seen in `fit`, and their names if X had any.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"dose": rng.uniform(-1, 1, size=200)})
    >>> y = np.where(rng.uniform(size=200) < (1 + 0.8 * X["dose"]) / 2, "yes", "no")
    >>> model = ua.ConfidenceClassifier(random_state=0).fit(X, y)
    >>> inputs = pd.DataFrame({"dose": [-0.9, 0.0, 0.9]})
    >>> model.predict(inputs)
    array(['no', 'no', 'yes'], dtype='<U3')
    >>> model.predict_set(inputs)
    array([[ True, False],
           [ True,  True],
           [False,  True]])
    >>> model.decision_function(inputs).shape, model.predict_band(inputs).shape
    ((3,), (3, 2))
    >>> print(model.band_status_)
    every bound is finite and an honest outer bound of the region
    >>> model.n_features_in_, model.feature_names_in_.tolist(), model.classes_.tolist()
    (1, ['dose'], ['no', 'yes'])
    >>> bool(model.region_.contains([0.0, 0.8], level=0.99))
    True
    >>> from sklearn.linear_model import LogisticRegression
    >>> ua.ConfidenceClassifier(LogisticRegression()).fit(X, y).predict_proba(inputs).shape
    (3, 2)
    """

    estimator: Any = None
    _: KW_ONLY
    noise: str | Noise | None = "labels"
    level: float = 0.95
    m: int | str = 128
    classes: Any = None
    random_state: Any = 0

    _limit = 1.0

    @_if_model_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the estimator at inputs X, (N, 2), if it has any."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(deepcopy(X)))

    @_if_model_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """Return the decision function at inputs X, (N,), positive for the second class."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(deepcopy(X)))

    def predict_set(self, X: Any, level: Any = None, kind: str = "outer") -> Any:
        """Return which labels may be the likelier one at every input.

        With ``kind="outer"`` a label is dropped only if an outer bound of E[y|x] excludes it: no
        function in the region prefers it. With ``kind="inner"`` a label is kept only if a known
        function prefers it: a subset of the other. If the region is empty, so is every set.

        Parameters
        ----------
        X : array or DataFrame
            Inputs.
        level : float or sequence of floats, optional
            By default the level of the estimator.
        kind : {"outer", "inner"}, default "outer"

        Returns
        -------
        boolean array of shape (N, 2), or a dict of them for several levels
            Column j belongs to ``classes_[j]``; an input with both labels is undecided.
        """
        if kind not in ("outer", "inner"):
            raise ValueError(
                f"kind is unknown: expected 'outer' or 'inner', given {kind!r}. Leave it out."
            )
        if kind == "inner":
            return self._inner_sets(X, level)
        return self._bounds(X, level, self._outer_sets)

    @property
    def classes_(self) -> Any:
        """The two labels."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _outer_sets(self, bounds: Array) -> BoolArray:
        """Return the labels that bounds (N, 2) leave; warn once if they say nothing."""
        nothing = (bounds[:, 0] <= -1) & (bounds[:, 1] >= 1)
        if len(bounds) and nothing.all() and self._warned is not self.region_:
            self._warned = self.region_
            warnings.warn(
                "every set holds both labels, since nothing is known about E[y|x] beyond [-1, 1]; "
                "band_status_ says why",
                UserWarning,
                stacklevel=levels_to_user(),
            )
        return _possible(bounds)

    def _inner_sets(self, X: Any, level: Any) -> Any:
        none = np.full(len(self.predict(X)), np.nan)
        asked, sets = self.level if level is None else level, {}
        bands = self.region_.band(X, level=np.atleast_1d(asked).tolist(), inner=True)
        for p, band in bands.items():
            ends = (none if end is None else end for end in (band.inner_lower, band.inner_upper))
            sets[p] = _possible(np.column_stack([*ends]))
        return by_level(sets, asked)

    def _model(self) -> Any:
        return RidgeClassifier() if self.estimator is None else self.estimator

    def _check(self, model: Any) -> None:
        factory_for(model, ClassifierMixin)
        if not is_classifier(model):
            raise TypeError(
                "estimator is not a classifier: expected RidgeClassifier, ua.LSSVC or "
                f"LogisticRegression, given {type(model).__name__}. Use ua.ConfidenceRegressor for "
                "a regressor."
            )

    def _targets(self, y: Array, rows: BoolArray, model: Any) -> tuple[Array, dict[str, Any]]:
        if y.dtype.kind == "O":
            require_labels(y)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}: "
                f"expected two different labels, given {len(np.unique(y))} classes. Compare one "
                "class with the others, or two at a time."
            )
        classes, _ = as_signs(y, rows, self.classes)
        ordered = np.unique(classes).tolist()
        if classes.tolist() != ordered:
            raise ValueError(
                f"classes are not in increasing order: expected {ordered}, given "
                f"{classes.tolist()}. Exchange them."
            )
        second, about_y = y == classes[1], {"classes": classes}
        known = isinstance(model, (RidgeClassifier, LogisticRegression, LSSVC))
        if not known or len(np.unique(second[rows])) == 2:
            return y, about_y
        # Its own fit refuses labels of one class: the first row gets the other one, and the fit is
        # that of other data until `_use_estimate` replaces it.
        moved = np.arange(len(y)) == int(np.argmax(rows))
        return classes[np.where(moved, ~second, second).astype(np.intp)], about_y

    def _use_estimate(self, fitted: Any, region: Region | NotAvailable) -> None:
        model = fitted[-1] if isinstance(fitted, Pipeline) else fitted
        if isinstance(region, NotAvailable):
            raise region
        try:
            a = region.estimate
        except NotAvailable as error:
            raise ValueError(
                f"y has one class only, for which {type(model).__name__} has no fit: expected rows "
                "of both, given equal labels. Use RidgeClassifier or ua.LSSVC, or "
                "fit_intercept=False."
            ) from error
        data, design = region.problem.data("predictions need"), region.problem.design("predictions")
        bias = float(a[0]) if design.intercept else 0.0
        if isinstance(model, LSSVC):
            # The optimality condition a = 2C w ⊙ (y - f); rows of weight zero have no part in f.
            weight = np.ones(region.n) if data.weight is None else data.weight
            residuals = region.objective.residuals(a[None, :])[0]
            model.dual_coef_ = np.zeros(len(data.rows))
            model.dual_coef_[data.rows] = 2 * model.C * weight * residuals
            model.intercept_ = bias
        else:
            model.coef_ = a[int(design.intercept) :].reshape(model.coef_.shape)
            model.intercept_ = np.full_like(model.intercept_, bias)

    def _bands(self, region: Region, X: Any, levels: list[float]) -> dict[float, Band]:
        return dict(region.band(X, level=levels))


def _possible(bounds: Array) -> BoolArray:
    """Return which of the labels -1 and +1 some value between the bounds prefers, (N, 2)."""
    return np.stack([bounds[:, 0] <= 0, bounds[:, 1] >= 0], axis=1)
