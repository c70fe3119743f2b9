"""Confidence regions of every kind, and what they answer."""

from unassuming.regions._build import build_region, confidence_region

# Shared within the library, not public.
from unassuming.regions._build import describe as describe
from unassuming.regions._diagnose import Diagnosis, Indication
from unassuming.regions._functionals import check_norm_bound as check_norm_bound
from unassuming.regions._labels import ATTAINED as ATTAINED
from unassuming.regions._labels import LabelRegion
from unassuming.regions._piecewise import PiecewiseRegion
from unassuming.regions._quadratic import QuadraticRegion
from unassuming.regions._region import Region
from unassuming.regions._results import Band, Boundedness, Ellipsoid, Interval, Status
from unassuming.regions._sources import register_source as register_source
from unassuming.regions._tuning import Tuning

__all__ = [
    "Band",
    "Boundedness",
    "Diagnosis",
    "Ellipsoid",
    "Indication",
    "Interval",
    "LabelRegion",
    "PiecewiseRegion",
    "QuadraticRegion",
    "Region",
    "Status",
    "Tuning",
    "build_region",
    "confidence_region",
]
