"""An objective of one's own that answers in the wrong shape gets one sentence, at once."""

import numpy as np
import pytest

import unassuming as ua

X, Y, TRUTH = ua.datasets.linear(n=12, d=2, random_state=0)
X = np.column_stack([np.ones(len(X)), X])


class Model:
    """Somebody's estimator."""


class Right(ua.objectives.Objective):
    """Least squares with a quadratic penalty."""

    def __init__(self):
        super().__init__(Y, X.shape[1])

    def residuals(self, coefficients):
        return self.y - coefficients @ X.T

    def gradient(self, coefficients, residuals):
        penalty = coefficients.reshape(len(coefficients), *(1,) * (residuals.ndim - 2), self.d)
        return penalty - residuals @ X


class OneVector(Right):
    def residuals(self, coefficients):
        return self.y - X @ coefficients


class NoAxesBetween(Right):
    def gradient(self, coefficients, residuals):
        return coefficients - residuals @ X


class OneNumber(Right):
    def gradient(self, coefficients, residuals):
        return (residuals**2).sum(axis=-1)


class NotANumber(Right):
    def gradient(self, coefficients, residuals):
        return super().gradient(coefficients, residuals) + np.nan


class MixesVectors(Right):
    def gradient(self, coefficients, residuals):
        z = super().gradient(coefficients, residuals)
        return z if z.ndim == 2 else z[:, ::-1]


def build(made):
    ua.register_objective(Model, lambda estimator, X, y, w: made)
    return ua.confidence_region(Model(), X, Y, m=20, random_state=0)


def test_the_right_shapes_pass():
    assert build(Right()).rank([TRUTH, TRUTH + 5]).tolist()[1] == 20


@pytest.mark.parametrize(("made", "given"), [(None, "None"), (3.0, "float"), (Right, "ABCMeta")])
def test_a_factory_has_to_return_an_objective(made, given):
    refusal = rf"did not return an objective: expected .*, given {given}\. Return"
    with pytest.raises(TypeError, match=refusal):
        build(made)


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        (OneVector(), r"OneVector\.residuals\(coefficients\) .*fails"),
        (NoAxesBetween(), r"NoAxesBetween\.gradient.*\(2, 3, 12\).*middle axes"),
        (
            OneNumber(),
            r"OneNumber\.gradient.*fails.*shape \(2, k\), given shape \(2,\)",
        ),
        (NotANumber(), r"NotANumber\.gradient.*fails.*6 of them NaN"),
        (MixesVectors(), r"MixesVectors\.gradient.*gives different numbers for several"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_wrong_shape_is_told_when_the_region_is_built(objective, words):
    with pytest.raises(ValueError, match=words) as caught:
        build(objective)
    assert "\n" not in str(caught.value)
