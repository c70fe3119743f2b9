"""The two classes of labels: told by y, or named with ``classes=``."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV

import unassuming as ua

N = 16
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 1))
Y = np.where(RNG.uniform(size=N) < 0.5, "no", "yes")


def region_of(y, model=None, **options):
    return ua.confidence_region(
        model or RidgeClassifier(), X, y, **{"m": 100, "random_state": 0, **options}
    )


@pytest.mark.parametrize(
    ("y", "classes", "sign"),
    [
        (np.zeros(N, dtype=int), [0, 1], -1),
        (np.ones(N, dtype=int), [0, 1], 1),
        (-np.ones(N, dtype=int), [-1, 1], -1),
        (np.zeros(N), [0.0, 1.0], -1),
        (np.ones(N), [0.0, 1.0], 1),
        (-np.ones(N), [-1.0, 1.0], -1),
        (np.zeros(N, dtype=bool), [False, True], -1),
        (np.ones(N, dtype=bool), [False, True], 1),
        ([True] * N, [False, True], 1),
        (pd.Series([1] * N, dtype="Int64"), [0, 1], 1),
        (pd.Series([False] * N, dtype="boolean"), [False, True], -1),
        (np.zeros(N, dtype=np.uint8), [0, 1], -1),
    ],
)
def test_numbers_and_booleans_tell_the_other_class(y, classes, sign):
    region = region_of(y)
    found = region.problem.classes.tolist()
    assert found == classes
    assert list(map(type, found)) == list(map(type, classes))
    assert (region.objective.y == sign).all()
    assert f"y = +1 is {classes[1]:g}," in str(region).replace("True", "1")


@pytest.mark.parametrize("y", [["a"] * N, [2] * N, [0.5] * N, ["1"] * N], ids=repr)
def test_other_labels_have_to_be_named(y):
    label = re.escape(repr(y[0]))
    with pytest.raises(ValueError, match=rf"given 1: {label}\. Name both with classes="):
        region_of(y)
    assert region_of(y, classes=("other", y[0])).problem.classes.tolist() == ["other", y[0]]


def test_the_second_of_two_classes_is_plus_one():
    plain, turned = region_of(Y), region_of(Y, classes=("yes", "no"))
    np.testing.assert_array_equal(turned.objective.y, -plain.objective.y)
    np.testing.assert_allclose(turned.estimate, -plain.estimate, rtol=1e-12)
    assert "y = +1 is 'no', y = -1 is 'yes'" in str(turned)
    named = region_of(Y, classes=("no", "yes"))
    np.testing.assert_array_equal(named.objective.y, plain.objective.y)
    a = RNG.uniform(-0.4, 0.4, size=(20, 2))
    np.testing.assert_array_equal(named.rank(a), plain.rank(a))


@pytest.mark.parametrize("model", [RidgeClassifier(), LogisticRegression(), ua.LSSVC()], ids=repr)
def test_a_fitted_classifier_is_read_in_the_order_of_the_region(model):
    fitted = model.fit(X, Y)
    turned = region_of(Y, model, classes=("yes", "no"))
    a = -ua.objectives.fitted_coefficients(fitted, N)
    np.testing.assert_array_equal(turned.statistics(fitted), turned.statistics(a))
    mean = ua.objectives.fitted_values(fitted, X)
    np.testing.assert_allclose(
        turned.statistics(fitted), turned.statistics(lambda X: -mean), rtol=1e-6, atol=1e-20
    )


def test_a_fitted_classifier_of_other_names_is_told_about_classes():
    fitted = RidgeClassifier().fit(X, np.where(Y == "yes", 1, -1))
    with pytest.raises(ValueError, match=r"other classes: expected the classes 0 and 1.*build the"):
        region_of(np.ones(N, dtype=int)).rank(fitted)
    region_of(np.ones(N, dtype=int), classes=(-1, 1)).rank(fitted)


@pytest.mark.parametrize(
    "classes",
    ["no", ("no",), ("no", "no"), {"no", "yes"}, 2, ("no", None), (0, np.nan), ("a", "b", "c")],
    ids=lambda names: str(sorted(names) if isinstance(names, set) else names),
)
def test_names_are_two_different_labels_in_order(classes):
    with pytest.raises(ValueError, match=r"^classes does not name two labels: expected a list or"):
        region_of(Y, classes=classes)


@pytest.mark.parametrize("model", [Ridge(), LinearRegression(), ua.KernelLasso()], ids=repr)
def test_a_regressor_has_no_classes(model):
    expected = r"^classes is only for classifiers: expected .*, given \w+\. Leave out classes\.$"
    with pytest.raises(ValueError, match=expected):
        region_of(np.arange(N), model, classes=(0, 1))


# --- tuning ---------------------------------------------------------------------------------------


def test_a_tuned_region_takes_the_classes_of_all_rows():
    """The rows that are left for the region show only one of them."""
    search = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 1.0]}, cv=2)
    rare = np.full(N, "no", dtype="<U3")
    rare[ua.tuned_region(search, X, Y, random_state=0).tuning.tuning_rows[::2]] = "yes"
    region = ua.tuned_region(search, X, rare, random_state=0)
    assert region.problem.classes.tolist() == ["no", "yes"]
    assert (region.objective.y == -1).all()
    turned = ua.tuned_region(search, X, Y, classes=("yes", "no"), random_state=0)
    assert turned.problem.classes.tolist() == ["yes", "no"]
    with pytest.raises(ValueError, match=r"^classes is only for classifiers"):
        ua.tuned_region(GridSearchCV(Ridge(), {"alpha": [1.0]}), X, X[:, 0], classes=("a", "b"))
