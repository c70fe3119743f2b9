"""The six figures of the article behind this library, with measured coverage.

B. Cs. Csáji and K. B. Kis, *Distribution-Free Uncertainty Quantification for Kernel Methods by
Gradient Perturbations*. ``FIGURES`` contains the settings of the captions, `reproduce` evaluates
one figure, and `draw` and `write_table` write it into files. The command is ``unassuming paper``.
"""

from unassuming.paper.figures import FIGURES, Figure, Setting
from unassuming.paper.pictures import draw
from unassuming.paper.reproduce import COLUMNS, Reproduction, reproduce, rows, write_table

__all__ = [
    "COLUMNS",
    "FIGURES",
    "Figure",
    "Reproduction",
    "Setting",
    "draw",
    "reproduce",
    "rows",
    "write_table",
]
