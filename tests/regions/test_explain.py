"""The same facts and remedies for a reader of Python and for one at the command line."""

import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge
from sklearn.svm import SVR

import unassuming as ua
from speed import slow_but
from unassuming.regions import Language, Status, _remedies
from unassuming.regions._explain import Cause, Explanation, Remedy, status_of

X, Y, _ = ua.datasets.sine(n=12, noise="laplace", random_state=0)
LINES = ua.datasets.linear(n=30, d=3, noise="laplace", random_state=0)[:2]

UNBOUNDED = {
    "kernel ridge": (KernelRidge(kernel="rbf", gamma=0.5), (X, Y), {}),
    "permutations": (LinearRegression(), LINES, {"noise": "exchangeable"}),
    "SVR": (SVR(C=1e3, gamma=0.5), (X, Y), {}),
    "Lasso, permutations": (Lasso(0.1), LINES, {"noise": "exchangeable"}),
}


PYTHON = r"norm_bound=|noise='|weighting=|inner=|fit_intercept|band\(|interval\(|region\.\w"
COMMAND_LINE = r"--\w"
VOCABULARY = [thing for thing in vars(_remedies).values() if isinstance(thing, Remedy)]


def build(name):
    estimator, data, options = UNBOUNDED[name]
    return ua.confidence_region(estimator, *data, m=20, random_state=0, **options)


@pytest.mark.parametrize("name", slow_but(UNBOUNDED, "kernel ridge", "permutations"))
def test_a_remedy_is_rendered_for_either_reader(name):
    region = build(name)
    for answer in (region.band(UNBOUNDED[name][1][0][:2]), region.interval()):
        if answer.status is Status.CERTIFIED:
            continue
        explanation = answer.explanation
        python, options = explanation.text(), explanation.text(Language.COMMAND_LINE)
        assert answer.reason == python
        assert explanation.remedies
        assert not re.search(COMMAND_LINE, python)
        assert not re.search(PYTHON, options)
        assert ("norm_bound=" in python) == ("--norm-bound" in options)
        assert ("norm_bound=" in python) == explanation.asks_for_norm_bound
        for fact in explanation.facts:
            assert str(fact) in python
            assert str(fact) in options


def test_no_remedy_is_said_to_be_none():
    assert Explanation(remedies=()).text() == "No remedy is known."
    only = Explanation(remedies=(Remedy("inner=True", None),))
    assert only.text() == "Remedies: inner=True."
    assert only.text(Language.COMMAND_LINE) == "No option of the command line changes this."
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
    assert not re.search(f"{PYTHON}|{COMMAND_LINE}", cause.value)  # facts are for every reader
    assert text.rstrip().endswith((".", "1"))  # or with the fact that it introduces


@pytest.mark.parametrize(
    "remedy", VOCABULARY, ids=lambda remedy: (remedy.python or remedy.command_line)[:30]
)
def test_a_remedy_keeps_to_the_language_of_its_reader(remedy):
    assert remedy.python is None or not re.search(COMMAND_LINE, remedy.python)
    assert remedy.command_line is None or not re.search(PYTHON, remedy.command_line)


def test_a_result_holds_no_data():
    X, y, _ = ua.datasets.linear(n=400, d=5, random_state=0)
    membership_only = ua.confidence_region(HuberRegressor(), X, y, m=20, random_state=0)
    kernel = KernelRidge(kernel="rbf")
    unbounded = ua.confidence_region(kernel, X[:200], y[:200], m=20, random_state=0)
    for answer in (membership_only.interval("x0"), unbounded.band(X[:1])):
        assert answer.status is not Status.CERTIFIED
        assert len(pickle.dumps(answer)) < 4_000


def test_the_level_that_is_offered_is_admissible():
    region = ua.confidence_region(KernelRidge(kernel="rbf", gamma=0.5), X, Y, m=30, random_state=1)
    reason = region.bounded(0.9).reason
    offered = re.search(r"a level of at most ([\d.]+);", reason)
    assert region.level(float(offered[1])) == region.level(region.max_bounded_level)


def test_what_was_asked_is_no_remedy():
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(5, 8)), rng.normal(size=5)
    wide = ua.confidence_region(Ridge(1e-3), Z, y, m=20, random_state=0)
    band, interval = wide.band(rng.normal(size=(2, 8))), wide.interval()
    assert band.status is interval.status is Status.UNDETERMINED
    assert "band(region.inputs)" in band.reason
    assert "band(X)" not in band.reason
    assert "band(X, norm_bound=B)" in band.reason
    assert "band(X)" in interval.reason
    assert "interval(norm_bound=B)" in interval.reason


def test_loose_label_bounds_point_to_members():
    X, y, _ = ua.datasets.labels(n=20, d=1, random_state=0)
    model = ua.LSSVC(kernel="rbf")
    region = ua.confidence_region(model, X, y, m=20, random_state=0)
    assert "inner=True for values that members attain" in region.band(X[:2]).reason
    classifier = ua.ConfidenceClassifier(model, m=20, random_state=0).fit(X, y)
    assert "predict_set(X, kind='inner')" in classifier.band_status_


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
