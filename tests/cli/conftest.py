from functools import cache, partial, partialmethod
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from typer.main import get_command
from typer.testing import CliRunner

import unassuming as ua
from unassuming.cli.app import app


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """A directory with tables: one feature, three features, labels."""
    where = tmp_path_factory.mktemp("tables")
    X, y, f = ua.datasets.sine(n=40, noise="laplace", random_state=1)
    sine = pd.DataFrame({"x": X[:, 0], "y": y})
    sine.to_csv(where / "sine.csv", index=False)
    sine.to_parquet(where / "sine.parquet")
    sine.assign(truth=f(X), late=f(X - 0.5)).to_csv(where / "candidates.csv", index=False)
    X, y, _ = ua.datasets.linear(n=40, d=3, random_state=0)
    people = pd.DataFrame(X, columns=["age", "income", "height"]).assign(y=y)
    people.to_csv(where / "people.csv", index=False)
    X, y, f = ua.datasets.labels(n=40, random_state=0)
    labels = pd.DataFrame(X, columns=["a", "b"])
    labels = labels.assign(label=np.where(y > 0, "yes", "no"), mean=f(X))
    labels.to_csv(where / "labels.csv", index=False)
    return where


@pytest.fixture(autouse=True, scope="session")
def _one_parser():
    """Make the parser of the command line once, not for each command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        yield


@pytest.fixture
def real_pictures():
    """For tests that look into a picture."""


def _blank(figure, to, **options):
    """Leave an empty file, or a blank picture for a report."""
    if isinstance(to, Path):
        to.touch()
    else:
        to.write('<svg viewBox="0 0 1 1"></svg>')


@pytest.fixture(autouse=True)
def _blank_pictures(request, monkeypatch):
    """Draw pictures roughly and do not render them, which takes most of the time of a command."""
    if "real_pictures" not in request.fixturenames:
        monkeypatch.setattr(Figure, "savefig", _blank)
        roughly = partial(ua.plots.coefficients, rays=12)
        monkeypatch.setattr(ua.plots, "coefficients", roughly)


@pytest.fixture
def all_checks():
    """For tests of what commands say about lack of fit."""


@pytest.fixture(autouse=True)
def _one_check(request, monkeypatch):
    """Test lack of fit with one feature: all of them would take half of the time of a command."""
    if "all_checks" not in request.fixturenames:
        monkeypatch.setattr(ua.Region, "lack_of_fit", partialmethod(ua.Region.lack_of_fit, most=1))


@pytest.fixture
def run(tables, tmp_path, monkeypatch):
    """Run a command line in an empty directory; table names stand for their paths."""
    monkeypatch.chdir(tmp_path)

    def invoke(*words):
        known = {path.name: str(path) for path in tables.iterdir()}
        return CliRunner().invoke(app, [known.get(word, str(word)) for word in words])

    return invoke


@pytest.fixture
def write(tmp_path):
    """Write a small table and return its path."""

    def to(name, text):
        path = Path(tmp_path / name)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return to
