"""The form of the code that CONTRIBUTING describes, checked on the source itself."""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import unassuming
from test_readme import fenced

ROOT = Path(unassuming.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if "_second" not in path.parts)


@cache
def nodes(path):
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def name(path):
    return str(path.relative_to(ROOT))


def package(path):
    return path.relative_to(ROOT).parts[0] if path.parent != ROOT else ""


def test_a_file_has_at_most_400_lines():
    lines = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path: count for path, count in lines.items() if count > 400} == {}


def test_a_class_has_at_most_25_methods():
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
                assert len(methods) <= 25, (name(path), node.name)


def classes():
    for path in FILES:
        module = ".".join(["unassuming", *path.relative_to(ROOT).with_suffix("").parts])
        if path.name not in ("__main__.py", "__init__.py"):
            for thing in vars(importlib.import_module(module)).values():
                if inspect.isclass(thing) and thing.__module__ == module:
                    yield thing


def test_no_class_overrides_a_private_method_of_another():
    """Unless the other declares it as an abstract hook."""
    for cls in classes():
        for base in cls.__mro__[1:]:
            if not base.__module__.startswith("unassuming"):
                continue
            concrete = {
                n
                for n, thing in vars(base).items()
                if n.startswith("_") and not n.startswith("__") and inspect.isroutine(thing)
                if not getattr(thing, "__isabstractmethod__", False)
            }
            assert not concrete & set(vars(cls)), (cls, base)


@pytest.mark.parametrize("part", ["regions", "geometry", "membership"])
def test_a_class_is_abstract_or_final(part):
    for cls in classes():
        base = cls.__subclasses__() and not issubclass(cls, (Exception, dict))
        if cls.__module__.startswith(f"unassuming.{part}") and base:
            assert inspect.isabstract(cls) or cls.__name__ == "Bounds", cls


@pytest.mark.slow
def test_packages_are_imported_by_their_own_name():
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("unassuming."):
                _, first, *rest = node.module.split(".")
                other = first != package(path)
                assert not (other and any(part.startswith("_") for part in rest)), name(path)


@pytest.mark.slow
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


def test_a_folder_has_at_most_20_files():
    folders = {path.parent for path in FILES}
    crowded = {
        name(f): len(list(f.glob("*.py"))) for f in folders if len(list(f.glob("*.py"))) > 20
    }
    assert crowded == {}


def tree_of_contributing():
    """The packages and modules of each line, a package of a package with the one above it."""
    (tree,) = [text for *_, text in fenced("CONTRIBUTING.md") if text.startswith("src/unassuming/")]
    lines = []
    for line in tree.splitlines()[1:]:
        depth = len(line) - len(line.lstrip())
        words = [word.rstrip("/") for word in re.split(r"  +", line.strip())[0].split()]
        if depth == 2:
            lines.append(words)
        elif depth == 4:
            lines[-1] += [f"{lines[-1][0]}/{word}" for word in words]
    return lines


def test_the_tree_of_contributing_lists_every_package_and_every_top_level_module_once():
    packages = {name(path.parent) for path in FILES if path.parent != ROOT}
    modules = {path.stem for path in ROOT.glob("*.py")} - {"__init__"}
    listed = [word for words in tree_of_contributing() for word in words]
    assert sorted(listed) == sorted(packages | modules)


def test_imports_go_up_in_the_tree_of_contributing():
    line = {word: k for k, words in enumerate(tree_of_contributing()) for word in words}
    for path in FILES:
        own = package(path) or path.stem
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("unassuming."):
                other = node.module.split(".")[1]
                assert own == "__init__" or line[other] <= line[own], (name(path), other)


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
