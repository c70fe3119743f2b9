"""The commands and their options.

A command imports what it needs when it runs, after its options and columns were found to be right:
the packages behind it take seconds.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer import Option
from typer.core import TyperGroup

from unassuming._errors import NotAvailable
from unassuming._version import __version__
from unassuming.cli import not_installed
from unassuming.cli.options import (
    AtOnce,
    Check,
    Levels,
    Model,
    Ordered,
    Problem,
    Seed,
    check_norm_bound,
    check_one_by_one,
    problem_options,
)
from unassuming.cli.terminal import Interrupted, say

UsageError: Any = typer.BadParameter.__base__  # typer does not export it

_EXPECTED = (ValueError, TypeError, NotAvailable, OSError)
"""Errors of the library and of file readers: their message is written for the user."""

_NOTED = (UserWarning, RuntimeWarning, FutureWarning)
"""Warnings for the user. Python's filters decide on the others, such as deprecations, which are for
developers; a deprecation that is also one of these (pyparsing has such a class) is not shown."""


class OneLineErrors(TyperGroup):
    """Report every error in one line, without a stack trace."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command, then exit with its code."""
        extra["standalone_mode"] = False
        try:
            with warnings.catch_warnings(record=True) as caught:
                for category in _NOTED:
                    warnings.simplefilter("default", category)
                # The commands say it with a remedy that is true for the table.
                warnings.filterwarnings("ignore", message="y has (only )?two values")
                code = super().main(*args, **extra)
        except UsageError as error:
            where = error.ctx.command_path if error.ctx else "unassuming"
            what = error.format_message().replace("Value error, ", "").rstrip(".")
            given = re.search(r"'([a-z]+)' is not one of", what)
            if given and given[1] in self.commands:  # such as --model arx
                where = f"unassuming {given[1]}"
            _stop(f"{what}{'' if what.endswith('?') else '.'} See: {where} --help")
        except typer.Abort:
            _stop("interrupted", code=130)
        except Interrupted as error:
            _stop(str(error), code=130)
        except ModuleNotFoundError as error:
            _stop(not_installed(error) or str(error))
        except _EXPECTED as error:
            _stop(getattr(error, "command_line", str(error)))
        except MemoryError as error:
            what = str(error).rstrip(".") or "no more can be allocated"
            remedy = "Use fewer rows, a smaller --m, or a model that can be streamed."
            _stop(f"not enough memory: {what}. {remedy}")
        except Exception as error:  # a bug: still without a stack trace
            _stop(f"unexpected {type(error).__name__}: {error}. Please report it.", code=1)
        notes = [one.message for one in caught if not issubclass(one.category, DeprecationWarning)]
        for note in dict.fromkeys(map(str, notes)):
            say("note", note)
        sys.exit(code if isinstance(code, int) else 0)


def _stop(message: str, code: int = 2) -> NoReturn:
    say("error", message)
    sys.exit(code)


Stream = Annotated[
    bool | None,
    Option(
        "--stream/--no-stream",
        help="Read the table in chunks, never as a whole (spline, ridge and ols with symmetric "
        "noise); default: if it is larger than 5 MB (numbers in Parquet, text in CSV).",
    ),
]

Separator = Annotated[str | None, Option(help='Separator of columns in text; default: ",".')]
Decimal = Annotated[str | None, Option(help='Decimal mark in text; default: ".".')]
Encoding = Annotated[str | None, Option(help="Encoding of text; default: utf-8.")]


def _table(rows: str) -> Any:
    """Declare the argument of a command that reads one table."""
    words = f"{rows}: .csv, .tsv, .parquet or .xlsx."
    return typer.Argument(exists=True, dir_okay=False, metavar="FILE", help=words)


def _directory(files: str) -> Any:
    """Declare the option for the directory that a command writes to."""
    return Option("--out", "-o", file_okay=False, help=f"Directory for {files}.")


app = typer.Typer(
    cls=OneLineErrors,
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def about(
    context: typer.Context,
    version: Annotated[bool, Option("--version", help="Print the version.")] = False,
) -> None:
    """Exact confidence regions for regression and classification, at any sample size.

    Start with: unassuming demo
    """
    if version:
        typer.echo(f"unassuming {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def demo(
    picture: Annotated[Path, Option(dir_okay=False, help="Where to write the picture.")] = Path(
        "unassuming-demo.png"
    ),
    seed: Seed = 1,  # chosen for a clear picture; the coverage is counted over other data
) -> None:
    """Bands and tests on simulated data; needs no file.

    Prints the results and writes one picture. Takes some seconds.
    """
    from unassuming.cli.others import run_demo

    run_demo(picture, seed)


@app.command()
@problem_options()
def region(
    problem: Problem,
    norm_bound: Annotated[
        float | None,
        Option(
            help="Assume that the norm of the function (kernels) or of the penalised coefficients "
            "(others) is at most this."
        ),
    ] = None,
    at: Annotated[
        Path | None,
        Option(
            exists=True,
            dir_okay=False,
            help="Table with the inputs of the band; default: 200 equidistant inputs for one "
            "feature, else the rows of the data.",
        ),
    ] = None,
    out: Annotated[Path, _directory("region.json, band.csv and pictures")] = Path(
        "unassuming-region"
    ),
    pointwise: Annotated[
        bool,
        Option(
            "--pointwise",
            help="Bounds that hold at each input and for each coefficient by itself. They are "
            "usually narrower than the simultaneous ones, except where there are few data. Kernel "
            "models then need --norm-bound.",
        ),
    ] = False,
    method: Annotated[
        AtOnce,
        Option(
            help="Where simultaneous bounds come from. joint: the region. cells: balanced cells of "
            "rows. auto: whichever is expected to be narrower before the target is seen."
        ),
    ] = AtOnce.AUTO,
    stream: Stream = None,
    checkpoint: Annotated[
        Path | None,
        Option(
            dir_okay=False,
            help="Stream, and save the progress in this file: after an interruption the same "
            "command continues from there. The file is kept at the end.",
        ),
    ] = None,
    checkpoint_every: Annotated[
        float,
        Option(min=0, help="Seconds between checkpoints; 0: after each chunk of 16,384 rows."),
    ] = 30.0,
    check: Check = False,
    ordered: Ordered = False,
) -> None:
    """Bounds of the function behind a table.

    Builds the exact confidence regions of a model: bounds of the function and of the coefficients.
    Prints the assumptions and the results. Writes region.json, band.csv (one row for each level and
    input; infinite bounds are inf) and pictures.
    """
    check_norm_bound(norm_bound)
    from unassuming.cli.columns import find
    from unassuming.cli.tables import open_source, reading_of

    table = find(problem)
    from unassuming.cli.region import Asked, run_region
    from unassuming.cli.stream import Streaming

    values = pointwise and norm_bound is not None
    build = Streaming(stream, checkpoint, checkpoint_every, values)
    there = None if at is None else open_source(at, reading_of(problem))
    how = {"pointwise": pointwise, "method": str(method), "check": check, "ordered": ordered}
    run_region(problem, *table, Asked(build, out, norm_bound, there, **how))


@app.command()
@problem_options(
    without=["m"],
    only=(Model.SPLINE, Model.RIDGE, Model.OLS, Model.IV),
    model=Model.OLS,
    levels=(0.95,),
)
def summary(
    problem: Problem,
    out: Annotated[Path, _directory("summary.csv, summary.json, forest.png")] = Path(
        "unassuming-summary"
    ),
    stream: Stream = None,
    check: Check = False,
    ordered: Ordered = False,
) -> None:
    """Interval and p-value of each coefficient.

    Each interval has its level by itself, for every number of rows. Prints the table with its
    assumptions. Writes summary.csv (one row for each level and coefficient; infinite ends are inf),
    summary.json and forest.png, a picture at the highest level with a finite bound. The model is
    spline, ridge, ols or iv. For iv only the endogenous column is listed; its set may be two rays
    or the whole line.
    """
    check_one_by_one(problem)
    from unassuming.cli.columns import find

    table = find(problem)
    from unassuming.cli.region import Asked, run_summary
    from unassuming.cli.stream import Streaming

    asked = Asked(Streaming(stream, single=True), out, check=check, ordered=ordered)
    run_summary(problem, *table, asked)


@app.command()
@problem_options(model=Model.OLS, levels=(0.95, 0.8, 0.5))
def report(
    problem: Problem,
    norm_bound: Annotated[
        float | None, Option(help="Assume that the norm of the function is at most this.")
    ] = None,
    title: Annotated[str | None, Option(help="Title of the report.")] = None,
    out: Annotated[
        Path, Option("--out", "-o", dir_okay=False, help="The HTML file to write.")
    ] = Path("unassuming-report.html"),
    ordered: Ordered = False,
) -> None:
    """A report in one HTML file.

    The data at a glance, what is assumed, the coefficients with intervals and p-values, bands,
    checks of the residuals and of the fit, what is guaranteed and what is not. The file needs no
    network.
    """
    check_norm_bound(norm_bound)
    from unassuming.cli.columns import find

    table = find(problem)
    from unassuming.cli.others import write_report

    write_report(problem, *table, norm_bound, out, title, ordered=ordered)


@app.command("test")
@problem_options()
def verdict(
    problem: Problem,
    candidate: Annotated[
        str,
        Option(
            help="Column with the values of a function that may be the regression function (for "
            "classifiers E[y|x], from -1 to 1). It is never used as a feature."
        ),
    ],
) -> None:
    """Test a column of candidate values.

    Can the column be the regression function? Prints the rank, the exact p-value and a verdict.
    """
    from unassuming.cli.columns import find

    table = find(problem, candidate=candidate)
    from unassuming.cli.region import run_test

    run_test(problem, *table, candidate)


@app.command()
def arx(
    data: Annotated[Path, _table("Table whose rows are times, in chronological order")],
    target: Annotated[str, Option(help="Column of the output.")],
    given: Annotated[
        str | None, Option("--input", help="Column of the input; not needed with --nb 0.")
    ] = None,
    na: Annotated[int, Option(min=0, help="Number of past outputs in the model.")] = 1,
    nb: Annotated[int, Option(min=0, help="Number of past inputs in the model.")] = 1,
    delay: Annotated[int, Option(min=1, help="Steps after which an input first acts.")] = 1,
    intercept: Annotated[bool, Option("--intercept", help="Add a constant.")] = False,
    candidate: Annotated[
        list[str],
        Option(metavar="A1,...,B1,...", help="Coefficients to be tested; repeatable."),
    ] = (),  # type: ignore[assignment]
    noise: Annotated[
        str,
        Option(
            help="Assumption on the noise: symmetric, exchangeable, symmetric-exchangeable, "
            "spherical."
        ),
    ] = "symmetric",
    m: Annotated[
        int, Option("--m", min=2, help="Number of statistics: levels are multiples of 1/m.")
    ] = 128,
    seed: Seed = 0,
    levels: Levels = (0.95, 0.5),  # type: ignore[assignment]
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    out: Annotated[Path, _directory("the picture")] = Path("unassuming-arx"),
) -> None:
    """The region of a dynamical system.

    The output depends on its own past and on past inputs: y[t] = a1 y[t-1] + ... + b1 u[t-delay] +
    ... + e[t]. Prints the assumptions, the coefficients, how far each of them can change by itself
    within the region, and exact tests of candidates. Draws the region of two coefficients.
    """
    from unassuming.cli.others import System, run_arx
    from unassuming.cli.tables import Reading
    from unassuming.models import ARX

    model = ARX(na, nb, delay=delay, fit_intercept=intercept)
    system = System(data, target, given, model, Reading(sep, decimal, encoding))
    settings = {"noise": noise, "m": m, "random_state": seed}
    run_arx(system, candidate, levels, settings, out)


@app.command()
def experiment(
    data: Annotated[Path, _table("Table of an experiment")],
    target: Annotated[str, Option(help="Column of the outcome.")],
    treatment: Annotated[
        str, Option(metavar="COLUMN", help="Column with two values: treated or untreated.")
    ],
    treated: Annotated[
        str | None,
        Option(
            metavar="VALUE",
            help="The value of treated rows; default: the larger number, or the later word in "
            "alphabetical order.",
        ),
    ] = None,
    strata: Annotated[
        str | None, Option(help="Column of labels, if the treatment was drawn within strata.")
    ] = None,
    clusters: Annotated[
        str | None, Option(help="Column of labels, if whole clusters were treated.")
    ] = None,
    controls: Annotated[
        str | None,
        Option(
            metavar="A,B,...",
            help="Columns that the treatment cannot have changed. They narrow the interval if they "
            "explain the outcome.",
        ),
    ] = None,
    effect: Annotated[float, Option(help="The effect whose p-value is computed.")] = 0.0,
    levels: Levels = (0.95,),  # type: ignore[assignment]
    m: Annotated[
        int | None,
        Option(
            "--m",
            min=2,
            help="Number of statistics; default: all assignments up to 4,096, else 1000.",
        ),
    ] = None,
    seed: Seed = 0,
    drop_missing: Annotated[
        bool, Option("--drop-missing", help="Leave out rows with missing values.")
    ] = False,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """The effect of a randomised treatment.

    The assignment was random, and nothing is assumed about the outcomes. Prints the estimate, an
    exact interval of a constant effect, and the exact p-value of a hypothetical effect.
    """
    from unassuming.cli.others import Trial, run_experiment
    from unassuming.cli.tables import Reading

    roles = {"treatment": treatment, "strata": strata, "clusters": clusters}
    reading = Reading(sep, decimal, encoding)
    trial = Trial(data, target, roles, controls, reading, drop_missing)
    settings = {"effect": effect, "m": m, "random_state": seed}
    run_experiment(trial, treated, levels, settings)


@app.command()
def paper(
    figure: Annotated[
        int | None, Option(min=1, max=6, help="Number of one figure; default: all six.")
    ] = None,
    members: Annotated[
        int, Option(min=1, help="Number of coefficient vectors ranked for each region.")
    ] = 1_000_000,
    repetitions: Annotated[
        int, Option(min=1, help="Number of samples over which the coverage is measured.")
    ] = 1000,
    out: Annotated[Path, _directory("the pictures and the tables")] = Path("unassuming-paper"),
    seed: Seed = 0,
) -> None:
    """The six figures of the article, with measured coverage.

    Draws them with the settings of their captions, and writes a table for each: the levels at which
    the region is bounded, and how often it contained the truth. Points out the errors of the
    article. All six take some minutes.
    """
    from unassuming.cli.others import run_paper

    run_paper(figure, members, repetitions, out, seed)
