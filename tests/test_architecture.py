"""The form of the code that CONTRIBUTING describes, checked on the source itself.

The direction of imports is checked by import-linter (`make lint`); here is what it does not see.
"""

import ast
import importlib
import inspect
import re
import tomllib
from functools import cache
from pathlib import Path

import unassuming
from test_readme import fenced

ROOT = Path(unassuming.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py"))
MOST_LINES = 600
LONGER = {"regions/region.py": 850}
"""The public class: most of its lines are its documentation."""
CONCRETE = {"Bounds", "DesignedObjective"}
"""Classes that others derive from although they are complete: a result."""


@cache
def nodes(path):
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def name(path):
    return str(path.relative_to(ROOT))


def package(path):
    return path.relative_to(ROOT).parts[0] if path.parent != ROOT else ""


@cache
def classes():
    found = []
    for path in FILES:
        module = ".".join(["unassuming", *path.relative_to(ROOT).with_suffix("").parts])
        if path.name not in ("__main__.py", "__init__.py"):
            things = vars(importlib.import_module(module)).values()
            found += [t for t in things if inspect.isclass(t) and t.__module__ == module]
    return found


def own(cls):
    """Whether a class belongs to the library, and not to a test or to a dependency."""
    return cls.__module__.startswith("unassuming.")


# --- files and classes -----------------------------------------------------------------------


def test_a_file_is_not_too_long():
    lines = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    most = {path: LONGER.get(path, MOST_LINES) for path in lines}
    assert {path: count for path, count in lines.items() if count > most[path]} == {}


def test_a_class_is_abstract_or_final():
    derived = {
        cls.__name__
        for cls in classes()
        if any(map(own, cls.__subclasses__())) and not issubclass(cls, (Exception, dict))
        if not inspect.isabstract(cls)
    }
    assert derived == CONCRETE


def test_no_class_overrides_a_private_method_of_another():
    """Unless the other declares it as an abstract hook."""
    for cls in classes():
        for base in filter(own, cls.__mro__[1:]):
            concrete = {
                n
                for n, thing in vars(base).items()
                if n.startswith("_") and not n.startswith("__") and inspect.isroutine(thing)
                if not getattr(thing, "__isabstractmethod__", False)
            }
            assert not concrete & set(vars(cls)), (cls, base)


# --- packages --------------------------------------------------------------------------------


def imported(path):
    """The modules of the library that a file imports from, as the parts of their names."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("unassuming."):
            yield node.module.split(".")[1:]


def test_packages_are_imported_by_their_own_name():
    for path in FILES:
        for first, *rest in imported(path):
            private = [part for part in rest if part.startswith("_")]
            assert first == package(path) or not private, (name(path), first, rest)


def test_nobody_outside_objectives_asks_what_a_design_is():
    for path in FILES:
        if package(path) == "objectives":
            continue
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                asked = ast.unparse(node)
                if node.func.id == "isinstance":
                    assert "Design" not in asked, (name(path), asked)
                if node.func.id in ("getattr", "hasattr"):
                    assert "'design'" not in asked, (name(path), asked)


# --- what CONTRIBUTING says ------------------------------------------------------------------


def tree_of_contributing():
    """The packages and modules in the order of the tree, a package of a package by its path."""
    (tree,) = [text for *_, text in fenced("CONTRIBUTING.md") if text.startswith("src/unassuming/")]
    listed, outer = [], ""
    for line in tree.splitlines()[1:]:
        depth = len(line) - len(line.lstrip())
        words = [word.rstrip("/") for word in re.split(r"  +", line.strip())[0].split()]
        if depth == 2:
            outer = words[0]
            listed += words
        elif depth == 4:
            listed += [f"{outer}/{word}" for word in words]
    return listed


def test_the_tree_of_contributing_lists_every_package_and_every_top_level_module_once():
    packages = {name(path.parent) for path in FILES if path.parent != ROOT}
    modules = {path.stem for path in ROOT.glob("*.py")} - {"__init__"}
    assert sorted(tree_of_contributing()) == sorted(packages | modules)


def test_the_tree_of_contributing_has_the_order_of_the_layers_of_the_linter():
    project = tomllib.loads(
        (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    )
    contract, *_ = project["tool"]["importlinter"]["contracts"]
    layers = [re.findall(r"\((\w+)\)", layer) for layer in reversed(contract["layers"])]
    height = {word: k for k, words in enumerate(layers) for word in words}
    listed = [word for word in tree_of_contributing() if "/" not in word]
    assert sorted(listed, key=height.__getitem__) == listed


def test_the_data_flow_of_contributing_starts_in_the_files_that_it_names():
    flow = "\n".join(text for *_, text in fenced("CONTRIBUTING.md"))
    begins = re.findall(r"^(?:region\.)?(\w+)\(.*\) +(\S+\.py)$", flow, re.M)
    assert len(begins) == 3
    for function, path in begins:
        assert f"def {function}(" in (ROOT / path).read_text(encoding="utf-8")


def test_names_of_the_library_in_sentences_and_docstrings_exist():
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for dotted in re.findall(r"\bua((?:\.[A-Za-z]\w*)+)", node.value):
                    found = unassuming
                    for part in dotted.strip(".").split("."):
                        assert hasattr(found, part), f"{name(path)} names ua{dotted}"
                        found = getattr(found, part)
