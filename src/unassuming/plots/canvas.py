"""What the pictures share: axes, colours, notes, limits, and a region as numbers to draw.

This is the only file of the package that looks behind the public methods of a region.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.regions import Region, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From the palette of Okabe and Ito, which colour-blind readers can distinguish.
BLUE, VERMILION, ORANGE, GREEN = "#0072B2", "#D55E00", "#E69F00", "#009E73"
GREY, BLACK = "0.35", "0.1"

WITHOUT_DATE = {"Software": None}
"""Metadata of a PNG that do not depend on the run."""

_WIDTH = 72
"""Characters in a line of notes above axes of the usual width."""

_GRID = 200
"""Inputs of a curve."""

_SHORT = {
    Status.UNBOUNDED: "unbounded",
    Status.NOT_CERTIFIED: "no finite bound certified",
    Status.UNDETERMINED: "not determined everywhere",
    Status.NO_OUTER_BOUND: "no outer bound known",
    Status.TRIVIAL: "no outer bound known",
    Status.EMPTY: "empty region",
    Status.SOME_EMPTY: "empty at some inputs",
    Status.TOO_FEW_CELLS: "not finite everywhere",
}


def require_matplotlib() -> None:
    """Raise an error with the install command if Matplotlib is missing."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        raise ModuleNotFoundError(
            'Drawing needs matplotlib: pip install "unassuming[plot]"', name="matplotlib"
        ) from error


def new_axes(ax: Axes | None, height: float | None = None) -> Axes:
    """Return the given axes, or those of a new figure (its height in inches)."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(layout="constrained")
    if height is not None:
        figure.set_figheight(height)
    return ax


def name_axes(ax: Axes, x: str, y: str) -> None:
    """Label both axes; a dollar sign in the name of a column is no mathematics."""
    ax.set_xlabel(x, parse_math=False)
    ax.set_ylabel(y, parse_math=False)


def require(what: str, given: Any, kind: type, call: str) -> None:
    """Refuse an object of another class."""
    if not isinstance(given, kind):
        raise TypeError(
            f"{what} cannot be drawn: expected the result of {call}, given a "
            f"{type(given).__name__}. Call {what}({call})."
        )


def percent(level: float) -> str:
    """Return a level as a percentage."""
    return f"{100 * level:.6g} %"


def note(levels: Iterable[float], sentence: str) -> str:
    """Return a sentence about some levels."""
    return f"{', '.join(map(percent, levels))}: {sentence}."


def short(level: float, status: Status, regular: str = "") -> str:
    """Name a level in a legend: its status if bounds are not finite, else the regular words."""
    return percent(level) + (f": {_SHORT[status]}" if status in _SHORT else regular)


def sentences(statuses: Mapping[float, Status], norm_bound: float | None = None) -> list[str]:
    """Return one sentence for each status with infinite bounds, with its levels."""
    kinds = dict.fromkeys(status for status in statuses.values() if status in _SHORT)
    return [
        note([p for p, status in statuses.items() if status is kind], kind.given(norm_bound))
        for kind in kinds
    ]


def tinted(
    levels: Iterable[float], colour: str = BLUE, lightest: float = 0.22, darkest: float = 0.55
) -> list[tuple[float, Any]]:
    """Return the levels from the highest on, with opaque tints of one colour from light to dark."""
    from matplotlib.colors import to_rgb

    ordered = sorted(levels, reverse=True)
    full = np.array(to_rgb(colour))
    shares = np.linspace(lightest, darkest, len(ordered))
    return [(p, tuple(1 - s * (1 - full))) for p, s in zip(ordered, shares, strict=True)]


def legend_above(
    ax: Axes, notes: Sequence[str], columns: int = 3, handles: Sequence[Any] | None = None
) -> None:
    """Put the legend and the notes above the axes."""
    legend = ax.legend(
        handles=ax.get_legend_handles_labels()[0] if handles is None else handles,
        title="\n".join(fill(note, _WIDTH) for note in notes),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        alignment="left",
    )
    for text in (legend.get_title(), *legend.get_texts()):
        text.set_parse_math(False)


def limits(core: Iterable[Any], more: Iterable[Any] = ()) -> tuple[float, float]:
    """Return axis limits that show all of ``core``, and the part of ``more`` close to it."""
    inner = np.concatenate([np.ravel(part) for part in core])
    outer = np.concatenate([np.ravel(part) for part in more] or [np.empty(0)])
    inner, outer = inner[np.isfinite(inner)], outer[np.isfinite(outer)]
    low, high = float(inner.min()), float(inner.max())
    span = (high - low) or 1.0
    outer = np.clip(outer, low - 0.75 * span, high + 0.75 * span)
    low, high = min(low, outer.min(initial=low)), max(high, outer.max(initial=high))
    margin = 0.05 * ((high - low) or 1.0)
    return low - margin, high + margin


# --- a region as numbers ------------------------------------------------------------------------


def asked(levels: Sequence[float]) -> list[float]:
    """Return the levels in increasing order, each once."""
    return sorted({float(level) for level in levels})


def features(X: Any, count: int) -> Array:
    """Return the columns of X, (N, count); refuse another number of columns."""
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != count:
        raise ValueError(
            f"X cannot be drawn in this picture: expected a table with {count} "
            f"feature{'s' * (count > 1)}, given shape {values.shape}. band and family draw one "
            "feature, classification two; coefficients any number."
        )
    return values


def names(X: Any, count: int) -> list[str]:
    """Return the names of the columns, or x and x1, x2."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        return [str(name) for name in columns]
    return ["x"] if count == 1 else [f"x{j + 1}" for j in range(count)]


def like(X: Any, values: Array) -> Any:
    """Return new inputs in the form of X: a data frame with the same columns, or an array."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return values
    return type(X)({name: values[:, j] for j, name in enumerate(columns)})


def horizontal(region: Region, X: Any) -> tuple[Any, Array, IntArray]:
    """Return the inputs (a grid if X is None), their only feature (N,), and its order."""
    if X is None:
        x = features(region.inputs, 1)
        X = like(region.inputs, np.linspace(x.min(), x.max(), _GRID)[:, None])
    x = features(X, 1)[:, 0]
    return X, x, np.argsort(x, kind="stable")


def observed(region: Region, count: int) -> tuple[Array, Array]:
    """Return the features and outputs of the rows with positive weight."""
    data = region.problem.data("a picture of the data needs")
    return features(data.X, count)[data.rows], region.objective.y


def stores_rows(region: Region) -> bool:
    """Whether the region has its rows: not if it comes from a stream."""
    return region.problem.rows is not None


def columns(region: Region) -> Array | None:
    """Return the columns that multiply the coefficients, (n, d); None if there are none."""
    objective = region.objective
    return objective.regressors if objective.design is None else objective.design.matrix


def values(region: Region, coefficients: Array, X: Any) -> Array:
    """Return the functions with these coefficients (M, d) at the inputs, (M, N)."""
    objective = region.objective
    if objective.design is None:
        raise TypeError(
            "the region cannot be drawn over inputs: expected a model with features or a kernel, "
            f"given {objective}. Draw its coefficients."
        )
    return objective.response(coefficients @ objective.design.rows(region.problem.transform(X)).T)


def covers(region: Region, target: str, norm_bound: float | None, model_error: float | None) -> str:
    """State what a band covers."""
    design, truth = region.objective.design, region.problem.truth
    given = "" if norm_bound is None else f", if its norm is at most {norm_bound:g}"
    if model_error is not None:
        covered, missed = "the model", truth
        if target == "function":
            covered, missed = "the function itself", "it"
        if norm_bound is not None:
            given = f" and the norm of the model is at most {norm_bound:g}"
        return f"Covers {covered}, if the model misses {missed} by at most {model_error:g}{given}."
    if target == "function":
        return f"Covers the function itself{given}."
    if design is not None and not design.spans_everything:
        also = " and" if given else ", if"
        return f"Covers {truth}{given}{also} it lies in the span of the features."
    return f"Covers the model function that equals {truth} at the observed inputs{given}."


def caveats(region: Region) -> list[str]:
    """Return the warning that every picture of this region must show, if any."""
    return ["Published region of LS-SVC: it carries no coverage guarantee."] * bool(region.caveat)


def classes(region: Region) -> Any:
    """Return the two labels of a classifier, or None for a regression."""
    return region.problem.classes


def output_name(region: Region) -> str:
    """Return the label of the vertical axis."""
    return "y" if classes(region) is None else "E[y|x]"
