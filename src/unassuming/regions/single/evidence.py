"""What single numbers are computed from, and which options go with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from typing import Any, cast, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._numerics import Factor
from unassuming._typing import Array, IntArray
from unassuming._words import joined
from unassuming.cells import estimates
from unassuming.cells.division import BALANCED
from unassuming.cells.estimates import Coordinates, KeptCells, Sample
from unassuming.inputs import SingleOptions, check_single
from unassuming.noise import is_spherical, sign_units_of, swap_blocks_of
from unassuming.objectives import Design, DesignedObjective
from unassuming.regions.problem import Problem

IN_MEMORY = "build the region in memory with ua.confidence_region(estimator, X, y)."
_NEED = "intervals and tests of one number at a time need"
_AT_ONCE = "Use region.interval(simultaneous=True) or region.band(X), which hold for all at once."
_WITHOUT = "Use unassuming region without --pointwise: its bounds hold at once."
_LOGISTIC = (
    "Use region.test(coefficients) for a hypothesis about all of them, or RidgeClassifier(), whose "
    "interval(simultaneous=True) is finite with few columns if a linear E[y|x] fits."
)
_LABELS = f"{_NEED} a regression: labels are not a linear function of the coefficients plus noise."
_QUANTILES = f"{_NEED} a model of the mean: for regression quantiles only joint regions are known."
_KERNEL = (
    f"{_NEED} a model with features: a kernel model has as many coefficients as rows, and no group "
    "of rows determines a value."
)


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """The rows of a region, or cells of a stream, and what the noise class declares about them."""

    # Of a stream, Phi and y are fewer rows with the same inner products, and `kept` its cells.
    # `signs` (n,) is the unit of each row that may change its sign, `swaps` (n,) the block
    # within which rows may be swapped; None if the noise does not allow it. Rows may be coordinates
    # in another basis; `turn` makes such a column of one with a number for each row of the data.
    # `factor` is that of the objective if it has the same rows and no penalty.

    n: int
    Phi: Array
    y: Array
    weight: Array | None
    signs: IntArray | None
    swaps: IntArray | None
    spherical: bool
    intercept: bool = False
    kept: KeptCells | None = None
    turn: Callable[[Array], Array] = np.asarray
    factor: Factor | None = None

    @classmethod
    def of(cls, problem: Problem) -> Evidence:
        """Collect them, or refuse a model or a noise class for which there is no answer."""
        objective = problem.objective
        need = _LABELS if problem.classes is not None else _QUANTILES
        if problem.classes is not None or objective.quantile is not None:
            python = _LOGISTIC if objective.labels_only else _AT_ONCE
            raise NotAvailable(f"{need} {python}", f"{need} {_WITHOUT}")
        if objective.endogenous:
            names = joined(objective.names[j] for j in objective.endogenous)
            raise NotAvailable(
                "least squares in groups of rows needs columns that do not depend on the noise, "
                f"and {names} may depend on it. Use region.interval(simultaneous=True), whose "
                "bounds hold at once, or ask for the endogenous column alone: region.summary()."
            )
        design = problem.design("one number at a time")
        if design.dual:
            raise NotAvailable(
                f"{_KERNEL} Use region.band(X, norm_bound=B, simultaneous=False) for intervals and "
                "hypothesis(ua.functionals.value(X), norm_bound=B) for a test, or a pipeline "
                "such as make_pipeline(Nystroem(n_components=10), Ridge()).",
                f"{_KERNEL} Add --norm-bound B, or use --model spline.",
            )
        if problem.cells is not None:
            kept, y = problem.cells, objective.y
            return cls(problem.n, design.matrix, y, None, None, None, spherical=False, kept=kept)
        return cls.of_rows(problem, design)

    @classmethod
    def of_rows(cls, problem: Problem, design: Design) -> Evidence:
        """Collect the rows of a design that does not depend on the noise; refuse other noise."""
        n, y = problem.n, problem.objective.y
        turn: Callable[[Array], Array] = np.asarray
        Q, noise = problem.left_to_rotate
        if Q is not None:  # the loss does not allow to rotate the model
            turned, turn = design.in_basis(Q), partial(np.dot, Q.T)
            assert turned is not None
            design, y = turned, turn(y)
        w = problem.data(f"{_NEED} cells or", IN_MEMORY).weight
        signs, swaps, spherical = sign_units_of(noise, n), swap_blocks_of(noise, n), False
        if is_spherical(noise):
            spherical = True
            if w is not None and np.ptp(w) > 0:
                raise NotAvailable(
                    "spherical noise has the same variance in every row, which weights contradict: "
                    f"expected equal weights, given weights from {w.min():.4g} to {w.max():.4g}. "
                    "Leave out sample_weight, or use noise='symmetric', which allows any variances."
                )
        elif signs is None and swaps is None:
            raise NotAvailable(
                f"{_NEED} noise whose signs may change or whose rows may be swapped, and "
                f"{noise!r} declares neither. Use 'symmetric', ua.noise.BlockSymmetric(blocks), "
                "'exchangeable' or 'spherical', or define sign_units(n) or swap_blocks(n) in the "
                "class if the assumption allows it."
            )
        o = problem.objective
        alike = design is o.design and o.basis is None and o.quadratic and o.sign_blind
        own = cast(DesignedObjective, o).factor if alike and Q is None else None
        ones, declared = bool((design.matrix[:, 0] == 1).all()), (signs, swaps, spherical)
        return cls(n, design.matrix, y, w, *declared, design.intercept and ones, None, turn, own)

    @property
    def flips(self) -> bool:
        """Whether signs may change in units of rows."""
        return self.signs is not None or self.kept is not None

    @property
    def clusters(self) -> int | None:
        """Number of blocks of rows whose signs change together; None if every row is a unit."""
        units = 0 if self.signs is None else int(self.signs.max()) + 1
        return units if 0 < units < self.n else None

    @property
    def in_blocks(self) -> bool:
        """Whether signs change in blocks of rows only."""
        return self.clusters is not None if self.kept is None else self.kept.blocks

    @property
    def whole(self) -> Coordinates:
        """The coordinates of all rows."""
        if self.kept is not None:
            return self.kept.at
        return self.signed.at if self.flips else self.plain.at

    @cached_property
    def signed(self) -> Sample:
        """The rows with their weights, and the units in which signs change."""
        return self.like()

    def like(self, targets: Array | None = None) -> Sample:
        """Return these rows, with other targets (n,) in the basis of the data if there are any."""
        y = self.y if targets is None else self.turn(targets)
        units = self.signs if self.in_blocks else None
        options: dict[str, Any] = {"intercept": self.intercept, "units": units}
        return Sample.of(self.Phi, y, self.weight, found=self.factor, **options)

    @cached_property
    def plain(self) -> Sample:
        """The rows without weights: rotations and permutations do not mix unlike rows."""
        if self.weight is None and not self.in_blocks:
            return self.signed
        return Sample.of(self.Phi, self.y, intercept=self.intercept)

    @cached_property
    def centred(self) -> Sample:
        """The rows without their means in blocks of swaps: what exchangeable noise identifies."""
        assert self.swaps is not None
        return Sample.of(estimates.centred_in_blocks(self.Phi, self.swaps), self.y)

    def pairs(self, c: Array, cells: IntArray | None) -> IntArray:
        """Return pairs of rows (P, 2) that are opposite for one functional, inside given cells."""
        assert self.swaps is not None
        blocks, sample = self.swaps, self.centred
        if cells is not None:
            both = np.column_stack([blocks, cells])
            blocks = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1).astype(np.intp)
        directions = np.column_stack([sample.at.vectors(c[None])[0][0], sample.at.ties])
        return estimates.opposite_pairs(sample.Q @ directions * np.sqrt(self.n), blocks)

    def paired(self, pairs: IntArray, targets: Array | None = None) -> Sample:
        """Return differences of pairs of rows (11.4), with the noise of rows."""
        # They are divided by √2, so that the noise has the same size as that of rows. A pair has
        # the weight that the difference of two rows with these weights has.
        y = self.y if targets is None else self.turn(targets)
        first, second = pairs.T
        w = np.full(len(pairs), 0.5)
        if self.weight is not None:
            w = self.weight[first] * self.weight[second]
            w = w / (self.weight[first] + self.weight[second])
        return Sample.of(self.Phi[first] - self.Phi[second], y[first] - y[second], w)


JOINT, CELLS, AUTO = "joint", "cells", "auto"


class Setting(Enum):
    """What is asked: its words, its own methods, and whether others are not available."""

    # Beside "auto" and "cells" in every setting. Design weights and means are always allowed.

    STREAM = "a stream, which keeps sums over cells and not the rows", (), True
    FUNCTION = "norm_bound or model_error", (), False
    FLIPPED_INSTRUMENTS = "instruments, whose residuals depend on the endogenous columns", (), True
    SWAPPED_INSTRUMENTS = "instruments and noise that may be permuted", ("pairs",), True
    AT_ONCE = "simultaneous=True", (JOINT,), False
    MODEL_ERROR = "simultaneous=True and a model error, which no joint region allows for", (), True
    KERNEL = "simultaneous=True and functionals of the function of a kernel", (), True

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that go with it."""
        own: tuple[str, ...] = self.value[1]
        return (AUTO, *own) if own == ("pairs",) else (AUTO, CELLS, *own)

    def check(self, method: Any, weights: Any = "design", estimator: Any = "mean") -> None:
        """Refuse options that do not go with it."""
        some = ("design", "residuals") if self is Setting.STREAM else ("design",)
        table = {"method": (method, self.methods), "cell_weights": (weights, some)}
        for name, (value, allowed) in {**table, "cell_estimate": (estimator, ("mean",))}.items():
            if not isinstance(value, str) or value not in allowed:
                kind = NotAvailable if self.value[2] else ValueError
                raise kind(
                    f"{name} does not go with {self.value[0]}: expected "
                    f"{' or '.join(map(repr, allowed))}, given {value!r}. Leave it out."
                )


def single_options(
    problem: Problem,
    kept: KeptCells | None,
    setting: Setting | None,
    given: tuple[Any, Any, Any, Any],
) -> SingleOptions:
    """Check cells, method, weights and estimate of numbers one at a time in a setting."""
    options = check_single(*given, problem.data(_NEED).rows if kept is None else problem.n)
    if kept is not None and options.number is not None and options.number > kept.number:
        raise ValueError(
            "cells are more than the stream has collected: expected at most "
            f"{kept.number}, given {options.number}. Leave cells out, or pass a smaller number."
        )
    if setting is not None:
        setting.check(*given[1:])
    return options


def check_at_once(
    method: Any, cells: Any, weights: Any, estimator: Any, setting: Setting = Setting.AT_ONCE
) -> str:
    """Return the method of simultaneous bounds, after checking what goes with it."""
    setting.check(method, weights, estimator)
    integer = isinstance(cells, (int, np.integer)) and not isinstance(cells, bool)
    if cells is not None and not (method == CELLS and integer and cells in BALANCED):
        raise ValueError(
            "cells does not fit simultaneous bounds: expected a power of two up to "
            f"{BALANCED[-1]} with method='cells', given {cells!r} with method={method!r}. Leave it "
            "out for the default."
        )
    return str(method)
