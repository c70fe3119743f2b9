"""Exchangeable noise, with and without symmetry: permutations, and signs with permutations."""

from __future__ import annotations

from itertools import permutations
from typing import ClassVar

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.noise._base import Noise, check_group
from unassuming.noise._keyed import draw_key, keyed_signs
from unassuming.noise._signs import Signs, all_signs


def all_permutations(n: int) -> IntArray:
    """Return all permutations of 0..n-1, the identity first."""
    return np.array(list(permutations(range(n))), dtype=np.intp)


def _random_permutations(n: int, size: int, rng: np.random.Generator) -> IntArray:
    return rng.permuted(np.tile(np.arange(n, dtype=np.intp), (size, 1)), axis=1)


class Exchangeable(Noise):
    """Noise whose joint law does not change when rows are permuted; iid noise is enough.

    The noise may be skewed and have any mean: a constant shift of the candidate is never seen,
    so the intercept is not determined and neither are predictions of a model with one.

    Examples
    --------
    >>> import numpy as np
    >>> noise = Exchangeable()
    >>> drawn = noise.draw(3, 2, np.random.default_rng(0))
    >>> np.sort(noise.apply(drawn, np.array([1.0, 2.0, 3.0]), None))
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    assumption: ClassVar[str] = (
        "the noise terms are exchangeable (iid is enough; they may be skewed)"
    )
    exact_arithmetic: ClassVar[bool] = True
    separable: ClassVar[bool] = True

    def draw(self, n: int, size: int, rng: np.random.Generator) -> IntArray:
        """Draw permutations, shape (size, n)."""
        return _random_permutations(n, size, rng)

    def apply(self, drawn: IntArray, residuals: Array, fitted: Array | None) -> Array:
        """Permute residuals (..., n); returns (..., size, n)."""
        del fitted
        return residuals[..., drawn]

    @property
    def orthogonal(self) -> bool:
        """True: a permutation matrix."""
        return True

    def group(self, n: int, *, modulo_sign: bool) -> tuple[IntArray, int]:
        """Enumerate all n! permutations; -I is not one of them, so there are no pairs."""
        del modulo_sign
        check_group(self, 0, n, n, f"permutations of {n} rows")
        every = all_permutations(n)
        return every[1:], len(every)


class SymmetricExchangeable(Noise):
    """Noise that is exchangeable and symmetric, e.g. iid and symmetric about zero.

    The transformations are a random permutation followed by random signs: the hyperoctahedral
    group.

    Examples
    --------
    >>> import numpy as np
    >>> noise = SymmetricExchangeable()
    >>> drawn = noise.draw(3, 2, np.random.default_rng(0))
    >>> np.sort(abs(noise.apply(drawn, np.array([1.0, 2.0, 3.0]), None)))
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    assumption: ClassVar[str] = (
        "the noise terms are exchangeable and symmetric about zero (iid and symmetric is enough)"
    )
    exact_arithmetic: ClassVar[bool] = True
    separable: ClassVar[bool] = True

    def draw(self, n: int, size: int, rng: np.random.Generator) -> tuple[Signs, IntArray]:
        """Draw signs and permutations, each of shape (size, n)."""
        return keyed_signs(draw_key(rng), n, size), _random_permutations(n, size, rng)

    def apply(self, drawn: tuple[Signs, IntArray], residuals: Array, fitted: Array | None) -> Array:
        """Permute residuals (..., n), then flip their signs; returns (..., size, n)."""
        del fitted
        signs, order = drawn
        return np.asarray(residuals[..., order] * signs)

    @property
    def orthogonal(self) -> bool:
        """True: a signed permutation matrix."""
        return True

    def group(self, n: int, *, modulo_sign: bool) -> tuple[tuple[Signs, IntArray], int]:
        """Enumerate all 2^n n! signed permutations, or one of each pair."""
        check_group(self, n, n, n + 1 - modulo_sign, f"signed permutations of {n} rows")
        signs, orders = all_signs(n, modulo_sign=modulo_sign), all_permutations(n)
        pairs = np.repeat(signs, len(orders), axis=0), np.tile(orders, (len(signs), 1))
        return (pairs[0][1:], pairs[1][1:]), len(pairs[0])
