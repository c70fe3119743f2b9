"""What a stranger reads first, and errors: one line on stderr with exit code 2."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unassuming.cli import region

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("demo", "region", "summary", "report", "test", "arx", "experiment", "paper")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained(run, command):
    options = run(command, "--help").stdout.split("Options:")[1]
    entries = re.split(r"\n(?=  -)", options.strip("\n"))
    for entry in entries:
        name, *words = re.sub(r"<.*?>|[A-Z],[A-Z],\.\.\.", "", entry).split()
        assert len(words) >= 3, name
    assert command in ("demo", "paper") or len(entries) > 12


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


# Errors

TABLES = {
    "one.csv": "x,y\n1,2\n",
    "empty.csv": "",
    "text.csv": "x,y\n1,2\nlow,3\n4,5\n",
    "gap.csv": "x,y\n1,2\n,3\n4,5\n",
    "infinite.csv": "x,y\n1,2\n3,inf\n4,5\n",
    "alone.csv": "y\n1\n2\n",
    "semicolon.csv": "x;y\n1;2\n3;4\n",
    "words.csv": "x,y\n1,yes\n2,no\n3,yes\n",
    "long.csv": "x,y\n1,2,3\n4,5,6\n",
    "twice.csv": "x, x ,y\n1,2,3\n4,5,6\n",
    "binary.csv": b"\xff\xfe\x00",
    "broken.parquet": "junk",
    "table.json": "x,y\n1,2\n",
}

BAD_TABLES = [
    ("one.csv", "one.csv has too few rows: expected at least 2, given 1"),
    ("empty.csv", "empty.csv cannot be read as a table"),
    (
        "text.csv",
        "'x' is not numeric: expected finite numbers, given 'low' in row 2 below the header",
    ),
    ("gap.csv", "the column 'x' has missing values"),
    ("infinite.csv", "'y' is not numeric: expected finite numbers, given inf"),
    ("semicolon.csv", 'Columns seem to be separated otherwise: add --sep ";".'),
    ("words.csv", "It has two labels: use unassuming region --model ls-svc."),
    (
        "alone.csv",
        "alone.csv has no such inputs: expected different columns beside 'y', given none",
    ),
    ("long.csv", "long.csv cannot be read as a table"),
    ("twice.csv", "is in twice.csv more than once"),
    ("binary.csv", "binary.csv cannot be read as a table"),
    ("broken.parquet", "broken.parquet cannot be read as a table"),
    ("table.json", "ends in .csv, .tsv, .parquet or .xlsx"),
    ("nowhere.csv", "does not exist"),
]

PYTHON = re.compile(r"\b\w+=|\w\(|\bua\.|norm_bound|Value error|Pass ")
"""Names of Python, and words of typer, that a reader of the command line cannot use."""

BAD_OPTIONS = [
    ("--target z", "the column 'z' is not in sine.csv: expected one of 'x', 'y'"),
    ("", "Missing option '--target'"),
    ("--target y --features x,q", "the column 'q' is not in sine.csv"),
    ("--target y --features x,x", "different columns"),
    ("--target y --features x,y", "given 'y'"),
    ("--target y --model forest", "is not one of 'spline', 'krr'"),
    ("--target y --model logistic", "y does not hold two classes"),
    ("--target y --noise gaussian", "'gaussian' is not one of 'symmetric', 'exchangeable'"),
    ("--target y --noise labels", "expected --model ls-svc or logistic with --noise labels"),
    ("--target y --model logistic --noise symmetric", "expected --noise labels, its default"),
    ("--target y --model quantile --quantile 1.5", "quantile is out of range"),
    ("--target y --model svr --C 0", "C is out of range"),
    ("--target y --model svr --epsilon nan", "epsilon is out of range"),
    ("--target y --gamma 1", "--gamma is not an option of spline: expected --alpha"),
    ("--target y --model krr --knots 4", "--knots is not an option of krr"),
    ("--target y --model krr --kernel linear --gamma 1", "no meaning for the linear kernel"),
    ("--target y --m 100 --level 0.995", "Try --level 0.99; 0.995 takes --m 200 or more"),
    ("--target y --level 1", "'--level': "),
    ("--target y --m 1", "expected an integer >= 2, or all"),
    ("--target y --m all", "to enumerate"),
    ("--target y --seed -1", "--seed"),
    ("--target y --norm-bound -3", "'--norm-bound': "),
    ("--target y --norm-bound 1e307", "'--norm-bound': "),
    ("--target y --out sine.csv", "--out"),
    ("--target y --at people.csv", "the column 'x' is not in people.csv"),
    ("--target y --mystery 1", "No such option"),
]


def refused(result, message):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert "?." not in result.stderr


@pytest.mark.parametrize(("name", "message"), BAD_TABLES)
def test_a_bad_table_is_refused(run, write, name, message):
    path = write(name, TABLES[name]) if name in TABLES else name
    refused(run("region", path, "--target", "y"), message)


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_a_bad_option_is_refused(run, options, message):
    result = run("region", "sine.csv", *options.split())
    refused(result, message)
    assert not PYTHON.search(result.stderr)
    assert not os.listdir()


def test_a_place_that_cannot_be_written_to_is_refused_at_once(run, tables):
    inside = tables / "sine.csv" / "inside"
    refused(run("region", "sine.csv", "--target", "y", "--out", inside), "--out cannot be written")


def test_a_defect_is_reported_without_a_stack_trace(run, monkeypatch):
    def broken(*args, **options):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(region, "run_region", broken)
    result = run("region", "sine.csv", "--target", "y")
    assert result.exit_code == 1
    assert result.stderr == "error: unexpected RuntimeError: two lines. Please report it.\n"


@pytest.fixture
def process(python, tmp_path):
    """Run the command as a user does, in a process of its own."""

    def run(*words, path=()):
        search = os.pathsep.join([*map(str, path), str(ROOT / "src")])
        return subprocess.run(
            [*python, "-m", "unassuming", *map(str, words)],
            env={**os.environ, "PYTHONPATH": search},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.slow
def test_a_process_of_its_own_writes_files_and_nothing_to_stderr(process, tables, tmp_path):
    ran = process("region", tables / "sine.csv", "--target", "y", "--m", 20)
    assert (ran.returncode, ran.stderr) == (0, "")
    written = {path.name for path in (tmp_path / "unassuming-region").iterdir()}
    assert written == {"band.csv", "region.json", "band.png"}
    assert "\x1b" not in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["typer", "pandas"])
def test_what_is_not_installed_is_named_with_the_remedy(process, tmp_path, missing):
    package = tmp_path / "modules" / missing
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        f"raise ModuleNotFoundError('No module named {missing}', name='{missing}')\n"
    )
    ran = process("demo", path=[package.parent])
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        f"error: the command line needs {missing}, which is not installed: "
        'pip install "unassuming[cli,plot]"\n'
    )


@pytest.mark.slow
def test_without_matplotlib_the_numbers_are_written_all_the_same(run, tmp_path, monkeypatch):
    package = tmp_path / "modules" / "matplotlib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'matplotlib'\", name='matplotlib')\n"
    )
    monkeypatch.syspath_prepend(package.parent)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    ran = run("region", "sine.csv", "--target", "y", "--m", 20, "--out", "out")
    assert ran.exit_code == 0
    assert 'pip install "unassuming[plot]"' in ran.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"band.csv", "region.json"}
