"""Confidence regions, and what they answer."""

from unassuming.regions._build import build_region as build_region
from unassuming.regions._build import confidence_region
from unassuming.regions._ellipsoid import Ellipsoid
from unassuming.regions._explain import Explanation, Language, Remedy, Status
from unassuming.regions._explain import Fact as Fact
from unassuming.regions._norm_bounds import NormBounds
from unassuming.regions._outcomes import warn_of_two_values as warn_of_two_values
from unassuming.regions._problem import Problem
from unassuming.regions._region import Region
from unassuming.regions._remedies import ATTAINED as ATTAINED
from unassuming.regions._remedies import FEWER_FEATURES as FEWER_FEATURES
from unassuming.regions._results import NOTHING_AGREES as NOTHING_AGREES
from unassuming.regions._results import Band, Boundedness, Bounds, Interval
from unassuming.regions._results import table as table
from unassuming.regions._sizes import require_representable as require_representable
from unassuming.regions._sources import is_dask as is_dask
from unassuming.regions._tuning import Tuning
from unassuming.regions._unions import IntervalUnion
from unassuming.regions._unions import several as several
from unassuming.regions._views import View as View
from unassuming.regions._views import register_view as register_view
from unassuming.regions.diagnosis import MULTIPLICITY as MULTIPLICITY
from unassuming.regions.diagnosis import AddedFeature, Diagnosis, Indication, LackOfFit, LeftOut
from unassuming.regions.diagnosis import Reason as Reason
from unassuming.regions.diagnosis import columns_of as columns_of
from unassuming.regions.shapes import Shape
from unassuming.regions.single.functions import Assumption as Assumption
from unassuming.regions.single.functions import Functions as Functions
from unassuming.regions.single.hypotheses import FTest
from unassuming.regions.single.summary import Summary
from unassuming.regions.single.summary import check_level as check_level

__all__ = [
    "AddedFeature",
    "Band",
    "Boundedness",
    "Bounds",
    "Diagnosis",
    "Ellipsoid",
    "Explanation",
    "FTest",
    "Indication",
    "Interval",
    "IntervalUnion",
    "LackOfFit",
    "Language",
    "LeftOut",
    "NormBounds",
    "Problem",
    "Region",
    "Remedy",
    "Shape",
    "Status",
    "Summary",
    "Tuning",
    "confidence_region",
]
