"""The noise laws of the regression generators, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from unassuming._typing import Array

NoiseLaw: TypeAlias = Callable[[int, np.random.Generator], Array]

# The smaller root of 20p(1 - p) = 1.
_BINOMIAL_P = (1 - np.sqrt(0.8)) / 2

_LAWS: dict[str, NoiseLaw] = {
    "gaussian": lambda n, rng: rng.normal(size=n),
    "laplace": lambda n, rng: rng.laplace(scale=0.5, size=n),
    "uniform": lambda n, rng: rng.uniform(-np.sqrt(3), np.sqrt(3), size=n),
    "student": lambda n, rng: 0.5 * rng.standard_t(2, size=n),
    "cauchy": lambda n, rng: 0.5 * rng.standard_cauchy(size=n),
    "heteroscedastic": lambda n, rng: np.linspace(0.1, 2, n) * rng.normal(size=n),
    "skewed": lambda n, rng: rng.exponential(size=n) - 1,
    "binomial": lambda n, rng: rng.binomial(20, _BINOMIAL_P, size=n) - 20 * _BINOMIAL_P,
}


def draw_noise(noise: str | NoiseLaw, n: int, rng: np.random.Generator) -> Array:
    """Draw n noise terms from a law given by name or as a callable."""
    if callable(noise):
        e = np.asarray(noise(n, rng), dtype=np.float64)
        if e.shape != (n,):
            raise ValueError(
                f"noise returned an array of the wrong shape: expected shape ({n},), given "
                f"{e.shape}. A noise callable takes (n, rng) and returns n numbers."
            )
        return e
    if not isinstance(noise, str) or noise not in _LAWS:
        names = ", ".join(f'"{name}"' for name in _LAWS)
        raise ValueError(
            f"noise is not a known law: expected one of {names}, or a callable, given {noise!r}. "
            "Choose a name from the list or pass a callable (n, rng) -> (n,)."
        )
    return _LAWS[noise](n, rng)
