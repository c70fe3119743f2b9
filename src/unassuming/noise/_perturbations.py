"""The transformations of a region: drawn once, the same for every candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unassuming._typing import Array
from unassuming.noise._base import Noise


@dataclass(frozen=True, eq=False)
class Perturbations:
    """The m - 1 drawn transformations, open to inspection.

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
    >>> perturbations.take(slice(0, 2)).m
    3
    """

    noise: Noise
    drawn: Any
    n: int
    m: int

    @classmethod
    def sample(cls, noise: Noise, n: int, m: int, rng: np.random.Generator) -> Perturbations:
        """Draw m - 1 transformations of n residuals from ``noise`` with the Generator rng."""
        return cls(noise, noise.draw(n, m - 1, rng), n, m)

    @classmethod
    def enumerate(cls, noise: Noise, n: int, *, modulo_sign: bool) -> Perturbations:
        """Take the whole group of ``noise`` for n rows; ``modulo_sign`` as in `Noise.group`."""
        drawn, m = noise.group(n, modulo_sign=modulo_sign)
        return cls(noise, drawn, n, m)

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
        return Perturbations(self.noise, self.noise.take(self.drawn, which), self.n, size + 1)

    def __repr__(self) -> str:
        return f"Perturbations({self.noise!r}, n={self.n}, m={self.m})"
