"""One warning a region: two values in a regression, a classifier without fresh labels."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)

import unassuming as ua

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.logistic(size=N) > 0).astype(int)
SAID = (
    "y has only two values, 0 and 1: the residuals of such an outcome are not symmetric about "
    "zero, so the coverage is not exact. Regions of labels are exact: use RidgeClassifier, "
    "LogisticRegression or ua.LSSVC (--model logistic or ls-svc on the command line)."
)
OPTIONS = {"m": 16, "random_state": 0}


def region(y=Y, model=None, **more):
    return ua.confidence_region(model or LinearRegression(), X[: len(y)], y, **OPTIONS, **more)


def warned(call):
    """What warns, in order; every warning points at this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert {one.category for one in caught} <= {UserWarning}
    assert {one.filename for one in caught} <= {__file__}
    return [str(one.message) for one in caught]


OUTCOMES = {
    "integers": Y,
    "floats": Y.astype(float),
    "booleans": Y > 0,
    "a column of booleans": pd.Series(Y > 0),
    "a table": pd.DataFrame({"y": Y}),
}


@pytest.mark.parametrize("kind", OUTCOMES)
def test_a_region_warns_once(kind):
    assert warned(lambda: region(OUTCOMES[kind])) == [SAID]


def test_what_is_asked_of_the_region_does_not_warn_again(tmp_path):
    with pytest.warns(UserWarning, match="only two values"):
        found = region()

    def ask():
        found.rank(found.estimate)
        found.test(found.estimate)
        found.interval([0.0, 1.0, 0.0], level=0.8)
        ua.save(found, tmp_path / "r")
        ua.load(tmp_path / "r")

    assert warned(ask) == []


@pytest.mark.parametrize("model", [RidgeClassifier(), LogisticRegression(C=1.0), ua.LSSVC()])
def test_labels_do_not_warn(model):
    assert warned(lambda: region(model=model)) == []


ORDER = np.argsort(Y, kind="stable")
ONES = int(Y.sum())


def stream():
    return ua.StreamingRegion(Ridge(), m=16)


def test_a_stream_warns_when_it_makes_a_region(tmp_path):
    """Each chunk has one value only, also across a checkpoint and in shards."""
    first, second = ORDER[: N - ONES], ORDER[N - ONES :]
    one = stream()
    assert warned(lambda: one.partial_fit(X[first], Y[first])) == []
    assert warned(one.region) == []
    one.save(tmp_path / "c")
    loaded = ua.StreamingRegion.load(tmp_path / "c")
    assert warned(lambda: loaded.partial_fit(X[second], Y[second] > 0)) == []
    assert warned(loaded.region) == [SAID]
    other = stream().partial_fit(X[second], Y[second], first_row=len(first))
    assert warned(lambda: one.merge(other)) == []
    assert warned(one.region) == [SAID]
    assert warned(lambda: one.partial_fit(X[:1], [0.5]).region()) == []


TABLE = RNG.normal(size=(15, 2))
OUTPUTS = TABLE @ [1.0, -1.0] + RNG.laplace(size=15)
LABELS = np.where(OUTPUTS > 0, 1, -1)


def words(region):
    """Return the text as one line, so that line breaks do not matter."""
    return " ".join(str(region).split())


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
@pytest.mark.parametrize("model", [RidgeClassifier(), ua.LSSVC(C=0.1)], ids=repr)
def test_classifiers_without_label_noise_warn_once_and_promise_nothing(model, noise):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        region = ua.confidence_region(model, TABLE, LABELS, noise=noise, random_state=0)
        text = words(region)
        region.rank(region.estimate)
    assert len(heard) == 1
    assert heard[0].filename == __file__  # the line of the caller
    assert "no coverage guarantee" in str(heard[0].message)
    assert "The assumption 'labels' is exact" in str(heard[0].message)
    assert "no coverage guarantee" in text
    assert "with probability" not in text
