"""Confidence regions: membership and tests for any objective."""

from unassuming.regions._build import build_region, confidence_region
from unassuming.regions._diagnose import Diagnosis, Indication
from unassuming.regions._region import Region
from unassuming.regions._tuning import Tuning

__all__ = [
    "Diagnosis",
    "Indication",
    "Region",
    "Tuning",
    "build_region",
    "confidence_region",
]
