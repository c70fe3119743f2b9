"""A confidence region: the candidates whose rank is not extreme."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar, overload

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, IntArray
from unassuming._words import shown
from unassuming.inputs import Data
from unassuming.membership import FITTED, Candidates, RankEngine, resolve
from unassuming.noise import Labels, Noise, Perturbations
from unassuming.objectives import DesignedObjective, Objective, Quadratic
from unassuming.ranking import Level, RankTest, as_double, as_levels
from unassuming.regions._describe import (
    PROBABILITIES,
    PUBLISHED_CLASSIFIER,
    Description,
    not_admitted,
)
from unassuming.regions._diagnose import Diagnosis, diagnose
from unassuming.regions._results import Levels
from unassuming.regions._tuning import Tuning, with_tuning

T = TypeVar("T")


class Region(ABC):
    """Exact confidence regions of all admissible levels, from one set of transformations.

    Built by `unassuming.confidence_region`. A candidate is a coefficient vector, a callable on X
    as it was passed, or a fitted estimator; every method takes one of them (and answers with a
    number) or several (an array of coefficient vectors, or a list; the answer is an array).

    Membership of a candidate is decided by the rank of its unperturbed statistic among the m
    statistics. The region of level 1 - q/m holds the candidates of rank at most m - q.

    Attributes
    ----------
    n, m : int
        Rows of positive weight; number of statistics.
    noise : Noise
        The assumption on the noise.
    objective : Objective
        What the model minimises, in the theory's symbols.
    weighting : str or array
        Ψ.
    ties : str
        ``"random"`` or ``"favour"``.
    perturbations : Perturbations
        The drawn transformations; ``perturbations.apply(r)`` shows them at work.
    tie_order : array of shape (m,)
        The permutation π that orders equal statistics.
    seed : int
        ``random_state=seed`` builds the same region again.
    estimator : scikit-learn estimator
        The model as it was passed, not fitted here.
    tuning : Tuning or None
        Where the hyper-parameters come from, for a region of `unassuming.tuned_region`.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
    >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    >>> region.n, region.m, region.noise, region.names
    (30, 100, Symmetric(), ['intercept', 'x0'])
    >>> region.perturbations.apply(y).shape, region.tie_order.shape
    ((99, 30), (100,))
    >>> region.inputs.shape
    (30, 1)
    >>> region.rank(region.estimate)
    1

    Its geometry:

    >>> slope = [0.0, 1.0]
    >>> region.crossings(slope, level=0.9).shape, region.reach(slope, level=0.9) > 0
    ((1, 2), True)
    >>> len(region.band(X, level=0.9)), len(region.interval(level=0.9))
    (30, 2)
    >>> bool(region.bounded(level=0.9)), region.ellipsoid(level=0.9).radius > 0
    (True, True)
    >>> region.sample(5, level=0.9, random_state=0).shape
    (5, 2)
    """

    tuning: Tuning | None = None

    def __init__(
        self,
        *,
        estimator: Any,
        data: Data,
        objective: Objective,
        engine: RankEngine,
        describe: Callable[[], Description],
        weighting: Any,
        ties: str,
        enumerated: bool,
        seed: int,
        transform: Callable[[Any], Array],
    ) -> None:
        self.estimator = estimator
        self.objective = objective
        self.weighting = weighting
        self.ties = ties
        self.enumerated = enumerated
        self.seed = seed
        self._data = data
        self._engine = engine
        self._describe = describe
        self._transform = transform

    @property
    def n(self) -> int:
        """Number of rows of positive weight."""
        return self.objective.n

    @property
    def m(self) -> int:
        """Number of statistics, the unperturbed one included."""
        return self._engine.perturbations.m

    @property
    def noise(self) -> Noise:
        """The assumption on the noise."""
        return self._engine.perturbations.noise

    @property
    def names(self) -> list[str]:
        """The names of the coefficients, in their order."""
        return self.objective.names

    @property
    def inputs(self) -> Any:
        """A copy of X as it was passed."""
        return self._data.X

    @property
    def perturbations(self) -> Perturbations:
        """The drawn transformations."""
        return self._engine.perturbations

    @property
    def tie_order(self) -> IntArray:
        """The order π of equal statistics."""
        return self._engine.tie_order

    @cached_property
    def estimate(self) -> Array:
        """The point estimate, polished until its gradient is zero to rounding, shape (d,)."""
        estimate = self.objective.estimate()
        estimate.setflags(write=False)
        return estimate

    def statistics(self, candidates: Any) -> Array:
        """Return Z_0, ..., Z_{m-1}: shape (m,) for one candidate, (N, m) for several.

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d), callable or fitted estimator, or a list of these
            One candidate or several, see `Region`.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> region.statistics([coefficients, 2 * coefficients]).shape
        (2, 100)
        """
        found = self._resolve(candidates)
        statistics = self._engine.statistics(found)
        return statistics[0] if found.single else statistics

    def rank(self, candidates: Any) -> Any:
        """Return the position of Z_0 among the statistics, from 1 to m.

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d), callable or fitted estimator, or a list of these
            One candidate or several, see `Region`.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> region.rank([region.estimate, region.estimate + 10])
        array([  1, 100])
        """
        found = self._resolve(candidates)
        ranks = self._engine.ranks(found)
        return int(ranks[0]) if found.single else ranks

    def smallest_level(self, candidates: Any) -> Any:
        """Return rank / m, the level from which on the candidate is inside (m / m: never).

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d), callable or fitted estimator, or a list of these
            One candidate or several, see `Region`.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> region.smallest_level(region.estimate)
        0.01
        """
        return self.rank(candidates) / self.m

    def pvalue(self, candidates: Any) -> Any:
        """Return the p-value of the hypothesis that the candidate is the noise-free model.

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d), callable or fitted estimator, or a list of these
            One candidate or several, see `Region`.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> region.pvalue(region.estimate + 10)
        0.01
        """
        return (self.m - self.rank(candidates) + 1) / self.m

    @overload
    def contains(self, candidates: Any, level: float = 0.9) -> Any: ...
    @overload
    def contains(self, candidates: Any, level: Sequence[float]) -> dict[float, Any]: ...
    def contains(self, candidates: Any, level: float | Sequence[float] = 0.9) -> Any:
        """Whether the candidates lie in the region of that level.

        A sequence of levels gives a dictionary. With ``m="group"`` the level used is the next
        admissible one, see `level`.

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d), callable or fitted estimator, or a list of these
            One candidate or several, see `Region`.
        level : float or sequence of floats, default 0.9

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> region.contains(region.estimate + 10)
        False
        >>> region.contains(region.estimate, level=[0.5, 0.9])
        {0.5: True, 0.9: True}
        """
        ranks = self.rank(candidates)
        return self._at_levels(level, lambda used: ranks <= used.largest_rank)

    def test(self, candidate: Any) -> RankTest:
        """Test the hypothesis that one candidate is the noise-free model at the inputs.

        Parameters
        ----------
        candidate : array of shape (d,), callable or fitted estimator

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> print(region.test(lambda X: 10 + 0 * X[:, 0]))
        Rank 100 of 100, p-value 0.01: outside every region, up to level 0.99.
        """
        found = self._resolve(candidate)
        if not found.single:
            raise ValueError(
                f"the candidate is not a single one: a test takes one candidate, given "
                f"{len(found)}. Use rank() or pvalue() for several."
            )
        caveat = found.caveat or (FITTED if self._is_estimate(found) else "")
        r = found.residuals(self.objective, slice(None))
        fitted = self.objective.y - r
        if not self.noise.admits(r, fitted)[0]:
            caveat = f"{not_admitted(fitted[0])} {caveat}".strip()
        rank = int(self._engine.ranks(found)[0])
        if found.values is not None and not found.caveat and self._are_probabilities(fitted, rank):
            caveat = f"{PROBABILITIES} {caveat}".strip()
        return RankTest(
            rank=rank,
            m=self.m,
            statistics=self._engine.statistics(found)[0],
            caveat=caveat,
        )

    def level(self, level: float) -> Level:
        """Return a level as the integers (q, m) with level = 1 - q/m.

        A level that m cannot represent raises ValueError; for an enumerated group it is rounded up
        to the next one that it can.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> region.level(0.95)
        Level(q=5, m=100)
        """
        return (Level.at_least if self.enumerated else Level.exactly)(level, self.m)

    def diagnose(self) -> Diagnosis:
        """Look at the residuals of the estimate for signs against what the guarantee rests on.

        The answer holds the data of residual plots, tests of symmetry and exchangeability, and
        the list of what the guarantee rests on. Residuals are not the noise: the tests are
        indications, not proofs, in either direction.

        Returns
        -------
        Diagnosis

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> diagnosis = region.diagnose()
        >>> [indication.name for indication in diagnosis.indications]
        ['symmetry', 'equal spread', 'no order']
        >>> diagnosis.to_frame().shape
        (30, 4)
        """
        return diagnose(
            self.objective, self.estimate, self.noise, self._data, self._description, self.seed
        )

    def _at_levels(self, level: Any, at: Callable[[Level], T]) -> T | dict[float, T]:
        """Return the answer at one level, or a dictionary of answers at several."""
        if np.ndim(level) == 1:
            return Levels({as_double(p): at(self.level(p)) for p in as_levels(level)})
        return at(self.level(level))

    def _are_probabilities(self, fitted: Array, rank: int) -> bool:
        """Whether the values of a candidate that is rejected look like P(y = 1 | x)."""
        within = bool(((fitted >= 0) & (fitted <= 1)).all())
        return within and isinstance(self.noise, Labels) and 10 * rank > 9 * self.m

    def _is_estimate(self, candidate: Candidates) -> bool:
        """Whether the candidate is the estimate itself, if there is one."""
        if candidate.values is not None:
            return False
        try:
            return np.array_equal(candidate.coefficients[0], self.estimate)
        except (NotAvailable, ValueError):  # the objective does not know, or has no, minimum
            return False

    @abstractmethod
    def reach(self, directions: Any, level: Any = 0.9) -> Any:
        """Return how far rays from the estimate stay in the region.

        Parameters
        ----------
        directions : array of shape (d,) or (N, d), name or list of names
            t multiplies them as they are; a name stands for that coefficient.
        level : float, sequence of floats, or None
            A sequence gives a dictionary; None gives all levels, shape (N, m - 1).

        Returns
        -------
        float for one direction, array of shape (N,) for several
        """

    @abstractmethod
    def crossings(self, direction: Any, level: Any = 0.9, origin: Any = None) -> Any:
        """Return the intervals of t with origin + t · direction in the region, (k, 2).

        Parameters
        ----------
        direction : array of shape (d,) or (N, d), or name
            t multiplies it as it is; a name stands for that coefficient. Several give a list.
        level : float or sequence of floats
            A sequence gives a dictionary.
        origin : array of shape (d,), optional
            The estimate by default.

        Returns
        -------
        array of shape (k, 2)
            Closed intervals, sorted and disjoint; ±inf allowed.
        """

    def ellipsoid(self, level: Any = 0.9) -> Any:
        """Return an outer ellipsoid: for quadratic objectives with weighting='hessian' only.

        Parameters
        ----------
        level : float or sequence of floats
            A sequence gives a dictionary.

        Returns
        -------
        Ellipsoid
        """
        raise self._no_geometry("ellipsoid")

    @abstractmethod
    def interval(
        self,
        functionals: Any = None,
        level: Any = 0.9,
        norm_bound: float | None = None,
        inner: bool = False,
    ) -> Any:
        """Bound linear functionals of the coefficients, all at once (simultaneously).

        Parameters
        ----------
        functionals : array of shape (d,) or (N, d), name or list of names, optional
            Each row g stands for gᵀa, and a name for that coefficient. None: every coefficient.
        level : float or sequence of floats
            A sequence gives a dictionary.
        norm_bound : float, optional
            An assumption of yours on the norm of the coefficients, or of the function for kernels.
        inner : bool
            Also search for members that come near the bounds, and return them as witnesses.

        Returns
        -------
        Interval, or a dictionary of them for several levels
        """

    @abstractmethod
    def band(
        self,
        X: Any,
        level: Any = 0.9,
        norm_bound: float | None = None,
        target: str | None = None,
        inner: bool = False,
    ) -> Any:
        """Bound the function at inputs, simultaneously.

        Parameters
        ----------
        X : array or DataFrame
            Inputs, as the model takes them.
        level : float or sequence of floats
            A sequence gives a dictionary.
        norm_bound : float, optional
            An assumption of yours: the function's norm is at most B.
        target : {"representation", "function"}, optional
            ``"function"`` covers the function itself between the training inputs too; it needs a
            kernel and a norm bound, and is the default with these.
        inner : bool
            Also search for members that come near the bounds, and return them as witnesses.

        Returns
        -------
        Band, or a dictionary of them for several levels
        """

    def bounded(self, level: Any = 0.9) -> Any:
        """Say whether the region is bounded, with a certificate: for quadratic objectives.

        Label regions of least-squares classifiers have it too. Of others `crossings` tells how far
        a line goes, and `interval` whether finite bounds are certified.

        Parameters
        ----------
        level : float or sequence of floats
            A sequence gives a dictionary.

        Returns
        -------
        Boundedness
        """
        raise self._no_geometry("bounded")

    @abstractmethod
    def sample(
        self,
        size: int,
        level: float = 0.9,
        random_state: Any = None,
        norm_bound: float | None = None,
        thinning: int | None = None,
    ) -> Array:
        """Return members of the region, by hit-and-run on its exact lines, shape (size, d).

        Parameters
        ----------
        size : int
            Number of samples.
        level : float
            Of the region sampled from.
        random_state : int, Generator, RandomState or None
            Source of the walks.
        norm_bound : float, optional
            Sample within the ball of that norm. Needed where the region is unbounded.
        thinning : int, optional
            Steps between two samples of a chain.

        Returns
        -------
        array of shape (size, d)
        """

    @property
    def max_bounded_level(self) -> float:
        """Not available for this objective.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import Lasso
        >>> X, y, coefficients = ua.datasets.linear(n=30, random_state=0)
        >>> region = ua.confidence_region(Lasso(), X, y, random_state=0)
        >>> region.max_bounded_level
        Traceback (most recent call last):
            ...
        unassuming._errors.NotAvailable: max_bounded_level needs a quadratic objective, ...
        """
        raise self._no_geometry("max_bounded_level")

    def _no_geometry(self, operation: str) -> NotAvailable:
        here = f"What is available here: {', '.join(self._available)}."
        if isinstance(self.objective, Quadratic):
            given = repr(self.weighting) if isinstance(self.weighting, str) else "a matrix"
            return NotAvailable(
                f"{operation} needs weighting='hessian', the default, and this region has "
                f"weighting={given}: leave out `weighting`. {here}"
            )
        return NotAvailable(
            f"{operation} needs a quadratic objective, that of LinearRegression, Ridge, "
            f"KernelRidge or ua.LSSVC, and this is a region of {self.objective}. {here}"
        )

    @property
    def _available(self) -> list[str]:
        """What can be asked of this region."""
        known = ["rank", "contains", "test", "crossings"]
        try:
            _ = self.estimate
        except (NotAvailable, ValueError):  # the objective does not know, or has no, minimum
            return [*known[:-1], "crossings(direction, origin=candidate)"]
        known += ["reach", "sample", "interval"]
        return [*known, "band"] if isinstance(self.objective, DesignedObjective) else known

    @property
    def _caveat(self) -> str:
        """What every result of this region has to say: that there is no guarantee, or nothing."""
        published = self._data.classes is not None and not isinstance(self.noise, Labels)
        return PUBLISHED_CLASSIFIER if published else ""

    def _set_tuning(self, tuning: Tuning) -> None:
        """Remember, and tell in print, where the hyper-parameters come from."""
        self.tuning = tuning
        self._describe = partial(with_tuning, self._describe, tuning)

    def _resolve(self, candidates: Any) -> Candidates:
        return resolve(candidates, self.objective, self._data)

    @cached_property
    def _description(self) -> Description:
        return self._describe()

    def __str__(self) -> str:
        return self._description.text()

    def __repr__(self) -> str:
        return f"<Region of {self._description.model}: n={self.n}, m={self.m}, {shown(self.noise)}>"

    def _repr_html_(self) -> str:
        return self._description.html()
