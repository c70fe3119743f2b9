"""The demo runs as a user runs it: a fresh process, an empty directory, no display."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scipy.stats import binom

from console import run

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
PICTURE = "unassuming-demo.png"
HEAD = "region candidate rank p-value in 50% in 90% in 95%"


@pytest.fixture(scope="module")
def demo(python, tmp_path_factory):
    """What is printed, and the directory."""
    directory = tmp_path_factory.mktemp("demo")
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    environment["PYTHONPATH"] = str(ROOT / "src")
    command = [*python, "-m", "unassuming", "demo"]
    ran = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout, directory


def test_candidates_are_tested_and_membership_follows_from_the_rank(demo):
    lines = [re.sub(r" +", " ", line) for line in demo[0].splitlines()]
    rows = lines[lines.index(HEAD) + 1 :]
    pattern = r"(spline ridge|kernel ridge) (.+) (\d+) ([\d.]+|-) (yes|no) (yes|no) (yes|no)"
    found = [re.fullmatch(pattern, row).groups() for row in rows[: rows.index("")]]
    assert len(found) == 8
    for _, candidate, rank, pvalue, *inside in found:
        assert inside == ["yes" if int(rank) <= limit else "no" for limit in (50, 90, 95)]
        if candidate == "the estimate":
            assert (rank, pvalue) == ("1", "-")
        else:
            assert round(100 * float(pvalue)) == 101 - int(rank)
        if candidate == "0.2 too late":
            assert rank == "100"
        if candidate == "the truth":
            assert inside[1] == "yes"


def test_coverage_is_within_the_binomial_band(demo):
    truth, late, _ = re.findall(
        r"^ *(?:the truth|0.2 too late|10 % too small) +(.*%)$", demo[0], re.M
    )
    shares = [float(share) / 100 for share in re.findall(r"([\d.]+)%", truth)]
    for level, share in zip((0.5, 0.9, 0.95), shares, strict=True):
        law = binom(500, level)
        assert law.ppf(5e-7) <= round(500 * share) <= law.isf(5e-7)
    assert re.findall(r"[\d.]+%", late)[1] == "0.0%"


def test_a_second_run_in_another_process_prints_and_draws_the_same(demo, tmp_path, monkeypatch):
    printed, directory = demo
    assert [path.name for path in directory.iterdir()] == [PICTURE]
    assert printed.endswith(f"Picture saved as {PICTURE} in the current directory.\n")
    monkeypatch.chdir(tmp_path)
    assert run("demo") == (0, printed, "")
    picture = (tmp_path / PICTURE).read_bytes()
    assert picture.startswith(b"\x89PNG\r\n")
    assert picture == (directory / PICTURE).read_bytes()


def test_both_bands_are_finite_and_hold_the_truth_and_the_estimate(demo):
    row = r" *(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+)\n"
    found = re.findall(f"(?m)^{row}", demo[0])
    assert len(found) == 10
    for x, estimate, lower, upper in (map(float, cells) for cells in found):
        assert lower < estimate < upper
        assert lower < x * math.sin(x) < upper


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("matplotlib", *(name for name in sys.modules if name.startswith("matplotlib."))):
        monkeypatch.setitem(sys.modules, name, None)
    code, printed, said = run("demo")
    assert (code, printed, said.count("\n")) == (2, "", 1)
    assert 'pip install "unassuming[plot]"' in said
    assert not list(tmp_path.iterdir())
