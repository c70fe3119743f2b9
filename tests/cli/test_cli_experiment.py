"""``unassuming experiment``: the library's numbers for the table of a randomised experiment."""

import numpy as np
import pandas as pd
import pytest

import unassuming as ua


@pytest.fixture
def trial(write):
    rng = np.random.default_rng(0)
    before, treated = rng.normal(size=24), rng.permutation(np.repeat(["no", "yes"], 12))
    table = {
        "y": before + rng.lognormal(size=24) + 2 * (treated == "yes"),
        "treated": treated,
        "before": before,
        "group": np.tile(["u", "v", "w"], 8),
        "school": np.repeat(["a", "b"], 12),
    }
    return write("trial.csv", pd.DataFrame(table).to_csv(index=False))


def words(result):
    assert result.exit_code == 0, result.stderr
    return " ".join(result.stdout.split())


def test_it_prints_what_the_library_prints(run, trial):
    said = words(run("experiment", trial, "--target", "y", "--treatment", "treated", "--effect", 1))
    table = pd.read_csv(trial)
    result = ua.assignment_test(table["y"], table["treated"], effect=1.0, random_state=0)
    assert " ".join(str(result).split()) in said
    assert "target y, treatment treated" in said
    assert "Controls" not in said


def test_controls_strata_and_levels(run, trial):
    given = ("--strata", "school", "--controls", "before,group", "--level", 0.8, "--level", 0.9)
    result = run("experiment", trial, "--target", "y", "--treatment", "treated", *given, "--m", 200)
    said, table = words(result), pd.read_csv(trial)
    controls = pd.get_dummies(table[["before", "group"]], drop_first=True).astype(float)
    expected = ua.assignment_test(
        table["y"],
        table["treated"],
        strata=table["school"],
        controls=controls,
        level=0.9,
        m=200,
        random_state=0,
    )
    assert f"interval {expected.interval}" in said
    assert said.endswith(f"Interval {expected.interval_at(0.8)}.")
    assert "Controls: before, group." in said
    assert "indicators of group" in said


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--treatment", "group"), "treatment does not have two values"),
        (("--treatment", "tt"), "the column 'tt' is not in trial.csv"),
        (("--treatment", "treated", "--controls", "y"), "--controls does not name the inputs"),
        (("--treatment", "treated", "--strata", "y"), "--strata is the target"),
        (("--treatment", "treated", "--level", "2"), "level must be a number strictly between"),
    ],
)
def test_wrong_columns_get_one_sentence(run, trial, given, message):
    result = run("experiment", trial, "--target", "y", *given)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") <= 1


def test_a_table_of_outputs_alone_is_a_series(run, write):
    _, y, _ = ua.datasets.arx(n=40, random_state=0)
    path = write("alone.csv", pd.DataFrame({"y": y}).to_csv(index=False))
    result = run("arx", path, "--target", "y", "--nb", 0, "--m", 20, "--level", 0.5)
    assert "output y, rows in the order of time" in words(result)


def test_it_says_which_rows_are_treated_and_an_option_chooses_the_others(run, trial):
    asked = ("experiment", trial, "--target", "y", "--treatment", "treated")
    said = words(run(*asked))
    assert "Rows whose treated is 'yes', the later of its two values in order, count" in said
    assert "--treated 'no' chooses the others." in said
    said, table = words(run(*asked, "--treated", "no")), pd.read_csv(trial)
    assert "Rows whose treated is 'no' count as treated." in said
    result = ua.assignment_test(table["y"], table["treated"], treated="no", random_state=0)
    assert " ".join(str(result).split()) in said
    assert result.estimate < 0


@pytest.mark.parametrize(("values", "treated"), [([0, 1], "0"), ([1.5, 2.5], "1.5")])
def test_a_treated_number_is_read_as_the_column_is(run, write, values, treated):
    table = pd.DataFrame({"y": [1.0, 2.0, 3.5, 4.0, 1.5, 2.5], "arm": values * 3})
    path = write("arms.csv", table.to_csv(index=False))
    asked = ("experiment", path, "--target", "y", "--treatment", "arm", "--treated")
    assert f"whose arm is {treated} count as treated." in words(run(*asked, treated))
    refused = run(*asked, "7")
    assert refused.exit_code == 2
    assert "--treated is not a value of the column arm" in refused.stderr
