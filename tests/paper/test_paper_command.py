"""``unassuming paper``: pictures, tables, and what is wrong with the article, in plain words."""

import csv

import pytest
from typer.testing import CliRunner

from unassuming.cli.app import app
from unassuming.paper import COLUMNS, FIGURES

MEMBERS, REPETITIONS = 120, 2
SMALL = ("--members", MEMBERS, "--repetitions", REPETITIONS)


def run(*words):
    return CliRunner().invoke(app, ["paper", *map(str, words)])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All six figures, from one run: what is printed, and the folder."""
    out = tmp_path_factory.mktemp("paper")
    result = run(*SMALL, "--out", out, "--seed", 3)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout, out


def table(out, number):
    with (out / f"figure-{number}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def words(text):
    return " ".join(text.split())


@pytest.mark.slow
def test_there_is_a_picture_and_a_table_for_each_figure(made):
    expected = {f"figure-{k}.{ending}" for k in range(1, 7) for ending in ("png", "csv")}
    assert {path.name for path in made[1].iterdir()} == expected
    for name in expected:
        assert str(made[1] / name) in made[0]


@pytest.mark.slow
@pytest.mark.parametrize("number", FIGURES)
def test_the_table_has_three_levels_for_each_region(made, number):
    figure, rows = FIGURES[number], table(made[1], number)
    assert tuple(rows[0]) == COLUMNS
    for setting in (*figure.settings, *figure.counted):
        own = [
            row for row in rows if (row["panel"], row["method"]) == (setting.panel, setting.name)
        ]
        assert [row["level"] for row in own] == ["0.1", "0.5", "0.9"]
        assert {(row["n"], row["m"], row["repetitions"]) for row in own} == {
            (str(setting.n), "100", str(REPETITIONS))
        }
        for row in own:
            assert float(row["coverage"]) == int(row["covered"]) / REPETITIONS
            assert float(row["low"]) <= float(row["coverage"]) <= float(row["high"])
        if setting in figure.settings:
            counts = [int(row["members_up_to_level"]) for row in own]
            assert 0 < counts[0] <= counts[1] <= counts[2] <= int(own[0]["members"]) == MEMBERS


@pytest.mark.slow
def test_the_gaussian_process_has_its_own_rows(made):
    rows = [row for row in table(made[1], 3) if row["panel"] == "3b"]
    assert len(rows) == 6
    everywhere = [row for row in rows if "at once" in row["method"]]
    each = [row for row in rows if "each input" in row["method"]]
    for one, other in zip(everywhere, each, strict=True):
        assert float(one["coverage"]) <= float(other["coverage"])
        assert other["low"] == other["high"] == ""


@pytest.mark.slow
def test_the_errata_are_stated_where_they_show(made):
    printed, out = words(made[0]), made[1]
    for number in FIGURES:
        notes = {row["note"] for row in table(out, number) if row["panel"] != "3b"}
        assert all("Erratum 1" in note for note in notes)
        assert any("Erratum 2" in note for note in notes) == (number == 1)
        assert any("Erratum 3" in note for note in notes) == (number == 4)
    published = [row for row in table(out, 1) if "symmetric" in row["method"]]
    skewed = [row for row in table(out, 4) if "binomial" in row["method"]]
    assert all("Erratum 2" in row["note"] and row["promise"] == "none" for row in published)
    assert all("Erratum 3" in row["note"] and row["promise"] == "none" for row in skewed)
    others = [row for row in table(out, 4) if "binomial" not in row["method"]]
    assert all("Erratum 3" not in row["note"] and row["promise"] == "exact" for row in others)
    for k in (1, 2, 3):
        assert printed.count(f"Erratum {k}:") == 1


@pytest.mark.slow
def test_the_same_seed_gives_the_same_files_and_another_seed_another_table(made, tmp_path):
    number = 3
    options = ("--figure", number, *SMALL, "--out", tmp_path)
    assert run(*options, "--seed", 3).exit_code == 0
    for ending in ("csv", "png"):
        name = f"figure-{number}.{ending}"
        assert (tmp_path / name).read_bytes() == (made[1] / name).read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {
        f"figure-{number}.png",
        f"figure-{number}.csv",
    }
    assert run(*options, "--seed", 4).exit_code == 0
    assert table(tmp_path, number) != table(made[1], number)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--figure", 7), "--figure"),
        (("--members", 0), "--members"),
        (("--seed", -1), "--seed"),
    ],
)
def test_what_is_wrong_is_one_line_with_exit_code_2(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    result = run(*options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    result = run("--out", tmp_path / "taken")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
