"""A region in words: what it covers, how surely, and what that rests on."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

import numpy as np

from unassuming._typing import Array

PUBLISHED_CLASSIFIER = (
    "The published region of LS-SVC takes the slacks to be symmetric given the inputs. With labels "
    "±1 they are not, unless E[y|x] is -1, 0 or 1: this region carries no coverage guarantee. "
    "noise='labels' is exact."
)


PROBABILITIES = (
    "All values lie in [0, 1]: if these are probabilities, pass 2p - 1, which is E[y|x]."
)


def not_admitted(values: Array) -> str:
    """Say why a candidate cannot be E[y | x]."""
    worst = float(values[np.argmax(np.abs(values))])
    if abs(worst) <= 1 + 1e-12:
        return (
            "An observed label has probability zero under the candidate, which is certain of the "
            "other one: it lies in no region."
        )
    return (
        f"The candidate is no regression function of labels ±1: it takes the value {worst:.4g} at "
        "an input, outside [-1, 1], and lies in no region."
    )


def with_plain_numbers(estimator: Any) -> Any:
    """Return a copy whose parameters are Python's numbers, as in a file, instead of NumPy's."""
    copy = deepcopy(estimator)
    parameters = copy.get_params() if hasattr(copy, "get_params") else {}
    scalars = {n: v for n, v in parameters.items() if isinstance(v, np.generic)}
    return copy.set_params(**{n: v.item() for n, v in scalars.items()}) if scalars else copy


def shown(estimator: Any) -> str:
    """Return an estimator in one line; functions by their names, without addresses in memory."""
    if isinstance(estimator, np.generic):  # or a parameter of one
        estimator = estimator.item()
    text = " ".join(repr(estimator).split())
    text = re.sub(r"<(?:function|built-in function) (\S+)(?: at 0x[0-9a-fA-F]+)?>", r"\1", text)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def spoken(label: Any) -> str:
    """Name a class as the user wrote it: text in quotes, numbers plainly."""
    plain = label.item() if isinstance(label, np.generic) else label
    return f"{plain:g}" if isinstance(plain, float) else repr(plain)


@dataclass(frozen=True)
class Description:
    """The lines of ``print(region)``, as pairs of a heading and a sentence."""

    model: str
    lines: tuple[tuple[str, str], ...]

    def with_line(self, heading: str, sentence: str) -> Description:
        """Return the same with one more line after what is covered."""
        position = 1 + [heading for heading, _ in self.lines].index("covers")
        lines = (*self.lines[:position], (heading, sentence), *self.lines[position:])
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
        return "\n".join([f"Confidence region of {self.model}", *body])

    def html(self) -> str:
        """Return an HTML table, for notebooks."""
        rows = "".join(
            f"<tr><th style='text-align:left;vertical-align:top'>{escape(heading)}</th>"
            f"<td style='text-align:left'>{escape(sentence)}</td></tr>"
            for heading, sentence in self.lines
        )
        return f"<div><b>Confidence region of {escape(self.model)}</b><table>{rows}</table></div>"
