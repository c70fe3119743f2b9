"""What a stranger reads first."""

import re
import subprocess
import sys

import pytest

import unassuming as ua
from unassuming.cli.options import Assumption

COMMANDS = ("demo", "region", "summary", "report", "test", "arx", "experiment", "paper")


def text_of(result):
    assert result.exit_code == 0
    assert result.stderr == ""
    return " ".join(result.stdout.split())


def test_without_arguments_it_explains_itself(run):
    assert text_of(run()) == text_of(run("--help")) == text_of(run("-h"))
    assert "Start with: unassuming demo" in text_of(run())


def test_every_command_has_a_summary_that_fits(run):
    lines = run("--help").stdout.split("Commands:")[1].strip().splitlines()
    found = dict(line.strip().split(maxsplit=1) for line in lines)
    assert set(found) == set(COMMANDS)
    assert all(summary.endswith(".") and "..." not in summary for summary in found.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained(run, command):
    options = run(command, "--help").stdout.split("Options:")[1]
    entries = re.split(r"\n(?=  -)", options.strip("\n"))
    for entry in entries:
        name, *words = re.sub(r"<.*?>|[A-Z],[A-Z],\.\.\.", "", entry).split()
        assert len(words) >= 3, name
    assert command in ("demo", "paper") or len(entries) > 12


def test_names_of_models_and_noises_are_listed(run):
    found = text_of(run("region", "--help"))
    models = ("spline", "krr", "ridge", "ols", "svr", "klasso", "huber", "ls-svc", "logistic")
    for name in (*models, *ua.noise.NAMED):
        assert name in found


def test_the_names_of_noises_are_those_of_the_library():
    assert [str(name) for name in Assumption] == list(ua.noise.NAMED)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("words", [(), ("--help",), ("region", "--help"), ("region", "gone.csv")])
def test_help_and_wrong_options_import_no_large_package(words):
    code = (
        "import sys\nfrom unassuming.cli import main\n"
        f"sys.argv = ['unassuming', *{words!r}]\n"
        "try:\n    main()\nfinally:\n"
        "    print('loaded:', *{name.split('.')[0] for name in sys.modules})"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    loaded = ran.stdout.split("loaded: ")[1].split()
    assert not {"numpy", "scipy", "pandas", "sklearn", "matplotlib", "pyarrow"} & set(loaded)
    assert "typer" in loaded


def test_the_version_is_that_of_the_library(run):
    assert run("--version").stdout == f"unassuming {ua.__version__}\n"
