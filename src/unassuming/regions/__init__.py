"""Confidence regions, and what they answer."""

from unassuming.regions._build import build_region, confidence_region
from unassuming.regions._describe import describe
from unassuming.regions._diagnose import Diagnosis, Indication
from unassuming.regions._ellipsoid import Ellipsoid
from unassuming.regions._explain import Explanation, Language, Remedy, Status
from unassuming.regions._problem import Problem
from unassuming.regions._region import Region
from unassuming.regions._remedies import ATTAINED
from unassuming.regions._results import Band, Boundedness, Bounds, Interval
from unassuming.regions._sources import register_source
from unassuming.regions._tuning import Tuning

__all__ = [
    "ATTAINED",
    "Band",
    "Boundedness",
    "Bounds",
    "Diagnosis",
    "Ellipsoid",
    "Explanation",
    "Indication",
    "Interval",
    "Language",
    "Problem",
    "Region",
    "Remedy",
    "Status",
    "Tuning",
    "build_region",
    "confidence_region",
    "describe",
    "register_source",
]
