"""How columns enter a model, and the sample of rows from which knots are chosen."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unassuming.cli.columns import find, load
from unassuming.cli.options import Problem
from unassuming.cli.stream import Streaming, build_streamed
from unassuming.cli.terms import choose_terms, encoder, terms_of


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
        path = write("t.csv", table.to_csv(index=False))
        assert run("region", path, "--target", "y", "--m", 20).exit_code == 0
        about = json.loads(Path("unassuming-region/region.json").read_text())
        found.append({name: about[name] for name in ("terms", "knots", "features")})
    assert found[0] == found[1]


def test_a_stream_and_the_memory_choose_the_same_knots(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.exponential(size=2500), "y": rng.normal(size=2500)})
    path = tmp_path / "long.csv"
    table.to_csv(path, index=False)
    problem = Problem(path, "y", m="32", seed=4)
    source, columns = find(problem)
    streamed = build_streamed(problem, source, columns, Streaming(True)).terms
    frame = load(source, columns)
    assert terms_of(problem, frame.X, frame.columns, 2500) == streamed
    assert choose_terms(table[["a"]], (), splines=True) != streamed
