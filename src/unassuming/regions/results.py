"""Answers of a region: frozen results that keep the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, is_dataclass
from textwrap import fill
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from unassuming._frames import apart, as_frame
from unassuming._numerics import EPS, SEEN
from unassuming._typing import Array, BoolArray
from unassuming.inputs import as_points
from unassuming.ranking import level_in_print
from unassuming.regions.explain import Explanation, Status

T = TypeVar("T")

_NO_COUNT = (
    Status.CERTIFIED,
    Status.TRIVIAL,
    Status.ONE_BY_ONE,
    Status.ALL_AT_ONCE,
    Status.SEVERAL_PARTS,
    Status.ENDLESS_SET,
    Status.EMPTY,
    Status.SOME_EMPTY,
)
"""What needs no word on how many bounds are finite."""

SHOWN = 10
"""Rows of a result that are printed."""

_NAMES_SHOWN = 30
"""The same of an interval, whose rows have names."""

NOTHING_AGREES = "no value within the norm bound agrees with the data"


class Levels(dict[float, T]):
    """Answers at several levels: a dictionary that prints its results one by one.

    Examples
    --------
    >>> region.interval(level=[0.5, 0.9]).keys()
    dict_keys([0.5, 0.9])
    """

    def __str__(self) -> str:
        if all(is_dataclass(answer) for answer in self.values()):
            return "\n\n".join(map(str, self.values()))
        return super().__repr__()

    __repr__ = __str__


@final
@dataclass(frozen=True, eq=False)
class IntervalUnion:
    """A finite union of closed intervals of real numbers.

    Attributes
    ----------
    ends : array of shape (r, 2)
        The intervals, sorted and disjoint, with ±inf allowed; none at all is the empty set.

    Examples
    --------
    >>> some = IntervalUnion(np.array([[-np.inf, -1.0], [2.0, 2.0]])).times(factor=-2.0)
    >>> some, some.contains([-4.0, 0.0]), some.bounded, some.lower, some.upper
    (IntervalUnion({-4} or [2, inf)), array([ True, False]), False, -4.0, inf)
    """

    ends: Array = field(repr=False)

    def __post_init__(self) -> None:
        self.ends.setflags(write=False)

    @property
    def lower(self) -> float:
        """The lower end of the hull; inf for the empty set."""
        return float(self.ends[0, 0]) if len(self.ends) else np.inf

    @property
    def upper(self) -> float:
        """The upper end of the hull; -inf for the empty set."""
        return float(self.ends[-1, 1]) if len(self.ends) else -np.inf

    @property
    def bounded(self) -> bool:
        """Whether there is neither a ray nor the whole line."""
        return bool(np.isfinite(self.ends).all())

    def __len__(self) -> int:
        """Return the number of intervals."""
        return len(self.ends)

    def contains(self, values: ArrayLike) -> BoolArray:
        """Return which of some values, of any shape, belong to the set."""
        x = np.asarray(values, dtype=np.float64)[..., None]
        return np.asarray(((self.ends[:, 0] <= x) & (x <= self.ends[:, 1])).any(axis=-1))

    def times(self, factor: float) -> IntervalUnion:
        """Return the set of all multiples by a factor other than 0."""
        ends = self.ends * factor
        return IntervalUnion(ends if factor > 0 else ends[::-1, ::-1].copy())

    def __str__(self) -> str:
        return " or ".join(map(_one, *self.ends.T)) if len(self.ends) else "no value"

    def __repr__(self) -> str:
        return f"IntervalUnion({self})"


def _one(low: float, high: float) -> str:
    """Return one interval in words."""
    if low == high:
        return f"{{{low:.6g}}}"
    left = "(-inf" if np.isneginf(low) else f"[{low:.6g}"
    return f"{left}, inf)" if np.isposinf(high) else f"{left}, {high:.6g}]"


def several(sets: Iterable[IntervalUnion] | None) -> bool:
    """Whether some sets are not single intervals, so that two ends do not describe them."""
    return sets is not None and any(len(one) != 1 for one in sets)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds of N linear functionals over a region, with their evidence.

    `Interval` and `Band` are the two kinds.

    Attributes
    ----------
    level : float
        The level attained, at least the one asked for; the smallest one, if it varies.
    estimate : array of shape (N,)
        The functionals at the point estimate.
    lower, upper : arrays of shape (N,)
        Outer bounds: every member of the region lies between them. Infinite where nothing finite is
        true or can be certified; NaN where no value agrees with the data.
    inner_lower, inner_upper : arrays of shape (N,), or None
        Values that members of the region attain, with ``inner=True``. The ends of the region lie
        between these and the outer bounds.
    witnesses : array of shape (2, N, d), or None
        The members that attain them, as coefficients; for an infinite one, where its line begins.
    status : Status
        What kind of answer this is; ``status.value`` says it in a sentence.
    reason : str
        Why bounds are infinite, and the remedies. For finite bounds, any caveat; often empty.
    norm_bound, model_error : float or None
        What was assumed.
    caveat : str
        Not empty if the region carries no guarantee.
    explanation : Explanation
        The facts and remedies behind ``reason``, as values.
    simultaneous : bool
        Whether all bounds hold at once; if not, each interval has its level by itself.
    method : str
        How they were found: "joint region", "balanced cells", or for single numbers "cells",
        "pairs", "halves", "palmrt" and "t".
    attained : array of shape (N,)
        The level that was attained for each functional; 1 where nothing is known.
    sets : tuple of N IntervalUnion, or None
        The values that are not rejected, if they need not form an interval: for the coefficient of
        an endogenous column. Then ``lower`` and ``upper`` are the ends of their hull.
    """

    level: float
    estimate: Array
    lower: Array
    upper: Array
    inner_lower: Array | None = field(repr=False)
    inner_upper: Array | None = field(repr=False)
    witnesses: Array | None = field(repr=False)
    status: Status
    reason: str
    norm_bound: float | None = None
    caveat: str = ""
    explanation: Explanation = field(default=Explanation(), repr=False)
    simultaneous: bool = True
    method: str = "joint region"
    attained: Array | None = field(default=None, repr=False)
    model_error: float | None = None
    sets: tuple[IntervalUnion, ...] | None = None

    def __post_init__(self) -> None:
        if self.status is Status.EMPTY:  # there is nothing to bound
            for name in ("lower", "upper"):
                object.__setattr__(self, name, np.full(len(self), np.nan))

    def __len__(self) -> int:
        return len(self.estimate)

    @property
    def description(self) -> str:
        """What kind of answer this is, in a clause: the status, and the norm bound if it counts."""
        if self.status is Status.SOME_EMPTY:
            return f"{self.where_empty} {NOTHING_AGREES}"
        return self.status.given(self.norm_bound)

    @property
    def where_empty(self) -> str:
        """For how many functionals nothing agrees with the data, in words."""
        return f"for {int(np.isnan(self.lower).sum())} of {count(len(self), 'functional')}"

    def _columns(self) -> dict[str, Any]:
        names = ("estimate", "lower", "upper", "inner_lower", "inner_upper")
        used = names if self.inner_lower is not None else names[:3]
        columns: dict[str, Any] = {name: getattr(self, name) for name in used}
        if len(self._levels) > 1:
            columns["level"] = self.attained
        if self.sets is not None:
            columns["set"] = list(map(str, self.sets))
        return columns

    def _printed(self) -> dict[str, Any]:
        """Return the columns that are printed: sets of several parts in place of their hull."""
        columns = self._columns()
        left_out = ("lower", "upper") if several(self.sets) else ("set",)
        return {name: column for name, column in columns.items() if name not in left_out}

    @property
    def _levels(self) -> list[float]:
        """The different levels that were attained."""
        return [] if self.attained is None else np.unique(self.attained).tolist()

    def _text(self, what: str, heading: Any, labels: Iterable[Any], shown: int) -> str:
        """Return the sentence, the table under it, and the caveat."""
        lines = table([(str(heading), labels), *self._printed().items()], shown)
        return "\n".join([self._sentence(what), *lines, *([self.caveat] if self.caveat else [])])

    def _sentence(self, what: str) -> str:
        finite = int(np.isfinite(self.lower).sum() + np.isfinite(self.upper).sum())
        least = " at least" if len(self._levels) > 1 else ""
        text = f"{what} at{least} level {level_in_print(self.level)}"
        assumed = {"norm": self.norm_bound, "model error": self.model_error}
        for name, most in assumed.items():
            if most is not None:
                text += f", given a {name} of at most {most:.6g} (your assumption)"
        together = "all at once" if self.simultaneous else "one at a time"
        text += f", {together} ({self.method}): {self.description}"
        if self.status not in _NO_COUNT and finite < 2 * len(self):
            text += f" ({finite} of {2 * len(self)} bounds are finite)"
        return text + "." + (f" {self.reason}" if self.reason else "")


@final
@dataclass(frozen=True, eq=False)
class Interval(Bounds):
    """Bounds of coefficients, or of other linear functionals of them.

    Its attributes are those of `Bounds` and

    Attributes
    ----------
    names : tuple of N str
        The coefficients, or g0, g1, ... for functionals given by numbers.

    Examples
    --------
    >>> found = region.interval(level=0.9)
    >>> found.names, found.where_empty, found.to_frame().shape
    (('intercept', 'x0', 'x1'), 'for 0 of 3 functionals', (3, 4))
    >>> found.description
    'every interval is finite and has its level by itself'
    """

    names: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each functional, indexed by name."""
        return as_frame(self._columns(), index=list(self.names))

    def __str__(self) -> str:
        what = f"Interval of {count(len(self), 'functional')}"
        return self._text(what, "", self.names, _NAMES_SHOWN)


@final
@dataclass(frozen=True, eq=False)
class Band(Bounds):
    """Bounds of the function at inputs.

    Its attributes are those of `Bounds` and

    Attributes
    ----------
    X : object
        The N inputs, as passed.
    target : str
        ``"representation"``: the band covers the model with the true coefficients, which agrees
        with the regression function at the inputs of the data and need not elsewhere.
        ``"function"``: it covers the regression function, under what is assumed of it.

    Examples
    --------
    >>> band = region.band(X[:2], level=0.9)
    >>> band.target, band.where_empty, band.to_frame().shape
    ('representation', 'at 0 of 2 inputs', (2, 3))
    >>> band.description
    'every bound is finite and an honest outer bound of the region'
    """

    X: Any = None
    target: str = "representation"

    @property
    def where_empty(self) -> str:
        """At how many inputs nothing agrees with the data, in words."""
        return f"at {int(np.isnan(self.lower).sum())} of {count(len(self), 'input')}"

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each input.

        The columns of a DataFrame, or a single feature, come first; the index is kept.
        """
        inputs = apart(_input_columns(self.X), self._columns())
        index = self.X.index if hasattr(self.X, "iloc") else None
        return as_frame({**inputs, **self._columns()}, index=index)

    def __str__(self) -> str:
        covered = "the regression function" if self.target == "function" else "the model"
        inputs = _input_columns(self.X)
        rows = self.X.index if hasattr(self.X, "iloc") else range(len(self))
        heading, labels = next(iter(inputs.items())) if len(inputs) == 1 else ("", rows)
        what = f"Band of {covered} at {count(len(self), 'input')}"
        return self._text(what, heading, labels, SHOWN)


def _input_columns(X: Any) -> dict[Any, Any]:
    """Return the columns of a DataFrame, or the one feature of an array, by name."""
    if hasattr(X, "columns"):
        if hasattr(X, "iloc"):
            return {name: X.iloc[:, j].array for j, name in enumerate(X.columns)}
        return {name: X[:, j].to_numpy() for j, name in enumerate(X.columns)}
    values = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    return {"x0": values[:, 0]} if values.ndim == 2 and values.shape[1] == 1 else {}


def count(number: int, what: str) -> str:
    """Return a number of things."""
    return f"{number} {what}" + ("" if number == 1 else "s")


def _as_text(value: Any) -> str:
    return f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)  # not -0


def table(columns: Sequence[tuple[str, Iterable[Any]]], shown: int = SHOWN) -> list[str]:
    """Return the lines of a table, the first column to the left; what is long is cut short."""
    cells = [[name, *map(_as_text, values)] for name, values in columns]
    rows = [list(row) for row in zip(*cells, strict=True)]
    if len(rows) > shown + 1:
        half = shown // 2
        rows = [*rows[: half + 1], ["..."] * len(columns), *rows[-half:]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])])
        for first, *rest in rows
    ]


@final
@dataclass(frozen=True, eq=False)
class NormBounds:
    """The band at one level for several norm bounds, of `Region.norm_bounds_table`.

    Attributes
    ----------
    level : float
    norm_bound : array of shape (K,)
        The bounds, in increasing order.
    median_half_width, largest_half_width : arrays of shape (K,)
        Over the inputs; NaN if the region has no member of that norm.
    refuted : boolean array of shape (K,)
        Whether the bound is below `norm_lower_bound`.
    norm_lower_bound : float
        Every member of the region has at least this norm.
    bands : tuple of Band
        One for each norm bound.

    Examples
    --------
    >>> X, y, f = ua.datasets.sine(n=30, random_state=0)
    >>> kernel = ua.confidence_region(KernelRidge(kernel="rbf", gamma=0.5), X, y, random_state=0)
    >>> found = kernel.norm_bounds_table(X[:5], [1, 20, 40])
    >>> found.refuted.tolist(), bool((np.diff(found.median_half_width[1:]) > 0).all())
    ([True, False, False], True)
    >>> found.to_frame().columns.tolist()
    ['median_half_width', 'largest_half_width', 'refuted']
    """

    level: float
    norm_bound: Array
    median_half_width: Array
    largest_half_width: Array
    refuted: BoolArray
    norm_lower_bound: float
    bands: tuple[Band, ...]

    def to_frame(self) -> Any:
        """Return a DataFrame indexed by the norm bound."""
        names = "median_half_width", "largest_half_width", "refuted"
        frame = as_frame({name: getattr(self, name) for name in names}, index=self.norm_bound)
        frame.index.name = "norm_bound"
        return frame

    def __str__(self) -> str:
        lines = [f"{'norm bound':>12}{'median half-width':>20}{'largest':>12}"]
        widths = zip(self.median_half_width, self.largest_half_width, strict=True)
        for bound, (median, largest) in zip(self.norm_bound, widths, strict=True):
            note = "   refuted" if bound < self.norm_lower_bound else ""
            lines.append(f"{bound:>12.5g}{median:>20.4g}{largest:>12.4g}{note}")
        note = (
            f"At level {self.level:.12g} the data refute every norm bound below "
            f"{self.norm_lower_bound:.5g}. They cannot confirm one. Choose it before looking at "
            "the data, and report it with the band."
        )
        return "\n".join([*lines, fill(note, 100)])


def over_norm_bounds(bands: list[Band], norm_bounds: list[float], lowest: float) -> NormBounds:
    """Collect the widths of bands; the data refute norm bounds below the lowest."""
    half = [(band.upper - band.lower) / 2 for band in bands]
    return NormBounds(
        level=float(bands[0].level),
        norm_bound=np.array(norm_bounds),
        median_half_width=np.array([float(np.median(one)) for one in half]),
        largest_half_width=np.array([float(np.max(one)) for one in half]),
        refuted=np.array(norm_bounds) < lowest,
        norm_lower_bound=lowest,
        bands=tuple(bands),
    )


@final
@dataclass(frozen=True, eq=False)
class Boundedness:
    """Whether a region is bounded, with a certificate where there is one.

    Attributes
    ----------
    level : float
    verdict : {"bounded", "unbounded", "undetermined"}
    reason : str
        The certificate in words, and what to do if the region is not bounded.
    direction : array of shape (d,), or None
        Coefficients may move along it for ever, if unbounded. None if none is resolved.
    explanation : Explanation
        The facts and remedies behind ``reason``, as values.

    Examples
    --------
    >>> region.bounded(level=0.9).verdict
    'bounded'
    """

    level: float
    verdict: str
    reason: str
    direction: Array | None = field(default=None, repr=False)
    explanation: Explanation = field(default=Explanation(), repr=False)

    def __bool__(self) -> bool:
        """Whether the region is certainly bounded."""
        return self.verdict == "bounded"

    def __str__(self) -> str:
        return f"The region of level {self.level:.12g} is {self.verdict}: {self.reason}"


@final
@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """An outer ellipsoid, {a : (a - center)ᵀ matrix (a - center) <= squared_radius}.

    Attributes
    ----------
    center : array of shape (d,)
        The estimate.
    matrix : array of shape (d, d)
        H = ΦᵀWΦ/n + λP.
    squared_radius : float
        The q-th largest of max ‖H^{1/2}(a - center)‖² over the sets; an outer bound, infinite if
        at least q of them are cylinders.
    level : float
    status : Status
    reason : str
    root_inverse : array of shape (d, k)
        a - center = root_inverse v with ‖v‖² <= squared_radius, in the k directions that change
        fitted values.
    explanation : Explanation
        The facts and remedies behind ``reason``, as values.

    Examples
    --------
    >>> ellipsoid = region.ellipsoid(level=0.9)
    >>> ellipsoid.contains(region.estimate), ellipsoid.axes().shape, ellipsoid.volume() > 0
    (True, (3, 3), True)
    >>> low, high = ellipsoid.project([0, 1, 0])
    >>> bool(low < region.estimate[1] < high)
    True
    """

    center: Array
    matrix: Array = field(repr=False)
    squared_radius: float
    level: float
    status: Status
    reason: str
    root_inverse: Array = field(repr=False)
    explanation: Explanation = field(default=Explanation(), repr=False)

    def contains(self, candidates: ArrayLike) -> Any:
        """Whether candidates, coefficients (d,) or (N, d), lie inside."""
        points, single = as_points(candidates, "the candidate", len(self.center))
        a = points - self.center
        value = np.einsum("nj,jk,nk->n", a, self.matrix, a)
        inside: BoolArray = np.asarray(value <= self.squared_radius * (1 + 1e-12))
        return bool(inside[0]) if single else inside

    def axes(self) -> Array:
        """Return the principal half-axes as rows, longest first; infinite ones for a cylinder."""
        values, vectors = np.linalg.eigh(self.matrix)
        tiny = len(values) * EPS * values[-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            length = np.where(
                values > tiny, np.sqrt(max(self.squared_radius, 0.0) / np.abs(values)), np.inf
            )
            axes = vectors.T * length[:, None]
        return np.where(vectors.T == 0, 0.0, axes)

    def volume(self) -> float:
        """Return the volume in the space of coefficients."""
        d = len(self.center)
        if self.squared_radius <= 0:
            return 0.0
        if not np.isfinite(self.squared_radius) or self.root_inverse.shape[1] < d:
            return float("inf")
        log_unit = 0.5 * d * np.log(np.pi) - gammaln(0.5 * d + 1)
        _, logdet = np.linalg.slogdet(self.matrix)
        return float(np.exp(log_unit + 0.5 * (d * np.log(self.squared_radius) - logdet)))

    def project(self, g: ArrayLike) -> tuple[Any, Any]:
        """Return the smallest and largest value of gᵀa over the ellipsoid, for g (d,) or (N, d)."""
        rows, single = as_points(g, "g", len(self.center))
        low, high = self._extremes(rows)
        return (float(low[0]), float(high[0])) if single else (low, high)

    def _extremes(self, g: Array) -> tuple[Array, Array]:
        if self.squared_radius < 0:
            return np.full(len(g), np.inf), np.full(len(g), -np.inf)
        # Row by row: a functional has one projection, asked alone or among others.
        middle = np.einsum("nd,d->n", g, self.center)
        turned = np.einsum("nd,dk->nk", g, self.root_inverse)
        rest = g - turned @ (self.root_inverse.T @ self.matrix)
        unit = np.sqrt(np.diag(self.matrix))
        unit = np.where(unit > 0, unit, unit.max())
        hidden = np.abs(rest / unit).max(axis=1) > SEEN * np.abs(g / unit).max(axis=1)
        length = np.linalg.norm(turned, axis=1)
        half = np.zeros(len(g))  # of functionals that are zero, also where the radius is infinite
        half[length > 0] = np.sqrt(self.squared_radius) * length[length > 0]
        half[hidden] = np.inf
        return middle - half, middle + half

    def __str__(self) -> str:
        text = (
            f"Ellipsoid at level {self.level:.12g}, squared radius {self.squared_radius:.6g}: "
            f"{self.status.value}."
        )
        return text + (f" {self.reason}" if self.reason else "")
