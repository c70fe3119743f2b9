"""The command line as a user calls it, in this process."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from unittest.mock import patch

from unassuming.cli import main


def run(*words):
    """The exit code, what is printed, and what is printed to the standard error."""
    out, err, code = StringIO(), StringIO(), 0
    argv = ["unassuming", *map(str, words)]
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", argv):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()
