"""One pass over the data: rows come in chunks, and only sums over them are kept."""

from __future__ import annotations

import os
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np

from unassuming._typing import Array
from unassuming._words import shown
from unassuming.inputs import (
    as_count,
    as_finite,
    as_outputs,
    as_seed,
    as_weights,
    check_chunk,
    is_whole,
    row_count,
    rows_between,
    split_pipeline,
    streams,
)
from unassuming.noise import Noise, as_noise
from unassuming.noise.signs import POLYNOMIALS, BlockSymmetric, Symmetric
from unassuming.objectives import factory_for
from unassuming.objectives.factories import from_linear_regression, from_ridge
from unassuming.ranking import Order
from unassuming.regions import Region
from unassuming.streaming.features import Features, fixed_transformers
from unassuming.streaming.ledger import Ledger
from unassuming.streaming.region import region_of
from unassuming.streaming.sums import Sums


class StreamingRegion:
    """Exact confidence regions from one pass over data that need not fit into memory.

    Rows come in chunks of any size, on one machine or on several whose sums are merged. Rows are
    numbered, the number of a row decides its signs, and the numbers decide the order in which sums
    are added: the region is the same to the last bit for every chunking and every order of merging.
    One pass gives the joint region, intervals and tests of one number at a time, and balanced
    bands. In memory signs and groups of rows go by the leverage of the rows, in a stream by their
    numbers: the answers of both are different ones of the same kind. Fix the order of the rows
    before you look at y.

    The sums take (m - 1)(p + 2)² numbers times log2(n / 32,768), whatever n is, for p features. Up
    to 32,768 rows wait until their neighbours arrive. Each shard, and each chunk out of order,
    takes as much again.

    Parameters
    ----------
    estimator : scikit-learn estimator
        LinearRegression, Ridge, or a Pipeline that ends in one of them. Its transformers must be
        stateless or already fitted, and are used as they are: PolynomialFeatures, SplineTransformer
        with given knots, RBFSampler with a number as gamma, or anything fitted before (Nystroem on
        landmarks, StandardScaler on a sample of the inputs).
    noise : str or Noise, optional
        ``"symmetric"`` (the default), or ``ua.noise.BlockSymmetric(blocks)`` with the labels of all
        rows to come.
    m : int, default 128
        Number of statistics, a power of two from 4 to 2,048; levels are multiples of 1/m.
    random_state : int, Generator, RandomState or None, default 0
        Source of the tie order and of random features. Shards that will be merged need the same
        integer.

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
    >>> stream = ua.StreamingRegion(LinearRegression())
    >>> region = stream.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]).region()
    >>> stream.n, stream.next_row, region.rank(region.estimate)
    (50, 50, 1)
    >>> summary = region.summary(level=0.9)
    >>> summary.method, bool((summary.lower < coefficients).all())
    (('cells', 'cells', 'cells'), True)

    Two shards, merged in any order:

    >>> one, two = (ua.StreamingRegion(LinearRegression()) for _ in range(2))
    >>> one = one.partial_fit(X[:20], y[:20], first_row=0)
    >>> two = two.partial_fit(X[20:], y[20:], first_row=20)
    >>> two.merge(one).region().rank(coefficients) == region.rank(coefficients)
    True

    Stop, and continue later:

    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/stream.checkpoint"
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
        random_state: Any = 0,
    ) -> None:
        _, model = split_pipeline(estimator)
        self.estimator = estimator = deepcopy(estimator)
        self.noise, self.m = _as_signs(noise), _as_order(m)
        self.seed = as_seed(random_state)
        self._alpha, self._intercept = _penalty_of(model)
        _, ties, features = streams(self.seed)
        self._order = Order.draw(self.m, "random", ties)
        self._features = Features(fixed_transformers(estimator, features))
        self._sums, self._ledger = Sums(self.noise, self.m), Ledger()
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
            Positive weights that do not depend on y.
        """
        rows = row_count(X)
        first = self.next_row
        if first_row is not None:
            remedy = "Count the rows of the whole data set from 0."
            first = as_count("first_row is not a row number", first_row, 0, remedy)
        check_chunk(first, X, y, sample_weight, self.noise)
        target = as_finite(as_outputs(y, rows), "y")
        if rows == 0:
            return self
        weight = 1.0 if sample_weight is None else _as_positive(sample_weight, rows)
        self._check_labels(first + rows)
        matrix = self._features(X)
        if self._sample is None and self._features.transformers is not None:
            self._sample = (deepcopy(rows_between(X, 0, 1)), matrix[:1].copy())
        self._ledger = self._ledger.plus(first, matrix, target, weight, self._sums)
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
            ("seed", self.seed, other.seed),
        ):
            if mine != theirs:
                raise _other_stream(name, mine, theirs)
        if not np.array_equal(np.asarray(self._sums.units), np.asarray(other._sums.units)):
            raise _other_stream("noise", self.noise, other.noise)
        if other._features.width is not None:
            self._share_features(other)
            self._ledger = self._ledger.merged(other._ledger, self._sums)
        return self

    def region(self) -> Region:
        """Return the region of all rows so far, with the whole geometry of a quadratic region.

        Rows 0 to n - 1 must all be present. More rows can be added afterwards, for another region.
        Columns that nearly depend on each other are refused where sums over rows do not say by how
        much. Methods of the region that need the rows themselves raise `unassuming.NotAvailable`.
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
        from unassuming.streaming.checkpoint import write_checkpoint

        write_checkpoint(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str], estimator: Any = None) -> StreamingRegion:
        """Read a checkpoint that `save` has written; continue with row ``next_row``.

        Parameters
        ----------
        path : str or path
            The file. A damaged file raises ValueError and is not changed.
        estimator : scikit-learn estimator, optional
            Needed for a pipeline or a user-defined class, because code is not saved. It must be
            the same estimator, fitted to the same data: its features of one row are compared.
        """
        from unassuming.streaming.checkpoint import read_checkpoint

        return read_checkpoint(path, estimator)

    def _fresh(self) -> StreamingRegion:
        """Return a stream without rows that can be merged with this one."""
        stream = copy(self)
        stream._ledger = Ledger()
        return stream

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

    def _check_labels(self, rows: int) -> None:
        """Refuse more rows than the noise has labels for."""
        labels = rows if self._sums.units is None else len(self._sums.units)
        if rows > labels:
            raise ValueError(
                f"blocks must have a label for every row of the stream: expected at least {rows} "
                f"labels, given {labels}. Pass the labels of all rows to come."
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


def _as_signs(noise: str | Noise | None) -> Any:
    """Return an assumption under which the number of a row alone decides its signs."""
    chosen = as_noise("symmetric" if noise is None else noise)
    if type(chosen) not in (Symmetric, BlockSymmetric):
        raise ValueError(
            "noise does not fit a stream, which keeps one sum for each character of a group of "
            "signs: expected 'symmetric' or ua.noise.BlockSymmetric(blocks), given "
            f"{chosen!r}. Choose one of these, or build the region in memory."
        )
    return chosen


def _as_order(m: Any) -> int:
    """Return m, the order of a group of signs."""
    if not is_whole(m) or m not in POLYNOMIALS:
        raise ValueError(
            "m does not fit a stream, which keeps one sum for each character of a group of m "
            f"signs: expected a power of two from {min(POLYNOMIALS)} to {max(POLYNOMIALS)}, given "
            f"{m!r}. Leave it out for 128, or build the region in memory."
        )
    return int(m)


def _penalty_of(model: Any) -> tuple[float, bool]:
    """Return the penalty of the slopes, and whether the model has an intercept."""
    factory = factory_for(model)
    if factory not in (from_linear_regression, from_ridge):
        raise TypeError(
            "estimator needs all rows at once: expected LinearRegression, Ridge, or a Pipeline "
            f"ending in one of them, given {type(model).__name__}. Instead of a kernel, use Ridge "
            "on features such as those of Nystroem."
        )
    objective: Any = factory(model, np.ones((2, 1)), np.zeros(2), None)
    return float(objective.penalty.P[-1, -1]), bool(objective.design.intercept)


def _as_positive(sample_weight: Any, rows: int) -> Array:
    """Return one positive weight for each row."""
    weight = as_weights(sample_weight, rows)
    if not (weight > 0).all():
        raise ValueError(
            f"sample_weight is not positive: expected weights > 0, given {weight.min()}. Drop rows "
            "of weight zero before you number the rows."
        )
    return weight


def _other_stream(what: str, expected: object, given: object) -> ValueError:
    return ValueError(
        f"other is a stream of another {what}: expected {expected}, given {given}. Give all shards "
        "the same fitted model, noise, m and random_state."
    )
