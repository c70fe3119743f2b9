"""Residuals, tests of the noise, and the assumptions of a region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, final

import numpy as np

from unassuming._frames import apart, as_frame
from unassuming._typing import Array, IntArray
from unassuming.inputs import Data
from unassuming.regions.describe import Description
from unassuming.regions.diagnosis._least_biased_fit import least_biased_fit
from unassuming.regions.diagnosis._noise_tests import Indication, indications
from unassuming.regions.problem import Problem
from unassuming.regions.views import View, make_view

CAVEAT = (
    "Each test detects one kind of departure. A small p-value is a reason to look closer; a large "
    "one proves nothing."
)

AT_THE_ESTIMATE = (
    "The tests use the residuals of the estimate: a penalty that pulls it away from the truth "
    "makes p-values small even if nothing is wrong with the noise."
)

AT_TWO_STAGES = (
    "The tests use the residuals of two-stage least squares. With weak instruments it is far from "
    "the truth, and p-values can be small even if nothing is wrong with the noise."
)


@final
@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Residuals at the estimate, indications, and the assumptions of the guarantee.

    Attributes
    ----------
    rows : integer array of shape (n,)
        Positions of the rows in the data as passed.
    fitted, residuals : arrays of shape (n,)
        The data of a residual plot, at the point estimate.
    inputs : dict
        The columns of X at these rows, to plot residuals against.
    indications : tuple of Indication
        Tests of symmetry and exchangeability: indications, not proofs.
    tested : array of shape (n,)
        The residuals under test: not those of the estimate, which are biased by a penalty, but
        those of least squares on the same features, or on the leading eigenfunctions of a kernel.
    rests_on : tuple of str
        The assumptions, one sentence each.
    covers : str
        The guarantee under these assumptions.
    caveat : str
    guaranteed : bool
        Whether there is a guarantee: the published region of LS-SVC has none.

    Examples
    --------
    >>> diagnosis = region.diagnose()
    >>> print(diagnosis)
    Residuals of 50 rows at the estimate:
      - symmetry: p-value ...
    >>> diagnosis.residuals.shape, len(diagnosis.rests_on), diagnosis.to_frame().shape
    ((50,), 3, (50, 5))
    """

    rows: IntArray = field(repr=False)
    fitted: Array = field(repr=False)
    residuals: Array = field(repr=False)
    inputs: Mapping[str, Array] = field(repr=False)
    indications: tuple[Indication, ...]
    rests_on: tuple[str, ...]
    covers: str
    caveat: str
    tested: Array = field(repr=False)
    guaranteed: bool = True

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with rows, fitted values, residuals and inputs.

        An input that has the name of another column gets a prefix, such as ``"input fitted"``.
        """
        results = {"row": self.rows, "fitted": self.fitted, "residual": self.residuals}
        return as_frame(results | apart(self.inputs, results))

    def plot(self, against: str | None = None, *, ax: Any = None) -> Any:
        """Draw the residuals; ``unassuming.plots.diagnosis`` describes the picture.

        Parameters
        ----------
        against : str, optional
            The name of an input column, or ``"row"``; by default the fitted values.
        ax : Axes, optional
            By default those of a new figure.

        Returns
        -------
        Axes

        Examples
        --------
        >>> region.diagnose().plot("x0").get_xlabel()
        'x0'
        """
        return make_view(View.DIAGNOSIS, self, against, ax=ax)

    def __str__(self) -> str:
        def item(sentence: object) -> str:
            return fill(str(sentence), 100, initial_indent="  - ", subsequent_indent="    ")

        covers = f"Then the region covers {self.covers}." if self.guaranteed else self.covers
        return "\n".join(
            [
                f"Residuals of {len(self.residuals)} rows at the estimate:",
                *map(item, self.indications),
                fill(self.caveat, 100),
                "The guarantee rests on this:",
                *map(item, self.rests_on),
                fill(covers, 100),
            ]
        )


def diagnose(problem: Problem, description: Description) -> Diagnosis:
    """Compare statistics of residuals with those of transformed data."""
    data = problem.data("diagnose needs")
    problem.refuse_basis("a diagnosis")
    objective = problem.objective
    at_estimate = objective.residuals(problem.estimate[None, :])[0]
    estimated = objective.y - at_estimate
    fit = least_biased_fit(objective)
    r = at_estimate if fit is None else fit.residuals(objective.y)
    about = AT_TWO_STAGES if objective.endogenous else AT_THE_ESTIMATE
    if np.abs(r).max() <= 1e-13 * np.abs(objective.y).max():
        r = np.zeros_like(r)  # a perfect fit: what is left is rounding
    return Diagnosis(
        rows=np.flatnonzero(data.rows),
        fitted=estimated,
        residuals=at_estimate,
        inputs=columns_of(data),
        indications=indications(problem.noise, problem.seed, fit, r, objective.y - r),
        rests_on=description.under("assumes"),
        covers=" ".join(description.under("covers")),
        caveat=f"{CAVEAT} {about if fit is None else fit.about}",
        tested=r,
        guaranteed=problem.guaranteed,
    )


def columns_of(data: Data) -> dict[str, Array]:
    """Return the columns of X at the rows that count, by name."""
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    names = getattr(X, "columns", None)
    if names is not None:
        return {str(name): np.asarray(X[name])[data.rows] for name in names}
    table = np.asarray(X)[data.rows]
    columns = [table] if table.ndim == 1 else table.T  # a list of texts is one column
    return {f"x{j}": column for j, column in enumerate(columns)}
