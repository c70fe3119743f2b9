"""A question to a region: bounds of linear functionals, with or without a norm bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import final

from unassuming._typing import Array, IntArray
from unassuming.objectives import BallCoordinates, Design, NormBall

INPUT = "input"
"""What values of a band are called, with a number."""


class Call(Enum):
    """The method that was called; the value is its call, with room for an option."""

    BAND = "band(X, {})"
    INTERVAL = "interval({})"
    SAMPLE = "sample(size, {})"


@final
@dataclass(frozen=True, eq=False)
class Question:
    """Linear functionals gᵀa to be bounded over a region.

    Attributes
    ----------
    call : Call
    g : array of shape (N, d)
        The functionals; every coefficient for a sample.
    ball : NormBall or None
        What is assumed of the norm.
    similarity : array of shape (N,), or None
        k(z, z), if the functionals are values at inputs z and it is known.
    function : bool
        Whether they are values of the function itself rather than of its representation.
    features : array of shape (N, D), or None
        The functionals in terms of the features of a kernel, if it is known to have few.
    at : array of shape (N,), or None
        The row of the data at which the functional is the fitted value, or -1.
    inputs : array of shape (N, p), or None
        The inputs, if the functionals are values of the representation there.
    inner : bool
        Whether to search for members that come near the bounds.
    """

    call: Call
    g: Array
    ball: NormBall | None = None
    similarity: Array | None = None
    function: bool = False
    features: Array | None = None
    at: IntArray | None = None
    inputs: Array | None = None
    inner: bool = False

    def on_features(self) -> Question:
        """Return the question about the coefficients of the features of a kernel."""
        assert self.features is not None
        return replace(
            self,
            g=self.features,
            similarity=None,
            function=False,
            features=None,
            at=None,
            inputs=None,
        )

    def ball_coordinates(
        self, design: Design | None, root_weights: Array, estimate: Array
    ) -> BallCoordinates | None:
        """Return the functionals in coordinates of the ball, if there is one."""
        if self.ball is None or design is None:
            return None
        return design.ball_coordinates(
            root_weights,
            estimate,
            self.g,
            self.ball.bound,
            self.similarity,
            function=self.function,
            at=self.at,
        )
