"""Kernel models that scikit-learn lacks: f(x) = b + Σ_j a_j k(x, x_j)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from unassuming._typing import Array
from unassuming.kernels import KernelLike, gram, require_positive_semidefinite
from unassuming.models.solvers import kernel_huber, kernel_ridge, l1_least_squares


@dataclass(eq=False, repr=False, kw_only=True)
class KernelModel(BaseEstimator, ABC):
    """A kernel, checks, fitting and prediction; a model says what its coefficients minimise."""

    kernel: KernelLike = "linear"
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    kernel_params: Mapping[str, Any] | None = None

    _positive: ClassVar[tuple[str, ...]]
    """The parameters that must be positive."""

    @abstractmethod
    def _minimum(self, X: Array, y: Any, weights: Array) -> tuple[float, Array]:
        """Return b and a."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training inputs, or their Gram matrix if the kernel is precomputed.
        y : array-like of shape (n,)
            Targets; two different labels for a classifier.
        sample_weight : array-like of shape (n,), optional
            The weights w ≥ 0 of the losses, all one by default.

        Returns
        -------
        self
        """
        for name in self._positive:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 0.0:
                raise ValueError(
                    f"{name} of {type(self).__name__} is not usable: expected a positive number, "
                    f"given {value!r}. Set {name} to a positive number."
                )
        numeric, kind = is_regressor(self), np.float64
        rows, y = validate_data(self, X, y, dtype=kind, order="C", y_numeric=numeric)
        weights = _check_sample_weight(sample_weight, rows, dtype=kind, ensure_non_negative=True)
        self.intercept_, self.dual_coef_ = self._minimum(rows, y, weights)
        self.X_fit_ = rows.copy()
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict with the fitted function.

        Parameters
        ----------
        X : array-like of shape (N, d)
            Inputs, or the kernel values with the training inputs if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (N,)
        """
        return self._values(X)

    def _gram(self, X: Array, Z: Array | None = None) -> Array:
        """Return the kernel values between the rows of X and those of Z, or of X itself."""
        named: dict[str, Any] = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return gram(self.kernel, X, Z, params=self.kernel_params, **named)

    def _semidefinite(self, X: Array) -> Array:
        """Return the Gram matrix, refused if indefinite beyond rounding: in float32 if given."""
        K, tolerance = self._gram(X), 1e-6 if self.kernel == "precomputed" else 0.0
        values: Array = np.asarray(np.linalg.eigvalsh(K), dtype=np.float64)
        require_positive_semidefinite(values, type(self).__name__, tolerance=tolerance)
        return K

    def _values(self, X: ArrayLike) -> Array:
        """Return the values of the fitted function."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return np.asarray(self._gram(rows, self.X_fit_) @ self.dual_coef_ + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


@final
@dataclass(eq=False, repr=False, kw_only=True)
class KernelLasso(RegressorMixin, KernelModel):
    r"""Kernel lasso: minimise :math:`\tfrac{1}{2}\|y - Ka\|^2 + \alpha\|a\|_1`.

    The fitted function is :math:`f(x) = \sum_j a_j k(x, x_j)`, without an intercept. The kernel
    need only be symmetric. With weights the loss is :math:`\tfrac{1}{2}\sum_j w_j (y - Ka)_j^2`; a
    row of weight zero is left out, and its coefficient is zero. A region needs equal weights.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty, positive.
    kernel : str, gaussian_process kernel or callable, default="linear"
        As in :class:`sklearn.kernel_ridge.KernelRidge`: a name, a kernel object, a function of two
        sample vectors, or ``"precomputed"``.
    gamma, degree, coef0, kernel_params : default None, 3, 1 and None
        Parameters of the kernel, as in :class:`sklearn.kernel_ridge.KernelRidge`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        The coefficients a; inactive ones are exactly zero.
    intercept_ : float
        Zero: the model has no intercept.
    X_fit_ : ndarray of shape (n, d)
        The training inputs, or the Gram matrix if the kernel is precomputed.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [3.0, 0.2, -2.0, 0.0]
    >>> model = KernelLasso(alpha=0.5, kernel="rbf", gamma=50.0).fit(X, y)
    >>> model.dual_coef_
    array([ 2.5,  0. , -1.5,  0. ])
    >>> model.predict([[0.0]]).round(3)
    array([2.5])
    """

    alpha: float = field(default=1.0, kw_only=False)
    _positive: ClassVar[tuple[str, ...]] = ("alpha",)

    def _minimum(self, X: Array, y: Any, weights: Array) -> tuple[float, Array]:
        kept, a = weights > 0, np.zeros(len(y))
        root = np.sqrt(weights[kept])
        design = root[:, None] * self._gram(X)[np.ix_(kept, kept)]
        a[kept] = l1_least_squares(design, root * y[kept], np.full(len(root), float(self.alpha)))
        return 0.0, a


@final
@dataclass(eq=False, repr=False, kw_only=True)
class KernelHuber(RegressorMixin, KernelModel):
    r"""Kernel Huber regression: :math:`\min \sum_j w_j h_\delta(r_j) + \tfrac{\alpha}{2} a^T K a`.

    The residuals are :math:`r = y - Ka`, and :math:`h_\delta(r) = r^2/2` for
    :math:`|r| \le \delta`, :math:`\delta|r| - \delta^2/2` beyond. For a large threshold this is
    kernel ridge regression with the same `alpha`. There is no intercept.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty, positive.
    delta : float, default=1.0
        The threshold, positive, in the units of y. It is fixed, not estimated.
    kernel, gamma, degree, coef0, kernel_params : default "linear", None, 3, 1 and None
        As for :class:`KernelLasso`; the kernel must be positive semidefinite.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        The coefficients a, with :math:`\alpha a = w \odot \mathrm{clip}(r, \pm\delta)`.
    intercept_, X_fit_, n_features_in_
        As for :class:`KernelLasso`.

    Examples
    --------
    An outlier pulls with the strength of the threshold, whatever its size:

    >>> X, y = [[1.0], [1.0], [1.0]], [1.0, 1.0, 1000.0]
    >>> KernelHuber(alpha=1.0, delta=0.5, kernel="rbf").fit(X, y).predict([[1.0]])
    array([0.83333333])
    """

    alpha: float = field(default=1.0, kw_only=False)
    delta: float = 1.0
    _positive: ClassVar[tuple[str, ...]] = ("alpha", "delta")

    def _minimum(self, X: Array, y: Any, weights: Array) -> tuple[float, Array]:
        K, alpha, delta = self._semidefinite(X), float(self.alpha), float(self.delta)
        return 0.0, kernel_huber(K, y.astype(np.float64), alpha, delta, weights)


@final
@dataclass(eq=False, repr=False, kw_only=True)
class LSSVC(ClassifierMixin, KernelModel):
    r"""Least-squares SVM classifier: minimise :math:`\tfrac{1}{2}\|w\|^2 + C\sum_j \xi_j^2`.

    The slacks are :math:`\xi_j = 1 - y_j(\langle w, \varphi(x_j)\rangle + b)` for labels
    :math:`y_j = \pm 1`. Since :math:`y_j^2 = 1`, their squares are those of the residuals: this is
    kernel ridge regression on the labels with penalty :math:`1/(2C)` and an unpenalised bias.

    The published confidence region assumes that the slacks are symmetric given the inputs. Those of
    labels are not, so that region carries no coverage guarantee. The region with ``noise="labels"``
    is exact.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the slacks, positive.
    kernel, gamma, degree, coef0, kernel_params : default "linear", None, 3, 1 and None
        As for :class:`KernelLasso`; the kernel must be positive semidefinite.
    fit_intercept : bool, default=True
        Whether there is a bias.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels; the second one is +1.
    dual_coef_ : ndarray of shape (n,)
        The coefficients a of the kernel expansion: :math:`a = 2C\, w \odot (y - b - Ka)` with
        the sample weights w.
    intercept_ : float
        The bias b.
    X_fit_, n_features_in_
        As for :class:`KernelLasso`.

    Examples
    --------
    >>> X = [[0.0], [1.0], [4.0], [5.0]]
    >>> model = LSSVC(C=10.0).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.5], [4.5]])
    array(['low', 'high'], dtype='<U4')
    """

    C: float = field(default=1.0, kw_only=False)
    fit_intercept: bool = True
    _positive: ClassVar[tuple[str, ...]] = ("C",)

    def _minimum(self, X: Array, y: Any, weights: Array) -> tuple[float, Array]:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        present = np.unique(codes[weights > 0.0])
        if len(self.classes_) != 2 or len(present) != 2:
            few = f"one class, {self.classes_[present][0]}," if len(present) < 2 else "more classes"
            raise ValueError(
                "Only binary classification is supported. y does not have two classes among the "
                f"rows of positive weight: expected two different labels, given {few}. Include "
                "rows of both classes, or use OneVsOneClassifier."
            )
        K, alpha, intercept = self._semidefinite(X), 1.0 / (2.0 * float(self.C)), self.fit_intercept
        signs = np.where(codes > 0, 1.0, -1.0)
        return kernel_ridge(K, signs, alpha, weights, fit_intercept=bool(intercept))

    def decision_function(self, X: ArrayLike) -> Array:
        """Return b + Σ_j a_j k(x, x_j) at X (N, d), positive for the second class, shape (N,).

        Examples
        --------
        >>> model = LSSVC(C=0.5).fit([[-1.0], [1.0]], ["no", "yes"])
        >>> model.decision_function([[0.0], [3.0]]).round(3)
        array([0., 2.])
        """
        return self._values(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels by the sign of the decision function at X (N, d), shape (N,)."""
        positive = self._values(X) > 0.0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
