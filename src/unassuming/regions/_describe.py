"""A region in words: what it covers, how surely, and what that rests on."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from textwrap import fill

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
