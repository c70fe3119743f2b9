"""What a region says of numbers: frozen results that keep the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from unassuming._frames import apart, as_frame
from unassuming._typing import Array, BoolArray
from unassuming.inputs import as_points

T = TypeVar("T")

_SHOWN = 10
"""Rows of a result that are printed."""


class Status(Enum):
    """What kind of answer was given; the value is the sentence a person reads.

    Examples
    --------
    >>> print(Status.EMPTY.value)
    the region of this level has no member at all
    """

    CERTIFIED = "every bound is finite and an honest outer bound of the region"
    UNBOUNDED = "the region itself is unbounded: no finite bound is true in some directions"
    NOT_CERTIFIED = (
        "too many of the sets that make up the region are cylinders: no finite bound can be "
        "certified, although the region itself may be bounded"
    )
    UNDETERMINED = "some functionals are not determined by the fitted values: they take every value"
    NO_OUTER_BOUND = "no outer bound known: nothing finite is certified for this model"
    TRIVIAL = "nothing is known beyond [-1, 1], where E[y|x] lies anyway"
    EMPTY = "the region of this level has no member at all"


class Levels(dict[float, T]):
    """Answers at several levels: a dictionary whose print is that of its results, one by one.

    Examples
    --------
    >>> Levels({0.5: True, 0.9: False})[0.9]
    False
    """

    def __str__(self) -> str:
        if all(is_dataclass(answer) for answer in self.values()):
            return "\n\n".join(map(str, self.values()))
        return super().__repr__()

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds of linear functionals over a region, with their evidence.

    What its kinds, `Interval` and `Band`, share; the attributes are told there.
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

    def __len__(self) -> int:
        return len(self.estimate)

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "estimate": self.estimate,
            "lower": self.lower,
            "upper": self.upper,
        }
        if self.inner_lower is not None and self.inner_upper is not None:
            columns |= {"inner_lower": self.inner_lower, "inner_upper": self.inner_upper}
        return columns

    def _frame(self, columns: dict[Any, Any], index: Any) -> Any:
        """Return a pandas DataFrame of these columns, then those of the bounds."""
        return as_frame({**columns, **self._columns()}, index=index)

    def _text(self, what: str, heading: Any, labels: Iterable[Any]) -> str:
        """Return the sentence, the table under it, and what has to be said besides."""
        lines = _table([(str(heading), labels), *self._columns().items()])
        return "\n".join([self._sentence(what), *lines, *([self.caveat] if self.caveat else [])])

    def _sentence(self, what: str) -> str:
        finite = int(np.isfinite(self.lower).sum() + np.isfinite(self.upper).sum())
        text = f"{what} at level {self.level:.12g}"
        if self.norm_bound is not None:
            text += f", given a norm of at most {self.norm_bound:.6g} (your assumption)"
        text += f": {self.status.value}"
        if self.status not in (Status.CERTIFIED, Status.TRIVIAL):
            text += f" ({finite} of {2 * len(self)} bounds are finite)"
        return text + "." + (f" {self.reason}" if self.reason else "")


@dataclass(frozen=True, eq=False)
class Interval(Bounds):
    """Simultaneous bounds of coefficients, or of other linear functionals of them.

    Attributes
    ----------
    names : tuple of N str
        The coefficients, or g0, g1, ... for functionals of your own.
    level : float
        The level used.
    estimate : array of shape (N,)
        The functionals at the point estimate.
    lower, upper : arrays of shape (N,)
        Outer bounds: every member of the region lies between them. Infinite where nothing finite
        is true or can be certified; ``lower > upper`` if the region has no member.
    inner_lower, inner_upper : arrays of shape (N,), or None
        Values that members of the region attain, with ``inner=True``. The ends of the region lie
        between these and the outer bounds. Infinite only where members along an exact line without
        end exceed every number; ``reason`` says so.
    witnesses : array of shape (2, N, d), or None
        The members that attain them, as coefficients: ``witnesses[0]`` those of `inner_lower`,
        ``witnesses[1]`` those of `inner_upper`; for an infinite one, where its line begins.
    status : Status
        What kind of answer this is; ``status.value`` says it in a sentence.
    reason : str
        Why bounds are infinite, and what to do; what else there is to know of finite ones, as that
        they follow from the norm bound alone; empty if there is nothing to say.
    norm_bound : float or None
        The assumption on the norm that the bounds rest on, if there was one.
    caveat : str
        Says so if the region carries no guarantee; else empty.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
    >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    >>> interval = region.interval(level=0.9)
    >>> interval.names, bool((interval.lower < coefficients).all()), interval.to_frame().shape
    (('intercept', 'x0'), True, (2, 4))
    """

    names: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each functional."""
        return self._frame({"name": list(self.names)}, None)

    def __str__(self) -> str:
        return self._text(f"Interval of {_count(len(self), 'functional')}", "", self.names)


@dataclass(frozen=True, eq=False)
class Band(Bounds):
    """A simultaneous band: bounds of the function at every input, from one joint region.

    Attributes
    ----------
    X : object
        The N inputs, as passed.
    target : str
        ``"representation"``: the band covers the ideal representation, which agrees with the
        noise-free function at the training inputs and need not elsewhere. ``"function"``: it covers
        the function itself, given that its norm is at most the norm bound.
    level : float
        The level used.
    estimate : array of shape (N,)
        The prediction of the point estimate.
    lower, upper : arrays of shape (N,)
        Outer bounds: every member of the region lies between them, at all inputs at once. Infinite
        where nothing finite is true or can be certified; ``lower > upper`` if the region has no
        member.
    inner_lower, inner_upper : arrays of shape (N,), or None
        Values that members of the region attain, with ``inner=True``. The ends of the region lie
        between these and the outer bounds. Infinite only where members along an exact line without
        end exceed every number; ``reason`` says so.
    witnesses : array of shape (2, N, d), or None
        The members that attain them, as coefficients: ``witnesses[0]`` those of `inner_lower`,
        ``witnesses[1]`` those of `inner_upper`; for an infinite one, where its line begins.
    status : Status
        What kind of answer this is; ``status.value`` says it in a sentence.
    reason : str
        Why bounds are infinite, and what to do; what else there is to know of finite ones, as that
        they follow from the norm bound alone; empty if there is nothing to say.
    norm_bound : float or None
        The assumption on the norm that the bounds rest on, if there was one.
    caveat : str
        Says so if the region carries no guarantee; else empty.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
    >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    >>> band = region.band([[0.0], [1.0]], level=0.9)
    >>> len(band), band.target, band.to_frame().shape
    (2, 'representation', (2, 4))
    """

    X: Any = None
    target: str = "representation"

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each input.

        The columns of a DataFrame, or a single feature, come first; the index is kept.
        """
        inputs = apart(_input_columns(self.X), self._columns())
        return self._frame(inputs, self.X.index if hasattr(self.X, "iloc") else None)

    def __str__(self) -> str:
        covered = "the function itself" if self.target == "function" else "the ideal representation"
        inputs = _input_columns(self.X)
        rows = self.X.index if hasattr(self.X, "iloc") else range(len(self))
        heading, labels = next(iter(inputs.items())) if len(inputs) == 1 else ("", rows)
        return self._text(f"Band of {covered} at {_count(len(self), 'input')}", heading, labels)


def _input_columns(X: Any) -> dict[Any, Any]:
    """Return the columns of a DataFrame, or the one feature of an array, by name."""
    if hasattr(X, "columns"):
        if hasattr(X, "iloc"):
            return {name: X.iloc[:, j].array for j, name in enumerate(X.columns)}
        return {name: X[:, j].to_numpy() for j, name in enumerate(X.columns)}
    values = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    return {"x0": values[:, 0]} if values.ndim == 2 and values.shape[1] == 1 else {}


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _as_text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _table(columns: Sequence[tuple[str, Iterable[Any]]]) -> list[str]:
    """Return the lines of a table, the first column to the left; what is long is cut short."""
    cells = [[name, *map(_as_text, values)] for name, values in columns]
    rows = [list(row) for row in zip(*cells, strict=True)]
    if len(rows) > _SHOWN + 1:
        half = _SHOWN // 2
        rows = [*rows[: half + 1], ["..."] * len(columns), *rows[-half:]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])])
        for first, *rest in rows
    ]


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """An outer ellipsoid of the region: {a : (a - center)ᵀ matrix (a - center) <= radius}.

    Attributes
    ----------
    center : array of shape (d,)
        The estimate.
    matrix : array of shape (d, d)
        H = ΦᵀWΦ/n + λP.
    radius : float
        The q-th largest of max ‖H^{1/2}(a - center)‖² over the sets; an outer bound, infinite if
        at least q of them are cylinders.
    level : float
    status : Status
    reason : str
    root_inverse : array of shape (d, k)
        a - center = root_inverse v with ‖v‖² <= radius, in the k directions that change fitted
        values.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
    >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    >>> ellipsoid = region.ellipsoid(level=0.9)
    >>> ellipsoid.axes().shape, ellipsoid.volume() > 0, len(ellipsoid.project([0.0, 1.0]))
    ((2, 2), True, 2)
    >>> ellipsoid.contains(region.estimate)
    True
    """

    center: Array
    matrix: Array = field(repr=False)
    radius: float
    level: float
    status: Status
    reason: str
    root_inverse: Array = field(repr=False)

    def contains(self, candidates: ArrayLike) -> Any:
        """Whether coefficient vectors lie inside, (d,) or (N, d).

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d)
        """
        points, single = as_points(candidates, "the candidate", len(self.center))
        a = points - self.center
        value = np.einsum("nj,jk,nk->n", a, self.matrix, a)
        inside: BoolArray = np.asarray(value <= self.radius * (1 + 1e-12))
        return bool(inside[0]) if single else inside

    def axes(self) -> Array:
        """Return the principal half-axes as rows, longest first; infinite ones for a cylinder."""
        values, vectors = np.linalg.eigh(self.matrix)
        tiny = len(values) * np.finfo(np.float64).eps * values[-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            length = np.where(
                values > tiny, np.sqrt(max(self.radius, 0.0) / np.abs(values)), np.inf
            )
            axes = vectors.T * length[:, None]
        return np.where(vectors.T == 0, 0.0, axes)

    def volume(self) -> float:
        """Return the volume in the space of coefficients."""
        from scipy.special import gammaln

        d = len(self.center)
        if self.radius < 0:
            return 0.0
        if not np.isfinite(self.radius) or self.root_inverse.shape[1] < d:
            return float("inf")
        if self.radius <= 0:
            return 0.0
        log_unit = 0.5 * d * np.log(np.pi) - gammaln(0.5 * d + 1)
        _, logdet = np.linalg.slogdet(self.matrix)
        return float(np.exp(log_unit + 0.5 * (d * np.log(self.radius) - logdet)))

    def project(self, g: ArrayLike) -> tuple[Any, Any]:
        """Return the smallest and largest value of gᵀa over the ellipsoid, for g (d,) or (N, d).

        Parameters
        ----------
        g : array of shape (d,) or (N, d)
        """
        rows, single = as_points(g, "g", len(self.center))
        low, high = self._extremes(rows)
        return (float(low[0]), float(high[0])) if single else (low, high)

    def _extremes(self, g: Array) -> tuple[Array, Array]:
        if self.radius < 0:
            return np.full(len(g), np.inf), np.full(len(g), -np.inf)
        middle, turned = g @ self.center, g @ self.root_inverse
        rest = g - turned @ (self.root_inverse.T @ self.matrix)
        unit = np.sqrt(np.diag(self.matrix))
        unit = np.where(unit > 0, unit, unit.max())
        length = np.linalg.norm(turned, axis=1)
        half = np.sqrt(self.radius) * np.where(length > 0, length, 1.0)
        half = np.where(length > 0, half, 0.0)
        hidden = np.linalg.norm(rest / unit, axis=1) > 1e-9 * np.linalg.norm(g / unit, axis=1)
        return (
            np.where(hidden, -np.inf, middle - half),
            np.where(hidden, np.inf, middle + half),
        )

    def __str__(self) -> str:
        text = (
            f"Ellipsoid at level {self.level:.12g}, radius {self.radius:.6g}: {self.status.value}."
        )
        return text + (f" {self.reason}" if self.reason else "")


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
        Coefficients may move along it for ever, if unbounded. For a nearly singular kernel its
        entries are huge, and far out rounding alone can take the coefficients out of the region:
        test such a move as a function, with its values at the inputs.

    Examples
    --------
    >>> answer = Boundedness(0.9, "unbounded", "the kernel has full rank.")
    >>> bool(answer), str(answer)
    (False, 'The region of level 0.9 is unbounded: the kernel has full rank.')
    """

    level: float
    verdict: str
    reason: str
    direction: Array | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        """Whether the region is certainly bounded."""
        return self.verdict == "bounded"

    def __str__(self) -> str:
        return f"The region of level {self.level:.12g} is {self.verdict}: {self.reason}"
