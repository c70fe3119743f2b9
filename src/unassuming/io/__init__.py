"""Save a region to one file of arrays and integers, and load it again.

The file is an uncompressed zip archive in NumPy's format, with a header in JSON and a hash of the
whole. It holds the data, the drawn transformations themselves and the tie order, so that a loaded
region has the same ranks even if NumPy's random generators change. The file holds no code, and
loading it runs none.
"""

# Shared within the library, not public.
from unassuming.io._estimators import check_estimator as check_estimator
from unassuming.io._estimators import describe_estimator as describe_estimator
from unassuming.io._estimators import known_estimator as known_estimator
from unassuming.io._estimators import other_estimator as other_estimator
from unassuming.io._load import load
from unassuming.io._noise import check_noise_class as check_noise_class
from unassuming.io._noise import describe_noise as describe_noise
from unassuming.io._noise import known_noise as known_noise
from unassuming.io._save import save

__all__ = ["load", "save"]
