"""The commands of the documentation run, and leave the files that they promise."""

import contextlib
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unassuming.cli.app import app

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/command-line.md"


@pytest.fixture(scope="module")
def page():
    return PAGE.read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def where(page, tmp_path_factory):
    """The folder in which the commands of the page have run."""
    folder = tmp_path_factory.mktemp("page")
    with contextlib.chdir(folder):
        exec("".join(blocks(page, "python")), {})
        for line in "".join(blocks(page, "sh")).splitlines():
            result = CliRunner().invoke(app, shlex.split(line)[1:])
            assert result.exit_code == 0, result.stderr
    return folder


@pytest.mark.slow
def test_the_commands_run_and_leave_their_files(where):
    assert (where / "report.html").exists()
    for command, files in {
        "summary": {"summary.csv", "summary.json", "forest.png"},
        "region": {"band.csv", "region.json", "coefficients.png"},
    }.items():
        assert files == {path.name for path in (where / f"unassuming-{command}").iterdir()}
    names = json.loads((where / "unassuming-summary" / "summary.json").read_text())
    assert "capital" in str(names)


def test_the_page_names_every_command(page):
    listed = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    commands = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert {name.rstrip("_") for name in commands} == listed | {"stream"} & commands
