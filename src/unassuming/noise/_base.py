"""The abstract class behind every assumption on the noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from math import factorial, prod
from typing import Any, ClassVar, Self

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray, IntArray

LARGEST_GROUP = 4096
"""The order of the largest group that ``m="all"`` enumerates: all signs of 12 rows."""


class Noise(ABC):
    """An assumption on the noise: a group of transformations that leave its law unchanged.

    The transformations are drawn uniformly from a compact group, without looking at the data
    (docs/theory.md 2 and 3). A subclass supplies ``draw``, ``apply`` and ``orthogonal``.

    Attributes
    ----------
    assumption : str
        The assumption in words, for reports.
    target : str
        What the ideal coefficients give at the inputs, for reports.
    orthogonal : bool
        True if every transformation is a linear orthogonal map of the residuals.
    exact_arithmetic : bool
        True if a transformation only moves entries or flips their signs, so that applying it
        commits no rounding error. The default, False, is always safe.
    separable : bool
        True if any rows may be set aside: given the noise of those rows, transformations drawn for
        the remaining rows leave the law of their noise unchanged. This holds if the group contains
        these transformations, extended by the identity on the other rows. The default, False, is
        always safe, but excludes tuning on a part of the rows.
    spherical : bool
        True if rotations leave the law of the noise unchanged, so that the t interval is exact.

    Examples
    --------
    Noise that is symmetric as a whole, and nothing more: one sign for all rows. It is not
    separable, since the noise of some rows reveals the sign of the others.

    >>> class WholeSymmetric(Noise):
    ...     orthogonal = True
    ...
    ...     def draw(self, n, size, rng):
    ...         return rng.choice([-1.0, 1.0], size=(size, 1))
    ...
    ...     def apply(self, drawn, residuals, fitted):
    ...         return residuals[..., None, :] * drawn
    >>> noise = WholeSymmetric()
    >>> flipped = noise.apply(noise.draw(3, 2, np.random.default_rng(0)), np.ones(3), None)
    >>> flipped.shape
    (2, 3)
    """

    assumption: str = "the law of the noise is unchanged by the transformations drawn"
    target: str = "the noise-free outputs"
    exact_arithmetic: ClassVar[bool] = False
    separable: ClassVar[bool] = False
    spherical: ClassVar[bool] = False

    @abstractmethod
    def draw(self, n: int, size: int, rng: np.random.Generator) -> Any:
        """Draw ``size`` transformations of vectors of length ``n``, uniformly from the group.

        All randomness comes from the Generator ``rng``. The result is passed on to `apply`: an
        array whose first axis has length ``size``, or a tuple of such arrays. For any other type,
        override `take` as well.
        """

    @abstractmethod
    def apply(self, drawn: Any, residuals: Array, fitted: Array | None) -> Array:
        """Apply every drawn transformation to residuals (..., n); returns (..., size, n).

        ``fitted`` holds the values of the candidate at the inputs, shape (..., n). It matters only
        if the law of the noise depends on the candidate.
        """

    def rotated(self) -> tuple[Array, Noise] | None:
        """Return Q and what is assumed of Qᵀe, if the assumption is one about Qᵀe; else None."""
        return None

    def scatter(
        self, residuals: Array, fitted: Array | None, size: int, rng: np.random.Generator
    ) -> Array:
        """Apply fresh transformations to one residual vector (n,); returns (size, n).

        ``residuals`` and ``fitted`` are those of `apply`, ``size`` and ``rng`` those of `draw`. The
        default calls both; override it if there is a faster way.
        """
        return self.apply(self.draw(len(residuals), size, rng), residuals, fitted)

    @property
    @abstractmethod
    def orthogonal(self) -> bool:
        """True if every transformation is a linear orthogonal map of the residuals."""

    def group(self, n: int, *, modulo_sign: bool) -> tuple[Any, int]:
        """Return all transformations of vectors of length ``n`` but the identity, and the order m.

        With ``modulo_sign``, one element of each pair G, -G is kept if the group contains -I.
        """
        raise ValueError(
            f"{self!r} has no finite group to enumerate: m='all' needs signs, block signs, "
            f"permutations or both, given {self!r}. Pass an integer m such as m=100."
        )

    def take(self, drawn: Any, which: slice) -> Any:
        """Return the slice ``which`` of the ``drawn`` transformations, to work in batches."""
        return tuple(part[which] for part in drawn) if isinstance(drawn, tuple) else drawn[which]

    def admits(self, residuals: Array, fitted: Array) -> BoolArray:
        """Whether each candidate, with these ``residuals`` and ``fitted`` (..., n), is possible.

        A candidate that cannot have produced the data lies in no region. The true candidate must be
        admitted with probability one; by default all are.
        """
        del residuals
        return np.ones(fitted.shape[:-1], dtype=np.bool_)

    def restrict(self, rows: BoolArray) -> Self:
        """Return the assumption on the noise of ``rows`` alone, a boolean mask.

        By default a `separable` class returns itself, and any other refuses. Override it in a class
        that stores something for each row.
        """
        del rows
        if not self.separable:
            raise self._not_separable("restrict(rows)", "rows are left out")
        return self

    def units(self, n: int) -> IntArray:
        """Return, for each of ``n`` rows, the number of the unit that can be set aside as a whole.

        Given the noise of the units set aside, the assumption on the others (see `restrict`) must
        still hold. In a `separable` class every row is a unit.
        """
        if not self.separable:
            raise self._not_separable("units(n)", "rows are set aside")
        return np.arange(n)

    def sign_units(self, n: int) -> IntArray | None:
        """Return, for each of ``n`` rows, the number of the unit that may change its sign.

        Changing the signs of the noise of any units, all rows of a unit together, must leave the
        joint law of the noise unchanged. Intervals of single coefficients rest on this. None, the
        default, declares no such units.
        """
        del n
        return None

    def swap_blocks(self, n: int) -> IntArray | None:
        """Return, for each of ``n`` rows, the number of the block within which rows may be swapped.

        Permuting the noise of rows of the same block must leave the joint law unchanged. Intervals
        of single coefficients can rest on this too. None, the default, declares no such blocks.
        """
        del n
        return None

    def _not_separable(self, method: str, when: str) -> NotAvailable:
        return NotAvailable(
            f"noise does not say what it assumes when {when}: expected a class with separable = "
            f"True or with its own method {method}, given {self!r}. Define it if the assumption "
            "allows it, or pass the data and the noise of the remaining rows."
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def check_order(signs: int, moved: Sequence[int], what: str) -> None:
    """Raise if a group of order 2^signs times c!, for each c of ``moved``, is too large to list."""
    blocks = Counter(rows for rows in moved if rows > 1)
    small = signs <= 30 and max(blocks, default=0) <= 20 and blocks.total() <= 30
    order = 2**signs * prod(factorial(rows) for rows in blocks.elements()) if small else 0
    if not small or order > LARGEST_GROUP:
        parts = [f"2^{signs}"] * (signs > 0)
        parts += [f"{c}!" if k == 1 else f"({c}!)^{k}" for c, k in sorted(blocks.items())]
        raise ValueError(
            f"the group of {what} is too large to enumerate: expected at most {LARGEST_GROUP} "
            f"elements, given {order or ' · '.join(parts)}. Choose an integer m, such as 100."
        )


def without_identity(noise: Noise, elements: Any, what: str) -> tuple[Any, int]:
    """Return the elements of a group without the first, which is the identity, and the order."""
    order = len(elements[0] if isinstance(elements, tuple) else elements)
    if order < 2:
        raise ValueError(
            f"the group of {what} is too small: m='all' needs at least 2 different elements, "
            f"given {order} for {noise!r}. Pass an integer m instead."
        )
    return noise.take(elements, slice(1, None)), order
