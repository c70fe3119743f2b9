"""Every public name has a numpydoc docstring with an example; the doctests of src run them."""

import doctest
import inspect
import re
import subprocess
import sys
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from typer.main import get_command

import unassuming as ua
import unassuming.regions
from unassuming.cli.app import app
from unassuming.regions import diagnosis, lack_of_fit, problem, results

FACTORIES = "objectives.from_"
"""Their parameters are those of every factory; their first line says what each builds."""


def ours(thing):
    return getattr(thing, "__module__", "").startswith("unassuming")


def walk():
    """Public names with the object behind them: of the library, one module down, and results."""
    for module in (results, diagnosis, lack_of_fit):
        for name, thing in vars(module).items():
            if name.startswith("_"):
                continue
            if inspect.isclass(thing) and thing.__module__ == module.__name__ and name != "Bounds":
                yield name, thing
    yield "Tuning", problem.Tuning
    for name in ua.__all__:
        thing = getattr(ua, name)
        if isinstance(thing, ModuleType):
            for inner in thing.__all__:
                yield f"{name}.{inner}", getattr(thing, inner)
        else:
            yield name, thing


DOCUMENTED = {
    name: thing
    for name, thing in walk()
    if ours(thing) and (inspect.isclass(thing) or inspect.isroutine(thing))
}


def members(cls):
    """Public methods and properties that the library defines for this class, by name."""
    for name in dir(cls):
        thing = inspect.getattr_static(cls, name)
        if isinstance(thing, (classmethod, staticmethod)):
            thing = thing.__func__
        if isinstance(thing, property):
            function = thing.fget
        elif isinstance(thing, cached_property):
            function = thing.func
        else:
            function = thing
        if not name.startswith("_") and inspect.isfunction(function) and ours(function):
            yield name, function


def examples(thing):
    return doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")


METHODS = {
    f"{name}.{method}": (thing, function)
    for name, thing in DOCUMENTED.items()
    if inspect.isclass(thing) and "." not in name
    for method, function in members(thing)
}


INVENTORY = Path(__file__).with_name("public_names.txt")
INSIDE = {"Explanation", "Problem", "Remedy", "Shape"}
"""Classes that are met behind a region; their members are the library's own affair."""


def inventory():
    """Names of the library and its modules, members of regions and results, and commands."""
    modules = {"ua": ua, "ua.regions": ua.regions}
    modules |= {f"ua.{name}": m for name in ua.__all__ if inspect.ismodule(m := getattr(ua, name))}
    for path, module in modules.items():
        for name in module.__all__:
            thing = getattr(module, name)
            yield f"{path}.{name}"
            shown = name not in (INSIDE if path == "ua" else INSIDE | set(ua.__all__))
            if path in ("ua", "ua.regions") and inspect.isclass(thing) and shown:
                fields = getattr(thing, "__dataclass_fields__", ()) or stored(thing)
                if hasattr(thing, "get_params"):
                    fields = ()  # the parameters of an estimator
                inner = {*fields, *(member for member, _ in members(thing))}
                yield from (f"{path}.{name}.{one}" for one in inner if not one.startswith("_"))
    yield from commands("unassuming", get_command(app))


def stored(cls):
    """The attributes that a region, or one of a stream, is given when it is made."""
    if cls is ua.StreamingRegion:
        return vars(ua.StreamingRegion(LinearRegression()))
    X, y = np.arange(8.0)[:, None], np.arange(8.0) ** 2 % 5
    build = {"m": 100, "random_state": 0}
    return vars(ua.confidence_region(LinearRegression(), X, y, **build)) if cls is ua.Region else ()


def commands(words, command):
    """A command with its options, and the commands below it."""
    yield words
    for parameter in command.params:
        yield from (f"{words} {one}" for one in parameter.opts if one.startswith("-"))
        yield from (f"{words} {one}" for one in parameter.secondary_opts)
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(f"{words} {name}", below)


def test_the_inventory_has_the_names_that_there_are():
    """A name that appears or disappears is a line that is added to the file, or taken out."""
    listed, offered = INVENTORY.read_text(encoding="utf-8").splitlines(), set(inventory())
    assert set(listed) - offered == set(), "listed, and not offered"
    assert offered - set(listed) == set(), "offered, and not listed"
    assert listed == sorted(offered)


def test_there_is_something_to_check():
    assert {"confidence_region", "ConfidenceRegressor", "noise.Symmetric"} <= set(DOCUMENTED)
    assert {"objectives.from_ridge", "ranking.Level", "Band", "Diagnosis", "Indication"} <= set(
        DOCUMENTED
    )
    assert {"ConfidenceRegressor.predict_band", "Region.rank"} <= set(METHODS)


def named_parameters(thing):
    if inspect.isclass(thing) and (issubclass(thing, (Exception, ua.Region, Enum, dict))):
        return []  # not built by the user
    parameters = inspect.signature(thing).parameters.items()
    named = {name for name, p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    return named - {"self", "cls"}


def untold(thing, *texts):
    """Parameters that no text names outside its examples."""
    prose = " ".join(text.split("Examples\n---")[0] for text in texts)
    return {p for p in named_parameters(thing) if not re.search(rf"(?<!\w){p}(?!\w)", prose)}


def test_every_name_is_documented():
    for name, thing in DOCUMENTED.items():
        text = inspect.getdoc(thing)
        assert text, name
        assert re.match(r"\S.*\.(\n\n|$)", text), (name, "a summary line, then an empty one")
        bases = getattr(thing, "__mro__", [])  # results say what they add to Bounds
        if not name.startswith(FACTORIES):
            assert not untold(thing, text, *(inspect.getdoc(b) for b in bases if ours(b))), name


def test_every_method_is_documented():
    for name, (cls, function) in METHODS.items():
        texts = [inspect.getdoc(vars(base)[function.__name__]) for base in bases(cls, function)]
        assert texts[0], name
        assert not untold(function, *texts), name


@pytest.mark.parametrize("name", ["noise.Noise", "noise.Perturbations", "objectives.Objective"])
def test_methods_that_others_write_tell_their_parameters(name):
    cls = DOCUMENTED[name]
    assert not {m for m, f in members(cls) if untold(f, inspect.getdoc(f))}


def bases(cls, function):
    """The classes that define a method of that name, and may tell of its parameters."""
    return [base for base in cls.__mro__ if function.__name__ in vars(base)]


def test_every_name_has_an_example():
    missing = {name for name, thing in DOCUMENTED.items() if not examples(thing)}
    assert not {name for name in missing if not name.startswith(FACTORIES)}


def test_every_method_has_an_example_or_appears_in_one_of_its_class():
    missing = set()
    for name, (cls, function) in METHODS.items():
        shown = "".join(example.source for example in examples(cls))
        if not examples(function) and not re.search(rf"\.{name.rsplit('.')[-1]}\b", shown):
            missing.add(name)
    assert not missing


@pytest.mark.slow
def test_names_are_imported_when_they_are_used():
    code = (
        "import sys, unassuming as ua\n"
        "assert 'numpy' not in sys.modules\n"
        "assert set(ua.__all__) <= set(dir(ua))\n"
        "from unassuming.regions import confidence_region\n"
        "assert ua.confidence_region is confidence_region\n"
        "assert 'unassuming.plots' not in sys.modules\n"
        "from sklearn.linear_model import Ridge\n"
        "X, y, _ = ua.datasets.linear(n=20, d=2, random_state=0)\n"
        "confidence_region(Ridge(), X, y, random_state=0).diagnose().plot()\n"
        "assert all(getattr(ua, name) is not None for name in ua.__all__)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="module 'unassuming' has no attribute 'nothing'"):
        _ = ua.nothing
