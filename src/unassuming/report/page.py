"""The page: what a report says as one HTML file that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import partial
from html import escape
from importlib.resources import files
from io import StringIO
from math import floor, isfinite, isnan, log10
from typing import Any

import numpy as np

from unassuming.plots import diagnosis_data, forest_data
from unassuming.plots.band import BandData, draw_band
from unassuming.plots.canvas import name_axes, percent, require_matplotlib
from unassuming.plots.coefficients import draw_forest, on_one_scale
from unassuming.plots.others import DiagnosisData, draw_diagnosis
from unassuming.regions import MULTIPLICITY, Diagnosis, LackOfFit, Summary
from unassuming.report.collect import Column, Report

_MOST_COLUMNS, _MOST_ROWS, _MOST_DOTS, _LONGEST = 60, 40, 1500, 24
"""Columns and coefficients that a page lists; rows, dots and characters of a name in a picture."""

_WIDTH = 4.8
"""Inches: on a phone a picture has about its own size, so its letters can be read."""


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
    require_matplotlib()
    facts = [_tag("div", _tag("dt", name), _tag("dd", value)) for name, value in report.facts]
    warnings = [_tag("aside", *_paragraphs(report.warnings), kind="warning", role="note")]
    main = [
        _tag("header", _tag("h1", report.title), _tag("dl", *facts, kind="facts")),
        *(warnings if report.warnings else []),
        _section("data", "The data at a glance", _data(report.columns)),
        _section("assumed", "What is assumed", [_list(map(_sentence, report.assumptions))]),
        _section("coefficients", "Coefficients", _coefficients(report.summary, report.notes)),
        _section("bands", "Bands", _bands(report)),
        _section("checks", "Checks", _checks(report)),
        _section("guarantees", "What is guaranteed, and what is not", _guarantees(report)),
        _section("again", "How to make this report again", _again(report)),
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


def _file(name: str) -> str:
    return files("unassuming.report").joinpath(name).read_text(encoding="utf-8")


# --- elements -----------------------------------------------------------------------------------


class _Html(str):
    """Text that is markup already."""


def _tag(name: str, *content: str, kind: str = "", **attributes: str) -> _Html:
    """Return an element; everything in it that is not markup is escaped."""
    given = {"class": kind, **{key.replace("_", "-"): v for key, v in attributes.items()}}
    opened = "".join(f' {key}="{escape(value)}"' for key, value in given.items() if value)
    inside = "".join(c if isinstance(c, _Html) else escape(c, quote=False) for c in content)
    return _Html(f"<{name}{opened}>{inside}</{name}>")


def _section(key: str, title: str, content: Iterable[str]) -> _Html:
    return _tag("section", _tag("h2", title), *content, id=key)


def _paragraphs(sentences: Iterable[str], kind: str = "") -> list[_Html]:
    return [_tag("p", sentence, kind=kind) for sentence in sentences]


def _list(sentences: Iterable[str]) -> _Html:
    return _tag("ul", *(_tag("li", sentence) for sentence in sentences))


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:].rstrip('.')}."


def _table(
    heads: Sequence[tuple[str, str]],
    rows: Iterable[Sequence[str]],
    values: Sequence[Sequence[Any]] | None = None,
    kind: str = "",
) -> _Html:
    """Return a table; ``values`` are what its columns are sorted by."""
    names = [name if values is None else _tag("button", name, type="button") for name, _ in heads]
    top = [_tag("th", n, kind=k, scope="col") for n, (_, k) in zip(names, heads, strict=True)]
    body = []
    for i, cells in enumerate(rows):
        line = []
        for j, (cell, (_, align)) in enumerate(zip(cells, heads, strict=True)):
            sort = {} if values is None else {"data_value": _sortable(values[i][j])}
            scope = {"scope": "row"} if j == 0 else {}
            line.append(_tag("td" if j else "th", cell, kind=align, **sort, **scope))
        body.append(_tag("tr", *line))
    kind = kind if values is None else f"{kind} sortable".strip()
    inside = _tag("thead", _tag("tr", *top)), _tag("tbody", *body)
    return _tag("div", _tag("table", *inside, kind=kind), kind="scroll")


def _sortable(value: Any) -> str:
    """Return what the script of the page sorts by: JavaScript has its own infinity."""
    return "" if value != value else str(value).replace("inf", "Infinity")


# --- pictures -----------------------------------------------------------------------------------


def _picture(draw: Callable[[Any], None], label: str, height: float) -> _Html:
    """Return a picture of Matplotlib as SVG, the same bytes for the same numbers."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.hashsalt": label, "svg.fonttype": "none", "font.size": 11})
        mpl.rcParams.update({"text.parse_math": False, "axes.linewidth": 0.6})
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        ax = figure.subplots()
        draw(ax)
        ax.locator_params(axis="x", nbins=5)
        figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize="small")
        file = StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    _, _, inside = file.getvalue().partition("<svg")
    box = re.search(r'viewBox="([^"]*)"', inside)
    inside = re.sub(r"<metadata>.*?</metadata>", "", inside.partition(">")[2], flags=re.DOTALL)
    inside = re.sub(r'<g id="[^"]*"', "<g", inside).replace("xlink:href", "href")
    opened = f'<svg viewBox="{box[1] if box else ""}" role="img" aria-label="{escape(label)}">'
    return _tag("figure", _Html(opened + inside.strip()))


def _spark(counts: Sequence[int]) -> _Html:
    """Return a small histogram."""
    width, top = 64 / len(counts), max(*counts, 1)
    bars = "".join(
        f"M{k * width:.1f} 18h{width - 0.6:.1f}v{-18 * count / top:.1f}h{0.6 - width:.1f}z"
        for k, count in enumerate(counts)
    )
    label = 'viewBox="0 0 64 18" class="spark" role="img" aria-label="histogram"'
    return _Html(f'<svg {label}><path d="{bars}"/></svg>')


def _cut(name: str, most: int = _LONGEST) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _band(panel: BandData, output: str, vertical: tuple[float, float], ax: Any) -> None:
    draw_band(ax, panel, window=vertical)
    name_axes(ax, _cut(panel.name, 44), _cut(output))


def _forest(summary: Summary, names: Sequence[str], ax: Any) -> None:
    data = forest_data(summary, names)
    draw_forest(ax, replace(data, names=tuple(map(_cut, data.names))))


def _residual(data: DiagnosisData, ax: Any) -> None:
    few = np.linspace(0, len(data.x) - 1, min(len(data.x), _MOST_DOTS)).round().astype(int)
    draw_diagnosis(ax, replace(data, x=data.x[few], residuals=data.residuals[few]))


# --- sections -----------------------------------------------------------------------------------


def _data(columns: Sequence[Column]) -> Iterator[_Html]:
    some, rows = columns[:_MOST_COLUMNS], []
    numbers = [
        _aligned(["" if c.quantiles is None else _number(c.quantiles[k], 3) for c in some])
        for k in (0, 2, 4)
    ]
    for i, column in enumerate(some):
        spark = _tag("span", ", ".join(column.common), kind="common")
        if column.counts is not None:
            spark = _spark(column.counts.tolist())
        name = _tag("span", column.name, *([] if i else [_tag("small", " target")]))
        rows.append([name, spark, *(texts[i] for texts in numbers), f"{column.distinct:,}"])
    heads = [("column", "name"), ("", "spark"), ("smallest", "number"), ("median", "number")]
    yield _table([*heads, ("largest", "number"), ("distinct", "number extra")], rows)
    if len(columns) > len(some):
        yield _tag("p", f"And {len(columns) - len(some)} more columns.")


def _coefficients(summary: Summary | None, notes: Sequence[str]) -> Iterator[_Html]:
    if summary is None:
        yield from _paragraphs(["There is no table of coefficients.", *notes])
        return
    yield _tag(
        "p",
        f"Estimates with {percent(summary.requested_level)} intervals, one at a time, and p-values "
        "of the hypothesis that the coefficient is zero.",
        _tag("span", " Click a heading to sort.", kind="screen"),
    )
    every = forest_data(summary)
    columns = [every.estimate, every.lower, every.upper, summary.pvalue]
    values = list(zip(summary.names, *columns, strict=True))[:_MOST_COLUMNS]
    texts = [[*_interval(*map(float, row[1:4])), _pvalue(row[4])] for row in values]
    padded = zip(*map(_aligned, zip(*texts, strict=True)), strict=True)
    rows = [[row[0], *cells] for row, cells in zip(values, padded, strict=True)]
    heads = [(name, "number") for name in ("estimate", "lower", "upper", "p-value")]
    yield _table([("coefficient", "name"), *heads], rows, values, kind="summary")
    if len(summary) > len(rows):
        yield _tag("p", f"And {len(summary) - len(rows)} more coefficients.")
    names = on_one_scale(summary)
    drawn = names[:_MOST_ROWS]
    if any(np.isfinite(ends).any() for ends in forest_data(summary, drawn).sets):
        draw = partial(_forest, summary, drawn)
        yield _picture(draw, "Intervals of the coefficients", 0.3 * len(drawn) + 1.2)
        if len(names) < len(summary):
            notes = ["The picture leaves out the intercept, which has a different scale.", *notes]
        if len(drawn) < len(names):
            notes = [f"The picture ends after {_MOST_ROWS} coefficients.", *notes]
    yield from _paragraphs(notes, "note")


def _bands(report: Report) -> Iterator[_Html]:
    output = f"E[{report.target}]" if report.classifier else report.target
    for panel in report.bands.panels:
        draw = partial(_band, panel, output, report.bands.vertical)
        levels = ", ".join(map(percent, panel.lower))
        label = f"{output} over {panel.name}: the estimate, with bands of level {levels}"
        yield _picture(draw, label, 3.6)
    yield from _paragraphs(report.bands.sentences, "note")


def _checks(report: Report) -> Iterator[_Html]:
    if report.diagnosis is not None:
        yield _tag("h3", "Residuals")
        yield from _residuals(report.diagnosis, drawn=not report.classifier)
    if report.lack_of_fit is not None:
        yield _tag("h3", "Lack of fit")
        yield from _lack_of_fit(report.lack_of_fit)
    yield from _paragraphs(report.unavailable, "note")


def _residuals(diagnosis: Diagnosis, *, drawn: bool) -> Iterator[_Html]:
    against = {
        None: "Residuals over the fitted values",
        "row": "Residuals in the order of the rows",
    }
    for name, label in against.items() if drawn else ():  # those of labels are on two curves
        yield _picture(partial(_residual, diagnosis_data(diagnosis, name)), label, 3.0)
    tests = diagnosis.indications
    rows = [
        [
            _tag("span", one.name, _tag("small", f" {one.question}")),
            _pvalue(one.pvalue),
            "yes" if one.assumed else "no",
            "–" if one.unavailable else ("exact" if one.exact else "approximate"),
        ]
        for one in tests
    ]
    heads = [("test", "name"), ("p-value", "number"), ("assumed", "word"), ("kind", "word extra")]
    yield _table(heads, rows)
    missing = dict.fromkeys(one.unavailable for one in tests if one.unavailable)
    yield from _paragraphs([*missing, diagnosis.caveat], "note")


def _lack_of_fit(check: LackOfFit) -> Iterator[_Html]:
    yield _tag("p", _sentence(check.sentence().removeprefix("Lack of fit: ")))
    if not check.tests:
        return
    values = [(test.name, test.terms, test.pvalue, test.adjusted) for test in check.tests]
    rows = [
        (name, str(terms), _pvalue(p), _pvalue(adjusted)) for name, terms, p, adjusted in values
    ]
    heads = [(name, "number") for name in ("terms", "p-value", "adjusted")]
    yield _table([("added feature", "name"), *heads], rows, values)
    yield from _paragraphs(filter(None, (MULTIPLICITY, check.omitted())), "note")


def _guarantees(report: Report) -> Iterator[_Html]:
    if report.guaranteed:
        yield _tag("p", "If the assumptions hold:")
        yield _list(report.guaranteed)
    else:
        yield _tag("p", "Nothing is guaranteed.")
    yield _tag("p", "Not guaranteed:")
    yield _list(report.not_guaranteed)


def _again(report: Report) -> Iterator[_Html]:
    yield _tag("pre", _tag("code", report.code))
    same = "The same data, options and seed give the same file."
    yield _tag("p", f"{same} Made with {report.versions}.", kind="note")


# --- numbers ------------------------------------------------------------------------------------

_FIGURE, _POINT, _MINUS = "\u2007", "\u2008", "\u2212"  # spaces as wide as a digit, as a full stop


def _number(value: float, digits: int, decimals: int | None = None) -> str:
    """Return a number with so many significant digits, or decimals; never a negative zero."""
    if not isfinite(value):
        return "–" if isnan(value) else ("∞" if value > 0 else f"{_MINUS}∞")
    size = floor(log10(abs(value))) if value else 0
    if decimals is None and not -5 <= size < 7:
        return f"{value:.{digits}g}".replace("-", _MINUS)
    return f"{value:z.{max(0, digits - 1 - size) if decimals is None else decimals}f}".replace(
        "-", _MINUS
    )


def _interval(estimate: float, lower: float, upper: float) -> list[str]:
    """Return an estimate and its interval with the digits that the width allows.

    The ends are rounded outward, and keep their sign.
    """
    ends = [abs(end) for end in (lower, upper) if end and isfinite(end)]
    sizes = [abs(estimate), *ends] if isfinite(estimate) else ends
    away = [(lower, ROUND_FLOOR), (upper, ROUND_CEILING)]
    largest = max(sizes, default=0.0)
    if largest >= 1e7 or 0 < largest < 1e-4:
        outer = [
            float(Context(3, mode).create_decimal(repr(end))) if isfinite(end) else end
            for end, mode in away
        ]
        return [_number(value, 3) for value in (estimate, *outer)]
    width = upper - lower if 0 < upper - lower < np.inf else (largest or 1.0) / 10
    places = max(1 - floor(log10(width)), *(-floor(log10(end)) for end in ends), 0)
    unit = Decimal(1).scaleb(-min(places, 8))
    outer = [
        float(Decimal(repr(end)).quantize(unit, mode)) if isfinite(end) else end
        for end, mode in away
    ]
    return [_number(value, 3, min(places, 8)) for value in (estimate, *outer)]


def _pvalue(p: float) -> str:
    """Return a p-value with four decimals."""
    return "<\u20090.0001" if p < 0.0001 else _number(p, 4, 4)


def _aligned(texts: Sequence[str]) -> list[str]:
    """Pad numbers behind their decimal point, so that right-aligned columns align on it."""
    plain = [
        len(text.partition(".")[2]) if text[-1:].isdigit() and "e" not in text else 0
        for text in texts
    ]
    most = max(plain, default=0)
    return [
        text + ("" if places == most else _POINT * (places == 0) + _FIGURE * (most - places))
        for text, places in zip(texts, plain, strict=True)
    ]
