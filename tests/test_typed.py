"""Whoever checks types sees those of the library: all of the public interface is annotated."""

import inspect
from importlib.resources import files
from types import ModuleType

import pytest

import unassuming as ua
import unassuming.regions

MODULES = [
    ua,
    unassuming.regions,
    *(thing for name in ua.__all__ if isinstance(thing := getattr(ua, name), ModuleType)),
]
LENT = {"self", "cls"}


def callables():
    """Public functions, constructors, methods and properties that the library itself defines."""
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                for inner, member in inspect.getmembers_static(thing):
                    function = getattr(member, "fget", None) or getattr(member, "func", member)
                    function = getattr(function, "__func__", getattr(function, "fn", function))
                    if inner.startswith("_") and inner != "__init__":
                        continue
                    if inspect.isfunction(function) and "unassuming" in function.__module__:
                        yield f"{module.__name__}.{name}.{inner}", function
            elif inspect.isfunction(thing):
                yield f"{module.__name__}.{name}", thing


FOUND = dict(callables())


def missing(function):
    """What has no annotation: parameters by name, or the result."""
    signature = inspect.signature(function)
    empty = inspect.Parameter.empty
    names = [p.name for p in signature.parameters.values() if p.annotation is empty]
    result = ["return"] if signature.return_annotation is inspect.Signature.empty else []
    return [name for name in names if name not in LENT] + result


def test_the_public_interface_is_annotated():
    assert len(FOUND) > 150
    assert {name: lack for name, function in FOUND.items() if (lack := missing(function))} == {}


@pytest.mark.parametrize(
    "name", ["confidence_region", "Region.band", "Region.estimate", "StreamingRegion.partial_fit"]
)
def test_what_people_call_first_is_among_them(name):
    assert f"unassuming.{name}" in FOUND


def test_a_missing_annotation_is_seen():
    def f(a: int, b, *, c=1) -> int: ...

    def g(a: int): ...

    assert missing(f) == ["b", "c"]
    assert missing(g) == ["return"]


def test_the_package_says_that_it_is_typed():
    assert files(ua).joinpath("py.typed").is_file()
