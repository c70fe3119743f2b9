"""One pass over the data, merged sums, checkpoints, and data on many machines."""

from unassuming.streaming._region import StreamedRegion
from unassuming.streaming._stream import StreamingRegion

__all__ = ["StreamedRegion", "StreamingRegion"]
