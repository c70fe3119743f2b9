"""The order of the statistics: one comparison, one tie order, one rank (docs/theory.md 2)."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray

TIES = ("random", "conservative")


def check_ties(ties: object) -> str:
    """Return the name of a rule for ties, or raise if there is no such rule.

    Parameters
    ----------
    ties : {"random", "conservative"}

    Examples
    --------
    >>> check_ties("conservative")
    'conservative'
    """
    if not isinstance(ties, str) or ties not in TIES:
        raise ValueError(
            "ties must be 'random' (exact coverage) or 'conservative' (at least the level), given "
            f"{ties!r}. Choose one of the two."
        )
    return ties


def draw_tie_order(m: int, ties: str, rng: np.random.Generator) -> IntArray:
    """Return pi, the order in which equal statistics are counted.

    ``"random"`` draws a uniform permutation of 0..m-1, which makes the coverage exact.
    ``"conservative"`` puts the unperturbed statistic first, so that every tie counts for the
    candidate: nothing is drawn, and the coverage is at least the level.

    Parameters
    ----------
    m : int
    ties : {"random", "conservative"}
    rng : Generator

    Examples
    --------
    >>> draw_tie_order(4, "conservative", np.random.default_rng(0))
    array([0, 1, 2, 3])
    >>> sorted(draw_tie_order(4, "random", np.random.default_rng(0)).tolist())
    [0, 1, 2, 3]
    """
    order = np.arange(m, dtype=np.intp)
    if check_ties(ties) == "random":
        order = rng.permutation(order)
    order.setflags(write=False)
    return order


def precedes(difference: Array, tolerance: Array | float, tie_order: IntArray) -> BoolArray:
    """Whether Z_i comes before Z_0, for i = 1..m-1.

    Z_i ≺ Z_0 iff Z_i < Z_0, or Z_i = Z_0 and pi(i) < pi(0). The paper prints the relation the
    other way round; with A_p = {R <= p} that region would exclude the estimate (erratum 1).

    Parameters
    ----------
    difference : array of shape (..., m - 1)
        Z_i - Z_0, computed as in `Contrast.gaps` and not by subtracting two large numbers.
    tolerance : array that broadcasts to ``difference``
        Bound on the rounding error of the difference: within it the two count as equal.
    tie_order : array of shape (m,)
        The permutation pi.

    Examples
    --------
    >>> precedes(np.array([0.5, -0.1, 0.0]), 0.0, tie_order=np.array([3, 0, 1, 2]))
    array([False,  True,  True])
    """
    tied = np.abs(difference) <= tolerance
    return np.where(tied, tie_order[1:] < tie_order[0], difference < 0)


def rank(before: BoolArray) -> IntArray:
    """Return m R = 1 + #{i : Z_i ≺ Z_0}, from 1 to m.

    Parameters
    ----------
    before : boolean array of shape (..., m - 1)
        Whether Z_i comes before Z_0, as `precedes` returns it.

    Examples
    --------
    >>> int(rank(np.array([False, True, True])))
    3
    """
    return np.asarray(1 + before.sum(axis=-1, dtype=np.intp))
