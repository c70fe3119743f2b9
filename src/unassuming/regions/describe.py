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
    """The lines of ``print(region)``, as pairs of a heading and a sentence."""

    model: str
    lines: tuple[tuple[str, str], ...]

    def with_lines(self, *more: tuple[str, str]) -> Description:
        """Add lines after what is covered."""
        position = 1 + [heading for heading, _ in self.lines].index("covers")
        lines = (*self.lines[:position], *more, *self.lines[position:])
        return Description(self.model, lines)

    def under(self, heading: str) -> tuple[str, ...]:
        """Return the sentences under a heading."""
        headings = [name for name, _ in self.lines]
        first = headings.index(heading)
        last = first + 1
        while last < len(headings) and not headings[last]:
            last += 1
        return tuple(sentence for _, sentence in self.lines[first:last])

    def text(self) -> str:
        """Return plain text of at most 100 columns."""
        width = max(len(heading) for heading, _ in self.lines)
        body = [
            fill(
                sentence,
                100,
                initial_indent=f"  {heading:<{width}}  ",
                subsequent_indent=" " * (width + 4),
            )
            for heading, sentence in self.lines
        ]
        heading = fill(f"Confidence region of {self.model}", 100, subsequent_indent="  ")
        return "\n".join([heading, *body])

    def html(self) -> str:
        """Return an HTML table, for notebooks."""
        rows = "".join(
            f"<tr><th style='text-align:left;vertical-align:top'>{escape(heading)}</th>"
            f"<td style='text-align:left'>{escape(sentence)}</td></tr>"
            for heading, sentence in self.lines
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
    o, classes = problem.objective, problem.classes
    after = f" after {o.initial} initial one{'s' * (o.initial > 1)}" if o.initial else ""
    lines = [("data", f"n = {problem.n} rows{after}, d = {o.d} coefficient{'s' * (o.d != 1)}")]
    if classes is not None:
        lines.append(("labels", f"y = +1 is {spoken(classes[1])}, y = -1 is {spoken(classes[0])}"))
    first, *others = assumptions(problem)
    lines += [("assumes", first), *(("", other) for other in others)]
    surely = "exactly" if problem.ties == "random" else "at least"
    covers = (
        f"{_covered(problem)}, with probability {surely} 1 - q/{m} for q = 1, ..., {m - 1} (levels "
        f"{level_in_print(1 / m)} to {level_in_print(1 - 1 / m)})"
    )
    loss = o.loss
    if loss is not None and loss.jumps and o.quantile is None:
        covers += f", or at least that if the noise has atoms at ±{max(loss.knots):g}"
    psi = problem.weighting
    lines += [
        ("covers", covers if problem.guaranteed else PUBLISHED_CLASSIFIER),
        ("weighting", psi if isinstance(psi, str) else f"matrix of shape {np.shape(psi)}"),
        _transformations(problem, m),
    ]
    return Description(shown(problem.estimator), tuple(lines))


def _transformations(problem: Problem, m: int) -> tuple[str, str]:
    """Say where the transformations come from."""
    what = f"{m - 1} transformations, {shown(problem.noise)}"
    if not problem.enumerated and is_group(problem.row_noise, m):
        what = f"the {m - 1} sign changes of a group of {m}, the same for every seed"
    heading = "listed" if problem.enumerated else "drawn"
    return heading, f"{what}; seed {problem.seed}, ties {problem.ties}"
