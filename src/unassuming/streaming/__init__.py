"""One pass over the data, merged sums, checkpoints, and data on many machines."""

from unassuming.streaming.dask import build_from_dask as build_from_dask
from unassuming.streaming.stream import StreamingRegion

__all__ = ["StreamingRegion"]
