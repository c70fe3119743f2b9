"""Every public name has a numpydoc docstring with an example, and the examples run."""

import doctest
import inspect
import re
from functools import cached_property
from types import ModuleType

import pytest

import unassuming as ua

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

# What those who write objectives of their own read; its examples are in docs/howto.
WITHOUT_EXAMPLES = ("objectives", "ranking")


def ours(thing):
    return getattr(thing, "__module__", "").startswith("unassuming")


def kinds(cls):
    """All classes derived from one, however indirectly."""
    for derived in cls.__subclasses__():
        yield derived
        yield from kinds(derived)


def walk():
    """Public names with the object behind them: of the library, one module down, and regions."""
    for cls in kinds(ua.Region):
        yield cls.__name__, cls
    for name in ua.__all__:
        thing = getattr(ua, name)
        if isinstance(thing, ModuleType):
            if name in WITHOUT_EXAMPLES:
                continue
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
    inherited = ua.Region if cls is not ua.Region and issubclass(cls, ua.Region) else object
    for name in dir(cls):
        if inspect.getattr_static(inherited, name, None) is inspect.getattr_static(cls, name):
            continue
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


def test_there_is_something_to_check():
    assert {"confidence_region", "ConfidenceRegressor", "noise.Symmetric"} <= set(DOCUMENTED)
    assert {"ConfidenceRegressor.predict_band", "Region.rank"} <= set(METHODS)


def named_parameters(thing):
    if inspect.isclass(thing) and (issubclass(thing, (Exception, ua.Region))):
        return []  # not built by the user
    return [p for p in inspect.signature(thing).parameters if p not in ("args", "kwargs")]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_name_is_documented(name):
    text = inspect.getdoc(DOCUMENTED[name])
    assert text
    assert re.match(r"\S.*\.(\n\n|$)", text), "a summary line, then an empty one"
    takes = named_parameters(DOCUMENTED[name])
    sections = re.findall(r"^(\w[\w ]*)\n-{3,}$", text, re.MULTILINE)
    assert "Parameters" in sections or "Attributes" in sections or not takes


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_documented(name):
    assert inspect.getdoc(METHODS[name][1])


def test_every_name_has_an_example():
    missing = {name for name, thing in DOCUMENTED.items() if not examples(thing)}
    assert not missing


def test_every_method_has_an_example_or_appears_in_one_of_its_class():
    missing = set()
    for name, (cls, function) in METHODS.items():
        shown = "".join(example.source for example in examples(cls))
        if not examples(function) and not re.search(rf"\.{name.rsplit('.')[-1]}\b", shown):
            missing.add(name)
    assert not missing


@pytest.mark.parametrize(
    "name", [*DOCUMENTED, *(name for name, (_, f) in METHODS.items() if examples(f))]
)
def test_the_examples_run(name):
    thing = DOCUMENTED[name] if name in DOCUMENTED else METHODS[name][1]
    source = inspect.getdoc(thing) or ""
    space = dict(vars(inspect.getmodule(thing)))
    test = doctest.DocTestParser().get_doctest(source, space, name, None, None)
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert failed == 0
