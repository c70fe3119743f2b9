"""Tables as they come: separators, formats of numbers, categories, gaps, columns left out."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.cli.columns import Columns, find, load
from unassuming.cli.options import Problem
from unassuming.cli.tables import open_source

OUT = Path("unassuming-region")


@pytest.fixture
def shop():
    """Sixty sales, with a text, a flag, a code, a name of each row and a constant."""
    rng = np.random.default_rng(0)
    colour = np.array(["red", "green", "blue"])[rng.integers(3, size=60)]
    table = pd.DataFrame({"colour": colour, "new": rng.integers(2, size=60) == 1})
    table["region"] = rng.integers(1, 4, size=60)
    table["price, net"] = rng.normal(size=60).round(3)
    table["customer"] = [f"customer {row}" for row in range(60)]
    table["year"] = 2024
    table["sales"] = (table["price, net"] + (colour == "red") + rng.normal(size=60)).round(3)
    return table


def shown(result):
    assert result.exit_code == 0, result.stderr
    return " ".join(result.stdout.split())


def intervals():
    found = json.loads((OUT / "region.json").read_text())
    return found, found["intervals"][0]


@pytest.mark.slow
def test_text_becomes_indicators_and_columns_without_information_are_left_out(run, write, shop):
    path = write("shop.csv", shop.to_csv())  # with an index that has no name
    words = ("--target", "sales", "--model", "ols", "--categorical", "region", "--m", 20)
    text = shown(run("region", path, *words))
    assert "indicators of colour: green and red, compared with blue" in text
    assert "indicators of region: 2 and 3, compared with 1" in text
    assert "A column without a name (Unnamed: 0) is left out." in text
    assert "customer is left out: it is text with 60 different values in 60 rows." in text
    assert "year is left out: it has the same value in every row." in text
    X = pd.DataFrame(
        {
            "colour=green": shop["colour"] == "green",
            "colour=red": shop["colour"] == "red",
            "new": shop["new"],
            "region=2": shop["region"] == 2,
            "region=3": shop["region"] == 3,
            "price, net": shop["price, net"],
        }
    ).astype(float)
    region = ua.confidence_region(LinearRegression(), X, shop["sales"], m=20, random_state=0)
    expected = region.interval(level=0.95, method="joint", simultaneous=True)
    found, bounds = intervals()
    assert found["band"][0]["method"] == "joint region"
    assert list(bounds["lower"]) == ["intercept", *X.columns]
    np.testing.assert_allclose(list(bounds["lower"].values()), expected.lower, rtol=1e-6)


SPELLINGS = {
    "tabs.tsv": ("x\ty\n{}", "\t", ()),
    "semicolons.csv": ("x;y\n{}", ";", ("--sep", ";")),
    "gaps.csv": ("x,y\n?,1\n{}", ",", ("--missing", "?", "--drop-missing")),
    "named.csv": ("who,x,y\n{}", ",", ("--index", "who")),
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", SPELLINGS)
def test_text_in_other_spellings_gives_the_same_numbers(run, write, name):
    head, mark, options = SPELLINGS[name]
    rng = np.random.default_rng(1)
    table = rng.normal(size=(30, 2)).round(3)
    first = "p{}" + mark if name == "named.csv" else ""
    lines = [
        first.format(row) + mark.join(map(str, pair)) for row, pair in enumerate(table.tolist())
    ]
    plain = write("plain.csv", "x,y\n" + "\n".join(",".join(map(str, p)) for p in table.tolist()))
    words = ("--target", "y", "--model", "ols", "--m", 20, "--level", 0.9)
    shown(run("region", plain, *words))
    _, expected = intervals()
    text = shown(run("region", write(name, head.format("\n".join(lines))), *words, *options))
    assert intervals()[1] == expected
    assert ("rows with missing values dropped: 1" in text) == (name == "gaps.csv")


def test_words_among_numbers_are_not_categories(run, write):
    rows = "\n".join(f"{row},{row % 3}" for row in range(12))
    bad = run("region", write("t.csv", f"x,y\n?,1\n{rows}\n"), "--target", "y")
    assert bad.exit_code == 2
    assert "If '?' stands for a missing value, add --missing \"?\"." in bad.stderr


def test_excel_files_are_read_or_the_missing_reader_is_named(run, tmp_path, monkeypatch, write):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    bad = run("region", write("t.xlsx", "x"), "--target", "y")
    assert bad.exit_code == 2
    assert 'pip install "unassuming[excel]"' in bad.stderr


def test_numbers_of_a_text_file_are_read_to_the_last_digit(tmp_path):
    written = np.random.default_rng(0).normal(size=500)
    path = tmp_path / "numbers.csv"
    path.write_text("x\n" + "\n".join(map(repr, written.tolist())), encoding="utf-8")
    assert open_source(path).whole()["x"].tolist() == written.tolist()


FORMATS = [
    ("$3.45", 3.45),
    ("-$1,234.50", -1234.5),
    ("5 %", 5.0),
    ("12.5%", 12.5),
    ("1,234.5", 1234.5),
    ("12,345,678", 12345678.0),
    ("€ 7", 7.0),
    ("3.20 €", 3.2),
    ("+2", 2.0),
    ("1e3", 1000.0),
    ("1,23", None),
    ("12,34,567", None),
    ("$", None),
    ("5 apples", None),
    ("low", None),
]


@pytest.mark.parametrize(("text", "number"), FORMATS)
def test_currencies_percentages_and_thousands_are_numbers_and_words_are_not(text, number):
    found = Columns(["x"], "y").read(pd.Series([text, "1"]))
    assert found.iloc[1] == 1
    assert np.isnan(found.iloc[0]) if number is None else found.iloc[0] == number


def test_with_decimal_commas_points_separate_thousands():
    columns = Columns(["x"], "y", decimal=",")
    assert columns.read(pd.Series(["1.234,5", "€ 3,45", "12,5 %"])).tolist() == [1234.5, 3.45, 12.5]


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_how_numbers_are_read_is_said_in_one_line(run, write, stream):
    rng = np.random.default_rng(0)
    price, share = rng.uniform(1000, 9000, 40).round(2), rng.uniform(0, 99, 40).round(1)
    y = (price / 100 + share + rng.normal(size=40)).round(2)
    plain = pd.DataFrame({"price": price, "share": share, "y": y})
    words = ("--target", "y", "--out", "out", *stream)
    shown(run("summary", write("plain.csv", plain.to_csv(index=False)), *words))
    expected = Path("out/summary.csv").read_bytes()
    marked = plain.assign(price=[f"${x:,.2f}" for x in price], share=[f"{x} %" for x in share])
    text = shown(run("summary", write("marked.csv", marked.to_csv(index=False)), *words))
    first = f'Read as numbers: price ("${price[0]:,.2f}" is {price[0]:g}), share ("{share[0]} %" is'
    assert text.count("Read as numbers:") == text.count(first) == 1
    assert Path("out/summary.csv").read_bytes() == expected


GIVEAWAYS = {
    "equals": (["same"], "same equals the target"),
    "shifted": (["half"], "half determines the target"),
    "label": (["grade"], "grade determines the target"),
    "parts": (["first", "second"], "first and second together determine the target"),
    "none": (["noisy", "first"], None),
}


@pytest.mark.parametrize("case", GIVEAWAYS)
def test_columns_that_equal_or_determine_the_target_are_named(tmp_path, case):
    names, message = GIVEAWAYS[case]
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=60).astype(float)
    first = rng.normal(size=60)
    every = {"same": y, "half": y / 2 + 3, "noisy": y + rng.normal(size=60) / 100, "first": first}
    every |= {"second": y - first, "grade": np.array(list("abcde"))[y.astype(int)]}
    table = pd.DataFrame({**{name: every[name] for name in names}, "y": y})
    table["other"] = rng.normal(size=60)
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    remarks = load(*find(Problem(path, "y"))).columns.remarks
    assert any(message in one for one in remarks) if message else not remarks


def test_dates_are_no_features_and_put_rows_in_order(tmp_path):
    def order(**columns):
        table = pd.DataFrame({**columns, "x": range(20), "y": np.arange(20) % 7})
        table.to_csv(tmp_path / "t.csv", index=False)
        return load(*find(Problem(tmp_path / "t.csv", "y"))).columns

    days = pd.date_range("2024-01-01", periods=20).strftime("%Y-%m-%d")
    found = order(day=days)
    assert (found.features, found.order) == (["x"], "day")
    assert found.remarks == ("day is left out: it holds dates.",)
    assert order(day=days[::-1]).order == "day"
    assert order(day=np.roll(days, 7)).order is None
    assert order(year=range(1990, 2010)).order == "year"
    assert order(size=range(1990, 2010)).order is None
    assert order(year=np.tile(range(10), 2)).order is None
