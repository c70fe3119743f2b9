"""Signs for and against the assumptions of a region, read from the residuals of its estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from textwrap import fill
from typing import Any

import numpy as np
from scipy.stats import rankdata

from unassuming._typing import Array, IntArray
from unassuming.noise import Exchangeable, Noise, Perturbations, Symmetric
from unassuming.objectives import Objective, Quadratic
from unassuming.regions._data import Data
from unassuming.regions._describe import Description

CAVEAT = (
    "Residuals are not the noise: the fit has moved them, and a test sees only what it looks for. "
    "A small p-value is a reason to look closer, a large one is no proof."
)

_REFERENCE_M = 1000
_BATCH = 2**21  # numbers in one batch of transformed residuals

Statistic = Callable[[Array, Array], Array]
"""From residuals (..., n) and fitted values (n,) to numbers (...)."""


@dataclass(frozen=True)
class Indication:
    """One test of the residuals.

    Attributes
    ----------
    name : str
    question : str
        What a small p-value speaks against.
    statistic, pvalue : float
        The p-value is two-sided, from the place of the statistic among those of the residuals that
        a fit leaves of transformed data (for squares; elsewhere of transformed residuals).
    assumed : bool
        Whether the guarantee of this region depends on it. If so, the residuals are compared with
        the region's own transformations of them, else with random signs or permutations.
    """

    name: str
    question: str
    statistic: float
    pvalue: float
    assumed: bool

    def __str__(self) -> str:
        role = "under the assumption" if self.assumed else "not assumed here"
        return f"{self.name}: p-value {self.pvalue:.3g} ({role}). {self.question}"


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Residuals at the estimate, indications, and what the guarantee rests on.

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
    rests_on : tuple of str
        What the guarantee rests on, one sentence each.
    covers : str
        What is guaranteed if all that is so.
    caveat : str
    """

    rows: IntArray = field(repr=False)
    fitted: Array = field(repr=False)
    residuals: Array = field(repr=False)
    inputs: Mapping[str, Array] = field(repr=False)
    indications: tuple[Indication, ...]
    rests_on: tuple[str, ...]
    covers: str
    caveat: str = CAVEAT

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with rows, fitted values, residuals and inputs."""
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "to_frame needs pandas: install it with  pip install pandas"
            ) from error
        return pd.DataFrame(
            {"row": self.rows, "fitted": self.fitted, "residual": self.residuals}
            | dict(self.inputs)
        )

    def __str__(self) -> str:
        def item(sentence: object) -> str:
            return fill(str(sentence), 100, initial_indent="  - ", subsequent_indent="    ")

        return "\n".join(
            [
                f"Residuals of {len(self.residuals)} rows at the estimate:",
                *map(item, self.indications),
                fill(self.caveat, 100),
                "The guarantee rests on this:",
                *map(item, self.rests_on),
                fill(f"Then the region covers {self.covers}.", 100)
                if self.covers.startswith("the ")
                else fill(self.covers, 100),
            ]
        )


def _balance(r: Array, fitted: Array) -> Array:
    """Wilcoxon's signed ranks: Σ sign(r_j) rank |r_j|."""
    del fitted
    return np.asarray((np.sign(r) * rankdata(np.abs(r), axis=-1)).sum(axis=-1))


def _spread(r: Array, fitted: Array) -> Array:
    """Spearman's correlation of |r| with the fitted values, up to a constant factor."""
    size = rankdata(np.abs(r), axis=-1) - (r.shape[-1] + 1) / 2
    return np.asarray(size @ (rankdata(fitted) - (len(fitted) + 1) / 2))


def _order(r: Array, fitted: Array) -> Array:
    """Neighbours of one sign minus neighbours of different sign, in the order of the rows."""
    del fitted
    s = np.sign(r)
    return np.asarray((s[..., 1:] * s[..., :-1]).sum(axis=-1))


_TESTS: tuple[tuple[str, str, Statistic, Noise], ...] = (
    (
        "symmetry",
        "Do positive and negative residuals balance, in number and size?",
        _balance,
        Symmetric(),
    ),
    (
        "equal spread",
        "Are residuals as large where the fitted values are small as where they are large?",
        _spread,
        Exchangeable(),
    ),
    (
        "no order",
        "Do signs change from row to row as often as without dependence between neighbours?",
        _order,
        Exchangeable(),
    ),
)


def diagnose(
    objective: Objective,
    estimate: Array,
    perturbations: Perturbations,
    data: Data,
    description: Description,
) -> Diagnosis:
    """Compare statistics of the residuals with those of transformed residuals."""
    r = objective.residuals(estimate[None, :])[0]
    fitted = objective.y - r
    refit = _refit(objective)
    indications = []
    for name, question, statistic, reference in _TESTS:
        value = float(statistic(r, fitted))
        plain = _over(perturbations, partial(_as_they_are, statistic, fitted), r, fitted)
        # A statistic that no transformation moves is one the assumption says nothing about.
        assumed = bool((np.abs(plain - value) > 1e-9 * max(1.0, abs(value))).any())
        drawn = perturbations
        if not assumed:
            rng = np.random.default_rng(0)
            drawn = Perturbations.sample(reference, len(r), _REFERENCE_M, rng)
        others = _over(drawn, partial(_refitted, statistic, fitted, refit), r, fitted)
        indications.append(Indication(name, question, value, _two_sided(value, others), assumed))
    return Diagnosis(
        rows=np.flatnonzero(data.rows),
        fitted=fitted,
        residuals=r,
        inputs=_columns(data),
        indications=tuple(indications),
        rests_on=description.under("assumes"),
        covers=" ".join(description.under("covers")),
    )


def _as_they_are(statistic: Statistic, fitted: Array, moved: Array) -> Array:
    return statistic(moved, fitted)


def _refitted(
    statistic: Statistic, fitted: Array, refit: Callable[[Array], Array], moved: Array
) -> Array:
    return statistic(refit(fitted + moved), fitted)


def _over(
    perturbations: Perturbations, statistic: Callable[[Array], Array], r: Array, fitted: Array
) -> Array:
    """Return a statistic of every transformed residual vector, (m - 1,)."""
    step = max(1, _BATCH // len(r))
    starts = range(0, perturbations.m - 1, step)
    parts = [perturbations.take(slice(start, start + step)) for start in starts]
    return np.concatenate([statistic(some.apply(r, fitted)) for some in parts])


def _refit(objective: Objective) -> Callable[[Array], Array]:
    """Return the map from outputs (..., n) to the residuals of a fit to them.

    The fit has moved the residuals, so those of transformed data have to be moved alike: an
    intercept alone hides a good deal of skewness. Known for squares; elsewhere residuals are
    compared as they are.
    """
    if not isinstance(objective, Quadratic):
        return lambda outputs: outputs - objective.fitted(objective.estimate()[None, :])[0]
    pull = objective.whitening.pull(objective.w)
    back = pull * (objective.n / objective.w)  # fitted values of outputs z are backᵀ(pull z)
    return lambda outputs: np.asarray(outputs - (outputs @ pull.T) @ back)


def _two_sided(value: float, others: Array) -> float:
    m, slack = len(others) + 1, 1e-9 * max(1.0, abs(value))
    above = 1 + int((others >= value - slack).sum())
    below = 1 + int((others <= value + slack).sum())
    return min(1.0, 2 * min(above, below) / m)


def _columns(data: Data) -> dict[str, Array]:
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    names = getattr(X, "columns", None)
    if names is not None:
        return {str(name): np.asarray(X[name])[data.rows] for name in names}
    table = np.asarray(X)[data.rows]
    return {f"x{j}": column for j, column in enumerate(table.T)}
