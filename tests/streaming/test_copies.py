"""Copies of a stream are independent of it, at every stage."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import unassuming as ua

N = 1500
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.standard_t(3, size=N)
MODELS = {
    "model": Ridge(1.0),
    "pipeline": make_pipeline(PolynomialFeatures(2, include_bias=False), Ridge(1.0)),
}
STAGES = {"empty": [], "waiting": [(0, 30)], "summed": [(0, 1100)], "gap": [(40, 60), (0, 10)]}
COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda stream: pickle.loads(pickle.dumps(stream)),
}


def stream(model="model"):
    return ua.StreamingRegion(MODELS[model], m=20, random_state=0)


def add(one, spans, *, wrong=False):
    for first, stop in spans:
        x, y = X[first:stop], Y[first:stop]
        one.partial_fit(x * 0 + 5 if wrong else x, y * 0 - 100 if wrong else y, first_row=first)
    return one


def rest(one):
    """Return the ranges of rows that are missing."""
    last = (one.next_row, N)
    return [*one._ledger.gaps(), last]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("kind", COPIES)
def test_each_of_two_goes_its_own_way(kind, stage, merged, model):
    expected = add(stream(model), [(0, N)]).region().estimate.tolist()
    base = add(stream(model), STAGES[stage])
    if merged:
        base = stream(model).merge(base)
    for first, second in ((0, 1), (1, 0)):  # the wrong rows go to the copy, then to the original
        pair = copy.deepcopy(base)
        pair = (pair, COPIES[kind](pair))
        right, wrong = pair[first], pair[second]
        first_missing = rest(right)[0][0]
        add(right, [(first_missing, first_missing + 9)])
        add(wrong, rest(wrong), wrong=True)
        add(right, rest(right))
        assert right.region().estimate.tolist() == expected
        assert wrong.region().estimate.tolist() != expected


def test_the_features_of_an_empty_copy_are_its_own():
    base = stream()
    other = copy.copy(base)
    other.partial_fit(np.ones((3, 5)), np.ones(3))
    assert base.partial_fit(X, Y).region().objective.d == 3
    other.estimator.set_params(alpha=7.0)
    assert base.estimator.alpha == 1.0
