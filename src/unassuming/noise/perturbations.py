"""The transformations of a region: the assumption by name, and what it draws once for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.noise.base import Noise
from unassuming.noise.labels import Labels
from unassuming.noise.permutations import Exchangeable, SymmetricExchangeable
from unassuming.noise.quantile import Quantile
from unassuming.noise.rotations import Spherical
from unassuming.noise.signs import (
    POLYNOMIALS,
    BlockSymmetric,
    Symmetric,
    group_by_leverage,
)

NAMED: dict[str, type[Noise]] = {
    "symmetric": Symmetric,
    "exchangeable": Exchangeable,
    "symmetric-exchangeable": SymmetricExchangeable,
    "spherical": Spherical,
    "labels": Labels,
    "quantile": Quantile,
}
"""The assumptions that have a name; `BlockSymmetric` and `ExchangeableWithin` need blocks.

A region of ``QuantileRegressor`` takes the quantile of the model for ``"quantile"``."""


def as_noise(noise: str | Noise) -> Noise:
    """Return the assumption that ``noise`` names; an instance is returned as it is.

    Examples
    --------
    >>> ua.noise.as_noise("symmetric")
    Symmetric()
    """
    if isinstance(noise, Noise):
        return noise
    if isinstance(noise, str) and noise in NAMED:
        return NAMED[noise]()
    remedy = "Choose one of these names."
    if isinstance(noise, type) and issubclass(noise, Noise):
        remedy = f"Write {noise.__name__}(): an instance, not the class."
    names = ", ".join(repr(name) for name in NAMED)
    raise ValueError(
        f"noise is not a known assumption: expected one of {names}, or an instance such as "
        f"ua.noise.BlockSymmetric(blocks), given {noise!r}. {remedy}"
    )


@final
@dataclass(frozen=True, eq=False)
class Perturbations:
    """The m - 1 transformations of a region, open to inspection.

    Attributes
    ----------
    noise : Noise
        The assumption they come from.
    drawn : object
        The result of ``noise.draw``, or of the enumeration of its group.
    n, m : int
        Length of the residual vectors; number of statistics, the unperturbed one included.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> perturbations = Perturbations.sample(ua.noise.Symmetric(), n=3, m=5, rng=rng)
    >>> perturbations.apply([1.0, 2.0, 3.0]).shape, perturbations.take(slice(0, 2)).m
    ((4, 3), 3)
    >>> Perturbations.enumerate(ua.noise.Symmetric(), 3, modulo_sign=False).m
    8
    """

    noise: Noise
    drawn: Any
    n: int
    m: int

    @classmethod
    def sample(cls, noise: Noise, n: int, m: int, rng: np.random.Generator) -> Self:
        """Draw m - 1 transformations of n residuals from ``noise`` with the Generator rng."""
        return cls(noise, noise.draw(n, m - 1, rng), n, m)

    @classmethod
    def enumerate(cls, noise: Noise, n: int, *, modulo_sign: bool) -> Self:
        """Take the whole group of ``noise`` for n rows; ``modulo_sign`` as in `Noise.group`."""
        drawn, m = noise.group(n, modulo_sign=modulo_sign)
        return cls(noise, drawn, n, m)

    @classmethod
    def sign_group(
        cls, noise: Noise, leverage: Array, m: int, *, modulo_sign: bool, key: int = 0
    ) -> Self:
        """Take a group of m signs, or of fewer for few rows, that the leverages (n,) determine.

        ``noise`` says which rows change together; ``modulo_sign`` is that of `Noise.group`. The
        key orders rows of equal leverage.
        """
        units = sign_units_of(noise, len(leverage))
        assert units is not None
        drawn = group_by_leverage(units, leverage, m, modulo_sign=modulo_sign, key=key)
        return cls(noise, drawn, len(leverage), len(drawn) + 1)

    def apply(self, residuals: ArrayLike, fitted: ArrayLike | None = None) -> Array:
        """Apply every transformation to residuals (..., n); returns G_i r, (..., m - 1, n).

        Label noise needs ``fitted``, the values of the candidate at the inputs.
        """
        r = np.asarray(residuals, dtype=np.float64)
        f = None if fitted is None else np.asarray(fitted, dtype=np.float64)
        if any(vector is not None and vector.shape[-1:] != (self.n,) for vector in (r, f)):
            raise ValueError(
                f"residuals have the wrong length: expected the last axis to be n = {self.n}, and "
                f"the same for fitted, given shape {r.shape}. Pass one number for each row."
            )
        moved = np.asarray(self.noise.apply(self.drawn, r, f), dtype=np.float64)
        if moved.shape != (*r.shape[:-1], self.m - 1, self.n):
            raise ValueError(
                f"{type(self.noise).__name__}.apply returned the wrong shape: expected "
                f"{(*r.shape[:-1], self.m - 1, self.n)}, given {moved.shape}. The transformations "
                "come before the last axis."
            )
        return moved

    def take(self, which: slice) -> Perturbations:
        """Return the transformations of the slice ``which``; G_i is at position i - 1."""
        size = len(range(*which.indices(self.m - 1)))
        return Perturbations(self.noise, self.noise.take(self.drawn, which), self.n, size + 1)

    def __repr__(self) -> str:
        return f"Perturbations({self.noise!r}, n={self.n}, m={self.m})"


def is_group(noise: Noise, m: int) -> bool:
    """Whether m - 1 transformations and the identity are a group of signs (docs/theory.md 17).

    A subclass of `Symmetric` with its own ``draw`` or ``apply`` keeps its own transformations.
    """
    if not noise.rowwise or m & (m - 1) or m < min(POLYNOMIALS):
        return False
    if m not in POLYNOMIALS:
        raise ValueError(
            f"m is too large for a group of signs: expected a power of two up to "
            f"{max(POLYNOMIALS)}, or another number, given {m}. Pass e.g. m={m - 1}, which draws "
            "signs at random."
        )
    return type(noise).draw in (Symmetric.draw, BlockSymmetric.draw)


def restricted(noise: Noise, rows: BoolArray) -> Noise:
    """Return the assumption on these rows; refuse a class that does not define it."""
    if _depth(noise, "restrict", "separable") > _depth(noise, "draw", "apply"):
        raise noise.not_separable("restrict(rows)", "rows are left out")
    return noise.restrict(rows)


def units_of(noise: Noise, n: int) -> IntArray:
    """Return the unit of each row that can be set aside as a whole; refuse if none is declared."""
    if _depth(noise, "units", "separable") > _depth(noise, "draw", "apply"):
        raise noise.not_separable("units(n)", "rows are set aside")
    found = _numbered(noise, "units", n)
    assert found is not None
    return found


def sign_units_of(noise: Noise, n: int) -> IntArray | None:
    """Return the unit of each row that may change its sign, from 0; None if none are declared."""
    return None if _overridden(noise, "sign_units") else _numbered(noise, "sign_units", n)


def swap_blocks_of(noise: Noise, n: int) -> IntArray | None:
    """Return the block of each row within which rows may be swapped, from 0; None if undeclared."""
    return None if _overridden(noise, "swap_blocks") else _numbered(noise, "swap_blocks", n)


def _overridden(noise: Noise, method: str) -> bool:
    """Whether a declaration was inherited but the transformations overridden since."""
    return _depth(noise, method) > _depth(noise, "draw", "apply")


def _numbered(noise: Noise, method: str, n: int) -> IntArray | None:
    """Return what a method declares for each row, numbered from zero."""
    numbers = getattr(noise, method)(n)
    if numbers is None:
        return None
    if np.shape(numbers) != (n,):
        raise ValueError(
            f"noise has the wrong number of rows: expected one number for each of the {n} rows, "
            f"given {np.size(numbers)} by {method} of {noise!r}. Pass noise that was made for all "
            "rows of y."
        )
    return np.unique(np.asarray(numbers), return_inverse=True)[1].reshape(-1).astype(np.intp)


def is_spherical(noise: Noise) -> bool:
    """Whether rotations are declared to leave the law of the noise unchanged."""
    return noise.spherical and _depth(noise, "spherical") <= _depth(noise, "draw", "apply")


def _depth(noise: Noise, *names: str) -> int:
    """Return how far up the classes one of these names is defined; 0 for the class itself."""
    order = type(noise).__mro__
    return min(
        next((i for i, cls in enumerate(order) if name in vars(cls)), len(order)) for name in names
    )
