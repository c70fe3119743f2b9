"""What label regions say: which class is +1, what is known, and what to do."""

import json
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import SVC

import unassuming as ua
from unassuming.regions._results import Status

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(60, 1))
Y = np.where(RNG.uniform(size=60) < (1 + 0.7 * X[:, 0]) / 2, "yes", "no")


def region_of(model, y=Y, **options):
    return ua.confidence_region(model, X, y, **{"m": 20, "random_state": 0, **options})


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (Y, "y = +1 is 'yes', y = -1 is 'no'"),
        (np.where(Y == "yes", 1, 0), "y = +1 is 1, y = -1 is 0"),
        (np.where(Y == "yes", 2.0, 1.0), "y = +1 is 2, y = -1 is 1"),
        (Y == "yes", "y = +1 is True, y = -1 is False"),
    ],
)
def test_a_region_says_which_class_is_plus_one(y, said):
    assert said in str(region_of(RidgeClassifier(), y))


def test_the_report_file_says_which_class_is_plus_one(tmp_path):
    pytest.importorskip("typer")
    from unassuming.cli._files import write_region
    from unassuming.cli._findings import examine

    findings = examine(region_of(RidgeClassifier()), X[:2], [0.9], None)
    write_region(findings, {}, "RidgeClassifier()", tmp_path / "region.json")
    assert json.loads((tmp_path / "region.json").read_text())["classes"] == {
        "+1": "yes",
        "-1": "no",
    }


@pytest.mark.parametrize("model", [LogisticRegression(), ua.LSSVC(kernel="rbf")])
def test_trivial_bounds_are_first_of_all_trivial(model):
    band = region_of(model).band(X[:3])
    assert band.status is Status.TRIVIAL
    assert ": nothing is known beyond [-1, 1]" in str(band)
    assert "honest" not in str(band)


def test_bounds_that_say_something_are_not_called_trivial():
    assert region_of(RidgeClassifier()).band(X[:3]).status is Status.CERTIFIED


def test_the_picture_of_trivial_bounds_says_that_none_are_known():
    plt = pytest.importorskip("matplotlib.pyplot")
    two = np.column_stack([X, X[::-1]])
    region = ua.confidence_region(LogisticRegression(), two, Y, m=20, random_state=0)
    ax = ua.plots.classification(region, [0.9], resolution=5)
    texts = " ".join([t.get_text() for t in ax.figure.findobj(plt.Text)]).replace("\n", " ")
    assert "90 %: no outer bound known" in texts
    assert "nothing is known beyond [-1, 1]" in texts
    assert "undecided at every input" not in texts
    plt.close("all")


def test_advice_for_logistic_regression_fits_it():
    region = region_of(LogisticRegression())
    reason = region.interval().reason
    assert "A norm bound limits the coefficients but not the intercept" in reason
    bounded = region.interval(norm_bound=3.0)
    assert np.isfinite([bounded.lower[1], bounded.upper[1]]).all()
    assert np.isinf([bounded.lower[0], bounded.upper[0]]).all()
    assert region.band(X[:1], norm_bound=3.0).status is Status.TRIVIAL
    for ask in (region.bounded, lambda: region.max_bounded_level):
        with pytest.raises(ua.NotAvailable, match=r"crossings\(direction\) shows where"):
            ask()


def test_without_an_intercept_a_norm_bound_helps_logistic_regression():
    region = region_of(LogisticRegression(fit_intercept=False))
    band = region.band([[0.5]], norm_bound=3.0)
    assert band.status is Status.CERTIFIED
    assert band.upper[0] == pytest.approx(np.tanh(3 * 0.5 / 2))


# --- the classifier -------------------------------------------------------------------------------


def test_the_classifier_speaks_of_its_own_methods():
    model = ua.ConfidenceClassifier(LogisticRegression(), m=20, random_state=0).fit(X, Y)
    model.predict_band(X[:2])
    assert "predict_set(X, kind='inner') and region_.band(X, inner=True)" in model.band_status_
    assert "inner=True gives" not in model.band_status_


def test_the_classifier_of_the_published_region_says_that_it_has_no_guarantee():
    with pytest.warns(UserWarning, match="no coverage guarantee"):
        model = ua.ConfidenceClassifier(noise="symmetric", m=20, random_state=0).fit(X, Y)
    model.predict_band(X[:2])
    assert "this region carries no coverage guarantee" in model.band_status_


def test_warnings_name_the_line_of_the_user():
    builds = [
        lambda: ua.ConfidenceClassifier(noise="symmetric", m=20, random_state=0).fit(X, Y),
        lambda: region_of(ua.LSSVC(), noise="symmetric"),
    ]
    for build in builds:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            build()
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.slow
def test_the_same_inputs_are_searched_once(monkeypatch):
    model = ua.ConfidenceClassifier(m=20, random_state=0).fit(X, Y)
    region, asked = model.region_, []
    original = type(region).band
    monkeypatch.setattr(type(region), "band", lambda *a, **k: asked.append(1) or original(*a, **k))
    band = model.predict_band(X[:3])
    np.testing.assert_array_equal(model.predict_set(X[:3].copy())[:, 1], band[:, 1] >= 0)
    assert len(asked) == 1
    band[:] = 0.0
    assert model.predict_band(X[:3]).any()  # what was returned before is the user's own
    model.predict_band(X[:4])
    model.predict_band(X[:3], level=0.5)
    model.fit(X, Y[::-1]).predict_band(X[:3], level=0.5)
    assert len(asked) == 4


class Unknown(SVC):
    """A classifier of which nothing is known."""


def test_a_classifier_without_a_region_is_answered_with_classifiers():
    with pytest.raises(TypeError, match="one of LSSVC, LogisticRegression, RidgeClassifier, or a"):
        ua.ConfidenceClassifier(Unknown()).fit(X, Y)
    with pytest.raises(TypeError, match=r"given SVC\. Use LogisticRegression, RidgeClassifier or"):
        ua.ConfidenceClassifier(SVC()).fit(X, Y)


def test_missing_labels_are_named():
    y = Y.astype(object)
    y[3] = None
    for fit in (ua.ConfidenceClassifier().fit, lambda *data: region_of(RidgeClassifier(), data[1])):
        with pytest.raises(ValueError, match=r"a label in every row, given None at position 3"):
            fit(X, y)


def test_logistic_regression_with_another_noise_is_one_clear_sentence():
    with pytest.raises(ValueError, match=r"noise does not fit logistic regression, a model of lab"):
        region_of(LogisticRegression(), noise="symmetric")


# --- candidates -----------------------------------------------------------------------------------


def test_probabilities_are_recognised_when_they_are_rejected():
    region = region_of(RidgeClassifier())

    def probability(X):
        return (1 + 0.7 * X[:, 0]) / 2

    rejected = region.test(probability)
    assert rejected.pvalue <= 0.1
    assert "if these are probabilities, pass 2p - 1" in str(rejected)
    right = region.test(lambda X: 2 * probability(X) - 1)
    assert "2p - 1" not in str(right)
    assert "2p - 1" not in str(region.test(lambda X: -0.7 * X[:, 0]))  # rejected, but no such case
    kept = region.test(lambda X: np.maximum(0.7 * X[:, 0], 0.0))
    assert kept.pvalue > 0.1
    assert "2p - 1" not in str(kept)


def test_a_classifier_of_other_classes_is_told_plainly():
    other = LogisticRegression().fit(X, np.where(Y == "yes", 1, 0))
    with pytest.raises(
        ValueError, match=r"the classes 'no' and 'yes', given LogisticRegression of 0 a"
    ):
        region_of(RidgeClassifier()).rank(other)


class Probabilities:
    """A classifier that knows nothing of scikit-learn."""

    classes_ = ("no", "yes")

    def predict_proba(self, X):
        p = (1 + 0.7 * X[:, 0]) / 2
        return np.column_stack([1 - p, p])


def test_any_object_with_probabilities_and_classes_is_a_candidate():
    region = region_of(RidgeClassifier())
    rank = region.rank(lambda X: 0.7 * X[:, 0])
    assert region.rank(Probabilities()) == rank
    assert region.rank([Probabilities(), lambda X: 0.7 * X[:, 0]]).tolist() == [rank, rank]
    assert "p-value is not a valid test" in region.test(Probabilities()).caveat
