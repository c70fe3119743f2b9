"""A classifier that predicts as usual and says which labels the data leave possible."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

import numpy as np
from joblib import hash as content_hash  # type: ignore[import-untyped]
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.linear_model import RidgeClassifier
from sklearn.utils import assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from unassuming._typing import Array, BoolArray
from unassuming.estimators._base import ConfidenceEstimator
from unassuming.inputs import require_labels
from unassuming.noise import Noise
from unassuming.regions import ATTAINED, Region, Remedy

KINDS = ("outer", "inner")
_MEMBERS = Remedy(
    "predict_set(X, kind='inner') and region_.band(X, inner=True) for values that members attain",
    None,
)


def _if_inner_has(name: str) -> Callable[[Any], Any]:
    """Return a decorator for methods that are there only if the estimator has them."""

    def check(self: ConfidenceClassifier) -> bool:
        getattr(getattr(self, "estimator_", self._inner()), name)  # its own error, if it has none
        return True

    return available_if(check)  # type: ignore[no-any-return]


class ConfidenceClassifier(ClassifierMixin, ConfidenceEstimator):
    """A classifier of two classes with a simultaneous confidence band of E[y|x].

    Predictions are those of the estimator itself. With labels ±1, +1 for ``classes_[1]``, the band
    bounds E[y|x] = 2 P(y = 1|x) - 1 at every input at once: it comes from the exact confidence
    region of regression functions (`unassuming.confidence_region` with label noise). `predict_set`
    says which labels are the likelier one for some member of the region.

    Transformers belong inside, as in ``ConfidenceClassifier(make_pipeline(StandardScaler(),
    RidgeClassifier()))``: a pipeline around this estimator hands them y, and one that uses it, such
    as SelectKBest, voids the guarantee unseen.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        RidgeClassifier, `unassuming.LSSVC` or LogisticRegression, or a Pipeline of unsupervised
        transformers ending in one; by default ``RidgeClassifier()``. The transformers are fitted
        without y. Outer bounds below 1 are found for models with at most 4 coefficients, the
        intercept included, whose fitted values are linear in them, and are tightest for 2; for all
        others ``kind="inner"``. Most data of well-separated classes refute a linear E[y|x]: the
        region is then empty, and so is every set.
    noise : str or Noise, default "labels"
        Any other assumption gives the published region, without a guarantee and with a warning.
    level : float, default 0.9
        Level of the bands.
    m : int, default 100
        Number of statistics; levels are multiples of 1/m.
    random_state : int, Generator, RandomState or None
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
        What kind of bounds `predict_band` or `predict_set` used last.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of str
        Their names, if X had any.

    Examples
    --------
    >>> import numpy as np
    >>> import unassuming as ua
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(200, 1))
    >>> y = np.where(rng.uniform(size=200) < (1 + 0.8 * X[:, 0]) / 2, "yes", "no")
    >>> model = ua.ConfidenceClassifier(random_state=0).fit(X, y)
    >>> model.classes_
    array(['no', 'yes'], dtype='<U3')
    >>> inputs = [[-0.9], [0.0], [0.9]]
    >>> model.predict(inputs)
    array(['no', 'no', 'yes'], dtype='<U3')
    >>> model.predict_band(inputs).shape
    (3, 2)
    >>> model.predict_set(inputs)
    array([[ True, False],
           [ True,  True],
           [False,  True]])
    >>> model.n_features_in_, bool(model.region_.contains([0.0, 0.8], level=0.99))
    (1, True)
    >>> print(model.band_status_)
    every bound is finite and an honest outer bound of the region. Members attain every bound up to
    2% of the width.
    >>> import pandas as pd
    >>> model.fit(pd.DataFrame(X, columns=["dose"]), y).feature_names_in_
    array(['dose'], dtype=object)
    """

    _kind = ClassifierMixin

    def __init__(
        self,
        estimator: Any = None,
        *,
        noise: str | Noise | None = "labels",
        level: float = 0.9,
        m: int | str = 100,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.noise = noise
        self.level = level
        self.m = m
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the estimator and build its region.

        Parameters
        ----------
        X, y : arrays or DataFrames
            The data; two different labels of any kind.
        sample_weight : array of shape (n,), optional
            Weights that do not depend on y, for the estimator and the region.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        """Predict labels as the estimator does.

        Parameters
        ----------
        X : array or DataFrame
            Inputs.

        Returns
        -------
        array of shape (N,)
        """
        return self._predict(X)

    @_if_inner_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the estimator, if it has any.

        Parameters
        ----------
        X : array or DataFrame
            Inputs.

        Returns
        -------
        array of shape (N, 2)

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y, f = ua.datasets.labels(n=40, random_state=0)
        >>> model = ua.ConfidenceClassifier(LogisticRegression(), random_state=0).fit(X, y)
        >>> model.predict_proba(X).shape
        (40, 2)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(deepcopy(X)))

    @_if_inner_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """Return the decision function of the estimator, positive for the second class.

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
        >>> X, y, f = ua.datasets.labels(n=40, random_state=0)
        >>> ua.ConfidenceClassifier(random_state=0).fit(X, y).decision_function(X).shape
        (40,)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(deepcopy(X)))

    def predict_band(self, X: Any, level: Any = None) -> Any:
        """Return lower and upper bounds of E[y|x] at every input: a simultaneous band.

        They are outer bounds of the region, cut to [-1, 1], where E[y|x] lies anyway. Bounds of the
        probability P(y = 1|x) are ``(1 + band) / 2``. If the region is empty, which means that the
        data contradict the model, lower is inf and upper is -inf. One search serves all inputs: the
        bounds at an input differ a little with the inputs that are asked for beside it.

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
        bands = self._predict_band(X, level)
        if isinstance(bands, dict):
            return {p: _cut(band) for p, band in bands.items()}
        return _cut(bands)

    def predict_set(self, X: Any, level: Any = None, kind: str = "outer") -> Any:
        """Return which labels may be the likelier one at every input.

        With ``kind="outer"`` a label is dropped only where an outer bound of E[y|x] excludes it: no
        member of the region prefers it there. With ``kind="inner"`` a label is kept only where a
        member that was found prefers it: the optimistic set, a subset of the other. If the region
        is empty, no label is left.

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
            Column j belongs to ``classes_[j]``; a row with two of them is undecided.

        Examples
        --------
        >>> import unassuming as ua
        >>> X, y, f = ua.datasets.labels(n=60, d=1, random_state=0)
        >>> model = ua.ConfidenceClassifier(random_state=0).fit(X, y)
        >>> kept = model.predict_set(X)
        >>> found = model.predict_set(X, kind="inner")
        >>> int(kept.sum()) >= int(found.sum()), bool((found <= kept).all())
        (True, True)
        """
        if kind not in KINDS:
            raise ValueError(
                f"kind is unknown: expected 'outer' or 'inner', given {kind!r}. Leave it out."
            )
        if kind == "inner":
            return self._inner_sets(X, level)
        bands = self._predict_band(X, level)
        if isinstance(bands, dict):
            return {p: _possible(*band.T) for p, band in bands.items()}
        return _possible(*bands.T)

    @property
    def classes_(self) -> Any:
        """The two labels."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _inner_sets(self, X: Any, level: Any) -> Any:
        count = len(self._predict(X))
        asked = self.level if level is None else level
        bands = self.region_.band(X, level=np.atleast_1d(asked).tolist(), inner=True)
        none = np.full(count, np.inf), np.full(count, -np.inf)
        sets = {
            p: _possible(*(none if b.inner_lower is None else (b.inner_lower, b.inner_upper)))
            for p, b in bands.items()
        }
        return sets if np.ndim(asked) == 1 else next(iter(sets.values()))

    def _inner(self) -> Any:
        return RidgeClassifier() if self.estimator is None else self.estimator

    def _check_kind(self, model: Any) -> None:
        if not is_classifier(model):
            raise TypeError(
                "estimator is no classifier: expected RidgeClassifier, ua.LSSVC or "
                f"LogisticRegression, given {type(model).__name__}. Use ua.ConfidenceRegressor for "
                "a regressor."
            )

    def _one_output(self, y: Any) -> Array:
        labels = super()._one_output(y)
        if labels.dtype.kind == "O":
            require_labels(labels)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        kind = type_of_target(labels, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}: "
                f"expected two different labels, given {len(np.unique(labels))} classes. Compare "
                "one class with the others, or two at a time."
            )
        if len(np.unique(labels)) < 2:
            raise ValueError(
                "y has one class only: expected two different labels, given "
                f"{np.unique(labels).tolist()!r}. Include rows of both classes."
            )
        return labels

    def _band_of(self, region: Region, X: Any, levels: list[float]) -> dict[float, Any]:
        """Search once for the same inputs, of which band and set are often asked together."""
        asked = content_hash((X, levels))
        last = getattr(self, "_last", None)
        if last is None or last[0] is not region or last[1] != asked:
            last = self._last = region, asked, dict(region.band(X, level=levels))
        return dict(last[2])

    def _status_of(self, band: Any) -> str:
        """Say it with the method that shows what members attain."""
        return super()._status_of(band, band.explanation.replaced(ATTAINED, _MEMBERS).text())


def _cut(band: Array) -> Array:
    """Cut bounds to [-1, 1], unless they say that there is no member."""
    empty = band[:, :1] > band[:, 1:]
    return np.where(empty, band, np.clip(band, -1.0, 1.0))


def _possible(lower: Array, upper: Array) -> BoolArray:
    """Return which of the labels -1 and +1 some value between the bounds prefers, (N, 2)."""
    return np.stack([lower <= 0, upper >= 0], axis=1)
