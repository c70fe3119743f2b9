"""Tables that are read chunk by chunk: the library's answers, and nothing lost when it stops."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline

import unassuming as ua
from unassuming.cli import stream, tables
from unassuming.cli.columns import find
from unassuming.cli.options import Problem
from unassuming.cli.terms import encoder
from unassuming.streaming import read_note

ROOT = Path(__file__).resolve().parents[2]
OUT = Path("unassuming-region")
NUMBERS = ("band.csv", "region.json")


def made(n, seed=0):
    """A table of two features."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-1, 2, size=n), rng.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "y": np.sin(2 * a) + b + rng.laplace(size=n)})


def streamed(table, model, m=128):
    """What the library makes of a table."""
    made = ua.StreamingRegion(model, m=m, random_state=0)
    return made.partial_fit(table[["a", "b"]], table["y"]).region()


@pytest.fixture
def chunks(monkeypatch):
    """Chunks of a hundred rows, so that small tables have many."""
    monkeypatch.setattr(tables, "CHUNK_ROWS", 100)


def reported(run, path, *words, model="ols", out=OUT):
    result = run("region", path, "--target", "y", "--model", model, "--out", out, *words)
    assert result.exit_code == 0, result.stderr
    return result


def refused(result, message):
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def numbers(out):
    """The bytes of the files without pictures."""
    return {name: (Path(out) / name).read_bytes() for name in NUMBERS}


# The answers of the library


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("model", "kind"), [("ols", "csv"), ("spline", "csv"), ("ridge", "parquet")]
)
def test_a_streamed_table_has_the_bounds_of_the_library(run, tmp_path, chunks, model, kind):
    path, at = tmp_path / f"table.{kind}", made(5, seed=1)
    table = made(1_500)
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
    at.to_csv("at.csv", index=False)
    reported(run, path, "--at", "at.csv", "--method", "joint", "--stream", model=model)
    steps = {"ols": LinearRegression(), "ridge": Ridge()}
    if model == "spline":
        problem = Problem(path, "y")
        terms = stream.build_streamed(problem, *find(problem), stream.Streaming(True)).terms
        for term in terms:
            assert term.knots == tuple(np.quantile(table[term.column], np.linspace(0.05, 0.95, 8)))
        steps["spline"] = make_pipeline(encoder(terms).fit(table[["a", "b"]]), LinearRegression())
    region = streamed(pd.read_csv(path) if kind == "csv" else table, steps[model])
    found = pd.read_csv(OUT / "band.csv").query("level > 0.9")
    expected = region.band(at[["a", "b"]], level=0.95, method="joint")
    np.testing.assert_allclose(found["upper"], expected.upper, rtol=1e-6)
    np.testing.assert_allclose(found["lower"], expected.lower, rtol=1e-6)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("level", [0.95, 0.9])
def test_a_streamed_summary_is_that_of_the_library(run, chunks, level):
    table = made(2_500)
    table.to_csv("long.csv", index=False)
    result = run("summary", "long.csv", "--target", "y", "--stream", "--level", level)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "long.csv was read in chunks; only sums over its 2500 rows were kept." in result.stdout
    assert "depend on the order of the rows" in result.stdout
    found = pd.read_csv("unassuming-summary/summary.csv")
    expected = streamed(pd.read_csv("long.csv"), LinearRegression()).summary(level)
    for name in ("estimate", "model_estimate", "lower", "upper", "pvalue"):
        np.testing.assert_allclose(found[name], getattr(expected, name), rtol=1e-9)
    assert Path("unassuming-summary/forest.png").exists()


# When a table is streamed


@pytest.mark.slow
def test_a_large_table_is_streamed_and_a_small_one_is_not(run, monkeypatch):
    made(300).to_csv("table.csv", index=False)
    words = ("--m", 32, "--level", 0.9)
    assert "read in chunks" not in reported(run, "table.csv", *words).stdout
    monkeypatch.setattr(stream, "LARGE", 1_000)
    assert "read in chunks" in reported(run, "table.csv", *words).stdout
    assert "read in chunks" not in reported(run, "table.csv", "--no-stream", *words).stdout


def test_a_large_table_that_cannot_be_streamed_is_read_whole_with_a_note(run, monkeypatch):
    made(30).to_csv("table.csv", index=False)
    monkeypatch.setattr(stream, "LARGE", 100)
    result = reported(run, "table.csv", "--m", 32, model="krr")
    assert result.stderr.startswith("note: table.csv is large and is read into memory as a whole")
    assert "--model krr needs all rows at once" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--stream --model krr", "--model krr needs all rows at once"),
        ("--checkpoint c --model logistic", "with --checkpoint"),
        ("--stream --noise exchangeable", "expected symmetric with --stream"),
        ("--stream --m all", "--m all needs all rows at once"),
        ("--stream --m 20", "expected a power of two from 4 to 2048 with --stream, given --m 20"),
        ("--checkpoint c --no-stream", "expected --stream with --checkpoint, given --no-stream"),
        ("--checkpoint nowhere/c", "a folder that exists"),
        ("--checkpoint c --m 64 --level 0.99", "0.99 takes --m 100 or more"),
        ("--checkpoint c --norm-bound 0", "'--norm-bound': "),
        ("--checkpoint c --model ols --alpha 1", "--alpha is not an option of ols"),
        ("--checkpoint c --features x,z", "the column 'z' is not in sine.csv"),
    ],
)
def test_what_cannot_be_streamed_is_refused_before_a_row_is_read(run, words, message):
    refused(run("region", "sine.csv", "--target", "y", *words.split()), message)
    assert not os.listdir()


# Bad rows and damaged files


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "low,1,1",
            "the column 'a' is not numeric: expected finite numbers, given 'low' in row 251",
        ),
        (",1,1", "the column 'a' has missing values: expected a value in every row, given none in"),
        ("1,1", "the column 'y' has missing values"),
        ("1,1,inf", "given inf in row 251 below the header"),
        ("1,1,1,1", "table after row 200: line 252 has 4 values, where the lines before have 3"),
    ],
)
@pytest.mark.parametrize("model", ["ols", "spline"])
def test_a_bad_row_far_down_is_named(run, write, chunks, entry, message, model):
    lines = made(400).to_csv(index=False).splitlines()
    path = write("bad.csv", "\n".join([*lines[:251], entry, *lines[251:]]))
    refused(run("region", path, "--target", "y", "--stream", "--model", model), message)
    assert not OUT.exists()


@pytest.mark.slow
def test_a_damaged_checkpoint_is_refused_and_left_as_it_is(run):
    made(300).to_csv("table.csv", index=False)
    reported(run, "table.csv", "--checkpoint", "c")
    content = bytearray(Path("c").read_bytes())
    content[len(content) // 2] ^= 1
    for damaged in (bytes(content), bytes(content[:-40]), b"junk"):
        Path("c").write_bytes(damaged)
        refused(
            run("region", "table.csv", "--target", "y", "--checkpoint", "c"), "not a checkpoint"
        )
        assert Path("c").read_bytes() == damaged


# Interrupted and taken up again


def interrupt_after(patch, count):
    """Press Ctrl-C while chunk number ``count`` is being counted."""
    take, calls = stream.Pass.take, []

    def counted(self, *args, **options):
        calls.append(None)
        if len(calls) == count:
            os.kill(os.getpid(), signal.SIGINT)
        take(self, *args, **options)

    patch.setattr(stream.Pass, "take", counted)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "model"), [("csv", "spline"), ("parquet", "ridge")])
def test_interrupted_often_it_gives_the_same_files(
    run, chunks, monkeypatch, kind, model, real_pictures
):
    table, path = made(1_222), f"table.{kind}"
    table.loc[[7, 150, 1170], "b"] = np.nan
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path, row_group_size=300)
    words = ("--drop-missing", "--features", "b", "--m", 32, "--level", 0.9)
    reported(run, path, *words, "--stream", model=model, out="whole")
    again = ("--target", "y", "--model", model, *words, "--checkpoint", "c", "--out", "parts")
    for chunk in (1, 3, 7):
        with monkeypatch.context() as patch:
            interrupt_after(patch, chunk)
            result = run("region", path, *again)
        assert (result.exit_code, result.stdout) == (130, "")
        assert "run the same command again" in result.stderr
        assert not Path("parts").exists()
    assert f"after {100 * (1 + 3 + 7)} rows" in result.stderr
    assert run("region", path, *again).exit_code == 0
    whole = {p.name: p.read_bytes() for p in Path("whole").iterdir()}
    parts = {p.name: p.read_bytes() for p in Path("parts").iterdir()}
    assert whole == parts
    assert "band.png" in whole


TWICE = """
import sys, time
from unassuming.cli import main, stream, tables

tables.CHUNK_ROWS = 100
take = stream.Pass.take

def slowly(*args, **options):
    take(*args, **options)
    time.sleep(0.1)  # in which signals may come

stream.Pass.take = slowly
try:
    main()
except SystemExit as stop:
    print("ended with", stop.code, flush=True)
main()
"""


def rows_kept(path):
    return read_note(path)[0]["read"] if path.exists() else 0


def stop(process, signal_sent, checkpoint, rows):
    """Send a signal when that many rows are in the checkpoint."""
    while rows_kept(checkpoint) < rows and process.poll() is None:
        time.sleep(0.03)
    process.send_signal(signal_sent)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_after_real_signals_the_same_command_gives_the_same_files(run, chunks):
    """A process of its own starts the command twice. Nothing stops the one at the end."""
    path, checkpoint, rows = Path("large.parquet"), Path("c"), 2_000
    made(rows).to_parquet(path, row_group_size=700)
    made(5, seed=1).to_csv("at.csv", index=False)
    words = ("region", path, "--target", "y", "--model", "ols", "--m", 32, "--at", "at.csv")
    whole = run(*words, "--stream", "--out", "whole")
    assert whole.exit_code == 0, whole.stderr
    words += ("--checkpoint", checkpoint, "--checkpoint-every", 0, "--out", "parts")
    process = subprocess.Popen(
        [sys.executable, "-c", TWICE, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    stop(process, signal.SIGINT, checkpoint, 300)
    assert process.stdout.readline() == "ended with 130\n"
    kept = rows_kept(checkpoint)
    assert 300 <= kept < rows
    stop(process, signal.SIGKILL, checkpoint, kept + 300)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr.count("\n")) == (-signal.SIGKILL, "", 1)
    assert "are kept in c: run the same command again" in stderr
    assert kept + 300 <= rows_kept(checkpoint) < rows
    last = run(*words)
    assert (last.exit_code, last.stderr) == (0, "")
    assert numbers("parts") == numbers("whole")
    assert json.loads(Path("whole/region.json").read_text())["rows"] == rows


@pytest.mark.slow
def test_a_finished_checkpoint_answers_other_questions_without_the_data(run, monkeypatch):
    table = made(300)
    table.to_csv("table.csv", index=False)
    table[:5].to_csv("at.csv", index=False)
    words = ("table.csv", "--m", 32, "--at", "at.csv")
    reported(run, *words, "--checkpoint", "c", model="spline")
    with monkeypatch.context() as patch:
        patch.setattr(tables.CsvSource, "chunks", None)
        text = reported(run, *words, "--checkpoint", "c", "--level", 0.8, model="spline")
    assert "The sums are kept in c" in text.stdout
    answered = numbers(OUT)
    reported(run, *words, "--stream", "--level", 0.8, model="spline")
    assert numbers(OUT) == answered


OTHERS = {
    "other.csv --target y --model ridge": "another file: expected other.csv",
    "table.csv --target a --model ridge": "another --target: expected a, given y",
    "table.csv --target y --model ols": "another --model: expected ols, given ridge",
    "table.csv --target y --model ridge --alpha 2": "another --alpha: expected 2.0, given 1.0",
    "table.csv --target y --model ridge --features b": "another list of features: expected b",
    "table.csv --target y --model ridge --m 64": "another --m: expected 64, given 128",
    "table.csv --target y --model ridge --seed 1": "another --seed: expected 1, given 0",
    "table.csv --target y --model ridge --drop-missing": "another choice of --drop-missing",
}


@pytest.mark.slow
def test_a_checkpoint_of_something_else_is_refused_and_left(run):
    made(300).to_csv("table.csv", index=False)
    made(300, seed=1).to_csv("other.csv", index=False)
    reported(run, "table.csv", "--checkpoint", "c", model="ridge")
    before = Path("c").read_bytes()
    for words, message in OTHERS.items():
        refused(run("region", *words.split(), "--checkpoint", "c"), message)
        assert Path("c").read_bytes() == before


@pytest.mark.slow
def test_a_file_that_has_grown_or_changed_is_another_file(run):
    text = made(300).to_csv(index=False)
    Path("table.csv").write_text(text)
    reported(run, "table.csv", "--checkpoint", "c")
    for changed in (text + "1,2,3\n", text.replace("0.1", "0.2", 1)):
        assert changed != text
        Path("table.csv").write_text(changed)
        result = run("region", "table.csv", "--target", "y", "--model", "ols", "--checkpoint", "c")
        refused(result, "was made with another file")


# What is seen meanwhile, and what it takes


PEAK = """
import sys
from peak_memory import peak_memory
from unassuming.cli.app import app
for path in sys.argv[1:]:
    try:
        app(["region", path, "--target", "y", "--stream", "--m", "32", "--at", "at.csv"])
    except SystemExit as stop:
        assert stop.code == 0, stop.code
    print(peak_memory())
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is asked there")
def test_a_table_six_times_as_long_takes_the_same_memory(tmp_path):
    """In a fresh process, where the first command takes what every command finds afterwards."""
    for name, rows in {"short": 30_000, "long": 180_000}.items():
        made(rows).to_parquet(tmp_path / f"{name}.parquet", row_group_size=15_000)
    made(30, seed=1)[["a", "b"]].to_csv(tmp_path / "at.csv", index=False)
    ran = subprocess.run(
        [sys.executable, "-c", PEAK, "short.parquet", "short.parquet", "long.parquet"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    _, short, long = (int(line) for line in ran.stdout.splitlines() if line.isdecimal())
    assert long < 1.05 * short
