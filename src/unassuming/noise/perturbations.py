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
from unassuming.noise.signs import POLYNOMIALS, SignFlips, Symmetric, group_by_leverage

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
    if Noise in getattr(noise, "__mro__", ()):
        remedy = f"Write {noise.__name__}(): an instance, not the class."  # type: ignore[attr-defined]
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
    >>> perturbations.apply([1.0, 2.0, 3.0]).shape
    (4, 3)
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
    return type(noise).draw is SignFlips.draw


def restricted(noise: Noise, rows: BoolArray) -> Noise:
    """Return the assumption on these rows; refuse a class that does not define it."""
    if not _declared(noise, "restrict", "separable"):
        raise noise.not_separable("restrict(rows)", "rows are left out")
    return noise.restrict(rows)


def units_of(noise: Noise, n: int) -> IntArray:
    """Return the unit of each row that can be set aside as a whole; refuse if none is declared."""
    if not _declared(noise, "units", "separable"):
        raise noise.not_separable("units(n)", "rows are set aside")
    return _numbered(noise.units(n), noise, n)


def sign_units_of(noise: Noise, n: int) -> IntArray | None:
    """Return the unit of each row that may change its sign, from 0; None if none are declared."""
    units = noise.sign_units(n) if _declared(noise, "sign_units") else None
    return None if units is None else _numbered(units, noise, n)


def swap_blocks_of(noise: Noise, n: int) -> IntArray | None:
    """Return the block of each row within which rows may be swapped, from 0; None if undeclared."""
    blocks = noise.swap_blocks(n) if _declared(noise, "swap_blocks") else None
    return None if blocks is None else _numbered(blocks, noise, n)


def is_spherical(noise: Noise) -> bool:
    """Whether rotations are declared to leave the law of the noise unchanged."""
    return noise.spherical and _declared(noise, "spherical")


def _numbered(units: IntArray, noise: Noise, n: int) -> IntArray:
    """Return the unit or block of each row, numbered from zero."""
    if np.shape(units) != (n,):
        raise ValueError(
            f"noise has the wrong number of rows: expected one number for each of the {n} rows, "
            f"given {np.size(units)} by {noise!r}. Pass noise that was made for all rows of y."
        )
    return np.unique(np.asarray(units), return_inverse=True)[1].reshape(-1).astype(np.intp)


def _declared(noise: Noise, *names: str) -> bool:
    """Whether one of these is defined where the transformations are, or in a class below."""
    order = type(noise).__mro__
    said, moved = (
        min(i for i, cls in enumerate(order) if vars(cls).keys() & some)
        for some in ({*names}, {"draw", "apply"})
    )
    return said <= moved
