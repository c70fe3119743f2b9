"""Ranks of the truth over repeated samples, compared with the uniform distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from unassuming._typing import Array, IntArray
from unassuming.plots._canvas import BLACK, VERMILION, legend_above, new_axes, percent, tints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BARS = 20
_CONFIDENCE = 0.99


@dataclass(frozen=True, eq=False)
class RanksData:
    """The numbers behind `ranks`; `ranks_data` describes them."""

    edges: Array
    counts: IntArray
    expected: float
    low: int
    high: int


def ranks_data(ranks: Any, m: int, bars: int | None = None) -> RanksData:
    """Return the data that `ranks` draws.

    Parameters
    ----------
    ranks, m, bars
        As for `ranks`.

    Returns
    -------
    RanksData
        The ``counts`` of the bars and their ``edges``, half a rank outside the ranks they count;
        for uniform ranks, the ``expected`` count, and limits ``low`` and ``high`` that contain all
        counts with probability at least 0.99.

    Examples
    --------
    >>> data = ua.plots.ranks_data([1, 2, 3, 4, 4, 4], m=4, bars=2)
    >>> data.counts, data.edges, data.expected
    (array([2, 4]), array([0.5, 2.5, 4.5]), 3.0)
    """
    found = np.asarray(ranks)
    if found.ndim != 1 or not len(found) or found.dtype.kind not in "iu":
        raise ValueError(
            "ranks is not a list of ranks: expected a vector of integers, given shape "
            f"{found.shape} of type {found.dtype}. Collect region.rank(truth) over many samples."
        )
    if found.min() < 1 or found.max() > m:
        raise ValueError(
            f"ranks has entries out of range: expected integers from 1 to m = {m}, given "
            f"{found.min()} to {found.max()}. Pass the m of the regions."
        )
    if bars is None:
        bars = max(b for b in range(1, min(m, _MOST_BARS) + 1) if m % b == 0)
    if bars < 1 or m % bars:
        raise ValueError(
            f"bars does not divide m: expected a divisor of {m}, so that every bar counts the same "
            f"number of ranks, given {bars}. Leave it out for a suitable one."
        )
    edges = np.linspace(0, m, bars + 1) + 0.5
    law, tail = binom(len(found), 1 / bars), (1 - _CONFIDENCE) / (2 * bars)
    return RanksData(
        edges=edges,
        counts=np.histogram(found, edges)[0],
        expected=len(found) / bars,
        low=int(law.ppf(tail)),
        high=int(law.isf(tail)),
    )


def ranks(ranks: Any, m: int, bars: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw a histogram of ranks; exact regions have uniformly distributed ranks of the truth.

    Parameters
    ----------
    ranks : sequence of int
        Ranks of the true function over independent samples, each with its own seed.
    m : int
        Number of statistics of each region, which is the largest possible rank.
    bars : int, optional
        A divisor of m; by default the largest up to 20.
    ax : Axes, optional
        By default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> found = []
    >>> for seed in range(40):
    ...     X, y, truth = ua.datasets.linear(n=20, d=1, random_state=seed)
    ...     region = ua.confidence_region(LinearRegression(), X, y, m=20, random_state=seed)
    ...     found.append(region.rank(truth))
    >>> ax = ua.plots.ranks(found, m=20, bars=5)
    >>> len(ax.patches) >= 5
    True
    """
    ax = new_axes(ax)
    data = ranks_data(ranks, m, bars)
    style: dict[str, Any] = {"color": tints(1, lightest=0.5)[0], "edgecolor": "white"}
    ax.bar(data.edges[:-1], data.counts, np.diff(data.edges), align="edge", **style)
    ax.axhline(data.expected, color=BLACK, linewidth=1.4, label="expected for uniform ranks")
    between = f"simultaneous {percent(_CONFIDENCE)} limits for uniform ranks"
    for height, label in ((data.low, between), (data.high, None)):
        ax.axhline(height, color=VERMILION, linewidth=1.2, linestyle="--", label=label)
    ax.set(
        xlabel=f"rank of the candidate (1 to {m})",
        ylabel=f"count ({data.counts.sum()} samples)",
        xlim=(data.edges[0], data.edges[-1]),
        ylim=(0, 1.1 * max(data.counts.max(), data.high)),
    )
    legend_above(ax, [], columns=1)
    return ax
