"""The decision table, the tutorial and the page on MAPIE keep what they promise."""

import contextlib
import re
import shlex
from doctest import ELLIPSIS, OutputChecker

import mapie.classification
import mapie.regression
import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

import unassuming as ua
from test_readme import examples, fenced, printed, read, table
from unassuming.cli.app import app

QUESTIONS, TUTORIAL, MAPIE, STATSMODELS = (
    "docs/howto/which-call.md",
    "docs/tutorial.md",
    "docs/howto/coming-from-mapie.md",
    "docs/howto/coming-from-statsmodels.md",
)
CALLS = {cells[0]: cells[1] for cells in table(QUESTIONS, "question") if cells[1].startswith("`")}


@pytest.fixture(scope="module")
def objects():
    names = {}
    for line, source, _ in examples(QUESTIONS):
        printed(source, QUESTIONS, line, names)
    return names


@pytest.mark.slow
@pytest.mark.parametrize("question", CALLS)
def test_every_call_of_the_decision_table_answers(question, objects):
    answer = eval(CALLS[question].strip("`").replace("\\|", "|"), objects)
    assert answer is not None
    if hasattr(answer, "lower"):
        assert np.isfinite(np.asarray(answer.upper) - np.asarray(answer.lower)).all()


def test_the_decision_table_has_questions():
    assert len(CALLS) > 12


@pytest.mark.slow
def test_the_commands_of_the_tutorial_print_what_it_shows(tmp_path):
    """All blocks in the order of the page; a line of dots stands for lines left out."""
    names, blocks = {"__name__": "page"}, fenced(TUTORIAL)
    shown = [(kind, text) for _, kind, text in blocks[1:]] + [("", "")]
    ran = 0
    with contextlib.chdir(tmp_path):
        for (line, kind, source), (after, expected) in zip(blocks, shown, strict=True):
            if kind == "python":
                printed(source, TUTORIAL, line, names)
            elif kind == "sh":
                result = CliRunner().invoke(app, shlex.split(source)[1:])
                assert result.exit_code == 0, result.stderr
                assert after == "text"
                assert OutputChecker().check_output(expected, result.stdout, ELLIPSIS), (
                    result.stdout
                )
                ran += 1
        assert ran == 2
        for written in re.findall(r"`(unassuming-\w+/\w+\.csv|report\.html)`", read(TUTORIAL)):
            assert (tmp_path / written).is_file()


@pytest.mark.slow
def test_the_command_of_the_readme_prints_its_table(tmp_path):
    names = {"__name__": "page"}
    with contextlib.chdir(tmp_path):
        for line, source, _ in examples("README.md"):
            printed(source, "README.md", line, names)
        (command,) = [text for _, _, text in fenced("README.md") if text.startswith("unassuming")]
        result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert result.exit_code == 0, result.stderr
    (row,) = [line for line in result.stdout.splitlines() if line.startswith("  poverty")]
    expected = names["table"].loc["poverty", ["estimate", "lower", "upper"]]
    assert [float(cell) for cell in row.split()[1:4]] == pytest.approx(list(expected), abs=1e-3)


def test_the_names_of_mapie_exist():
    column = " ".join(cells[0] for cells in table(MAPIE, "in MAPIE"))
    named = set(re.findall(r"\b\w+(?:Regressor|Classifier)\b", column))
    there = {*dir(mapie.regression), *dir(mapie.classification)}
    assert len(named) > 3
    assert named <= there


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    region = ua.confidence_region(LinearRegression(), X[:150], y[:150])
    return {"region": region, "ua": ua, "Z": X[:2], "g": np.eye(11)[3]}


REPLACEMENTS = [
    call
    for cells in table(STATSMODELS, "in statsmodels")
    for call in re.findall(r"`(region\.[^`]+)`", cells[1])
]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("call", REPLACEMENTS)
def test_the_calls_that_replace_those_of_statsmodels_run(call, diabetes):
    answer = eval(call, diabetes)
    assert np.size(getattr(answer, "upper", answer)) >= 1


def test_a_regressor_answers_as_the_table_says():
    X, y, _ = ua.datasets.linear(n=40, d=1, random_state=0)
    regressor = ua.ConfidenceRegressor(LinearRegression(), level=0.9, random_state=0).fit(X, y)
    assert regressor.predict_mean_interval(X).shape == (40, 2)
    assert set(regressor.predict_mean_interval(X, level=[0.5, 0.9])) == {0.5, 0.9}


def test_the_page_about_skewed_noise_shows_the_table_of_its_command():
    """Every row is one that python -m benchmarks.evidence.skewed has written."""
    written = read("benchmarks/evidence/skewed.txt").splitlines()[3:]
    known = [re.sub(r"\s+", " ", line) for line in written]
    rows = table("docs/howto/if-the-noise-is-not-symmetric.md", "columns and noise")
    assert len(rows) > 5
    assert all(" ".join(row) in known for row in rows)
