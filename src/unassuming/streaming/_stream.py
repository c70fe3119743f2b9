"""One pass over the data: rows come in chunks, and only sums over them are kept."""

from __future__ import annotations

import os
import re
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np

from unassuming._typing import Array
from unassuming.inputs import (
    as_finite,
    as_outputs,
    as_seed,
    as_weights,
    row_count,
    rows_between,
    split_pipeline,
    streams,
)
from unassuming.membership import RankEngine
from unassuming.noise import Noise, Perturbations, RowNoise, SignFlips, as_noise, draw_key
from unassuming.objectives import (
    Quadratic,
    factory_for,
    from_linear_regression,
    from_ridge,
)
from unassuming.ranking import check_m, draw_tie_order
from unassuming.regions import Problem, Region
from unassuming.streaming._checkpoint import read_checkpoint, write_checkpoint
from unassuming.streaming._compressed import compress, uncompressed
from unassuming.streaming._features import Features, fixed_transformers
from unassuming.streaming._ledger import Ledger
from unassuming.streaming._sums import Sums, leaf_rows, sums_for


class StreamingRegion:
    """Exact confidence regions from one pass over data that need not fit into memory.

    Rows come in chunks of any size, on one machine or on several whose sums are merged. The region
    has the same ranks as the one that `unassuming.confidence_region` builds in memory with the same
    seed, for every chunking and every order of merging: rows are numbered, everything random
    depends on the row number, and the sums are added in an order that the row numbers decide.

    Memory is m (d + 1)²/2 numbers, times the logarithm of the number of rows divided by 1,024, and
    the rows of up to 1,024 (or one block of the noise) that wait for their neighbours; twice as
    much for permutations and for columns that are nearly dependent, which are made orthonormal
    first, so that they lose about as many digits as in memory and not twice as many. Shards, or
    chunks out of order, add as much each, `region` takes some 25 times m (d + 1)²/2 for a moment,
    and `BlockSymmetric` keeps its labels.

    Parameters
    ----------
    estimator : scikit-learn estimator
        LinearRegression, Ridge, or a Pipeline ending in one of them whose transformers are
        stateless or already fitted, and used as they are: PolynomialFeatures, SplineTransformer
        with given knots, RBFSampler with a number as gamma, anything fitted before (Nystroem on
        landmarks, StandardScaler on a sample of the inputs).
    noise : str or Noise, optional
        ``"symmetric"`` (the default), ``ua.noise.BlockSymmetric(blocks)`` with the labels of all
        rows to come, or ``ua.noise.ExchangeableWithin(block_rows)``.
    m : int, default 100
        Number of statistics; levels are multiples of 1/m.
    random_state : int, Generator, RandomState or None
        Source of the transformations and of the tie order. Shards that will be merged need the
        same integer.

    Attributes
    ----------
    n : int
        Number of rows so far.
    seed : int
        ``random_state=seed`` makes a stream that can be merged with this one.
    next_row : int
        The row number that the next chunk starts with, if it does not say otherwise.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import Ridge
    >>> X, y, coefficients = ua.datasets.linear(n=300, random_state=0)
    >>> stream = ua.StreamingRegion(Ridge(alpha=0.1), random_state=0)
    >>> for start in range(0, 300, 70):
    ...     stream = stream.partial_fit(X[start : start + 70], y[start : start + 70])
    >>> stream.n, stream.next_row
    (300, 300)
    >>> in_memory = ua.confidence_region(Ridge(alpha=0.1), X, y, random_state=0)
    >>> stream.region().rank(coefficients) == in_memory.rank(coefficients)
    True

    Two shards, merged in any order:

    >>> one = ua.StreamingRegion(Ridge(alpha=0.1), random_state=0)
    >>> two = ua.StreamingRegion(Ridge(alpha=0.1), random_state=0)
    >>> one = one.partial_fit(X[:100], y[:100], first_row=0)
    >>> two = two.partial_fit(X[100:], y[100:], first_row=100)
    >>> two.merge(one).region().rank(coefficients) == in_memory.rank(coefficients)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        noise: str | Noise | None = None,
        m: int = 100,
        random_state: Any = None,
    ) -> None:
        _, model = split_pipeline(estimator)
        self.estimator = estimator = deepcopy(estimator)
        self.noise = _row_noise("symmetric" if noise is None else noise)
        self.m = _count(m)
        self.seed = as_seed(random_state)
        self._objective = _probe(model)
        transformations, ties, features = streams(self.seed)
        self._key = draw_key(transformations)
        self._tie_order = draw_tie_order(self.m, "random", ties)
        self._features = Features(fixed_transformers(estimator, features))
        self._ledger = Ledger(leaf_rows(self.noise))
        self._sample: Any = None

    @property
    def n(self) -> int:
        """Number of rows so far."""
        return self._ledger.count

    @property
    def next_row(self) -> int:
        """The row after the last one so far, counted from 0."""
        return self._ledger.next_row

    def partial_fit(
        self, X: Any, y: Any, *, first_row: int | None = None, sample_weight: Any = None
    ) -> Self:
        """Take more rows: any number of them, from one.

        Parameters
        ----------
        X, y : arrays or DataFrames
            Inputs and outputs of consecutive rows.
        first_row : int, optional
            The number of the first of them, counted from 0 over the whole data set. By default
            counting goes on after the last row so far. A shard that will be merged has to say
            where it starts.
        sample_weight : array, optional
            Positive weights that do not depend on y; not for permutations.

        Returns
        -------
        StreamingRegion
            Itself.
        """
        rows = row_count(X)
        first = self._first(first_row)
        target = as_finite(as_outputs(y, rows), "y")
        if rows == 0:
            return self
        weight = self._weight(sample_weight, rows)
        self.noise.check_rows(first + rows)
        matrix = self._features(X)
        ones = [np.ones(rows)] * self._objective.design.intercept
        # In one layout, however the inputs lie in memory: products may round otherwise in another.
        Z = np.ascontiguousarray(np.column_stack([*ones, matrix, target]))
        if weight is not None:
            Z *= np.sqrt(weight)[:, None]
        if self._sample is None and self._features.transformers is not None:
            self._sample = (deepcopy(rows_between(X, 0, 1)), matrix[:1].copy())
        self._ledger = self._ledger.plus(first, Z, self._sums(Z.shape[1]))
        return self

    def merge(self, other: StreamingRegion) -> Self:
        """Take all rows of another stream, which stays as it is.

        Both have to be streams of the same model, assumption, m and seed, and no row may be in
        both.

        Parameters
        ----------
        other : StreamingRegion

        Returns
        -------
        StreamingRegion
            Itself.
        """
        if not isinstance(other, StreamingRegion):
            raise TypeError(
                f"other is no stream: expected a StreamingRegion, given {type(other).__name__}. "
                "Merge before asking for the region."
            )
        theirs = other._identity()
        for name, value in self._identity().items():
            if theirs[name] != value:
                raise _other_stream(name, value, theirs[name])
        if not self.noise.same_as(other.noise):
            raise _other_stream("noise", repr(self.noise), repr(other.noise))
        if other._features.width is None:
            return self
        self._share_features(other)
        self._ledger = self._ledger.merged(other._ledger, self._sums(self._columns))
        return self

    def region(self) -> Region:
        """Return the region of all rows so far.

        Rows 0 to n - 1 have to be there. More can be added afterwards, for another region.

        Returns
        -------
        Region
            With ranks of coefficient vectors and all of the geometry of a quadratic region. What
            needs the rows themselves raises `unassuming.NotAvailable`.
        """
        return self._build("random")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that is needed to go on later: sums and rows that wait, no code.

        The file appears whole or not at all, and a file that is there already is replaced at the
        end: a process that is killed while it writes leaves the checkpoint before.

        Parameters
        ----------
        path : str or path
            Where to write. No suffix is added.

        Examples
        --------
        >>> import os, tempfile
        >>> import unassuming as ua
        >>> from sklearn.linear_model import Ridge
        >>> X, y, coefficients = ua.datasets.linear(n=300, random_state=0)
        >>> path = os.path.join(tempfile.mkdtemp(), "ridge.checkpoint")
        >>> stream = ua.StreamingRegion(Ridge(), random_state=0).partial_fit(X[:200], y[:200])
        >>> stream.save(path)
        >>> stream = ua.StreamingRegion.load(path)
        >>> done = stream.next_row
        >>> stream.partial_fit(X[done:], y[done:]).n
        300
        """
        write_checkpoint(path, self)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], estimator: Any = None, noise: Noise | None = None
    ) -> StreamingRegion:
        """Read what `save` has written; ``next_row`` says where to go on.

        Parameters
        ----------
        path : str or path
            The file. One that is damaged raises ValueError and stays as it is.
        estimator : scikit-learn estimator, optional
            Needed for a pipeline or a class of your own, which are code and not saved. It must be
            the same as before, fitted alike: its features of one row are checked.
        noise : Noise, optional
            Needed for an assumption of a class of your own.

        Examples
        --------
        >>> import os, tempfile
        >>> import unassuming as ua
        >>> from sklearn.linear_model import Ridge
        >>> path = os.path.join(tempfile.mkdtemp(), "empty.checkpoint")
        >>> ua.StreamingRegion(Ridge(), random_state=0).save(path)
        >>> ua.StreamingRegion.load(path).next_row
        0
        """
        return read_checkpoint(path, cls, estimator, noise)

    # Inside

    def _fresh(self) -> StreamingRegion:
        """Return a stream without rows that can be merged with this one."""
        stream = copy(self)
        stream._features = deepcopy(self._features)
        stream._ledger = Ledger(self._ledger.leaf_rows)
        return stream

    @property
    def _columns(self) -> int:
        """Number of columns of [Φ, y]."""
        assert self._features.width is not None
        return self._features.width + int(self._objective.design.intercept) + 1

    def _sums(self, width: int) -> Sums:
        intercept = self._objective.design.intercept
        return sums_for(self.noise, self._key, self.m, width, intercept=intercept)

    def _first(self, first_row: Any) -> int:
        if first_row is None:
            return self.next_row
        integer = isinstance(first_row, (int, np.integer)) and not isinstance(first_row, bool)
        if not integer or first_row < 0:
            raise ValueError(
                f"first_row is no row number: expected an integer >= 0, given {first_row!r}. Count "
                "the rows of the whole data set from 0."
            )
        return int(first_row)

    def _weight(self, sample_weight: Any, rows: int) -> Array | None:
        if sample_weight is None:
            return None
        if not isinstance(self.noise, SignFlips):
            raise ValueError(
                f"sample_weight does not go with {self.noise!r}, which mixes rows: expected no "
                "weights, or noise='symmetric', given weights. Leave one of them out."
            )
        weight = as_weights(sample_weight, rows)
        if not (weight > 0).all():
            raise ValueError(
                f"sample_weight is not positive: expected weights > 0, given {weight.min()}. Drop "
                "rows of weight zero before they are numbered."
            )
        return weight

    def _identity(self) -> dict[str, str]:
        """Return what streams have to have in common to be merged, the noise apart."""
        model = re.sub(r" at 0x[0-9a-f]+", "", " ".join(repr(self.estimator).split()))
        return {"model": model, "m": str(self.m), "seed": str(self.seed)}

    def _share_features(self, other: StreamingRegion) -> None:
        """Make sure that the other stream has the same features, fitted alike."""
        mine, theirs = self._features, other._features
        if other._sample is not None:  # a row, with the features that the other one has for it
            inputs, expected = other._sample
            alike = mine.alike(mine(inputs), expected)
        elif mine.width is None:
            self._features, alike = deepcopy(theirs), True
        else:
            alike = (mine.width, mine.inputs) == (theirs.width, theirs.inputs)
        if not alike:
            raise _other_stream("table of features", "the same columns, fitted alike", "others")
        self._sample = other._sample if self._sample is None else self._sample

    def _build(self, ties: str) -> Region:
        n, ledger = self.n, self._ledger
        if n < 2:
            raise ValueError(
                f"the data are too few: expected at least 2 rows, given {n}. Pass more rows to "
                "partial_fit."
            )
        for first, stop in ledger.gaps():
            raise ValueError(
                f"the data have a gap: expected all rows from 0 to {self.next_row - 1}, given no "
                f"rows {first} to {stop - 1}. Pass these rows, or merge the shard that has them."
            )
        self.noise.check_length(n)
        objective, perturbations = self._problem(n)
        tie_order = self._tie_order if ties == "random" else np.sort(self._tie_order)
        problem = Problem(
            estimator=deepcopy(self.estimator),
            n=n,
            objective=objective,
            noise=self.noise,
            weighting="hessian",
            ties=ties,
            enumerated=False,
            seed=self.seed,
            transform=deepcopy(self._features),
            rows=None,
        )
        score = objective.score("hessian")
        engine = RankEngine(objective, score, perturbations, tie_order, whitened=True)
        return Region(problem, engine)

    def _problem(self, n: int) -> tuple[Quadratic, Perturbations]:
        """Return the objective and the transformations, in few rows."""
        names, intercept = self._names(), self._objective.design.intercept
        alpha = 2 * self._objective.lam  # as the probe has 2 rows
        few = self._ledger.waiting()
        if few is not None:
            drawn = self.noise.draw_rows(self._key, 0, n, self.m - 1)
            objective = uncompressed(few, alpha, intercept=intercept, names=names)
            return objective, Perturbations(self.noise, drawn, n, self.m)
        sums = self._sums(self._columns)
        whole = self._ledger.total(sums)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = whole.basis if whole.plain else whole.basis.T @ whole.basis
            finite = np.isfinite(4 * squares).all() and np.isfinite(4 * whole.moved).all()
        if not finite:
            raise ValueError(
                "the data are too large for double precision: expected squares that add up to "
                "less than 1e300, given an overflow. Rescale the features or y."
            )
        whole = sums.turned(whole)
        return compress(whole.basis, whole.moved, n, alpha, intercept=intercept, names=names)

    def _names(self) -> list[str]:
        """Return the names of the coefficients."""
        p, columns = self._features.width or 0, self._features.columns
        names = [f"x{j}" for j in range(p)] if columns is None else [str(c) for c in columns]
        return ["intercept"] * self._objective.design.intercept + names

    def __repr__(self) -> str:
        model = " ".join(repr(self.estimator).split())
        return f"<StreamingRegion of {model}: n={self.n}, m={self.m}, {self.noise!r}>"


def _other_stream(what: str, expected: str, given: str) -> ValueError:
    return ValueError(
        f"other is a stream of another {what}: expected {expected}, given {given}. Give all shards "
        "the same fitted model, noise, m and random_state."
    )


def _row_noise(noise: str | Noise) -> RowNoise:
    chosen = as_noise(noise)
    if not isinstance(chosen, RowNoise) or _draws_otherwise(chosen):
        raise ValueError(
            "noise cannot be drawn row by row: expected 'symmetric', "
            "ua.noise.BlockSymmetric(blocks) or ua.noise.ExchangeableWithin(block_rows), given "
            f"{chosen!r}. Choose one of these, or build the region in memory."
        )
    return chosen


def _draws_otherwise(noise: RowNoise) -> bool:
    """Whether a class of the user's own changes what is summed here without being asked."""
    ours = next(cls for cls in type(noise).__mro__ if cls.__module__.startswith("unassuming."))
    names = ["draw", "admits"] if ours is RowNoise else ["draw", "admits", "apply"]
    return any(getattr(type(noise), name) is not getattr(ours, name) for name in names)


def _count(m: Any) -> int:
    if isinstance(m, str):
        raise ValueError(
            "m must be known before the first row: expected an integer of at least 2, given "
            f"{m!r}. Pass e.g. m=100."
        )
    return check_m(m)


def _probe(model: Any) -> Quadratic:
    """Return what the model minimises on two rows, which tells its penalty and intercept."""
    factory = factory_for(model)
    if factory not in (from_linear_regression, from_ridge):
        raise TypeError(
            "estimator needs all rows at once: expected LinearRegression, Ridge, or a Pipeline "
            f"ending in one of them, given {type(model).__name__}. Use features such as Nystroem "
            "with Ridge in the place of a kernel."
        )
    objective = factory(model, np.ones((2, 1)), np.zeros(2), None)
    assert isinstance(objective, Quadratic)
    return objective
