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

Jet: TypeAlias = tuple[Array, Array, Array, Array]
"""k, its derivative in z, that in x, and that in both, along one direction."""

SlopeOf: TypeAlias = Callable[[Array, Array, Array], Jet]
"""From inputs z and x and a direction, broadcast against each other in all but the last axis."""


def kernel_slope(
    kernel: Any, gamma: float | None = None, degree: float = 3, coef0: float = 1
) -> SlopeOf | None:
    """Return the derivatives of a kernel; None if they do not exist, or are not known.

    Parameters
    ----------
    kernel : str, gaussian_process kernel or callable
    gamma, degree, coef0 : floats
        Of a named kernel.

    Examples
    --------
    >>> slope = kernel_slope("rbf", 0.5)
    >>> [float(part.round(4)) for part in slope(np.array([2.0]), np.zeros(1), np.ones(1))]
    [0.1353, -0.2707, 0.2707, -0.406]
    >>> kernel_slope("laplacian", 0.5) is None
    True
    """
    if isinstance(kernel, str):
        return _named(kernel, gamma, degree, coef0)
    kind = type(kernel)
    if kind is RBF or (kind is Matern and kernel.nu == np.inf):
        return partial(_radial, _gauss, kernel.length_scale)
    if kind is Matern and kernel.nu in (1.5, 2.5):
        return partial(_radial, _matern_1 if kernel.nu == 1.5 else _matern_2, kernel.length_scale)
    if kind is RationalQuadratic:
        return partial(_radial, partial(_rational, kernel.alpha), kernel.length_scale)
    if kind is ConstantKernel:
        return partial(_constant, kernel.constant_value)
    if kind is WhiteKernel:  # not part of k(z, x)
        return partial(_constant, 0.0)
    if kind is DotProduct:
        return partial(_dot, 1.0, kernel.sigma_0**2)
    if kind is Exponentiation and (base := kernel_slope(kernel.kernel)) is not None:
        return partial(_power, base, kernel.exponent) if _whole(kernel.exponent) else None
    if kind in (Sum, Product):
        first, second = kernel_slope(kernel.k1), kernel_slope(kernel.k2)
        if first is not None and second is not None:
            return partial(_sum if kind is Sum else _product, first, second)
    return None


def _named(kernel: str, gamma: float | None, degree: float, coef0: float) -> SlopeOf | None:
    if kernel == "linear":
        return partial(_dot, 1.0, 0.0)
    if kernel == "rbf" and gamma:
        return partial(_radial, _gauss, 1 / np.sqrt(2 * gamma))
    if kernel in ("poly", "polynomial") and gamma and _whole(degree):
        return partial(_power, partial(_dot, gamma, coef0), degree)
    return None


def _whole(exponent: float) -> bool:
    return exponent == int(exponent) and exponent >= 1


def _radial(
    shape: Callable[[Array], tuple[Array, Array, Array]], length: Any, z: Array, x: Array, u: Array
) -> Jet:
    """Return the derivatives of φ(t), t = Σ ((z - x)/ℓ)²."""
    scale = np.broadcast_to(np.asarray(length, dtype=np.float64), (z.shape[-1],))
    t = np.square((z - x) / scale).sum(axis=-1)
    d = ((z - x) * u / scale**2).sum(axis=-1)
    value, first, second = shape(t)
    with np.errstate(invalid="ignore"):
        bend = np.where(d == 0, 0.0, 4 * second * d * d)
    return (
        value,
        2 * first * d,
        -2 * first * d,
        -bend - 2 * first * np.square(u / scale).sum(axis=-1),
    )


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


def _constant(value: float, z: Array, x: Array, u: Array) -> Jet:
    del u
    zero = np.zeros(np.broadcast_shapes(z.shape, x.shape)[:-1])
    return zero + value, zero, zero, zero


def _dot(gamma: float, constant: float, z: Array, x: Array, u: Array) -> Jet:
    value = constant + gamma * (z * x).sum(axis=-1)
    in_z, in_x = (gamma * (one * u).sum(axis=-1) for one in (x, z))
    zero = np.zeros_like(value)
    return value, zero + in_z, zero + in_x, zero + gamma * np.square(u).sum(axis=-1)


def _power(base: SlopeOf, exponent: float, z: Array, x: Array, u: Array) -> Jet:
    value, in_z, in_x, both = base(z, x, u)
    e = int(exponent)
    first = e * value ** (e - 1)
    second = e * (e - 1) * value ** (e - 2) if e > 1 else np.zeros_like(value)
    return value**e, first * in_z, first * in_x, second * in_z * in_x + first * both


def _sum(first: SlopeOf, second: SlopeOf, z: Array, x: Array, u: Array) -> Jet:
    a, b = first(z, x, u), second(z, x, u)
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


def _product(first: SlopeOf, second: SlopeOf, z: Array, x: Array, u: Array) -> Jet:
    a, b = first(z, x, u), second(z, x, u)
    both = a[3] * b[0] + a[1] * b[2] + a[2] * b[1] + a[0] * b[3]
    return a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + a[0] * b[2], both
