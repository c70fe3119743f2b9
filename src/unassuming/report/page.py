"""The page: what a report says as one HTML file that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from html import escape
from importlib.resources import files
from io import StringIO
from types import SimpleNamespace
from typing import Any

from unassuming.plots import canvas, diagnosis, forest
from unassuming.plots.coefficients import has_finite_end, on_one_scale
from unassuming.regions import MULTIPLICITY, Diagnosis, LackOfFit, Summary
from unassuming.report.collect import Report

# Rows of a table, and of a picture of coefficients.
_MOST_COLUMNS, _MOST_ROWS = 60, 40

# Inches: on a phone a picture has about its own size, so its letters can be read.
_WIDTH = 4.8


def render(report: Report) -> str:
    """Return a report as HTML.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str

    Examples
    --------
    >>> page = ua.report.render(ua.report.collect(region))
    >>> page[:15], "<script src" in page, "https://" in page
    ('<!doctype html>', False, False)
    """
    canvas.require_matplotlib()
    facts = [_tag("div", _tag("dt", name), _tag("dd", value)) for name, value in report.facts]
    warned = [_tag("aside", *_paragraphs(report.warnings, ""), kind="warning", role="note")]
    rests_on = () if report.diagnosis is None else report.diagnosis.rests_on
    sections = {
        "The data at a glance": _data(report.columns),
        "What is assumed": [_list(map(_sentence, rests_on))],
        "Coefficients": _coefficients(report.summary, report.notes),
        "Bands": _bands(report),
        "Checks": _checks(report),
        "What is guaranteed, and what is not": _guarantees(report),
        "How to make this report again": _again(report),
    }
    main = [
        _tag("header", _tag("h1", report.title), _tag("dl", *facts, kind="facts")),
        *(warned if report.warnings else []),
        *(
            _tag("section", _tag("h2", name), *content, id=name.split()[-1].lower())
            for name, content in sections.items()
        ),
    ]
    css, js = (
        files("unassuming.report").joinpath(f"page.{end}").read_text() for end in ("css", "js")
    )
    head = (
        '<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(report.title)}</title>\n<style>{css}</style>"
    )
    body = f"{_tag('main', *main)}\n<script>{js}</script>"
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>{body}</body>\n</html>\n'


# --- elements -----------------------------------------------------------------------------------


class _Html(str):
    """Text that is markup already."""


def _tag(name: str, *content: str, kind: str = "", **attributes: str) -> _Html:
    """Return an element; everything in it that is not markup is escaped."""
    given = {"class": kind, **attributes}
    opened = "".join(f' {key}="{escape(value)}"' for key, value in given.items() if value)
    inside = "".join(c if isinstance(c, _Html) else escape(c, quote=False) for c in content)
    return _Html(f"<{name}{opened}>{inside}</{name}>")


def _paragraphs(sentences: Iterable[str], kind: str = "note") -> list[_Html]:
    """Return a paragraph for each sentence."""
    return [_tag("p", sentence, kind=kind) for sentence in sentences]


def _list(sentences: Iterable[str]) -> _Html:
    """Return a list of sentences."""
    return _tag("ul", *(_tag("li", sentence) for sentence in sentences))


def _sentence(words: str) -> str:
    """Return words as a sentence."""
    return f"{words[0].upper()}{words[1:].rstrip('.')}."


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], what: str) -> Iterator[_Html]:
    """Yield a table whose columns can be sorted, the first to the left; what is long is cut."""
    top = [_tag("th", name, scope="col") for name in heads]
    body = [
        _tag("tr", _tag("th", first, scope="row"), *(_tag("td", cell) for cell in rest))
        for first, *rest in rows[:_MOST_COLUMNS]
    ]
    inside = _tag("thead", _tag("tr", *top)), _tag("tbody", *body)
    yield _tag("div", _tag("table", *inside), kind="scroll")
    if len(rows) > len(body):
        yield _tag("p", f"And {len(rows) - len(body)} more {what}.")


def _picture(draw: Callable[..., Any], label: str, height: float) -> _Html:
    """Return a picture of Matplotlib as SVG, the same bytes for the same numbers."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.hashsalt": label, "svg.fonttype": "none", "font.size": 11})
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        draw(ax=figure.subplots()).locator_params(axis="x", nbins=5)
        file = StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    found = re.search(r'<svg[^>]*(viewBox="[^"]*")[^>]*>(.*)', file.getvalue(), re.DOTALL)
    box, inside = ("", "") if found is None else found.groups()
    inside = re.sub(r"<metadata>.*?</metadata>", "", inside, flags=re.DOTALL)
    inside = re.sub(r'<g id="[^"]*"', "<g", inside).replace("xlink:href", "href")
    opened = f'<svg {box} role="img" aria-label="{escape(label)}">'
    return _tag("figure", _Html(opened + inside.strip()))


def _panel(panel: SimpleNamespace, output: str, *, ax: Any) -> Any:
    """Draw the bands over one column."""
    canvas.bands(ax, panel.x, panel.lower, panel.upper, panel.status, panel.window, "band")
    if len(panel.observed_x):
        canvas.dots(ax, panel.observed_x, panel.observed_y, "data")
    canvas.curve(ax, panel.x, panel.estimate, "estimate")
    ax.set_ylim(panel.window)
    canvas.name_axes(ax, panel.name, output)
    canvas.legend_above(ax, [])
    return ax


# --- sections -----------------------------------------------------------------------------------


def _data(columns: Sequence[Sequence[str]]) -> Iterator[_Html]:
    """Yield the data at a glance."""
    heads = ("column", "smallest", "median", "largest", "distinct")
    yield from _table(heads, columns, "columns")


def _coefficients(summary: Summary | None, notes: Sequence[str]) -> Iterator[_Html]:
    """Yield the summary and its picture."""
    if summary is None:
        yield from _paragraphs(["There is no table of coefficients.", *notes], "")
        return
    yield _tag(
        "p",
        f"Estimates with {canvas.percent(summary.requested_level)} intervals, one at a time, and "
        "p-values of the hypothesis that the coefficient is zero.",
        _tag("span", " Click a heading to sort.", kind="screen"),
    )
    least = [0.0] * len(summary) if summary.smallest_pvalue is None else summary.smallest_pvalue
    columns = [
        *(
            [f"{x:.6g}" for x in column]
            for column in (summary.estimate, summary.lower, summary.upper)
        ),
        [f"{'<= ' if p <= q else ''}{p:.2g}" for p, q in zip(summary.pvalue, least, strict=True)],
    ]
    heads = ["coefficient", "estimate", "lower", "upper", "p-value"]
    if summary.sets is not None:
        heads.append("values that are not rejected")
        columns.append([str(one) for one in summary.sets])
    yield from _table(heads, list(zip(summary.names, *columns, strict=True)), "coefficients")
    names = on_one_scale(summary)
    drawn = names[:_MOST_ROWS]
    if has_finite_end(summary, drawn):
        draw, height = partial(forest, summary, drawn), 0.3 * len(drawn) + 1.4
        yield _picture(draw, "Intervals of the coefficients", height)
        if len(names) < len(summary):
            notes = ["The picture leaves out the intercept, which has a different scale.", *notes]
        if len(drawn) < len(names):
            notes = [f"The picture ends after {_MOST_ROWS} coefficients.", *notes]
    yield from _paragraphs(notes)


def _bands(report: Report) -> Iterator[_Html]:
    """Yield the bands over each column."""
    output = f"E[{report.target}]" if report.classifier else report.target
    for panel in report.panels:
        levels = ", ".join(map(canvas.percent, panel.lower))
        label = f"{output} over {panel.name}: the estimate, with bands of level {levels}"
        yield _picture(partial(_panel, panel, output), label, 3.6)
    if not report.panels and not report.band_notes:
        yield _tag("p", "The inputs have no numeric column over which a band can be drawn.")
    yield from _paragraphs(report.band_notes)


def _checks(report: Report) -> Iterator[_Html]:
    """Yield what the residuals and added features say."""
    if report.diagnosis is not None:
        yield _tag("h3", "Residuals")
        yield from _residuals(report.diagnosis, drawn=not report.classifier)
    if report.lack_of_fit is not None:
        yield _tag("h3", "Lack of fit")
        yield from _lack_of_fit(report.lack_of_fit)
    yield from _paragraphs(report.unavailable)


def _residuals(found: Diagnosis, *, drawn: bool) -> Iterator[_Html]:
    """Yield pictures of the residuals and tests of them; those of labels are on two curves."""
    if drawn:
        yield _picture(partial(diagnosis, found), "Residuals over the fitted values", 3.2)
        in_order = partial(diagnosis, found, "row")
        yield _picture(in_order, "Residuals in the order of the rows", 3.2)
    rows = [
        [
            _tag("span", one.name, _tag("small", f" {one.question}")),
            "–" if one.unavailable else f"{one.pvalue:.2g}",
            "yes" if one.assumed else "no",
            "–" if one.unavailable else ("exact" if one.exact else "approximate"),
        ]
        for one in found.indications
    ]
    yield from _table(("test", "p-value", "assumed", "kind"), rows, "tests")
    missing = dict.fromkeys(one.unavailable for one in found.indications if one.unavailable)
    yield from _paragraphs([*missing, found.caveat])


def _lack_of_fit(check: LackOfFit) -> Iterator[_Html]:
    """Yield the tests of added features."""
    yield _tag("p", _sentence(check.sentence().removeprefix("Lack of fit: ")))
    if check.tests:
        rows = [
            (test.name, str(test.terms), f"{test.pvalue:.2g}", f"{test.adjusted:.2g}")
            for test in check.tests
        ]
        yield from _table(("added feature", "terms", "p-value", "adjusted"), rows, "features")
        yield from _paragraphs(filter(None, (MULTIPLICITY, check.omitted())))


def _guarantees(report: Report) -> Iterator[_Html]:
    """Yield what holds, and what does not."""
    covered = "Nothing is guaranteed."
    if report.guaranteed:
        covered = f"If the assumptions hold, the region covers {report.guaranteed}."
    yield _tag("p", covered)
    yield _list(report.not_guaranteed)


def _again(report: Report) -> Iterator[_Html]:
    """Yield how to make the report again."""
    yield _tag("pre", _tag("code", report.code))
    same = "The same data, options and seed give the same file."
    yield _tag("p", f"{same} Made with {report.versions}.", kind="note")
