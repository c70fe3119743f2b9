"""The page: the content of a report as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element

import numpy as np

from unassuming.plots import diagnosis_data, percent
from unassuming.regions import MULTIPLICITY, Diagnosis, LackOfFit, Summary
from unassuming.report._content import Column, Report
from unassuming.report._html import as_html, element
from unassuming.report._numbers import aligned, interval, number, pvalue
from unassuming.report._pictures import (
    MOST_ROWS,
    band_figure,
    forest_figure,
    forest_rows,
    residual_figure,
    sparkline,
)

_MOST_COLUMNS = 60
"""Columns of the data, and coefficients, that a page lists."""


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
    head = element(
        "head",
        None,
        element("meta", {"charset": "utf-8"}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", {"name": "color-scheme", "content": "light dark"}),
        element("title", None, report.title),
        element("style", None, _file("page.css")),
    )
    body = element("body", None, element("main", None, *_sections(report)))
    body.append(element("script", None, _file("page.js")))
    page = element("html", {"lang": "en"}, head, body)
    return f"<!doctype html>\n{as_html(page)}\n"


def _file(name: str) -> str:
    return files("unassuming.report").joinpath(name).read_text(encoding="utf-8")


def _sections(report: Report) -> Iterable[Element]:
    yield element("header", None, element("h1", None, report.title), _facts(report))
    if report.warnings:
        box = element("aside", {"class": "warning", "role": "note"})
        box.extend(element("p", None, sentence) for sentence in report.warnings)
        yield box
    yield _section("data", "The data at a glance", *_data(report.columns))
    yield _section("assumed", "What is assumed", *_assumed(report))
    yield _section("coefficients", "Coefficients", *_coefficients(report.summary, report.notes))
    yield _section("bands", "Bands", *_bands(report))
    yield _section("checks", "Checks", *_checks(report))
    yield _section("guarantees", "What is guaranteed, and what is not", *_guarantees(report))
    yield _section("again", "How to make this report again", *_again(report))


def _section(key: str, title: str, *content: Element) -> Element:
    return element("section", {"id": key}, element("h2", None, title), *content)


def _paragraphs(sentences: Sequence[str], kind: str = "") -> list[Element]:
    attributes = {"class": kind} if kind else None
    return [element("p", attributes, sentence) for sentence in sentences]


def _facts(report: Report) -> Element:
    listed = element("dl", {"class": "facts"})
    for heading, value in report.facts:
        listed.append(
            element("div", None, element("dt", None, heading), element("dd", None, value))
        )
    return listed


def _table(
    heads: Sequence[tuple[str, str]],
    rows: Iterable[Sequence[Element | str]],
    values: Sequence[Sequence[float | str]] | None = None,
    kind: str = "",
) -> Element:
    """Return a table; ``values`` are what its columns are sorted by."""
    top = element("tr")
    for name, align in heads:
        inside: Element | str = name
        if values is not None:
            inside = element("button", {"type": "button"}, name)
        top.append(element("th", {"class": align, "scope": "col"}, inside))
    body = element("tbody")
    for i, cells in enumerate(rows):
        line = element("tr")
        for j, (cell, (_, align)) in enumerate(zip(cells, heads, strict=True)):
            attributes = {"class": align}
            if values is not None:
                attributes["data-value"] = str(values[i][j])
            if j == 0:
                line.append(element("th", {**attributes, "scope": "row"}, cell))
            else:
                line.append(element("td", attributes, cell))
        body.append(line)
    names = f"{kind} sortable".strip() if values is not None else kind
    table = element("table", {"class": names} if names else None, element("thead", None, top), body)
    return element("div", {"class": "scroll"}, table)


def _data(columns: Sequence[Column]) -> Iterable[Element]:
    shown = columns[:_MOST_COLUMNS]
    numbers = [aligned([_quantile(column, k) for column in shown]) for k in (0, 2, 4)]
    rows: list[list[Element | str]] = []
    for i, column in enumerate(shown):
        spark: Element | str = "" if column.counts is None else sparkline(column)
        if column.quantiles is None:
            common = ", ".join(column.common)
            spark = element("span", {"class": "common"}, common)
        name = element("span", None, column.name)
        if i == 0:
            name.append(element("small", None, " target"))
        rows.append([name, spark, *(texts[i] for texts in numbers), f"{column.distinct:,}"])
    heads = [("column", "name"), ("", "spark"), ("smallest", "number"), ("median", "number")]
    yield _table([*heads, ("largest", "number"), ("distinct", "number extra")], rows)
    if len(columns) > len(shown):
        yield element("p", None, f"And {len(columns) - len(shown)} more columns.")


def _quantile(column: Column, k: int) -> str:
    return "" if column.quantiles is None else number(column.quantiles[k], 3)


def _assumed(report: Report) -> Iterable[Element]:
    if report.assumptions:
        items = [element("li", None, _sentence(one)) for one in report.assumptions]
        yield element("ul", None, *items)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:].rstrip('.')}."


def _coefficients(summary: Summary | None, notes: Sequence[str]) -> Iterable[Element]:
    if summary is None:
        yield from _paragraphs(["There is no table of coefficients.", *notes])
        return
    level = percent(summary.requested_level)
    yield element(
        "p",
        None,
        f"Estimates of the model with {level} intervals, one at a time, and p-values of the "
        "hypothesis that the coefficient is zero.",
        element("span", {"class": "screen"}, " Click a heading to sort."),
    )
    width = summary.upper - summary.lower
    count = min(len(summary), _MOST_COLUMNS)
    every = [
        interval(float(summary.estimate[j]), float(summary.lower[j]), float(summary.upper[j]))
        for j in range(count)
    ]
    texts = [aligned([numbers[k] for numbers in every]) for k in range(3)]
    texts.append(aligned([pvalue(p) for p in summary.pvalue[:count].tolist()]))
    rows = [[summary.names[j], *(column[j] for column in texts)] for j in range(count)]
    values = [
        [summary.names[j], *(_sortable(float(v[j])) for v in _numbers(summary))]
        for j in range(count)
    ]
    heads = [(name, "number") for name in ("estimate", "lower", "upper", "p-value")]
    yield _table([("coefficient", "name"), *heads], rows, values, kind="summary")
    if len(summary) > count:
        yield element("p", None, f"And {len(summary) - count} more coefficients.")
    drawn = forest_rows(summary)
    if np.isfinite(width[drawn]).any():
        yield forest_figure(summary, drawn)
        yield from _paragraphs(_left_out(summary, drawn), "note")
    yield from _paragraphs(notes, "note")


def _numbers(summary: Summary) -> Sequence[np.ndarray]:
    return summary.estimate, summary.lower, summary.upper, summary.pvalue


def _sortable(value: float) -> float | str:
    return (
        value if np.isfinite(value) else {np.inf: "Infinity", -np.inf: "-Infinity"}.get(value, "")
    )


def _left_out(summary: Summary, drawn: Sequence[int]) -> list[str]:
    said = []
    if drawn and drawn[0] == 1:
        said.append("The picture leaves out the intercept, which has a different scale.")
    if drawn and drawn[-1] < len(summary) - 1:
        said.append(f"The picture ends after {MOST_ROWS} coefficients.")
    return said


def _bands(report: Report) -> Iterable[Element]:
    for key, panel in enumerate(report.bands.panels):
        yield band_figure(panel, _output(report), report.bands.vertical, key)
    yield from _paragraphs(report.bands.sentences, "note")


def _output(report: Report) -> str:
    return f"E[{report.target}]" if report.classifier else report.target


def _checks(report: Report) -> Iterable[Element]:
    if report.diagnosis is not None:
        yield element("h3", None, "Residuals")
        yield from _residuals(report.diagnosis, drawn=not report.classifier)
    if report.lack_of_fit is not None:
        yield element("h3", None, "Lack of fit")
        yield from _lack_of_fit(report.lack_of_fit)
    for sentence in report.unavailable:
        yield element("p", {"class": "note"}, sentence)


def _residuals(diagnosis: Diagnosis, *, drawn: bool) -> Iterable[Element]:
    if drawn:  # those of labels are on two curves
        picture = diagnosis_data(diagnosis)
        yield residual_figure(picture, "Residuals of the estimate, with their running median")
        picture = diagnosis_data(diagnosis, "row")
        yield residual_figure(picture, "The same residuals in the order of the rows")
    rows = [
        [
            element("span", None, one.name, element("small", None, f" {one.question}")),
            pvalue(one.pvalue),
            "yes" if one.assumed else "no",
            "–" if one.unavailable else ("exact" if one.exact else "approximate"),
        ]
        for one in diagnosis.indications
    ]
    heads = [("test", "name"), ("p-value", "number"), ("assumed", "word"), ("kind", "word extra")]
    yield _table(heads, rows)
    missing = [one.unavailable for one in diagnosis.indications if one.unavailable]
    yield from _paragraphs([*dict.fromkeys(missing), diagnosis.caveat], "note")


def _lack_of_fit(check: LackOfFit) -> Iterable[Element]:
    sentence = check.sentence().removeprefix("Lack of fit: ")
    yield element("p", None, f"{sentence[0].upper()}{sentence[1:]}")
    if not check.tests:
        return
    p = aligned([pvalue(test.pvalue) for test in check.tests])
    adjusted = aligned([pvalue(test.adjusted) for test in check.tests])
    rows = [[test.name, str(test.terms), p[i], adjusted[i]] for i, test in enumerate(check.tests)]
    values: list[list[float | str]] = [
        [test.name, test.terms, test.pvalue, test.adjusted] for test in check.tests
    ]
    heads = [(name, "number") for name in ("terms", "p-value", "adjusted")]
    yield _table([("added feature", "name"), *heads], rows, values)
    yield from _paragraphs([note for note in (MULTIPLICITY, check.omitted()) if note], "note")


def _guarantees(report: Report) -> Iterable[Element]:
    if report.guaranteed:
        yield element("p", None, "If the assumptions hold:")
        yield element("ul", None, *(element("li", None, one) for one in report.guaranteed))
    else:
        yield element("p", None, "Nothing is guaranteed.")
    yield element("p", None, "Not guaranteed:")
    yield element("ul", None, *(element("li", None, one) for one in report.not_guaranteed))


def _again(report: Report) -> Iterable[Element]:
    yield element("pre", None, element("code", None, report.reproduction.code))
    made = ", ".join(f"{name} {number}" for name, number in report.reproduction.versions)
    yield element(
        "p",
        {"class": "note"},
        f"The same data, options and seed give the same file. Made with {made}.",
    )
