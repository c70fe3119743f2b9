"""Fresh labels that rows with equal inputs exchange tie exactly with the observed ones."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from unassuming.membership import Engine
from unassuming.noise import Labels
from unassuming.objectives import factory_for
from unassuming.ranking import Order

MODELS = [
    LogisticRegression(C=0.7),
    LogisticRegression(penalty=None),
    RidgeClassifier(alpha=2.0),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("unit", [1.0, 0.1])
def test_ties_are_those_of_equal_sums_of_inputs(model, unit):
    """Z_i = Z_0 where Φᵀy is the same, which integers decide; else only by accident.

    Tenths are not numbers of double precision, but a table of them is a table of tenths.
    """
    tied = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        whole = rng.integers(-3, 4, (14, 1))
        X = whole * unit
        y = rng.permutation(np.repeat([-1.0, 1.0], 7))
        objective = factory_for(model)(model, X, y, None)
        drawn, pi = Labels().draw(14, 59, rng), rng.permutation(60)
        engine = Engine(objective, Labels(), drawn, Order(pi))
        a = 0.3 * rng.normal(size=(10, 2))
        at = engine.state(a)
        fresh = np.sign(Labels().apply(drawn, at.r, at.f) + at.f[:, None])
        Phi = np.column_stack([np.ones(14), whole])
        same = ((fresh - y) @ Phi == 0).all(axis=-1)
        gap, tolerance = engine.gaps(a)
        assert (np.abs(gap) <= tolerance)[same].all()
        if objective.loss.labels:  # log-odds are not rational: nothing else ties
            assert not (np.abs(gap) <= tolerance)[~same].any()
        first = np.where(same, pi[1:] < pi[0], gap < 0)
        possible = Labels().admits(at.r, at.f)
        assert engine.rank(a)[possible].tolist() == (1 + first.sum(axis=1))[possible].tolist()
        tied += same.sum()
    assert tied > 40
