"""The data of the figures, each with the truth that a region should contain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unassuming import datasets
from unassuming._typing import Array

CENTRES = ((0.0, 0.5), (-0.5, 0.0))
"""Centres of the classes +1 and -1 of figure 1."""
SCALE = 0.5
"""Scale b of the Laplace noise, unless stated otherwise."""
SYMMETRIC_SLACKS = (2.0, 2.0)
"""The linear classifier with slacks symmetric about zero in each class (figure 1)."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One data set, and the truth as a candidate: a function of X, or coefficients."""

    X: Array
    y: Array
    truth: Any


Draw = Callable[[np.random.Generator], Sample]


def x_sin_x(n: int, noise: Any) -> Draw:
    """Noisy values of x sin x at n equidistant inputs on [0, 10]."""

    def draw(rng: np.random.Generator) -> Sample:
        return Sample(*datasets.sine(n=n, noise=noise, random_state=rng))

    return draw


def unit_laplace(n: int, rng: np.random.Generator) -> Array:
    """Laplace noise of variance one: its scale is 1/√2."""
    return rng.laplace(scale=np.sqrt(0.5), size=n)


def two_classes(rng: np.random.Generator) -> Sample:
    """50 points of each class around its centre; the truth has symmetric slacks."""
    return Sample(*datasets.two_classes(n=100, random_state=rng), np.array(SYMMETRIC_SLACKS))


def coin_classes(rng: np.random.Generator) -> Sample:
    """The same distributions, but the class of each point is a fair coin; the truth is E[y|x].

    Given the inputs, labels are independent with coins, but not with 50 points of each class.
    """
    y = np.where(rng.uniform(size=100) < 0.5, 1.0, -1.0)
    centres = np.where(y[:, None] > 0, *np.array(CENTRES)[:, None, :])
    return Sample(centres + rng.laplace(scale=SCALE, size=(100, 2)), y, mean_label)


def mean_label(X: Any) -> Array:
    """E[y|x] of `coin_classes`: the difference of the two densities over their sum."""
    up, down = (np.abs(np.asarray(X) - centre).sum(axis=1) / SCALE for centre in CENTRES)
    return np.asarray(np.tanh((down - up) / 2))
