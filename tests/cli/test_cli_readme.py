"""The commands of the documentation run, and print what it shows."""

import contextlib
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


def commands(text):
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line.split("  #")[0] for block in blocks for line in block.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("unassuming ")]


@pytest.fixture(scope="module")
def where(tmp_path_factory):
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def printed(page, where):
    """What each command of the page prints where the tables of the page are."""
    sources = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    found = {}
    with contextlib.chdir(where):
        exec("".join(sources), {})
        for words in commands(page):
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, result.stderr
            found[words[0], *words[-2:]] = result.stdout
    return found


@pytest.mark.slow
def test_they_run_and_leave_the_files_that_the_page_names(printed, where):
    assert len(printed) == 6
    assert (where / "unassuming-arx" / "coefficients.png").exists()
    for directory in ("unassuming-region", "kernel", "pointwise"):
        written = {path.name for path in (where / directory).iterdir()}
        assert written == {"band.csv", "region.json", "band.png"}


@pytest.mark.slow
def test_the_test_ends_as_the_page_shows(printed, page):
    shown = re.search(r"^```text\n(Hypothesis: .*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    assert printed["test", "--candidate", "guess"].endswith(shown)


@pytest.mark.slow
def test_the_summary_is_the_one_that_the_page_shows(printed, page, where):
    shown = re.search(r"^```text\n(people.csv: .*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    assert printed["summary", "--clusters", "school"].startswith(shown)
    written = {path.name for path in (where / "unassuming-summary").iterdir()}
    assert written == {"summary.csv", "summary.json", "forest.png"}
