"""From noisy data to two confidence regions, and to a verdict on four candidate functions.

Run it with ``make demo``, or with ``python examples/demo.py [PICTURE]``. It prints what it finds
and draws one picture, by default ``unassuming-demo.png`` in the current directory.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ModuleNotFoundError as error:
    if error.name != "matplotlib":
        raise
    sys.exit('The demo draws a picture and needs matplotlib: pip install "unassuming[plot]"')

PICTURE = "unassuming-demo.png"
SEED = 1  # picked for a clear picture; print_coverage counts over data that were not picked
LEVELS = (0.5, 0.9, 0.95)
REPETITIONS = 500
MODELS = {
    "spline ridge": make_pipeline(SplineTransformer(8), Ridge(0.1)),
    "kernel ridge": KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8),
}
TRUE, LATE, SMALL, ESTIMATE = "the truth", "0.2 too late", "10 % too small", "the estimate"

# From the palette of Okabe and Ito, which colour-blind readers can tell apart.
COLOURS = {TRUE: "#0072B2", LATE: "#D55E00", ESTIMATE: "#009E73"}  # blue, vermilion, green

HOW_TO_READ_IT = """
The residuals of a candidate give a statistic Z_0, their 99 transformations Z_1 to Z_99, and the
rank is the position of Z_0 among these 100 numbers. For the truth every rank is equally likely.
The region of level p holds the candidates of rank 100 p or less.
"""
SMALL_PRINT = """
x sin x is no spline: no coefficients give it exactly, so the spline ridge region has no ideal
ones to cover. A function is tested with its own residuals, which is exact even so.
"""

Candidates = dict[str, Callable[[np.ndarray], np.ndarray]]
Tests = dict[str, ua.RankTest]


def main(picture: str) -> None:
    X, y, f = ua.datasets.sine(n=80, noise="laplace", random_state=SEED)
    candidates = {TRUE: f, LATE: lambda X: f(X - 0.2), SMALL: lambda X: 0.9 * f(X)}
    print(
        f"Data: {len(y)} values of x sin x at equidistant inputs, with Laplace noise. The regions\n"
        "are told neither the function nor the law of the noise.\n"
    )
    regions = {
        name: ua.confidence_region(model, X, y, random_state=SEED) for name, model in MODELS.items()
    }
    for region in regions.values():
        print(f"{region}\n")
    tests = print_verdicts(regions, candidates)
    print(HOW_TO_READ_IT)
    print_coverage(candidates)
    print(SMALL_PRINT)
    draw(X, y, candidates, tests).savefig(picture, dpi=110)
    where = " in the current directory" if picture == PICTURE else ""
    print(f"Picture saved as {picture}{where}.")


def print_verdicts(regions: dict[str, ua.Region], candidates: Candidates) -> dict[str, Tests]:
    """Test every candidate against every region, and print a line for each."""
    tests: dict[str, Tests] = {name: {} for name in regions}
    print_row("region", "candidate", "rank", "p-value", [f"in {p:.0%}" for p in LEVELS])
    for name, region in regions.items():
        for who, candidate in {**candidates, ESTIMATE: region.estimate}.items():
            test = tests[name][who] = region.test(candidate)
            # The estimate was chosen by looking at y, so that its p-value would be no test.
            pvalue = "-" if test.caveat else f"{test.pvalue:.2f}"
            inside = region.contains(candidate, level=LEVELS).values()
            cells = ["yes" if each else "no" for each in inside]
            print_row(name, who, str(test.rank), pvalue, cells)
    return tests


def print_coverage(candidates: Candidates) -> None:
    """Count how often each candidate is inside, over fresh noise and fresh transformations."""
    name, count = "spline ridge", np.zeros((len(LEVELS), len(candidates)))
    for seed in range(SEED + 1, SEED + 1 + REPETITIONS):
        X, y, _ = ua.datasets.sine(n=80, noise="laplace", random_state=seed)
        region = ua.confidence_region(MODELS[name], X, y, random_state=seed)
        count += list(region.contains(list(candidates.values()), level=LEVELS).values())
    print(f"On {REPETITIONS} fresh data sets, the share of regions that hold the candidate:\n")
    print_row("region", "candidate", "", "", [f"in {p:.0%}" for p in LEVELS])
    for who, shares in zip(candidates, count.T / REPETITIONS, strict=True):
        print_row(name, who, "", "", [f"{share:.1%}" for share in shares])


def print_row(region: str, candidate: str, rank: str, pvalue: str, cells: list[str]) -> None:
    line = f"{region:<14}{candidate:<16}{rank:>4}{pvalue:>9}  "
    print(line + "".join(f"{cell:>8}" for cell in cells))


def draw(X: np.ndarray, y: np.ndarray, candidates: Candidates, tests: dict[str, Tests]) -> Figure:
    """Draw the data beside the ranks of the true and of a wrong candidate."""
    figure = Figure(figsize=(11, 5.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1))
    draw_functions(figure.add_subplot(grid[:, 0]), X, y, candidates)
    upper = figure.add_subplot(grid[0, 1])
    lower = figure.add_subplot(grid[1, 1], sharex=upper)
    for axes, (name, outcomes) in zip((upper, lower), tests.items(), strict=True):
        draw_ranks(axes, name, {who: outcomes[who] for who in (TRUE, LATE)})
    upper.tick_params(labelbottom=False)
    lower.set_xlabel("rank: position among the 100 statistics")
    return figure


def draw_functions(axes: Axes, X: np.ndarray, y: np.ndarray, candidates: Candidates) -> None:
    fine = np.linspace(X.min(), X.max(), 400)[:, None]
    estimate = MODELS["spline ridge"].fit(X, y).predict(fine)
    axes.plot(X, y, "o", color="0.55", markersize=4, label="data")
    lines = {TRUE: candidates[TRUE](fine), LATE: candidates[LATE](fine), ESTIMATE: estimate}
    names = {TRUE: f"{TRUE}, x sin x", ESTIMATE: "the spline ridge estimate"}
    for (who, values), style in zip(lines.items(), ("-", "--", ":"), strict=True):
        label = names.get(who, who)
        axes.plot(fine, values, style, color=COLOURS[who], linewidth=2.2, label=label)
    axes.set(xlabel="x", ylabel="y", title="80 observations and three functions")
    axes.legend(frameon=False, loc="upper left")


def draw_ranks(axes: Axes, name: str, tests: Tests) -> None:
    for (who, test), marker in zip(tests.items(), ("o", "s"), strict=True):
        colour = {"color": COLOURS[who], "marker": marker, "linestyle": "none"}
        axes.plot(np.arange(1, test.m + 1), np.sort(test.statistics), markersize=2.5, **colour)
        label = f"$Z_0$ of {who}: rank {test.rank}, p-value {test.pvalue:.2f}"
        z0 = test.statistics[0]
        axes.plot(test.rank, z0, markersize=9, markeredgecolor="black", label=label, **colour)
    axes.axvspan(90.5, 103, color="0.88", zorder=0, label="ranks outside the 90 % region")
    low, high = axes.get_ylim()
    axes.set(xlim=(-2, 103), ylim=(low, high + 0.1 * (high - low)), title=f"Region of {name}")
    axes.set_ylabel("statistic Z")
    axes.legend(frameon=False, loc="upper left")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A confidence region, from data to verdicts.")
    parser.add_argument("picture", nargs="?", default=PICTURE, help=f"default: {PICTURE}")
    main(parser.parse_args().picture)
