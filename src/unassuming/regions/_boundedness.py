"""Is the region bounded? A certificate either way, where there is one (docs/theory.md 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import norm as _norm

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic import FormMaker, along_lines, chart_matrix
from unassuming.noise import BlockSymmetric, Exchangeable, ExchangeableWithin, Noise, Symmetric
from unassuming.objectives import Design, FeatureDesign, KernelDesign, Quadratic
from unassuming.ranking import Level
from unassuming.regions._advice import what_helps
from unassuming.regions._results import Boundedness

BATCH_BYTES = 2**26


@dataclass(frozen=True, eq=False)
class FreeDirections:
    """How many of the sets never end, and the direction along which most of them do not.

    Attributes
    ----------
    cylinders : int
        Number of unbounded sets: with q above it the region is bounded, since every point lies in
        a bounded set.
    shared : int
        Number of sets that contain the direction for ever: with q up to it the region is unbounded.
    direction : array of shape (d,)
        That direction, in coefficients.
    name : str
        The direction in words.
    exact : bool
        Whether no other direction can be shared by more sets.
    unpenalised : bool
        Whether there is an intercept, which no norm bound holds back.
    features : bool
        Whether the model has features, of which there could be fewer.
    unseen : int
        Number of directions in the coefficients that change no fitted value: no region bounds them.
    n : int
        Number of rows.
    """

    cylinders: int
    shared: int
    direction: Array
    name: str
    exact: bool
    unpenalised: bool
    features: bool
    unseen: int
    n: int

    @property
    def smallest_bounded_q(self) -> int:
        """The region is certainly bounded from this q on."""
        return (self.shared if self.exact else self.cylinders) + 1


def free_directions(objective: Quadratic, maker: FormMaker) -> FreeDirections:
    """Examine every set once."""
    design = objective.design
    F = chart_matrix(objective)
    full = isinstance(design, KernelDesign) and design.full_rank
    signs = isinstance(maker.perturbations.noise, (Symmetric, BlockSymmetric))
    # With a penalty E_i is free exactly along the fitted values that G_i leaves alone, and, next to
    # an intercept, along a constant that it reverses.
    counting = full and signs and objective.lam > 0
    found = []
    if counting:
        fixed, shifted = _fixed(maker, F), _constant(maker, reversed_too=design.intercept)
        cylinders = int((fixed.any(axis=0) | shifted).sum())
        found.append(_single_value(design, F, fixed))
        found.append((int(shifted.sum()), "a constant shift", np.sqrt(objective.w)))
    else:
        cylinders, projector = _projector(maker, F)
        found = _named(objective, F, maker, projector)
        if full:
            found.append(_single_value(design, F, _fixed(maker, F)))
    shared, name, value = max(found, key=lambda one: one[0])
    return FreeDirections(
        cylinders,
        shared,
        design.coefficients((value / np.sqrt(objective.w))[None, :])[0],
        name,
        exact=counting or shared == cylinders,
        unpenalised=design.intercept,
        features=isinstance(design, FeatureDesign),
        unseen=_unseen(design),
        n=objective.n,
    )


def _unseen(design: Design) -> int:
    """Return the number of directions in the coefficients that change no fitted value."""
    d = design.matrix.shape[1]
    if isinstance(design, KernelDesign) and design.full_rank:
        return int(d - len(design.distinct[0]))
    return int(d - np.linalg.matrix_rank(design.matrix))


Found = tuple[int, str, Array]
"""How many sets never end along a direction, its name, and how it moves the fitted values."""


def _fixed(maker: FormMaker, F: Array) -> BoolArray:
    """Return which columns of F each transformation leaves as they are, (k, m - 1)."""
    k, n, count = F.shape[1], F.shape[0], maker.perturbations.m - 1
    fixed = np.empty((k, count), dtype=np.bool_)
    step = max(1, BATCH_BYTES // (16 * n * count))
    for start in range(0, k, step):
        columns = F.T[start : start + step]
        moved = maker.perturbations.apply(columns) != columns[:, None, :]
        fixed[start : start + step] = ~moved.any(axis=-1)
    return fixed & ~maker.without_points


def _constant(maker: FormMaker, *, reversed_too: bool) -> BoolArray:
    """Return which transformations leave a constant as it is, or reverse it, (m - 1,)."""
    ones = maker.perturbations.apply(np.ones(len(maker.residual)))
    kept = (ones == 1).all(axis=1) | (reversed_too & (ones == -1).all(axis=1))
    return np.asarray(kept & ~maker.without_points)


def _single_value(design: Design, F: Array, fixed: BoolArray) -> Found:
    """Of the fitted values at distinct inputs, the one that most sets leave alone."""
    assert isinstance(design, KernelDesign)
    counts = fixed.sum(axis=1)
    best = int(np.argmax(counts))
    name = f"the fitted value of row {design.distinct[0][best]} (counted from 0) alone"
    return int(counts[best]), name, F[:, best]


def _projector(maker: FormMaker, F: Array) -> tuple[int, Array]:
    """Return the number of unbounded sets, and the sum of the projectors on free directions."""
    cylinders, projector = 0, np.zeros((F.shape[1],) * 2)
    for _, forms in maker.batches(F):
        found = forms.sets()
        cylinders += int((~found.bounded).sum())
        free = np.where(found.free & ~found.empty[:, None], 1.0, 0.0)
        projector += np.einsum("ska,sa,sla->kl", found.basis, free, found.basis)
    return cylinders, projector


def _named(objective: Quadratic, F: Array, maker: FormMaker, projector: Array) -> list[Found]:
    """Try a constant shift, every coefficient, and what the free directions have in common."""
    design, root = objective.design, np.sqrt(objective.w)
    names: list[str] = []
    values: list[Array] = []
    one = design.one if isinstance(design, FeatureDesign) else np.ones(objective.n)
    ones = design.coefficients(one[None, :])[0]
    if np.abs(design.matrix @ ones - one).max() < 1e-8 * np.abs(one).max():
        names, values = ["a constant shift"], [root * one]
    if not (isinstance(design, KernelDesign) and design.full_rank):
        seen = np.flatnonzero(design.matrix.any(axis=0))
        names += [f"the coefficient {objective.names[j]} alone" for j in seen]
        values += [root * design.matrix[:, j] for j in seen]
    if projector.any():
        _, vectors = np.linalg.eigh(projector)
        values += [F @ x for x in vectors.T[::-1][:8]]
        names += ["a common free direction"] * (len(values) - len(names))
    found = []
    for name, value in zip(names, values, strict=True):
        error = np.array([8 * EPS * np.abs(value).max() + design.rounding * _norm(value)])
        lines = along_lines(maker, np.zeros((1, len(value))), value[None, :], error)
        found.append((int((lines.free & ~lines.empty).sum()), name, value))
    return found


def boundedness(free: FreeDirections, level: Level, noise: Noise) -> Boundedness:
    """Say what is known at one level, and what to do."""
    verdict, fact, direction = known(free, level)
    if verdict == "bounded":
        return Boundedness(float(level), verdict, fact)
    best = (level.m - free.smallest_bounded_q) / level.m
    ways = remedy(free, noise, best, region=True)
    return Boundedness(float(level), verdict, f"{fact} {ways}", direction)


def known(free: FreeDirections, level: Level) -> tuple[str, str, Array | None]:
    """Return the verdict at one level, the fact behind it, and a direction without end."""
    q, sets = level.q, level.m - 1
    if q >= free.smallest_bounded_q:
        most = free.smallest_bounded_q - 1
        which = "share a direction in which they never end" if free.exact else "are unbounded"
        ends = f"at most {most} of them {which}" if most else "all of them are bounded"
        fact = f"every member lies in {q} of the sets, and {ends}."
        if free.unseen:
            fact += (
                " That holds for fitted values; coefficients can also move without changing any "
                f"fitted value (directions: {free.unseen}), and nothing bounds that."
            )
        return "bounded", fact, None
    if q <= free.shared:
        fact = (
            f"{free.shared} of the {sets} sets never end along {free.name}, and {q} are enough for "
            "the region."
        )
        return "unbounded", fact, free.direction
    fact = (
        f"{free.cylinders} of the {sets} sets are unbounded, but no direction was found in which "
        f"{q} of them never end."
    )
    return "undetermined", fact, None


def remedy(
    free: FreeDirections, noise: Noise, best: float, *, region: bool, held: bool = False
) -> str:
    """Say what to do about a region (or else bounds) without end.

    ``best`` is a level at which they have one; ``held`` says that a norm bound is given already.
    """
    shift = free.name == "a constant shift" and free.shared == free.cylinders
    signs = isinstance(noise, Symmetric)
    few = min(10, free.n // 4)
    return what_helps(
        [
            (
                not held and not (shift and free.unpenalised),
                "a norm bound: band(X, norm_bound=B) or interval(norm_bound=B)",
            ),
            (best > 0, f"a level of at most {best:.4g}"),
            (
                signs and (region or free.features),
                "noise='symmetric-exchangeable' with a larger m, if the noise is also exchangeable",
            ),
            (
                signs and not (region or free.features),
                "noise='spherical', if rotations leave the law of the noise as it is",
            ),
            (
                isinstance(noise, (Exchangeable, ExchangeableWithin)),
                "noise='symmetric', if the noise is symmetric",
            ),
            (
                shift and free.features,
                "bounds of what a shift does not change, as slopes: interval(functionals)",
            ),
            (not shift and free.features, "fewer features"),
            (
                not free.features and few > 0,
                f"fewer features than rows: make_pipeline(Nystroem(n_components={few}), Ridge())",
            ),
        ]
    )
