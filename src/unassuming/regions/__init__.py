"""Confidence regions: membership and tests for any objective."""

from unassuming.regions._build import confidence_region
from unassuming.regions._region import Region

__all__ = ["Region", "confidence_region"]
