"""Candidates in any form become coefficients and residuals (docs/theory.md 1).

A candidate is a coefficient vector, a function of X or a fitted estimator. A function need not be
in the range of the model: its values then replace the fitted values of its coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import BaseEstimator

from unassuming._typing import Array
from unassuming._words import joined, spoken
from unassuming.inputs import Data, as_finite
from unassuming.objectives import Objective, State, fitted_coefficients, fitted_values
from unassuming.objectives.base import as_state

FITTED = (
    "If this candidate was fitted to the same y, the p-value is not a valid test: the candidate "
    "was chosen by looking at the data. Its membership is meaningful."
)


@final
@dataclass(frozen=True, eq=False)
class Candidates:
    """N candidates: coefficients (N, d), or the states of functions.

    ``single`` says whether one candidate was asked for, so that the answer is a number. The caveat
    is repeated in the result.
    """

    known: Array | State
    single: bool
    caveat: str = ""


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
        objective.coefficients(np.zeros((1, objective.n)))  # refuses before the function is called
        name = getattr(candidates, "__name__", repr(candidates))
        f = _values(candidates(data().X), name, objective, data())
        return Candidates(objective.at_values(f), single=True)
    if isinstance(candidates, Sequence) and any(callable(c) or _is_model(c) for c in candidates):
        parts = [resolve(c, objective, data) for c in candidates]
        states = [as_state(part.known, objective) for part in parts]
        caveat = next((part.caveat for part in parts if part.caveat), "")
        return Candidates(State.join(states), single=False, caveat=caveat)
    return _from_coefficients(candidates, objective)


def _is_model(candidate: Any) -> bool:
    """Whether it predicts: an estimator, or a classifier of another library."""
    probabilities = hasattr(candidate, "predict_proba") and hasattr(candidate, "classes_")
    return isinstance(candidate, BaseEstimator) or probabilities


def _from_coefficients(candidates: Any, objective: Objective) -> Candidates:
    a = as_finite(candidates, "the candidate", "Pass finite coefficients.")
    if a.ndim not in (1, 2) or a.shape[-1] != objective.d:
        shown = ", ".join(objective.names[:3]) + (", ..." if objective.d > 3 else "")
        raise ValueError(
            f"the candidate has the wrong shape: expected {objective.d} coefficients [{shown}], or "
            f"an array with one such row for each candidate, given shape {a.shape}. Pass a "
            "callable f(X) for a function that is not given by coefficients; for values at the "
            "rows of X, lambda X: values."
        )
    return Candidates(np.atleast_2d(a), single=a.ndim == 1)


def _values(values: Any, name: str, objective: Objective, data: Data) -> Array:
    """Take values at the rows of X, in the basis of the objective."""
    what, expected = f"the value of the candidate {name}", len(data.rows)
    clean = as_finite(values, what, "A candidate returns a finite number for every row of X.")
    if clean.shape not in ((expected,), (expected, 1)):
        raise ValueError(
            f"{what} has the wrong shape: expected one number for each of the {expected} rows of "
            f"X, given shape {clean.shape}. A candidate takes X as it was passed and returns a "
            "vector."
        )
    f = clean.reshape(-1)[data.rows]
    return f[None] if objective.basis is None else (f @ objective.basis)[None]


def _from_estimator(estimator: Any, objective: Objective, data: Data) -> Candidates:
    """Use the coefficients if they reproduce the predictions, else the predictions."""
    own = objective.coefficients_of(estimator)
    if own is not None:
        return Candidates(own[None], single=True, caveat=FITTED)
    name, classes = type(estimator).__name__, getattr(estimator, "classes_", None)
    known = None if data.classes is None else list(data.classes)
    reversed_ = classes is not None and known is not None and list(classes) == known[::-1]
    if classes is not None and list(classes)[:: -1 if reversed_ else 1] != known:
        expected = (
            "a regressor"
            if known is None
            else f"the classes {spoken(known[0])} and {spoken(known[1])}"
        )
        raise ValueError(
            f"the candidate is a classifier of other classes: expected {expected}, given {name} of "
            f"{joined(map(spoken, classes))}. Pass a function that returns E[y|x], with +1 for the "
            "second class, or build the region with these classes."
        )
    sign = -1 if reversed_ else 1
    f = _values(sign * fitted_values(estimator, data.X), name, objective, data)
    a = fitted_coefficients(estimator, objective.n)
    if a is not None and a.shape == (objective.d,):
        reproduced = objective.fitted(sign * a[None])
        scale = max(np.abs(f).max(), np.abs(reproduced).max())
        if np.abs(reproduced - f).max() <= 1e-8 * scale:
            return Candidates(sign * a[None], single=True, caveat=FITTED)
    return Candidates(objective.at_values(f), single=True, caveat=FITTED)
