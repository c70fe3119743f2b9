"""One pass over the data, merged sums, checkpoints, and data on many machines."""

# Shared within the library, not public.
from unassuming.streaming.checkpoint import read_note as read_note
from unassuming.streaming.checkpoint import write_checkpoint as write_checkpoint
from unassuming.streaming.dask import build_from_dask as build_from_dask
from unassuming.streaming.stream import StreamingRegion

__all__ = ["StreamingRegion"]
