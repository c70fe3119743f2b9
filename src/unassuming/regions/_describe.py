"""A region in words: what it covers, how surely, and under which assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import final

import numpy as np

from unassuming._typing import Array
from unassuming._words import shown, spoken
from unassuming.inputs import frozen_steps
from unassuming.noise import Labels, is_group
from unassuming.objectives import Objective
from unassuming.ranking import level_in_print
from unassuming.regions._problem import Problem

_SHOWN = 6
"""Coefficients of a direction that are listed."""

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
    said = [
        noise.assumption,
        f"{o.independent} do not depend on the noise",
    ]
    said += o.assumed
    frozen = frozen_steps(problem.estimator)
    said += [f"the frozen step {step!r} was fitted on other rows" for step in frozen]
    if o.equation:
        said.append(o.equation)
    elif o.design is not None and not o.design.spans_everything:
        what = "kernel at the inputs" if o.design.dual else f"{o.d} features"
        one = "E[y|x] lies" if isinstance(noise, Labels) else "the noise-free outputs lie"
        lie = f"{o.spanned} lie" if o.spanned else one
        said.append(f"{lie} in the span of the {what}")
    return tuple(said)


def describe(problem: Problem, m: int) -> Description:
    """Say what a region covers, how surely, and under which assumptions."""
    noise, classes = problem.noise, problem.classes
    initial = problem.objective.initial
    after = f" after {initial} initial one{'s' * (initial > 1)}" if initial else ""
    d = problem.objective.d
    lines = [("data", f"n = {problem.n} rows{after}, d = {d} coefficient{'s' * (d != 1)}")]
    if classes is not None:
        lines.append(("labels", f"y = +1 is {spoken(classes[1])}, y = -1 is {spoken(classes[0])}"))
    first, *others = assumptions(problem)
    lines += [("assumes", first), *(("", other) for other in others)]
    surely = "exactly" if problem.ties == "random" else "at least"
    ideal = f"the ideal coefficients, those that give {noise.target} at the inputs"
    covers = (
        f"{problem.objective.ideal or ideal}, with probability {surely} 1 - q/{m} for q = 1, ..., "
        f"{m - 1} (levels {level_in_print(1 / m)} to {level_in_print(1 - 1 / m)})"
    )
    if problem.objective.atoms:
        covers += f", or at least that if the noise has atoms at {problem.objective.atoms}"
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


def direction_in_words(v: Array, objective: Objective) -> str:
    """Name a direction in the coefficients."""
    moved = np.flatnonzero(v)
    if len(moved) == 1:
        return f"the coefficient {objective.names[moved[0]]} alone"
    if objective.design is not None:
        phi = objective.design.matrix
        fitted, size = phi @ v, np.abs(phi) @ np.abs(v)
        moves = np.flatnonzero(np.abs(fitted) > 1e-6 * np.abs(fitted).max())
        if (np.abs(fitted) <= 1e-9 * size).all():
            return "coefficients that change no fitted value"
        if len(moves) == 1:
            return f"the fitted value of row {moves[0]} (counted from zero) alone"
    if len(v) <= _SHOWN:
        return f"the direction [{', '.join(f'{x:.3g}' for x in v)}]"
    return "a direction in which all coefficients change"
