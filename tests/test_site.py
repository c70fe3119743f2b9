"""The reference of the site lists what is public, all of it and nothing twice."""

import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression

import unassuming as ua

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site():
    path = ROOT / "docs/_ext/reference.py"
    spec = importlib.util.spec_from_file_location("reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def entries(site):
    """The objects behind the names of the page, read as Sphinx reads it."""
    found, module = [], None
    for line in site.reference().splitlines():
        if line.startswith(".. currentmodule::"):
            module = importlib.import_module(line.split()[-1])
        elif re.fullmatch(r"   \w+", line) and module is not None:
            found.append(getattr(module, line.strip()))
    return found


def public():
    for name in ua.__all__:
        thing = getattr(ua, name)
        if isinstance(thing, ModuleType):
            yield from (getattr(thing, inner) for inner in thing.__all__)
        elif not name.startswith("__"):
            yield thing


def test_every_public_name_has_an_entry(entries):
    assert not [thing for thing in public() if not any(thing is entry for entry in entries)]


def test_nothing_is_listed_twice(entries):
    named = [e for e in entries if inspect.isclass(e) or inspect.isroutine(e)]
    assert len({id(e) for e in named}) == len(named) > 50


@pytest.mark.slow_but_first
@pytest.mark.parametrize("model", [LinearRegression(), ua.KernelLasso(), ua.LSSVC()])
def test_what_a_user_is_given_is_listed(entries, model):
    X, y, _ = ua.datasets.labels(n=20, d=1, random_state=0)
    y = y if is_classifier(model) else X[:, 0] ** 2
    region = ua.confidence_region(model, X, y, m=20, random_state=0)
    answers = [
        region,
        region.band(X, method="joint"),
        region.interval(simultaneous=True, method="joint"),
        region.diagnose(),
        region.test(lambda X: 0 * X[:, 0]),
    ]
    assert all(type(answer) in entries for answer in answers)


def test_every_command_is_told_with_its_options(site):
    page = site.command_line()
    for command in ("demo", "region", "test", "paper"):
        assert f"## `unassuming {command}`" in page
    assert page.count("--norm-bound") >= 1
    assert "Traceback" not in page
