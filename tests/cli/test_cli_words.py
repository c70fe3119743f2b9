"""What the command line says: options of its own, what each number covers, the level attained."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

pytestmark = pytest.mark.slow

PYTHON = re.compile(r"region\.(?!json)\w|\b\w+=\S|\b[a-z]\w+\(")
"""Calls and keyword arguments."""


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("sine.csv --model spline --method cells --level 0.99", "Use --method joint"),
        (
            "sine.csv --model ols --method cells --noise exchangeable",
            "--noise symmetric if the noise is symmetric",
        ),
        ("sine.csv --model krr --pointwise --m 20", "Add --norm-bound B, or use --model spline"),
        ("sine.csv --model spline --knots 12 --level 0.99", "bounded    up to level"),
        ("labels.csv --model ls-svc --pointwise --m 20", "unassuming region without --pointwise"),
    ],
)
def test_advice_names_options_of_the_command_line(run, words, advice):
    target = "label" if words.startswith("labels") else "y"
    table, *options = words.split()
    features = "a,b" if target == "label" else "x"
    if "--level" not in options:
        options += ["--level", "0.9"]
    result = run("region", table, "--target", target, "--features", features, *options)
    assert result.exit_code == 0, result.stderr
    shown = " ".join(result.stdout.split())
    assert " ".join(advice.split()) in shown
    assert not PYTHON.findall(shown.split(" covers ", 1)[1])


def test_every_number_says_what_it_covers(run):
    words = ("region", "people.csv", "--target", "y", "--model", "ols", "--level", 0.9)
    single = run(*words, "--pointwise").stdout
    assert "The interval of each coefficient has its level by itself." in single
    assert "The finite bounds of level 0.9 attain the level 0.9" in single
    joint = run(*words, "--method", "joint").stdout
    assert "The band comes from the joint region. It is simultaneous" in joint
    assert (
        "The intervals of the coefficients come from the joint region. They hold at once." in joint
    )


def test_pictures_show_the_target_and_leave_out_a_large_intercept(run, write, monkeypatch):
    seen = []
    save = Figure.savefig

    def remember(figure, *args, **options):
        axes = figure.axes[0]
        labels = [label.get_text() for label in axes.get_yticklabels()]
        seen.append((axes.get_ylabel(), labels))
        save(figure, *args, **options)

    monkeypatch.setattr(Figure, "savefig", remember)
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    for shift, rows in ((1000.0, ["price"]), (0.0, ["intercept", "price"])):
        table = pd.DataFrame({"price": x, "sales": shift + x + rng.normal(size=60)})
        path = write("shop.csv", table.to_csv(index=False))
        shown = run("summary", path, "--target", "sales").stdout
        assert seen.pop()[1] == rows
        assert ("The picture leaves out the intercept" in shown) == (len(rows) == 1)
    run("region", path, "--target", "sales", "--model", "ols", "--pointwise", "--level", 0.9)
    assert seen[0][0] == "sales"


NO_BAND = {
    "labels.csv --target label --model logistic --m 20": "trivial",
    "labels.csv --target label --model ls-svc --kernel rbf --m 20": "trivial",
    "sine.csv --target y --model svr --m 20": "unbounded",
    "sine.csv --target y --model krr --m 20": "unbounded",
}


@pytest.mark.parametrize("words", NO_BAND)
def test_nothing_is_said_to_be_covered_beside_bounds_that_say_nothing(run, words):
    result = run("region", *words.split(), "--level", 0.9)
    assert result.exit_code == 0, result.stderr
    table, said = result.stdout.split("half-width")[1].split("\n\n", 1)
    assert NO_BAND[words] in table
    assert "covers" not in said
    assert "Remedies: " in said
    assert not PYTHON.findall(" ".join(said.split()))
    assert not list(Path("unassuming-region").glob("band.png"))


def test_a_level_that_was_asked_for_is_no_remedy(run, write):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(16, 8)), columns=list("abcdefgy"))
    words = ("region", write("few.csv", table.to_csv(index=False)), "--target", "y")
    alone = " ".join(run(*words, "--level", 0.9).stdout.split())
    assert "16 rows are few for 8 coefficients at level 0.9" in alone
    (highest,) = re.findall(r"--level (\S+) or less", alone)
    both = " ".join(run(*words, "--level", 0.9, "--level", highest).stdout.split())
    assert "or less" not in both
    assert f"At level {highest}: the band comes from the joint region" in both
    assert both.count("Remedies: ") == 1


def test_each_fact_is_said_once_for_all_levels(run):
    words = ("region", "sine.csv", "--target", "y", "--features", "x", "--model", "krr")
    options = ("--norm-bound", "1", "--m", "20", "--level", "0.9", "--level", "0.5")
    shown = " ".join(run(*words, *options, "--pointwise").stdout.split())
    assert re.search(
        r"No value within the norm bound agrees with the data at \d+ of 200 inputs \(level 0\.9\) "
        r"and at \d+ of 200 inputs \(level 0\.5\)\. The norm bound of 1 may be too small\.",
        shown,
    )
    for words in ("may be too small", "agrees with the data", "The estimate of the model lies"):
        assert shown.count(words) == 1
    listed = r"inputs (\d+, ){3}\d+ and \d+ others"
    assert re.search(rf"{listed} \(level 0\.9\) and {listed} \(level 0\.5\): the interval", shown)


def test_a_norm_bound_is_named_once_and_in_the_form_that_helps(run, write):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.uniform(0, 5, 20), "y": rng.normal(size=20)})
    single = "--norm-bound B --pointwise for bounds that hold one at a time"
    # 20 rows: balanced cells as well; 12: at level 0.9 one at a time only.
    for n, said in ((20, f"can assume: --norm-bound B, or {single}"), (12, f"assume: {single}")):
        table = write(f"rows{n}.csv", rows[:n].to_csv(index=False))
        words = ("region", table, "--target", "y", "--model", "svr", "--m", "20")
        free = " ".join(run(*words, "--level", 0.9, "--level", 0.5).stdout.split())
        assert said in free
        assert free.count("a norm bound that you can assume") == 1
        held = run(*words, "--level", 0.9, "--norm-bound", 9, *["--pointwise"] * (n == 12)).stdout
        assert "inf to inf" in free
        assert "inf to inf" not in held
