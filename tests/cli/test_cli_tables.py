"""Tables as they come: categories, separators, gaps, names with commas, columns left out."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.cli._streamed import Streaming, build_streamed
from unassuming.cli.options import Problem
from unassuming.cli.tables import Kind, choose_terms, encoder, load, open_source, split_names

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


def test_inputs_of_the_band_have_the_categories_of_the_data(run, write, shop):
    path = write("shop.csv", shop.to_csv(index=False))
    words = ("--target", "sales", "--features", "price, net,colour", "--model", "ols", "--m", 20)
    at = write("at.csv", 'colour,"price, net"\nred,0.5\nblue,1\n')
    shown(run("region", path, *words, "--at", at))
    band = pd.read_csv(OUT / "band.csv")
    assert band["colour"].tolist() == ["red", "blue"] * 2
    bad = run("region", path, *words, "--at", write("bad.csv", 'colour,"price, net"\npink,1\n'))
    assert bad.exit_code == 2
    assert "has a category that the data do not have" in bad.stderr
    assert "given 'pink'" in bad.stderr


def test_names_with_commas_can_be_chosen():
    known = ["a", "b, c", "b", "d,e"]
    assert split_names("a,b, c,d,e", known) == ["a", "b", "c", "d,e"]
    assert split_names('a,"b, c"', known) == ["a", "b, c"]
    assert split_names("d,e, a", known) == ["d,e", "a"]


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
    assert ("1 rows with missing values dropped" in text) == (name == "gaps.csv")


def test_decimal_commas_and_encodings(run, write):
    rows = "\n".join(f"{row},5;{row % 3},25" for row in range(12))
    path = write("cafe.csv", f"größe;y\n{rows}\n".encode("latin-1"))
    words = ("region", path, "--target", "y", "--model", "ols", "--m", 20, "--level", 0.5)
    bad = run(*words, "--sep", ";", "--decimal", ",")
    assert "another encoding. Name it, for example --encoding latin-1" in bad.stderr
    bad = run(*words, "--sep", ";", "--encoding", "latin-1")
    assert bad.stderr.rstrip().endswith("add --decimal ,")
    assert "größe" in shown(run(*words, "--sep", ";", "--encoding", "latin-1", "--decimal", ","))


def test_words_among_numbers_are_not_categories(run, write):
    rows = "\n".join(f"{row},{row % 3}" for row in range(12))
    bad = run("region", write("t.csv", f"x,y\n?,1\n{rows}\n"), "--target", "y")
    assert bad.exit_code == 2
    assert "If '?' stands for a missing value, add --missing \"?\"." in bad.stderr


def test_a_header_that_names_a_column_twice_is_refused(run, write):
    bad = run("region", write("t.csv", "x,x,y\n1,2,3\n4,5,6\n"), "--target", "y")
    assert "the column 'x' is in t.csv more than once" in bad.stderr


def test_excel_files_are_read_or_the_missing_reader_is_named(run, tmp_path, monkeypatch, write):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    bad = run("region", write("t.xlsx", "x"), "--target", "y")
    assert bad.exit_code == 2
    assert 'pip install "unassuming[excel]"' in bad.stderr


@pytest.mark.slow
def test_the_first_sheet_of_an_excel_file_is_the_table(run, tmp_path):
    pytest.importorskip("openpyxl", reason="reads Excel files")
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["x", "y"])
    table = table.round(3)
    table.to_excel(tmp_path / "t.xlsx", index=False)
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ("--target", "y", "--model", "ols", "--m", 20)
    shown(run("region", tmp_path / "t.xlsx", *words))
    from_excel = intervals()[1]
    shown(run("region", tmp_path / "t.csv", *words))
    assert intervals()[1] == from_excel


@pytest.mark.slow
def test_blocks_of_rows_are_exchangeable(run, write):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["x", "y"])
    path = write("t.csv", table.to_csv(index=False))
    words = ("region", path, "--target", "y", "--model", "ols", "--m", 20, "--blocks", 10)
    assert "exchangeable within each block of consecutive rows" in shown(run(*words))
    bad = run(*words, "--noise", "symmetric")
    assert "--blocks needs exchangeable noise" in bad.stderr


# How columns enter


def test_two_values_are_never_a_spline_and_knots_follow_rows_and_values():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = pd.DataFrame({"x": x, "flag": x > 0, "few": rng.integers(4, size=300)}).astype(float)
    kinds = [term.kind for term in choose_terms(X, (), splines=True)]
    assert kinds == [Kind.SPLINE, Kind.LINE, Kind.LINE]
    sizes = [choose_terms(X[:n], (), splines=True)[0].size for n in (40, 100, 150, 300)]
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert choose_terms(X[["x"]], (), splines=True)[0].size == 9
    assert choose_terms(X[["flag"]], (), splines=True, knots=5)[0].kind is Kind.LINE
    assert len(choose_terms(X[["x"]], (), splines=True, knots=5)[0].knots) == 5


@pytest.mark.parametrize("seed", range(5))
def test_every_spline_has_features_of_full_rank(seed):
    rng = np.random.default_rng(seed)
    columns = {
        "zeros": np.where(rng.random(200) < 0.6, 0, rng.exponential(size=200)),
        "tail": rng.standard_cauchy(200),
        "whole": rng.integers(12, size=200).astype(float),
    }
    for name, column in columns.items():
        X = pd.DataFrame({name: column})
        terms = choose_terms(X, (), splines=True, knots=6)
        features = encoder(terms).fit_transform(X)
        both = np.column_stack([np.ones(200), features])
        assert features.shape[1] == terms[0].size
        assert np.linalg.matrix_rank(both) == both.shape[1]


@pytest.mark.slow
def test_the_target_plays_no_part_in_the_choice(run, write):
    rng = np.random.default_rng(0)
    found = []
    for y in (rng.normal(size=80), np.round(rng.random(80))):
        table = pd.DataFrame({"x": np.arange(80.0), "z": np.arange(80.0) ** 2, "y": y})
        shown(run("region", write("t.csv", table.to_csv(index=False)), "--target", "y", "--m", 20))
        found.append({name: intervals()[0][name] for name in ("terms", "knots", "features")})
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("words", [("region",), ("region", "--stream"), ("summary",)])
def test_labels_as_numbers_get_the_words_of_the_library(words, run, write):
    table = pd.DataFrame({"x": np.arange(30.0), "y": np.arange(30) % 2})
    path = write("t.csv", table.to_csv(index=False))
    with pytest.warns(UserWarning, match="only two values") as caught:
        ua.confidence_region(LinearRegression(), table[["x"]], table["y"])
    said = f"note: {caught[0].message}\n"
    command, *more = words
    result = run(command, path, "--target", "y", *more, "--level", 0.9)
    assert result.exit_code == 0
    assert result.stderr.count("two values") == result.stderr.count(said) == 1
    labels = run("region", path, "--target", "y", "--model", "ls-svc", "--m", 20, "--level", 0.5)
    assert "two values" not in labels.output


def test_a_stream_and_the_memory_choose_the_same_knots(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.exponential(size=2500), "y": rng.normal(size=2500)})
    path = tmp_path / "long.csv"
    table.to_csv(path, index=False)
    problem = Problem(path, "y", m="20", seed=4)
    source = problem.open()
    columns = problem.columns(source)
    streamed = build_streamed(problem, source, columns, Streaming(True)).terms
    frame = load(source, columns)
    assert problem.terms(frame.X, frame.columns, 2500) == streamed
    assert choose_terms(table[["a"]], (), splines=True) != streamed


def test_numbers_of_a_text_file_are_read_to_the_last_digit(tmp_path):
    written = np.random.default_rng(0).normal(size=500)
    path = tmp_path / "numbers.csv"
    path.write_text("x\n" + "\n".join(map(repr, written.tolist())), encoding="utf-8")
    assert open_source(path).whole()["x"].tolist() == written.tolist()
