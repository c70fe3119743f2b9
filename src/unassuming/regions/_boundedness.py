"""Is the region bounded? A certificate either way, where there is one (docs/theory.md 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unassuming._typing import Array
from unassuming.geometry import FormMaker, along_lines
from unassuming.noise import BlockSymmetric, Exchangeable, Symmetric
from unassuming.objectives import KernelDesign, Quadratic
from unassuming.ranking import Level
from unassuming.regions._charts import chart_matrix
from unassuming.regions._results import Boundedness

_EPS = float(np.finfo(np.float64).eps)


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
    """

    cylinders: int
    shared: int
    direction: Array
    name: str
    exact: bool
    unpenalised: bool

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
    cylinders, projector = 0, np.zeros((F.shape[1],) * 2)
    if full and signs:
        # E_i moves freely exactly in the inputs all of whose rows keep their sign.
        fixed = (maker.perturbations.apply(F.T) == F.T[:, None, :]).all(axis=-1)
        cylinders = int(fixed.any(axis=0).sum())
    else:
        for _, forms in maker.batches(F):
            found = forms.sets()
            cylinders += int((~found.bounded).sum())
            free = np.where(found.free & ~found.empty[:, None], 1.0, 0.0)
            projector += np.einsum("ska,sa,sla->kl", found.basis, free, found.basis)
    candidates = _candidates(objective, F, projector)
    values = np.stack([value for _, value, _ in candidates])
    lines = along_lines(maker, np.zeros_like(values), values, 8 * _EPS * np.abs(values).max(axis=1))
    counts = (lines.free & ~lines.empty).sum(axis=1)
    best = int(np.argmax(counts))
    name, _, direction = candidates[best]
    shared = int(counts[best])
    return FreeDirections(
        cylinders,
        shared,
        direction,
        name,
        exact=(full and signs) or shared == cylinders,
        unpenalised=design.intercept,
    )


def _candidates(objective: Quadratic, F: Array, projector: Array) -> list[tuple[str, Array, Array]]:
    """Return directions worth a try: name, fitted values, coefficients."""
    design, root = objective.design, np.sqrt(objective.w)
    found: list[tuple[str, Array, Array]] = []
    ones = design.coefficients(np.ones((1, objective.n)))[0]
    if np.abs(design.matrix @ ones - 1).max() < 1e-8:
        found.append(("a constant shift", root, ones))
    if isinstance(design, KernelDesign) and design.full_rank:
        for value, j in zip(F.T, design.distinct[0], strict=True):
            a = design.coefficients((value / root)[None, :])[0]
            found.append((f"the fitted value of row {j} alone", value, a))
    else:
        for j, name in enumerate(objective.names):
            if not design.matrix[:, j].any():
                continue  # no fitted value sees it
            a = np.zeros(objective.d)
            a[j] = 1.0
            found.append((f"the coefficient {name} alone", root * design.matrix[:, j], a))
    if projector.any():
        _, vectors = np.linalg.eigh(projector)
        for x in vectors.T[::-1][:8]:
            value = F @ x
            a = design.coefficients((value / root)[None, :])[0]
            found.append(("a common free direction", value, a))
    return found


def boundedness(free: FreeDirections, level: Level, noise: object) -> Boundedness:
    """Say what is known at one level."""
    p, q = float(level), level.q
    if q >= free.smallest_bounded_q:
        return Boundedness(
            p,
            "bounded",
            f"every member lies in {q} of the sets, and only {free.smallest_bounded_q - 1} of them "
            "share a direction in which they never end.",
        )
    best = 1 - free.smallest_bounded_q / level.m
    remedies = remedy(best, noise, free)
    if q <= free.shared:
        reason = (
            f"{free.shared} of the {level.m - 1} sets never end along {free.name}, and {q} are "
            f"enough for the region. {remedies}"
        )
        return Boundedness(p, "unbounded", reason, free.direction)
    reason = (
        f"{free.cylinders} of the {level.m - 1} sets are unbounded, but no direction was found in "
        f"which {q} of them never end. {remedies}"
    )
    return Boundedness(p, "undetermined", reason)


def remedy(best: float, noise: object, free: FreeDirections) -> str:
    """Say what to do about an unbounded region."""
    ways = (
        []
        if free.name == "a constant shift" and free.unpenalised
        else ["a norm bound: band(X, norm_bound=B)"]
    )
    if best > 0:
        ways.append(f"a level of at most {best:.4g}")
    if isinstance(noise, Symmetric):
        ways.append(
            "noise='symmetric-exchangeable' with a larger m, if the noise is also exchangeable"
        )
    if isinstance(noise, Exchangeable):
        ways.append("noise='symmetric', if the noise is symmetric")
    ways.append("fewer features")
    return "What helps: " + "; ".join(ways) + "."
