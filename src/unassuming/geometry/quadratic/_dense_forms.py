"""Forms of kernels of full rank from D = I - S itself, rounded outward (docs/theory.md 4).

With a small penalty D is lost in I - qqᵀ, and rounding of the kernel matrix changes it by a factor.
From any point f_0 with residuals ρ = y - f_0, a candidate f_0 + F x has the perturbed outputs
y_i = y + Eρ - EFx, and E_i = {f : y_iᵀD*y_i <= yᵀD*y} with the exact D*. Since D <= D* <= (1 + κ)D,
the set lies in {y_iᵀD y_i <= (1 + κ) yᵀD y}:

    xᵀAx - 2bᵀx <= c,    A = (EF)ᵀD(EF),    b = (EF)ᵀD(y + Eρ),    c = κ yᵀDy - (Eρ)ᵀD(2y + Eρ).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._forms import BATCH_BYTES, Forms
from unassuming.geometry.quadratic._moved_columns import flips_signs, moved_lengths
from unassuming.geometry.quadratic._sets import FormErrors
from unassuming.noise import Perturbations
from unassuming.objectives import Complement


def dense_forms(
    perturbations: Perturbations,
    D: Complement,
    y: Array,
    start: Array,
    F: Array,
    empty: BoolArray,
) -> Iterator[tuple[slice, Forms]]:
    """Yield the forms for fitted values ``start`` + F x in batches; y (n,) and F as weighted."""
    assert D.dense is not None
    (n, k), rho = F.shape, y - start
    size = float(np.linalg.norm(y))
    limit = D.relative * (max(float(y @ D(y)), 0.0) + D.absolute * size**2)
    lost = EPS * float(np.linalg.norm(np.abs(y) + np.abs(start)))
    exact = perturbations.noise.exact_arithmetic
    unit = D.absolute * (1 if exact else 8)
    for which in slices(perturbations.m - 1, rows_that_fit(BATCH_BYTES, k * (2 * n + 2 * k))):
        some = perturbations.take(which)
        moved = some.apply(rho) - rho
        pull = D(y + moved)
        A, b = _products(some, F, D.dense, pull)
        c = limit - np.einsum("sn,sn->s", moved, D(2 * y + moved))
        lengths = 2 * moved_lengths(some, F)
        whole = size + np.linalg.norm(moved, axis=1) + 2 * lost
        errors = FormErrors(
            2 * np.sqrt(unit) * lengths,
            lengths * ((4 * unit + EPS * D.size) * whole + 2 * D.size * lost)[:, None],
            4 * whole * (unit * whole + 2 * D.size * lost) + 4 * EPS * limit,
            np.asarray(lengths == 0) & flips_signs(some.noise),
        )
        yield which, Forms(A, b, c, empty[which], 1.0, errors)


def _products(some: Perturbations, F: Array, D: Array, pull: Array) -> tuple[Array, Array]:
    """Return (EF)ᵀD(EF), shape (s, k, k), and (EF)ᵀ times vectors (s, n), shape (s, k)."""
    if not flips_signs(some.noise):
        EF = np.moveaxis(some.apply(F.T) - F.T[:, None, :], 0, 1)  # (s, k, n)
        return EF @ D @ np.swapaxes(EF, 1, 2), (EF @ pull[:, :, None])[:, :, 0]
    minus = some.apply(np.ones(len(F))) < 0
    A = np.zeros((len(minus), F.shape[1], F.shape[1]))
    for one, rows in zip(A, minus, strict=True):
        part = F[rows]
        seen = np.flatnonzero(part.any(axis=0))
        one[np.ix_(seen, seen)] = 4 * part[:, seen].T @ D[np.ix_(rows, rows)] @ part[:, seen]
    return A, -2 * ((minus * pull) @ F)
