"""Measure coverage on simulated data, and check the laws of user-defined classes."""

from unassuming.testing.coverage import Coverage, MethodCoverage, coverage
from unassuming.testing.laws import check_noise, check_objective

# Shared within the library, not public.
from unassuming.testing.methods import gaussian_process as gaussian_process
from unassuming.testing.methods import process_bounds as process_bounds

__all__ = ["Coverage", "MethodCoverage", "check_noise", "check_objective", "coverage"]
