"""One pass over the data: rows come in chunks, and only sums over them are kept."""

from __future__ import annotations

import os
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np

from unassuming._words import shown
from unassuming.inputs import (
    as_finite,
    as_outputs,
    as_seed,
    cell_stream,
    check_chunk,
    row_count,
    rows_between,
    split_pipeline,
    streams,
)
from unassuming.noise import Noise, draw_key
from unassuming.ranking import draw_tie_order
from unassuming.regions import Region
from unassuming.streaming._arguments import (
    as_cells,
    as_count,
    as_positive_weights,
    as_row_noise,
    as_row_number,
    check_weighted,
    penalty_of,
)
from unassuming.streaming._build import region_of
from unassuming.streaming._cells import RowCells
from unassuming.streaming._checkpoint import read_checkpoint, write_checkpoint
from unassuming.streaming._features import Features, fixed_transformers
from unassuming.streaming._ledger import Ledger
from unassuming.streaming._sums import Sums, leaf_rows, sums_for


class StreamingRegion:
    """Exact confidence regions from one pass over data that need not fit into memory.

    Rows come in chunks of any size, on one machine or on several whose sums are merged. The region
    has the same ranks for every chunking and every order of merging: rows are numbered, all signs
    depend on the row number, and the row numbers decide the order in which sums are added. Where
    signs are drawn (m is not a power of two) its ranks are those of the region that
    `unassuming.confidence_region` builds in memory with the same seed; a group of signs goes by the
    row number here and by the leverage there. A rank
    that the rounding of sums may decide is refused: if rows or means differ by many orders of
    magnitude, or if more than 4 % of the statistics tie with that of the data.

    The sums take m (d + 1)²/2 numbers times log2(n/1,024), and each cell (d + 1)² more. Up to 1,024
    rows (or one block of the noise) wait until their neighbours arrive. Permutations and nearly
    dependent columns take twice as much: such columns are made orthonormal first, so that they lose
    about as many digits as in memory and not twice as many. Each shard, and each chunk out of
    order, takes as much again. `region` takes about 25 times m (d + 1)²/2 for a moment, and
    `BlockSymmetric` keeps its labels.

    Parameters
    ----------
    estimator : scikit-learn estimator
        LinearRegression, Ridge, or a Pipeline that ends in one of them. Its transformers must be
        stateless or already fitted, and are used as they are: PolynomialFeatures, SplineTransformer
        with given knots, RBFSampler with a number as gamma, or anything fitted before (Nystroem on
        landmarks, StandardScaler on a sample of the inputs).
    noise : str or Noise, optional
        ``"symmetric"`` (the default), ``ua.noise.BlockSymmetric(blocks)`` with the labels of all
        rows to come, or ``ua.noise.ExchangeableWithin(block_rows)``.
    m : int, default 128
        Number of statistics; levels are multiples of 1/m.
    cells : int, optional
        Collect sums over this many cells of rows as well, for intervals and tests of one number at
        a time (`Region.summary`) and for simultaneous bounds with ``method="cells"``. Random
        numbers deal the rows to cells by row number, or blocks by the number of the block, so
        the results depend on neither chunks nor y. 16 cells serve single numbers at every usual
        level; all at once, 90 % takes 16 cells and 95 % takes 32. Every cell should have several
        times d rows. Not for ``ExchangeableWithin``.
    random_state : int, Generator, RandomState or None, default 0
        Source of the transformations, of the tie order and of the cells. Shards that will be merged
        need the same integer.

    Attributes
    ----------
    n : int
        Number of rows so far.
    seed : int
        ``random_state=seed`` makes a stream that can be merged with this one.
    next_row : int
        The row number of the next chunk, unless ``first_row`` is given.

    Examples
    --------
    >>> stream = ua.StreamingRegion(Ridge(), m=100, random_state=0)
    >>> stream = stream.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    >>> stream.n, stream.next_row
    (50, 50)
    >>> in_memory = ua.confidence_region(Ridge(), X, y, m=100, random_state=0)
    >>> stream.region().rank(coefficients) == in_memory.rank(coefficients)
    True

    Two shards, merged in any order:

    >>> one, two = (ua.StreamingRegion(Ridge(), m=100, random_state=0) for _ in range(2))
    >>> one = one.partial_fit(X[:20], y[:20], first_row=0)
    >>> two = two.partial_fit(X[20:], y[20:], first_row=20)
    >>> two.merge(one).region().rank(coefficients) == in_memory.rank(coefficients)
    True

    Intervals of one coefficient at a time:

    >>> stream = ua.StreamingRegion(LinearRegression(), cells=12, random_state=0)
    >>> summary = stream.partial_fit(X, y).region().summary(level=0.9)
    >>> summary.method, bool((summary.lower < coefficients).all())
    (('cells', 'cells', 'cells'), True)

    Stop, and continue later:

    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/ridge.checkpoint"
    >>> one.save(path)
    >>> stream = ua.StreamingRegion.load(path)
    >>> stream.partial_fit(X[stream.next_row :], y[stream.next_row :]).n
    50
    """

    def __init__(
        self,
        estimator: Any,
        *,
        noise: str | Noise | None = None,
        m: int = 128,
        cells: int | None = None,
        random_state: Any = 0,
    ) -> None:
        _, model = split_pipeline(estimator)
        self.estimator = estimator = deepcopy(estimator)
        self.noise = as_row_noise(noise)
        self.m = as_count(m)
        self.seed = as_seed(random_state)
        self._alpha, self._intercept = penalty_of(model)
        transformations, ties, features = streams(self.seed)
        self._key = draw_key(transformations)
        self._tie_order = draw_tie_order(self.m, "random", ties)
        self._cells = RowCells(as_cells(cells, self.noise), draw_key(cell_stream()), self.noise)
        self._features = Features(fixed_transformers(estimator, features))
        self._ledger = Ledger(leaf_rows(self.noise))
        self._sample: Any = None  # one row and its features, if there are transformers

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
        """Add rows, any number of them, and return the stream itself.

        Parameters
        ----------
        X, y : arrays or DataFrames
            Inputs and outputs of consecutive rows.
        first_row : int, optional
            The number of the first of them, counted from 0 over the whole data set; by default
            `next_row`. A shard that will be merged has to say where it starts.
        sample_weight : array, optional
            Positive weights that do not depend on y; not for permutations.
        """
        rows = row_count(X)
        first = self.next_row if first_row is None else as_row_number(first_row)
        check_chunk(first, X, y, sample_weight, self.noise)
        target = as_finite(as_outputs(y, rows), "y")
        if rows == 0:
            return self
        weight = None
        if sample_weight is not None:
            weight = as_positive_weights(sample_weight, rows, self.noise)
        self.noise.check_rows(first + rows)
        matrix = self._features(X)
        ones = [np.ones(rows)] * self._intercept
        Z = np.ascontiguousarray(np.column_stack([*ones, matrix, target]))
        if self._sample is None and self._features.transformers is not None:
            self._sample = (deepcopy(rows_between(X, 0, 1)), matrix[:1].copy())
        if weight is not None:
            check_weighted(Z, weight)
        self._ledger = self._ledger.plus(first, Z, self._sums(), weight)
        return self

    def merge(self, other: StreamingRegion) -> Self:
        """Add all rows of another stream, which stays as it is, and return the stream itself.

        Parameters
        ----------
        other : StreamingRegion
            With the same model, assumption, m and seed, and without any row of this stream.
        """
        if not isinstance(other, StreamingRegion):
            raise TypeError(
                "other is not a stream: expected a StreamingRegion, given "
                f"{type(other).__name__}. Merge the streams before you ask for the region."
            )
        for name, mine, theirs in (
            ("model", shown(self.estimator), shown(other.estimator)),
            ("m", self.m, other.m),
            ("number of cells", self._cells.number, other._cells.number),
            ("seed", self.seed, other.seed),
        ):
            if mine != theirs:
                raise _other_stream(name, mine, theirs)
        if not self.noise.same_as(other.noise):
            raise _other_stream("noise", self.noise, other.noise)
        if other._features.width is None:
            return self
        self._share_features(other)
        self._ledger = self._ledger.merged(other._ledger, self._sums())
        return self

    def region(self) -> Region:
        """Return the region of all rows so far, with the whole geometry of a quadratic region.

        Rows 0 to n - 1 must all be present. More rows can be added afterwards, for another region.
        Methods of the region that need the rows themselves raise `unassuming.NotAvailable`.
        """
        return region_of(self, "random")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint: the sums and the waiting rows, but no code.

        The file is replaced as a whole at the end. If the process is killed while it writes, the
        previous checkpoint remains.

        Parameters
        ----------
        path : str or path
            Where to write. No suffix is added.
        """
        write_checkpoint(path, self)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], estimator: Any = None, noise: Noise | None = None
    ) -> StreamingRegion:
        """Read a checkpoint that `save` has written; continue with row ``next_row``.

        Parameters
        ----------
        path : str or path
            The file. A damaged file raises ValueError and is not changed.
        estimator : scikit-learn estimator, optional
            Needed for a pipeline or a user-defined class, because code is not saved. It must be
            the same estimator, fitted to the same data: its features of one row are compared.
        noise : Noise, optional
            Needed for a user-defined class of noise.
        """
        return read_checkpoint(path, cls, estimator, noise)

    def __copy__(self) -> Self:
        """Return a stream that goes its own way: rows added to one are not added to the other."""
        stream = type(self).__new__(type(self))
        stream.__dict__.update(self.__dict__)
        stream.estimator, stream._features = deepcopy((self.estimator, self._features))
        stream._ledger = self._ledger.copied()
        return stream

    def __repr__(self) -> str:
        model = shown(self.estimator)
        return f"<StreamingRegion of {model}: n={self.n}, m={self.m}, {self.noise!r}>"

    def _fresh(self) -> StreamingRegion:
        """Return a stream without rows that can be merged with this one."""
        stream = copy(self)
        stream._ledger = Ledger(self._ledger.leaf_rows)
        return stream

    def _sums(self) -> Sums:
        """Return the summation of rows [Φ, y]; the first chunk has fixed their width."""
        assert self._features.width is not None
        return self._sums_of(self._features.width + self._intercept + 1)

    def _sums_of(self, width: int) -> Sums:
        """Return the summation of rows of this length."""
        return sums_for(
            self.noise,
            self._key,
            self.m,
            width,
            intercept=self._intercept,
            cells=self._cells,
        )

    def _share_features(self, other: StreamingRegion) -> None:
        """Make sure that the other stream has the same features, fitted to the same data."""
        mine, theirs = self._features, other._features
        if other._sample is not None:
            inputs, expected = other._sample
            alike = mine.alike(mine(inputs), expected)
        elif mine.width is None:
            self._features, alike = deepcopy(theirs), True
        else:
            alike = (mine.width, mine.inputs) == (theirs.width, theirs.inputs)
        if not alike:
            raise _other_stream("table of features", "the same columns, fitted alike", "others")
        self._sample = other._sample if self._sample is None else self._sample


def _other_stream(what: str, expected: object, given: object) -> ValueError:
    return ValueError(
        f"other is a stream of another {what}: expected {expected}, given {given}. Give all shards "
        "the same fitted model, noise, m, cells and random_state."
    )
