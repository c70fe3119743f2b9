"""``--classes``: which label is +1, and the name of one that does not occur."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

OUT = Path("unassuming-region")


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch):
    """Names are in region.json; the bounds of a picture take most of the time."""
    monkeypatch.setattr("unassuming.cli._region.draw", lambda pictures, out: ([], ""))


@pytest.fixture
def one(write):
    """Write a table whose target has the same value everywhere."""

    def to(label):
        x = np.random.default_rng(0).normal(size=20).round(3)
        table = pd.DataFrame({"x": x, "mean": 0.9, "label": label})
        return write("one.csv", table.to_csv(index=False))

    return to


def classes(run, *words):
    result = run("region", *words, "--level", 0.9)
    assert result.exit_code == 0, result.stderr
    found = json.loads((OUT / "region.json").read_text())
    return [found["classes"]["-1"], found["classes"]["+1"]]


@pytest.mark.slow
def test_one_class_needs_a_name(run, one):
    words = ("region", one("yes"), "--target", "label", "--features", "x", "--model", "ls-svc")
    result = run(*words)
    assert result.exit_code == 2
    assert "given 1: 'yes'. Name both with --classes A,B; the second is +1." in result.stderr
    assert classes(run, *words[1:], "--classes", "no,yes") == ["no", "yes"]
    assert classes(run, *words[1:], "--classes", "yes, no") == ["yes", "no"]


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("label", "given", "found"),
    [
        (1, None, ["0", "1"]),
        (1, "-1,1", ["-1", "1"]),
        (2, "1,2", ["1", "2"]),
        (2.5, "2.5,1.5", ["2.5", "1.5"]),
        (True, None, ["False", "True"]),
        (True, "true,false", ["True", "False"]),
    ],
)
def test_names_are_read_as_the_column_is(run, one, label, given, found):
    words = (one(label), "--target", "label", "--features", "x", "--model", "ls-svc")
    assert classes(run, *words, *(() if given is None else ("--classes", given))) == found


@pytest.mark.slow
def test_names_choose_the_sign_of_two_classes(run):
    words = ("labels.csv", "--target", "label", "--features", "a", "--model", "ls-svc")
    assert classes(run, *words) == ["no", "yes"]
    straight = json.loads((OUT / "region.json").read_text())["estimate"]
    assert classes(run, *words, "--classes", "yes,no") == ["yes", "no"]
    turned = json.loads((OUT / "region.json").read_text())["estimate"]
    assert turned == {name: pytest.approx(-value) for name, value in straight.items()}


def test_a_test_of_one_class(run, one):
    words = ("--target", "label", "--features", "x", "--candidate", "mean")
    result = run("test", one("yes"), *words, "--model", "logistic", "--classes", "no,yes")
    assert result.exit_code == 0, result.stderr
    assert "y = 1 where label is yes" in result.stdout
    assert "inside" in result.stdout


def test_logistic_regression_reports_that_it_has_no_estimate(run, one):
    words = ("--target", "label", "--features", "x", "--model", "logistic", "--classes", "no,yes")
    result = run("region", one("yes"), *words)
    assert result.exit_code == 0, result.stderr
    assert "Not available: the estimate of logistic regression needs labels" in result.stdout
    found = json.loads((OUT / "region.json").read_text())
    assert found["estimate"] is None
    assert "needs labels of both classes" in found["band"]["not available"]
    assert {path.name for path in OUT.iterdir()} == {"region.json"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("yes", "--classes does not name two labels: expected two different labels with a comma"),
        ("yes,yes", "--classes does not name two labels"),
        ("a,b,c", "--classes does not name two labels"),
        ("yes,", "--classes does not name two labels"),
        ("a,b", "expected 'a' or 'b', given 'yes'"),
    ],
)
def test_wrong_names_are_refused(run, one, given, message):
    words = (one("yes"), "--target", "label", "--features", "x", "--model", "ls-svc")
    result = run("region", *words, "--classes", given)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("more", [(), ("--stream",)])
def test_a_regression_has_no_classes(run, more):
    words = ("sine.csv", "--target", "y", "--classes", "0,1", *more)
    result = run("region", *words)
    assert result.exit_code == 2
    assert (
        "--classes is not an option of spline: expected --model ls-svc or logistic" in result.stderr
    )
