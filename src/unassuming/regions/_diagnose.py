"""Tests of the residuals, as indications for or against the assumptions of a region."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, final

import numpy as np
from scipy.stats import rankdata

from unassuming._frames import apart, as_frame
from unassuming._typing import Array, IntArray
from unassuming.inputs import Data
from unassuming.noise import Exchangeable, Noise, Symmetric
from unassuming.regions._describe import Description
from unassuming.regions._least_biased_fit import least_biased_fit
from unassuming.regions._problem import Problem

CAVEAT = (
    "Residuals are not the noise: the fit has moved them, p-values are approximate, and each test "
    "detects one kind of departure. A small p-value is a reason to look closer; a large one proves "
    "nothing."
)

AT_THE_ESTIMATE = (
    "The tests use the residuals of the estimate: a penalty that pulls it away from the truth "
    "makes p-values small even if nothing is wrong with the noise."
)

RANDOMISATIONS = 999
_BATCH = 2**21  # numbers in one batch of transformed residuals

Statistic = Callable[[Array, Array], Array]
"""From residuals (..., n) and fitted values (n,) to numbers (...)."""


@final
@dataclass(frozen=True)
class Indication:
    """One test of the residuals.

    Attributes
    ----------
    name : str
    question : str
        A small p-value suggests the answer no.
    statistic, pvalue : float
        The p-value is two-sided: the data are transformed at random, 999 times whatever m is, and
        fitted in the same way, and the statistic is compared with those of their residuals.
    assumed : bool
        Whether the guarantee of this region depends on the answer. If so, the transformations are
        those of its noise, else random signs or permutations.

    Examples
    --------
    >>> print(Indication("symmetry", "Do the signs balance?", 12.0, 0.5, assumed=True))
    symmetry: p-value 0.5 (under the assumption). Do the signs balance?
    """

    name: str
    question: str
    statistic: float
    pvalue: float
    assumed: bool

    def __str__(self) -> str:
        role = "under the assumption" if self.assumed else "not assumed here"
        return f"{self.name}: p-value {self.pvalue:.3g} ({role}). {self.question}"


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
        those of least squares on the same features, or of a smooth fit with the same kernel.
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


def _balance(r: Array, _: Array) -> Array:
    """Wilcoxon's signed ranks: Σ sign(r_j) rank |r_j|."""
    return np.asarray((np.sign(r) * rankdata(np.abs(r), axis=-1)).sum(axis=-1))


def _spread(r: Array, fitted: Array) -> Array:
    """Spearman's correlation of |r| with the fitted values, up to a constant factor."""
    size = rankdata(np.abs(r), axis=-1) - (r.shape[-1] + 1) / 2
    return np.asarray(size @ (rankdata(fitted) - (len(fitted) + 1) / 2))


def _order(r: Array, _: Array) -> Array:
    """Neighbours of equal sign minus neighbours of different sign, in the order of the rows."""
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


def diagnose(problem: Problem, description: Description) -> Diagnosis:
    """Compare statistics of residuals with those of transformed data, fitted in the same way."""
    data = problem.data("diagnose needs")
    objective, noise, seed = problem.objective, problem.noise, problem.seed
    at_estimate = objective.residuals(problem.estimate[None, :])[0]
    estimated = objective.y - at_estimate
    fit = least_biased_fit(objective)
    residuals = (lambda outputs: outputs - estimated) if fit is None else fit.residuals
    r = residuals(objective.y)
    fitted = objective.y - r
    indications = []
    for j, (name, question, statistic, reference) in enumerate(_TESTS):
        value = float(statistic(r, fitted))
        slack = 1e-9 * max(1.0, abs(value))
        plain, refitted = _compared(noise, statistic, residuals, r, fitted, [seed, j])
        # The noise class assumes nothing about a statistic that its transformations never change.
        assumed = bool((np.abs(plain - value) > slack).any())
        if not assumed:
            _, refitted = _compared(reference, statistic, residuals, r, fitted, [seed, j])
        pvalue = _two_sided(value, refitted, slack)
        indications.append(Indication(name, question, value, pvalue, assumed))
    return Diagnosis(
        rows=np.flatnonzero(data.rows),
        fitted=estimated,
        residuals=at_estimate,
        inputs=_columns(data),
        indications=tuple(indications),
        rests_on=description.under("assumes"),
        covers=" ".join(description.under("covers")),
        caveat=f"{CAVEAT} {AT_THE_ESTIMATE if fit is None else fit.about}",
        tested=r,
        guaranteed=problem.guaranteed,
    )


def _compared(
    noise: Noise,
    statistic: Statistic,
    residuals: Callable[[Array], Array],
    r: Array,
    fitted: Array,
    seed: list[int],
) -> tuple[Array, Array]:
    """Return the statistic of transformed residuals, and of a fit to transformed data."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(len(_TESTS),)))
    plain, refitted, step = [], [], max(1, _BATCH // len(r))
    for done in range(0, RANDOMISATIONS, step):
        moved = np.asarray(noise.scatter(r, fitted, min(step, RANDOMISATIONS - done), rng))
        plain.append(statistic(moved, fitted))
        refitted.append(statistic(residuals(fitted + moved), fitted))
    return np.concatenate(plain), np.concatenate(refitted)


def _two_sided(value: float, others: Array, slack: float) -> float:
    m = len(others) + 1
    above = 1 + int((others >= value - slack).sum())
    below = 1 + int((others <= value + slack).sum())
    return min(1.0, 2 * min(above, below) / m)


def _columns(data: Data) -> dict[str, Array]:
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    names = getattr(X, "columns", None)
    if names is not None:
        return {str(name): np.asarray(X[name])[data.rows] for name in names}
    table = np.asarray(X)[data.rows]
    columns = [table] if table.ndim == 1 else table.T  # a list of texts is one column
    return {f"x{j}": column for j, column in enumerate(columns)}
