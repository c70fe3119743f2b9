"""Checks of the fit that commands print, and the report in one file."""

from unassuming.cli.reports._checks import checks as checks
from unassuming.cli.reports._report import write_report as write_report
