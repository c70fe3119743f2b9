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


Shape: TypeAlias = Callable[[Array], tuple[Array, Array, Array]]
"""From t to φ(t), φ'(t) and φ''(t)."""


def kernel_slope(
    kernel: Any, gamma: float | None = None, degree: float = 3, coef0: float = 1
) -> SlopeOf | None:
    """Return the derivatives of a kernel; None if they do not exist, or are not known."""
    kind = type(kernel)
    if kernel == "linear":
        return partial(_dot, 1.0, 0.0)
    if kernel == "rbf" and gamma:
        return partial(_composed, _gauss, partial(_distance, 1 / np.sqrt(2 * gamma)))
    if kernel in ("poly", "polynomial") and gamma and whole(degree):
        return partial(_composed, partial(_power, int(degree)), partial(_dot, gamma, coef0))
    if kind is DotProduct:
        return partial(_dot, 1.0, kernel.sigma_0**2)
    if kind in (ConstantKernel, WhiteKernel):  # white noise is no part of k(z, x)
        return partial(_dot, 0.0, getattr(kernel, "constant_value", 0.0))
    if kind in (RBF, Matern, RationalQuadratic):
        shape = _shape(kernel)
        return shape and partial(_composed, shape, partial(_distance, kernel.length_scale))
    if kind is Exponentiation and whole(kernel.exponent):
        base = kernel_slope(kernel.kernel)
        return base and partial(_composed, partial(_power, int(kernel.exponent)), base)
    if kind in (Sum, Product):
        one, two = kernel_slope(kernel.k1), kernel_slope(kernel.k2)
        both = _sum if kind is Sum else _product
        return partial(both, one, two) if one and two else None
    return None


def _shape(kernel: Any) -> Shape | None:
    """Return φ of a kernel φ(t), t = Σ ((z - x)/ℓ)², if it has a derivative."""
    if type(kernel) is RationalQuadratic:
        return partial(_rational, kernel.alpha)
    smoothness = getattr(kernel, "nu", np.inf)
    return {1.5: _matern_1, 2.5: _matern_2, np.inf: _gauss}.get(smoothness)


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


def _power(e: int, t: Array) -> tuple[Array, Array, Array]:
    return t**e, e * t ** (e - 1), e * (e - 1) * t ** max(e - 2, 0)


def _distance(length: Any, z: Array, x: Array, u: Array) -> Jet:
    """Return the derivatives of t = Σ ((z - x)/ℓ)²."""
    apart, step = (z - x) / length, u / length
    d = 2 * (apart * step).sum(axis=-1)
    return np.square(apart).sum(axis=-1), d, -d, -2 * np.square(step + 0 * apart).sum(axis=-1)


def _dot(gamma: float, constant: float, z: Array, x: Array, u: Array) -> Jet:
    """Return the derivatives of constant + γ zᵀx."""
    value = constant + gamma * (z * x).sum(axis=-1)
    zero = np.zeros_like(value)
    in_z, in_x, both = (zero + gamma * (one * u).sum(axis=-1) for one in (x, z, u))
    return value, in_z, in_x, both


def _composed(shape: Shape, inner: SlopeOf, z: Array, x: Array, u: Array) -> Jet:
    t, in_z, in_x, both = inner(z, x, u)
    value, first, second = shape(t)
    with np.errstate(invalid="ignore"):
        bend = np.where(in_z * in_x == 0, 0.0, second * in_z * in_x)
    return value, first * in_z, first * in_x, bend + first * both


def _sum(first: SlopeOf, second: SlopeOf, z: Array, x: Array, u: Array) -> Jet:
    a, b = first(z, x, u), second(z, x, u)
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


def _product(first: SlopeOf, second: SlopeOf, z: Array, x: Array, u: Array) -> Jet:
    a, b = first(z, x, u), second(z, x, u)
    both = a[3] * b[0] + a[1] * b[2] + a[2] * b[1] + a[0] * b[3]
    return a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + a[0] * b[2], both
