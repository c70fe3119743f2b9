"""``unassuming test``: the rank and the p-value of the library, and a sentence."""

import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unassuming as ua


@pytest.mark.parametrize("candidate", ["truth", "late"])
def test_the_verdict_is_that_of_the_library(run, tables, candidate):
    words = ("--candidate", candidate, "--features", "x", "--model", "krr", "--seed", 5)
    result = run("test", "candidates.csv", "--target", "y", *words)
    assert result.exit_code == 0, result.stderr
    table = pd.read_csv(tables / "candidates.csv")
    model = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", gamma=1.0, alpha=1.0))
    region = ua.confidence_region(model, table[["x"]], table["y"], random_state=5)
    expected = region.test(lambda X: table[candidate])
    assert str(expected) in result.stdout
    inside = [line.split()[1] for line in result.stdout.splitlines() if line[:3] in ("0.9", "0.5")]
    assert inside == ["inside" if expected.rank <= limit else "outside" for limit in (122, 64)]


def test_the_truth_is_kept_and_the_wrong_function_rejected(run):
    words = ("candidates.csv", "--target", "y", "--features", "x", "--candidate")
    assert "p-value <= 0.0079: outside every region" in run("test", *words, "late").stdout
    assert "0.953125     inside" in run("test", *words, "truth").stdout


def test_the_candidate_is_never_a_feature(run, tables, tmp_path):
    table = pd.read_csv(tables / "candidates.csv")
    alone = tmp_path / "alone.csv"
    table[["x", "y", "truth"]].to_csv(alone, index=False)
    words = ("--target", "y", "--candidate", "truth", "--m", 20)
    by_default, named = run("test", alone, *words), run("test", alone, *words, "--features", "x")
    assert by_default.exit_code == 0
    assert by_default.stdout == named.stdout
    refused = run("test", alone, *words, "--features", "x,truth")
    assert refused.exit_code == 2
    assert "neither the target nor the candidate, given 'truth'" in refused.stderr


def test_labels_are_tested_by_their_mean(run, tables):
    words = ("--candidate", "mean", "--model", "logistic")
    result = run("test", "labels.csv", "--target", "label", *words)
    assert result.exit_code == 0, result.stderr
    assert "E[y|x], with y = 1 where label is yes and -1 elsewhere" in result.stdout
    assert "fitted to these rows" in result.stdout


def test_rows_where_the_candidate_is_missing_are_dropped_on_request(run, tables, write):
    text = (tables / "candidates.csv").read_text()
    gaps = write("gaps.csv", text + "3.5,1.0,,2\n")
    words = ("--target", "y", "--features", "x", "--candidate", "truth", "--m", 20)
    assert "'truth' has missing values" in run("test", gaps, *words).stderr
    dropped = run("test", gaps, *words, "--drop-missing").stdout
    full = run("test", "candidates.csv", *words).stdout
    dropped = dropped.replace(" (1 with missing values dropped)", "")
    assert dropped.replace("gaps.csv", "candidates.csv") == full


def test_it_says_which_columns_are_features(run):
    words = ("candidates.csv", "--target", "y", "--candidate", "truth", "--m", 20)
    found = run("test", *words).stdout
    assert "target y, candidate truth, features x, late" in found
    assert "name the features with --features" in found
    assert "name the features" not in run("test", *words, "--features", "x").stdout
