"""What a region is about: the data, the objective, the noise and how ties are ordered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np
from sklearn.pipeline import Pipeline

from unassuming._errors import NotAvailable
from unassuming._typing import Array, IntArray
from unassuming._words import shown
from unassuming.cells.estimates import KeptCells
from unassuming.inputs import Data
from unassuming.noise import Labels, Noise
from unassuming.objectives import Design, Objective

_WITHOUT_ROWS = (
    "pass coefficient vectors, save the StreamingRegion, or build the region in memory with "
    "ua.confidence_region(estimator, X, y)."
)


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """The data, the objective and the noise behind a region.

    The estimator is the model as it was passed, not fitted. ``weighting`` is Ψ, ``transform`` makes
    the model's inputs of those that a user passes, and ``door`` says why the data are not ordinary.
    ``rows`` is None if only sums over them were kept, in ``cells`` those for single numbers.
    """

    estimator: Any
    n: int
    objective: Objective
    noise: Noise
    weighting: Any
    ties: str
    enumerated: bool
    seed: int
    transform: Callable[[Any], Array]
    rows: Data | None
    cells: KeptCells | None = None
    transformers: Pipeline | None = None
    door: Callable[[], str] = str

    @cached_property
    def not_ordinary(self) -> str:
        """Why rounding decides more than the noise; empty for ordinary data."""
        return self.door()

    @cached_property
    def divisions(self) -> dict[int, IntArray]:
        """Divisions of the rows into balanced cells, by number of cells, once they are needed."""
        return {}

    @cached_property
    def estimate(self) -> Array:
        """The minimiser, polished until its gradient is zero to rounding, shape (d,)."""
        estimate = self.objective.estimate()
        estimate.setflags(write=False)
        return estimate

    @property
    def whitened(self) -> bool:
        """Whether Ψ = H^{-1/2}."""
        return np.ndim(self.weighting) == 0 and self.weighting == "hessian"

    @property
    def classes(self) -> Array | None:
        """The two labels, of which the second is +1; None for regression."""
        return None if self.rows is None else self.rows.classes

    @property
    def row_noise(self) -> Noise:
        """What is assumed of the noise in the rows of the objective, which may be rotated rows."""
        other = self.noise.rotated()
        return self.noise if other is None or self.objective.basis is None else other[1]

    @property
    def left_to_rotate(self) -> tuple[Array | None, Noise]:
        """Q and what is assumed of Qᵀe; None and the noise itself if the rows may stay."""
        other = None if self.objective.basis is not None else self.noise.rotated()
        return (None, self.row_noise) if other is None else other

    @property
    def rotated(self) -> bool:
        """Whether the noise is described in another basis."""
        return self.noise.rotated() is not None

    def refuse_basis(self, what: str) -> None:
        """Refuse what is about rows of the data, if the noise is described in another basis."""
        if self.rotated:
            raise NotAvailable(
                f"{what} refers to rows of the data, and {self.noise!r} describes the noise in "
                "another basis, where every coordinate depends on all rows. It is available for "
                "a region with another assumption."
            )

    @property
    def truth(self) -> str:
        """The function that a band covers, in words."""
        if self.classes is not None or self.noise.labels:
            return Labels.target
        if self.objective.endogenous:
            return "the right-hand side of the equation"
        quantile = self.objective.quantile is not None
        return self.noise.target if quantile else "the regression function"

    @property
    def guaranteed(self) -> bool:
        """Whether coverage is guaranteed: not for the published region of LS-SVC."""
        return self.classes is None or self.noise.labels

    def data(self, operation: str, remedy: str = _WITHOUT_ROWS) -> Data:
        """Return the rows, or refuse an operation that needs them."""
        if self.rows is None:
            raise NotAvailable(
                f"{operation} the rows of the data, and this region was built from sums over "
                f"them: {remedy}"
            )
        return self.rows

    def design(self, operation: str) -> Design:
        """Return the features or the kernel, or refuse an operation that needs them."""
        if self.objective.design is not None:
            return self.objective.design
        if self.objective.initial:
            raise NotAvailable(
                f"{operation} needs inputs that do not depend on the noise, and those of "
                f"{self.objective} contain past outputs: use contains, test, crossings, reach, "
                "sample or ua.plots.coefficients."
            )
        raise NotAvailable(
            f"{operation} needs a model with features or a kernel, and {self.objective} does not "
            "declare any: use interval(functionals) and crossings, or derive the objective from "
            "DesignedObjective."
        )


@dataclass(frozen=True, eq=False)
class Tuning:
    """A split of the rows: one part chose the hyper-parameters, the other makes the region.

    Attributes
    ----------
    tuning_rows, region_rows : integer arrays
        Positions in the data as passed; they have no row in common.
    best_params : dict
        What the search chose on the tuning rows.
    best_score : float
        Its cross-validated score there.
    seed : int
        ``random_state=seed`` gives the same split and the same region again.
    search : object
        The fitted search; None in a region that was loaded from a file.

    Examples
    --------
    >>> print(Tuning(np.arange(3), np.arange(3, 9), {"alpha": 0.1}, 0.75, seed=0))
    alpha=0.1, chosen on 3 other rows
    """

    tuning_rows: IntArray = field(repr=False)
    region_rows: IntArray = field(repr=False)
    best_params: Mapping[str, Any]
    best_score: float
    seed: int
    search: Any = field(default=None, repr=False)

    def __str__(self) -> str:
        chosen = ", ".join(f"{name}={shown(value)}" for name, value in self.best_params.items())
        return f"{chosen or 'nothing'}, chosen on {len(self.tuning_rows)} other rows"
