"""Files that an earlier version has saved load and have the same ranks.

The files in old_files were saved by commit f0c7a6c; ranks.json says how the data were made, and has
candidates with the ranks they had then. Four of them use the former name of ties="conservative".
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua

HERE = Path(__file__).parent / "old_files"
NEWER = "tol" in LinearRegression().get_params()
"""Whether scikit-learn has the parameters of 1.7, with which the files were saved."""
FAVOUR = "quadratic_group_favour.region"
FILES = json.loads((HERE / "ranks.json").read_text())


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".region")])
def test_a_region_has_the_same_ranks(name):
    if name == FAVOUR and not NEWER:
        pytest.skip("the file has a parameter that LinearRegression lacks before scikit-learn 1.7")
    region, entry = ua.load(HERE / name), FILES[name]
    assert region.rank(np.array(entry["candidates"])).tolist() == entry["ranks"]
    assert region.seed == entry["random_state"]
    assert region.ties == {"favour": "conservative"}.get(entry["ties"], entry["ties"])


def test_a_checkpoint_goes_on_to_the_same_ranks():
    entry = FILES["stream_few_rows.checkpoint"]
    stream = ua.StreamingRegion.load(HERE / "stream_few_rows.checkpoint")
    first = entry["rows_in_checkpoint"]
    assert stream.n == first
    stream.partial_fit(np.array(entry["X"][first:]), np.array(entry["y"][first:]))
    ranks = stream.region().rank(np.array(entry["candidates"]))
    assert ranks.tolist() == entry["ranks"]


@pytest.mark.skipif(not NEWER, reason="LinearRegression of the file is that of scikit-learn 1.7")
def test_an_old_file_saved_again_has_the_name_of_today(tmp_path):
    region = ua.load(HERE / FAVOUR)
    ua.save(region, tmp_path / "again.region")
    again = ua.load(tmp_path / "again.region")
    candidates = np.array(FILES[FAVOUR]["candidates"])
    assert again.ties == "conservative"
    assert again.rank(candidates).tolist() == region.rank(candidates).tolist()
