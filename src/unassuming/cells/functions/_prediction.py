"""The half-width of intervals and bands of a function, from the design and assumptions alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.cells._balanced import balanced_numbers
from unassuming.cells._old_division import candidates
from unassuming.cells.functions._band import choose_band, looked_at
from unassuming.cells.functions._divisions import interleaved
from unassuming.cells.functions._kriging import Kriging
from unassuming.cells.functions._predicted import choose
from unassuming.cells.functions._system import Assumed, System, Wanted

_MOST_CELLS = 12
_MOST_BALANCED = 128
_COMPARED = 3


@final
@dataclass(frozen=True, eq=False)
class Prediction:
    """What is expected before y is seen.

    Attributes
    ----------
    where : integer array of shape (M,)
        The functionals that were looked at: all of them one at a time, and up to 48 for a
        simultaneous band.
    half_width : array of shape (M,)
        Mean half-widths for Gaussian noise of the working scale; infinite if there are too few
        rows for the level.
    cells : integer array of shape (M,)
        The number of cells.
    mu : array of shape (M,)
        The smoothing.
    """

    where: IntArray
    half_width: Array
    cells: IntArray
    mu: Array


def numbers_of_cells(level: float, units: int, *, simultaneous: bool = False) -> list[int]:
    """Return the numbers of cells that are compared; none if a band has too few units.

    Parameters
    ----------
    level : float
    units : int
        Number of rows, or of clusters of rows.
    simultaneous : bool
        Whether the cells are for a simultaneous band, which takes a power of two.

    Examples
    --------
    >>> numbers_of_cells(0.9, 100), numbers_of_cells(0.9, 100, simultaneous=True)
    ([5, 6, 7, 8, 10, 12], [16, 32, 64])
    """
    if not simultaneous:
        numbers = candidates(level, units)
        return [K for K in numbers if K <= _MOST_CELLS] or numbers[:1]
    return [K for K in balanced_numbers(level, _MOST_BALANCED)[:_COMPARED] if units >= K]


def predicted(
    system: System,
    wanted: Wanted,
    assumed: Assumed,
    level: float,
    *,
    simultaneous: bool = False,
    order: Array | None = None,
    clusters: IntArray | None = None,
    seed: int = 0,
) -> Prediction:
    """Predict the half-widths of intervals one at a time, or of a simultaneous band from cells.

    Parameters
    ----------
    system, wanted
        The rows and the functionals.
    assumed : Assumed
        The norm bound, the model error and the scale of the noise.
    level : float
    simultaneous : bool
    order, clusters, seed
        As for `interleaved`.

    Returns
    -------
    Prediction

    Examples
    --------
    >>> x, z = np.linspace(0, 1, 60), np.array([0.5])
    >>> kernel = lambda s, t: np.exp(-np.square(s[:, None] - t))
    >>> system = System(np.zeros((60, 0)), np.ones(60), kernel(x, x))
    >>> wanted = Wanted(np.zeros((1, 0)), np.ones(1), kernel(z, x))
    >>> assumed = Assumed(5.0, noise_scale=0.1)
    >>> found = predicted(system, wanted, assumed, 0.9, order=x)
    >>> wider = predicted(system, wanted, assumed, 0.9, simultaneous=True, order=x)
    >>> bool(0.01 < found.half_width[0] < wider.half_width[0] < 0.2)
    True
    """
    units = system.n if clusters is None else int(clusters.max()) + 1
    numbers = numbers_of_cells(level, units, simultaneous=simultaneous)
    divisions = [
        Kriging(system, interleaved(system, K, order=order, clusters=clusters, seed=seed), K)
        for K in numbers
    ]
    where = looked_at(len(wanted)) if simultaneous else np.arange(len(wanted))
    if not divisions:
        none = np.zeros(len(where), dtype=np.intp)
        return Prediction(where, np.full(len(where), np.inf), none, np.zeros(len(where)))
    pick = choose_band if simultaneous else choose
    found = pick(system, wanted, divisions, assumed, level)
    return Prediction(where, found.half_width, np.array(numbers)[found.which], found.mu)
