"""What the pictures share: axes, colours, lines, legends, limits, and a region as numbers.

This is the only file of the package that looks behind the public methods of a region.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.regions import Bounds, Region, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From the palette of Okabe and Ito, which colour-blind readers can distinguish.
BLUE, VERMILION, ORANGE, GREEN = "#0072B2", "#D55E00", "#E69F00", "#009E73"
GREY, BLACK = "0.35", "0.1"

# Metadata of a PNG that do not depend on the run.
WITHOUT_DATE = {"Software": None}

# Characters of notes in an inch, and inches of a column of the legend.
_LETTERS, _COLUMN = 14.5, 1.5

# Points that are lighter if there are more; inputs of a curve.
_MANY, _GRID = 500, 200

# Answers that need no note.
_FINITE = (Status.CERTIFIED, Status.ONE_BY_ONE, Status.ALL_AT_ONCE)
_SHORT = {Status.SOME_EMPTY: "empty at some inputs", Status.TRIVIAL: "no outer bound"}


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


def require(what: str, given: Any, kind: type, call: str) -> None:
    """Refuse an object of another class."""
    if not isinstance(given, kind):
        raise TypeError(
            f"{what} cannot be drawn: expected the result of {call}, given a "
            f"{type(given).__name__}. Call {what}({call})."
        )


# --- lines, points, bands, intervals ------------------------------------------------------------


def curve(
    ax: Axes, x: Any, y: Any, label: str, colour: str = BLACK, style: str = "-", **look: Any
) -> None:
    """Draw a line."""
    ax.plot(x, y, style, **{"color": colour, "label": label, "linewidth": 1.4, **look})


def zero(ax: Axes, along: str = "x") -> None:
    """Draw a dashed line at zero, behind all else."""
    draw = ax.axhline if along == "x" else ax.axvline
    draw(0.0, color=GREY, linestyle="--", linewidth=1, zorder=0.5)


def dots(ax: Axes, x: Any, y: Any, label: str, **look: Any) -> None:
    """Draw points; many of them are light, and below bands, which they would hide."""
    many = {"alpha": 0.35, "zorder": 0.5, "markersize": 2.0} if len(x) > _MANY else {}
    look = {"marker": "o", "color": GREY, "markersize": 3.5, **many, **look}
    ax.plot(x, y, linestyle="", label=label, **look)


def closed(ax: Axes, points: Array, style: str, colour: str, label: str) -> None:
    """Draw a closed line through points (K, 2)."""
    x, y = points[[*range(len(points)), 0]].T
    curve(ax, x, y, label, colour, style, linewidth=1)


def bands(
    ax: Axes,
    x: Array,
    lower: Mapping[float, Array],
    upper: Mapping[float, Array],
    status: Mapping[float, Status],
    window: tuple[float, float],
    kind: str = "simultaneous band",
) -> None:
    """Fill the band of each level; infinite bounds end outside the window, which is vertical."""
    low, high = window
    for level, tint in tinted(lower, ORANGE if kind == "pointwise band" else BLUE):
        ends = np.clip([lower[level], upper[level]], 2 * low - high, 2 * high - low)
        if status[level] is Status.EMPTY:
            ends[:] = np.nan
        look: dict[str, Any] = {"color": tint, "linewidth": 0}
        if kind == "pointwise band":  # transparent: it may lie over a simultaneous band
            look = {"facecolor": (tint, 0.7), "edgecolor": ORANGE, "linewidth": 1}
        label = short(level, status[level], f" {kind}")
        ax.fill_between(x, *ends, label=label, **look)


def spans(ax: Axes, rows: IntArray, ends: Array, window: tuple[float, float], label: str) -> None:
    """Draw intervals (N, 2) in rows (N,), with an arrow at each end that is infinite."""
    ax.hlines(rows, *np.clip(ends.T, *window), color=BLUE, linewidth=2, label=label)
    for infinite, mark, edge in zip(np.isinf(ends).T, "<>", window, strict=True):
        beyond = rows[infinite]
        ax.plot(np.full(len(beyond), edge), beyond, mark, color=BLUE, markersize=7, clip_on=False)


def tinted(
    levels: Iterable[float], colour: str = BLUE, lightest: float = 0.22, darkest: float = 0.55
) -> list[tuple[float, Any]]:
    """Return the levels from the highest on, with opaque tints of one colour from light to dark."""
    from matplotlib.colors import to_rgb

    ordered = sorted(levels, reverse=True)
    full = np.array(to_rgb(colour))
    shares = np.linspace(lightest, darkest, len(ordered))
    return [(p, tuple(1 - s * (1 - full))) for p, s in zip(ordered, shares, strict=True)]


def name_axes(ax: Axes, x: str, y: str) -> None:
    """Label both axes; a dollar sign in the name of a column is no mathematics."""
    ax.set_xlabel(cut(x, 44), parse_math=False)
    ax.set_ylabel(cut(y), parse_math=False)


def cut(name: str, most: int = 24) -> str:
    """Return a name that fits the picture."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def legend_above(
    ax: Axes, notes: Sequence[str], columns: int = 3, handles: Sequence[Any] | None = None
) -> None:
    """Put the legend and the notes above the axes, as wide as they are."""
    inches = ax.bbox.width / ax.figure.dpi
    legend = ax.legend(
        handles=ax.get_legend_handles_labels()[0] if handles is None else handles,
        title="\n".join(fill(note, int(_LETTERS * inches)) for note in notes),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=min(columns, max(1, int(inches / _COLUMN))),
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
    span = float(np.ptp(inner)) or 1.0
    near = outer.clip(inner.min() - 0.75 * span, inner.max() + 0.75 * span)
    shown = np.concatenate([inner, near])
    margin = 0.05 * (float(np.ptp(shown)) or 1.0)
    return float(shown.min()) - margin, float(shown.max()) + margin


# --- words --------------------------------------------------------------------------------------


def percent(level: float) -> str:
    """Return a level as a percentage."""
    return f"{100 * level:.6g} %"


def note(levels: Iterable[float], sentence: str) -> str:
    """Return a sentence about some levels."""
    return f"{', '.join(map(percent, levels))}: {sentence}."


def short(level: float, status: Status, regular: str = "") -> str:
    """Name a level in a legend: its status if bounds are not finite, else the regular words."""
    if status in _FINITE:
        return percent(level) + regular
    return f"{percent(level)}: {_SHORT.get(status, status.name.lower().replace('_', ' '))}"


def sentences(answers: Mapping[float, Bounds]) -> list[str]:
    """Return one sentence for each kind of answer with infinite bounds, with its levels."""
    said: dict[str, list[float]] = {}
    for level, one in answers.items():
        if one.status not in _FINITE:
            said.setdefault(one.description, []).append(level)
    return [note(levels, sentence) for sentence, levels in said.items()]


def covers(region: Region, target: str, norm_bound: float | None, model_error: float | None) -> str:
    """State what a band covers."""
    truth, design = region.problem.truth, region.objective.design
    itself, conditions = target == "function", []
    if itself:
        what = "the function itself"
    elif model_error is not None:
        what = "the model"
    elif design is not None and design.dual:
        what = f"the model function that equals {truth} at the observed inputs"
    else:
        what = truth
        conditions.append("it lies in the span of the features")
    if model_error is not None:
        missed = "it" if itself else truth
        conditions.append(f"the model misses {missed} by at most {model_error:g}")
    if norm_bound is not None:
        conditions.append(f"its norm is at most {norm_bound:g}")
    return f"Covers {what}{', if ' * bool(conditions)}{' and '.join(conditions)}."


def caveats(region: Region) -> list[str]:
    """Return the warning that every picture of this region must show, if any."""
    return ["Published region of LS-SVC: it carries no coverage guarantee."] * bool(region.caveat)


# --- a region as numbers ------------------------------------------------------------------------


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
    """Return the features and outputs of the rows with positive weight; none of a stream."""
    data = region.problem.rows
    if data is None:
        return np.empty((0, count)), np.empty(0)
    return features(data.X, count)[data.rows], region.objective.y


def values(region: Region, coefficients: Array, X: Any) -> Array:
    """Return the functions with these coefficients (M, d) at the inputs, (M, N)."""
    design = region.problem.design("a picture over the inputs")
    return region.objective.response(coefficients @ design.rows(region.problem.transform(X)).T)


def classes(region: Region) -> Any:
    """Return the two labels of a classifier, or None for a regression."""
    return region.problem.classes


def output_name(region: Region) -> str:
    """Return the label of the vertical axis."""
    return "y" if classes(region) is None else "E[y|x]"
