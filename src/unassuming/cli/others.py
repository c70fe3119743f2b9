"""``unassuming report``, ``arx``, ``experiment``, ``paper`` and ``demo``."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
import typer

import unassuming as ua
from unassuming.cli import files
from unassuming.cli.build import Advice, build_in_memory, like, without_order
from unassuming.cli.columns import Columns, choose, load, split_names
from unassuming.cli.options import Problem
from unassuming.cli.tables import Reading, Source, open_source
from unassuming.cli.terminal import followed, print_table, progress
from unassuming.cli.terms import choose_terms, encoder, in_words
from unassuming.plots.canvas import WITHOUT_DATE, require_matplotlib
from unassuming.regions import Language
from unassuming.report.collect import warnings_of

# --- report ---------------------------------------------------------------------------------------


def write_report(
    problem: Problem,
    source: Source,
    columns: Columns,
    norm_bound: float | None,
    out: Path,
    title: str | None,
    command: Sequence[str],
    *,
    ordered: bool,
) -> None:
    """Build the region, write the report, print its warnings."""
    require_matplotlib()
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(
            f"--out cannot be written: expected a file in a directory that exists, given {out}. "
            "Try --out report.html."
        )
    built = build_in_memory(problem, source, columns)
    advice, region = Advice(built, norm_bound), built.region
    with progress("intervals, bands and checks"):
        content = ua.report.collect(
            region,
            target=problem.target,
            title=title,
            levels=problem.levels,
            norm_bound=norm_bound,
            model=built.model,
            code=shlex.join(command),
            language=Language.COMMAND_LINE,
        )
        diagnosis = without_order(content.diagnosis, built, ordered=ordered)
        found = warnings_of(region, diagnosis, content.lack_of_fit, Language.COMMAND_LINE)
        two = [built.two_values.removeprefix("Warning: ")] if built.two_values else []
        warnings = (*two, *(advice.sentences(warning) for warning in found))
        content = replace(content, diagnosis=diagnosis, warnings=warnings)
        files.write_text(out, ua.report.render(content))
    typer.echo(f"{built.heading}\n")
    for warning in warnings:
        typer.echo(f"Warning: {warning}\n")
    typer.echo(f"Wrote {out}.")


# --- arx ------------------------------------------------------------------------------------------


def run_arx(
    data: Path,
    target: str,
    given: str | None,
    model: Any,
    reading: Reading,
    candidates: Sequence[str],
    levels: Sequence[float],
    settings: dict[str, Any],
    out: Path,
) -> None:
    """Build the region, print coefficients and tests, draw two coefficients."""
    files.check_writable(out, "--out")
    if given is None and model.nb:
        raise ValueError(
            "--input is missing: expected the column of the input, given none. Name it, or "
            "pass --nb 0 for a model without input."
        )
    inputs = [given] if given is not None and model.nb else []
    source = open_source(data, reading)
    gaps = "Fill them in, or take a part of the series without gaps."
    columns = replace(choose(source, target, inputs, {}), about_missing=gaps)
    table = load(source, replace(columns, decimal=reading.decimal or "."))
    u, y = table.X.iloc[:, 0].to_numpy() if inputs else None, table.y.to_numpy()
    with progress("building the region"):
        region = ua.confidence_region(model, u, y, **settings)
        names, at = region.names, sorted(levels, reverse=True)
        tested = [(text, region.test(_numbers(text, names))) for text in candidates]
        lines = {level: region.crossings(np.eye(len(names)), level) for level in at}
    with progress("picture"):
        out.mkdir(parents=True, exist_ok=True)
        picture = {"coefficients.png": partial(ua.plots.coefficients, region, levels=at)}
        written, missing = files.draw(picture if len(names) > 1 else {}, out)
    by = f", input {given}" if inputs else ""
    typer.echo(f"{data.name}: output {target}{by}, rows in the order of time\n")
    typer.echo(f"{region.text(Language.COMMAND_LINE)}\n")
    rows = [
        [name, f"{value:.4g}", *(_spans(lines[level][j], value) for level in at)]
        for j, (name, value) in enumerate(zip(names, region.estimate, strict=True))
    ]
    alone = [f"alone, {100 * level:.6g} %" for level in at]
    print_table(["coefficient", "estimate", *alone], rows, right=1)
    typer.echo(
        "\nEach row lists the values of one coefficient that lie in the region, with the others at "
        "the estimate, found by a search on a grid: the ends are not certified. These are not "
        "confidence intervals of single coefficients."
    )
    for text, result in tested:
        typer.echo(f"\nHypothesis: [{', '.join(names)}] = [{text}].\n{result}")
    if written or missing:
        typer.echo(f"\nWrote {', '.join(map(str, written)) or 'nothing'}.{missing}")


def _numbers(text: str, names: Sequence[str]) -> Any:
    """Return the coefficients of a candidate."""
    values = pd.to_numeric(pd.Series(text.split(",")), errors="coerce").to_numpy()
    if len(values) != len(names) or not np.isfinite(values).all():
        raise ValueError(
            f"--candidate does not give the coefficients: expected {len(names)} numbers "
            f"{','.join(names)}, given {text!r}. Separate them by commas."
        )
    return values


def _spans(spans: Any, value: float) -> str:
    """Return the intervals of a coefficient."""
    return ", ".join(f"[{value + low:.4g}, {value + high:.4g}]" for low, high in spans) or "none"


# --- experiment -----------------------------------------------------------------------------------


def run_experiment(
    data: Path,
    reading: Reading,
    target: str,
    roles: dict[str, str | None],
    controls: str | None,
    treated: str | None,
    levels: Sequence[float],
    settings: dict[str, Any],
    *,
    drop_missing: bool,
) -> None:
    """Test the effect, and print the interval of each level."""
    named = {option: name for option, name in roles.items() if name is not None}
    source = open_source(data, reading)
    features, labels = split_names(controls or "", source.names), list(named.values())
    columns = choose(source, target, features, named, labels=labels, drop_missing=drop_missing)
    table = load(source, replace(columns, decimal=reading.decimal or "."))
    given = {option: table.frame[name].to_numpy() for option, name in named.items()}
    if treated is not None:
        settings = {**settings, "treated": like(treated, given["treatment"].tolist()[0])}
    terms = choose_terms(table.X, table.columns.categorical)
    if terms:
        coded = encoder(terms)
        settings["controls"] = np.asarray(
            table.X if coded is None else coded.fit_transform(table.X)
        )
    first, *others = sorted(levels, reverse=True)
    result = ua.assignment_test(table.y.to_numpy(), **given, level=first, **settings)
    said = ", ".join(f"{option} {name}" for option, name in named.items())
    left_out = f", rows with missing values dropped: {table.dropped}" if table.dropped else ""
    typer.echo(f"{data.name}: target {target}, {said}{left_out}\n")
    without, chosen = result.experiment.names
    rows, more = f"Rows whose {named['treatment']} is {chosen}", ""
    if treated is None:
        rows += ", the later of its two values in order,"
        more = f" --treated {without} chooses the others."
    typer.echo(f"{rows} count as treated.{more}\n")
    if terms:
        typer.echo(f"Controls: {', '.join(table.columns.features)}.")
    for sentence in [*table.columns.remarks, *in_words(None, terms)]:
        typer.echo(sentence)
    typer.echo(str(result))
    for level in others:
        typer.echo(f"Interval {result.interval_at(level)}.")


# --- paper ----------------------------------------------------------------------------------------

INTRODUCTION = """
The figures of Csáji and Kis, Distribution-Free Uncertainty Quantification for Kernel Methods by
Gradient Perturbations, with the settings of their captions and m = 100 statistics. Coverage is
counted over fresh samples; for an exact region, each interval contains the level with probability
at least 0.99. Rows are not independent: they share samples.
"""


def run_paper(figure: int | None, members: int, repetitions: int, out: Path, seed: int) -> None:
    """Reproduce one figure or all of them."""
    from unassuming import paper
    from unassuming.paper.figures import REVERSED

    require_matplotlib()
    files.check_writable(out, "--out")
    out.mkdir(parents=True, exist_ok=True)
    typer.echo(f"{INTRODUCTION.strip()}\n\n{fill(REVERSED, 100)}")
    for number in paper.FIGURES if figure is None else (figure,):
        found = paper.reproduce(number, members, repetitions, seed, followed)
        picture, table = (out / f"figure-{number}.{ending}" for ending in ("png", "csv"))
        paper.write_table(paper.COLUMNS, paper.rows(found), table)
        paper.draw(found, picture)
        _print_figure(found, paper.rows(found))
        typer.echo(f"\nPicture saved as {picture}, table as {table}.")


def _print_figure(found: Any, rows: Sequence[dict[str, Any]]) -> None:
    typer.echo(f"\nFigure {found.figure.number}: {found.figure.title}\n")
    shown = ["panel", "method", "level", "bounded", "coverage", "low", "high", "promise"]
    typer.echo(pd.DataFrame(rows).reindex(columns=shown).to_string(index=False, na_rep="-"))
    notes = [panel.setting.note for panel in found.panels] + list(found.figure.notes)
    for note in dict.fromkeys(filter(None, notes)):
        typer.echo(fill(note, 100))


# --- demo -----------------------------------------------------------------------------------------

LEVELS = (0.5, 0.9, 0.95)
NORM_BOUND = 30.0
REPETITIONS = 500

DEMO = (
    """
Data: 80 values of x sin x at equidistant inputs, with Laplace noise. The regions assume only that
each error is as likely to be +e as -e.
""",
    """
1. Spline ridge. The band is certified if the regression function lies in the span of the splines,
which the demonstration assumes.
""",
    f"""
2. Kernel ridge can represent any values. In return, its region is unbounded at the usual levels,
until a bound on the norm of the function is assumed, here {NORM_BOUND:g} (the norm of x sin x is
15). The band then covers the function itself, also between the points.
""",
    f"""
3. Which functions agree with the data? The rank of a candidate compares its residuals with 99
transformations of them; the region of level p contains the functions of rank 100 p or less. For the
truth every rank is equally likely: the right columns count the regions that contain the candidate,
over {REPETITIONS} fresh data sets.
""",
)


def run_demo(picture: Path, seed: int) -> None:
    """Print the results and draw them."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer

    require_matplotlib()
    files.check_writable(picture.parent, "--picture")
    candidates: dict[str, Callable[[Any], Any]] = {
        "the truth": lambda X: f(X),
        "0.2 too late": lambda X: f(X - 0.2),
        "10 % too small": lambda X: 0.9 * f(X),
    }
    splines = make_pipeline(SplineTransformer(8), Ridge(0.1))

    def region_of(model: Any, one: int) -> ua.Region:
        X, y, _ = ua.datasets.sine(n=80, noise="laplace", random_state=one)
        return ua.confidence_region(model, X, y, m=100, random_state=one)

    f = ua.datasets.sine(n=80, noise="laplace", random_state=seed)[2]
    spline = region_of(splines, seed)
    kernel = region_of(KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8), seed)
    typer.echo(DEMO[0].strip())
    for text, region, bound in ((DEMO[1], spline, None), (DEMO[2], kernel, NORM_BOUND)):
        typer.echo(f"{text}\n{region.text(Language.COMMAND_LINE)}\n")
        x = np.linspace(0, 10, 5)
        band = region.band(x[:, None], level=0.9, norm_bound=bound, method="joint")
        columns = zip(x, band.estimate, band.lower, band.upper, strict=True)
        rows = [[f"{value:.2f}" for value in row] for row in columns]
        print_table(("x", "estimate", "90% lower", "90% upper"), rows, right=0)
    fresh = followed(range(seed + 1, seed + 1 + REPETITIONS), "fresh data sets", REPETITIONS)
    ranks = np.array([region_of(splines, one).rank(list(candidates.values())) for one in fresh])
    rows = []
    for (who, candidate), found in zip(candidates.items(), ranks.T, strict=True):
        result = spline.test(candidate)
        shares = [f"{(found <= 100 * level).mean():.1%}" for level in LEVELS]
        rows.append([who, str(result.rank), f"{result.pvalue:.2f}", *shares])
    typer.echo(DEMO[3])
    head = ("candidate", "rank", "p-value", *(f"in {level:.0%}" for level in LEVELS))
    print_table(head, rows, right=1)
    with progress("picture"):
        _draw_demo(spline, kernel, f, ranks[:, 0], picture)
    typer.echo(f"\nPicture saved as {picture}.")


def _draw_demo(spline: ua.Region, kernel: ua.Region, f: Any, ranks: Any, picture: Path) -> None:
    """Draw both bands on the same scale, and the ranks of the truth."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15.5, 5), layout="constrained")
    parts: Any = figure.subfigures(1, 3)
    titles = ("Spline ridge", "Kernel ridge with a norm bound", "Ranks of the true function")
    for part, title in zip(parts, titles, strict=True):
        part.suptitle(title, fontweight="bold")
    left, middle, right = (part.subplots() for part in parts)
    x = np.linspace(0, 10, 200)[:, None]
    ua.plots.band(spline, x, (0.5, 0.9), truth=f, ax=left)
    ua.plots.band(kernel, x, (0.5, 0.9), norm_bound=NORM_BOUND, truth=f, ax=middle)
    left.set_ylim(middle.get_ylim())
    ua.plots.ranks(ranks, 100, ax=right)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=95, metadata=WITHOUT_DATE)
