"""Residuals of a region, tests of what is assumed about the noise, and lack of fit."""

from unassuming.regions.diagnosis._added_features import LeftOut as LeftOut
from unassuming.regions.diagnosis._added_features import Reason as Reason
from unassuming.regions.diagnosis._diagnose import Diagnosis as Diagnosis
from unassuming.regions.diagnosis._diagnose import columns_of as columns_of
from unassuming.regions.diagnosis._diagnose import diagnose as diagnose
from unassuming.regions.diagnosis._lack_of_fit import MULTIPLICITY as MULTIPLICITY
from unassuming.regions.diagnosis._lack_of_fit import AddedFeature as AddedFeature
from unassuming.regions.diagnosis._lack_of_fit import LackOfFit as LackOfFit
from unassuming.regions.diagnosis._lack_of_fit import lack_of_fit as lack_of_fit
from unassuming.regions.diagnosis._noise_tests import Indication as Indication
