"""Measure coverage on simulated data, and check the laws of user-defined classes."""

# The last two are shared within the library, not public.
from unassuming.testing.coverage import Coverage, MethodCoverage, coverage
from unassuming.testing.coverage import gaussian_process as gaussian_process
from unassuming.testing.coverage import process_bounds as process_bounds
from unassuming.testing.laws import check_noise, check_objective

__all__ = ["Coverage", "MethodCoverage", "check_noise", "check_objective", "coverage"]
