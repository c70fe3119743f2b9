"""From a region to what a report says, as values: words are made here, pictures by the page.

A report has one panel for each numeric column: the bands over it, with the other columns held at
those of one row. All panels are asked for at once, so a simultaneous band holds at all their inputs
together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, TypeVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming._version import __version__
from unassuming._words import shown
from unassuming.noise import Exchangeable, Spherical, Symmetric, SymmetricExchangeable
from unassuming.plots.canvas import covers, limits, note
from unassuming.regions import Diagnosis, LackOfFit, Language, Region, Status, Summary, columns_of

T = TypeVar("T")
Inputs = Mapping[str, Array]

_USUAL = (0.95, 0.8, 0.5)
_MOST_PANELS, _POINTS, _COMMON = 6, 1500, 3
# A test of the residuals whose p-value times the number of such tests is at most this warns;
# coefficients for which regression quantiles have bounds.
_SMALL, _MOST_OF_QUANTILES = 0.05, 4

# What to do about noise that is not as assumed, if the reasons against it do not hold.
_OTHER_NOISE = (
    (
        "Use a regression quantile such as the median, QuantileRegressor(alpha=0).",
        "Use a regression quantile such as the median, --model quantile.",
        {"many columns"},
    ),
    (
        "If the errors have one distribution in all rows, use noise='exchangeable'.",
        "If the errors have one distribution in all rows, use --noise exchangeable.",
        {"equal spread"},
    ),
    (
        "Use noise='symmetric', which allows unequal spread.",
        "Use --noise symmetric, which allows unequal spread.",
        {"symmetry"},
    ),
)
_TRANSFORM = "A transformation of the target, such as its logarithm, may make the errors symmetric."

# What to do about a check that fails, in Python and on the command line.
_ADVICE = {
    "no order": (
        "If the rows are times, ua.ARX may describe them; if rows of a group depend on each other, "
        "use noise=ua.noise.BlockSymmetric(groups).",
        "If the rows are times, unassuming arx may describe them; if rows of a group depend on "
        "each other, name the column of the groups with --clusters.",
    ),
    "lack of fit": (
        "Use a model with this feature, best on new data.",
        "Use a model with this feature, best on new data: --model spline has splines, and a "
        "product can be a new column of the table.",
    ),
}

_VOID = (
    "The guarantee is void if an assumption above is false, which the checks of the residuals "
    "cannot rule out.",
    "The guarantee is void if the model, its penalty or the columns were chosen after looking at "
    "the target in these rows.",
)
_CAUSAL = (
    "A coefficient describes an association, which need not be a causal effect.",
    "It is assumed that the instruments act on the target through the endogenous columns alone. "
    "The data cannot prove this.",
)
_OTHERS = (
    "Each picture varies one column. The others have the values of the row that is nearest to the "
    "medians. All pictures have the same vertical scale."
)
_DUAL = (
    "A kernel model has one coefficient for each row, and a single one has no meaning. The bands "
    "show the function."
)


@final
@dataclass(frozen=True, eq=False)
class Report:
    """Everything a report says.

    Attributes
    ----------
    title, target, code, versions : str
    classifier : bool
        Whether the outputs are labels.
    facts : tuple of pairs
        Model, rows, coefficients, noise, seed, as a heading and a value.
    warnings : tuple of str
    columns : tuple of tuples of str
        Each column, the target first: name, smallest, median, largest value or frequent ones, and
        the number of distinct values.
    summary, diagnosis, lack_of_fit : Summary, Diagnosis, LackOfFit, or None
    panels : tuple of SimpleNamespace
        For each picture of bands its column ``name``, ``x``, ``estimate``, by level ``lower``,
        ``upper`` and ``status``, the rows ``observed_x``, ``observed_y`` and the ``window``.
    notes, band_notes, unavailable : tuples of str
        About the summary and the bands; why a check could not be made.
    guaranteed : str
        What the region covers; empty if that is not known.
    not_guaranteed : tuple of str

    Examples
    --------
    >>> report: ua.report.Report = ua.report.collect(region, title="Two columns")
    >>> report.title, report.warnings, [panel.name for panel in report.panels]
    ('Two columns', (), ['x0', 'x1'])
    """

    title: str
    target: str
    classifier: bool
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    summary: Summary | None
    notes: tuple[str, ...]
    panels: tuple[SimpleNamespace, ...]
    band_notes: tuple[str, ...]
    diagnosis: Diagnosis | None
    lack_of_fit: LackOfFit | None
    unavailable: tuple[str, ...]
    guaranteed: str
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
    >>> report.title, report.columns[0][0], len(report.panels)
    ('A model of yield', 'yield', 2)
    """
    used, inputs = _levels(region, levels), columns_of(region.problem.data("a report needs"))
    refused: list[str] = []

    def ask(question: Callable[..., T], *arguments: Any, **options: Any) -> T | None:
        try:
            return question(*arguments, **options)
        except NotAvailable as error:
            text = _in(language, str(error), error.command_line)
            refused.append(f"{text[0].upper()}{text[1:]}")
            return None

    design = region.objective.design
    dual = design is not None and design.dual
    summary = None if dual else ask(region.summary, used[0])
    notes = [_DUAL] if dual else list(refused)
    if summary is not None:
        notes = list(summary.explanation.sentences(language))
    refused.clear()
    X, panels = _panels(region, inputs)
    bands = ask(region.band, X, level=used, norm_bound=norm_bound) if panels else {}
    band_notes = [*refused, *_about(region, bands or {}, language)]
    finite = {p: band for p, band in (bands or {}).items() if _finite(band)}
    panels = panels if finite else []
    if panels:
        _fill(panels, finite, region.objective.y)
    if len(panels) > 1:
        band_notes.append(_OTHERS)
    refused.clear()
    diagnosis, fit = ask(region.diagnose), ask(region.lack_of_fit)
    classes, y = region.problem.classes, region.objective.y
    outputs = y if classes is None else np.where(y > 0, str(classes[1]), str(classes[0]))
    again = _code(region, target=target, title=title, levels=levels, norm_bound=norm_bound)
    bound = f"The norm bound of {norm_bound} is assumed, not estimated from the data."
    open_questions = [*_VOID, *[bound] * (norm_bound is not None)]
    return Report(
        title=f"A model of {target}" if title is None else title,
        target=target,
        classifier=classes is not None,
        facts=tuple(_facts(region, model or shown(region.estimator), target)),
        warnings=warnings_of(region, diagnosis, fit, language),
        columns=(_column(target, outputs), *(_column(*named) for named in inputs.items())),
        summary=summary,
        notes=tuple(notes),
        panels=tuple(panels),
        band_notes=tuple(band_notes),
        diagnosis=diagnosis,
        lack_of_fit=fit,
        unavailable=tuple(refused),
        guaranteed="" if region.caveat or diagnosis is None else diagnosis.covers,
        not_guaranteed=(*open_questions, _CAUSAL[bool(region.objective.endogenous)]),
        code=again if code is None else code,
        versions=f"unassuming {__version__}, "
        + ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn")),
    )


def _in(language: Language, python: str, command_line: str) -> str:
    """Return the words for a reader."""
    return python if language is Language.PYTHON else command_line


def _levels(region: Region, levels: Sequence[float] | None) -> list[float]:
    """Return the levels from the highest on; by default the usual ones that the region has."""
    if levels is not None:
        if not len(levels):
            raise ValueError(
                "levels is empty: expected at least one level, given none. Try levels=[0.9]."
            )
        return sorted({float(level) for level in levels}, reverse=True)
    return [p for p in _USUAL if p <= 1 - 1 / region.m] or [1 - 1 / region.m]


def _facts(region: Region, model: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield what the report is about."""
    yield "Model", model
    yield "Target", target
    if region.problem.classes is not None:
        labels = [f"{x:g}" if isinstance(x, float) else str(x) for x in region.problem.classes]
        yield "Labels", f"+1 is {labels[1]}, -1 is {labels[0]}"
    yield "Rows", f"{region.n:,}"
    yield "Coefficients", f"{len(region.names):,}"
    yield "Noise", shown(region.noise)
    yield "Statistics", f"m = {region.m}, seed {region.seed}"


def _column(name: str, values: Any) -> tuple[str, ...]:
    """Describe a column."""
    numbers = _numbers(values)
    if numbers is None:
        counted = Counter(map(str, np.asarray(values).tolist()))
        common = sorted(counted, key=lambda text: (-counted[text], text))[:_COMMON]
        return name, ", ".join(common), "", "", f"{len(counted):,}"
    finite = numbers[np.isfinite(numbers)]
    some = np.quantile(finite, [0, 0.5, 1]) if finite.size else np.full(3, np.nan)
    return name, *(f"{x:.4g}" for x in some), f"{len(np.unique(finite)):,}"


def _numbers(values: Any) -> Array | None:
    """Return a column as numbers, or None."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 else None


# --- bands --------------------------------------------------------------------------------------


def _panels(region: Region, inputs: Inputs) -> tuple[Any, list[SimpleNamespace]]:
    """Return the inputs of all panels, one below the other, and a panel for each column."""
    numeric = {n: x for n, c in inputs.items() if (x := _numbers(c)) is not None}
    varied = [n for n, x in numeric.items() if np.isfinite(x).all() and len(np.unique(x)) > 2]
    if region.objective.endogenous:  # instruments are no regressors
        varied = [name for name in varied if name in region.names]
    varied = varied[:_MOST_PANELS]
    if not varied or len(np.shape(region.inputs)) != 2 or hasattr(region.inputs, "toarray"):
        return None, []
    size = 120 if len(inputs) == 1 else 60
    away = [abs(numeric[n] - np.median(numeric[n])) / np.ptp(numeric[n]) for n in varied]
    rows = np.flatnonzero(region.problem.data("a report needs").rows)
    middle = int(rows[np.argmin(np.sum(away, axis=0))])
    panels = []
    for name in varied:
        x = np.linspace(numeric[name].min(), numeric[name].max(), size)
        seen = numeric[name] if len(inputs) == 1 else np.empty(0)
        panels.append(SimpleNamespace(name=name, x=x, observed_x=seen))
    X, names = region.inputs, getattr(region.inputs, "columns", None)
    given = np.asarray(X).T if names is None else [np.asarray(X[name]) for name in names]
    columns = {
        name: np.repeat(c[[middle]], size * len(panels))
        for name, c in zip(inputs, given, strict=True)
    }
    for k, panel in enumerate(panels):
        values = columns[panel.name].astype(np.float64)
        values[k * size : (k + 1) * size] = panel.x
        columns[panel.name] = values
    if names is None:
        return np.column_stack(list(columns.values())), panels
    return type(X)(dict(zip(names, columns.values(), strict=True))), panels


def _fill(panels: list[SimpleNamespace], bands: Mapping[float, Any], y: Array) -> None:
    """Give each panel its part of the bands; all have the same vertical window."""
    one = next(iter(bands.values()))
    bounds = [end for band in bands.values() for end in (band.lower, band.upper)]
    window = limits([y, one.estimate], bounds)
    few = np.unique(np.linspace(0, len(y) - 1, min(len(y), _POINTS)).round().astype(int))
    for k, panel in enumerate(panels):
        part = slice(k * len(panel.x), (k + 1) * len(panel.x))
        panel.window, panel.estimate = window, one.estimate[part]
        panel.lower = {p: band.lower[part] for p, band in bands.items()}
        panel.upper = {p: band.upper[part] for p, band in bands.items()}
        panel.status = {p: band.status for p, band in bands.items()}
        alone = len(panels) == 1 and len(panel.observed_x) > 0
        panel.observed_x = panel.observed_x[few] if alone else np.empty(0)
        panel.observed_y = y[few] if alone else np.empty(0)


def _finite(band: Any) -> bool:
    """Whether a band says something."""
    without = band.status in (Status.EMPTY, Status.TRIVIAL)
    return not without and bool((np.isfinite(band.lower) | np.isfinite(band.upper)).any())


def _about(region: Region, bands: Mapping[float, Any], language: Language) -> Iterator[str]:
    """Say what the bands cover, and why bounds are infinite."""
    finite = [band for band in bands.values() if _finite(band)]
    if region.caveat:
        yield f"No guarantee: {region.caveat}"
    elif finite:
        what = covers(region, finite[0].target, finite[0].norm_bound, None)
        yield (
            "The bands are simultaneous: each holds at all "
            f"{len(finite[0])} inputs shown at once, with a probability of at least its level. "
            f"{what} A band is not a prediction interval: it covers the function, not new outputs."
        )
    levels: dict[str, list[float]] = {}
    first: dict[Status, str] = {}
    for level, band in bands.items():
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
        advice = _in(language, *_ADVICE["lack of fit"])
        said.append(f"{fit.sentence()} No level holds if the model is wrong. {advice}")
    tests = () if diagnosis is None else diagnosis.indications
    assumed = [one for one in tests if one.assumed and not one.unavailable]
    advisable = (Symmetric, Exchangeable, SymmetricExchangeable, Spherical)
    against = {one.name for one in tests if not one.unavailable and one.pvalue <= _SMALL}
    if len(region.names) > _MOST_OF_QUANTILES:
        against.add("many columns")
    for one in assumed:
        if len(assumed) * one.pvalue <= _SMALL:
            advice = ""
            if isinstance(region.noise, advisable):
                known = _ADVICE.get(one.name)
                advice = _other_noise(language, against) if known is None else _in(language, *known)
            said.append(
                f"The residuals are evidence against an assumption on the noise: {one.name}, "
                f"p-value {one.pvalue:.3g}. {one.question} {advice}".strip()
            )
    return tuple(said)


def _other_noise(language: Language, against: set[str]) -> str:
    """Return the assumptions that nothing speaks against, or what may mend this one."""
    ways = [_in(language, *said) for *said, unless in _OTHER_NOISE if not unless & against]
    return " ".join(ways) or _TRANSFORM


def _code(region: Region, **given: Any) -> str:
    """Return Python that makes the report again; X and y are the reader's."""
    m = '"all"' if region.enumerated else region.m
    asked = [f"{name}={value!r}" for name, value in given.items() if value is not None]
    return (
        f"import unassuming as ua\n\n# model: {shown(region.estimator)}\n"
        f"# noise: {shown(region.noise)}\nregion = ua.confidence_region(model, X, y, noise=noise, "
        f"m={m}, ties={region.ties!r}, random_state={region.seed})\n"
        f'region.report("report.html", {", ".join(asked)})'
    )
