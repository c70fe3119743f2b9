"""From a region to what a report says, as values: words are made here, pictures by the page.

A report has one panel for each numeric column: the bands over it, with the other columns held at
those of one row. All panels are asked for at once, so a simultaneous band holds at all their inputs
together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from typing import Any, TypeVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, IntArray
from unassuming._version import __version__
from unassuming._words import shown
from unassuming.noise import Exchangeable, Spherical, Symmetric, SymmetricExchangeable
from unassuming.plots.band import BandData
from unassuming.plots.canvas import covers, note, percent
from unassuming.regions import Diagnosis, LackOfFit, Language, Region, Status, Summary, columns_of

T = TypeVar("T")

_USUAL = (0.95, 0.8, 0.5)
_MOST_PANELS, _POINTS, _BARS, _COMMON = 6, 1500, 16, 3
_SMALL = 0.05
"""A test of the residuals whose p-value times the number of such tests is at most this warns."""

_MEDIAN = (
    "a regression quantile such as the median, QuantileRegressor(alpha=0)",
    "a regression quantile such as the median, unassuming region --model quantile",
)
_EXCHANGEABLE = (
    "noise='exchangeable', if the errors have one distribution in all rows",
    "--noise exchangeable, if the errors have one distribution in all rows",
)
_SYMMETRIC = (
    "noise='symmetric', which allows unequal spread",
    "--noise symmetric, which allows unequal spread",
)
_DEPENDENT = (
    "If the rows are times, ua.ARX may describe them; if rows of a group depend on each other, use "
    "noise=ua.noise.BlockSymmetric(groups).",
    "If the rows are times, unassuming arx may describe them; if rows of a group depend on each "
    "other, name the column of the groups with --clusters.",
)
_ENLARGE = (
    "Use a model with this feature, best on new data.",
    "Use a model with this feature, best on new data: --model spline has splines, and --knots more "
    "of them; a product can be a new column of the table.",
)
_DUAL = (
    "A kernel model has one coefficient for each row, and a single one has no meaning. The bands "
    "show the function."
)


@final
@dataclass(frozen=True, eq=False)
class Column:
    """A column of the data at a glance: five quantiles and a histogram, or frequent values."""

    name: str
    distinct: int
    quantiles: tuple[float, ...] | None = None
    counts: IntArray | None = None
    common: tuple[str, ...] = ()


@final
@dataclass(frozen=True, eq=False)
class Bands:
    """The bands of a model, sentences about them, and the vertical range of their pictures."""

    panels: tuple[BandData, ...]
    sentences: tuple[str, ...]
    vertical: tuple[float, float] = (0.0, 1.0)


@final
@dataclass(frozen=True, eq=False)
class Report:
    """Everything a report says.

    Attributes
    ----------
    title, target : str
    classifier : bool
        Whether the outputs are labels.
    facts : tuple of pairs
        Model, rows, coefficients, noise, seed, as a heading and a value.
    warnings : tuple of str
        What a reader must not miss.
    columns : tuple of Column
        The target first.
    assumptions : tuple of str
    summary : Summary or None
    notes : tuple of str
        Sentences about the summary, or why there is none.
    bands : Bands
    diagnosis : Diagnosis or None
    lack_of_fit : LackOfFit or None
    unavailable : tuple of str
        Why a check could not be made.
    guaranteed, not_guaranteed : tuples of str
    code : str
        What makes the same report again.
    versions : str

    Examples
    --------
    >>> report: ua.report.Report = ua.report.collect(region, title="Two columns")
    >>> report.title, report.warnings, [panel.name for panel in report.bands.panels]
    ('Two columns', (), ['x0', 'x1'])
    """

    title: str
    target: str
    classifier: bool
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    columns: tuple[Column, ...]
    assumptions: tuple[str, ...]
    summary: Summary | None
    notes: tuple[str, ...]
    bands: Bands
    diagnosis: Diagnosis | None
    lack_of_fit: LackOfFit | None
    unavailable: tuple[str, ...]
    guaranteed: tuple[str, ...]
    not_guaranteed: tuple[str, ...]
    code: str
    versions: str


def collect(
    region: Region,
    *,
    target: str = "y",
    title: str | None = None,
    levels: Sequence[float] | None = None,
    norm_bound: float | None = None,
    model: str | None = None,
    code: str | None = None,
    language: Language = Language.PYTHON,
) -> Report:
    """Collect everything that a report says.

    Parameters
    ----------
    region : Region
        With its rows: not from a stream.
    target : str, default "y"
        The name of the output.
    title : str, optional
    levels : sequence of floats, optional
        Of the bands; the summary has the highest one. By default 0.95, 0.8 and 0.5, as far as the
        region has them.
    norm_bound : float, optional
        As for ``region.band``.
    model : str, optional
        The name of the model; by default the estimator as Python shows it.
    code : str, optional
        The command or the program that makes the same report; by default a line of Python.
    language : Language
        Whom the advice is for.

    Returns
    -------
    Report

    Examples
    --------
    >>> report = ua.report.collect(region, target="yield")
    >>> report.title, report.columns[0].name, len(report.bands.panels)
    ('A model of yield', 'yield', 2)
    """
    used, inputs = _levels(region, levels), columns_of(region.problem.data("a report needs"))
    refused: list[str] = []

    def ask(question: Callable[[], T]) -> T | None:
        try:
            return question()
        except NotAvailable as error:
            text = _in(language, str(error), error.command_line)
            refused.append(f"{text[0].upper()}{text[1:]}")
            return None

    design = region.objective.design
    dual = design is not None and design.dual
    summary = None if dual else ask(lambda: region.summary(used[0]))
    notes = [_DUAL] if dual else list(refused)
    if summary is not None:
        parts = [(n, s) for n, s in zip(summary.names, summary.sets or (), strict=False)]
        notes = [
            f"The values of {n} that agree with the data: {s}." for n, s in parts if len(s) != 1
        ]
        notes += summary.explanation.sentences(language)
    refused.clear()
    diagnosis, fit = ask(region.diagnose), ask(region.lack_of_fit)
    named, classes, y = model or shown(region.estimator), region.problem.classes, region.objective.y
    outputs = y if classes is None else np.where(y > 0, str(classes[1]), str(classes[0]))
    bands = _bands(region, inputs, used, norm_bound, language)
    guaranteed: list[str] = []
    if diagnosis is not None and not region.caveat:
        guaranteed = _guaranteed(diagnosis, summary, bands)
    given = {"target": target, "title": title, "levels": levels, "norm_bound": norm_bound}
    packages = [(name, version(name)) for name in ("numpy", "scipy", "scikit-learn")]
    return Report(
        title=f"A model of {target}" if title is None else title,
        target=target,
        classifier=classes is not None,
        facts=tuple(_facts(region, named, target)),
        warnings=warnings_of(region, diagnosis, fit, language),
        columns=(_column(target, outputs), *(_column(*named) for named in inputs.items())),
        assumptions=() if diagnosis is None else diagnosis.rests_on,
        summary=summary,
        notes=tuple(notes),
        bands=bands,
        diagnosis=diagnosis,
        lack_of_fit=fit,
        unavailable=tuple(refused),
        guaranteed=tuple(guaranteed),
        not_guaranteed=tuple(_not_guaranteed(region, summary, bands, norm_bound)),
        code=_code(region, given) if code is None else code,
        versions=", ".join(f"{n} {v}" for n, v in [("unassuming", __version__), *packages]),
    )


def _in(language: Language, python: str, command_line: str) -> str:
    """Return the words for a reader."""
    return python if language is Language.PYTHON else command_line


def _levels(region: Region, levels: Sequence[float] | None) -> list[float]:
    """Return the levels from the highest on; by default the usual ones that the region has."""
    if levels is not None and not len(levels):
        raise ValueError(
            "levels is empty: expected at least one level, given none. Try levels=[0.9]."
        )
    found = set()
    for level in _USUAL if levels is None else levels:
        try:
            region.level(level)
            found.add(float(level))
        except ValueError:  # m does not provide it
            if levels is not None:
                raise
    return sorted(found, reverse=True) or [1 - 1 / region.m]


def _facts(region: Region, model: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield what the report is about."""
    yield from (("Model", model), ("Target", target))
    if region.problem.classes is not None:
        labels = [f"{x:g}" if isinstance(x, float) else str(x) for x in region.problem.classes]
        yield "Labels", f"+1 is {labels[1]}, -1 is {labels[0]}"
    yield from (("Rows", f"{region.n:,}"), ("Coefficients", f"{len(region.names):,}"))
    yield from (
        ("Noise", shown(region.noise)),
        ("Statistics", f"m = {region.m}, seed {region.seed}"),
    )


def _column(name: str, values: Any) -> Column:
    """Describe a column."""
    numbers = _numbers(values)
    if numbers is None:
        counted = Counter(map(str, np.asarray(values).tolist()))
        common = sorted(counted, key=lambda text: (-counted[text], text))[:_COMMON]
        return Column(name, len(counted), common=tuple(common))
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return Column(name, 0)
    quantiles = tuple(np.quantile(finite, [0, 0.25, 0.5, 0.75, 1]).tolist())
    counts = np.zeros(1, dtype=np.intp)
    if 0 < np.ptp(finite) < np.inf:
        counts = np.histogram((finite - finite.min()) / np.ptp(finite), _BARS, (0, 1))[0]
    return Column(name, len(np.unique(finite)), quantiles, counts)


def _numbers(values: Any) -> Array | None:
    """Return a column as numbers, or None."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 else None


# --- bands --------------------------------------------------------------------------------------


def nested(
    question: Callable[..., dict[float, Any]], levels: Sequence[float], options: Mapping[str, Any]
) -> dict[float, Any]:
    """Ask at levels, from the highest on, by the method that the highest one chooses.

    Bounds of a joint region lie within those of a higher level, although a search may end sooner.
    """
    found = question(level=list(levels[:1]), **options)
    if options.get("method") == "auto" and options.get("simultaneous", True):
        cells = found[levels[0]].method == "balanced cells"
        options = {**options, "method": "cells" if cells else "joint"}
    if len(levels) > 1:
        found |= question(level=list(levels[1:]), **options)
    for higher, lower in pairwise(levels):
        one, outer = found[lower], found[higher]
        low, high = np.maximum(one.lower, outer.lower), np.minimum(one.upper, outer.upper)
        inside = np.isfinite(one.upper - one.lower) & (low <= high)
        if one.method == outer.method == "joint region" and inside.any():
            low, high = np.where(inside, low, one.lower), np.where(inside, high, one.upper)
            found[lower] = replace(one, lower=low, upper=high)
    return found


def _bands(
    region: Region,
    inputs: Mapping[str, Any],
    levels: Sequence[float],
    norm_bound: float | None,
    language: Language,
) -> Bands:
    """Compute the bands of all panels at once."""
    numeric = {name: _numbers(column) for name, column in inputs.items()}
    varied = {
        name: x
        for name, x in numeric.items()
        if x is not None and np.isfinite(x).all() and len(np.unique(x)) > 2
        if name not in region.objective.excluded
    }
    chosen, shape = list(varied)[:_MOST_PANELS], np.shape(region.inputs)
    if not chosen or len(shape) != 2 or hasattr(region.inputs, "toarray"):
        return Bands((), ("The inputs have no numeric column over which a band can be drawn.",))
    size, alone = (120, True) if len(inputs) == 1 else (60, False)
    grids = {name: np.linspace(varied[name].min(), varied[name].max(), size) for name in chosen}
    row = _middle(region, numeric)
    X = _repeated(region.inputs, row, {list(inputs).index(n): x for n, x in grids.items()}, size)
    options = {"norm_bound": norm_bound, "method": "auto"}
    try:
        found = nested(partial(region.band, X), levels, options)
    except NotAvailable as error:
        return Bands((), (f"No band: {_in(language, str(error), error.command_line)}",))
    said = list(dict.fromkeys(_about(region, found, language)))
    finite = {level: band for level, band in found.items() if _finite(band)}
    if not finite:
        return Bands((), tuple(said))
    first, y, panels = next(iter(finite.values())), region.objective.y, []
    for k, (name, x) in enumerate(grids.items()):
        place = slice(k * size, (k + 1) * size)
        few = np.unique(np.linspace(0, len(y) - 1, min(len(y), _POINTS)).round().astype(int))
        few = few if alone else few[:0]
        panels.append(
            BandData(
                x=x,
                estimate=first.estimate[place],
                lower={level: band.lower[place] for level, band in finite.items()},
                upper={level: band.upper[place] for level, band in finite.items()},
                status={level: band.status for level, band in finite.items()},
                target=first.target,
                name=name,
                observed_x=varied[name][few],
                observed_y=y[few],
            )
        )
    if len(varied) > len(chosen):
        said.append(f"The first {len(chosen)} of {len(varied)} numeric columns are drawn.")
    if not alone:
        said.append(
            f"Each picture varies one column. The others have the values of row {row + 1}, the one "
            "nearest to the medians. All pictures have the same vertical scale."
        )
    return Bands(tuple(panels), tuple(said), _vertical(panels, y))


def _middle(region: Region, numeric: Mapping[str, Array | None]) -> int:
    """Return the row that is nearest to the medians of the numeric columns."""
    rows = np.flatnonzero(region.problem.data("a report needs").rows)
    distance = np.zeros(len(rows))
    for x in numeric.values():
        if x is not None and np.isfinite(x).all() and np.ptp(x) > 0:
            distance += np.abs(x - np.median(x)) / np.ptp(x)
    return int(rows[np.argmin(distance)])


def _repeated(X: Any, row: int, grids: Mapping[int, Array], size: int) -> Any:
    """Repeat a row for all panels, one below the other, in the form of the user's table.

    Each panel has its own values in the column with its number.
    """
    rows = [row] * (size * len(grids))
    if hasattr(X, "iloc"):
        table = X.iloc[rows].reset_index(drop=True)
    else:
        table = X[rows] if hasattr(X, "columns") else np.asarray(X)[rows]
        if not hasattr(X, "columns") and table.dtype.kind not in "fO":
            table = table.astype(np.float64)
    for k, (j, values) in enumerate(grids.items()):
        column = np.array(table.iloc[:, j] if hasattr(X, "iloc") else table[:, j], dtype=np.float64)
        column[k * size : (k + 1) * size] = values
        if hasattr(X, "iloc"):
            table.isetitem(j, column)
        elif hasattr(X, "columns"):
            table = table.with_columns(type(table[:, j])(table.columns[j], column))
        else:
            table[:, j] = column
    return table


def _vertical(panels: Sequence[BandData], y: Array) -> tuple[float, float]:
    """Return the vertical range: what is drawn, as far as it is near the outputs.

    At least half of the bounds of the narrowest band are inside.
    """
    low, high = float(y.min()), float(y.max())
    least = min(panels[0].lower)
    away = np.concatenate([[p.upper[least] - high, low - p.lower[least]] for p in panels], axis=1)
    middle = float(np.median(away[np.isfinite(away)])) if np.isfinite(away).any() else 0.0
    room = max(0.5 * (high - low), middle)
    bounds = [bound for p in panels for one in (p.lower, p.upper) for bound in one.values()]
    near = np.concatenate(bounds)
    near = near[np.isfinite(near)].clip(low - room, high + room)
    shown = np.concatenate([near, *(part for p in panels for part in (p.estimate, p.observed_y))])
    margin = 0.04 * np.ptp(shown) or 1.0
    return float(shown.min() - margin), float(shown.max() + margin)


def _finite(band: Any) -> bool:
    """Whether a band says something."""
    without = band.status in (Status.EMPTY, Status.TRIVIAL)
    return not without and bool((np.isfinite(band.lower) | np.isfinite(band.upper)).any())


def _about(region: Region, found: Mapping[float, Any], language: Language) -> Iterator[str]:
    """Say what the bands cover, where they come from, and why bounds are infinite."""
    finite = {level: band for level, band in found.items() if _finite(band)}
    if region.caveat:
        yield f"No guarantee: {region.caveat}"
    elif finite:
        band = next(iter(finite.values()))
        what = covers(region, band.target, band.norm_bound, None)
        yield (
            "The bands are simultaneous: each holds at all "
            f"{len(band)} inputs shown at once, with a probability of at least its level. {what} A "
            "band is not a prediction interval: it covers the function, not new outputs."
        )
        if any(band.method == "balanced cells" for band in finite.values()):
            yield "They come from balanced cells of rows, which was decided without the target."
    levels: dict[str, list[float]] = {}
    first: dict[Status, str] = {}
    for level, band in found.items():
        text = band.explanation.text(language)
        if not _finite(band):  # explanations differ in numbers only
            text = first.setdefault(band.status, f"{band.description}. {text}".strip())
        if text:
            levels.setdefault(text, []).append(level)
    for text, which in levels.items():
        yield note(which, f"{text[0].lower()}{text[1:]}".rstrip("."))


# --- what holds, and what does not --------------------------------------------------------------


def warnings_of(
    region: Region,
    diagnosis: Diagnosis | None,
    fit: LackOfFit | None,
    language: Language = Language.PYTHON,
) -> tuple[str, ...]:
    """Return what a reader must not miss, with what to do about it."""
    said = [f"No guarantee: {region.caveat}"] if region.caveat else []
    if fit is not None and fit.found:
        advice = _in(language, *_ENLARGE)
        said.append(f"{fit.sentence()} No level holds if the model is wrong. {advice}")
    tests = () if diagnosis is None else diagnosis.indications
    tests = tuple(one for one in tests if not one.unavailable)
    assumed = [one for one in tests if one.assumed]
    doubtful = {one.name for one in tests if one.pvalue <= _SMALL}
    said += [
        f"The residuals are evidence against an assumption on the noise: {one.name}, p-value "
        f"{one.pvalue:.3g}. {one.question}{_advice(region, one.name, doubtful, language)}"
        for one in assumed
        if len(assumed) * one.pvalue <= _SMALL
    ]
    return tuple(said)


def _advice(region: Region, test: str, doubtful: set[str], language: Language) -> str:
    """Return what to do about a test that fails: never an assumption that another one refutes."""
    if not isinstance(region.noise, (Symmetric, Exchangeable, SymmetricExchangeable, Spherical)):
        return ""
    if test == "no order":
        return f" {_in(language, *_DEPENDENT)}"
    ways = [_MEDIAN]
    if test == "symmetry" and "equal spread" not in doubtful:
        ways = [_MEDIAN, _EXCHANGEABLE]
    if test == "equal spread" and "symmetry" not in doubtful:
        ways = [_SYMMETRIC, _MEDIAN]
    return f" Use {', or '.join(_in(language, *way) for way in ways)}."


def _guaranteed(diagnosis: Diagnosis, summary: Summary | None, bands: Bands) -> list[str]:
    """Say what holds under the assumptions."""
    said = [f"The region covers {diagnosis.covers}."]
    if summary is not None and np.isfinite(summary.upper - summary.lower).any():
        said.append(
            "Each finite interval of a coefficient covers the true one with probability at least "
            f"{percent(summary.requested_level)}, for this number of rows."
        )
    if bands.panels:
        levels = ", ".join(map(percent, bands.panels[0].lower))
        said.append(
            "Each band holds at all inputs shown at once, with probability at least its level "
            f"({levels})."
        )
    return said


def _not_guaranteed(
    region: Region, summary: Summary | None, bands: Bands, norm_bound: float | None
) -> Iterator[str]:
    """Say what does not hold."""
    yield (
        "The guarantee is void if an assumption above is false. The checks of the residuals cannot "
        "prove that the assumptions are true."
    )
    yield (
        "The guarantee is void if the model, its penalty, the columns or the seed were chosen "
        "after looking at the target in these rows."
    )
    if summary is not None and len(summary) > 1:
        yield (
            "The intervals of the coefficients hold one at a time. The probability that all of "
            "them hold at once is lower."
        )
    if bands.panels:
        yield "A new output may lie outside the bands: they do not contain the noise."
    if norm_bound is not None:
        yield f"The norm bound of {norm_bound:g} is assumed, not estimated from the data."
    if region.objective.endogenous:
        yield (
            "It is assumed that the instruments act on the target through the endogenous columns "
            "alone. The data cannot prove this."
        )
    else:
        yield "A coefficient describes an association, which need not be a causal effect."


def _code(region: Region, given: Mapping[str, Any]) -> str:
    """Return Python that makes the report again; X and y are the reader's."""
    m = '"all"' if region.enumerated else str(region.m)
    ties = "" if region.ties == "random" else f", ties={region.ties!r}"
    asked = [f"{name}={value!r}" for name, value in given.items() if value is not None]
    return (
        f"import unassuming as ua\n\n# model: {shown(region.estimator)}\n"
        f"# noise: {shown(region.noise)}\n"
        f"region = ua.confidence_region(model, X, y, noise=noise, m={m}, "
        f"random_state={region.seed}{ties})\n"
        f'region.report("report.html", {", ".join(asked)})'
    )
