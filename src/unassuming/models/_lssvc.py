"""The least-squares support vector classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data

from unassuming._typing import Array
from unassuming.kernels import KernelLike
from unassuming.models._base import KernelModel
from unassuming.models.solvers import kernel_ridge


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
    kernel : str, gaussian_process kernel or callable, default="linear"
        As in :class:`sklearn.kernel_ridge.KernelRidge`: a name, a kernel object, a function of two
        sample vectors, or ``"precomputed"``. It must be positive semidefinite.
    gamma, degree, coef0, kernel_params : default None, 3, 1 and None
        Parameters of the kernel, as in :class:`sklearn.kernel_ridge.KernelRidge`.
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
    X_fit_ : ndarray of shape (n, d)
        The training inputs, or the Gram matrix if the kernel is precomputed.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    >>> X = [[0.0], [1.0], [4.0], [5.0]]
    >>> model = LSSVC(C=10.0).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.5], [4.5]])
    array(['low', 'high'], dtype='<U4')
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        fit_intercept: bool = True,
    ) -> None:
        super().__init__(kernel, gamma, degree, coef0, kernel_params)
        self.C = C
        self.fit_intercept = fit_intercept

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the coefficients and the bias.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training inputs, or their Gram matrix if the kernel is precomputed.
        y : array-like of shape (n,)
            Two different labels.
        sample_weight : array-like of shape (n,), optional
            The weights w ≥ 0 of the squared slacks, all one by default.

        Returns
        -------
        self
        """
        self._require_positive("C")
        rows, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        weights = self._weights(sample_weight, rows)
        signs = self._signs(labels, weights)
        self.intercept_, self.dual_coef_ = kernel_ridge(
            self._semidefinite_gram(rows),
            signs,
            1.0 / (2.0 * float(self.C)),
            weights,
            fit_intercept=bool(self.fit_intercept),
        )
        self.X_fit_ = rows.copy()
        return self

    def _signs(self, labels: NDArray[Any], weights: Array) -> Array:
        """Set ``classes_`` and turn the labels into ±1."""
        check_classification_targets(labels)
        kind = type_of_target(labels, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(
                "Only binary classification is supported. y does not have two classes: expected "
                f"two different labels, given a {kind} target. Use one LSSVC per pair of classes, "
                "as OneVsOneClassifier does."
            )
        self.classes_, codes = np.unique(labels, return_inverse=True)
        present = np.unique(codes[weights > 0.0])
        if present.size != 2:
            raise ValueError(
                "y has one class only among the rows of positive weight: expected two different "
                f"labels, given the class {self.classes_[present[0]]}. Include rows of both "
                "classes."
            )
        return 2.0 * codes.astype(np.float64) - 1.0

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the fitted function, which is positive for the second class.

        Parameters
        ----------
        X : array-like of shape (N, d)
            Inputs, or the kernel values with the training inputs if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (N,)
            The values b + Σ_j a_j k(x, x_j).

        Examples
        --------
        >>> model = LSSVC(C=0.5).fit([[-1.0], [1.0]], ["no", "yes"])
        >>> model.decision_function([[0.0], [3.0]]).round(3)
        array([0., 2.])
        """
        return self._values(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels by the sign of the fitted function.

        Parameters
        ----------
        X : array-like of shape (N, d)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (N,)
            Labels out of ``classes_``.
        """
        positive = self._values(X) > 0.0
        labels: NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
