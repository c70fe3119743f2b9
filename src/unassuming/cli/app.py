"""The commands and their options.

A command imports what it needs when it runs, after its options and columns were found to be right:
the packages behind it take seconds.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
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
    Model,
    Problem,
    check_levels,
    check_one_by_one,
    declared,
)
from unassuming.cli.terminal import Interrupted, say

UsageError: Any = typer.BadParameter.__base__  # typer does not export it

_EXPECTED = (ValueError, TypeError, NotAvailable, OSError)
"""Errors of the library and of file readers: their message is written for the user."""

_NOTED = (UserWarning, RuntimeWarning, FutureWarning)
"""Warnings for the user. Python's filters decide on the others, such as deprecations, which are for
developers; a deprecation that is also one of these (pyparsing has such a class) is not shown."""


_CALLS = re.compile(r"\b\w+=|\w\(|\bua\.|^(?:Pass|Set) ")
"""Names of Python."""


class OneLineErrors(TyperGroup):
    """Report every error in one line, without a stack trace."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command, then exit with its code."""
        typed = extra.get("args") or sys.argv[1:]
        extra |= {"standalone_mode": False, "obj": ["unassuming", *typed]}
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
            _stop(f"{what}{'' if what.endswith('?') else '.'} See: {where} --help")
        except typer.Abort:
            _stop("interrupted", code=130)
        except Interrupted as error:
            _stop(str(error), code=130)
        except ModuleNotFoundError as error:
            _stop(not_installed(error) or str(error))
        except _EXPECTED as error:
            _stop(getattr(error, "command_line", _without_python(str(error))))
        except MemoryError as error:
            _stop(
                f"not enough memory. Use fewer rows, a smaller --m, or a model to stream. {error}"
            )
        except Exception as error:  # a bug: still without a stack trace
            _stop(f"unexpected {type(error).__name__}: {error}. Please report it.", code=1)
        notes = [one.message for one in caught if not issubclass(one.category, DeprecationWarning)]
        for note in dict.fromkeys(map(str, notes)):
            say("note", note)
        sys.exit(code if isinstance(code, int) else 0)


def _without_python(message: str) -> str:
    """Return a message of the library without the sentences that name what to call."""
    message = re.sub(r"\b(noise)='([\w-]+)'", r"--\1 \2", message)
    sentences = re.split(r"(?<=\.) (?=[A-Z])", message)
    return " ".join(one for one in sentences if one is sentences[0] or not _CALLS.search(one))


def _stop(message: str, code: int = 2) -> NoReturn:
    say("error", message)
    sys.exit(code)


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


def _command(name: str, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function, with the options of its arguments."""
    return lambda run: app.command(name)(declared(name, run, **defaults))


@_command("demo")
def demo(
    picture: Path = Path("unassuming-demo.png"),
    seed: int = 1,  # chosen for a clear picture; the coverage is counted over other data
) -> None:
    """Bands and tests on simulated data; needs no file.

    Prints the results and writes one picture. Takes some seconds.
    """
    from unassuming.cli.others import run_demo

    run_demo(picture, seed)


@_command("region")
def region(
    problem: Problem,
    norm_bound: float | None = None,
    at: Path | None = None,
    out: Path = Path("unassuming-region"),
    pointwise: bool = False,
    method: AtOnce = "auto",
    stream: bool | None = None,
    checkpoint: Path | None = None,
    checkpoint_every: float = 30.0,
    check: bool = False,
    ordered: bool = False,
) -> None:
    """Bounds of the function behind a table.

    Bounds of the function and of the coefficients of a model. Prints the assumptions and the
    results. Writes region.json, band.csv (one row for each level and input) and pictures.
    """
    check_levels(problem.levels, problem.m)
    from unassuming.cli.columns import find
    from unassuming.cli.tables import open_source, reading_of

    table = find(problem)
    from unassuming.cli.region import Asked, run_region
    from unassuming.cli.stream import Streaming

    values = pointwise and norm_bound is not None
    build = Streaming(stream, checkpoint, checkpoint_every, values)
    there = None if at is None else open_source(at, reading_of(problem))
    asked = Asked(build, out, norm_bound, there, pointwise, method, check, ordered)
    run_region(problem, *table, asked)


@_command("summary", m=None, model=Model.OLS, levels=(0.95,))
def summary(
    problem: Problem,
    out: Path = Path("unassuming-summary"),
    stream: bool | None = None,
    check: bool = False,
    ordered: bool = False,
) -> None:
    """Interval and p-value of each coefficient.

    Each interval has its level by itself, for every number of rows. Prints the table with its
    assumptions. Writes summary.csv (one row for each level and coefficient), summary.json and
    forest.png. For iv only the endogenous column is listed; its set may be two rays or the line.
    """
    check_one_by_one(problem)
    from unassuming.cli.columns import find

    table = find(problem)
    from unassuming.cli.region import Asked, run_summary
    from unassuming.cli.stream import Streaming

    asked = Asked(Streaming(stream, single=True), out, check=check, ordered=ordered)
    run_summary(problem, *table, asked)


@_command("report", model=Model.OLS, levels=(0.95, 0.8, 0.5))
def report(
    context: typer.Context,
    problem: Problem,
    norm_bound: float | None = None,
    title: str | None = None,
    out: Path = Path("unassuming-report.html"),
    ordered: bool = False,
) -> None:
    """A report in one HTML file.

    The data, what is assumed, the coefficients with intervals and p-values, bands, checks of the
    residuals and of the fit, what is guaranteed and what is not.
    """
    check_levels(problem.levels, problem.m)
    from unassuming.cli.columns import find

    table = find(problem)
    from unassuming.cli.others import write_report

    write_report(problem, *table, norm_bound, out, title, context.obj, ordered=ordered)


@_command("test")
def test(problem: Problem, candidate: str) -> None:
    """Test a column of candidate values.

    Can the column be the regression function? Prints the rank, the exact p-value and a verdict.
    """
    check_levels(problem.levels, problem.m)
    from unassuming.cli.columns import find

    table = find(problem, candidate=candidate)
    from unassuming.cli.region import run_test

    run_test(problem, *table, candidate)


@_command("arx")
def arx(
    data: Path,
    target: str,
    input: str | None = None,
    na: int = 1,
    nb: int = 1,
    delay: int = 1,
    intercept: bool = False,
    candidate: list[str] = (),  # type: ignore[assignment]
    noise: str = "symmetric",
    m: int = 128,
    seed: int = 0,
    levels: list[float] = (0.95, 0.5),  # type: ignore[assignment]
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    out: Path = Path("unassuming-arx"),
) -> None:
    """The region of a dynamical system.

    The output depends on its own past and on past inputs: y[t] = a1 y[t-1] + ... + b1 u[t-delay] +
    ... + e[t]. Prints the assumptions, the coefficients, how far each of them can change by itself
    within the region, and exact tests of candidates. Draws the region of two coefficients.
    """
    check_levels(levels, m)
    from unassuming.cli.others import run_arx
    from unassuming.cli.tables import Reading
    from unassuming.models import ARX

    model = ARX(na, nb, delay=delay, fit_intercept=intercept)
    reading = Reading(sep, decimal, encoding)
    settings = {"noise": noise, "m": m, "random_state": seed}
    run_arx(data, target, input, model, reading, candidate, levels, settings, out)


@_command("experiment")
def experiment(
    data: Path,
    target: str,
    treatment: str,
    treated: str | None = None,
    strata: str | None = None,
    clusters: str | None = None,
    controls: str | None = None,
    effect: float = 0.0,
    levels: list[float] = (0.95,),  # type: ignore[assignment]
    m: int | None = None,
    seed: int = 0,
    drop_missing: bool = False,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> None:
    """The effect of a randomised treatment.

    The assignment was random, and nothing is assumed about the outcomes. Prints the estimate, an
    exact interval of a constant effect, and the exact p-value of a hypothetical effect.
    """
    from unassuming.cli.others import run_experiment
    from unassuming.cli.tables import Reading

    roles = {"treatment": treatment, "strata": strata, "clusters": clusters}
    settings = {"effect": effect, "m": m, "random_state": seed}
    words = (roles, controls, treated, levels, settings)
    reading = Reading(sep, decimal, encoding)
    run_experiment(data, reading, target, *words, drop_missing=drop_missing)


@_command("paper")
def paper(
    figure: int | None = None,
    members: int = 1_000_000,
    repetitions: int = 1000,
    out: Path = Path("unassuming-paper"),
    seed: int = 0,
) -> None:
    """The six figures of the article, with measured coverage.

    Draws them with the settings of their captions, writes a table for each, and points out the
    errors of the article. All six take some minutes.
    """
    from unassuming.cli.others import run_paper

    run_paper(figure, members, repetitions, out, seed)
