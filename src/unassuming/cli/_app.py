"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unassuming._version import __version__
from unassuming.cli import _demo, _paper, _region, _verdict
from unassuming.cli._group import OneLineErrors
from unassuming.cli._models import Model
from unassuming.cli._streamed import Streaming
from unassuming.noise import NAMED

app = typer.Typer(
    cls=OneLineErrors,
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Data = Annotated[
    Path,
    typer.Argument(
        exists=True, dir_okay=False, help="Table of observations, .csv (with a header) or .parquet."
    ),
]
Target = Annotated[str, typer.Option(help="Column to explain.")]
Features = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Columns of inputs; default: all others."),
]
ModelName = Annotated[
    Model,
    typer.Option(
        help="spline: ridge on cubic splines of each feature (up to 8 knots). krr: kernel ridge. "
        "ridge, ols: linear. svr, klasso, huber: kernel machines. ls-svc, logistic: classifiers "
        "for two labels."
    ),
]
Kernel = Annotated[
    str | None,
    typer.Option(
        help="rbf, laplacian, poly, linear, ...: of krr, svr, klasso, huber (default rbf) and "
        "ls-svc (default linear)."
    ),
]
Gamma = Annotated[
    float | None,
    typer.Option(
        help="Width parameter of the kernel on standardised inputs; default: 1 / number of "
        "features, which looks at no target."
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(help="Penalty of spline (default 0.1), ridge, krr, klasso and huber (default 1)."),
]
Cost = Annotated[
    float | None, typer.Option("--C", help="Cost of errors in svr, ls-svc, logistic; default 1.")
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        help="svr: errors up to it cost nothing (default 0.1); huber: where the loss turns linear "
        "(default 1)."
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        help=f"What is assumed of the noise: {', '.join(NAMED)}; default: symmetric, and labels "
        "for classifiers."
    ),
]
Statistics = Annotated[
    str,
    typer.Option(
        "--m", help="Number of statistics: levels are multiples of 1/m. group: the whole group."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Levels = Annotated[list[float], typer.Option("--level", help="Level of confidence; repeatable.")]
NormBound = Annotated[
    float | None,
    typer.Option(
        help="Assume that the norm of the function is at most this (kernels), or that of the "
        "penalised coefficients (others)."
    ),
]
At = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        help="Table with the inputs of the band; default: 200 equidistant ones for one feature, "
        "else the rows of the data.",
    ),
]
Out = Annotated[
    Path, typer.Option(file_okay=False, help="Directory for region.json, band.csv and pictures.")
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows with missing values.")
]
Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        help="Read the table chunk by chunk, never whole (spline, ridge and ols with symmetric "
        "noise); default: if it is larger than 5 MB, of numbers in Parquet or of text in CSV.",
    ),
]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        dir_okay=False,
        help="Stream, and keep what is counted in this file: after an interruption the same "
        "command goes on from there. It stays after the end.",
    ),
]
CheckpointEvery = Annotated[
    float,
    typer.Option(min=0, help="Seconds between checkpoints; 0: after each chunk of 16,384 rows."),
]


@app.callback()
def about(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
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
    picture: Annotated[
        Path, typer.Option(dir_okay=False, help="Where to write the picture.")
    ] = Path(_demo.PICTURE),
    seed: Seed = _demo.SEED,
) -> None:
    """From noisy data to bands and verdicts; needs no file.

    Prints what it finds and writes one picture. Takes some seconds.
    """
    _demo.run(picture, seed)


@app.command()
def region(
    data: Data,
    target: Target,
    features: Features = None,
    model: ModelName = Model.SPLINE,
    kernel: Kernel = None,
    gamma: Gamma = None,
    alpha: Alpha = None,
    C: Cost = None,
    epsilon: Epsilon = None,
    noise: Noise = None,
    m: Statistics = "100",
    seed: Seed = 0,
    level: Levels = [0.9, 0.5],  # noqa: B006  what typer shows as the default
    norm_bound: NormBound = None,
    at: At = None,
    out: Out = Path("unassuming-region"),
    drop_missing: DropMissing = False,
    stream: Stream = None,
    checkpoint: CheckpointFile = None,
    checkpoint_every: CheckpointEvery = 30.0,
) -> None:
    """Bounds of the function behind a table.

    Builds the exact confidence regions of a model: bounds of the function and of the coefficients.
    Prints what is assumed and what follows from it. Writes region.json, band.csv (one row for each
    level and input; infinite bounds are inf) and pictures.
    """
    _region.run(
        data,
        target,
        features,
        model,
        _options(kernel, gamma, alpha, C, epsilon),
        {"noise": noise, "m": _statistics(m), "random_state": seed},
        level,
        norm_bound,
        at,
        out,
        Streaming(stream, checkpoint, checkpoint_every),
        drop_missing=drop_missing,
    )


@app.command("test")
def verdict(
    data: Data,
    target: Target,
    candidate: Annotated[
        str,
        typer.Option(
            help="Column with the values of a function that may be the noise-free target (for "
            "classifiers E[y|x], from -1 to 1). It is never a feature."
        ),
    ],
    features: Features = None,
    model: ModelName = Model.SPLINE,
    kernel: Kernel = None,
    gamma: Gamma = None,
    alpha: Alpha = None,
    C: Cost = None,
    epsilon: Epsilon = None,
    noise: Noise = None,
    m: Statistics = "100",
    seed: Seed = 0,
    level: Levels = [0.9, 0.5],  # noqa: B006
    drop_missing: DropMissing = False,
) -> None:
    """Test a column of candidate values.

    Can the column be the noise-free target? Prints the rank, the exact p-value and a verdict.
    """
    _verdict.run(
        data,
        target,
        candidate,
        features,
        model,
        _options(kernel, gamma, alpha, C, epsilon),
        {"noise": noise, "m": _statistics(m), "random_state": seed},
        level,
        drop_missing=drop_missing,
    )


@app.command()
def paper(
    figure: Annotated[
        int | None, typer.Option(min=1, max=6, help="One figure, by its number; default: all six.")
    ] = None,
    members: Annotated[
        int, typer.Option(min=1, help="Coefficient vectors that are ranked for each region.")
    ] = 1_000_000,
    repetitions: Annotated[
        int, typer.Option(min=1, help="Samples over which the coverage is measured.")
    ] = 1000,
    out: Annotated[
        Path, typer.Option(file_okay=False, help="Directory for the pictures and the tables.")
    ] = Path("unassuming-paper"),
    seed: Seed = 0,
) -> None:
    """The six figures of the article, with measured coverage.

    Draws them with the settings of their captions, and writes a table beside each: the levels at
    which the region is bounded, and how often it held the truth. Says where the article errs.
    All six take some minutes.
    """
    _paper.run(figure, members, repetitions, out, seed)


def _options(
    kernel: str | None,
    gamma: float | None,
    alpha: float | None,
    C: float | None,
    epsilon: float | None,
) -> dict[str, Any]:
    every = {"kernel": kernel, "gamma": gamma, "alpha": alpha, "C": C, "epsilon": epsilon}
    return {name: value for name, value in every.items() if value is not None}


def _statistics(m: str) -> int | str:
    if m == "group":
        return m
    try:
        return int(m)
    except ValueError as error:
        raise ValueError(
            f"--m is no number: expected an integer >= 2, or group, given {m!r}. Try --m 100."
        ) from error
