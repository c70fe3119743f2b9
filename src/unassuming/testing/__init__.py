"""Measure coverage on simulated data, and check the laws of user-defined classes."""

from unassuming.testing._coverage import coverage

# Shared within the library, not public.
from unassuming.testing._methods import gaussian_process as gaussian_process
from unassuming.testing._methods import process_bounds as process_bounds
from unassuming.testing._noise_laws import check_noise
from unassuming.testing._objective_laws import check_objective
from unassuming.testing._results import Coverage, MethodCoverage

__all__ = ["Coverage", "MethodCoverage", "check_noise", "check_objective", "coverage"]
