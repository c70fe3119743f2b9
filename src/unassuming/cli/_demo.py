"""``unassuming demo``: two certified bands, tests of candidates and measured coverage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import typer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from unassuming import datasets, plots
from unassuming._typing import IntArray
from unassuming.cli._files import check_writable
from unassuming.cli._terminal import followed, print_table, stages
from unassuming.plots.canvas import WITHOUT_DATE, require_matplotlib
from unassuming.regions import Language, Region, confidence_region

LEVELS = (0.5, 0.9, 0.95)
NORM_BOUND = 30.0
REPETITIONS = 500
MODELS = {
    "spline ridge": make_pipeline(SplineTransformer(8), Ridge(0.1)),
    "kernel ridge": KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8),
}
TRUE, LATE, SMALL, ESTIMATE = "the truth", "0.2 too late", "10 % too small", "the estimate"

DATA = """
Data: 80 values of x sin x at equidistant inputs, with Laplace noise. The regions use neither the
function nor the law of the noise. They assume only that each error is as likely to be +e as -e.
"""
SPLINE = """
1. Spline ridge. The band is finite, and it is certified if the noise-free values lie in the span of
the splines. The demonstration assumes this. (x sin x is not a spline, but a spline is close to it.)
"""
KERNEL = f"""
2. Kernel ridge needs no such assumption: its kernel can represent any values. In return, the region
is unbounded at the usual levels, until a bound on the norm of the function is assumed, here
{NORM_BOUND:g} (the norm of x sin x is 15). The band then covers the function itself, also between
the points.
"""
VERDICTS = """
3. Which functions are compatible with the data? The residuals of a candidate give a statistic Z_0,
99 transformations of them give Z_1 to Z_99, and the rank is the position of Z_0 among these 100
numbers. For the truth every rank is equally likely. The region of level p contains the functions of
rank 100 p or less.
"""
COVERAGE = f"""
4. Is it exact? The share of {REPETITIONS} fresh data sets whose region contains the candidate:
"""

Candidates = dict[str, Callable[[Any], Any]]


def run(picture: Path, seed: int) -> None:
    """Print the results and draw them."""
    require_matplotlib()
    if picture.suffix != ".png":
        raise ValueError(
            f"--picture has an unknown format: expected a name that ends in .png, given {picture}. "
            "Rename it."
        )
    check_writable(picture.parent, "--picture")
    X, y, f = datasets.sine(n=80, noise="laplace", random_state=seed)
    candidates: Candidates = {TRUE: f, LATE: lambda X: f(X - 0.2), SMALL: lambda X: 0.9 * f(X)}
    regions = {
        name: confidence_region(model, X, y, m=100, random_state=seed)
        for name, model in MODELS.items()
    }
    spline, kernel = regions.values()
    typer.echo(DATA.strip())
    typer.echo(f"{SPLINE}\n{spline.text(Language.COMMAND_LINE)}\n")
    _print_band(spline, None)
    typer.echo(f"{KERNEL}\n{kernel.text(Language.COMMAND_LINE)}\n")
    _print_band(kernel, NORM_BOUND)
    typer.echo(VERDICTS)
    _print_verdicts(regions, candidates)
    typer.echo(COVERAGE)
    ranks = _repeat(candidates, seed)
    shares = [[(ranks[who] <= 100 * p).mean() for p in LEVELS] for who in candidates]
    print_table(
        ("candidate", *(f"in {p:.0%}" for p in LEVELS)),
        [(who, *(f"{s:.1%}" for s in row)) for who, row in zip(candidates, shares, strict=True)],
        right=1,
    )
    with stages(1) as begin:
        begin("picture")
        _draw(spline, kernel, candidates, ranks[TRUE], picture)
    where = " in the current directory" if picture == Path(picture.name) else ""
    typer.echo(f"\nPicture saved as {picture}{where}.")


def _print_band(region: Region, norm_bound: float | None) -> None:
    """Print the 90 % band at five inputs."""
    x = np.linspace(0, 10, 5)
    band = region.band(x[:, None], level=0.9, norm_bound=norm_bound, method="joint")
    columns = (x, band.estimate, band.lower, band.upper)
    print_table(
        ("x", "estimate", "90% lower", "90% upper"),
        [[f"{value:.2f}" for value in row] for row in zip(*columns, strict=True)],
        right=0,
    )


def _print_verdicts(regions: dict[str, Region], candidates: Candidates) -> None:
    """Test every candidate in every region."""
    rows = []
    for name, region in regions.items():
        for who, candidate in {**candidates, ESTIMATE: region.estimate}.items():
            result = region.test(candidate)
            # The estimate depends on y, so its p-value would not be a valid test.
            pvalue = "-" if result.caveat else f"{result.pvalue:.2f}"
            inside = region.contains(candidate, level=LEVELS).values()
            cells = ("yes" if each else "no" for each in inside)
            rows.append((name, who, str(result.rank), pvalue, *cells))
    head = ("region", "candidate", "rank", "p-value", *(f"in {p:.0%}" for p in LEVELS))
    print_table(head, rows, right=2)


def _repeat(candidates: Candidates, seed: int) -> dict[str, IntArray]:
    """Rank the candidates in fresh data sets, with fresh transformations."""
    ranks = np.empty((REPETITIONS, len(candidates)), dtype=np.intp)
    fresh = range(seed + 1, seed + 1 + REPETITIONS)
    for k, one in enumerate(followed(fresh, "fresh data sets", REPETITIONS)):
        X, y, _ = datasets.sine(n=80, noise="laplace", random_state=one)
        region = confidence_region(MODELS["spline ridge"], X, y, m=100, random_state=one)
        ranks[k] = region.rank(list(candidates.values()))
    return dict(zip(candidates, ranks.T, strict=True))


def _draw(
    spline: Region, kernel: Region, candidates: Candidates, ranks: IntArray, picture: Path
) -> None:
    """Draw both bands on the same scale, and the ranks of the truth."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15.5, 5), layout="constrained")
    parts: Any = figure.subfigures(1, 3)
    titles = ("Spline ridge", "Kernel ridge with a norm bound", "Ranks of the true function")
    for part, title in zip(parts, titles, strict=True):
        part.suptitle(title, fontweight="bold")
    left, middle, right = (part.subplots() for part in parts)
    x = np.linspace(0, 10, 200)[:, None]
    plots.band(spline, x, (0.5, 0.9), truth=candidates[TRUE], ax=left)
    plots.band(kernel, x, (0.5, 0.9), norm_bound=NORM_BOUND, truth=candidates[TRUE], ax=middle)
    left.set_ylim(middle.get_ylim())
    plots.ranks(ranks, 100, ax=right)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=95, metadata=WITHOUT_DATE)
