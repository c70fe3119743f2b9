"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

``python tools/oldest.py plot cli test`` prints one line for each dependency of the library and of
these extras, such as ``numpy==1.26``.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BOUNDED = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<oldest>[\d.]+)")


def requirements(project: dict, extras: list[str]) -> Iterator[str]:
    """Yield the dependencies of the library and of the extras, through extras of its own."""
    yield from project["dependencies"]
    for extra in extras:
        for requirement in project["optional-dependencies"][extra]:
            own = re.fullmatch(rf"{project['name']}\[([\w,-]+)\]", requirement)
            if own:
                yield from requirements(project, own[1].split(","))
            else:
                yield requirement


def oldest(project: dict, extras: list[str]) -> dict[str, str]:
    """Return the lower bound of each dependency, by name; each has to have one, and only one."""
    found: dict[str, str] = {}
    for requirement in requirements(project, extras):
        bounded = BOUNDED.fullmatch(requirement)
        if bounded is None:
            raise SystemExit(f"{requirement!r} has no lower bound of the form name>=1.2")
        name, version = bounded["name"], bounded["oldest"]
        if found.setdefault(name, version) != version:
            raise SystemExit(f"{name} has two lower bounds: {found[name]} and {version}")
    return found


if __name__ == "__main__":
    described = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, version in sorted(oldest(described, sys.argv[1:]).items()):
        print(f"{name}=={version}")
