"""The demo runs as a user runs it: a fresh process, an empty directory, no display."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unassuming.cli.app import app

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
PICTURE = "unassuming-demo.png"
HEAD = "region candidate rank p-value in 50% in 90% in 95%"


def run_demo(python, directory):
    """Run the demo in that directory."""
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    environment["PYTHONPATH"] = str(ROOT / "src")
    return subprocess.run(
        [*python, "-m", "unassuming", "demo"],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def demo(python, tmp_path_factory):
    directory = tmp_path_factory.mktemp("demo")
    ran = run_demo(python, directory)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran, directory


def verdicts(text):
    """The table of verdicts: (region, candidate) to rank, p-value, yes or no three times."""
    lines = [re.sub(r" +", " ", line) for line in text.splitlines()]
    rows = lines[lines.index(HEAD) + 1 :]
    rows = rows[: rows.index("")]
    pattern = r"(spline ridge|kernel ridge) (.+) (\d+) ([\d.]+|-) (yes|no) (yes|no) (yes|no)"
    return {(found[1], found[2]): found.groups()[2:] for found in map_match(pattern, rows)}


def map_match(pattern, rows):
    found = [re.fullmatch(pattern, row) for row in rows]
    assert all(found), rows
    return found


def test_membership_follows_from_the_rank_and_the_pvalue(demo):
    assert len(verdicts(demo[0].stdout)) == 8
    for (_, candidate), (rank, pvalue, *inside) in verdicts(demo[0].stdout).items():
        expected = ["yes" if int(rank) <= limit else "no" for limit in (50, 90, 95)]
        assert inside == expected
        if candidate != "the estimate":
            assert round(100 * float(pvalue)) == 101 - int(rank)


def test_the_truth_is_kept_the_wrong_function_rejected_and_the_estimate_first(demo):
    table = verdicts(demo[0].stdout)
    for region in ("spline ridge", "kernel ridge"):
        assert table[region, "the truth"][3] == "yes"
        assert table[region, "0.2 too late"] == ("100", "0.01", "no", "no", "no")
        assert table[region, "the estimate"][:2] == ("1", "-")


def test_coverage_is_within_the_binomial_band(demo):
    from scipy.stats import binom

    line = next(line for line in demo[0].stdout.splitlines() if "%" in line and "truth" in line)
    shares = [float(share) / 100 for share in re.findall(r"([\d.]+)%", line)]
    for level, share in zip((0.5, 0.9, 0.95), shares, strict=True):
        law = binom(500, level)
        assert law.ppf(5e-7) <= round(500 * share) <= law.isf(5e-7)


def test_the_readme_quotes_the_coverage_that_the_demo_prints(demo):
    rows = [line for line in demo[0].stdout.splitlines() if line.count("%") >= 3]
    share = {who: next(row for row in rows if who in row).split()[-2] for who in ("truth", "late")}
    caption = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert share["late"] == "0.0%"
    assert f"truth is in {share['truth'].replace('%', ' %')} of the 90 % regions" in caption


def test_it_leaves_one_picture_and_says_where(demo):
    ran, directory = demo
    assert [path.name for path in directory.iterdir()] == [PICTURE]
    picture = (directory / PICTURE).read_bytes()
    assert picture.startswith(b"\x89PNG\r\n")
    assert len(picture) > 20_000
    assert ran.stdout.endswith(f"Picture saved as {PICTURE} in the current directory.\n")


def test_a_second_run_in_another_process_prints_and_draws_the_same(demo, tmp_path, monkeypatch):
    ran, directory = demo
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["demo"]).stdout == ran.stdout
    assert (tmp_path / PICTURE).read_bytes() == (directory / PICTURE).read_bytes()


def bands(text):
    """The two tables of the band, x, estimate, lower and upper."""
    found = re.findall(
        r"^ *x +estimate .*\n((?: *[-\d.]+ +[-\d.]+ +[-\d.]+ +[-\d.]+\n)+)", text, re.M
    )
    return [[[float(cell) for cell in row.split()] for row in part.splitlines()] for part in found]


def test_both_bands_are_finite_and_hold_the_truth_and_the_estimate(demo):
    spline, kernel = bands(demo[0].stdout)
    assert len(spline) == len(kernel) == 5
    for x, estimate, lower, upper in spline + kernel:
        assert lower < estimate < upper
        assert lower < x * math.sin(x) < upper


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("matplotlib", *(name for name in sys.modules if name.startswith("matplotlib."))):
        monkeypatch.setitem(sys.modules, name, None)
    ran = CliRunner().invoke(app, ["demo"])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert len(ran.stderr.splitlines()) == 1
    assert 'pip install "unassuming[plot]"' in ran.stderr
    assert not list(tmp_path.iterdir())
