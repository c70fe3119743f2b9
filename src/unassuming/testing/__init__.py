"""Measure coverage on data of your own making, and check the laws of your own extensions."""

from unassuming.testing._coverage import coverage
from unassuming.testing._noise_laws import check_noise
from unassuming.testing._objective_laws import check_objective
from unassuming.testing._results import Coverage, MethodCoverage

__all__ = ["Coverage", "MethodCoverage", "check_noise", "check_objective", "coverage"]
