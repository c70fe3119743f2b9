"""ARX as an estimator: least squares, prediction, simulation, and scikit-learn's conventions."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator
from statsmodels.tsa.ar_model import AutoReg

import unassuming as ua

ORDERS = [(1, 1, 1, False), (2, 1, 1, True), (0, 2, 1, False), (2, 0, 1, True), (1, 2, 3, False)]


def fitted(na, nb, delay, intercept, n=50):
    u, y, _ = ua.datasets.arx(n=n, random_state=0)
    model = ua.ARX(na, nb, delay=delay, fit_intercept=intercept)
    return model.fit(u if nb else None, y), u, y


def plain_matrix(na, nb, delay, intercept, u, y):
    first = max(na, nb + delay - 1 if nb else 0)
    rows = [
        [1.0] * intercept
        + [y[t - k] for k in range(1, na + 1)]
        + [u[t - delay - k + 1] for k in range(1, nb + 1)]
        for t in range(first, len(y))
    ]
    return first, np.array(rows)


@pytest.mark.parametrize("orders", ORDERS)
def test_coefficients_are_those_of_least_squares(orders):
    model, u, y = fitted(*orders)
    first, phi = plain_matrix(*orders, u, y)
    expected = np.linalg.lstsq(phi, y[first:], rcond=None)[0]
    np.testing.assert_allclose(model.coefficients_, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.coef_, expected[int(orders[3]) :], rtol=1e-12, atol=1e-12)
    assert model.intercept_ == (pytest.approx(expected[0]) if orders[3] else 0.0)
    np.testing.assert_array_equal(model.initial_, y[:first])


def test_an_autoregression_is_that_of_statsmodels():
    y = ua.datasets.arx(n=80, a=[0.6, 0.2], random_state=1)[1]
    expected = AutoReg(y, lags=2).fit().params
    found = ua.ARX(2, 0, fit_intercept=True).fit(None, y).coefficients_
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("orders", ORDERS)
def test_one_step_predictions_and_simulation_agree(orders):
    model, u, y = fitted(*orders)
    first, phi = plain_matrix(*orders, u, y)
    u = u if orders[1] else None
    np.testing.assert_allclose(model.predict(u, y), phi @ model.coefficients_, atol=1e-12)
    noise = np.zeros(len(y))
    noise[first:] = y[first:] - model.predict(u, y)
    again = model.simulate(len(y) if u is None else u, noise=noise)
    np.testing.assert_allclose(again, y, atol=1e-10)
    free = model.simulate(len(y) if u is None else u)
    step = model.predict(u, free)
    np.testing.assert_allclose(free[first:], step, atol=1e-10)
    np.testing.assert_array_equal(free[:first], y[:first])


APPLY = {
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
    "check_valid_tag_types",
    "check_estimators_unfitted",
    "check_fit2d_1feature",
    "check_estimator_sparse_array",
}
OTHER_MESSAGES = {
    "check_fit1d": "one dimension is what the model takes",
    "check_complex_data": "y is refused in other words",
    "check_estimators_empty_data_messages": "u is refused in other words",
    "check_fit2d_1sample": "a series of one time is refused in other words",
    "check_positive_only_tag_during_fit": "the check passes several columns",
}


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions_as_far_as_they_apply():
    """Its checks pass tables of several columns; all others hold, or are about the wording."""
    results = check_estimator(ua.ARX(), on_fail=None, on_skip=None)
    passed = {result["check_name"] for result in results if result["status"] == "passed"}
    assert passed >= APPLY
    for result in results:
        if result["status"] == "failed" and result["check_name"] not in OTHER_MESSAGES:
            assert "is not one column" in str(result["exception"]), result["check_name"]


def test_bad_input_is_one_sentence():
    model, u, y = fitted(1, 1, 1, False)
    with pytest.raises(NotFittedError):
        ua.ARX().predict(u, y)
    with pytest.raises(NotFittedError):
        ua.ARX().simulate(u)
    for match, call in {
        "y is missing": lambda: model.predict(u),
        "initial has the wrong shape: expected 1": lambda: model.simulate(u, initial=[1.0, 2.0]),
        "u is too short: expected at least 1": lambda: model.simulate([]),
        "u is missing": lambda: model.simulate(None),
        "series is too short: expected at least 2 outputs": lambda: model.predict(u[:1], y[:1]),
        "expected the number of times of a model": lambda: ua.ARX(nb=0).fit(None, y).simulate(None),
        "noise has the wrong shape: expected 50": lambda: model.simulate(u, noise=np.ones(49)),
        "noise has missing or infinite": lambda: model.simulate(u, noise=np.full(50, np.nan)),
        "u and y differ in length": lambda: ua.ARX().fit(u[1:], y),
        "na of ARX is out of range": lambda: ua.ARX(-1).fit(u, y),
        "nb of ARX is out of range": lambda: ua.ARX(1, True).fit(u, y),
        "delay of ARX is out of range": lambda: ua.ARX(delay=0).fit(u, y),
        "too short: expected at least 4": lambda: ua.ARX().fit(u[:3], y[:3]),
        "y has missing": lambda: ua.ARX().fit(u, np.where(y > 0, y, np.nan)),
    }.items():
        with pytest.raises(ValueError, match=match):
            call()
