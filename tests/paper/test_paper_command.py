"""``unassuming paper``: pictures, tables, and what is wrong with the article, in plain words."""

import csv

import pytest

import console
from unassuming.paper import COLUMNS, FIGURES

MEMBERS, REPETITIONS = 120, 2
SMALL = ("--members", MEMBERS, "--repetitions", REPETITIONS)


def run(*words):
    return console.run("paper", *words)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All six figures, from one run: what is printed, and the folder."""
    out = tmp_path_factory.mktemp("paper")
    code, printed, said = run(*SMALL, "--out", out, "--seed", 3)
    assert (code, said) == (0, "")
    return printed, out


def table(out, number):
    with (out / f"figure-{number}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
        own = [r for r in rows if (r["panel"], r["method"]) == (setting.panel, setting.name)]
        assert [row["level"] for row in own] == ["0.1", "0.5", "0.9"]
        for row in own:
            assert (row["n"], row["m"]) == (str(setting.n), "100")
            assert float(row["coverage"]) == int(row["covered"]) / REPETITIONS
            assert float(row["low"]) <= float(row["coverage"]) <= float(row["high"])
        if setting in figure.settings:
            counts = [int(row["members_up_to_level"]) for row in own]
            assert 0 < counts[0] <= counts[1] <= counts[2] <= int(own[0]["members"]) == MEMBERS


@pytest.mark.slow
def test_the_errata_are_stated_where_they_show(made):
    printed = " ".join(made[0].split())
    for number in FIGURES:
        for row in table(made[1], number):
            wrong = number == 1 and "symmetric" in row["method"]
            skewed = number == 4 and "binomial" in row["method"]
            if row["panel"] != "3b":
                assert "Erratum 1" in row["note"]
                assert ("Erratum 2" in row["note"]) == wrong
                assert ("Erratum 3" in row["note"]) == skewed
                assert row["promise"] == ("none" if wrong or skewed else "exact")
    for k in (1, 2, 3):
        assert printed.count(f"Erratum {k}:") == 1


@pytest.mark.slow
def test_the_same_seed_gives_the_same_files_and_another_seed_another_table(made, tmp_path):
    options = ("--figure", 3, *SMALL, "--out", tmp_path)
    assert run(*options, "--seed", 3)[0] == 0
    for name in ("figure-3.csv", "figure-3.png"):
        assert (tmp_path / name).read_bytes() == (made[1] / name).read_bytes()
    assert run(*options, "--seed", 4)[0] == 0
    assert table(tmp_path, 3) != table(made[1], 3)


@pytest.mark.parametrize("option", ["--figure", "--members", "--repetitions"])
def test_what_is_wrong_is_one_line_with_exit_code_2(tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    code, printed, said = run(option, 0)
    assert (code, printed, said.count("\n")) == (2, "", 1)
    assert said.startswith("error: ")
    assert option in said
    assert not list(tmp_path.iterdir())
