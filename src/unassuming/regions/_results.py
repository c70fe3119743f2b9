"""What a region says of numbers: frozen results that keep the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unassuming._errors import complaint
from unassuming._typing import Array, BoolArray


class Status(Enum):
    """What kind of answer was given; the value is the sentence a person reads."""

    CERTIFIED = "every bound is finite and an honest outer bound of the region"
    UNBOUNDED = "the region itself is unbounded: no finite bound is true in some directions"
    NOT_CERTIFIED = (
        "too many of the sets that make up the region are cylinders: no finite bound can be "
        "certified, although the region itself may be bounded"
    )
    UNDETERMINED = "some functionals are not determined by the fitted values: they take every value"
    NO_OUTER_BOUND = "no outer bound known: nothing finite is certified for this model"
    EMPTY = "the region of this level has no member at all"


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds of linear functionals over a region, with their evidence.

    Attributes
    ----------
    level : float
        The level used.
    estimate : array of shape (N,)
        The functionals at the point estimate.
    lower, upper : arrays of shape (N,)
        Outer bounds: every member of the region lies between them. Infinite where nothing finite
        is true or can be certified.
    inner_lower, inner_upper : arrays of shape (N,), or None
        Values attained by members of the region, if asked for.
    witnesses : array of shape (2, N, d), or None
        The members that attain them: first those of inner_lower, then those of inner_upper.
    status : Status
    reason : str
        Why bounds are infinite or far from tight, and what to do; may be empty if they are not.
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

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each functional."""
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "to_frame needs pandas: install it with  pip install pandas"
            ) from error
        return pd.DataFrame(self._columns())

    def _sentence(self, what: str) -> str:
        finite = int(np.isfinite(self.lower).sum() + np.isfinite(self.upper).sum())
        text = f"{what} at level {self.level:.12g}: {self.status.value}"
        if self.status is not Status.CERTIFIED:
            text += f" ({finite} of {2 * len(self)} bounds are finite)"
        return text + "." + (f" {self.reason}" if self.reason else "")


@dataclass(frozen=True, eq=False)
class Interval(Bounds):
    """Simultaneous bounds of coefficients, or of other linear functionals of them."""

    names: tuple[str, ...] = ()

    def _columns(self) -> dict[str, Any]:
        return {"name": list(self.names), **super()._columns()}

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        rows = [
            f"  {name:<{width}}  {e:>12.6g}  [{lo:.6g}, {hi:.6g}]"
            for name, e, lo, hi in zip(
                self.names, self.estimate, self.lower, self.upper, strict=True
            )
        ]
        return "\n".join([self._sentence(f"Interval of {len(self)} functionals"), *rows])


@dataclass(frozen=True, eq=False)
class Band(Bounds):
    """A simultaneous band: bounds of the function at every input, from one joint region.

    Attributes
    ----------
    X : object
        The inputs, as passed.
    target : str
        ``"representation"``: the band covers the ideal representation, which agrees with the
        noise-free function at the training inputs and need not elsewhere. ``"function"``: it covers
        the function itself, given that its norm is at most the norm bound.
    """

    X: Any = None
    target: str = "representation"

    def __str__(self) -> str:
        covered = "the function itself" if self.target == "function" else "the ideal representation"
        return self._sentence(f"Band of {covered} at {len(self)} inputs")


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
    """

    center: Array
    matrix: Array = field(repr=False)
    radius: float
    level: float
    status: Status
    reason: str
    root_inverse: Array = field(repr=False)  # a - center = root_inverse v

    def contains(self, candidates: ArrayLike) -> Any:
        """Whether coefficient vectors lie inside, (d,) or (N, d)."""
        a = np.asarray(candidates, dtype=np.float64) - self.center
        value = np.einsum("...j,jk,...k->...", a, self.matrix, a)
        inside: BoolArray = np.asarray(value <= self.radius * (1 + 1e-12))
        return bool(inside) if inside.ndim == 0 else inside

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

    def project(self, g: ArrayLike) -> tuple[float, float]:
        """Return the smallest and largest value of gᵀa over the ellipsoid."""
        functional = np.asarray(g, dtype=np.float64)
        if functional.shape != self.center.shape:
            raise ValueError(
                complaint(
                    "g",
                    "has the wrong length",
                    f"{len(self.center)} numbers, one for each coefficient",
                    f"shape {functional.shape}",
                    "Pass a linear functional of the coefficients.",
                )
            )
        if self.radius < 0:
            return np.inf, -np.inf
        middle, turned = float(functional @ self.center), functional @ self.root_inverse
        rest = functional - turned @ (self.root_inverse.T @ self.matrix)
        unit = np.sqrt(np.diag(self.matrix))
        unit = np.where(unit > 0, unit, unit.max())
        if np.linalg.norm(rest / unit) > 1e-9 * np.linalg.norm(functional / unit):
            return -np.inf, np.inf
        half = np.sqrt(self.radius) * np.linalg.norm(turned) if turned.any() else 0.0
        return middle - half, middle + half

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
        Coefficients may move along it for ever, if unbounded.
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
