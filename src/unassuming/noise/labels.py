"""Binary labels: a candidate determines their law, so fresh ones are drawn from it."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.noise.base import Noise, draw_key, keyed_uniforms

RARE = 1e-12
"""A candidate under which an observed label has a smaller probability is impossible."""


class Labels(Noise):
    """Labels y in {-1, +1}, independent given the inputs, with P(y = 1 | x) = (1 + f(x)) / 2.

    Nothing else is assumed, since the regression function f(x) = E[y | x] determines the law of a
    binary label. A transformation replaces the labels by fresh ones drawn from the candidate: with
    uniform numbers U drawn once, y_k = +1 iff U_k < (1 + f(x_k)) / 2 (docs/theory.md 8). A function
    that leaves [-1, 1] at an input is not a regression function and lies in no region; neither does
    a candidate under which an observed label has probability below 1e-12.

    Examples
    --------
    >>> noise, f = ua.noise.Labels(), np.array([1.0, -1.0, 1.0])
    >>> noise.apply(noise.draw(3, 2, np.random.default_rng(0)), np.zeros(3), f)
    array([[0., 0., 0.],
           [0., 0., 0.]])
    """

    assumption = "the labels are independent given the inputs"
    target = "E[y|x]"
    orthogonal = False
    separable = True
    labels = True

    def draw(self, n: int, size: int, rng: np.random.Generator) -> Array:
        """Draw uniform numbers, shape (size, n)."""
        return keyed_uniforms(draw_key(rng), n, size)

    def apply(self, drawn: Array, residuals: Array, fitted: Array | None) -> Array:
        """Return the residuals of fresh labels drawn from the candidate, (..., size, n)."""
        if fitted is None:
            raise ValueError(
                "fitted is missing: label noise is drawn from the candidate and needs its values "
                "at the inputs, given None. Pass fitted=f(X)."
            )
        f = fitted[..., None, :]
        return np.where(drawn < (1 + f) / 2, 1 - f, -1 - f)

    def admits(self, residuals: Array, fitted: Array) -> BoolArray:
        """Whether all values lie in [-1, 1], up to rounding, and all observed labels are possible.

        An observed label has the probability 1 - ``|r|`` / 2.
        """
        possible = (np.abs(fitted) <= 1 + RARE) & (np.abs(residuals) <= 2 * (1 - RARE))
        return np.asarray(possible.all(axis=-1))
