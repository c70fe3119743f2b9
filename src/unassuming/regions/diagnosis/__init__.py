"""Residuals of a region, and tests of what is assumed about the noise."""

from unassuming.regions.diagnosis._diagnose import Diagnosis as Diagnosis
from unassuming.regions.diagnosis._diagnose import diagnose as diagnose
from unassuming.regions.diagnosis._noise_tests import Indication as Indication
