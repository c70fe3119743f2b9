"""Measure coverage on data of your own making, beside other methods."""

from unassuming.testing._coverage import coverage
from unassuming.testing._results import Coverage, MethodCoverage

__all__ = ["Coverage", "MethodCoverage", "coverage"]
