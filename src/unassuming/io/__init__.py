"""Save a region to one file of arrays and integers, and load it again.

The file is a zip archive in NumPy's format, not compressed, with a header in JSON and a hash of the
whole. It holds the data, the drawn transformations themselves and the tie order, so that a loaded
region has the same ranks whatever generator of random numbers is in use by then. Nothing in it is
code: loading runs none.
"""

from unassuming.io._load import load
from unassuming.io._save import save

__all__ = ["load", "save"]
