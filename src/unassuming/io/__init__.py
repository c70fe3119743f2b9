"""Save a region to one file of arrays and integers, and load it again.

The file is a zip archive in NumPy's format, not compressed, with a header in JSON and a hash of the
whole. It holds the data, the drawn transformations themselves and the tie order, so that a loaded
region has the same ranks whatever generator of random numbers is in use by then. Nothing in it is
code: loading runs none.
"""

# Shared within the library, not public.
from unassuming.io._code import difference as difference
from unassuming.io._load import load
from unassuming.io._noise import describe_noise as describe_noise
from unassuming.io._noise import known_noise as known_noise
from unassuming.io._save import describe_estimator as describe_estimator
from unassuming.io._save import known_class as known_class
from unassuming.io._save import save

__all__ = ["load", "save"]
