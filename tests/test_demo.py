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
HEAD = "candidate rank p-value in 50% in 90% in 95%"


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


def test_candidates_are_tested_and_coverage_is_within_the_binomial_band(demo):
    lines = [re.sub(r" +", " ", line) for line in demo[0].splitlines()]
    rows = lines[lines.index(HEAD) + 1 :][:3]
    found = {}
    for row in rows:
        match = re.fullmatch(r"(.+) (\d+) ([\d.]+) (.+)% (.+)% (.+)%", row)
        who, rank, pvalue, *shares = match.groups()
        assert round(100 * float(pvalue)) == 101 - int(rank)
        found[who] = int(rank), [float(share) / 100 for share in shares]
    assert list(found) == ["the truth", "0.2 too late", "10 % too small"]
    assert found["0.2 too late"][0] == 100
    assert found["0.2 too late"][1][1] == 0
    assert found["the truth"][0] <= 90
    for level, share in zip((0.5, 0.9, 0.95), found["the truth"][1], strict=True):
        law = binom(500, level)
        assert law.ppf(5e-7) <= round(500 * share) <= law.isf(5e-7)


def test_a_second_run_in_another_process_prints_and_draws_the_same(demo, tmp_path, monkeypatch):
    printed, directory = demo
    assert [path.name for path in directory.iterdir()] == [PICTURE]
    assert printed.endswith(f"Picture saved as {PICTURE}.\n")
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
