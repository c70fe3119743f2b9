"""Derivatives of kernels along a direction, where they exist.

The slope of f at z is ⟨f, ∂k(z, ·)⟩, a bounded functional if the kernel has the mixed derivative
∂²k(z, x)/∂z∂x at x = z. Its squared norm is that mixed derivative. A kernel is treated by its value
and its derivatives in z, in x and in both, from which those of sums, products and powers follow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    Matern,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)

from unassuming._typing import Array
from unassuming.kernels.features import whole

Jet: TypeAlias = tuple[Array, Array, Array, Array]
"""k, its derivative in z, that in x, and that in both, along one direction."""

SlopeOf: TypeAlias = Callable[[Array, Array, Array], Jet]
"""From inputs z and x and a direction, broadcast against each other in all but the last axis."""


def kernel_slope(
    kernel: Any, gamma: float | None = None, degree: float = 3, coef0: float = 1
) -> SlopeOf | None:
    """Return the derivatives of a kernel; None if they do not exist, or are not known.

    Examples
    --------
    >>> slope = kernel_slope("rbf", 0.5)
    >>> [float(part.round(4)) for part in slope(np.array([2.0]), np.zeros(1), np.ones(1))]
    [0.1353, -0.2707, 0.2707, -0.406]
    """
    kind = type(kernel)
    found: SlopeOf | None = None
    if kernel == "linear":
        found = partial(_dot, 1.0, 0.0)
    elif kernel == "rbf" and gamma:
        found = partial(_radial, _gauss, 1 / np.sqrt(2 * gamma))
    elif kernel in ("poly", "polynomial") and gamma and whole(degree):
        found = partial(_power, partial(_dot, gamma, coef0), int(degree))
    elif kind is RBF or (kind is Matern and kernel.nu == np.inf):
        found = partial(_radial, _gauss, kernel.length_scale)
    elif kind is Matern and kernel.nu in (1.5, 2.5):
        shape = _matern_1 if kernel.nu == 1.5 else _matern_2
        found = partial(_radial, shape, kernel.length_scale)
    elif kind is RationalQuadratic:
        found = partial(_radial, partial(_rational, kernel.alpha), kernel.length_scale)
    elif kind is ConstantKernel:
        found = partial(_dot, 0.0, kernel.constant_value)
    elif kind is WhiteKernel:  # not part of k(z, x)
        found = partial(_dot, 0.0, 0.0)
    elif kind is DotProduct:
        found = partial(_dot, 1.0, kernel.sigma_0**2)
    elif kind is Exponentiation and whole(kernel.exponent):
        base = kernel_slope(kernel.kernel)
        found = base and partial(_power, base, int(kernel.exponent))
    elif kind in (Sum, Product):
        parts = kernel_slope(kernel.k1), kernel_slope(kernel.k2)
        found = partial(_sum if kind is Sum else _product, *parts) if all(parts) else None
    return found


def _radial(
    shape: Callable[[Array], tuple[Array, Array, Array]], length: Any, z: Array, x: Array, u: Array
) -> Jet:
    """Return the derivatives of φ(t), t = Σ ((z - x)/ℓ)²."""
    apart, step = (z - x) / length, u / length
    value, first, second = shape(np.square(apart).sum(axis=-1))
    d = (apart * step).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        bend = np.where(d == 0, 0.0, 4 * second * d * d)
    both = -bend - 2 * first * np.square(step + 0 * apart).sum(axis=-1)
    return value, 2 * first * d, -2 * first * d, both


def _gauss(t: Array) -> tuple[Array, Array, Array]:
    value = np.exp(-t / 2)
    return value, -value / 2, value / 4


def _matern_1(t: Array) -> tuple[Array, Array, Array]:
    s = np.sqrt(3 * t)
    e = np.exp(-s)
    with np.errstate(divide="ignore"):
        return (1 + s) * e, -1.5 * e, 2.25 * e / s


def _matern_2(t: Array) -> tuple[Array, Array, Array]:
    s = np.sqrt(5 * t)
    e = np.exp(-s)
    return (1 + s + s * s / 3) * e, -5 / 6 * (1 + s) * e, 25 / 12 * e


def _rational(alpha: float, t: Array) -> tuple[Array, Array, Array]:
    base = 1 + t / (2 * alpha)
    return base**-alpha, -(base ** (-alpha - 1)) / 2, (alpha + 1) / alpha / 4 * base ** (-alpha - 2)


def _dot(gamma: float, constant: float, z: Array, x: Array, u: Array) -> Jet:
    """Return the derivatives of constant + γ zᵀx."""
    value = constant + gamma * (z * x).sum(axis=-1)
    zero = np.zeros_like(value)
    in_z, in_x, both = (zero + gamma * (one * u).sum(axis=-1) for one in (x, z, u))
    return value, in_z, in_x, both


def _power(base: SlopeOf, e: int, z: Array, x: Array, u: Array) -> Jet:
    value, in_z, in_x, both = base(z, x, u)
    first = e * value ** (e - 1)
    second = e * (e - 1) * value ** max(e - 2, 0)
    return value**e, first * in_z, first * in_x, second * in_z * in_x + first * both


def _sum(first: SlopeOf, second: SlopeOf, z: Array, x: Array, u: Array) -> Jet:
    a, b = first(z, x, u), second(z, x, u)
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


def _product(first: SlopeOf, second: SlopeOf, z: Array, x: Array, u: Array) -> Jet:
    a, b = first(z, x, u), second(z, x, u)
    both = a[3] * b[0] + a[1] * b[2] + a[2] * b[1] + a[0] * b[3]
    return a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + a[0] * b[2], both
