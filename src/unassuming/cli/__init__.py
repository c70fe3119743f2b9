"""The command ``unassuming``: a demonstration, tables in files, the article's figures."""

from __future__ import annotations

import sys

__all__ = ["main"]

_EXTRA = ("typer", "rich", "pandas", "pyarrow")


def not_installed(error: ModuleNotFoundError) -> str | None:
    """Return what to install, if a package of the command line is missing."""
    if (error.name or "").split(".")[0] not in _EXTRA:
        return None
    return (
        f"the command line needs {error.name}, which is not installed: "
        'pip install "unassuming[cli,plot]"'
    )


def main() -> None:
    """Run the command line."""
    try:
        from unassuming.cli.app import app
    except ModuleNotFoundError as error:
        message = not_installed(error)
        if message is None:
            raise
        sys.stderr.write(f"error: {message}\n")
        sys.exit(2)
    app(prog_name="unassuming")
