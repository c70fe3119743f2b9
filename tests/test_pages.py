"""The decision table, the tutorial and the page on MAPIE keep what they promise."""

import contextlib
import re
import shlex
from doctest import ELLIPSIS, OutputChecker

import mapie.classification
import mapie.regression
import numpy as np
import pytest
from typer.testing import CliRunner

import unassuming as ua
from test_readme import examples, fenced, printed, read, table
from unassuming.cli._app import app

QUESTIONS, TUTORIAL, MAPIE = (
    "docs/howto/which-call.md",
    "docs/tutorial.md",
    "docs/howto/coming-from-mapie.md",
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


def test_the_decision_table_has_questions_and_named_noises():
    assert len(CALLS) > 12
    noises = " ".join(cells[1] for cells in table(QUESTIONS, "the noise"))
    named = set(re.findall(r'"([\w-]+)"', noises))
    assert named
    assert named <= set(ua.noise.NAMED)


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
        assert ran == 3
        for written in re.findall(r"`(unassuming-\w+/\w+\.png|report\.html)`", read(TUTORIAL)):
            assert (tmp_path / written).is_file()


def test_the_names_of_mapie_exist():
    column = " ".join(cells[0] for cells in table(MAPIE, "in MAPIE"))
    named = set(re.findall(r"\b\w+(?:Regressor|Classifier)\b", column))
    there = {*dir(mapie.regression), *dir(mapie.classification)}
    assert len(named) > 4
    assert named <= there
