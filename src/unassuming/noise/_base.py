"""What is assumed of the noise: the abstract class behind every assumption."""

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
"""The largest group that ``m="group"`` enumerates: all signs of 12 rows."""


class Noise(ABC):
    """An assumption on the noise, as the random transformations that keep its law.

    A compact group of transformations G leaves the law of the noise vector e unchanged. The
    transformations are drawn uniformly from that group, without looking at the data; nothing
    else about the noise is used (docs/theory.md 2 and 3). A subclass supplies ``draw``, ``apply``
    and ``orthogonal``.

    Attributes
    ----------
    assumption : str
        The assumption in words, for reports.
    exact_arithmetic : bool
        True if applying a transformation only moves or flips entries, so that it commits no
        rounding error. The default, False, is always safe.
    separable : bool
        True if any rows may be set aside: then the same class, drawn for the rows that are left,
        keeps the law of their noise, given the noise of the others. So it is if the group holds
        those transformations, with the rows set aside left as they are. The default, False, is
        always safe; without it there is no tuning on a part of the rows.

    Examples
    --------
    Noise that is symmetric as a whole, and nothing more: one sign for all rows. It is not
    separable, since the noise of some rows tells the sign of the others.

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

    assumption: ClassVar[str] = "the law of the noise is unchanged by the transformations drawn"
    exact_arithmetic: ClassVar[bool] = False
    separable: ClassVar[bool] = False

    @abstractmethod
    def draw(self, n: int, size: int, rng: np.random.Generator) -> Any:
        """Draw ``size`` transformations of vectors of length ``n``, uniformly from the group.

        Everything random comes from the Generator ``rng``. What is returned is handed to `apply` as
        it is: an array whose first axis has length ``size``, or a tuple of such arrays (otherwise
        override `take` as well).
        """

    @abstractmethod
    def apply(self, drawn: Any, residuals: Array, fitted: Array | None) -> Array:
        """Apply every drawn transformation to residuals (..., n); returns (..., size, n).

        ``fitted`` are the values of the candidate at the inputs, shape (..., n). Only an
        assumption under which the candidate determines the law of the noise needs them.
        """

    def scatter(
        self, residuals: Array, fitted: Array | None, size: int, rng: np.random.Generator
    ) -> Array:
        """Apply fresh transformations to one residual vector (n,); returns (size, n).

        ``residuals`` and ``fitted`` are those of `apply`, ``rng`` that of `draw`. The same as
        `draw` and `apply`; a class may know a faster way.
        """
        return self.apply(self.draw(len(residuals), size, rng), residuals, fitted)

    @property
    @abstractmethod
    def orthogonal(self) -> bool:
        """Whether every transformation is a linear orthogonal map of the residuals."""

    def group(self, n: int, *, modulo_sign: bool) -> tuple[Any, int]:
        """Enumerate the whole group: all elements but the identity, and the order m.

        They transform vectors of length ``n``. With ``modulo_sign`` one element of each pair G, -G
        is kept, if the group holds -I.
        """
        raise ValueError(
            f"{self!r} has no finite group to enumerate: m='group' needs signs, block signs, "
            f"permutations or both, given {self!r}. Pass an integer m such as m=100."
        )

    def take(self, drawn: Any, which: slice) -> Any:
        """Return those of the slice ``which`` of the drawn ones, so that work can be batched."""
        return tuple(part[which] for part in drawn) if isinstance(drawn, tuple) else drawn[which]

    def admits(self, residuals: Array, fitted: Array) -> BoolArray:
        """Which candidates (..., n) could have produced the data at all; all of them by default.

        ``residuals`` and ``fitted`` are theirs at the inputs. Those that could not lie in no
        region. Under the hypothesis this must have probability zero.
        """
        del residuals
        return np.ones(fitted.shape[:-1], dtype=np.bool_)

    def restrict(self, rows: BoolArray) -> Self:
        """Return what is assumed of the noise of these rows alone.

        A class that is `separable` returns itself, one that names rows those that are left. Of any
        other nothing is known, and it is refused.
        """
        del rows
        if not self.separable:
            raise self._not_separable("restrict(rows)", "rows are left out")
        return self

    def units(self, n: int) -> IntArray:
        """Return the unit that each of ``n`` rows belongs to, for setting whole units aside.

        Given the noise of the units set aside, `restrict` must keep the law of the others. Rows are
        units of their own where the class is `separable`.
        """
        if not self.separable:
            raise self._not_separable("units(n)", "rows are set aside")
        return np.arange(n)

    def _not_separable(self, method: str, when: str) -> NotAvailable:
        return NotAvailable(
            f"noise does not say what it assumes when {when}: expected a class with separable = "
            f"True, or with the method {method} of its own, given {self!r}. Define it if it is so, "
            "or pass data and noise of the rows that are left."
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def check_group(noise: Noise, signs: int, moved: Sequence[int], kept: int, what: str) -> None:
    """Raise if a group is too large to enumerate, or nothing but the identity is left of it.

    Its order is 2^signs times c! for every block of c rows that are ``moved`` among each other.
    """
    blocks = Counter(rows for rows in moved if rows > 1)
    small = signs <= 30 and max(blocks, default=0) <= 20 and blocks.total() <= 30
    order = 2**signs * prod(factorial(rows) for rows in blocks.elements()) if small else 0
    if not small or order > LARGEST_GROUP:
        parts = [f"2^{signs}"] * (signs > 0)
        parts += [f"{c}!" if k == 1 else f"({c}!)^{k}" for c, k in sorted(blocks.items())]
        raise ValueError(
            f"the group of {what} is too large to enumerate: m='group' takes groups of at most "
            f"{LARGEST_GROUP} elements, given {order or ' · '.join(parts)} for {noise!r}. Pass an "
            "integer m instead."
        )
    if kept < 2:
        raise ValueError(
            f"the group of {what} is too small: m='group' needs at least 2 elements that differ, "
            f"given {kept} for {noise!r}. Pass an integer m instead."
        )
