"""One pass over the data, merged sums, checkpoints, and data on many machines."""

# Shared within the library, not public.
from unassuming.streaming._arguments import DEFAULT_CELLS as DEFAULT_CELLS
from unassuming.streaming._checkpoint import read_note as read_note
from unassuming.streaming._checkpoint import write_checkpoint as write_checkpoint
from unassuming.streaming._dask import build_from_dask as build_from_dask
from unassuming.streaming._stream import StreamingRegion

__all__ = ["StreamingRegion"]
