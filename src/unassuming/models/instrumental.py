"""A linear equation with endogenous columns, fitted by two-stage least squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import orth
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from unassuming._numerics import CUT, powers_of_two
from unassuming._typing import Array
from unassuming.inputs import Roles, column_roles
from unassuming.models.solvers import least_squares

Names: TypeAlias = Sequence[Any] | None


@final
class InstrumentalRegression(RegressorMixin, BaseEstimator):
    r"""Two-stage least squares: :math:`y = \gamma_0 + Z\gamma + X\beta + e` with instruments W.

    The endogenous columns X may depend on the noise e, as prices depend on demand. The instruments
    W and the controls Z do not, and the instruments act on y through X alone. Two-stage least
    squares minimises :math:`\|P(y - \gamma_0 - Z\gamma - X\beta)\|` with P the projection onto the
    columns 1, Z and W.

    The usual standard errors are badly wrong if the instruments move X only a little. The intervals
    of ``ua.confidence_region(model, X, y).summary()`` are exact for instruments of every strength,
    zero included.

    Parameters
    ----------
    endogenous : int, str, or sequence of them
        The columns of X that may depend on the noise, by number or name.
    instruments : int, str, or sequence of them
        The columns of X that move the endogenous ones and do not enter the equation themselves; at
        least as many as there are endogenous columns. All columns that are not named are controls;
        so are those that the steps of a pipeline make, and they must not mix endogenous columns in.
    fit_intercept : bool, default=True
        Whether the equation has an intercept.

    Attributes
    ----------
    coef_ : ndarray of shape (controls + endogenous,)
        The coefficients of the controls, in the order of the columns, then those of the endogenous
        columns, in the order in which they were named.
    intercept_ : float
        The intercept; 0 if there is none.
    controls_, endogenous_, instruments_ : ndarrays of int
        The numbers of the columns in each role.
    n_features_in_ : int
        Number of columns seen in `fit`, instruments included.
    feature_names_in_ : ndarray of str
        Names of the columns seen in `fit`, if all of them are strings.

    Examples
    --------
    >>> X, y, coefficients = ua.datasets.instrumented(n=200, strength=1.0, random_state=0)
    >>> model = ua.InstrumentalRegression(endogenous=0, instruments=2).fit(X, y)
    >>> model.controls_, model.coef_.round(2)
    (array([1]), array([-0.49,  0.7 ]))
    >>> model.predict([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]).round(2)  # the price, a control, the tax
    array([1.72, 2.42])
    """

    coef_: Array
    intercept_: float

    def __init__(self, *, endogenous: Any, instruments: Any, fit_intercept: bool = True) -> None:
        self.endogenous = endogenous
        self.instruments = instruments
        self.fit_intercept = fit_intercept

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the coefficients by two-stage least squares.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Controls, endogenous columns and instruments.
        y : array-like of shape (n,)
            Outputs.
        sample_weight : array-like of shape (n,), optional
            The weights w ≥ 0 of the rows, all one by default.

        Returns
        -------
        self
        """
        options: dict[str, Any] = {"dtype": np.float64, "y_numeric": True, "ensure_min_samples": 2}
        table, outputs = validate_data(self, X, y, **options)
        weights = _check_sample_weight(sample_weight, table, ensure_non_negative=True)
        names = getattr(self, "feature_names_in_", None)
        roles = roles_of(self, None if names is None else names.tolist(), table.shape[1])
        used = weights > 0
        equation = Equation.of(
            table[used], roles, weights[used], names, intercept=bool(self.fit_intercept)
        )
        theta = equation.solve(outputs[used].astype(np.float64))
        self.intercept_ = float(theta[0]) if self.fit_intercept else 0.0
        self.coef_ = theta[int(bool(self.fit_intercept)) :]
        for role in ("controls", "endogenous", "instruments"):
            setattr(self, f"{role}_", np.array(getattr(roles, role), dtype=np.intp))
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return the equation without its noise, at given controls and endogenous columns.

        This is what y would be on average if the endogenous columns were set to these values, not
        the mean of y among rows where they happen to have them.

        Parameters
        ----------
        X : array-like of shape (N, p)
            The same columns as in `fit`; the instruments play no part.

        Returns
        -------
        ndarray of shape (N,)
        """
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64)
        columns = np.concatenate([self.controls_, self.endogenous_])
        return np.asarray(table[:, columns] @ self.coef_ + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # it does not minimise the residuals
        return tags


@final
@dataclass(frozen=True, eq=False)
class Equation:
    """The columns of the equation and the exogenous ones, rows times the roots of their weights."""

    columns: Array  # [1, controls, endogenous columns]
    exogenous: Array  # [1, controls, instruments]
    basis: Array  # orthonormal, of the exogenous columns
    root: Array  # of the weights

    @classmethod
    def of(
        cls, X: Array, roles: Roles, weights: Array, names: Names, *, intercept: bool
    ) -> Equation:
        """Collect the columns; refuse instruments that the controls determine."""
        root = np.sqrt(weights)
        one = np.ones((len(X), int(intercept)))
        Z = root[:, None] * np.hstack([one, X[:, roles.controls]])
        W, x = (root[:, None] * X[:, part] for part in (roles.instruments, roles.endogenous))
        _require_instruments(Z, W, roles, names, intercept=intercept)
        exogenous = np.hstack([Z, W])
        return cls(np.hstack([Z, x]), exogenous, _basis(exogenous), root)

    def solve(self, y: Array) -> Array:
        """Return [intercept, controls, endogenous] by two-stage least squares."""
        return least_squares(self.basis.T @ self.columns, self.basis.T @ (self.root * y))


def _basis(columns: Array) -> Array:
    """Return an orthonormal basis of columns, whose units do not decide the rank."""
    unit = powers_of_two(np.linalg.norm(columns, axis=0))
    return np.asarray(orth(columns / unit, rcond=CUT))


def _require_instruments(
    Z: Array, W: Array, roles: Roles, names: Names, *, intercept: bool
) -> None:
    """Refuse an instrument that does not vary beyond controls and other instruments."""
    known, others = Z, "intercept, controls and other instruments" if intercept else "the others"
    for column, w in zip(roles.instruments, W.T, strict=True):
        Q = _basis(known)
        known = np.column_stack([known, w])
        if np.linalg.norm(w - Q @ (Q.T @ w)) > CUT * np.linalg.norm(w):
            continue
        if Q.shape[1] >= len(np.unique(np.hstack([Z, W]), axis=0)):
            return  # as many columns as rows: nothing is free to vary
        raise ValueError(
            f"instruments has a column that {f'follows from {others}' if w.any() else 'is zero'}: "
            f"expected instruments that vary beyond {others}, given "
            f"{column if names is None else repr(names[column])} (n_samples = {len(W)}). "
            "Leave it out."
        )


def roles_of(model: InstrumentalRegression, names: Names, width: int) -> Roles:
    """Return the columns in each role, of so many columns with these names."""
    return column_roles(model.endogenous, model.instruments, names, width)


def numbered_columns(model: Any, names: Names, width: int) -> Any:
    """Return a model with instruments with the numbers of its columns in place of names."""
    if not isinstance(model, InstrumentalRegression):
        return model
    roles = roles_of(model, names, width)
    numbered = clone(model)
    return numbered.set_params(endogenous=roles.endogenous, instruments=roles.instruments)
