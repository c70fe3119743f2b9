"""The reference, written from what the library lists as public.

`api/index.rst` has every name in ``__all__`` of the library and of its public modules;
`api/command-line.md` has what the commands say with ``--help``. Both are made anew in every build.
"""

import inspect
from pathlib import Path
from types import ModuleType

import typer
from typer.testing import CliRunner

import unassuming as ua
import unassuming.regions
from unassuming.cli.app import app as commands

# What regions are and what they return; nobody imports it, but everybody meets it.
BEHIND = {"regions": unassuming.regions}
WIDTH = {"COLUMNS": "90", "TERM": "dumb", "NO_COLOR": "1"}


def modules():
    """Return the library and its public modules, by full name."""
    found = {name: getattr(ua, name) for name in ua.__all__}
    below = {name: thing for name, thing in found.items() if isinstance(thing, ModuleType)}
    return {"unassuming": ua} | {f"unassuming.{name}": m for name, m in (below | BEHIND).items()}


def listed():
    """Yield each module with the public names that were not listed before it."""
    seen = []
    for path, module in modules().items():
        names = []
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, ModuleType) or name.startswith("__"):
                continue
            if any(thing is other for other in seen):
                continue
            if inspect.isclass(thing) or inspect.isroutine(thing):
                seen.append(thing)
            names.append(name)
        yield path, module, names


def reference():
    """Return the page of names."""
    lines = ["API reference", "=============", ""]
    lines += ["``import unassuming as ua``. The :doc:`command line <command-line>` has a page of "]
    lines += ["its own.", ""]
    for path, module, names in listed():
        summary = inspect.getdoc(module).splitlines()[0]
        title = path.replace("unassuming", "ua", 1)
        lines += [title, "-" * len(title), "", summary, "", f".. currentmodule:: {path}", ""]
        lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names] + [""]
    return "\n".join(lines)


def command_line():
    """Return the page of commands."""
    lines = ["# Command line", ""]
    group = typer.main.get_command(commands)
    for words in [[], *([name] for name in group.commands)]:
        title = " ".join(["unassuming", *words])
        shown = CliRunner().invoke(commands, [*words, "--help"], env=WIDTH, prog_name="unassuming")
        if shown.exit_code:
            raise RuntimeError(f"{title} --help failed: {shown.output}")
        lines += [f"## `{title}`", "", "```text", shown.stdout.strip(), "```", ""]
    return "\n".join(lines)


def write(app, config):
    """Write the two pages, unless they are there already as they should be."""
    here = Path(app.srcdir, "api")
    here.mkdir(exist_ok=True)
    for name, text in {"index.rst": reference(), "command-line.md": command_line()}.items():
        page = here / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def borrowed(app, what, name, thing, skip, options):
    """Leave out the methods that scikit-learn and Python lend: they are told there."""
    function = thing.fget if isinstance(thing, property) else getattr(thing, "func", thing)
    module = getattr(function, "__module__", None) or "unassuming"
    return True if not module.startswith("unassuming") else None


def setup(app):
    """Write the pages before the sources are looked for."""
    app.connect("config-inited", write)
    app.connect("autodoc-skip-member", borrowed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
