"""From a region to the content of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._version import __version__
from unassuming._words import shown
from unassuming.plots import percent
from unassuming.regions import Diagnosis, Language, Region, Summary, columns_of
from unassuming.report._columns import column
from unassuming.report._content import Bands, Report, Reproduction
from unassuming.report._panels import bands_of
from unassuming.report._warnings import warnings_of

T = TypeVar("T")

_USUAL = (0.95, 0.8, 0.5)
_DUAL = (
    "A kernel model has one coefficient for each row, and a single one has no meaning. The bands "
    "show the function."
)


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
    used = _levels(region, levels)
    data = region.problem.data("a report needs")
    inputs = columns_of(data)
    refused: list[str] = []

    def ask(question: Callable[[], T]) -> T | None:
        try:
            return question()
        except NotAvailable as error:
            text = str(error) if language is Language.PYTHON else error.command_line
            refused.append(f"{text[0].upper()}{text[1:]}")
            return None

    named = shown(region.estimator) if model is None else model
    design = region.objective.design
    dual = design is not None and design.dual
    summary = None if dual else ask(lambda: region.summary(used[0]))
    notes = [_DUAL] if dual else list(refused)
    if summary is not None:
        notes = [*_parts(summary), *summary.explanation.sentences(language)]
    refused.clear()
    diagnosis, fit = ask(region.diagnose), ask(region.lack_of_fit)
    excluded = region.objective.excluded
    drawn = {name: values for name, values in inputs.items() if name not in excluded}
    bands = bands_of(region, drawn, used, norm_bound, language)
    return Report(
        title=f"A model of {target}" if title is None else title,
        target=target,
        model=named,
        classifier=region.problem.classes is not None,
        facts=_facts(region, named, target),
        warnings=warnings_of(region, diagnosis, fit, language),
        columns=(
            column(target, _outputs(region)),
            *(column(name, values) for name, values in inputs.items()),
        ),
        assumptions=() if diagnosis is None else diagnosis.rests_on,
        covers="" if diagnosis is None else diagnosis.covers,
        summary=summary,
        notes=tuple(notes),
        bands=bands,
        diagnosis=diagnosis,
        lack_of_fit=fit,
        unavailable=tuple(refused),
        guaranteed=_guaranteed(region, diagnosis, summary, bands),
        not_guaranteed=_not_guaranteed(region, summary, bands, norm_bound),
        reproduction=Reproduction(
            _code(region, target, title, levels, norm_bound) if code is None else code,
            (
                ("unassuming", __version__),
                *((name, version(name)) for name in ("numpy", "scipy", "scikit-learn")),
            ),
        ),
    )


def _levels(region: Region, levels: Sequence[float] | None) -> list[float]:
    """Return the levels from the highest on; by default the usual ones that the region has."""
    if levels is not None:
        wanted = [float(region.level(level)) for level in levels]
        if not wanted:
            raise ValueError(
                "levels is empty: expected at least one level, given none. Try levels=[0.9]."
            )
        return sorted(set(wanted), reverse=True)
    found = set()
    for level in _USUAL:
        try:
            found.add(float(region.level(level)))
        except ValueError:  # m does not provide it
            continue
    return sorted(found, reverse=True) or [1 - 1 / region.m]


def _outputs(region: Region) -> Any:
    classes = region.problem.classes
    y = region.objective.y
    return y if classes is None else np.where(y > 0, str(classes[1]), str(classes[0]))


def _label(label: Any) -> str:
    return f"{label:g}" if isinstance(label, float) else str(label)


def _facts(region: Region, model: str, target: str) -> tuple[tuple[str, str], ...]:
    facts = [("Model", model), ("Target", target)]
    classes = region.problem.classes
    if classes is not None:
        facts.append(("Labels", f"+1 is {_label(classes[1])}, -1 is {_label(classes[0])}"))
    facts += [
        ("Rows", f"{region.n:,}"),
        ("Coefficients", f"{region.objective.d:,}"),
        ("Noise", shown(region.noise)),
        ("Statistics", f"m = {region.m}, seed {region.seed}"),
    ]
    return tuple(facts)


def _guaranteed(
    region: Region, diagnosis: Diagnosis | None, summary: Summary | None, bands: Bands
) -> tuple[str, ...]:
    if region.caveat or diagnosis is None:
        return ()
    said = [f"The region covers {diagnosis.covers}."]
    if summary is not None and np.isfinite(summary.upper - summary.lower).any():
        said.append(
            f"Each finite interval of a coefficient covers the ideal one with probability at least "
            f"{percent(summary.requested_level)}, for this number of rows."
        )
    if bands.panels:
        levels = ", ".join(percent(band.level) for band in bands.panels[0].bands)
        said.append(
            f"Each band covers its target at all inputs shown with probability at least its level "
            f"({levels})."
        )
    return tuple(said)


def _parts(summary: Summary) -> Iterator[str]:
    """Write out the sets that are not one interval."""
    for name, values in zip(summary.names, summary.sets or (), strict=False):
        if len(values) != 1:
            yield f"The values of {name} that agree with the data: {values}."


def _not_guaranteed(
    region: Region, summary: Summary | None, bands: Bands, norm_bound: float | None
) -> tuple[str, ...]:
    said = [
        "The guarantee is void if an assumption above is false. The checks of the residuals cannot "
        "prove that the assumptions are true.",
        "The guarantee is void if the model, its penalty, the columns or the seed were chosen "
        "after looking at the target in these rows.",
    ]
    if summary is not None and len(summary) > 1:
        said.append(
            "The intervals of the coefficients hold one at a time. The probability that all of "
            "them hold at once is lower."
        )
    if bands.panels:
        said.append("A new output may lie outside the bands: they do not contain the noise.")
    if norm_bound is not None:
        said.append(f"The norm bound of {norm_bound:g} is assumed, not estimated from the data.")
    if region.objective.endogenous:
        said.append(
            "It is assumed that the instruments act on the target through the endogenous columns "
            "alone. The data cannot prove this."
        )
    else:
        said.append("A coefficient describes an association, which need not be a causal effect.")
    return tuple(said)


def _code(
    region: Region,
    target: str,
    title: str | None,
    levels: Sequence[float] | None,
    norm_bound: float | None,
) -> str:
    """Return Python that makes the report again; X and y are the reader's."""
    m = '"all"' if region.enumerated else str(region.m)
    options = [f"m={m}", f"random_state={region.seed}"]
    if region.ties != "random":
        options.append(f"ties={region.ties!r}")
    asked = {"target": target, "title": title, "levels": levels, "norm_bound": norm_bound}
    given = [f"{name}={value!r}" for name, value in asked.items() if value is not None]
    return "\n".join(
        [
            "import unassuming as ua",
            "",
            f"# model: {shown(region.estimator)}",
            f"# noise: {shown(region.noise)}",
            f"region = ua.confidence_region(model, X, y, noise=noise, {', '.join(options)})",
            f'region.report("report.html", {", ".join(given)})',
        ]
    )
