"""What the factor calls dependent is dependent in ranks: the estimate is always in its region."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from dependent_tables import dependent, outputs
from unassuming.membership import Engine
from unassuming.noise import Exchangeable, Symmetric, SymmetricExchangeable
from unassuming.objectives import from_linear_regression
from unassuming.ranking import Order

KINDS = list(dependent(np.random.default_rng(0)))


def engine(X, y, noise, rng, m=100):
    objective = from_linear_regression(LinearRegression(), X, y, None)
    return Engine(objective, noise, noise.draw(len(y), m - 1, rng), Order.draw(m, "random", rng))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [Symmetric(), Exchangeable(), SymmetricExchangeable()], ids=repr)
def test_the_estimate_has_rank_one(kind, noise):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = dependent(rng)[kind]
        region = engine(X, outputs(rng, X), noise, rng)
        estimate = region.objective.estimate()
        assert region.rank(estimate[None]).tolist() == [1]


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_are_those_of_independent_columns_with_the_same_fitted_values(kind):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = dependent(rng)[kind]
        y, state = outputs(rng, X), rng.bit_generator.state
        full = engine(X, y, Symmetric(), rng)
        rng.bit_generator.state = state
        part = engine(X[:, :-1], y, Symmetric(), rng)
        size = np.linalg.norm(part.objective.factor.back, axis=1)
        a = part.objective.estimate() + 1.5 * rng.normal(size=(50, part.objective.d)) * size
        ranks = part.rank(a)
        padded = np.column_stack([a, np.zeros(len(a))])
        assert len(np.unique(ranks)) > 1
        assert full.rank(padded).tolist() == ranks.tolist()
        moved = padded + 10 * rng.normal() * full.objective.factor.null[:, 0]
        assert full.rank(moved).tolist() == ranks.tolist()
