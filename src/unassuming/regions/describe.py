"""A region in words: what it covers, how surely, and under which assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming._words import shown, spoken
from unassuming.inputs import frozen_steps
from unassuming.membership import FITTED, Candidates
from unassuming.noise import is_group
from unassuming.objectives import State
from unassuming.ranking import level_in_print
from unassuming.regions.problem import Problem
from unassuming.regions.results import count

PUBLISHED_CLASSIFIER = (
    "The published region of LS-SVC assumes that the slacks are symmetric given the inputs. With "
    "labels ±1 they are not, unless E[y|x] is -1, 0 or 1: this region carries no coverage "
    "guarantee. The assumption 'labels' is exact."
)

PROBABILITIES = (
    "All values lie in [0, 1]: if these are probabilities, pass 2p - 1, which is E[y|x]."
)

PARTLY_FITTED = (
    "Other entries of the candidate equal the estimate, which was fitted to the same y: this "
    "p-value is not a valid test."
)
ONE_AT_A_TIME = " To test some coefficients whatever the others are: hypothesis({functional})."

_FEW = 1
"""Entries in which a candidate may differ from the estimate, of few coefficients, to be a case."""


def caveat_of(problem: Problem, found: Candidates, at: State, rank: int, m: int) -> str:
    """Return what the test of one candidate has to say besides its p-value."""
    said, f, function = [], at.f[0], isinstance(found.known, State)
    within = bool(((f >= 0) & (f <= 1)).all())
    if function and 10 * rank > 9 * m and within and problem.noise.labels and not found.caveat:
        said.append(PROBABILITIES)
    if not problem.row_noise.admits(at.r, at.f)[0]:
        said.append(not_admitted(f))
    said.append(found.caveat or ("" if function else _about_estimate(problem, at.a[0])))
    return " ".join(filter(None, said))


def _about_estimate(problem: Problem, given: Array) -> str:
    """Say if the candidate repeats the estimate, or changes a few entries of it."""
    try:
        estimate = problem.estimate
    except (NotAvailable, ValueError):  # the minimum is not declared, or there is none
        return ""
    taken = (estimate != 0) & (np.abs(given - estimate) <= 1e-9 * np.abs(estimate))
    names = zip(problem.objective.names, taken, strict=True)
    other = [repr(name) for name, same in names if not same]
    if not other or np.array_equal(given, estimate):
        return FITTED
    if len(other) >= len(given) or len(other) > max(_FEW, len(given) // 2):
        return ""
    design = problem.objective.design
    features = design is not None and not design.dual and problem.classes is None
    listed = other[0] if len(other) == 1 else f"[{', '.join(other)}]"
    return PARTLY_FITTED + (ONE_AT_A_TIME.format(functional=listed) if features else "")


def not_admitted(values: Array) -> str:
    """Say why a candidate cannot be E[y | x]."""
    worst = float(values[np.argmax(np.abs(values))])
    if abs(worst) <= 1 + 1e-12:
        return (
            "An observed label has probability zero under the candidate, which is certain of the "
            "other one: it lies in no region."
        )
    return (
        "The candidate is not a regression function of labels ±1: it takes the value "
        f"{worst:.4g} at an input, outside [-1, 1], and lies in no region."
    )


@final
@dataclass(frozen=True)
class Description:
    """The lines of ``print(region)``: sentences under headings."""

    model: str
    lines: dict[str, tuple[str, ...]]

    def with_lines(self, *more: tuple[str, str]) -> Description:
        """Add lines after what is covered."""
        names = list(self.lines)
        last = names[1 + names.index("covers") :]
        found = {name: self.lines[name] for name in names if name not in last}
        found |= {name: (sentence,) for name, sentence in more}
        return Description(self.model, found | {name: self.lines[name] for name in last})

    def _pairs(self) -> list[tuple[str, str]]:
        """Return headings and sentences; only the first sentence repeats its heading."""
        return [
            ("" if i else heading, sentence)
            for heading, sentences in self.lines.items()
            for i, sentence in enumerate(sentences)
        ]

    def text(self) -> str:
        """Return plain text of at most 100 columns."""
        width = max(map(len, self.lines))
        said = [fill(f"Confidence region of {self.model}", 100, subsequent_indent="  ")]
        for heading, sentence in self._pairs():
            start = f"  {heading:<{width}}  "
            said.append(
                fill(sentence, 100, initial_indent=start, subsequent_indent=" " * len(start))
            )
        return "\n".join(said)

    def html(self) -> str:
        """Return an HTML table, for notebooks."""
        rows = "".join(
            f"<tr><th style='text-align:left;vertical-align:top'>{escape(heading)}</th>"
            f"<td style='text-align:left'>{escape(sentence)}</td></tr>"
            for heading, sentence in self._pairs()
        )
        return f"<div><b>Confidence region of {escape(self.model)}</b><table>{rows}</table></div>"


def assumptions(problem: Problem) -> tuple[str, ...]:
    """Say what the level of a region rests on."""
    o, noise = problem.objective, problem.noise
    independent = "inputs, features, weights, hyper-parameters and seed"
    if o.endogenous:
        independent = "instruments, controls, weights, hyper-parameters and seed"
    elif o.initial:
        independent = "input, initial values, orders and seed"
    said = [noise.assumption, f"{independent} do not depend on the noise"]
    frozen = frozen_steps(problem.estimator)
    said += [f"the frozen step {step!r} was fitted on other rows" for step in frozen]
    if o.initial:
        said += [
            "the outputs follow the recursion of the model, and the noise enters it as the last "
            "term",
            "the input, if there is one, does not react to the output (no feedback)",
        ]
    elif o.endogenous:
        said.append(
            "y minus the noise is a linear function of the controls and the endogenous columns: "
            "the instruments act on y through these alone"
        )
    elif o.design is not None and not o.design.spans_everything:
        what = "kernel at the inputs" if o.design.dual else f"{o.d} features"
        said.append(f"{_spanned(problem)} in the span of the {what}")
    return tuple(said)


def _spanned(problem: Problem) -> str:
    """Say what the features have to span."""
    if problem.objective.quantile is not None:
        return "the conditional quantiles of y lie"
    if problem.objective.labels_only:
        return "the log-odds of P(y = 1 | x) lie"
    return "E[y|x] lies" if problem.noise.labels else "the values of the regression function lie"


def _covered(problem: Problem) -> str:
    """Name the coefficients that a region covers."""
    if problem.objective.initial:
        return "the coefficients of the system that produced the outputs"
    if problem.objective.endogenous:
        return (
            "the coefficients of the equation, those for which y minus its right-hand side is the "
            "noise"
        )
    return f"the true coefficients, those that give {problem.noise.target} at the inputs"


def describe(problem: Problem, m: int) -> Description:
    """Say what a region covers, how surely, and under which assumptions."""
    o, psi = problem.objective, problem.weighting
    after = f" after {count(o.initial, 'initial one')}" if o.initial else ""
    size = f"n = {problem.n} rows{after}, d = {count(o.d, 'coefficient')}"
    lines: dict[str, tuple[str, ...]] = {"data": (size,)}
    if problem.classes is not None:
        minus, plus = map(spoken, problem.classes)
        lines["labels"] = (f"y = +1 is {plus}, y = -1 is {minus}",)
    lines["assumes"] = assumptions(problem)
    surely = "exactly" if problem.ties == "random" else "at least"
    covers = (
        f"{_covered(problem)}, with probability {surely} 1 - q/{m} for q = 1, ..., {m - 1} (levels "
        f"{level_in_print(1 / m)} to {level_in_print(1 - 1 / m)})"
    )
    if o.loss is not None and o.loss.jumps and o.quantile is None:
        covers += f", or at least that if the noise has atoms at ±{max(o.loss.knots):g}"
    lines["covers"] = (covers if problem.guaranteed else PUBLISHED_CLASSIFIER,)
    shape = f"matrix of shape {np.shape(psi)}"
    lines["weighting"] = (psi if not np.ndim(psi) else shape,)
    what = f"{m - 1} transformations, {shown(problem.noise)}"
    if not problem.enumerated and is_group(problem.row_noise, m):
        what = f"the {m - 1} sign changes of a group of {m}, the same for every seed"
        what += ", by row number" if problem.rows is None else ""
    heading = "listed" if problem.enumerated else "drawn"
    lines[heading] = (f"{what}; seed {problem.seed}, ties {problem.ties}",)
    return Description(shown(problem.estimator), lines)
