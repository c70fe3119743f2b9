"""A regression problem in rationals, for the package in floats and for the oracle as it is."""

import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from adversarial.arithmetic import Matrix, Vector, dot, rationals
from adversarial.exact import ExactRegion, rotations, transformations
from adversarial.rounding import Rounding

MODELS = (
    "least squares",
    "ridge",
    "linear kernel",
    "polynomial kernel",
    "precomputed kernel",
    "gaussian kernel",
    "LS-SVC",
    "LS-SVC, polynomial kernel",
)
KERNELS = tuple(name for name in MODELS if "kernel" in name)
NOISES = (
    "symmetric",
    "block symmetric",
    "exchangeable",
    "exchangeable within",
    "symmetric-exchangeable",
)
_BITS = 240  # of exponentials


@dataclass(frozen=True, eq=False)
class Problem:
    """One data set, one model and one assumption on the noise.

    X holds inputs, or the kernel matrix if that is precomputed. Numbers are rationals; the package
    receives the nearest floats.
    """

    model: str
    X: Matrix
    y: Vector
    w: Vector | None = None
    alpha: Fraction = Fraction(1)
    intercept: bool = True
    degree: int = 2
    gamma: Fraction = Fraction(1)
    coef0: Fraction = Fraction(1)
    noise: str = "symmetric"
    blocks: tuple[int, ...] = ()
    block_rows: int = 2
    m: int = 10
    seed: int = 0
    ties: str = "random"

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def kernel(self) -> bool:
        return self.model in KERNELS

    @property
    def bias(self) -> bool:
        """Whether the first coefficient is an intercept."""
        linear = self.model in ("least squares", "ridge", "LS-SVC", "LS-SVC, polynomial kernel")
        return linear and self.intercept

    @property
    def exact_floats(self) -> bool:
        """Whether the package receives the very numbers of the oracle."""
        numbers = [*self.y, *(self.w or []), *(x for row in self.X for x in row)]
        return all(is_float(x) for x in [*numbers, self.alpha])

    def rounded(self) -> "Problem":
        """The problem of the numbers that the package receives."""
        return replace(
            self,
            X=[nearest(row) for row in self.X],
            y=nearest(self.y),
            w=None if self.w is None else nearest(self.w),
            alpha=Fraction(float(self.alpha)),
        )

    # --- for the package -------------------------------------------------------------------------

    def estimator(self) -> Any:
        """The model, with the hyper-parameters of the problem."""
        alpha = float(self.alpha)
        poly = {
            "kernel": "poly",
            "degree": self.degree,
            "gamma": float(self.gamma),
            "coef0": float(self.coef0),
        }
        match self.model:
            case "least squares":
                return LinearRegression(fit_intercept=self.intercept)
            case "ridge":
                return Ridge(alpha, fit_intercept=self.intercept)
            case "linear kernel":
                return KernelRidge(alpha=alpha, kernel="linear")
            case "polynomial kernel":
                return KernelRidge(alpha=alpha, **poly)
            case "gaussian kernel":
                return KernelRidge(alpha=alpha, kernel="rbf", gamma=float(self.gamma))
            case "precomputed kernel":
                return KernelRidge(alpha=alpha, kernel="precomputed")
            case "LS-SVC":
                return ua.LSSVC(1 / (2 * alpha), fit_intercept=self.intercept)
            case "LS-SVC, polynomial kernel":
                return ua.LSSVC(1 / (2 * alpha), fit_intercept=self.intercept, **poly)
        raise ValueError(self.model)

    def noise_class(self) -> Any:
        """The assumption on the noise."""
        if self.noise == "block symmetric":
            return ua.noise.BlockSymmetric(list(self.blocks))
        if self.noise == "exchangeable within":
            return ua.noise.ExchangeableWithin(self.block_rows)
        return self.noise

    @property
    def inputs(self) -> np.ndarray:
        """X in floats."""
        return np.array([[float(x) for x in row] for row in self.X])

    def region(self) -> ua.Region:
        """The region of the package."""
        weight = None if self.w is None else np.array([float(x) for x in self.w])
        with warnings.catch_warnings():
            # The published region of LS-SVC says that it carries no guarantee; its ranks are exact.
            warnings.filterwarnings("ignore", "The published region of LS-SVC", UserWarning)
            return ua.confidence_region(
                self.estimator(),
                self.inputs,
                np.array([float(x) for x in self.y]),
                noise=self.noise_class(),
                m=self.m,
                sample_weight=weight,
                ties=self.ties,
                random_state=self.seed,
            )

    # --- for the oracle --------------------------------------------------------------------------

    def kernel_between(self, A: Matrix, B: Matrix) -> Matrix:
        """The kernel matrix in rationals; exponentials have 240 bits."""

        def one(u: Vector, v: Vector) -> Fraction:
            if self.model == "linear kernel":
                return dot(u, v)
            if self.model == "gaussian kernel":
                distance = sum((a - b) ** 2 for a, b in zip(u, v, strict=True))
                return exponential(-self.gamma * distance)
            return (self.gamma * dot(u, v) + self.coef0) ** self.degree

        return [[one(u, v) for v in B] for u in A]

    @property
    def gram(self) -> Matrix:
        """K."""
        return self.X if self.model == "precomputed kernel" else self.kernel_between(self.X, self.X)

    def exact(self, region: ua.Region) -> ExactRegion:
        """The same region in exact arithmetic."""
        ones = [[Fraction(1)] * self.bias for _ in range(self.n)]
        core = self.gram if self.kernel else self.X
        Phi = [[*one, *row] for one, row in zip(ones, core, strict=True)]
        d, first = len(Phi[0]), int(self.bias)
        P = [[Fraction(0)] * d for _ in range(d)]
        for i in range(first, d):
            for j in range(first, d):
                P[i][j] = core[i - first][j - first] if self.kernel else Fraction(i == j)
        alpha = Fraction(0) if self.model == "least squares" else self.alpha
        w = self.w or [Fraction(1)] * self.n
        dense = self.noise == "spherical"
        moves = rotations(region) if dense else transformations(region)
        return ExactRegion(Phi, self.y, w, alpha, P, moves, region.tie_order.tolist(), dense)

    def rounding(self, exact: ExactRegion) -> Rounding:
        """How rounding of the numbers changes the order of statistics."""
        errors = self._errors_of_kernel() if self.kernel else [[*map(abs, row)] for row in self.X]
        return Rounding(exact, errors, self.bias, self.kernel, self.w is not None)

    def _errors_of_kernel(self) -> Matrix:
        """What kernel values change by if inputs and parameters change by a unit of rounding."""

        def one(u: Vector, v: Vector) -> Fraction:
            terms = sum(abs(a * b) for a, b in zip(u, v, strict=True))
            if self.model == "linear kernel":
                return 2 * terms
            if self.model == "gaussian kernel":
                moved = sum(
                    abs(a - b) * (2 * abs(a) + 2 * abs(b) + abs(a - b))
                    for a, b in zip(u, v, strict=True)
                )
                return self.gamma * moved * self.kernel_between([u], [v])[0][0]
            whole = self.gamma * terms + abs(self.coef0)
            changed = 3 * self.gamma * terms + abs(self.coef0)
            return self.degree * changed * whole ** (self.degree - 1)

        if self.model == "precomputed kernel":
            return [[*map(abs, row)] for row in self.X]
        return [[one(u, v) for v in self.X] for u in self.X]

    def __repr__(self) -> str:
        shown = {
            "model": self.model,
            "X": [[show(x) for x in row] for row in self.X],
            "y": [show(x) for x in self.y],
            "w": self.w and [show(x) for x in self.w],
            "alpha": show(self.alpha),
            "intercept": self.intercept,
            "degree": self.degree,
            "gamma": show(self.gamma),
            "coef0": show(self.coef0),
            "noise": self.noise,
            "blocks": self.blocks,
            "block_rows": self.block_rows,
            "m": self.m,
            "seed": self.seed,
            "ties": self.ties,
        }
        return "Problem.of(" + ", ".join(f"{k}={v!r}" for k, v in shown.items()) + ")"

    @classmethod
    def of(cls, **shown: Any) -> "Problem":
        """The problem that a report shows; strings are decimals or fractions, floats themselves."""
        for name in ("y", "w"):
            if shown.get(name) is not None:
                shown[name] = rationals(shown[name])
        for name in ("alpha", "gamma", "coef0"):
            if name in shown:
                shown[name] = rationals([shown[name]])[0]
        shown["X"] = [rationals(row) for row in shown["X"]]
        return cls(**shown)


def show(x: Fraction) -> float | str:
    """A rational as a float if it is one, else as a string that `Fraction` reads."""
    return float(x) if is_float(x) else str(x)


def is_float(x: Fraction) -> bool:
    """Whether a double represents the rational."""
    return Fraction(float(x)) == x


def nearest(values: Vector) -> Vector:
    """The nearest doubles, as rationals."""
    return [Fraction(float(x)) for x in values]


def exponential(x: Fraction) -> Fraction:
    """exp(x) for x <= 0, with an error below 2^-240; exp(0) is 1."""
    with mpmath.workprec(_BITS + 10):
        value = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
        return Fraction(int(mpmath.nint(mpmath.ldexp(value, _BITS))), 1 << _BITS)
