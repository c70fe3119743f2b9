"""The command ``unassuming``: a demonstration, tables in files, the article's figures."""

from __future__ import annotations

import sys

__all__ = ["main"]

_EXTRA = ("typer", "rich", "pandas", "pyarrow")


def main() -> None:
    """Run the command line."""
    try:
        from unassuming.cli._app import app
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _EXTRA:
            raise
        sys.stderr.write(
            f"error: the command line needs {error.name}, which is not installed: "
            'pip install "unassuming[cli,plot]"\n'
        )
        sys.exit(2)
    app(prog_name="unassuming")
