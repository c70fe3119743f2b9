"""Commands whose every error is one line on stderr, with exit code 2."""

from __future__ import annotations

import re
import sys
import warnings
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from unassuming._errors import NotAvailable
from unassuming.cli import not_installed
from unassuming.cli._interrupt import Interrupted
from unassuming.cli._terminal import say

UsageError: Any = typer.BadParameter.__base__  # typer does not export it

_EXPECTED = (ValueError, TypeError, NotAvailable, OSError)
"""Errors of the library and of file readers: their message is written for the user."""

_NOTED = (UserWarning, RuntimeWarning, FutureWarning)
"""Warnings for the user. Python's filters decide on the others, such as deprecations, which are for
developers; a deprecation that is also one of these (pyparsing has such a class) is not shown."""


class OneLineErrors(TyperGroup):
    """Report every error in one line, without a stack trace."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command, then exit with its code."""
        extra["standalone_mode"] = False
        try:
            with warnings.catch_warnings(record=True) as caught:
                for category in _NOTED:
                    warnings.simplefilter("default", category)
                code = super().main(*args, **extra)
        except UsageError as error:
            where = error.ctx.command_path if error.ctx else "unassuming"
            what = error.format_message().replace("Value error, ", "").rstrip(".")
            given = re.search(r"'([a-z]+)' is not one of", what)
            if given and given[1] in self.commands:  # such as --model arx
                where = f"unassuming {given[1]}"
            _stop(f"{what}{'' if what.endswith('?') else '.'} See: {where} --help")
        except typer.Abort:
            _stop("interrupted", code=130)
        except Interrupted as error:
            _stop(str(error), code=130)
        except ModuleNotFoundError as error:
            _stop(not_installed(error) or str(error))
        except _EXPECTED as error:
            _stop(getattr(error, "command_line", str(error)))
        except MemoryError as error:
            what = str(error).rstrip(".") or "no more can be allocated"
            remedy = "Use fewer rows, a smaller --m, or a model that can be streamed."
            _stop(f"not enough memory: {what}. {remedy}")
        except Exception as error:  # a bug: still without a stack trace
            _stop(f"unexpected {type(error).__name__}: {error}. Please report it.", code=1)
        notes = [one.message for one in caught if not issubclass(one.category, DeprecationWarning)]
        for note in dict.fromkeys(map(str, notes)):
            say("note", note)
        sys.exit(code if isinstance(code, int) else 0)


def _stop(message: str, code: int = 2) -> NoReturn:
    say("error", message)
    sys.exit(code)
