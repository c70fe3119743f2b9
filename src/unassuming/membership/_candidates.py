"""Candidates in any form become coefficients and residuals (docs/theory.md 1).

A candidate is a coefficient vector, a function of X or a fitted estimator. A function need not be
in the range of the model: its values then replace the fitted values of its coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn.base import BaseEstimator

from unassuming._typing import Array, IntArray
from unassuming._words import spoken
from unassuming.inputs import Data, as_finite
from unassuming.objectives import (
    ROTATED,
    Objective,
    fitted_coefficients,
    fitted_values,
    in_basis,
    rounding_of_difference,
)

FITTED = (
    "If this candidate was fitted to the same y, the p-value is not a valid test: the candidate "
    "was chosen by looking at the data. Its membership is meaningful."
)


@final
@dataclass(frozen=True, eq=False)
class Candidates:
    """N candidates."""

    coefficients: Array  # (N, d)
    values: Array | None  # (N, n): f(x) of callables; None if coefficients give all candidates
    single: bool  # whether one candidate was asked for, so that the answer is a number
    caveat: str = ""  # repeated in the result

    def __len__(self) -> int:
        return len(self.coefficients)

    def residuals(self, objective: Objective, which: slice | IntArray) -> Array:
        """Return the residuals of some of the candidates, shape (*, n)."""
        with np.errstate(over="ignore", invalid="ignore"):  # the engine reports overflow
            if self.values is None:
                return objective.residuals(self.coefficients[which])
            return objective.y - self.values[which]

    def residual_error(self, objective: Objective, which: slice | IntArray, r: Array) -> Array:
        """Bound the rounding errors of these residuals, shape (*, n)."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.values is None:
                return objective.residual_error(self.coefficients[which], r)
            values = self.values[which]
            plain = rounding_of_difference(objective.y, values) + objective.y_error
            return plain if objective.basis is None else plain + _rotation(objective.basis, values)

    def accurate_residuals(
        self, objective: Objective, which: slice | IntArray
    ) -> tuple[Array, Array] | None:
        """Return residuals in twice the precision, and their errors; None if unavailable."""
        if self.values is not None:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            return objective.accurate_residuals(self.coefficients[which])


def resolve(candidates: Any, objective: Objective, data: Callable[[], Data]) -> Candidates:
    """Turn vectors, callables and fitted estimators into candidates.

    Callables and estimators need the rows, which ``data`` returns; it raises if there are none.
    """
    if isinstance(candidates, type):
        raise ValueError(
            "the candidate is a class: expected a coefficient vector, a function of X or a fitted "
            f"estimator, given {candidates.__name__}. Pass a fitted instance."
        )
    if _is_model(candidates):
        return _from_estimator(candidates, objective, data())
    if callable(candidates):
        if (refusal := objective.refuse_values()) is not None:
            raise refusal
        rows, name = data(), getattr(candidates, "__name__", repr(candidates))
        values = _one_number_for_each_row(candidates(rows.X), name, rows)
        return _from_values(_in_its_basis(values, objective), objective)
    if isinstance(candidates, Sequence) and any(callable(c) or _is_model(c) for c in candidates):
        return _join([resolve(c, objective, data) for c in candidates], objective)
    return _from_coefficients(candidates, objective)


def _from_coefficients(candidates: Any, objective: Objective) -> Candidates:
    a = as_finite(candidates, "the candidate", "Pass finite coefficients.")
    if a.ndim not in (1, 2) or a.shape[-1] != objective.d:
        shown = ", ".join(objective.names[:3]) + (", ..." if objective.d > 3 else "")
        remedy = "Pass a callable f(X) for a function that is not given by coefficients."
        if objective.refuse_values() is not None:
            remedy = "Pass one number for each coefficient."
        elif a.shape == (objective.n,):
            remedy = "For values at the rows of X pass a callable, lambda X: values."
        raise ValueError(
            f"the candidate has the wrong shape: expected {objective.d} coefficients [{shown}], or "
            f"an array with one such row for each candidate, given shape {a.shape}. {remedy}"
        )
    return Candidates(np.atleast_2d(a), None, single=a.ndim == 1)


def _from_values(values: Array, objective: Objective) -> Candidates:
    """Take values at the rows of the objective."""
    return Candidates(objective.coefficients(values[None, :]), values[None, :], single=True)


def _is_model(candidate: Any) -> bool:
    """Whether it predicts: an estimator, or a classifier of another library."""
    probabilities = hasattr(candidate, "predict_proba") and hasattr(candidate, "classes_")
    return isinstance(candidate, BaseEstimator) or probabilities


def _listed(classes: Any) -> str:
    return " and ".join(spoken(label) for label in classes)


def _from_estimator(estimator: Any, objective: Objective, data: Data) -> Candidates:
    """Use the coefficients if they reproduce the predictions, else the predictions."""
    own = objective.coefficients_of(estimator)
    if own is not None:
        return Candidates(own[None, :], None, single=True, caveat=FITTED)
    name = type(estimator).__name__
    classes = getattr(estimator, "classes_", None)
    known = [] if data.classes is None else list(data.classes)
    sign = -1 if classes is not None and list(classes) == known[::-1] else 1
    if classes is not None and list(classes)[::sign] != known:
        expected = "a regressor" if data.classes is None else f"the classes {_listed(data.classes)}"
        raise ValueError(
            f"the candidate is a classifier of other classes: expected {expected}, given {name} of "
            f"{_listed(classes)}. Pass a function that returns E[y|x], with +1 for the second "
            "class, or build the region with these classes."
        )
    values = sign * _one_number_for_each_row(fitted_values(estimator, data.X), name, data)
    values = _in_its_basis(values, objective)
    a = fitted_coefficients(estimator, objective.n)
    if a is not None and a.shape == (objective.d,):
        a = sign * a
        reproduced = objective.fitted(a[None, :])[0]
        scale = max(np.abs(values).max(), np.abs(reproduced).max())
        if np.abs(reproduced - values).max() <= 1e-8 * scale:
            return Candidates(a[None, :], None, single=True, caveat=FITTED)
    return replace(_from_values(values, objective), caveat=FITTED)


def _in_its_basis(values: Array, objective: Objective) -> Array:
    """Return values at the rows of the data as values at the rows of the objective."""
    return (
        values if objective.basis is None else in_basis(objective.basis, values[:, None])[0][:, 0]
    )


def _rotation(Q: Array, values: Array) -> Array:
    """Bound the errors of rotated values (N, n)."""
    return np.asarray(ROTATED * (np.abs(values @ Q.T) @ np.abs(Q)))


def _one_number_for_each_row(values: Any, name: str, data: Data) -> Array:
    what, expected = f"the value of the candidate {name}", len(data.rows)
    clean = as_finite(values, what, "A candidate returns a finite number for every row of X.")
    if clean.shape == (expected, 1):
        clean = clean[:, 0]
    if clean.shape != (expected,):
        raise ValueError(
            f"{what} has the wrong shape: expected one number for each of the {expected} rows of "
            f"X, given shape {clean.shape}. A candidate takes X as it was passed and returns a "
            "vector."
        )
    return clean[data.rows]


def _join(parts: list[Candidates], objective: Objective) -> Candidates:
    values = [objective.y - part.residuals(objective, slice(None)) for part in parts]
    return Candidates(
        np.concatenate([part.coefficients for part in parts]),
        None if all(part.values is None for part in parts) else np.concatenate(values),
        single=False,
        caveat=next((part.caveat for part in parts if part.caveat), ""),
    )
