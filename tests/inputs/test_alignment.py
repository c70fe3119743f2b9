"""Columns of pandas whose index is not that of X: rows would be taken by position, silently."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV

import unassuming as ua

N = 24
RNG = np.random.default_rng(0)
NAMES = pd.Index([f"town {j}" for j in range(N)])
X = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"], index=NAMES)
Y = pd.Series(X["a"] - X["b"] + RNG.laplace(size=N), name="y")
W = pd.Series(RNG.uniform(1, 2, size=N), index=NAMES)
GROUPS = pd.Series(np.arange(N) // 3, index=NAMES)
ORDER = RNG.permutation(N)
SEARCH = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2)
LABELS = pd.Series(np.where(Y > 0, "yes", "no"), index=NAMES)
TREATED = pd.Series(np.arange(N) % 2, index=NAMES)


def region(x=X, y=Y, weight=None, groups=None):
    noise = None if groups is None else ua.noise.BlockSymmetric(groups)
    options = {"sample_weight": weight, "noise": noise, "m": 20, "random_state": 0}
    return ua.confidence_region(LinearRegression(), x, y, **options)


def regressor(x=X, y=Y, weight=None, groups=None):
    noise = None if groups is None else ua.noise.BlockSymmetric(groups)
    return ua.ConfidenceRegressor(Ridge(), noise=noise, random_state=0).fit(x, y, weight)


def classifier(x=X, y=LABELS, weight=None):
    return ua.ConfidenceClassifier(RidgeClassifier(), random_state=0).fit(x, y, weight)


def tuned(x=X, y=Y, weight=None, groups=None):
    noise = None if groups is None else ua.noise.BlockSymmetric(groups)
    return ua.tuned_region(SEARCH, x, y, sample_weight=weight, noise=noise, random_state=0)


def streamed(x=X, y=Y, weight=None, groups=None):
    noise = None if groups is None else ua.noise.BlockSymmetric(groups)
    stream = ua.StreamingRegion(Ridge(), noise=noise, random_state=0)
    return stream.partial_fit(x, y, sample_weight=weight)


def planned(x=X, weight=None):
    return ua.plan(Ridge(), x, sample_weight=weight, norm_bound=None, noise_scale=1.0)


def series(x=X["a"], y=Y):
    return ua.confidence_region(ua.ARX(na=1, nb=1), x, y, m=20, random_state=0)


def experiment(y=Y, treatment=TREATED, strata=None, clusters=None, controls=None):
    given = {"strata": strata, "clusters": clusters, "controls": controls}
    return ua.assignment_test(y, treatment, random_state=0, m=20, **given)


CALLS = {
    "y": (region, "y", Y, "X"),
    "y as a table": (region, "y", Y.to_frame(), "X"),
    "weights": (region, "weight", W, "X"),
    "groups": (region, "groups", GROUPS, "X"),
    "y of a regressor": (regressor, "y", Y, "X"),
    "weights of a regressor": (regressor, "weight", W, "X"),
    "groups of a regressor": (regressor, "groups", GROUPS, "X"),
    "y of a classifier": (classifier, "y", LABELS, "X"),
    "y of a search": (tuned, "y", Y, "X"),
    "weights of a search": (tuned, "weight", W, "X"),
    "groups of a search": (tuned, "groups", GROUPS, "X"),
    "y of a stream": (streamed, "y", Y, "X"),
    "weights of a stream": (streamed, "weight", W, "X"),
    "groups of a stream": (streamed, "groups", GROUPS, "X"),
    "weights of a plan": (planned, "weight", W, "X"),
    "y of a time series": (series, "y", Y, "u"),
    "treatment": (experiment, "treatment", TREATED, "y"),
    "strata": (experiment, "strata", GROUPS // 2, "y"),
    "clusters": (experiment, "clusters", pd.Series(np.arange(N), index=NAMES), "y"),
    "controls": (experiment, "controls", X, "y"),
}
SAID = {"weight": "sample_weight", "groups": "blocks"}


@pytest.mark.parametrize("kind", CALLS)
def test_rows_in_another_order_are_refused_with_the_way_to_align_them(kind):
    call, name, column, reference = CALLS[kind]
    call(**{name: column})
    called = SAID.get(name, name)
    said = (
        rf"^{called} has its rows in another order than {reference}: expected the index of "
        rf"{reference}, given 'town \d+' in place of 'town 0' at row 0 \(counted from zero\)\. "
        rf"Align them with {called} = {called}\.loc\[{reference}\.index\], or pass "
        rf"{called}\.to_numpy\(\) if the rows correspond by position\.$"
    )
    with pytest.raises(ValueError, match=said):
        call(**{name: column.iloc[ORDER]})


@pytest.mark.parametrize("kind", CALLS)
def test_rows_of_other_names_are_refused(kind):
    call, name, column, reference = CALLS[kind]
    called = SAID.get(name, name)
    said = (
        rf"^{called} has another index than {reference}: expected the index of {reference}, given "
        rf"0 in place of 'town 0' at row 0 \(counted from zero\)\. Give both the same index, "
        rf"or pass {called}\.to_numpy\(\) if the rows correspond by position\.$"
    )
    with pytest.raises(ValueError, match=said):
        call(**{name: column.reset_index(drop=True)})


@pytest.mark.parametrize("kind", CALLS)
def test_what_has_no_index_is_taken_by_position(kind):
    call, name, column, _ = CALLS[kind]
    call(**{name: column.to_numpy()})


def test_the_advice_gives_the_region_of_the_right_rows():
    expected = region().estimate
    np.testing.assert_array_equal(region(y=Y.iloc[ORDER].loc[X.index]).estimate, expected)
    by_position = region(y=Y.iloc[ORDER].to_numpy())
    assert np.abs(by_position.estimate - expected).max() > 0.1


def test_without_an_index_of_X_the_other_columns_are_compared():
    with pytest.raises(ValueError, match="sample_weight has its rows in another order than y: "):
        region(X.to_numpy(), Y, W.iloc[ORDER])
    with pytest.raises(ValueError, match="blocks has its rows in another order than y: "):
        region(X.to_numpy(), Y, groups=GROUPS.iloc[ORDER])
    region(X.to_numpy(), Y, W)


def test_labels_of_all_rows_to_come_go_with_chunks_by_name_or_by_number():
    noise = ua.noise.BlockSymmetric(GROUPS)
    stream = ua.StreamingRegion(Ridge(), noise=noise, random_state=0)
    stream.partial_fit(X[:10], Y[:10]).partial_fit(X[10:], Y[10:])
    with pytest.raises(ValueError, match=r"blocks has another index than X: .* at row 0"):
        ua.StreamingRegion(Ridge(), noise=noise).partial_fit(X[10:], Y[10:])
    numbered = ua.noise.BlockSymmetric(GROUPS.reset_index(drop=True))
    other = ua.StreamingRegion(Ridge(), noise=numbered, random_state=0)
    for part in (slice(0, 10), slice(10, None)):  # each chunk counts its own rows
        other.partial_fit(X[part].reset_index(drop=True), Y[part].reset_index(drop=True))
    np.testing.assert_array_equal(stream.region().estimate, other.region().estimate)
    candidates = stream.region().estimate + RNG.normal(size=(10, 3))
    expected = stream.region().rank(candidates)
    np.testing.assert_array_equal(other.region().rank(candidates), expected)
