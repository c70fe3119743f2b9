"""Fitted values as a linear map Φ a of the coefficients, primal or dual (docs/theory.md 1, 4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import null_space

from unassuming._typing import Array, IntArray
from unassuming.kernels import TrainingKernel
from unassuming.objectives.designs._complement import Complement
from unassuming.objectives.designs._norm_ball import BallCoordinates
from unassuming.objectives.designs._whitening import Whitening


class Design(ABC):
    """Φ, its penalty matrix P, and the whitening of both.

    Attributes
    ----------
    matrix : array of shape (n, d)
        Φ, with a leading column of ones if there is an intercept.
    intercept : bool
        Whether there is such a column. It is never penalised.
    names : list of str
        Names of the coefficients.
    rounding : float
        Relative error of Φ; zero if its rows are those of the data.
    sizes : array of shape (n, d), or None
        What this error is relative to; None if it is Φ itself.
    errors : array of shape (n, d), or None
        Bounds of the errors of Φ that geometry allows for: features of a kernel are rounded. None
        if there are none, or if they belong to the sums of a stream, which count them.
    computed : bool
        Whether transformers have computed the columns. Columns that depend on each other up to
        rounding, as those of a spline basis and an intercept do, then count as dependent. Columns
        that were passed as they are count as the numbers they are.
    strict : bool
        Whether a kernel is known to be strictly positive definite.
    one : array of shape (n,)
        The fitted values of a constant.
    kernel : TrainingKernel or None
        The kernel at other inputs, if there is one.

    Examples
    --------
    >>> design: Design = ua.objectives.FeatureDesign(np.array([[2.0], [5.0]]), intercept=True)
    >>> design.n, design.names, design.spans_everything
    (2, ['intercept', 'x0'], True)
    """

    dual: ClassVar[bool]
    """Whether the coefficients belong to kernel functions rather than to features."""

    matrix: Array
    intercept: bool
    names: list[str]
    rounding: float = 0.0
    sizes: Array | None = None
    errors: Array | None = None
    computed: bool = False
    strict: bool = False
    one: Array
    kernel: TrainingKernel | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.matrix)

    @abstractmethod
    def rows(self, X: Array) -> Array:
        """Return the rows of Φ at inputs X (N, p), shape (N, d)."""

    def _with_ones(self, columns: Array) -> Array:
        """Return [1, columns] if there is an intercept."""
        return np.column_stack([np.ones(len(columns)), columns]) if self.intercept else columns

    @abstractmethod
    def penalty_matrix(self) -> Array:
        """Return P, shape (d, d)."""

    @abstractmethod
    def whiten(self, w: Array, lam: float) -> Whitening:
        """Return the whitened coordinates for H = ΦᵀWΦ/n + λP (docs/theory.md 4)."""

    @abstractmethod
    def least_squares(self, y: Array, w: Array, lam: float) -> Array:
        """Return the minimiser of the quadratic objective, shape (d,)."""

    @abstractmethod
    def coefficients(self, values: Array) -> Array:
        """Return the coefficients of least norm whose fitted values come closest, (N, n) -> (N, d).

        This rule from values to coefficients uses the inputs only, which keeps tests exact.
        """

    @abstractmethod
    def gram(self) -> Array:
        """Return the kernel matrix at the inputs, without an intercept, (n, n)."""

    @abstractmethod
    def ball_coordinates(
        self,
        root_weights: Array,
        estimate: Array,
        g: Array,
        bound: float,
        self_similarity: Array | None = None,
        *,
        function: bool = False,
        at: IntArray | None = None,
    ) -> BallCoordinates:
        """Return coordinates for functionals g (N, d) in which the norm is a quadratic form.

        ``root_weights`` is W^{1/2}. ``self_similarity`` holds k(z, z) if the functionals are values
        at inputs z; with ``function`` they are values of the function itself. ``at`` is the row of
        the data with that input, or -1.
        """

    def complement(self, w: Array, lam: float, white: Whitening) -> Complement:
        """Return I - S for a whitening of this design."""
        del w, lam
        unknown = np.inf if not np.isfinite(white.defect) else 0.0
        own = 0.0 if self.errors is None else self.rounding
        return Complement(white.q, relative=unknown, error=white.defect + 2 * own)

    def rows_at(self, X: Array) -> IntArray | None:
        """Return for inputs X the row of the data with the same input, else -1; None if unknown."""
        return None

    @property
    @abstractmethod
    def spans_everything(self) -> bool:
        """Whether every function certainly has ideal coefficients at the inputs."""

    # Kernels override these defaults of features, or the other way round.

    @property
    def full_rank(self) -> bool:
        """Whether a kernel counts as having full rank at the distinct inputs."""
        return False

    @cached_property
    def distinct(self) -> tuple[IntArray, IntArray]:
        """The first row of each distinct input, and the index of the input of each row."""
        every = np.arange(self.n)
        return every, every

    @property
    def precomputed(self) -> bool:
        """Whether only the kernel matrix is given, so that k(z, z) at new inputs is unknown."""
        return False

    @property
    def unseen(self) -> int:
        """Number of directions in the coefficients that change no fitted value."""
        return int(self.matrix.shape[1] - np.linalg.matrix_rank(self.matrix))

    def probe_directions(self) -> Array:
        """Return directions along which regions often never end, besides single coefficients."""
        return np.asarray(null_space(self.matrix).T)

    def require_positive_semidefinite(self, method: str) -> None:
        """Refuse a method that needs a norm if the penalty matrix does not define one."""
        del method

    def self_similarity(self, X: Array | None = None) -> Array | None:
        """Return k(z, z) at inputs X (the training inputs by default); None if it is unknown."""
        return None

    def gram_root(self) -> Array:
        """Return ``|K|^{1/2}``, as a weighting of the gradient in the coefficients."""
        raise ValueError(
            "weighting 'gram' needs a kernel: expected 'identity', 'hessian' or a matrix for a "
            "model that is linear in features, given 'gram'. Leave it out for the default."
        )

    def primal(self) -> Design | None:
        """Return the design on the features of a kernel that is known to have few."""
        return None

    def primal_rows(self, X: Array, *, function: bool) -> Array | None:
        """Return the rows of that design at inputs X, shape (N, D).

        With ``function`` they belong to values of the function itself, else to those of its
        representation, which lies in the span of the features at the training inputs.
        """
        return None

    def in_basis(self, Q: Array) -> Design | None:
        """Return QᵀΦ as a design with the same coefficients; None if it has no such form."""
        del Q
        return None

    def standardised(self) -> Design | None:
        """Return features of mean zero and variance one; None if that is impossible."""
        return None

    def rename(self, names: Sequence[Any]) -> bool:
        """Give the coefficients the names of the columns; return whether they belong to columns."""
        return False
