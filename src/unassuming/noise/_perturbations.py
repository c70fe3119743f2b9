"""The transformations of a region: drawn once, the same for every candidate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from unassuming._typing import Array, BoolArray
from unassuming.noise._base import Noise
from unassuming.noise._characters import group_by_leverage, group_order


@final
@dataclass(frozen=True, eq=False)
class Rounded:
    """What is known about transformations that come from rounded sums over the rows.

    Attributes
    ----------
    error : float
        Error of each transformation, as an operator, relative to the vectors that it moves.
    lengths : array of shape (d + 1,)
        Lengths of the errors of the columns of Φ, and of y, in the same sums.
    free : array of shape (m - 1, d)
        Which coefficients each set leaves open if nothing else moves, without rounding.
    still : array of shape (m - 1, d)
        Which columns each transformation keeps or reverses, without rounding.
    ties : array of shape (m - 1,)
        Which transformations leave all coefficients open: Z_i = Z_0 for every candidate.
    turned : float
        Error of the fitted values, relative to the length in whitened coordinates.
    relative : float
        The largest error of a column, relative to its length.
    """

    error: float
    lengths: Array
    free: BoolArray
    still: BoolArray
    ties: BoolArray
    turned: float = 0.0
    relative: float = 0.0

    def of_residuals(self, coefficients: Array) -> float:
        """Return the length of the errors of residuals y - Φa."""
        return float(np.append(np.abs(coefficients), 1.0) @ self.lengths)

    def of_fitted(self, directions: Array) -> Array:
        """Return the lengths of the errors of fitted values Φv for directions v (N, d), (N,)."""
        return np.asarray(np.abs(directions) @ self.lengths[:-1])

    def along(self, directions: Array) -> BoolArray:
        """Return which sets certainly never end along directions (N, d), (N, m - 1)."""
        held = (directions != 0).astype(np.float64) @ (~self.free).astype(np.float64).T
        return np.asarray(held == 0)

    def take(self, which: slice) -> Rounded:
        """Return what is known about some of them."""
        free, still, ties = (part[which] for part in (self.free, self.still, self.ties))
        return replace(self, free=free, still=still, ties=ties)


@dataclass(frozen=True, eq=False)
class Perturbations:
    """The m - 1 drawn transformations, open to inspection.

    Attributes
    ----------
    noise : Noise
        The assumption they come from.
    source : object
        The result of ``noise.draw``, or of the enumeration of its group; or what returns it.
    drawn : object
        The result itself.
    n, m : int
        Length of the residual vectors; number of statistics, the unperturbed one included.
    rounded : Rounded or None
        Their errors; None if they are known as they are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> perturbations = Perturbations.sample(ua.noise.Symmetric(), n=3, m=5, rng=rng)
    >>> perturbations.apply([1.0, 2.0, 3.0]).shape
    (4, 3)
    >>> Perturbations.enumerate(ua.noise.Symmetric(), 3, modulo_sign=False).m
    8
    >>> perturbations.take(slice(0, 2)).m
    3
    """

    noise: Noise
    source: Any
    n: int
    m: int
    rounded: Rounded | None = None

    @cached_property
    def drawn(self) -> Any:
        """The transformations: single numbers of many rows do without them."""
        return self.source() if callable(self.source) else self.source

    @classmethod
    def sample(cls, noise: Noise, n: int, m: int, rng: np.random.Generator) -> Perturbations:
        """Draw m - 1 transformations of n residuals from ``noise`` with the Generator rng."""
        return cls(noise, noise.draw(n, m - 1, rng), n, m)

    @classmethod
    def enumerate(cls, noise: Noise, n: int, *, modulo_sign: bool) -> Perturbations:
        """Take the whole group of ``noise`` for n rows; ``modulo_sign`` as in `Noise.group`."""
        drawn, m = noise.group(n, modulo_sign=modulo_sign)
        return cls(noise, drawn, n, m)

    @classmethod
    def sign_group(
        cls,
        noise: Noise,
        leverage: Array | Callable[[], Array],
        m: int,
        *,
        modulo_sign: bool,
        n: int | None = None,
        key: int = 0,
    ) -> Perturbations:
        """Take a group of m signs of ``noise``, or fewer for few rows, by the ``leverage`` (n,).

        It may be a function that gives those of ``n`` rows once they are needed. ``modulo_sign``
        as in `Noise.group`; the ``key`` orders rows of equal leverage.
        """
        rows = len(leverage) if n is None else n  # type: ignore[arg-type]

        signs = partial(group_by_leverage, noise, leverage, m, modulo_sign=modulo_sign, key=key)
        return cls(noise, signs, rows, group_order(noise, rows, m, modulo_sign=modulo_sign))

    def apply(self, residuals: ArrayLike, fitted: ArrayLike | None = None) -> Array:
        """Apply every transformation to residuals of shape (..., n).

        Label noise needs ``fitted``, the values of the candidate at the inputs.

        Returns
        -------
        array of shape (..., m - 1, n)
            Row i - 1 holds G_i r.
        """
        r = np.asarray(residuals, dtype=np.float64)
        f = None if fitted is None else np.asarray(fitted, dtype=np.float64)
        for name, vector in (("residuals", r), ("fitted", f)):
            if vector is not None and (vector.ndim == 0 or vector.shape[-1] != self.n):
                raise ValueError(
                    f"{name} has the wrong length: expected the last axis to be n = {self.n}, "
                    f"given shape {vector.shape}. Pass one number for each row of the data."
                )
        moved = np.asarray(self.noise.apply(self.drawn, r, f), dtype=np.float64)
        expected = (*r.shape[:-1], self.m - 1, self.n)
        if moved.shape != expected:
            raise ValueError(
                f"{type(self.noise).__name__}.apply returned the wrong shape: expected {expected} "
                f"for residuals of shape {r.shape}, given {moved.shape}. The transformations come "
                "before the last axis."
            )
        return moved

    def take(self, which: slice) -> Perturbations:
        """Return the transformations of the slice ``which``; G_i is at position i - 1."""
        size = len(range(*which.indices(self.m - 1)))
        rounded = self.rounded and self.rounded.take(which)
        return Perturbations(
            self.noise, self.noise.take(self.drawn, which), self.n, size + 1, rounded
        )

    def __repr__(self) -> str:
        return f"Perturbations({self.noise!r}, n={self.n}, m={self.m})"
