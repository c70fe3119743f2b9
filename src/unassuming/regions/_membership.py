"""Membership and tests of candidates: what every region can answer, whatever its shape."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from unassuming._errors import NotAvailable, levels_to_user
from unassuming._typing import Array, IntArray
from unassuming._words import shown
from unassuming.membership import FITTED, Candidates, Comparison, RankEngine, resolve
from unassuming.noise import Labels, Noise, Perturbations
from unassuming.objectives import NormBall
from unassuming.ranking import Level, RankTest, as_double, as_levels
from unassuming.regions._describe import (
    ONE_AT_A_TIME,
    PARTLY_FITTED,
    PROBABILITIES,
    PUBLISHED_CLASSIFIER,
    describe,
    not_admitted,
)
from unassuming.regions._problem import Problem
from unassuming.regions._results import Levels
from unassuming.regions._tuning import Tuning
from unassuming.regions.diagnosis import Diagnosis, diagnose
from unassuming.regions.shapes import Shape

T = TypeVar("T")

_FEW = 1
"""Entries in which a candidate may differ from the estimate, of few coefficients, to be a case."""


class Membership(ABC):
    """The rank of a candidate decides whether it lies in a region; `Region` adds the geometry."""

    def __init__(self, problem: Problem, engine: RankEngine) -> None:
        self.problem = problem
        self.objective, self.estimator = problem.objective, problem.estimator
        self.weighting, self.ties = problem.weighting, problem.ties
        self.enumerated, self.seed = problem.enumerated, problem.seed
        self.caveat = "" if problem.guaranteed else PUBLISHED_CLASSIFIER
        self.tuning: Tuning | None = None
        self._engine, self._warned = engine, False

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The geometry in use."""

    @property
    def n(self) -> int:
        """Number of rows of positive weight."""
        return self.problem.n

    @property
    def m(self) -> int:
        """Number of statistics, the unperturbed one included."""
        return self._engine.perturbations.m

    @property
    def noise(self) -> Noise:
        """The assumption on the noise."""
        return self.problem.noise

    @property
    def names(self) -> list[str]:
        """The names of the coefficients, in their order."""
        return self.problem.objective.names

    @property
    def tie_order(self) -> IntArray:
        """The order π of equal statistics."""
        return self._engine.tie_order

    @property
    def estimate(self) -> Array:
        """The point estimate, polished until its gradient is zero to rounding, shape (d,)."""
        return self.problem.estimate

    @property
    def inputs(self) -> Any:
        """A copy of X as it was passed."""
        return self.problem.data("the inputs need").X

    @property
    def perturbations(self) -> Perturbations:
        """The drawn transformations."""
        self.problem.data("the perturbations need")
        return replace(self._engine.perturbations, noise=self.problem.noise)

    def statistics(self, candidates: Any) -> Array:
        """Return Z_0, ..., Z_{m-1}: shape (m,) for one candidate, (N, m) for several.

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d), callable, fitted estimator, or a list of these

        Examples
        --------
        >>> region.statistics([coefficients, 2 * coefficients]).shape
        (2, 128)
        """
        found = _resolved(self, candidates)
        statistics = self._engine.statistics(found)
        return statistics[0] if found.single else statistics

    def rank(self, candidates: Any) -> Any:
        """Return the position of Z_0 among the statistics, from 1 to m.

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d), callable, fitted estimator, or a list of these

        Examples
        --------
        >>> region.rank([region.estimate, region.estimate + 10])
        array([  1, 128])
        """
        found = _resolved(self, candidates)
        ranks = self._engine.ranks(found)
        return int(ranks[0]) if found.single else ranks

    def smallest_level(self, candidates: Any) -> Any:
        """Return rank / m: the candidate lies in the regions of this and all higher levels.

        A candidate of rank m lies in no region.

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d), callable, fitted estimator, or a list of these

        Examples
        --------
        >>> region.smallest_level(region.estimate)
        0.0078125
        """
        return self.rank(candidates) / self.m

    def pvalue(self, candidates: Any) -> Any:
        """Return the p-value of the hypothesis that the candidate is the noise-free model.

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d), callable, fitted estimator, or a list of these

        Examples
        --------
        >>> region.pvalue(region.estimate + 10)
        0.0078125
        """
        return (self.m - self.rank(candidates) + 1) / self.m

    def contains(self, candidates: Any, level: float | Sequence[float] = 0.95) -> Any:
        """Return whether the candidates lie in the region of that level.

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d), callable, fitted estimator, or a list of these
        level : float or sequence of floats, default 0.95
            It is rounded up to the next multiple of 1/m. A sequence gives a dictionary.

        Examples
        --------
        >>> region.contains(region.estimate + 10)
        False
        >>> region.contains(region.estimate, level=[0.5, 0.9])
        {0.5: True, 0.9: True}
        """
        ranks = self.rank(candidates)
        return self._at_levels(level, lambda used: [ranks <= one.largest_rank for one in used])

    def test(self, candidate: Any) -> RankTest:
        """Test the hypothesis that one candidate is the noise-free model at the inputs.

        Parameters
        ----------
        candidate : array of shape (d,), callable or fitted estimator

        Returns
        -------
        RankTest
            Rank, p-value, statistics, and a caveat if the p-value is not a valid test.

        Examples
        --------
        >>> print(region.test(lambda X: 10 + 0 * X[:, 0]))
        Rank 128 of 128, p-value <= 0.0079: outside every region, up to level 0.9921875.
        """
        found = _resolved(self, candidate)
        if not found.single:
            raise ValueError(
                "there are several candidates: a test takes one candidate, given "
                f"{len(found)}. Use rank() or pvalue() for several."
            )
        compared = self._engine.compare(found)
        return RankTest(
            rank=int(compared.ranks[0]),
            m=self.m,
            statistics=compared.statistics[0],
            caveat=_caveat(self, found, compared),
        )

    def level(self, level: float) -> Level:
        """Return a level as the integers (q, m) with level = 1 - q/m.

        Parameters
        ----------
        level : float
            It is rounded up to the next multiple of 1/m; ValueError if none is below one.

        Examples
        --------
        >>> region.level(0.95)
        Level(q=6, m=128)
        """
        return Level.at_least(level, self.m)

    def suggest_norm_bound(self) -> float:
        """Return twice the norm of the estimate: a heuristic from the data, not an assumption.

        A band that relies on it carries no guarantee: fix a norm bound before looking at the data.
        The how-to "Choosing a norm bound" (docs/howto/choose-a-norm-bound.md) shows how, and
        ``norm_lower_bound`` which bounds the data refute.

        Examples
        --------
        >>> round(ua.confidence_region(Ridge(), X, y, random_state=0).suggest_norm_bound(), 2)
        2.22
        """
        P = self.problem.design("a norm bound").penalty_matrix()
        return 2 * NormBall(P, np.inf).norm(self.estimate)

    def diagnose(self) -> Diagnosis:
        """Look for evidence against the assumptions in the residuals of the estimate.

        Residuals are not the noise: the tests are indications, not proofs, in either direction.

        Returns
        -------
        Diagnosis

        Examples
        --------
        >>> [indication.name for indication in region.diagnose().indications]
        ['symmetry', 'equal spread', 'no order']
        """
        return diagnose(self.problem, describe(self.problem, self.m))

    def __repr__(self) -> str:
        return f"<Region of {shown(self.estimator)}: n={self.n}, m={self.m}, {shown(self.noise)}>"

    def _require_ordinary(self) -> None:
        """Refuse data that double precision does not resolve; ranks and tests alone answer."""
        if self.problem.not_ordinary:
            raise NotAvailable(self.problem.not_ordinary)

    def _at_levels(self, level: Any, at: Callable[[Sequence[Level]], list[T]]) -> Any:
        """Return the answer at one level, or a dictionary of answers at several.

        ``at`` takes all levels at once and returns one answer for each.
        """
        levels = as_levels(level)
        found = at([self.level(p) for p in levels])
        if not np.ndim(level):
            return found[0]
        return Levels(zip(map(as_double, levels), found, strict=True))


def _resolved(region: Membership, candidates: Any) -> Candidates:
    problem = region.problem
    if problem.not_ordinary and not region._warned:
        region._warned = True
        warnings.warn(
            f"Ranks and p-values may follow rounding: {problem.not_ordinary}",
            UserWarning,
            stacklevel=levels_to_user(),
        )
    return resolve(
        candidates,
        problem.objective,
        lambda: problem.data("candidates other than coefficient vectors need"),
    )


def _caveat(region: Membership, candidate: Candidates, compared: Comparison) -> str:
    """Return what a test has to say besides its p-value."""
    fitted = region.objective.y - compared.residuals
    rank, said = int(compared.ranks[0]), []
    rejected_function = candidate.values is not None and 10 * rank > 9 * region.m
    within = bool(((fitted >= 0) & (fitted <= 1)).all())
    if rejected_function and within and isinstance(region.noise, Labels) and not candidate.caveat:
        said.append(PROBABILITIES)
    if not compared.admitted[0]:
        said.append(not_admitted(fitted[0]))
    said.append(candidate.caveat or _about_estimate(region, candidate))
    return " ".join(part for part in said if part)


def _about_estimate(region: Membership, candidate: Candidates) -> str:
    """Say if the candidate repeats the estimate, or changes a few entries of it."""
    if candidate.values is not None:
        return ""
    try:
        estimate = region.estimate
    except (NotAvailable, ValueError):  # the minimum is not declared, or there is none
        return ""
    given = candidate.coefficients[0]
    if np.array_equal(given, estimate):
        return FITTED
    taken = (estimate != 0) & (np.abs(given - estimate) <= 1e-9 * np.abs(estimate))
    other = [name for name, same in zip(region.names, taken, strict=True) if not same]
    if not other:
        return FITTED
    if len(other) >= len(given) or len(other) > max(_FEW, len(given) // 2):
        return ""
    design = region.objective.design
    features = design is not None and not design.dual and region.problem.classes is None
    return PARTLY_FITTED + (ONE_AT_A_TIME.format(functional=_quoted(other)) if features else "")


def _quoted(names: list[str]) -> str:
    return repr(names[0]) if len(names) == 1 else f"[{', '.join(map(repr, names))}]"
