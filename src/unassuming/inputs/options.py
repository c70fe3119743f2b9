"""Options, checked before anything is computed: those of a region, then those of its methods."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, final

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.linear_model import QuantileRegressor

from unassuming._errors import complaint
from unassuming._labels import as_labels, numbered
from unassuming._typing import BoolArray, IntArray
from unassuming.inputs.tables import as_finite
from unassuming.noise import Noise, Quantile, as_noise
from unassuming.ranking import check_m, check_ties

_DEFAULT = "Leave it out for the default."


def as_count(problem: str, value: Any, least: int, remedy: str) -> int:
    """Return an integer that is large enough; refuse anything else as this problem."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{problem}: expected an integer >= {least}, given {value!r}. {remedy}")
    return int(value)


def is_whole(value: Any) -> bool:
    """Whether a value is an integer of Python or NumPy, and no truth value."""
    return type(value) is not bool and isinstance(value, Integral)


def _as_number(
    name: str, value: Any, expected: str, remedy: str, *, high: float = np.inf, zero: bool = False
) -> float:
    """Return a number above zero, or zero itself, and below a limit; refuse anything else."""
    number = type(value) is not bool and isinstance(value, Real)
    if not number or not (0 < value < high or (zero and value == 0)):
        raise ValueError(complaint(name, "is out of range", expected, repr(value), remedy))
    return float(value)


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Refuse what is not one of some words."""
    if str(value) not in allowed:
        some = f"{', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}"
        raise ValueError(complaint(name, "is unknown", some, repr(value), _DEFAULT))


def _as_truth(name: str, value: object, remedy: str) -> bool:
    """Return True or False; refuse anything else."""
    if type(value) not in (bool, np.bool_):
        raise ValueError(complaint(name, "is not a boolean", "True or False", repr(value), remedy))
    return bool(value)


# --- of a region ---


def is_label_model(model: Any) -> bool:
    """Whether the model is a classifier."""
    return isinstance(model, BaseEstimator) and bool(is_classifier(model))


def check_options(
    model: Any, *, noise: Any = None, m: Any = 128, weighting: Any = None, ties: str = "random"
) -> Noise:
    """Check the options that do not depend on the data; return the assumption on the noise."""
    if str(m) != "all":
        check_m(m)
    check_ties(ties)
    if isinstance(weighting, str):
        _one_of("weighting", weighting, ("identity", "gram", "hessian"))
    quantiles = isinstance(model, QuantileRegressor)
    if noise is None:
        noise = "quantile" if quantiles else "labels" if is_label_model(model) else "symmetric"
    if quantiles and str(noise) == "quantile":
        return Quantile(model_quantile(model))
    return as_noise(noise)


def model_quantile(model: Any) -> float:
    """Return the quantile that a ``QuantileRegressor`` estimates."""
    name, expected = f"{type(model).__name__}'s quantile", "one number between 0 and 1, excluded"
    remedy = "Set the hyper-parameter before building the region."
    return _as_number(name, model.quantile, expected, remedy, high=1.0)


def as_seed(random_state: Any) -> int:
    """Return an integer seed; None gives fresh entropy, which the region stores."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(2, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1, dtype=np.int64))
    if is_whole(random_state) and random_state >= 0:
        return int(random_state)
    raise ValueError(
        "random_state is not a valid seed: expected a non-negative integer, a numpy Generator or "
        f"RandomState, or None, given {random_state!r}. Pass e.g. random_state=0."
    )


def streams(seed: int) -> tuple[np.random.Generator, np.random.Generator, np.random.Generator]:
    """Return independent generators for the transformations, the tie order and random features."""
    first, second, third = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
    return first, second, third


# --- of its methods ---


def check_norm_bound(norm_bound: Any) -> None:
    """Refuse anything but None and a positive number."""
    if norm_bound is not None:
        remedy = "Pass an upper bound on the norm that you are ready to assume."
        _as_number("norm_bound", norm_bound, "one finite number > 0", remedy)


def check_norm_bounds(norm_bounds: Any) -> list[float]:
    """Return several norm bounds in their order; refuse anything but positive finite numbers."""
    remedy = "Pass the inputs first, then the bounds, or leave these out for the default."
    found = as_finite(norm_bounds, "norm_bounds", remedy)
    if found.ndim != 1 or not found.size or not (found > 0).all():
        given = norm_bounds if found.ndim == 1 else f"an array of shape {found.shape}"
        raise ValueError(
            f"norm_bounds is not a list of bounds: expected numbers > 0, given {given}. {remedy}"
        )
    return sorted(found.tolist())


def check_assumption(norm_bound: Any, model_error: Any, noise_scale: Any) -> None:
    """Refuse anything but None and finite numbers > 0; a model error may be 0."""
    check_norm_bound(norm_bound)
    if model_error is not None:
        expected = "one finite number >= 0"
        _as_number("model_error", model_error, expected, _DEFAULT, zero=True)
    if noise_scale is not None:
        remedy = "Pass a guess of the standard deviation of the noise."
        _as_number("noise_scale", noise_scale, "one finite number > 0", remedy)
        if norm_bound is None and model_error is None:
            expected = "norm_bound or model_error with it"
            raise ValueError(
                complaint("noise_scale", "does not apply", expected, "neither", "Leave it out.")
            )


def check_inner(inner: object) -> None:
    """Refuse anything but True and False."""
    _as_truth("inner", inner, "Pass inner=True for bounds that members attain.")


def check_simultaneous(simultaneous: object) -> bool:
    """Return True or False; refuse anything else."""
    return _as_truth("simultaneous", simultaneous, "Pass False for pointwise intervals.")


def check_target(target: Any) -> None:
    """Refuse an unknown target of a band; None stands for the default."""
    if target is not None:
        _one_of("target", target, ("representation", "function"))


def check_sampling(size: Any, thinning: Any, random_state: Any) -> None:
    """Refuse invalid arguments of ``sample``."""
    as_count("size is not a count", size, 1, "Pass e.g. size=1000.")
    if thinning is not None:
        as_count("thinning is not a count", thinning, 1, _DEFAULT)
    as_seed(copy(random_state))  # a generator itself would advance


# --- of intervals and tests of single numbers ---

_CELLS = (*range(2, 17), 32)
METHODS = ("auto", "cells", "pairs", "halves", "palmrt", "t")


@final
@dataclass(frozen=True, eq=False)
class SingleOptions:
    """How single numbers are treated, fixed before y is seen."""

    cells: int | IntArray | None = None  # their number, or the cell of each row (n,) from 0
    method: str = "auto"
    weights: str = "design"
    estimator: str = "mean"

    @property
    def robust(self) -> bool:
        """Whether least absolute deviations replace least squares."""
        return self.estimator == "median"

    @property
    def number(self) -> int | None:
        """The number of cells, if it was given."""
        return self.cells if isinstance(self.cells, int) else None

    @property
    def labels(self) -> IntArray | None:
        """The cell of each row, if these were given."""
        return self.cells if isinstance(self.cells, np.ndarray) else None

    @property
    def cells_key(self) -> object:
        """What distinguishes these cells from others, for a dictionary."""
        return self.cells.tobytes() if isinstance(self.cells, np.ndarray) else self.cells


def check_single(
    cells: Any, method: Any, weights: Any, estimator: Any, rows: BoolArray | int
) -> SingleOptions:
    """Check the options of single numbers; rows are those of positive weight, or their number."""
    _one_of("cell_weights", weights, ("design", "residuals"))
    _one_of("cell_estimate", estimator, ("mean", "median"))
    _one_of("method", method, METHODS)
    if np.ndim(cells):
        cells = _as_labels(cells, rows)
    elif cells is not None:
        most = f"an integer from 2 to 16, or 32, or one label a row, at most {np.sum(rows)}"
        if not is_whole(cells) or cells not in _CELLS or cells > np.sum(rows):
            wrong = "is not a number of cells"
            raise ValueError(complaint("cells", wrong, most, repr(cells), _DEFAULT))
        cells = int(cells)
    return SingleOptions(cells, method, weights, estimator)


def _as_labels(cells: Any, rows: BoolArray | int) -> IntArray:
    """Return the cell of each row that counts, numbered from 0."""
    if isinstance(rows, int):
        wrong = "cannot be labels for a stream, which has dealt its rows to cells already"
        given = f"labels of shape {np.shape(cells)}"
        raise ValueError(complaint("cells", wrong, "a number of cells", given, _DEFAULT))
    labels = as_labels(cells, "cells")
    if labels.shape != rows.shape:
        wrong, expected = "has the wrong length", f"one label for each of the {len(rows)} rows"
        remedy = "Pass the labels of the same rows as X."
        raise ValueError(complaint("cells", wrong, expected, f"shape {labels.shape}", remedy))
    numbers, count = numbered(labels[rows])
    if not 2 <= count <= max(_CELLS):
        wrong = "has one label only" if count < 2 else "has too many labels"
        raise ValueError(complaint("cells", wrong, f"2 to {max(_CELLS)} labels", count, _DEFAULT))
    return numbers
