"""The six figures of the article behind this library, with measured coverage.

B. Cs. Csáji and K. B. Kis, *Distribution-Free Uncertainty Quantification for Kernel Methods by
Gradient Perturbations*. ``FIGURES`` contains the settings of the captions, `reproduce` evaluates
one figure, and `draw` and `write_table` write it into files. The command is ``unassuming paper``.
"""

from unassuming.paper.figures import FIGURES, Figure, Setting
from unassuming.paper.pictures import draw
from unassuming.paper.reproduce import (
    COLUMNS,
    SIZE_COLUMNS,
    Reproduction,
    reproduce,
    rows,
    size_rows,
    write_table,
)

__all__ = [
    "COLUMNS",
    "FIGURES",
    "SIZE_COLUMNS",
    "Figure",
    "Reproduction",
    "Setting",
    "draw",
    "reproduce",
    "rows",
    "size_rows",
    "write_table",
]
