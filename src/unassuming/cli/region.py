"""``unassuming region``, ``summary`` and ``test``: what is known about a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

import unassuming as ua
from unassuming._words import joined
from unassuming.cli import files
from unassuming.cli.build import Advice, Built, build_in_memory, checks
from unassuming.cli.columns import Columns, load_inputs
from unassuming.cli.options import Model, Problem
from unassuming.cli.tables import Source
from unassuming.cli.terminal import print_table, progress
from unassuming.cli.terms import Kind
from unassuming.regions import Language

_LONGEST = 31
"""Coefficients that the screen shows, an intercept and 30 others; the file contains all."""


@dataclass(frozen=True)
class Asked:
    """What is wanted from the region of a table."""

    # Returns the region of a source and its columns, in memory or from a stream.
    build: Callable[[Problem, Source, Columns], Built]
    out: Path
    norm_bound: float | None = None
    at: Source | None = None  # the inputs of the band
    pointwise: bool = False
    method: str = "auto"  # where simultaneous bounds come from
    check: bool = False  # whether the fit is checked, and whether the rows have an order
    ordered: bool = False


def run_region(problem: Problem, source: Source, columns: Columns, asked: Asked) -> None:
    """Build the region, print a report, write the files."""
    if asked.pointwise and problem.model is Model.IV:
        raise ValueError(
            "--pointwise does not go with --model iv: expected simultaneous bounds, given "
            "--pointwise. Leave it out, or use unassuming summary for the endogenous column alone."
        )
    files.check_writable(asked.out, "--out")
    built = asked.build(problem, source, columns)
    advice = Advice(built, asked.norm_bound, asked.pointwise, asked.method)
    with progress("bounds"):
        inputs = built.inputs()
        if asked.at is not None:
            coded = {t.column: t.levels for t in built.terms if t.kind is Kind.INDICATORS}
            inputs = load_inputs(asked.at, built.columns, coded)
        found = examine(built, inputs, asked)
    with progress("files"):
        out, bands = asked.out, found.bands.by_level
        pictures = files.pictures(built, inputs, bands, found.intervals.by_level, found.options)
        out.mkdir(parents=True, exist_ok=True)
        written = [files.write_region(built, found.content(), out / "region.json")]
        if bands:
            written.append(files.write_band(inputs, bands, out / "band.csv"))
        more, missing = files.draw(pictures, out)
        written += more
        files.remove_others("region", out, written)
    _say(f"{built.heading}\n", f"{built.region.text(Language.COMMAND_LINE, built.model)}\n")
    found.print_tables()
    empty = [f"{100 * p:.6g} %" for p in bands if p not in files.with_numbers(bands)]
    remarks = [f"No picture at {joined(empty)}: no finite band."] if empty else []
    for sentence in (*_about(found, advice), *_remarks(built, advice, asked), *remarks):
        _say(f"{sentence}\n")
    _say(f"Wrote {', '.join(map(str, written))}.{missing}")


def run_summary(problem: Problem, source: Source, columns: Columns, asked: Asked) -> None:
    """Summarise the model at each level, print the summaries, write the files."""
    files.check_writable(asked.out, "--out")
    built = asked.build(problem, source, columns)
    advice = Advice(built, pointwise=True)
    with progress("intervals"):
        levels = sorted(set(problem.levels), reverse=True)
        answers = [replace(built.region.summary(level), model=built.model) for level in levels]
        summaries = [advice.trimmed(answer) for answer in answers]
    with progress("files"):
        asked.out.mkdir(parents=True, exist_ok=True)
        written = files.write_summaries(built, summaries, asked.out)
        picture, height = files.forest(summaries), min(0.32 * len(summaries[0].names) + 1.9, 30.0)
        more, missing = files.draw(picture, asked.out, height)
        written += more
        files.remove_others("summary", asked.out, written)
    remarks = [] if picture else ["No picture: no interval has a finite end."]
    texts = [summary.text(Language.COMMAND_LINE) for summary in summaries]
    if not (asked.check or asked.ordered):
        remarks.append("The assumption was not checked: --check looks at residuals and fit.")
    for text in (built.heading, *texts, *_remarks(built, advice, asked), *remarks):
        _say(f"{text}\n")
    _say(f"Wrote {', '.join(map(str, written))}.{missing}")


def _say(*lines: str) -> None:
    for line in lines:
        typer.echo(line)


def _remarks(built: Built, advice: Advice, asked: Asked) -> list[str]:
    """Return what the target, the checks and the way of reading call for."""
    found = [built.two_values] if built.two_values else []
    if asked.check or asked.ordered:
        found += checks(built, advice, ordered=asked.ordered)
    return [*found, *built.remarks]


@dataclass(frozen=True, eq=False)
class Answer:
    """A result for each level, or the reason why there is none."""

    by_level: Mapping[float, Any]
    refusal: str = ""

    def content(self, fields: str, names: Sequence[str] = ()) -> Any:
        """Return what a file contains."""
        if self.refusal:
            return {"not available": self.refusal}
        return [
            {"level": level, **{f: files.plain(getattr(one, f), names) for f in fields.split()}}
            for level, one in self.by_level.items()
        ]


@dataclass(frozen=True, eq=False)
class Findings:
    """A region with its boundedness, bands and intervals, at levels from the highest on."""

    built: Built
    levels: list[float]
    options: dict[str, Any]
    estimate: Any
    bounded: Answer
    bands: Answer
    intervals: Answer  # empty for a model with a coefficient for each row

    def content(self) -> dict[str, Any]:
        """Return what a file contains."""
        names, intervals = self.built.region.names, None
        if self.built.primal:
            intervals = self.intervals.content("method status reason lower upper", names)
        return {
            "norm_bound": self.options["norm_bound"],
            "simultaneous": self.options["simultaneous"],
            "estimate": files.plain(self.estimate, names),
            "bounded": self.bounded.content("verdict reason"),
            "band": self.bands.content("target method status reason"),
            "intervals": intervals,
        }

    def print_tables(self) -> None:
        """Print what is known at each level, and the coefficients."""
        rows = []
        for level in self.levels:
            band = self.bands.by_level.get(level)
            word, width = ("not available", "") if band is None else (_word(band), _width(band))
            rows.append((f"{level:.6g}", self._verdict(level), word, width))
        print_table(("level", "region", "band", "half-width"), rows, right=3)
        _say("")
        if not self.built.primal:
            count = len(self.built.region.names)
            _say(f"The estimate has {count} dual coefficients: see region.json.\n")
        elif self.estimate is not None:
            self._print_coefficients(self.intervals.by_level)

    def _verdict(self, level: float) -> str:
        """Return whether the region is bounded, as finite bounds of all coefficients say too."""
        found, one = self.bounded.by_level.get(level), self.intervals.by_level.get(level)
        finite = one is not None and (one.method, one.status.name) == ("joint region", "CERTIFIED")
        if finite and self.options["norm_bound"] is None:
            return "bounded"
        return "not known" if found is None else str(found.verdict)

    def _print_coefficients(self, intervals: Mapping[float, Any]) -> None:
        """Print the coefficients of lines and indicators; those of splines mean nothing alone."""
        splines = [term for term in self.built.terms if term.kind is Kind.SPLINE]
        hidden = {"intercept", *(name for term in splines for name in term.features)}
        rows = [
            [name, f"{value:.4g}", *(_bounds(one, j) for one in intervals.values())]
            for j, (name, value) in enumerate(
                zip(self.built.region.names, self.estimate, strict=True)
            )
            if not (splines and name in hidden)
        ]
        if rows:
            head = ["coefficient", "estimate", *(f"{100 * level:.6g} %" for level in intervals)]
            print_table(head, rows[:_LONGEST], right=1)
        if len(rows) < len(self.estimate) or len(rows) > _LONGEST:
            _say("The other coefficients are in region.json.")
        _say("")


def examine(built: Built, inputs: Any, asked: Asked) -> Findings:
    """Compute everything that the screen and the files contain."""
    region, levels = built.region, built.problem.levels
    joint = sorted({float(region.level(level)) for level in levels}, reverse=True)
    at = sorted(set(levels), reverse=True) if asked.pointwise else joint
    options: dict[str, Any] = {
        "norm_bound": asked.norm_bound,
        "simultaneous": not asked.pointwise,
        "method": "auto" if asked.pointwise else asked.method,
    }
    return Findings(
        built,
        at,
        options,
        _ask(lambda: {1.0: region.estimate}).by_level.get(1.0),
        bounded=_ask(lambda: region.bounded(joint)),
        bands=_ask(lambda: region.band(inputs, level=at, **options)),
        intervals=_ask(lambda: region.interval(level=at, **options) if built.primal else {}),
    )


def _ask(question: Callable[[], Mapping[float, Any]]) -> Answer:
    try:
        return Answer(question())
    except ua.NotAvailable as error:
        return Answer({}, error.command_line)


def _word(bounds: Any) -> str:
    """Return the word for bounds in a table."""
    certified = bounds.status.name in ("ONE_BY_ONE", "ALL_AT_ONCE")
    return "certified" if certified else bounds.status.name.lower().replace("_", " ")


def _width(band: Any) -> str:
    """Return the smallest and the largest half-width of a band."""
    if band.status.name in files.WITHOUT_NUMBERS:
        return ""
    half = (band.upper - band.lower) / 2
    return f"{np.nanmin(half):.4g} to {np.nanmax(half):.4g}"


def _bounds(interval: Any, j: int) -> str:
    if np.isnan(interval.lower[j]):
        return "empty"
    return f"[{interval.lower[j]:.4g}, {interval.upper[j]:.4g}]"


def _about(found: Findings, advice: Advice) -> list[str]:
    """Say how the bounds hold, why some are infinite or missing, and what to do."""
    said, remedies = _held(found), list[str]()
    texts: dict[str, list[float]] = {}
    for answer in (found.bands, found.intervals):
        if answer.refusal:
            said.append(advice.sentences(f"Not available: {answer.refusal}"))
        for level, bounds in answer.by_level.items():
            why = bounds.explanation
            facts = [str(fact) for fact in (*why.facts, *why.more)]
            if bounds.status.name in ("EMPTY", "SOME_EMPTY"):
                facts = [f"{bounds.description[0].upper()}{bounds.description[1:]}.", *facts]
            remedies += advice.remedies(why)
            for fact in facts:
                at = texts.setdefault(fact, [])
                at += [] if level in at else [level]
    for text, at in texts.items():
        known = len(at) == len(found.levels) or any(f"level {p:.6g}" in text for p in at)
        said.append(text if known else f"Level {joined(f'{p:.6g}' for p in at)}: {text}")
    if remedies:
        said.append(f"Remedies: {'; '.join(dict.fromkeys(remedies))}.")
    if any("--norm-bound B" in remedy for remedy in remedies) and not found.built.primal:
        bound = found.built.region.suggest_norm_bound()
        said.append(
            f"As a heuristic, twice the norm of the estimate is {bound:.4g}. A norm bound taken "
            "from the same data voids the guarantee."
        )
    return [text for text in dict.fromkeys(said) if text]


def _held(found: Findings) -> list[str]:
    """Say whether the bounds hold at once, and what a band covers that is not at the rows."""
    bands = found.bands.by_level
    finite = files.with_numbers(bands)
    if found.built.region.caveat:
        return [f"No guarantee: {found.built.region.caveat}"]
    if not finite:
        return []
    first, bound = bands[finite[0]], found.options["norm_bound"]
    how = "hold one at a time, each at its level"
    if found.options["simultaneous"]:
        how = f"hold all at once ({first.method}, attained level {first.level:.6g})"
    said = f"The finite bounds {how}."
    if first.target == "function":
        said += f" The band covers the function itself, if its norm is at most {bound:g}."
    elif not found.built.primal:
        said += " At inputs that are not rows of the data, the function may lie outside the band."
    return [said]


def run_test(problem: Problem, source: Source, columns: Columns, candidate: str) -> None:
    """Test the hypothesis that a column contains the regression function."""
    built = build_in_memory(problem, source, columns)
    region = built.region
    values = built.frame[candidate].to_numpy()
    result = region.test(lambda _: values)
    _say(f"{built.heading}\n")
    _say(f"{region.text(Language.COMMAND_LINE, built.model)}\n")
    truth = _truth(problem, region)
    _say(f"Hypothesis: the column {candidate} is {truth} at the {region.n} rows.\n{result}\n")
    levels = sorted((region.level(level) for level in problem.levels), key=float, reverse=True)
    rows = [
        (f"{float(level):.6g}", "inside" if result.rank <= level.largest_rank else "outside")
        for level in levels
    ]
    print_table(("level", "candidate"), rows, right=1)
    closing = "The p-value is a test only if the column was not fitted to these rows of the target."
    if region.caveat:
        closing = f"The p-value is not a valid test: {region.caveat}"
    _say(f"\n{closing}")


def _truth(problem: Problem, region: ua.Region) -> str:
    """Name what a candidate is compared with."""
    classes, target = region.problem.classes, problem.target
    if classes is not None:
        return f"E[y|x], with y = 1 where {target} is {classes[1]} and -1 elsewhere,"
    if problem.model is Model.QUANTILE:
        return f"the {problem.quantile or 0.5:g}-quantile of {target} given x"
    kind = "structural" if problem.model is Model.IV else "regression"
    return f"the {kind} function of {target}"
