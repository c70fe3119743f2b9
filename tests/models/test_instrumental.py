"""InstrumentalRegression: scikit-learn's conventions, estimates of statsmodels, bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks
from statsmodels.sandbox.regression.gmm import IV2SLS

import unassuming as ua

NAMES = ["price", "age", "tax", "cost"]


def data(n=120, strength=0.8, seed=0):
    X, y, truth = ua.datasets.instrumented(n, strength, 2, random_state=seed)
    return pd.DataFrame(X, columns=NAMES), y, truth


def model(**changes):
    options = {"endogenous": "price", "instruments": ["tax", "cost"]} | changes
    return ua.InstrumentalRegression(**options)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.slow
@parametrize_with_checks(
    [
        ua.InstrumentalRegression(endogenous=0, instruments=1),
        ua.InstrumentalRegression(endogenous=0, instruments=[1], fit_intercept=False),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("intercept", [True, False])
def test_estimates_are_those_of_statsmodels(intercept):
    X, y, _ = data()
    one = [np.ones(len(X))] if intercept else []
    columns = np.column_stack([*one, X["age"], X["price"]])
    exogenous = np.column_stack([*one, X["age"], X["tax"], X["cost"]])
    expected = IV2SLS(y, columns, exogenous).fit().params
    fitted = model(fit_intercept=intercept).fit(X, y)
    found = np.append([fitted.intercept_] if intercept else [], fitted.coef_)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(fitted.predict(X), columns @ expected, rtol=1e-9)


def test_weights_count_rows():
    X, y, _ = data(n=40)
    weight = np.arange(40) % 3
    weighted = model().fit(X, y, sample_weight=weight)
    repeated = model().fit(X.loc[np.repeat(np.arange(40), weight)], np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)


def test_columns_by_name_and_by_number_are_the_same():
    X, y, _ = data()
    named = model().fit(X, y)
    numbered = model(endogenous=0, instruments=(2, 3)).fit(X.to_numpy(), y)
    np.testing.assert_array_equal(named.coef_, numbered.coef_)
    assert named.controls_.tolist() == [1]
    assert clone(named).get_params() == named.get_params()


def test_instruments_that_are_the_regressors_give_least_squares():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    twice = np.column_stack([X, X[:, 0]])
    found = ua.InstrumentalRegression(endogenous=0, instruments=2).fit(twice, y)
    expected = LinearRegression().fit(X[:, ::-1], y)
    np.testing.assert_allclose(found.coef_, expected.coef_)


BAD = [
    ({"endogenous": "prize"}, r"endogenous is not a column of X: expected one of \['price'"),
    (
        {"endogenous": 9},
        "endogenous is not a column of X: expected one of .*, or a number from 0 to 3",
    ),
    ({"endogenous": True}, "endogenous is not a column of X"),
    ({"endogenous": []}, "endogenous is empty.*use LinearRegression"),
    ({"instruments": None}, "instruments is empty"),
    ({"instruments": ["tax", "tax"]}, "a column has two roles.*'tax' twice"),
    ({"instruments": ["tax", 2]}, "a column has two roles"),
    ({"instruments": ["price", "tax"]}, "a column has two roles.*'price' twice"),
    (
        {"endogenous": ["price", "age"], "instruments": "tax"},
        "there are fewer instruments than end",
    ),
]


@pytest.mark.parametrize(("changes", "message"), BAD, ids=[str(b[0]) for b in BAD])
def test_bad_columns_get_one_sentence_from_fit_and_from_the_region(changes, message):
    X, y, _ = data(n=30)
    with pytest.raises(ValueError, match=message):
        model(**changes).fit(X, y)
    with pytest.raises(ValueError, match=message):
        ua.confidence_region(model(**changes), X, y)


@pytest.mark.parametrize(
    "column", [lambda X: 0 * X["age"] + 3, lambda X: 2 * X["age"] - 1, lambda X: X["cost"]]
)
def test_instruments_that_do_not_vary_by_themselves_are_refused(column):
    X, y, _ = data(n=30)
    X = X.assign(tax=column(X))
    for action in (
        lambda: model().fit(X, y),
        lambda: ua.confidence_region(model(), X, y),
    ):
        with pytest.raises(ValueError, match="instruments has a column that follows from"):
            action()
