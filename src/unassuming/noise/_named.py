"""The assumptions that have a name."""

from __future__ import annotations

from unassuming.noise._base import Noise
from unassuming.noise._labels import Labels
from unassuming.noise._permutations import Exchangeable, SymmetricExchangeable
from unassuming.noise._quantile import Quantile
from unassuming.noise._signs import Symmetric
from unassuming.noise._spherical import Spherical

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
    """Return the assumption of that name; an instance is returned as it is.

    Parameters
    ----------
    noise : str or Noise
        A name in `NAMED`, or an instance.

    Examples
    --------
    >>> as_noise("symmetric")
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
