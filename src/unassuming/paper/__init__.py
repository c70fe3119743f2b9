"""The six figures of the article behind this library, with measured coverage.

B. Cs. Csáji and K. B. Kis, *Distribution-Free Uncertainty Quantification for Kernel Methods by
Gradient Perturbations*. ``FIGURES`` contains the settings of the captions, `reproduce` evaluates
one figure, and `draw` and `write_table` write it into files. The command is ``unassuming paper``.
"""

# Shared within the library, not public.
from unassuming.paper._errata import REVERSED as REVERSED
from unassuming.paper._figures import FIGURES, Figure, Setting
from unassuming.paper._pictures import draw
from unassuming.paper._reproduce import Reproduction, reproduce
from unassuming.paper._sizes import COLUMNS as SIZE_COLUMNS
from unassuming.paper._sizes import Size, compared_level, size_rows, size_sentence
from unassuming.paper._tables import COLUMNS, rows, write_sizes, write_table

__all__ = [
    "COLUMNS",
    "FIGURES",
    "SIZE_COLUMNS",
    "Figure",
    "Reproduction",
    "Setting",
    "Size",
    "compared_level",
    "draw",
    "reproduce",
    "rows",
    "size_rows",
    "size_sentence",
    "write_sizes",
    "write_table",
]
