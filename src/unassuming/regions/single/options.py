"""Which options go together: one table for single numbers, values of a function and bands."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming.cells.balanced import NUMBERS
from unassuming.cells.estimates import KeptCells
from unassuming.inputs import SingleOptions, check_single
from unassuming.regions.problem import Problem

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
    cells, method, weights, estimator = given
    if kept is None:
        need = "intervals and tests of one number at a time need"
        options = check_single(cells, method, weights, estimator, problem.data(need).rows)
    else:
        options = check_single(cells, method, weights, estimator, problem.n)
        if isinstance(options.cells, int) and options.cells > kept.number:
            raise ValueError(
                "cells are more than the stream has collected: expected at most "
                f"{kept.number}, given {cells}. Leave cells out, or pass a smaller number."
            )
    if setting is not None:
        setting.check(method, weights, estimator)
    return options


def check_at_once(
    method: Any, cells: Any, weights: Any, estimator: Any, setting: Setting = Setting.AT_ONCE
) -> str:
    """Return the method of simultaneous bounds, after checking what goes with it."""
    setting.check(method, weights, estimator)
    integer = isinstance(cells, (int, np.integer)) and not isinstance(cells, bool)
    if cells is not None and not (method == CELLS and integer and cells in NUMBERS):
        raise ValueError(
            "cells does not fit simultaneous bounds: expected a power of two up to "
            f"{NUMBERS[-1]} with method='cells', given {cells!r} with method={method!r}. Leave it "
            "out for the default."
        )
    return str(method)
