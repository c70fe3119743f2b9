"""The same facts and remedies for a reader of Python and for one at the command line."""

import re
import warnings

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.svm import SVR

import unassuming as ua
from unassuming.regions import Language, Status
from unassuming.regions._explain import Cause, Explanation, Remedy, status_of

X, Y, _ = ua.datasets.sine(n=12, noise="laplace", random_state=0)
LINES = ua.datasets.linear(n=30, d=3, noise="laplace", random_state=0)[:2]

UNBOUNDED = {
    "kernel ridge": (KernelRidge(kernel="rbf", gamma=0.5), (X, Y), {}),
    "permutations": (LinearRegression(), LINES, {"noise": "exchangeable"}),
    "SVR": (SVR(C=1e3, gamma=0.5), (X, Y), {}),
    "Lasso, permutations": (Lasso(0.1), LINES, {"noise": "exchangeable"}),
}


def build(name):
    estimator, data, options = UNBOUNDED[name]
    return ua.confidence_region(estimator, *data, m=20, random_state=0, **options)


@pytest.mark.parametrize("name", UNBOUNDED)
def test_a_remedy_is_rendered_for_either_reader(name):
    region = build(name)
    for answer in (region.band(UNBOUNDED[name][1][0][:2]), region.interval()):
        if answer.status is Status.CERTIFIED:
            continue
        explanation = answer.explanation
        python, options = explanation.text(), explanation.text(Language.COMMAND_LINE)
        assert answer.reason == python
        assert explanation.remedies
        assert not re.search(r"--\w", python)
        assert not re.search(r"norm_bound=|noise='|weighting=|inner=|fit_intercept", options)
        assert ("norm_bound=" in python) == ("--norm-bound" in options)
        assert ("norm_bound=" in python) == explanation.asks_for_norm_bound
        for fact in explanation.facts:
            assert str(fact) in python
            assert str(fact) in options


def test_no_remedy_is_said_to_be_none():
    assert Explanation(remedies=()).text() == "No remedy is known."
    only = Explanation(remedies=(Remedy("inner=True", None),))
    assert only.text() == "Remedies: inner=True."
    assert only.text(Language.COMMAND_LINE) == "No remedy is known."
    assert Explanation().text() == ""


def test_a_remedy_is_replaced():
    old, new = Remedy("a", "--a"), Remedy("b", "--b")
    assert Explanation(remedies=(old,)).replaced(old, new).text() == "Remedies: b."
    assert Explanation().replaced(old, new).remedies is None


@pytest.mark.parametrize("cause", Cause)
def test_every_fact_is_a_sentence(cause):
    fields = set(re.findall(r"{(\w+)", cause.value))
    text = str(cause(**dict.fromkeys(fields, 1)))
    assert "{" not in text
    assert text.rstrip().endswith((".", "1"))  # or with the fact that it introduces


@pytest.mark.parametrize(
    ("lower", "upper", "status"),
    [
        ([0.0, 1.0], [1.0, 2.0], Status.CERTIFIED),
        ([0.0, -np.inf], [1.0, 2.0], Status.UNBOUNDED),
        ([0.0, 0.0], [1.0, np.inf], Status.UNBOUNDED),
        ([np.inf, np.inf], [-np.inf, -np.inf], Status.EMPTY),
    ],
)
def test_bounds_have_one_status(lower, upper, status):
    assert status_of(np.array(lower), np.array(upper), Status.UNBOUNDED) is status


def test_the_former_name_of_the_squared_radius_warns():
    ellipsoid = ua.confidence_region(LinearRegression(), *LINES, random_state=0).ellipsoid()
    with pytest.warns(DeprecationWarning, match="now called squared_radius") as caught:
        assert ellipsoid.radius == ellipsoid.squared_radius
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ellipsoid.squared_radius > 0
